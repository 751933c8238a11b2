/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/tables/mapping_tables.h"

#include "process/mapped_file.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ID (UINT32_C(1) << 31)

struct mapping_tables {
	struct unwind_memory *memory; /* borrowed */
	struct unwind_arena *arena; /* borrowed */
	uint32_t last_id;
	struct mapping_tables_stats stats;
};

int mapping_tables_new(struct unwind_memory *memory, struct unwind_arena *arena,
		       struct mapping_tables **ret_tables)
{
	struct mapping_tables *tables = calloc(1, sizeof(*tables));

	if (!tables)
		return -ENOMEM;
	tables->memory = memory;
	tables->arena = arena;
	*ret_tables = tables;
	return 0;
}

void mapping_tables_free(struct mapping_tables *tables)
{
	free(tables);
}

_Static_assert(2 * MAPPING_LIST_MAX <= MAPPING_TABLE_MAX_RANGES, "every mapping list fits");

/* Ids are large numbers. While a sleeping process still has its binding, there may be a row table,
 * or the middle of one, in place of its mapping table; numbers of pages and rows are small. */
static uint32_t next_id(struct mapping_tables *tables)
{
	tables->last_id = (tables->last_id + 1) | FIRST_ID;
	return tables->last_id;
}

/* A mapping table that is being filled. */
struct encoder {
	struct mapping_table *head;
	uint64_t *starts;
	struct mapping_range *ranges;
};

static void add_range(struct encoder *encoder, uint64_t start, struct mapping_range range)
{
	encoder->starts[encoder->head->nr_ranges] = start;
	encoder->ranges[encoder->head->nr_ranges++] = range;
}

static bool has_hole_behind(const struct mapping_list *list, size_t i)
{
	return i + 1 == list->nr_items || list->items[i + 1].start != list->items[i].end;
}

/* Makes the mapping table of a list: each mapping, and the hole behind it if there is one. Errors:
 * -ENOMEM. */
static int encode(const struct mapping_list *list, uint32_t id, void **ret_table, size_t *ret_len)
{
	size_t nr = list->nr_items;

	for (size_t i = 0; i < list->nr_items; i++)
		nr += has_hole_behind(list, i);
	size_t ranges_offset = (MAPPING_TABLE_STARTS + nr * sizeof(uint64_t) + 31) / 32 * 32;
	size_t runtimes_offset = ranges_offset + nr * sizeof(struct mapping_range);
	size_t runtimes_bytes = list->nr_runtimes * sizeof(*list->runtimes);

	runtimes_offset = (runtimes_offset + ARENA_UNIT - 1) / ARENA_UNIT * ARENA_UNIT;
	size_t len = runtimes_offset + runtimes_bytes;
	char *table = calloc(1, len);
	if (!table)
		return -ENOMEM;
	struct encoder encoder = {
		.head = (void *)table,
		.starts = (void *)(table + MAPPING_TABLE_STARTS),
		.ranges = (void *)(table + ranges_offset),
	};
	*encoder.head = (struct mapping_table){ .id = id,
						.ranges_offset = (uint32_t)ranges_offset,
						.runtimes_offset = (uint32_t)runtimes_offset,
						.nr_runtimes = (uint32_t)list->nr_runtimes };
	if (runtimes_bytes > 0)
		memcpy(table + runtimes_offset, list->runtimes, runtimes_bytes);
	for (size_t i = 0; i < list->nr_items; i++) {
		const struct mapping *mapping = &list->items[i];

		add_range(&encoder, mapping->start,
			  (struct mapping_range){ .bias = mapping->start - mapping->file_offset,
						  .slot = mapping->file->slot,
						  .is_postponed = mapping->file->is_postponed });
		if (has_hole_behind(list, i))
			add_range(&encoder, mapping->end, (struct mapping_range){ .is_hole = 1 });
	}
	*ret_table = table;
	*ret_len = len;
	return 0;
}

/* Counts files without a slot, and those that get one later twice. While the list stays the same,
 * the number can only fall, because a file that has a slot keeps it. */
static uint32_t count_lacking(const struct mapping_list *list)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < list->nr_items; i++)
		nr += (list->items[i].file->slot == 0) + list->items[i].file->is_postponed;
	return nr;
}

/* Makes a table of the list as it is now, and puts it into the arena. */
static int publish(struct mapping_tables *tables, const struct mapping_list *list,
		   struct mapping_table_place *ret_place)
{
	struct mapping_table_place place = { .id = next_id(tables) };
	_cleanup_free_ void *table = NULL;
	size_t len;

	int r = encode(list, place.id, &table, &len);
	if (r == 0)
		r = unwind_arena_put(tables->arena, table, len, &place.unit);
	if (r < 0)
		return r;
	place.bytes = (uint32_t)len;
	place.nr_lacking = count_lacking(list);
	tables->stats.nr_tables++;
	tables->stats.nr_bytes += place.bytes;
	tables->stats.nr_published++;
	*ret_place = place;
	return 0;
}

static void drop(struct mapping_tables *tables, const struct mapping_table_place *place)
{
	if (place->unit == 0)
		return;
	unwind_arena_set_u32(tables->arena, place->unit, 0);
	unwind_arena_free(tables->arena, place->unit, place->bytes);
	tables->stats.nr_tables--;
	tables->stats.nr_bytes -= place->bytes;
}

/* Binds the process only if the unwinder asks for a binding or has one: a process that has ended
 * meanwhile would keep it for ever, and one that called exec() has other code. */
static int set_binding(const struct mapping_tables *tables, uint32_t pid,
		       const struct mapping_table_place *place)
{
	return unwind_memory_bind(tables->memory, pid, MAPPING_BINDING(place->unit, place->id));
}

void mapping_tables_drop(struct mapping_tables *tables, struct mapping_list *list)
{
	drop(tables, &list->table);
	list->table = (struct mapping_table_place){ 0 };
}

/* Makes a new table. The old one is freed when the process is bound to the new one, and also if
 * there is no new one: files that were unmapped have given back their slots, which may soon be
 * other files'. */
static int renew(struct mapping_tables *tables, uint32_t pid, struct mapping_list *list)
{
	struct mapping_table_place old = list->table;

	int r = publish(tables, list, &list->table);
	if (r < 0) {
		mapping_tables_drop(tables, list);
		return r;
	}
	list->is_changed = false;
	r = set_binding(tables, pid, &list->table);
	drop(tables, &old);
	return r;
}

int mapping_tables_bind(struct mapping_tables *tables, uint32_t pid, struct mapping_list *list)
{
	bool is_there = list->table.unit != 0 && !list->is_changed &&
			list->table.nr_lacking == count_lacking(list);
	int r = is_there ? set_binding(tables, pid, &list->table) : renew(tables, pid, list);

	if (r == -ENOENT)
		return -ESRCH;
	if (r < 0)
		tables->stats.nr_failures++;
	return r;
}

struct mapping_tables_stats mapping_tables_get_stats(const struct mapping_tables *tables)
{
	return tables->stats;
}
