/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/tables/extents.h"

#include "base/cleanup.h"
#include "torture.h"

#include <stdbool.h>
#include <string.h>

#include "unit.h"

#define FIRST 2

static uint32_t take(struct extents *extents, uint32_t nr_units)
{
	uint32_t start = 0;

	assert_int_equal(extents_take(extents, nr_units, &start), 0);
	return start;
}

static void give(struct extents *extents, uint32_t start, uint32_t nr_units)
{
	extents_give_back(extents, (struct extent){ start, nr_units });
}

static void an_empty_range_has_nothing_and_misses_all(void **state)
{
	_cleanup_(extents_done) struct extents extents;
	uint32_t start = 77;
	(void)state;

	extents_init(&extents, FIRST);
	assert_int_equal(extents_take(&extents, 1, &start), -ENOSPC);
	assert_int_equal(start, 77);
	assert_int_equal(extents_missing(&extents, 5), 5);
}

static void extents_are_taken_from_the_beginning(void **state)
{
	_cleanup_(extents_done) struct extents extents;
	(void)state;

	extents_init(&extents, FIRST);
	assert_int_equal(extents_grow(&extents, 10), 0);
	assert_int_equal(take(&extents, 4), FIRST);
	assert_int_equal(take(&extents, 6), FIRST + 4);
	assert_int_equal(extents.nr_free, 0);
	assert_int_equal(extents.nr_units_taken, 10);
	assert_int_equal(extents_missing(&extents, 1), 1);
}

static void growth_joins_the_free_end(void **state)
{
	_cleanup_(extents_done) struct extents extents;
	(void)state;

	extents_init(&extents, FIRST);
	assert_int_equal(extents_grow(&extents, 10), 0);
	assert_int_equal(take(&extents, 7), FIRST);
	assert_int_equal(extents_missing(&extents, 13), 10);
	assert_int_equal(extents_grow(&extents, 10), 0);
	assert_int_equal(extents_missing(&extents, 13), 0);
	assert_int_equal(take(&extents, 13), FIRST + 7);
}

static void the_smallest_extent_that_is_large_enough_is_used(void **state)
{
	_cleanup_(extents_done) struct extents extents;
	(void)state;

	extents_init(&extents, 0);
	assert_int_equal(extents_grow(&extents, 100), 0);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(take(&extents, 10), i * 10);
	give(&extents, 10, 10);
	give(&extents, 20, 10);
	give(&extents, 50, 10);
	give(&extents, 70, 10);
	give(&extents, 80, 10);
	give(&extents, 90, 10);
	assert_int_equal(extents.nr_free, 3);
	assert_int_equal(take(&extents, 9), 50);
	assert_int_equal(take(&extents, 11), 10);
	assert_int_equal(take(&extents, 9), 21);
	assert_int_equal(take(&extents, 30), 70);
	assert_int_equal(take(&extents, 1), 59);
	assert_int_equal(extents.nr_free, 0);
}

