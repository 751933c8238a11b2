/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"

#include "base/err.h"
#include "unit.h"

static void only_well_formed_text_is_valid(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool is_valid;
	} cases[] = {
		{ "", true },
		{ "main", true },
		{ "\x01\x7f", true },
		{ "caf\xc3\xa9", true },
		{ "\xe2\x82\xac \xf0\x9f\x94\xa5", true },
		{ "\xf4\x8f\xbf\xbf", true },
		/* cut short */
		{ "caf\xc3", false },
		{ "\xe2\x82", false },
		{ "\xf0\x9f\x94", false },
		{ "\xe2\x82y", false },
		/* a byte that starts nothing */
		{ "\x80x", false },
		{ "\xff\xfe", false },
		/* overlong */
		{ "\xc0\xaf", false },
		{ "\xe0\x80\xaf", false },
		{ "\xf0\x80\x80\xaf", false },
		/* a surrogate, and beyond U+10FFFF */
		{ "\xed\xa0\x80", false },
		{ "\xf4\x90\x80\x80", false },
	};

	for (size_t i = 0; i < array_len(cases); i++)
		assert_int_equal(utf8_is_valid(cases[i].text), cases[i].is_valid);
}

static void a_character_has_one_to_four_bytes(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t len;
	} cases[] = {
		{ "ab", 1 },
		{ "\xc3\xa9x", 2 },
		{ "\xe2\x82\xacx", 3 },
		{ "\xf0\x9f\x94\xa5x", 4 },
		{ "\xc3", 0 },
		{ "\xa9", 0 },
		{ "\xe2\x82", 0 },
		{ "\xf0\x9f\x94x", 0 },
	};

	for (size_t i = 0; i < array_len(cases); i++)
		assert_int_equal(utf8_char_len(cases[i].text), cases[i].len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_well_formed_text_is_valid),
		cmocka_unit_test(a_character_has_one_to_four_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
