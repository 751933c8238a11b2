/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/diff_csv.h"

#include "hostile_names.h"
#include "stacks.h"

#include "base/cleanup.h"

#define PLENTY 1000
#define PLENTY_BYTES (1 << 20)
#define HEAD                                                                                       \
	"function,kernel,self_before,self_after,self_points,self_noise,total_before,total_after,"  \
	"total_points,total_noise\n"

static struct strbuf csv_of(const struct stack_line *before, size_t nr_before,
			    const struct stack_line *after, size_t nr_after)
{
	_cleanup_(profile_unrefp) struct profile *a = profile_of_stacks(before, nr_before);
	_cleanup_(profile_unrefp) struct profile *b = profile_of_stacks(after, nr_after);
	_cleanup_(diff_done) struct diff diff = { 0 };
	_cleanup_(diff_table_done) struct diff_table functions = { 0 };
	struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	assert_int_equal(diff_init(&diff, a, b, false, PLENTY), 0);
	assert_int_equal(diff_table_init(&functions), 0);
	assert_int_equal(diff_table_add_functions(&functions, &diff), 0);
	diff_table_sort(&functions, &diff);
	assert_int_equal(diff_csv_encode(&diff, &functions, &out), 0);
	return out;
}

static void a_line_has_both_counts_of_a_function(void **state)
{
	(void)state;
	const struct stack_line before[] = { { "sh", "main;f_[k]", 100 }, { "sh", "main;g", 100 } };
	const struct stack_line after[] = { { "sh", "main;f_[k]", 50 },
					    { "sh", "main;g", 50 },
					    { "sh", "main;h", 100 } };
	_cleanup_(strbuf_done) struct strbuf csv = csv_of(before, 2, after, 3);

	assert_string_equal(strbuf_str(&csv), HEAD "h,0,0,100,50.0000,0,0,100,50.0000,0\n"
						   "main,0,0,0,0.0000,1,200,200,0.0000,1\n"
						   "f,1,100,50,-25.0000,0,100,50,-25.0000,0\n"
						   "g,0,100,50,-25.0000,0,100,50,-25.0000,0\n");
}

static void a_change_that_may_be_noise_says_so(void **state)
{
	(void)state;
	const struct stack_line before[] = { { "sh", "f", 100 }, { "sh", "g", 100 } };
	const struct stack_line after[] = { { "sh", "f", 110 }, { "sh", "g", 90 } };
	_cleanup_(strbuf_done) struct strbuf csv = csv_of(before, 2, after, 2);

	assert_string_equal(strbuf_str(&csv), HEAD "f,0,100,110,5.0000,1,100,110,5.0000,1\n"
						   "g,0,100,90,-5.0000,1,100,90,-5.0000,1\n");
}

static void nothing_is_a_head(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf csv = csv_of(NULL, 0, NULL, 0);

	assert_string_equal(strbuf_str(&csv), HEAD);
}

static void any_name_leaves_printable(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		const struct stack_line line = { "sh", hostile_names[i].name, 1 };
		_cleanup_(strbuf_done) struct strbuf csv = csv_of(&line, 1, NULL, 0);

		assert_printable(csv.data, csv.len, true);
	}
}

static void a_name_cannot_be_a_formula_or_another_column(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "sh", "=1+1", 1 }, { "sh", "a\",\"b", 1 } };
	_cleanup_(strbuf_done) struct strbuf csv = csv_of(lines, 2, lines, 2);

	assert_string_equal(strbuf_str(&csv), HEAD "\"'=1+1\",0,1,1,0.0000,1,1,1,0.0000,1\n"
						   "\"a\"\",\"\"b\",0,1,1,0.0000,1,1,1,0.0000,1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_has_both_counts_of_a_function),
		cmocka_unit_test(a_change_that_may_be_noise_says_so),
		cmocka_unit_test(nothing_is_a_head),
		cmocka_unit_test(any_name_leaves_printable),
		cmocka_unit_test(a_name_cannot_be_a_formula_or_another_column),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
