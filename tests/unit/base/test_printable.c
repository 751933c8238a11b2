/* SPDX-License-Identifier: Apache-2.0 */
#include "base/printable.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "hostile_names.h"

#define MAX_BYTES 4096

static void what_does_something_is_escaped_byte_by_byte(void **state)
{
	static const struct {
		const char *text;
		const char *expected;
	} cases[] = {
		{ "", "" },
		{ "main", "main" },
		{ "std::vector<int>;\"'&\\ ", "std::vector<int>;\"'&\\ " },
		{ "caf\xc3\xa9", "caf\xc3\xa9" },
		{ "\xe2\x82\xac \xf0\x9f\x94\xa5", "\xe2\x82\xac \xf0\x9f\x94\xa5" },
		{ "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" },
		{ "\\x1b", "\\x1b" },
		/* neighbours of what is escaped */
		{ "\xc2\xa0\xd8\x9b\xd8\x9d", "\xc2\xa0\xd8\x9b\xd8\x9d" },
		{ "\xe2\x80\x8d\xe2\x80\x90\xe2\x80\xa7\xe2\x80\xaf",
		  "\xe2\x80\x8d\xe2\x80\x90\xe2\x80\xa7\xe2\x80\xaf" },
		{ "\xe2\x81\xa5\xe2\x81\xaa\xef\xbf\xbd", "\xe2\x81\xa5\xe2\x81\xaa\xef\xbf\xbd" },
		/* control characters */
		{ "\x01\x1f~\x7f", "\\x01\\x1f~\\x7f" },
		{ "\xc2\x80\xc2\x9f", "\\xc2\\x80\\xc2\\x9f" },
		/* the others */
		{ "\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f", "\\xd8\\x9c\\xe2\\x80\\x8e\\xe2\\x80\\x8f" },
		{ "\xe2\x80\xa8\xe2\x80\xaa\xe2\x80\xac",
		  "\\xe2\\x80\\xa8\\xe2\\x80\\xaa\\xe2\\x80\\xac" },
		{ "\xe2\x80\xae\xe2\x80\xac\xe2\x81\xa9",
		  "\\xe2\\x80\\xae\\xe2\\x80\\xac\\xe2\\x81\\xa9" },
		{ "\xef\xbf\xbe\xef\xbf\xbf", "\\xef\\xbf\\xbe\\xef\\xbf\\xbf" },
		/* cut short */
		{ "caf\xc3", "caf\\xc3" },
		{ "\xe2\x82y", "\\xe2\\x82y" },
		{ "\xf0\x9f\x94", "\\xf0\\x9f\\x94" },
		/* a byte that begins nothing */
		{ "\x80x", "\\x80x" },
		{ "\x9b"
		  "2J",
		  "\\x9b2J" },
		{ "\xff\xfe", "\\xff\\xfe" },
		/* overlong */
		{ "\xc0\x9b", "\\xc0\\x9b" },
		{ "\xe0\x80\x9b", "\\xe0\\x80\\x9b" },
		{ "\xf0\x80\x80\xaf", "\\xf0\\x80\\x80\\xaf" },
		/* a surrogate, and beyond U+10FFFF */
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },
		{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);

		printable_append(&out, cases[i].text);
		assert_int_equal(strbuf_error(&out), 0);
		assert_string_equal(strbuf_str(&out), cases[i].expected);
		assert_printable(out.data, out.len, false);
		assert_true(printable_holds(strbuf_str(&out)));
		assert_int_equal(printable_holds(cases[i].text),
				 strcmp(cases[i].text, cases[i].expected) == 0);
	}
}

static void hostile_names_are_as_their_table_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);

		printable_append(&out, hostile_names[i].name);
		assert_string_equal(strbuf_str(&out), hostile_names[i].printable);
	}
}

static void each_byte_alone_is_itself_or_its_escape(void **state)
{
	(void)state;
	for (unsigned int byte = 1; byte < 256; byte++) {
		const char text[] = { (char)byte, '\0' };
		bool is_plain = byte >= 0x20 && byte < 0x7f;
		struct printable printable = printable_of(text);
		char expected[8];

		snprintf(expected, sizeof(expected), is_plain ? "%c" : "\\x%02x", byte);
		assert_true(printable_next(&printable));
		assert_int_equal(printable.len, strlen(expected));
		assert_memory_equal(printable.piece, expected, printable.len);
		assert_false(printable_next(&printable));
		assert_false(printable_next(&printable));
	}
}

static void special_characters_are_quoted_with_those_of_escapes(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	(void)state;

	printable_append_quoted(&out, "a\"b\\c\n\xff\xc3\xa9", "\"\\");
	assert_string_equal(strbuf_str(&out), "a\\\"b\\\\c\\\\x0a\\\\xff\xc3\xa9");
}

static void a_copy_ends_between_pieces(void **state)
{
	static const struct {
		const char *text;
		size_t size;
		const char *expected;
	} cases[] = {
		{ "main", 5, "main" },
		{ "main", 4, "mai" },
		{ "main", 1, "" },
		{ "", 1, "" },
		{ "a\xc3\xa9", 4, "a\xc3\xa9" },
		{ "a\xc3\xa9", 3, "a" },
		{ "a\x1b", 6, "a\\x1b" },
		{ "a\x1b", 5, "a" },
		{ "\xc2\x9b", 8, "\\xc2" },
		{ "\xffz", 4, "" },
	};
	char to[16];
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		memset(to, '#', sizeof(to));
		assert_int_equal(printable_copy(to, cases[i].size, cases[i].text),
				 strlen(cases[i].expected));
		assert_string_equal(to, cases[i].expected);
		assert_int_equal(to[cases[i].size], '#');
	}
}

static void a_printable_text_is_not_copied(void **state)
{
	_cleanup_(strbuf_done) struct strbuf scratch = strbuf_with_max(MAX_BYTES);
	static const char clean[] = "caf\xc3\xa9";
	(void)state;

	assert_ptr_equal(printable_text(clean, &scratch), clean);
	assert_null(scratch.data);
	assert_string_equal(printable_text("a\n", &scratch), "a\\x0a");
	assert_string_equal(printable_text("\x1b", &scratch), "\\x1b");
}

static void a_limit_is_kept_and_told(void **state)
{
	_cleanup_(strbuf_done) struct strbuf scratch = strbuf_with_max(6);
	(void)state;

	assert_string_equal(printable_text("ab\n\n", &scratch), "ab\\x0a");
	assert_int_equal(strbuf_error(&scratch), -ENOSPC);
	assert_string_equal(printable_text("\n", &scratch), "\\x0a");
	assert_int_equal(strbuf_error(&scratch), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_does_something_is_escaped_byte_by_byte),
		cmocka_unit_test(hostile_names_are_as_their_table_says),
		cmocka_unit_test(each_byte_alone_is_itself_or_its_escape),
		cmocka_unit_test(special_characters_are_quoted_with_those_of_escapes),
		cmocka_unit_test(a_copy_ends_between_pieces),
		cmocka_unit_test(a_printable_text_is_not_copied),
		cmocka_unit_test(a_limit_is_kept_and_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
