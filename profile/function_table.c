/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/function_table.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/hash.h"
#include "base/strbuf.h"

#include <stdlib.h>
#include <string.h>

#define GROUP_MAX_BYTES 16384
#define GROUPS_MAX_BYTES ((size_t)256 << 20)
#define SEPARATOR ';'

struct making {
	struct function_table *table; /* borrowed */
	const struct frame_rows *rows; /* borrowed */
	struct strbuf text; /* of a group */
};

/* Finds the group of a stack: the labels at its root. */
static int find_group(struct making *making, const struct profile_stack *stack, uint32_t *ret_group)
{
	const struct profile *p = making->rows->profile;

	strbuf_clear(&making->text);
	for (size_t i = stack->nr; i-- > 0;) {
		uint32_t location = p->stack_locations[stack->first + i];

		if (p->locations[location].kind != FRAME_LABEL)
			break;
		if (making->text.len > 0)
			strbuf_append_char(&making->text, SEPARATOR);
		strbuf_append_str(&making->text, profile_location_name(p, location));
	}
	int r = strbuf_error(&making->text);
	if (r == -ENOMEM)
		return r;
	return intern_add(&making->table->groups, strbuf_str(&making->text), ret_group);
}

static int get_sum(struct function_table *table, uint32_t group, uint32_t row,
		   struct function_sum **ret_sum)
{
	const uint32_t key[] = { group, row };
	uint32_t hash = hash_bytes(key, sizeof(key));

	struct htable_iter it = htable_lookup(&table->index, hash);
	for (uint32_t i; htable_next(&it, &i);) {
		if (table->sums[i].group == group && table->sums[i].row == row) {
			*ret_sum = &table->sums[i];
			return 0;
		}
	}
	int r = array_grow(table->sums, table->cap_sums, table->nr_sums + 1, UINT32_MAX);
	if (r == 0)
		r = htable_add(&table->index, hash, (uint32_t)table->nr_sums);
	if (r < 0)
		return r;
	table->sums[table->nr_sums] = (struct function_sum){ .group = group, .row = row };
	*ret_sum = &table->sums[table->nr_sums++];
	return 0;
}

/* Adds the functions of a location of a stack, the innermost first. */
static int add_location(struct making *making, uint32_t location, uint32_t group, uint32_t stack,
			uint64_t count)
{
	const uint32_t *rows = frame_rows_of(making->rows, location);
	struct function_sum *sum;

	for (uint32_t i = 0; i < making->rows->profile->locations[location].nr_lines; i++) {
		int r = get_sum(making->table, group, rows[i], &sum);
		if (r < 0)
			return r;
		if (sum->last_stack != stack + 1)
			sum->total += count;
		sum->last_stack = stack + 1;
	}
	return 0;
}

/* Adds to the function that ran, which is the innermost one of the leaf. */
static int add_self(struct making *making, uint32_t location, uint32_t group, uint64_t count)
{
	struct function_sum *sum;

	int r = get_sum(making->table, group, frame_rows_of(making->rows, location)[0], &sum);
	if (r == 0)
		sum->self += count;
	return r;
}

static int add_stack(struct making *making, uint32_t id, uint64_t count)
{
	const struct profile *p = making->rows->profile;
	const struct profile_stack *stack = &p->stacks[id];
	bool has_leaf = false;
	uint32_t group;

	int r = find_group(making, stack, &group);
	for (size_t i = 0; r == 0 && i < stack->nr; i++) {
		size_t at = p->is_bottom_up ? stack->nr - 1 - i : i;
		uint32_t location = p->stack_locations[stack->first + at];

		if (p->locations[location].kind == FRAME_LABEL)
			continue;
		r = add_location(making, location, group, id, count);
		if (r == 0 && !has_leaf)
			r = add_self(making, location, group, count);
		has_leaf = true;
	}
	return r;
}

static int add_stacks(struct making *making)
{
	const struct profile *p = making->rows->profile;
	_cleanup_free_ uint64_t *counts = calloc(p->nr_stacks, sizeof(*counts));
	int r = 0;

	if (!counts)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_samples; i++)
		counts[p->samples[i].stack] += p->samples[i].count;
	for (uint32_t i = 0; r == 0 && i < p->nr_stacks; i++)
		if (counts[i] > 0)
			r = add_stack(making, i, counts[i]);
	return r;
}

static int compare(const void *a, const void *b, void *context)
{
	const struct function_sum *sum_a = a, *sum_b = b;
	const struct making *making = context;
	const struct intern *groups = &making->table->groups;

	if (sum_a->self != sum_b->self)
		return sum_a->self < sum_b->self ? 1 : -1;
	if (sum_a->total != sum_b->total)
		return sum_a->total < sum_b->total ? 1 : -1;
	int order = strcmp(intern_get(groups, sum_a->group), intern_get(groups, sum_b->group));
	if (order == 0)
		order = strcmp(frame_row_name(making->rows, sum_a->row),
			       frame_row_name(making->rows, sum_b->row));
	return order ? order : (sum_a->row > sum_b->row) - (sum_a->row < sum_b->row);
}

int function_table_init(struct function_table *table, const struct frame_rows *rows)
{
	struct making making = { table, rows, strbuf_with_max(GROUP_MAX_BYTES) };

	*table = (struct function_table){ 0 };
	int r = intern_init(&table->groups, UINT32_MAX, GROUPS_MAX_BYTES);
	if (r == 0)
		r = add_stacks(&making);
	strbuf_done(&making.text);
	if (r < 0) {
		function_table_done(table);
		return r;
	}
	if (table->nr_sums > 0)
		qsort_r(table->sums, table->nr_sums, sizeof(*table->sums), compare, &making);
	return 0;
}

void function_table_done(struct function_table *table)
{
	free(table->sums);
	htable_done(&table->index);
	intern_done(&table->groups);
	*table = (struct function_table){ 0 };
}
