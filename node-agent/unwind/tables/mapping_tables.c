/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/tables/mapping_tables.h"

#include "base/strbuf.h"
#include "process/mapped_file.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ID (UINT32_C(1) << 31)

struct code_lists {
	struct unwind_memory *memory; /* borrowed */
	struct unwind_arena *arena; /* borrowed */
	uint32_t last_id;
	struct code_lists_stats stats;
};

/* A list on its way into the arena. */
struct encoder {
	uint64_t *starts; /* owned; room for two ranges a mapping */
	struct code_range *ranges; /* owned */
	uint32_t nr;
};

int code_lists_new(struct unwind_memory *memory, struct unwind_arena *arena,
		   struct code_lists **ret_lists)
{
	struct code_lists *lists = calloc(1, sizeof(*lists));

	if (!lists)
		return -ENOMEM;
	lists->memory = memory;
	lists->arena = arena;
	*ret_lists = lists;
	return 0;
}

void code_lists_free(struct code_lists *lists)
{
	free(lists);
}

static void encoder_done(struct encoder *encoder)
{
	free(encoder->starts);
	free(encoder->ranges);
}

static void add_range(struct encoder *encoder, uint64_t start, struct code_range range)
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
		  (struct code_range){ .bias = mapping->start - mapping->file_offset,
				       .slot = mapping->file->slot,
				       .is_postponed = mapping->file->is_postponed });
	if (!next || next->start != mapping->end)
		add_range(encoder, mapping->end, (struct code_range){ .is_hole = 1 });
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

_Static_assert(2 * MAPPING_LIST_MAX <= CODE_LIST_MAX_RANGES, "every mapping list fits");

/* Where a list was there may be a table, or the middle of one, while a sleeping process still has the binding: numbers
 * of pages and rows, which are small. */
static uint32_t next_id(struct code_lists *lists)
{
	lists->last_id = (lists->last_id + 1) | FIRST_ID;
	return lists->last_id;
}

/* The list as one piece of memory. */
static int lay_out(const struct encoder *encoder, uint32_t id, struct strbuf *out)
{
	size_t starts_bytes = encoder->nr * sizeof(*encoder->starts);
	struct code_list head = { .id = id, .nr_ranges = encoder->nr };
	static const char zeros[sizeof(struct code_range)];

	head.ranges_offset = (uint32_t)((CODE_LIST_STARTS + starts_bytes + 31) / 32 * 32);
	strbuf_append(out, &head, sizeof(head));
	strbuf_append(out, encoder->starts, starts_bytes);
	strbuf_append(out, zeros, head.ranges_offset - CODE_LIST_STARTS - starts_bytes);
	strbuf_append(out, encoder->ranges, encoder->nr * sizeof(*encoder->ranges));
	return strbuf_error(out);
}

/* Files without a slot, and twice those that get one later. While the list stays the same it only becomes less: a file that
 * has a slot keeps it. */
static uint32_t count_lacking(const struct mapping_list *list)
{
	uint32_t nr = 0;

	for (size_t i = 0; i < list->nr_items; i++)
		nr += (list->items[i].file->slot == 0) + list->items[i].file->is_postponed;
	return nr;
}

/* Puts the list into the arena as it is now. */
static int publish(struct code_lists *lists, const struct mapping_list *list,
		   struct mapping_code *ret_code)
{
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(UINT32_MAX);
	_cleanup_(encoder_done) struct encoder encoder = { 0 };
	struct mapping_code code = { .id = next_id(lists) };

	int r = encode(&encoder, list);
	if (r == 0)
		r = lay_out(&encoder, code.id, &bytes);
	if (r == 0)
		r = unwind_arena_put(lists->arena, bytes.data, bytes.len, &code.unit);
	if (r < 0)
		return r;
	code.bytes = (uint32_t)bytes.len;
	code.nr_lacking = count_lacking(list);
	lists->stats.nr_lists++;
	lists->stats.nr_bytes += code.bytes;
	lists->stats.nr_published++;
	*ret_code = code;
	return 0;
}

static void drop(struct code_lists *lists, const struct mapping_code *code)
{
	if (code->unit == 0)
		return;
	unwind_arena_set_u32(lists->arena, code->unit, 0);
	unwind_arena_free(lists->arena, code->unit, code->bytes);
	lists->stats.nr_lists--;
	lists->stats.nr_bytes -= code->bytes;
}

/* Only where the unwinder asks for one, or has one: a process that has ended meanwhile would keep it for ever, and one
 * that called exec() has other code. */
static int set_binding(const struct code_lists *lists, uint32_t pid,
		       const struct mapping_code *code)
{
	return unwind_memory_bind(lists->memory, pid, CODE_BINDING(code->unit, code->id));
}

void code_lists_drop(struct code_lists *lists, struct mapping_list *list)
{
	drop(lists, &list->code);
	list->code = (struct mapping_code){ 0 };
}

/* The old list goes when the process is bound to the new one. Without a new one it goes as well: files that are not
 * in it any more have given back their slots, which may be other files' soon. */
static int renew(struct code_lists *lists, uint32_t pid, struct mapping_list *list)
{
	struct mapping_code old = list->code;

	int r = publish(lists, list, &list->code);
	if (r < 0) {
		code_lists_drop(lists, list);
		return r;
	}
	list->is_changed = false;
	r = set_binding(lists, pid, &list->code);
	drop(lists, &old);
	return r;
}

int code_lists_bind(struct code_lists *lists, uint32_t pid, struct mapping_list *list)
{
	bool is_there = list->code.unit != 0 && !list->is_changed &&
			list->code.nr_lacking == count_lacking(list);
	int r = is_there ? set_binding(lists, pid, &list->code) : renew(lists, pid, list);

	if (r == -ENOENT)
		return -ESRCH;
	if (r < 0)
		lists->stats.nr_failures++;
	return r;
}

struct code_lists_stats code_lists_get_stats(const struct code_lists *lists)
{
	return lists->stats;
}
