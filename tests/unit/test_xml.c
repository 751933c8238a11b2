/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/xml.h"

#include "base/cleanup.h"
#include "unit.h"

#define R "\xef\xbf\xbd"
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
		{ "\x01\x1b[2J\x7f", R R "[2J" R },
		{ "a\nb\tc\r", "a" R "b" R "c" R },
		{ "\xef\xbf\xbe\xef\xbf\xbf", R R },
		{ "\xff\xc3<", R R "&lt;" },
		{ "\xed\xa0\x80", R R R },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(128);

		xml_append(&out, cases[i].text);
		assert_string_equal(strbuf_str(&out), cases[i].expected);
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
		{ "\xff\xff\xff", 3, R R R },
		{ "\xff\xff\xff\xff", 3, R R DOTS },
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
		cmocka_unit_test(long_text_is_cut_at_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
