/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/diff_table.h"

#include "stacks.h"
#include "torture.h"
#include "unit.h"

#include "base/cleanup.h"
#include "base/strbuf.h"

#include <inttypes.h>

#define PLENTY 1000

/* The rows as text, a line each: name, own counts before and after, totals. */
static void assert_rows(const struct stack_line *before, size_t nr_before,
			const struct stack_line *after, size_t nr_after, const char *expected)
{
	_cleanup_(profile_unrefp) struct profile *a = profile_of_stacks(before, nr_before);
	_cleanup_(profile_unrefp) struct profile *b = profile_of_stacks(after, nr_after);
	_cleanup_(diff_done) struct diff diff = { 0 };
	_cleanup_(diff_table_done) struct diff_table table = { 0 };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(4096);

	assert_int_equal(diff_init(&diff, a, b, false, PLENTY), 0);
	assert_int_equal(diff_table_init(&table), 0);
	assert_int_equal(diff_table_add_functions(&table, &diff), 0);
	diff_table_sort(&table, &diff);
	for (size_t i = 0; i < table.nr_rows; i++) {
		const struct diff_row *row = &table.rows[i];

		strbuf_appendf(&out, "%s %" PRIu64 ">%" PRIu64 " %" PRIu64 ">%" PRIu64 "\n",
			       row->name, row->self.before, row->self.after, row->total.before,
			       row->total.after);
	}
	assert_string_equal(strbuf_str(&out), expected);
}

static void a_function_has_the_samples_of_all_its_stacks(void **state)
{
	(void)state;
	const struct stack_line before[] = { { "a", "main;f", 100 }, { "b", "f;g", 300 } };
	const struct stack_line after[] = { { "a", "main;g;f", 200 }, { "b", "f", 200 } };

	assert_rows(before, 2, after, 2, "f 100>400 400>400\nmain 0>0 100>200\ng 300>0 300>200\n");
}

static void a_function_that_calls_itself_counts_once(void **state)
{
	(void)state;
	const struct stack_line before[] = { { "a", "f;g;f", 100 } };
	const struct stack_line after[] = { { "a", "f;g;f;f", 40 }, { "a", "f;g;h", 60 } };

	assert_rows(before, 1, after, 2, "h 0>60 0>60\ng 0>0 100>100\nf 100>40 100>100\n");
}

static void functions_of_different_code_are_apart(void **state)
{
	(void)state;
	const struct stack_line before[] = { { "a", "read_[k]", 50 }, { "a", "read", 50 } };
	const struct stack_line after[] = { { "a", "read_[k]", 100 } };

	assert_rows(before, 2, after, 1, "read 50>100 50>100\nread 50>0 50>0\n");
}

static void an_inlined_function_is_the_called_one(void **state)
{
	(void)state;
	const struct stack_line before[] = { { "a", "main;f_[i]", 50 } };
	const struct stack_line after[] = { { "a", "main;f", 100 } };

	assert_rows(before, 1, after, 1, "f 50>100 50>100\nmain 0>0 50>100\n");
}

static void samples_without_a_stack_are_a_row(void **state)
{
	(void)state;
	const struct stack_line before[] = { { "a", "", 90 }, { "a", "f", 10 } };
	const struct stack_line after[] = { { "a", "f", 100 }, { "b", "", 1 } };

	assert_rows(before, 2, after, 2, "f 10>100 10>100\n[no stack] 90>1 90>1\n");
}

/* 1 > 20 of 1000 is larger than 0 > 15, but that one is sure to be more than 10. */
static void noise_is_in_the_middle(void **state)
{
	(void)state;
	const struct stack_line before[] = {
		{ "a", "base", 7000 }, { "a", "noisy_up", 1000 }, { "a", "noisy_down", 1030 },
		{ "a", "gone", 25 },   { "a", "shrank", 945 },
	};
	const struct stack_line after[] = {
		{ "a", "base", 7000 }, { "a", "noisy_up", 1050 }, { "a", "noisy_down", 1000 },
		{ "a", "new", 30 },    { "a", "shrank", 700 },	  { "a", "grew", 220 },
	};

	assert_rows(before, 5, after, 6,
		    "grew 0>220 0>220\n"
		    "new 0>30 0>30\n"
		    "noisy_up 1000>1050 1000>1050\n"
		    "base 7000>7000 7000>7000\n"
		    "noisy_down 1030>1000 1030>1000\n"
		    "gone 25>0 25>0\n"
		    "shrank 945>700 945>700\n");
}

static void names_of_anything_can_be_rows(void **state)
{
	(void)state;
	_cleanup_(diff_table_done) struct diff_table table = { 0 };
	uint32_t first, other, again;

	assert_int_equal(diff_table_init(&table), 0);
	assert_int_equal(diff_table_get(&table, "shop/web", FLAME_LABEL, &first), 0);
	assert_int_equal(diff_table_get(&table, "", FLAME_LABEL, &other), 0);
	assert_int_equal(diff_table_get(&table, "shop/web", FLAME_LABEL, &again), 0);
	assert_int_equal(first, again);
	assert_int_not_equal(first, other);
	assert_int_equal(table.nr_rows, 2);
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	const struct stack_line line = { "a", "f;g;f", 100 };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(&line, 1);
	_cleanup_(diff_done) struct diff diff = { 0 };
	bool has_failed = true;

	assert_int_equal(diff_init(&diff, profile, profile, false, PLENTY), 0);
	for (unsigned int n = 1; has_failed; n++) {
		_cleanup_(diff_table_done) struct diff_table table = { 0 };

		torture_begin(n);
		int r = diff_table_init(&table);
		if (r == 0)
			r = diff_table_add_functions(&table, &diff);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_has_the_samples_of_all_its_stacks),
		cmocka_unit_test(a_function_that_calls_itself_counts_once),
		cmocka_unit_test(functions_of_different_code_are_apart),
		cmocka_unit_test(an_inlined_function_is_the_called_one),
		cmocka_unit_test(samples_without_a_stack_are_a_row),
		cmocka_unit_test(noise_is_in_the_middle),
		cmocka_unit_test(names_of_anything_can_be_rows),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
