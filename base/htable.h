/* SPDX-License-Identifier: Apache-2.0 */
/* An index from hash to row number, for rows that the caller keeps in an array of its own.
 *
 * The table holds only (hash, row) pairs: no keys, no values, no callbacks. The caller compares
 * rows in its own loop:
 *
 *	struct htable_iter it = htable_lookup(&index, hash);
 *	for (uint32_t row; htable_next(&it, &row);)
 *		if (rows[row].key == key)
 *			return row;
 *
 * Open addressing with linear probing and backward-shift deletion; grows at 3/4. */
#ifndef BASE_HTABLE_H
#define BASE_HTABLE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct htable_slot {
	uint32_t hash;
	uint32_t row_plus_1; /* 0: empty */
};

struct htable {
	struct htable_slot *slots; /* owned */
	size_t nr_slots; /* 0 or a power of two */
	size_t nr_used;
};

struct htable_iter {
	const struct htable *table;
	size_t pos;
	uint32_t hash;
};

void htable_done(struct htable *table);

/* Removes all pairs and keeps the memory. */
void htable_clear(struct htable *table);

/* Adds a pair without looking for an equal one. Errors: -ENOMEM. */
int htable_add(struct htable *table, uint32_t hash, uint32_t row) must_check;

/* Removes the pair (hash, row) if it exists. */
void htable_remove(struct htable *table, uint32_t hash, uint32_t row);

/* Asks the CPU to fetch the memory that a lookup of the hash will read first. */
static inline void htable_prefetch(const struct htable *table, uint32_t hash)
{
	if (table->nr_slots)
		__builtin_prefetch(&table->slots[hash & (table->nr_slots - 1)]);
}

static inline struct htable_iter htable_lookup(const struct htable *table, uint32_t hash)
{
	size_t pos = table->nr_slots ? hash & (table->nr_slots - 1) : 0;

	return (struct htable_iter){ .table = table, .pos = pos, .hash = hash };
}

/* Finds the next row with the hash; returns false at the end. The table must not change
 * meanwhile. */
static inline bool htable_next(struct htable_iter *it, uint32_t *ret_row)
{
	const struct htable *table = it->table;

	if (!table->nr_slots)
		return false;
	while (table->slots[it->pos].row_plus_1) {
		const struct htable_slot *slot = &table->slots[it->pos];

		it->pos = (it->pos + 1) & (table->nr_slots - 1);
		if (slot->hash == it->hash) {
			*ret_row = slot->row_plus_1 - 1;
			return true;
		}
	}
	return false;
}

#endif
