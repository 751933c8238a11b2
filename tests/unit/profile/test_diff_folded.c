/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/diff_folded.h"

#include "hostile_names.h"
#include "stacks.h"
#include "torture.h"

#include "base/cleanup.h"

#include <string.h>

#define PLENTY 1000
#define PLENTY_BYTES (1 << 20)

static void assert_folded(const struct stack_line *before, size_t nr_before,
			  const struct stack_line *after, size_t nr_after, const char *expected)
{
	_cleanup_(profile_unrefp) struct profile *a = profile_of_stacks(before, nr_before);
	_cleanup_(profile_unrefp) struct profile *b = profile_of_stacks(after, nr_after);
	_cleanup_(diff_done) struct diff diff = { 0 };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	assert_int_equal(diff_init(&diff, a, b, false, PLENTY), 0);
	assert_int_equal(diff_folded_encode(&diff, &out), 0);
	assert_string_equal(strbuf_str(&out), expected);
}

static void a_line_has_the_stack_and_both_counts(void **state)
{
	(void)state;
	const struct stack_line before[] = { { "sh", "main", 3 }, { "sh", "main;f_[k]", 7 } };
	const struct stack_line after[] = { { "sh", "main;f_[k]", 4 }, { "sh", "main;g_[i]", 6 } };

	assert_folded(before, 2, after, 2,
		      "sh;main 3 0\n"
		      "sh;main;f_[k] 7 4\n"
		      "sh;main;g_[i] 0 6\n");
}

/* As difffolded.pl -n. */
static void counts_of_before_are_scaled(void **state)
{
	(void)state;
	const struct stack_line before[] = { { "sh", "f", 10 }, { "sh", "g", 20 } };
	const struct stack_line after[] = { { "sh", "f", 1 }, { "sh", "h", 9 } };

	assert_folded(before, 2, after, 2, "sh;f 3.33 1\nsh;g 6.67 0\nsh;h 0.00 9\n");
}

static void samples_without_a_stack_have_a_line(void **state)
{
	(void)state;
	const struct stack_line line = { "sh", "", 3 };

	assert_folded(&line, 1, &line, 1, "sh 3 3\n");
	assert_folded(NULL, 0, NULL, 0, "");
}

static void any_name_leaves_printable(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		const struct stack_line line = { hostile_names[i].name, hostile_names[i].name, 1 };
		_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(&line, 1);
		_cleanup_(diff_done) struct diff diff = { 0 };
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		assert_int_equal(diff_init(&diff, profile, profile, false, PLENTY), 0);
		assert_int_equal(diff_folded_encode(&diff, &out), 0);
		assert_printable(out.data, out.len, true);
	}
}

static void the_buffer_s_limit_is_kept(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "sh", "main;f", 3 } };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines, 1);
	_cleanup_(diff_done) struct diff diff = { 0 };

	assert_int_equal(diff_init(&diff, profile, profile, false, PLENTY), 0);
	for (size_t max = 0; max < strlen("sh;main;f 3 3\n"); max++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(max);

		assert_int_equal(diff_folded_encode(&diff, &out), -ENOSPC);
	}
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "sh", "main;f", 3 } };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines, 1);
	_cleanup_(diff_done) struct diff diff = { 0 };
	bool has_failed = true;

	assert_int_equal(diff_init(&diff, profile, profile, false, PLENTY), 0);
	for (unsigned int n = 1; has_failed; n++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		torture_begin(n);
		int r = diff_folded_encode(&diff, &out);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_has_the_stack_and_both_counts),
		cmocka_unit_test(counts_of_before_are_scaled),
		cmocka_unit_test(samples_without_a_stack_have_a_line),
		cmocka_unit_test(any_name_leaves_printable),
		cmocka_unit_test(the_buffer_s_limit_is_kept),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
