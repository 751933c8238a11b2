/* SPDX-License-Identifier: Apache-2.0 */
/* The table is compared with a model that cannot be wrong: an unordered list of pairs. Hashes
 * are drawn from small ranges, so that runs collide, merge and wrap around the end of the slots. */
#include "base/cleanup.h"
#include "base/htable.h"
#include "unit.h"

#include <stdlib.h>

#define MODEL_MAX 2048

struct pair {
	uint32_t hash;
	uint32_t row;
};

struct model {
	struct pair pairs[MODEL_MAX];
	size_t nr;
};

/* A fixed sequence (xorshift), so that a failure repeats. */
static uint32_t next_random(uint32_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 17;
	*seed ^= *seed << 5;
	return *seed;
}

static size_t model_count(const struct model *model, uint32_t hash)
{
	size_t nr = 0;

	for (size_t i = 0; i < model->nr; i++)
		nr += model->pairs[i].hash == hash;
	return nr;
}

static bool model_has(const struct model *model, uint32_t hash, uint32_t row)
{
	for (size_t i = 0; i < model->nr; i++)
		if (model->pairs[i].hash == hash && model->pairs[i].row == row)
			return true;
	return false;
}

/* Every row filed under the hash is in the model, and there are as many. */
static void assert_lookup_agrees(const struct htable *table, const struct model *model,
				 uint32_t hash)
{
	struct htable_iter it = htable_lookup(table, hash);
	size_t nr = 0;

	for (uint32_t row; htable_next(&it, &row); nr++)
		assert_true(model_has(model, hash, row));
	assert_int_equal(nr, model_count(model, hash));
}

static void add_random(struct htable *table, struct model *model, uint32_t hash, uint32_t row)
{
	assert_int_equal(htable_add(table, hash, row), 0);
	model->pairs[model->nr++] = (struct pair){ .hash = hash, .row = row };
}

static void remove_random(struct htable *table, struct model *model, uint32_t index)
{
	struct pair pair = model->pairs[index];

	htable_remove(table, pair.hash, pair.row);
	model->pairs[index] = model->pairs[--model->nr];
}

static void run_against_model(uint32_t nr_hashes, uint32_t stride, size_t target)
{
	_cleanup_(htable_done) struct htable table = { 0 };
	_cleanup_free_ struct model *model = calloc(1, sizeof(*model));
	uint32_t seed = 88172645 + nr_hashes;

	assert_non_null(model);
	for (uint32_t step = 0; step < 6000; step++) {
		uint32_t hash = next_random(&seed) % nr_hashes * stride;
		bool is_low = model->nr < target;

		if (model->nr == 0 || next_random(&seed) % 8 < (is_low ? 6 : 3))
			add_random(&table, model, hash, step);
		else
			remove_random(&table, model, next_random(&seed) % (uint32_t)model->nr);
		assert_int_equal(table.nr_used, model->nr);
		assert_lookup_agrees(&table, model, hash);
	}
	for (uint32_t hash = 0; hash < nr_hashes; hash++)
		assert_lookup_agrees(&table, model, hash * stride);
}

static void random_operations_agree_with_a_list(void **state)
{
	static const struct {
		uint32_t nr_hashes;
		uint32_t stride;
		size_t target;
	} runs[] = {
		{ 1, 1, 30 }, /* one run of equal hashes */
		{ 5, 1, 40 }, /* five that overlap */
		{ 64, 1, 45 }, /* a full first table */
		{ 40, 63, 44 }, /* homes at the end: wraps around */
		{ 1000, 64, 40 }, /* different hashes, one home */
		{ 1000, 2654435761u, 700 }, /* spread out, several growths */
	};
	(void)state;

	for (size_t i = 0; i < array_len(runs); i++)
		run_against_model(runs[i].nr_hashes, runs[i].stride, runs[i].target);
}

static void an_empty_table_finds_nothing(void **state)
{
	struct htable table = { 0 };
	uint32_t row = 42;
	(void)state;

	struct htable_iter it = htable_lookup(&table, 7);
	assert_false(htable_next(&it, &row));
	assert_int_equal(row, 42);
	htable_remove(&table, 7, 1);
	htable_clear(&table);
	htable_done(&table);
}

static void removing_what_is_not_there_changes_nothing(void **state)
{
	(void)state;
	_cleanup_(htable_done) struct htable table = { 0 };

	assert_int_equal(htable_add(&table, 7, 1), 0);
	htable_remove(&table, 7, 2);
	htable_remove(&table, 8, 1);
	assert_int_equal(table.nr_used, 1);
}

static void clearing_keeps_the_slots_but_no_pair(void **state)
{
	uint32_t row;
	(void)state;
	_cleanup_(htable_done) struct htable table = { 0 };

	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(htable_add(&table, i, i), 0);
	size_t nr_slots = table.nr_slots;
	htable_clear(&table);
	assert_int_equal(table.nr_slots, nr_slots);
	for (uint32_t i = 0; i < 100; i++) {
		struct htable_iter it = htable_lookup(&table, i);

		assert_false(htable_next(&it, &row));
	}
}

static void an_exhausted_iterator_stays_exhausted(void **state)
{
	uint32_t row = 0;
	(void)state;
	_cleanup_(htable_done) struct htable table = { 0 };

	assert_int_equal(htable_add(&table, 3, 9), 0);
	struct htable_iter it = htable_lookup(&table, 3);
	assert_true(htable_next(&it, &row));
	assert_int_equal(row, 9);
	assert_false(htable_next(&it, &row));
	assert_false(htable_next(&it, &row));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_operations_agree_with_a_list),
		cmocka_unit_test(an_empty_table_finds_nothing),
		cmocka_unit_test(removing_what_is_not_there_changes_nothing),
		cmocka_unit_test(clearing_keeps_the_slots_but_no_pair),
		cmocka_unit_test(an_exhausted_iterator_stays_exhausted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
