/* SPDX-License-Identifier: Apache-2.0 */
/* A lookup is a binary search in `ranges`, which are sorted, do not overlap, and refer to their
 * functions. A new function goes to the end of `added` and is not found until it is settled:
 *
 *	added (in order of arrival)	overlaid on each other in pairs of runs, the later run on top
 *	ranges				overlaid with the result, in one pass over both
 *
 * n ranges with any overlaps leave at most 2n - 1 pieces, because a piece begins or ends where a
 * range does. So the sizes of the buffers are known in advance, and settling b functions into n
 * ranges always costs b log b + n. */
#include "symbol/jit/jit_functions.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/htable.h"
#include "base/intern.h"
#include "base/search.h"

#include <string.h>

#define MAX_ADDED ((size_t)16 << 10) /* more are settled at once */
#define MAX_RANGES (2 * JIT_FUNCTIONS_MAX)
#define GARBAGE_MIN 1024 /* functions; a pass is not worth it for fewer dead ones */

struct range {
	uint64_t start;
	uint32_t nr_bytes;
	uint32_t function;
};

struct function {
	uint64_t start; /* of the code; offsets of lines are relative to it */
	uint64_t index;
	struct jit_name_parts parts; /* of the name */
	uint32_t name; /* id in `strings` */
	uint32_t first_line;
	uint32_t nr_lines;
	bool has_index;
};

struct line {
	uint32_t offset;
	uint32_t line;
	uint32_t filename; /* id in `strings` */
};

struct jit_functions {
	size_t max_bytes;
	struct intern strings;
	struct range *ranges; /* owned */
	size_t nr_ranges;
	size_t cap_ranges;
	struct range *added; /* owned */
	size_t nr_added;
	size_t cap_added;
	struct function *functions; /* owned */
	size_t nr_functions;
	size_t cap_functions;
	struct line *lines; /* owned; those from nr_lines_taken on wait for the next function */
	size_t nr_lines;
	size_t cap_lines;
	size_t nr_lines_taken;
	struct htable by_index; /* rows of `functions`; only the latest with an index */
};

int jit_functions_new(size_t max_bytes, struct jit_functions **ret_functions)
{
	_cleanup_(jit_functions_freep) struct jit_functions *functions = calloc(1,
										sizeof(*functions));

	if (!functions)
		return -ENOMEM;
	functions->max_bytes = max_bytes;
	int r = intern_init(&functions->strings, JIT_FUNCTIONS_MAX, max_bytes);
	if (r < 0)
		return r;
	*ret_functions = take_ptr(functions);
	return 0;
}

void jit_functions_free(struct jit_functions *functions)
{
	if (!functions)
		return;
	intern_done(&functions->strings);
	free(functions->ranges);
	free(functions->added);
	free(functions->functions);
	free(functions->lines);
	htable_done(&functions->by_index);
	free(functions);
}

size_t jit_functions_bytes(const struct jit_functions *functions)
{
	return sizeof(*functions) + functions->strings.arena.nr_bytes +
	       functions->strings.cap_strings * sizeof(char *) +
	       (functions->strings.index.nr_slots + functions->by_index.nr_slots) *
		       sizeof(struct htable_slot) +
	       (functions->cap_ranges + functions->cap_added) * sizeof(struct range) +
	       functions->cap_functions * sizeof(struct function) +
	       functions->cap_lines * sizeof(struct line);
}

size_t jit_functions_count(const struct jit_functions *functions)
{
	return functions->nr_ranges;
}

/* Arrays double in size, so the limit may be exceeded by a factor of two. */
static int check_room(const struct jit_functions *functions)
{
	return jit_functions_bytes(functions) > functions->max_bytes ? -ENOSPC : 0;
}

