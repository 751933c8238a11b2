/* SPDX-License-Identifier: Apache-2.0 */
#include "process/maps_parser.h"

#include "base/err.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

static struct maps_line parse_one(const char *text)
{
	struct maps_parser parser;
	struct maps_line line;

	maps_parser_init(&parser, text, strlen(text));
	assert_true(maps_parser_next(&parser, &line));
	assert_int_equal(parser.nr_bad_lines, 0);
	assert_false(maps_parser_next(&parser, &(struct maps_line){ 0 }));
	return line;
}

static void all_fields_of_a_line_are_read(void **state)
{
	(void)state;
	struct maps_line line = parse_one(
		"7f1449a0e000-7f1449a34000 r-xp 00026000 fe:0a 325835       /usr/lib/libc.so.6\n");

	assert_int_equal(line.start, 0x7f1449a0e000);
	assert_int_equal(line.end, 0x7f1449a34000);
	assert_int_equal(line.file_offset, 0x26000);
	assert_int_equal(line.inode, 325835);
	assert_int_equal(line.dev_major, 0xfe);
	assert_int_equal(line.dev_minor, 0x0a);
	assert_true(line.is_executable);
	assert_false(line.is_writable);
	assert_false(line.is_deleted);
	assert_int_equal(line.path_len, strlen("/usr/lib/libc.so.6"));
	assert_memory_equal(line.path, "/usr/lib/libc.so.6", line.path_len);
}

struct path_case {
	const char *text;
	const char *path;
	bool is_executable;
	bool is_deleted;
};

static void paths_may_hold_anything(void **state)
{
	static const struct path_case cases[] = {
		{ "1000-2000 r-xp 0 0:0 7 /a b  c", "/a b  c", true, false },
		{ "1000-2000 r--p 0 0:0 7 /a (deleted)", "/a", false, true },
		{ "1000-2000 r--p 0 0:0 7 /a (deleted) (deleted)", "/a (deleted)", false, true },
		{ "1000-2000 r--p 0 0:0 7 /a (deleted) ", "/a (deleted) ", false, false },
		{ "1000-2000 r--p 0 0:0 7 /a(deleted)", "/a(deleted)", false, false },
		{ "1000-2000 rwxs 0 0:0 7 /new\\012line", "/new\\012line", true, false },
		{ "1000-2000 r-xp 0 0:0 7 /\xff\xfe\r\t", "/\xff\xfe\r\t", true, false },
		{ "1000-2000 rwxp 0 0:0 0 ", "", true, false },
		{ "1000-2000 rwxp 0 0:0 0", "", true, false },
		{ "1000-2000 r-xp 0 0:0 0                [vdso]", "[vdso]", true, false },
		{ "1000-2000 rwxp 0 0:0 0     [anon:js code]", "[anon:js code]", true, false },
		{ "1000-2000 --xp 0 0:0 9 anon_inode:[perf_event]", "anon_inode:[perf_event]", true,
		  false },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct maps_line line = parse_one(cases[i].text);

		assert_int_equal(line.path_len, strlen(cases[i].path));
		assert_memory_equal(line.path, cases[i].path, line.path_len);
		assert_int_equal(line.is_executable, cases[i].is_executable);
		assert_int_equal(line.is_deleted, cases[i].is_deleted);
	}
}

static void malformed_lines_are_skipped_and_counted(void **state)
{
	static const char *const lines[] = {
		"",
		" ",
		"garbage",
		"1000-2000",
		"1000-2000 ",
		"1000-2000 r-x",
		"1000-2000 r-xp",
		"1000-2000 r-xp ",
		"1000-2000 r-xp 0",
		"1000-2000 r-xp 0 0",
		"1000-2000 r-xp 0 0:0",
		"1000-2000 r-xp 0 0:0 ",
		"1000-2000 r-xp 0 0:0 x",
		"1000-2000 r-xp 0 0:0 7/a",
		"1000-2000 r-xp 0 0:0 7a /a",
		"1000-2000 r-xp 0 100000000:0 7 /a",
		"1000-2000 r-xp 0 0:100000000 7 /a",
		"1000-2000 r-xp 0 0:0 99999999999999999999 /a",
		"1000-2000 r-xp 11111111111111111 0:0 7 /a",
		"1000-2000 xr-p 0 0:0 7 /a",
		"1000-2000 r-xq 0 0:0 7 /a",
		"1000-2000 r-xpp 0 0:0 7 /a",
		"1000 2000 r-xp 0 0:0 7 /a",
		"-2000 r-xp 0 0:0 7 /a",
		"1000- r-xp 0 0:0 7 /a",
		"2000-1000 r-xp 0 0:0 7 /a",
		"1000-1000 r-xp 0 0:0 7 /a",
		"+1000-2000 r-xp 0 0:0 7 /a",
		" 1000-2000 r-xp 0 0:0 7 /a",
		"1000-2000 r-xp -1 0:0 7 /a",
		"10000000000000000-20000000000000000 r-xp 0 0:0 7 /a",
	};
	(void)state;

	for (size_t i = 0; i < array_len(lines); i++) {
		char text[256];
		struct maps_parser parser;
		struct maps_line line;

		snprintf(text, sizeof(text), "%s\n1000-2000 r-xp 0 0:0 7 /good\n%s\n", lines[i],
			 lines[i]);
		maps_parser_init(&parser, text, strlen(text));
		assert_true(maps_parser_next(&parser, &line));
		assert_int_equal(line.path_len, strlen("/good"));
		assert_int_equal(parser.nr_bad_lines, 1);
		assert_false(maps_parser_next(&parser, &line));
		assert_int_equal(parser.nr_bad_lines, 2);
	}
}

static void a_nul_in_a_path_makes_the_line_malformed(void **state)
{
	static const char text[] = "1000-2000 r-xp 0 0:0 7 /a\0b\n";
	struct maps_parser parser;
	(void)state;

	maps_parser_init(&parser, text, sizeof(text) - 1);
	assert_false(maps_parser_next(&parser, &(struct maps_line){ 0 }));
	assert_int_equal(parser.nr_bad_lines, 1);
}

static void an_empty_text_has_no_lines(void **state)
{
	struct maps_parser parser;
	(void)state;

	maps_parser_init(&parser, "", 0);
	assert_false(maps_parser_next(&parser, &(struct maps_line){ 0 }));
	assert_int_equal(parser.nr_bad_lines, 0);
}

static void every_cut_of_a_line_stays_inside_it(void **state)
{
	static const char text[] = "1000-2000 r-xp 00026000 fe:0a 325835   /usr/a (deleted)";
	(void)state;

	for (size_t len = 0; len < sizeof(text); len++) {
		char *copy = test_malloc(len + 1);
		struct maps_parser parser;
		struct maps_line line;

		memcpy(copy, text, len);
		maps_parser_init(&parser, copy, len);
		if (maps_parser_next(&parser, &line))
			assert_true(line.path + line.path_len <= copy + len);
		assert_ptr_equal(parser.cursor, copy + len);
		test_free(copy);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_fields_of_a_line_are_read),
		cmocka_unit_test(paths_may_hold_anything),
		cmocka_unit_test(malformed_lines_are_skipped_and_counted),
		cmocka_unit_test(a_nul_in_a_path_makes_the_line_malformed),
		cmocka_unit_test(an_empty_text_has_no_lines),
		cmocka_unit_test(every_cut_of_a_line_stays_inside_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
