/* SPDX-License-Identifier: Apache-2.0 */
#include "base/htable.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64

void htable_done(struct htable *table)
{
	free(table->slots);
	*table = (struct htable){ 0 };
}

void htable_clear(struct htable *table)
{
	if (table->slots)
		memset(table->slots, 0, table->nr_slots * sizeof(*table->slots));
	table->nr_used = 0;
}

static size_t next_pos(const struct htable *table, size_t pos)
{
	return (pos + 1) & (table->nr_slots - 1);
}

static void place(struct htable *table, struct htable_slot slot)
{
	size_t pos = slot.hash & (table->nr_slots - 1);

	while (table->slots[pos].row_plus_1)
		pos = next_pos(table, pos);
	table->slots[pos] = slot;
}

static int grow(struct htable *table)
{
	size_t nr_slots = table->nr_slots ? table->nr_slots * 2 : FIRST_SLOTS;
	struct htable grown = { .nr_slots = nr_slots, .nr_used = table->nr_used };

	grown.slots = calloc(nr_slots, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	for (size_t i = 0; i < table->nr_slots; i++)
		if (table->slots[i].row_plus_1)
			place(&grown, table->slots[i]);
	free(table->slots);
	*table = grown;
	return 0;
}

int htable_add(struct htable *table, uint32_t hash, uint32_t row)
{
	if ((table->nr_used + 1) * 4 > table->nr_slots * 3) {
		int r = grow(table);
		if (r < 0)
			return r;
	}
	place(table, (struct htable_slot){ .hash = hash, .row_plus_1 = row + 1 });
	table->nr_used++;
	return 0;
}

/* Closes the gap at `hole`: later pairs of the same run move up, unless that would put them before
 * the position of their hash. */
static void close_gap(struct htable *table, size_t hole)
{
	size_t mask = table->nr_slots - 1;

	for (size_t pos = next_pos(table, hole); table->slots[pos].row_plus_1;
	     pos = next_pos(table, pos)) {
		size_t home = table->slots[pos].hash & mask;

		if (((pos - home) & mask) >= ((pos - hole) & mask)) {
			table->slots[hole] = table->slots[pos];
			hole = pos;
		}
	}
	table->slots[hole] = (struct htable_slot){ 0 };
}

void htable_remove(struct htable *table, uint32_t hash, uint32_t row)
{
	if (!table->nr_slots)
		return;
	for (size_t pos = hash & (table->nr_slots - 1); table->slots[pos].row_plus_1;
	     pos = next_pos(table, pos)) {
		const struct htable_slot *slot = &table->slots[pos];

		if (slot->hash == hash && slot->row_plus_1 == row + 1) {
			close_gap(table, pos);
			table->nr_used--;
			return;
		}
	}
}
