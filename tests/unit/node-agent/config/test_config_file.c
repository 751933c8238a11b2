/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "config/config_file.h"
#include "unit.h"

#include <string.h>

struct accepted_case {
	const char *text;
	const char *flat; /* "key=value@line " for each entry */
};

static void flat_keys_with_texts_and_lists_are_read(void **state)
{
	static const struct accepted_case cases[] = {
		{ "", "" },
		{ "---\n", "" },
		{ "# only a comment\n", "" },
		{ "frequency: 19\n", "frequency=19@1 " },
		{ "a: 1\n\nb: two words\n", "a=1@1 b=two words@3 " },
		{ "list:\n  - x\n  - \"y: z\"\n", "list=x@2 list=y: z@3 " },
		{ "list: [x, y]\nend: 'q'\n", "list=x@1 list=y@1 end=q@2 " },
		{ "list: []\n", "" },
		{ "quoted: \"\"\n", "quoted=@1 " },
		{ "a: &anchor 1\n", "a=1@1 " },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(config_file_done) struct config_file file = { 0 };
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1000);
		_cleanup_(strbuf_done) struct strbuf flat = strbuf_with_max(1000);

		assert_int_equal(config_file_parse(cases[i].text, strlen(cases[i].text), "f", &file,
						   &message),
				 0);
		for (size_t e = 0; e < file.nr_entries; e++)
			strbuf_appendf(&flat, "%s=%s@%zu ", file.entries[e].key,
				       file.entries[e].value, file.entries[e].line);
		assert_string_equal(strbuf_str(&flat), cases[i].flat);
		assert_string_equal(strbuf_str(&message), "");
	}
}

struct refused_case {
	const char *text;
	const char *message; /* how it begins */
};

static void anything_else_is_refused_by_name_and_line(void **state)
{
	static const struct refused_case cases[] = {
		{ "just text\n", "f:1: expected lines like" },
		{ "- a\n- b\n", "f:1: expected lines like" },
		{ "a: 1\na: 2\n", "f:2: \"a\" is already set in line 1" },
		{ "a: [1, 2]\na: 3\n", "f:2: \"a\" is already set in line 1" },
		{ "a: 1\notlp:\n  endpoint: x\n", "f:3: a value must be text" },
		{ "a:\n  - b: c\n", "f:2: a value must be text" },
		{ "a: [[1]]\n", "f:1: a list must not contain another list" },
		{ "a: [{}]\n", "f:1: a value must be text" },
		{ "a: &x 1\nb: *x\n", "f:2: an alias" },
		{ "a: &x [*x]\n", "f:1: an alias" },
		{ "[a]: 1\n", "f:1: expected the name of an option" },
		{ "a:\n", "f:1: a key has no value" },
		{ "a: [1, , 2]\n", "f:1: " },
		{ "a: 1\n---\nb: 2\n", "f:2: the file has a second" },
		{ "a: \"\\0\"\n", "f:1: the text contains a NUL" },
		{ "\ta: 1\n", "f:1: " },
		{ "a: \"open\n", "f:2: " },
		{ "a: [1\n", "f:2: " },
		{ "a: 1\n b: 2\n", "f:2: " },
		{ "\xff\xfe\xff", "f:1: " },
		{ "a: \xc3\x28\n", "f:1: " },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct config_file file = { 0 };
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1000);

		assert_int_equal(config_file_parse(cases[i].text, strlen(cases[i].text), "f", &file,
						   &message),
				 -EBADMSG);
		assert_null(file.entries);
		assert_memory_equal(strbuf_str(&message), cases[i].message,
				    strlen(cases[i].message));
		assert_null(strchr(strbuf_str(&message), '\n'));
	}
}

static void tabs_are_blamed_only_if_there_are_any(void **state)
{
	static const struct {
		const char *text;
		bool blames_tabs;
	} cases[] = {
		{ "\ta: 1\n", true },
		{ "a: [1\n", false },
		{ "a: \"open\n", false },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct config_file file = { 0 };
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1000);

		assert_int_equal(config_file_parse(cases[i].text, strlen(cases[i].text), "f", &file,
						   &message),
				 -EBADMSG);
		assert_int_equal(strstr(strbuf_str(&message), "not tabs") != NULL,
				 cases[i].blames_tabs);
	}
}

static void the_number_of_values_is_bounded(void **state)
{
	struct config_file file = { 0 };
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1000);
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(1 << 20);
	(void)state;

	strbuf_append_str(&text, "list: [");
	for (size_t i = 0; i <= CONFIG_ENTRIES_MAX; i++)
		strbuf_append_str(&text, "x, ");
	strbuf_append_str(&text, "]\n");
	assert_int_equal(config_file_parse(text.data, text.len, "f", &file, &message), -ENOSPC);
	assert_string_equal(strbuf_str(&message), "f:1: too many values");
}

static void deep_nesting_ends_at_its_first_level(void **state)
{
	struct config_file file = { 0 };
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1000);
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(1 << 20);
	(void)state;

	strbuf_append_str(&text, "a: ");
	for (size_t i = 0; i < 100000; i++)
		strbuf_append_char(&text, '[');
	assert_int_equal(config_file_parse(text.data, text.len, "f", &file, &message), -EBADMSG);
}

static void a_file_that_is_not_there_or_endless_is_named(void **state)
{
	struct config_file file = { 0 };
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1000);
	(void)state;

	assert_int_equal(config_file_load("/nonexistent/f.yaml", &file, &message), -ENOENT);
	assert_string_equal(strbuf_str(&message),
			    "cannot read the file /nonexistent/f.yaml: No such file or directory");
	strbuf_clear(&message);
	assert_int_equal(config_file_load("/dev/zero", &file, &message), -ENOSPC);
	assert_string_equal(strbuf_str(&message),
			    "/dev/zero: larger than 1 MB; is it a configuration file?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flat_keys_with_texts_and_lists_are_read),
		cmocka_unit_test(anything_else_is_refused_by_name_and_line),
		cmocka_unit_test(tabs_are_blamed_only_if_there_are_any),
		cmocka_unit_test(the_number_of_values_is_bounded),
		cmocka_unit_test(deep_nesting_ends_at_its_first_level),
		cmocka_unit_test(a_file_that_is_not_there_or_endless_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
