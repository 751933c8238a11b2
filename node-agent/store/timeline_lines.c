/* SPDX-License-Identifier: Apache-2.0 */
#include "store/timeline_lines.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/parse.h"

#include <stdlib.h>
#include <string.h>

static void line_done(struct timeline_line *line)
{
	free(line->name);
	free(line->values);
	free(line->is_known);
}

void timeline_lines_done(struct timeline_lines *lines)
{
	for (size_t i = 0; i < lines->nr; i++)
		line_done(&lines->items[i]);
	free(lines->items);
	htable_done(&lines->index);
	*lines = (struct timeline_lines){ 0 };
}

static int add_line(struct timeline_lines *lines, const char *name, uint32_t hash)
{
	struct timeline_line line = { 0 };
	int r;

	if ((lines->nr + 1) * lines->nr_steps > TIMELINE_MAX_NUMBERS)
		return -ENOSPC;
	r = array_grow(lines->items, lines->cap, lines->nr + 1, TIMELINE_MAX_NUMBERS);
	if (r < 0)
		return r;
	line.name = strdup(name);
	line.values = calloc(lines->nr_steps, sizeof(*line.values));
	if (!line.name || !line.values ||
	    htable_add(&lines->index, hash, (uint32_t)lines->nr) < 0) {
		line_done(&line);
		return -ENOMEM;
	}
	lines->items[lines->nr++] = line;
	return 0;
}

int timeline_lines_get(struct timeline_lines *lines, const char *name, uint32_t *ret_index)
{
	uint32_t hash = hash_bytes(name, strlen(name));
	struct htable_iter it = htable_lookup(&lines->index, hash);

	for (uint32_t row; htable_next(&it, &row);) {
		if (strcmp(lines->items[row].name, name) == 0) {
			*ret_index = row;
			return 0;
		}
	}
	int r = add_line(lines, name, hash);
	if (r == 0)
		*ret_index = (uint32_t)lines->nr - 1;
	return r;
}

void timeline_lines_add(struct timeline_lines *lines, uint32_t index, size_t step, uint64_t value)
{
	lines->items[index].values[step] += value;
	lines->items[index].total += value;
}

void timeline_lines_scale(struct timeline_lines *lines, uint64_t factor)
{
	for (size_t i = 0; i < lines->nr; i++) {
		for (size_t step = 0; step < lines->nr_steps; step++)
			lines->items[i].values[step] *= factor;
		lines->items[i].total *= factor;
	}
}

static int compare_totals(const void *a, const void *b)
{
	const struct timeline_line *one = a, *other = b;

	if (one->total != other->total)
		return one->total < other->total ? 1 : -1;
	return strcmp(one->name, other->name);
}

static uint64_t number_of(const struct timeline_line *line)
{
	const char *cursor = line->name;
	uint64_t number = UINT64_MAX;

	(void)!parse_digits(&cursor, cursor + strlen(cursor), 10, &number);
	return number;
}

static int compare_numbers(const void *a, const void *b)
{
	const struct timeline_line *a_line = a, *b_line = b;
	uint64_t one = number_of(a_line), other = number_of(b_line);

	return one != other ? (one > other) - (one < other) : strcmp(a_line->name, b_line->name);
}

/* The index does not fit the lines any more. */
static void sort(struct timeline_lines *lines, int (*compare)(const void *a, const void *b))
{
	htable_clear(&lines->index);
	if (lines->nr > 1)
		qsort(lines->items, lines->nr, sizeof(*lines->items), compare);
}

void timeline_lines_sort_by_total(struct timeline_lines *lines)
{
	sort(lines, compare_totals);
}

void timeline_lines_sort_by_number(struct timeline_lines *lines)
{
	sort(lines, compare_numbers);
}

int timeline_lines_limit(struct timeline_lines *lines, size_t max)
{
	struct timeline_line *rest = &lines->items[max];

	if (lines->nr <= max)
		return 0;
	char *name = strdup(TIMELINE_REST_NAME);
	if (!name)
		return -ENOMEM;
	for (size_t i = max + 1; i < lines->nr; i++) {
		for (size_t step = 0; step < lines->nr_steps; step++)
			rest->values[step] += lines->items[i].values[step];
		rest->total += lines->items[i].total;
		line_done(&lines->items[i]);
	}
	free(rest->name);
	rest->name = name;
	rest->is_rest = true;
	lines->nr = max + 1;
	return 0;
}
