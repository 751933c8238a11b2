/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/xml.h"

#include "base/cleanup.h"
#include "hostile_names.h"

#define DOTS "\xe2\x80\xa6"

static void any_bytes_become_xml_text(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		const char *expected;
	} cases[] = {
		{ "", "" },
		{ "std::vector<int>", "std::vector&lt;int&gt;" },
		{ "a & b", "a &amp; b" },
		{ "\"'", "&quot;&#39;" },
		{ "</title><script>", "&lt;/title&gt;&lt;script&gt;" },
		{ "]]>", "]]&gt;" },
		{ "&lt;", "&amp;lt;" },
		{ "caf\xc3\xa9", "caf\xc3\xa9" },
		/* what XML cannot hold */
		{ "\x01\x1b[2J\x7f", "\\x01\\x1b[2J\\x7f" },
		{ "a\nb\tc\r", "a\\x0ab\\x09c\\x0d" },
		{ "\xef\xbf\xbe", "\\xef\\xbf\\xbe" },
		{ "\xff\xc3<", "\\xff\\xc3&lt;" },
		{ "\xed\xa0\x80", "\\xed\\xa0\\x80" },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(128);

		xml_append(&out, cases[i].text);
		assert_string_equal(strbuf_str(&out), cases[i].expected);
	}
}

static void any_name_leaves_printable(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		for (size_t max_chars = 0; max_chars < 30; max_chars++) {
			_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(128);

			xml_append_elided(&out, hostile_names[i].name, max_chars);
			assert_printable(out.data, out.len, false);
		}
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(128);
		xml_append(&out, hostile_names[i].name);
		assert_string_equal(strbuf_str(&out), hostile_names[i].printable);
	}
}

static void long_text_is_cut_at_characters(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t max_chars;
		const char *expected;
	} cases[] = {
		{ "main", 5, "main" },
		{ "main", 4, "main" },
		{ "main", 3, "ma" DOTS },
		{ "main", 1, DOTS },
		{ "main", 0, "" },
		{ "", 3, "" },
		{ "<<<<", 3, "&lt;&lt;" DOTS },
		{ "\xc3\xa9\xc3\xa9\xc3\xa9", 3, "\xc3\xa9\xc3\xa9\xc3\xa9" },
		{ "\xc3\xa9\xc3\xa9\xc3\xa9", 2, "\xc3\xa9" DOTS },
		{ "\xff\xff", 8, "\\xff\\xff" },
		{ "\xff\xff", 7, "\\xff" DOTS },
		{ "\xff\xff", 5, "\\xff" DOTS },
		{ "\xff\xff", 4, DOTS },
		{ "ab\xff", 5, "ab" DOTS },
		{ "\xff", 1, DOTS },
		{ "\xff", 0, "" },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(128);

		xml_append_elided(&out, cases[i].text, cases[i].max_chars);
		assert_string_equal(strbuf_str(&out), cases[i].expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_bytes_become_xml_text),
		cmocka_unit_test(any_name_leaves_printable),
		cmocka_unit_test(long_text_is_cut_at_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
