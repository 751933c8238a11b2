/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport/header_list.h"

#include "base/cleanup.h"
#include "unit.h"

#include <string.h>

static void a_header_is_a_name_and_a_value(void **state)
{
	static const struct {
		const char *line;
		const char *added; /* NULL: refused */
	} cases[] = {
		{ "X-Scope-OrgID: blue", "X-Scope-OrgID: blue" },
		{ "x:y", "x: y" },
		{ "x:  \t y z ", "x: y z " },
		{ "x: a:b", "x: a:b" },
		{ "x: \xc3\xa4", "x: \xc3\xa4" },
		{ "x: a\tb", "x: a\tb" },
		{ "x:", "x;" },
		{ "x: ", "x;" },
		{ "Host: other", "Host: other" },
		{ "Contents-Type: x", "Contents-Type: x" },
		{ "", NULL },
		{ "no colon", NULL },
		{ "nothing", NULL },
		{ ": value", NULL },
		{ ":path: /x", NULL },
		{ " x: y", NULL },
		{ "x : y", NULL },
		{ "x y: z", NULL },
		{ "\xc3\xa4: y", NULL },
		{ "x: a\r\nY: b", NULL },
		{ "x: \x7f", NULL },
		{ "Content-Type: text/plain", NULL },
		{ "content-encoding: br", NULL },
		{ "CONTENT-LENGTH: 1", NULL },
		{ "Transfer-Encoding: chunked", NULL },
		{ "Connection: close", NULL },
		{ "te: trailers", NULL },
		{ "grpc-timeout: 1H", NULL },
		{ "GRPC-Anything: x", NULL },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(header_list_done) struct header_list list = { .lines = NULL };
		int r = header_list_add(&list, cases[i].line);

		if (r != (cases[i].added ? 0 : -EINVAL))
			fail_msg("\"%s\": %d", cases[i].line, r);
		assert_int_equal(list.nr_lines, cases[i].added ? 1 : 0);
		if (cases[i].added)
			assert_string_equal(list.lines[0], cases[i].added);
	}
}

static void the_users_header_wins(void **state)
{
	_cleanup_(header_list_done) struct header_list list = { .lines = NULL };
	(void)state;

	assert_int_equal(header_list_add(&list, "x-scope-orgid: theirs"), 0);
	assert_int_equal(header_list_add(&list, "x-scope-orgid: again"), 0);
	assert_int_equal(header_list_add_own(&list, "X-Scope-OrgID", "ours"), 0);
	assert_int_equal(header_list_add_own(&list, "TE", "trailers"), 0);
	assert_int_equal(list.nr_lines, 3);
	assert_string_equal(list.lines[0], "x-scope-orgid: theirs");
	assert_string_equal(list.lines[2], "TE: trailers");
	assert_true(header_list_has(&list, "te"));
	assert_false(header_list_has(&list, "t"));
	assert_false(header_list_has(&list, "tes"));
}

static void a_value_of_ours_must_be_one_too(void **state)
{
	_cleanup_(header_list_done) struct header_list list = { .lines = NULL };
	(void)state;

	assert_int_equal(header_list_add_own(&list, "X-Scope-OrgID", "a\r\nX: b"), -EINVAL);
	assert_int_equal(list.nr_lines, 0);
}

static void of_a_weaker_list_only_new_names_count(void **state)
{
	_cleanup_(header_list_done) struct header_list list = { .lines = NULL };
	_cleanup_(header_list_done) struct header_list weaker = { .lines = NULL };
	(void)state;

	assert_int_equal(header_list_add(&list, "x-a: 1"), 0);
	assert_int_equal(header_list_add(&list, "x-empty:"), 0);
	assert_int_equal(header_list_add(&weaker, "X-A: 2"), 0);
	assert_int_equal(header_list_add(&weaker, "X-Empty: 2"), 0);
	assert_int_equal(header_list_add(&weaker, "x-ab: 3"), 0);
	assert_int_equal(header_list_add(&weaker, "X-AB: 4"), 0);
	assert_int_equal(header_list_merge(&list, &weaker), 0);
	assert_int_equal(list.nr_lines, 4);
	assert_string_equal(list.lines[0], "x-a: 1");
	assert_string_equal(list.lines[1], "x-empty;");
	assert_string_equal(list.lines[2], "x-ab: 3");
	assert_string_equal(list.lines[3], "X-AB: 4");
	assert_int_equal(weaker.nr_lines, 4);
}

static void lists_are_equal_line_by_line(void **state)
{
	_cleanup_(header_list_done) struct header_list a = { .lines = NULL };
	_cleanup_(header_list_done) struct header_list b = { .lines = NULL };
	(void)state;

	assert_true(header_list_equal(&a, &b));
	assert_int_equal(header_list_add(&a, "x: 1"), 0);
	assert_false(header_list_equal(&a, &b));
	assert_int_equal(header_list_add(&b, "x: 1"), 0);
	assert_true(header_list_equal(&a, &b));
	assert_int_equal(header_list_add(&a, "y: 1"), 0);
	assert_int_equal(header_list_add(&b, "y: 2"), 0);
	assert_false(header_list_equal(&a, &b));
}

static void a_list_is_bounded(void **state)
{
	_cleanup_(header_list_done) struct header_list list = { .lines = NULL };
	(void)state;

	for (size_t i = 0; i < HEADERS_MAX; i++)
		assert_int_equal(header_list_add(&list, "x: y"), 0);
	assert_int_equal(header_list_add(&list, "x: y"), -ENOSPC);
	assert_int_equal(list.nr_lines, HEADERS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_header_is_a_name_and_a_value),
		cmocka_unit_test(the_users_header_wins),
		cmocka_unit_test(a_value_of_ours_must_be_one_too),
		cmocka_unit_test(of_a_weaker_list_only_new_names_count),
		cmocka_unit_test(lists_are_equal_line_by_line),
		cmocka_unit_test(a_list_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
