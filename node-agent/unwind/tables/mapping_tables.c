/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/tables/mapping_tables.h"

#include "base/strbuf.h"
#include "process/mapped_file.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ID (UINT32_C(1) << 31)

struct mapping_tables {
	struct unwind_memory *memory; /* borrowed */
	struct unwind_arena *arena; /* borrowed */
	uint32_t last_id;
	struct mapping_tables_stats stats;
};

/* A mapping table on its way into the arena. */
struct encoder {
	uint64_t *starts; /* owned; room for two ranges a mapping */
	struct mapping_range *ranges; /* owned */
	uint32_t nr;
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

static void encoder_done(struct encoder *encoder)
{
	free(encoder->starts);
	free(encoder->ranges);
}

static void add_range(struct encoder *encoder, uint64_t start, struct mapping_range range)
{
	encoder->starts[encoder->nr] = start;
	encoder->ranges[encoder->nr] = range;
	encoder->nr++;
}

/* A mapping, and the hole behind it unless the next mapping begins there. */
static void add_mapping(struct encoder *encoder, const struct mapping *mapping,
			const struct mapping *next)
{
	add_range(encoder, mapping->start,
		  (struct mapping_range){ .bias = mapping->start - mapping->file_offset,
					  .slot = mapping->file->slot,
					  .is_postponed = mapping->file->is_postponed });
	if (!next || next->start != mapping->end)
		add_range(encoder, mapping->end, (struct mapping_range){ .is_hole = 1 });
}

static int encode(struct encoder *encoder, const struct mapping_list *list)
{
	size_t nr_items = list->nr_items;

	encoder->starts = calloc(2 * nr_items, sizeof(*encoder->starts));
	encoder->ranges = calloc(2 * nr_items, sizeof(*encoder->ranges));
	if (!encoder->starts || !encoder->ranges)
		return -ENOMEM;
	for (size_t i = 0; i < nr_items; i++)
		add_mapping(encoder, &list->items[i],
			    i + 1 < nr_items ? &list->items[i + 1] : NULL);
	return 0;
}

_Static_assert(2 * MAPPING_LIST_MAX <= MAPPING_TABLE_MAX_RANGES, "every mapping list fits");

/* Where a mapping table was there may be a row table, or the middle of one, while a sleeping
 * process still has the binding: numbers of pages and rows, which are small. */
static uint32_t next_id(struct mapping_tables *tables)
{
	tables->last_id = (tables->last_id + 1) | FIRST_ID;
	return tables->last_id;
}

/* The mapping table as one piece of memory. */
static int lay_out(const struct encoder *encoder, uint32_t id, struct strbuf *out)
{
	size_t starts_bytes = encoder->nr * sizeof(*encoder->starts);
	struct mapping_table head = { .id = id, .nr_ranges = encoder->nr };
	static const char zeros[sizeof(struct mapping_range)];

	head.ranges_offset = (uint32_t)((MAPPING_TABLE_STARTS + starts_bytes + 31) / 32 * 32);
	strbuf_append(out, &head, sizeof(head));
	strbuf_append(out, encoder->starts, starts_bytes);
	strbuf_append(out, zeros, head.ranges_offset - MAPPING_TABLE_STARTS - starts_bytes);
	strbuf_append(out, encoder->ranges, encoder->nr * sizeof(*encoder->ranges));
	return strbuf_error(out);
}

/* Files without a slot, and twice those that get one later. While the list stays the same it
 * only becomes less: a file that has a slot keeps it. */
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
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(UINT32_MAX);
	_cleanup_(encoder_done) struct encoder encoder = { 0 };
	struct mapping_table_place place = { .id = next_id(tables) };

	int r = encode(&encoder, list);
	if (r == 0)
		r = lay_out(&encoder, place.id, &bytes);
	if (r == 0)
		r = unwind_arena_put(tables->arena, bytes.data, bytes.len, &place.unit);
	if (r < 0)
		return r;
	place.bytes = (uint32_t)bytes.len;
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

/* Only where the unwinder asks for one, or has one: a process that has ended meanwhile would
 * keep it for ever, and one that called exec() has other code. */
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

/* The old table goes when the process is bound to the new one. Without a new one it goes as
 * well: files that are not in it any more have given back their slots, which may be other files'
 * soon. */
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