int jit_functions_add_line(struct jit_functions *functions, uint32_t offset, uint32_t line,
			   const char *filename)
{
	size_t max = functions->max_bytes / 2 / sizeof(*functions->lines);
	uint32_t string = 0;

	int r = check_room(functions);
	if (r == 0)
		r = array_grow(functions->lines, functions->cap_lines, functions->nr_lines + 1,
			       max);
	if (r == 0 && filename)
		r = intern_add(&functions->strings, filename, &string);
	if (r < 0)
		return r;
	if (!filename && functions->nr_lines > functions->nr_lines_taken)
		string = functions->lines[functions->nr_lines - 1].filename;
	functions->lines[functions->nr_lines++] =
		(struct line){ .offset = offset, .line = line, .filename = string };
	return 0;
}

void jit_functions_drop_lines(struct jit_functions *functions)
{
	functions->nr_lines = functions->nr_lines_taken;
}

static int compare_lines(const void *left, const void *right)
{
	const struct line *a = left;
	const struct line *b = right;

	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Gives the waiting lines to a function. */
static void take_lines(struct jit_functions *functions, struct function *function, uint32_t shift)
{
	size_t nr = functions->nr_lines - functions->nr_lines_taken;
	struct line *lines = nr > 0 ? functions->lines + functions->nr_lines_taken : NULL;
	bool is_sorted = true;

	for (size_t i = 0; i < nr; i++) {
		lines[i].offset = lines[i].offset > shift ? lines[i].offset - shift : 0;
		is_sorted = is_sorted && (i == 0 || lines[i - 1].offset <= lines[i].offset);
	}
	if (!is_sorted)
		qsort(lines, nr, sizeof(*lines), compare_lines);
	function->first_line = (uint32_t)functions->nr_lines_taken;
	function->nr_lines = (uint32_t)nr;
	functions->nr_lines_taken = functions->nr_lines;
}

static int find_index(const struct jit_functions *functions, uint64_t index, uint32_t *ret_row)
{
	struct htable_iter it = htable_lookup(&functions->by_index, hash_u64(index));

	for (uint32_t row; htable_next(&it, &row);) {
		if (functions->functions[row].index == index) {
			*ret_row = row;
			return 0;
		}
	}
	return -ENOENT;
}

/* Adds a function to by_index, where it replaces an older one with the same index. */
static int file_by_index(struct jit_functions *functions, uint64_t index, uint32_t row)
{
	uint32_t old_row;

	if (find_index(functions, index, &old_row) == 0)
		htable_remove(&functions->by_index, hash_u64(index), old_row);
	return htable_add(&functions->by_index, hash_u64(index), row);
}

static int make_room(struct jit_functions *functions)
{
	int r = functions->nr_added >= MAX_ADDED ? jit_functions_settle(functions) : 0;

	if (r == 0)
		r = check_room(functions);
	if (r == 0)
		r = array_grow(functions->added, functions->cap_added, functions->nr_added + 1,
			       MAX_ADDED);
	if (r == 0)
		r = array_grow(functions->functions, functions->cap_functions,
			       functions->nr_functions + 1, JIT_FUNCTIONS_MAX);
	return r;
}

/* Appends a function; there must be room for it. */
static int append(struct jit_functions *functions, const struct function *function,
		  uint32_t nr_bytes)
{
	uint32_t row = (uint32_t)functions->nr_functions;

	functions->functions[row] = *function;
	int r = function->has_index ? file_by_index(functions, function->index, row) : 0;
	if (r < 0)
		return r;
	functions->nr_functions++;
	functions->added[functions->nr_added++] = (struct range){
		.start = function->start,
		.nr_bytes = nr_bytes,
		.function = row,
	};
	return 0;
}

int jit_functions_add(struct jit_functions *functions, const struct jit_code *code)
{
	struct function function = {
		.start = code->address,
		.index = code->index,
		.has_index = code->has_index,
		.parts = code->parts,
	};

	if (!jit_functions_can_have(code->address, code->nr_bytes))
		return -EBADMSG;
	int r = make_room(functions);
	if (r == 0)
		r = intern_add(&functions->strings, code->name, &function.name);
	if (r < 0)
		return r;
	take_lines(functions, &function, code->line_shift);
	return append(functions, &function, (uint32_t)code->nr_bytes);
}

int jit_functions_move(struct jit_functions *functions, uint64_t index, uint64_t address,
		       uint64_t nr_bytes)
{
	uint32_t row;

	if (!jit_functions_can_have(address, nr_bytes))
		return -EBADMSG;
	int r = make_room(functions);
	if (r < 0)
		return r;
	r = find_index(functions, index, &row);
	if (r < 0)
		return r;

	/* The copy takes the lines, so that no two functions share them. */
	struct function moved = functions->functions[row];
	functions->functions[row].nr_lines = 0;
	moved.start = address;
	return append(functions, &moved, (uint32_t)nr_bytes);
}

static uint64_t end_of(const struct range *range)
{
	return range->start + range->nr_bytes;
}

/* Removes the part of a range before an address. */
static void cut_before(struct range *range, uint64_t address)
{
	range->nr_bytes = end_of(range) > address ? (uint32_t)(end_of(range) - address) : 0;
	range->start = address;
}

struct range_list {
	const struct range *items;
	size_t nr_items;
};

/* Writes the part of `range` before `over` to `out`, and removes the covered part from `range`.
 * Returns the number of pieces written. */
static size_t pass_under(struct range *range, const struct range *over, struct range *out)
{
	if (range->start >= over->start) {
		cut_before(range, end_of(over));
		return 0;
	}
	*out = *range;
	if (end_of(range) > over->start)
		out->nr_bytes = (uint32_t)(over->start - range->start);
	cut_before(range, over->start);
	return 1;
}

/* Takes the next range of a list if nothing is left of the previous one. Returns false at the
 * end. */
static bool refill(struct range *rest, struct range_list *list)
{
	if (rest->nr_bytes == 0 && list->nr_items > 0) {
		*rest = *list->items++;
		list->nr_items--;
	}
	return rest->nr_bytes > 0;
}

/* Lays the ranges of `top` over those of `below`. Both lists are sorted and have no overlaps, and
 * so has `out`. Returns the number of ranges written. */
static size_t overlay(struct range_list below, struct range_list top, struct range *out)
{
	struct range rest = { 0 }; /* of the current range of `below` */
	size_t nr_out = 0;

	for (size_t i = 0; i < top.nr_items; i++) {
		const struct range *over = &top.items[i];

		while (refill(&rest, &below) && rest.start < end_of(over))
			nr_out += pass_under(&rest, over, out + nr_out);
		out[nr_out++] = *over;
	}
	for (; refill(&rest, &below); rest.nr_bytes = 0)
		out[nr_out++] = rest;
	return nr_out;
}

/* Overlays ranges on each other in order of arrival. `out` and `scratch` have room for twice as
 * many ranges. Each recursion halves the list: 14 levels for MAX_ADDED. */
static size_t overlay_all(const struct range *items, size_t nr, struct range *out,
			  struct range *scratch)
{
	size_t half = nr / 2;

	if (nr == 1) {
		out[0] = items[0];
		return 1;
	}
	size_t nr_below = overlay_all(items, half, scratch, out);
	size_t nr_top = overlay_all(items + half, nr - half, scratch + 2 * half, out + 2 * half);
	return overlay((struct range_list){ scratch, nr_below },
		       (struct range_list){ scratch + 2 * half, nr_top }, out);
}

/* Copies the functions that still have a range to `kept`, with their names and lines. */
static int copy_living(const struct jit_functions *functions, uint32_t *row_plus_1,
		       struct jit_functions *kept)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < functions->nr_ranges; i++) {
		const struct range *range = &functions->ranges[i];
		const struct function *function = &functions->functions[range->function];
		struct jit_code code = {
			.address = function->start,
			.nr_bytes = 1, /* unused: the ranges exist already */
			.name = intern_get(&functions->strings, function->name),
			.parts = function->parts,
			.has_index = function->has_index,
			.index = function->index,
		};

		if (row_plus_1[range->function] != 0)
			continue;
		for (size_t j = 0; r == 0 && j < function->nr_lines; j++) {
			const struct line *line = &functions->lines[function->first_line + j];

			r = jit_functions_add_line(kept, line->offset, line->line,
						   intern_get(&functions->strings, line->filename));
		}
		kept->nr_added = 0;
		if (r == 0)
			r = jit_functions_add(kept, &code);
		row_plus_1[range->function] = (uint32_t)kept->nr_functions;
	}
	kept->nr_added = 0;
	return r;
}

