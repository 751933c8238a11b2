/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include "base/cleanup.h"
#include "unit.h"

#include <string.h>

#define R UTF8_REPLACEMENT

static void malformed_bytes_are_replaced_one_by_one(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		const char *expected;
	} cases[] = {
		{ "", "" },
		{ "main", "main" },
		{ "caf\xc3\xa9", "caf\xc3\xa9" },
		{ "\xe2\x82\xac \xf0\x9f\x94\xa5", "\xe2\x82\xac \xf0\x9f\x94\xa5" },
		{ "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" },
		/* cut short */
		{ "caf\xc3", "caf" R },
		{ "\xe2\x82", R R },
		{ "\xf0\x9f\x94", R R R },
		{ "\xe2\x82y", R R "y" },
		/* a byte that starts nothing */
		{ "\x80x", R "x" },
		{ "\xff\xfe", R R },
		/* overlong */
		{ "\xc0\xaf", R R },
		{ "\xe0\x80\xaf", R R R },
		{ "\xf0\x80\x80\xaf", R R R R },
		/* a surrogate, and beyond U+10FFFF */
		{ "\xed\xa0\x80", R R R },
		{ "\xf4\x90\x80\x80", R R R R },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(64);

		utf8_append(&out, cases[i].text);
		assert_int_equal(strbuf_error(&out), 0);
		assert_string_equal(strbuf_str(&out), cases[i].expected);
		assert_true(utf8_is_valid(strbuf_str(&out)));
		assert_int_equal(utf8_is_valid(cases[i].text),
				 strcmp(cases[i].text, cases[i].expected) == 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(malformed_bytes_are_replaced_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
