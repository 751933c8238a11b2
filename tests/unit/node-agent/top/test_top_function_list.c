/* SPDX-License-Identifier: Apache-2.0 */
#include "top/function_list.h"

#include "stacks.h"
#include "torture.h"
#include "unit.h"

#include "base/cleanup.h"

#include <string.h>

static const struct stack_line lines[] = {
	{ "a", "main;walk;walk;hash", 5 },
	{ "a", "main;walk", 2 },
	{ "a", "main;read;entry_[k];hash_[k]", 3 },
	{ "b", "main;other", 90 },
};

static void list(struct function_list *functions, struct tally *tally, bool hides_kernel)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));

	assert_int_equal(tally_init(tally, profile, BY_COMM), 0);
	const struct tally_part part = tally_samples(tally, &tally->rows[0]);
	assert_int_equal(function_list_init(functions, &part, hides_kernel), 0);
}

static void assert_function(const struct function_list *functions, const char *name,
			    enum frame_kind kind, uint64_t self, uint64_t total)
{
	for (size_t i = 0; i < functions->nr_rows; i++) {
		const struct function_row *row = &functions->rows[i];

		if (strcmp(row->name, name) != 0 || row->kind != kind)
			continue;
		assert_int_equal(row->self, self);
		assert_int_equal(row->total, total);
		return;
	}
	fail_msg("%s is missing", name);
}

static void self_and_total_are_summed_and_a_recursion_counts_once(void **state)
{
	_cleanup_(tally_done) struct tally tally = { 0 };
	_cleanup_(function_list_done) struct function_list functions = { 0 };
	(void)state;

	list(&functions, &tally, false);
	assert_int_equal(functions.nr_rows, 6);
	assert_function(&functions, "main", FRAME_NATIVE, 0, 10);
	assert_function(&functions, "walk", FRAME_NATIVE, 2, 7);
	assert_function(&functions, "hash", FRAME_NATIVE, 5, 5);
	assert_function(&functions, "hash", FRAME_KERNEL, 3, 3);
	assert_function(&functions, "read", FRAME_NATIVE, 0, 3);
	assert_function(&functions, "entry", FRAME_KERNEL, 0, 3);
}

static void without_the_kernel_its_time_is_the_callers(void **state)
{
	_cleanup_(tally_done) struct tally tally = { 0 };
	_cleanup_(function_list_done) struct function_list functions = { 0 };
	(void)state;

	list(&functions, &tally, true);
	assert_int_equal(functions.nr_rows, 4);
	assert_function(&functions, "read", FRAME_NATIVE, 3, 3);
}

static void a_lack_of_memory_is_an_error(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	_cleanup_(tally_done) struct tally tally = { 0 };
	bool has_failed = true;
	(void)state;

	assert_int_equal(tally_init(&tally, profile, BY_COMM), 0);
	const struct tally_part part = tally_samples(&tally, &tally.rows[0]);
	for (unsigned int n = 1; has_failed; n++) {
		_cleanup_(function_list_done) struct function_list functions = { 0 };

		torture_begin(n);
		int r = function_list_init(&functions, &part, false);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(self_and_total_are_summed_and_a_recursion_counts_once),
		cmocka_unit_test(without_the_kernel_its_time_is_the_callers),
		cmocka_unit_test(a_lack_of_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