/* Removes functions without a range. Does nothing if there is not enough memory. */
static void drop_dead(struct jit_functions *functions)
{
	_cleanup_free_ uint32_t *row_plus_1 = calloc(functions->nr_functions, sizeof(uint32_t));
	_cleanup_(jit_functions_freep) struct jit_functions *kept = NULL;

	if (!row_plus_1 || jit_functions_new(functions->max_bytes, &kept) < 0 ||
	    copy_living(functions, row_plus_1, kept) < 0)
		return;
	for (size_t i = 0; i < functions->nr_ranges; i++)
		functions->ranges[i].function = row_plus_1[functions->ranges[i].function] - 1;
	kept->ranges = functions->ranges;
	kept->nr_ranges = functions->nr_ranges;
	kept->cap_ranges = functions->cap_ranges;
	functions->ranges = NULL;

	struct jit_functions old = *functions;
	*functions = *kept;
	*kept = old;
}

/* Returns whether most functions have no range any more. Waiting lines would be lost by the copy,
 * so it has to wait for them. */
static bool has_garbage(const struct jit_functions *functions)
{
	return functions->nr_functions > GARBAGE_MIN + 2 * functions->nr_ranges &&
	       functions->nr_lines == functions->nr_lines_taken;
}

int jit_functions_settle(struct jit_functions *functions)
{
	size_t nr = functions->nr_added;
	size_t cap = functions->nr_ranges + 2 * nr;

	if (nr == 0)
		return 0;
	if (cap > MAX_RANGES)
		return -ENOSPC;
	_cleanup_free_ struct range *ranges = calloc(cap, sizeof(*ranges));
	_cleanup_free_ struct range *run = calloc(4 * nr, sizeof(*run));
	if (!ranges || !run)
		return -ENOMEM;

	size_t nr_run = overlay_all(functions->added, nr, run, run + 2 * nr);
	functions->nr_ranges = overlay(
		(struct range_list){ functions->ranges, functions->nr_ranges },
		(struct range_list){ run, nr_run }, ranges);
	free(functions->ranges);
	functions->ranges = take_ptr(ranges);
	functions->cap_ranges = cap;
	functions->nr_added = 0;
	if (has_garbage(functions))
		drop_dead(functions);
	return 0;
}

