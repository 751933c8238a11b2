/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/csv.h"

#include "hostile_names.h"
#include "profile/view.h"
#include "stacks.h"
#include "torture.h"

#include <string.h>

#define PLENTY_BYTES ((size_t)1 << 20)
#define HEAD "group,function,kind,module,file,line,self,total,self_percent,total_percent\n"

static void assert_csv(const struct profile *profile, const char *expected)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	assert_int_equal(csv_encode(profile, &out), 0);
	assert_string_equal(strbuf_str(&out), expected);
}

static void functions_have_their_own_and_their_total_samples(void **state)
{
	(void)state;
	const struct stack_line lines[] = {
		{ "web", "main;serve;parse_[i]", 5 },
		{ "web", "main;serve;read_[k]", 3 },
		{ "cut", "[too deep];serve", 2 },
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));

	assert_csv(profile, HEAD ",parse,native,,,,5,5,50.00,50.00\n"
				 ",read,kernel,,,,3,3,30.00,30.00\n"
				 ",serve,native,,,,2,10,20.00,100.00\n"
				 ",main,native,,,,0,8,0.00,80.00\n"
				 ",\"[too deep]\",truncated,,,,0,2,0.00,20.00\n");
}

static void a_function_that_calls_itself_counts_once(void **state)
{
	(void)state;
	const struct stack_line line = { "a", "f;g;f;f", 4 };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(&line, 1);

	assert_csv(profile, HEAD ",f,native,,,,4,4,100.00,100.00\n"
				 ",g,native,,,,0,4,0.00,100.00\n");
}

static void samples_without_a_stack_have_a_line(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "a", "", 3 }, { "a", "f", 1 } };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines, 2);

	assert_csv(profile, HEAD ",f,native,,,,1,1,25.00,25.00\n"
				 ",[no stack],truncated,,,,3,3,75.00,75.00\n");
}

static void no_samples_make_a_table_without_lines(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(NULL, 0);

	assert_csv(profile, HEAD);
}

static void groups_have_functions_of_their_own(void **state)
{
	(void)state;
	static const char *const groups[] = { "comm", "pid" };
	const struct stack_line lines[] = { { "a", "f;g", 3 }, { "b;c", "f", 2 } };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines, 2);

	for (int bottom_up = 0; bottom_up < 2; bottom_up++) {
		const struct view view = { .groups = groups,
					   .nr_groups = 2,
					   .bottom_up = bottom_up };
		struct view_result result;

		assert_int_equal(view_apply(&view, profile, PLENTY_BYTES, &result), 0);
		_cleanup_(profile_unrefp) struct profile *shown = result.profile;
		assert_csv(shown, HEAD "\"a;pid 0\",g,native,,,,3,3,60.00,60.00\n"
				       "\"b;c;pid 1\",f,native,,,,2,2,40.00,40.00\n"
				       "\"a;pid 0\",f,native,,,,0,3,0.00,60.00\n");
	}
}

static void bottom_up_does_not_change_what_ran(void **state)
{
	(void)state;
	const struct view view = { .bottom_up = true };
	const struct stack_line line = { "a", "f;g;h_[i]", 3 };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(&line, 1);
	struct view_result result;

	assert_int_equal(view_apply(&view, profile, PLENTY_BYTES, &result), 0);
	_cleanup_(profile_unrefp) struct profile *shown = result.profile;
	assert_csv(shown, HEAD ",h,native,,,,3,3,100.00,100.00\n"
			       ",f,native,,,,0,3,0.00,100.00\n"
			       ",g,native,,,,0,3,0.00,100.00\n");
}

static void values_are_quoted_and_no_formulas(void **state)
{
	(void)state;
	const struct stack_line lines[] = {
		{ "a", "operator()(int, char)", 5 },
		{ "a", "say \"hi\"", 4 },
		{ "a", "=cmd|' /C calc'!A0", 3 },
		{ "a", "-1", 2 },
		{ "a", "@f", 1 },
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));

	assert_csv(profile, HEAD ",\"operator()(int, char)\",native,,,,5,5,33.33,33.33\n"
				 ",\"say \"\"hi\"\"\",native,,,,4,4,26.67,26.67\n"
				 ",\"'=cmd|' /C calc'!A0\",native,,,,3,3,20.00,20.00\n"
				 ",\"'-1\",native,,,,2,2,13.33,13.33\n"
				 ",\"'@f\",native,,,,1,1,6.67,6.67\n");
}

static void any_name_leaves_printable(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		const struct stack_line line = { hostile_names[i].name, hostile_names[i].name, 1 };
		_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(&line, 1);
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		assert_int_equal(csv_encode(profile, &out), 0);
		assert_printable(out.data, out.len, true);
		assert_non_null(strstr(out.data, hostile_names[i].printable));
	}
}

static void the_buffer_s_limit_is_kept(void **state)
{
	(void)state;
	const struct stack_line line = { "a", "f", 1 };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(&line, 1);
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(80);

	assert_int_equal(csv_encode(profile, &out), -ENOSPC);
	assert_int_equal(strbuf_error(&out), -ENOSPC);
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	const struct stack_line line = { "a", "f;g", 1 };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(&line, 1);

	for (unsigned int n = 1;; n++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		torture_begin(n);
		int r = csv_encode(profile, &out);
		bool has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		assert_int_equal(strbuf_error(&out), r);
		if (!has_failed)
			return;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_have_their_own_and_their_total_samples),
		cmocka_unit_test(a_function_that_calls_itself_counts_once),
		cmocka_unit_test(samples_without_a_stack_have_a_line),
		cmocka_unit_test(no_samples_make_a_table_without_lines),
		cmocka_unit_test(groups_have_functions_of_their_own),
		cmocka_unit_test(bottom_up_does_not_change_what_ran),
		cmocka_unit_test(values_are_quoted_and_no_formulas),
		cmocka_unit_test(any_name_leaves_printable),
		cmocka_unit_test(the_buffer_s_limit_is_kept),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