static void neighbours_are_joined_in_any_order(void **state)
{
	static const uint32_t orders[][3] = {
		{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(orders); i++) {
		_cleanup_(extents_done) struct extents extents;

		extents_init(&extents, 0);
		assert_int_equal(extents_grow(&extents, 30), 0);
		for (uint32_t k = 0; k < 3; k++)
			assert_int_equal(take(&extents, 10), k * 10);
		for (size_t k = 0; k < 3; k++)
			give(&extents, orders[i][k] * 10, 10);
		assert_int_equal(extents.nr_free, 1);
		assert_int_equal(extents.nr_taken, 0);
		assert_int_equal(take(&extents, 30), 0);
	}
}

#define MODEL_UNITS 4096
#define MODEL_EXTENTS 256

/* What is in use, by the dumbest means. */
struct model {
	bool used[MODEL_UNITS];
	struct extent taken[MODEL_EXTENTS];
	size_t nr_taken;
	uint64_t random;
};

static uint32_t draw(struct model *model, uint32_t below)
{
	model->random = model->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(model->random >> 33) % below;
}

static void model_take(struct model *model, struct extents *extents)
{
	struct extent extent = { .nr_units = 1 + draw(model, 60) };

	if (model->nr_taken == MODEL_EXTENTS)
		return;
	if (extents_take(extents, extent.nr_units, &extent.start) < 0) {
		assert_true(extents_missing(extents, extent.nr_units) > 0);
		return;
	}
	assert_true(extent.start + extent.nr_units <= MODEL_UNITS);
	for (uint32_t i = 0; i < extent.nr_units; i++) {
		assert_false(model->used[extent.start + i]);
		model->used[extent.start + i] = true;
	}
	model->taken[model->nr_taken++] = extent;
}

static void model_give(struct model *model, struct extents *extents)
{
	if (model->nr_taken == 0)
		return;
	size_t at = draw(model, (uint32_t)model->nr_taken);
	struct extent extent = model->taken[at];
	model->taken[at] = model->taken[--model->nr_taken];
	memset(model->used + extent.start, 0, extent.nr_units);
	extents_give_back(extents, extent);
}

static void check_free(const struct model *model, const struct extents *extents)
{
	uint64_t nr_free = 0;
	uint32_t end = 0;

	for (size_t i = 0; i < extents->nr_free; i++) {
		assert_true(i == 0 || extents->free[i].start > end);
		assert_true(extents->free[i].nr_units > 0);
		end = extents->free[i].start + extents->free[i].nr_units;
		nr_free += extents->free[i].nr_units;
		for (uint32_t unit = extents->free[i].start; unit < end; unit++)
			assert_false(model->used[unit]);
	}
	assert_int_equal(nr_free + extents->nr_units_taken, extents->end);
	assert_int_equal(model->nr_taken, extents->nr_taken);
}

static void no_unit_is_lost_or_given_out_twice(void **state)
{
	_cleanup_(extents_done) struct extents extents;
	static struct model model;
	(void)state;

	extents_init(&extents, 0);
	for (uint32_t i = 0; i < 20000; i++) {
		if (i % 2000 == 0 && extents.end < MODEL_UNITS)
			assert_int_equal(extents_grow(&extents, MODEL_UNITS / 8), 0);
		if (draw(&model, 2) == 0)
			model_give(&model, &extents);
		else
			model_take(&model, &extents);
		if (i % 50 == 0)
			check_free(&model, &extents);
	}
	while (model.nr_taken > 0)
		model_give(&model, &extents);
	check_free(&model, &extents);
	assert_int_equal(extents.nr_free, 1);
}

/* Every other extent is given back, which makes the most free extents that there can be. */
static void comb(void)
{
	_cleanup_(extents_done) struct extents extents;
	uint32_t starts[200];
	uint32_t nr_taken = 0;

	extents_init(&extents, 0);
	if (extents_grow(&extents, array_len(starts)) < 0)
		return;
	while (nr_taken < array_len(starts) && extents_take(&extents, 1, &starts[nr_taken]) == 0)
		nr_taken++;
	for (uint32_t i = 0; i < nr_taken; i += 2)
		give(&extents, starts[i], 1);
	for (uint32_t i = 1; i < nr_taken; i += 2)
		give(&extents, starts[i], 1);
	assert_int_equal(extents.nr_free, 1);
	assert_int_equal(extents.free[0].nr_units, array_len(starts));
}

static void giving_back_needs_no_memory(void **state)
{
	unsigned int n = 1;
	(void)state;

	for (; torture_begin(n), comb(), torture_end(); n++)
		;
	assert_true(n > 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_range_has_nothing_and_misses_all),
		cmocka_unit_test(extents_are_taken_from_the_beginning),
		cmocka_unit_test(growth_joins_the_free_end),
		cmocka_unit_test(the_smallest_extent_that_is_large_enough_is_used),
		cmocka_unit_test(neighbours_are_joined_in_any_order),
		cmocka_unit_test(no_unit_is_lost_or_given_out_twice),
		cmocka_unit_test(giving_back_needs_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
