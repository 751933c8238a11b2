/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/bpf/record_check.h"

#include "base/err.h"
#include "bpf/shared/frames.h"

#include <string.h>

#include "unit.h"

static void records_within_the_limits_are_whole(void **state)
{
	static const struct {
		__u16 nr_kernel, nr_user;
		__u8 unwind_result, kind;
		size_t nr_words; /* that are there */
		bool is_whole;
	} cases[] = {
		{ 0, 0, 0, RECORD_TIMER, 0, true },
		{ 2, 1, 0, RECORD_INTERRUPT, 3, true },
		{ 2, 1, 0, RECORD_TIMER, 4, true },
		{ MAX_KERNEL_FRAMES, 0, 0, RECORD_TIMER, MAX_KERNEL_FRAMES, true },
		{ 2, 1, 0, RECORD_TIMER, 2, false },
		{ MAX_KERNEL_FRAMES + 1, 0, 0, RECORD_TIMER, MAX_KERNEL_FRAMES + 1, false },
		{ 0, MAX_USER_WORDS + 1, 0, RECORD_TIMER, MAX_USER_WORDS + 1, false },
		{ 0, 0, UNWIND_NR_RESULTS, RECORD_TIMER, 0, false },
		{ 0, 0, 0, RECORD_NR_KINDS, 0, false },
	};
	static struct sample_event event;
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		event.nr_kernel = cases[i].nr_kernel;
		event.nr_user = cases[i].nr_user;
		event.unwind_result = cases[i].unwind_result;
		event.kind = cases[i].kind;
		assert_int_equal(record_is_whole(&event, cases[i].nr_words * sizeof(__u64)),
				 cases[i].is_whole);
	}
}

static void copies_begin_with_zero(void **state)
{
	const char zeros[16] = { 0 };
	char other[16] = { 0 };
	(void)state;

	other[7] = 1;
	assert_true(record_is_copy(zeros, 8));
	assert_true(record_is_copy(zeros, 16));
	assert_false(record_is_copy(zeros, 7));
	assert_false(record_is_copy(zeros, 0));
	assert_false(record_is_copy(other, 16));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_within_the_limits_are_whole),
		cmocka_unit_test(copies_begin_with_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