/* Returns the line at an offset in a function, or NULL. */
static const struct line *find_line(const struct jit_functions *functions,
				    const struct function *function, uint64_t offset)
{
	const struct line *lines = functions->lines;
	size_t first = function->first_line;
	size_t next = search_count(function->nr_lines, i, lines[first + i].offset <= offset);

	return next > 0 ? &lines[first + next - 1] : NULL;
}

static const struct range *find_range(const struct jit_functions *functions, uint64_t address)
{
	const struct range *ranges = functions->ranges;
	size_t found = search_count(functions->nr_ranges, i, end_of(&ranges[i]) <= address);

	if (found == functions->nr_ranges || ranges[found].start > address)
		return NULL;
	return &ranges[found];
}

bool jit_functions_find(const struct jit_functions *functions, uint64_t address,
			struct jit_found *ret_found)
{
	const struct range *range = find_range(functions, address);

	if (!range)
		return false;
	const struct function *function = &functions->functions[range->function];
	const struct line *line = find_line(functions, function, address - function->start);

	*ret_found = (struct jit_found){
		.name = intern_get(&functions->strings, function->name),
		.parts = function->parts,
		.filename = line ? intern_get(&functions->strings, line->filename) : "",
		.line = line ? line->line : 0,
	};
	return true;
}
