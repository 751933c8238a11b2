/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hex.h"

#include "unit.h"

#include <string.h>

static void bytes_become_two_digits_each(void **state)
{
	char text[] = "xxxxxxxx";

	(void)state;
	hex_put(text, "\x00\x9a\xff", 3);
	assert_string_equal(text, "009affxx");
	hex_put(text, NULL, 0);
	assert_string_equal(text, "009affxx");
}

static void digits_have_values_and_nothing_else_has(void **state)
{
	(void)state;
	for (int i = 0; i < 16; i++)
		assert_int_equal(hex_value("0123456789abcdef"[i]), i);
	for (const char *c = "/:`gAF\xff"; *c; c++)
		assert_int_equal(hex_value(*c), -1);
	assert_int_equal(hex_value('\0'), -1);
}

static void a_text_has_digits_alone_and_that_many(void **state)
{
	(void)state;
	assert_true(hex_is("0123456789abcdef", 16));
	assert_true(hex_is("", 0));
	assert_false(hex_is("0123456789abcdef", 15));
	assert_false(hex_is("0123456789abcdef", 17));
	assert_false(hex_is("ABCD", 4));
	assert_false(hex_is("abcg", 4));
	assert_false(hex_is("ab-d", 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_become_two_digits_each),
		cmocka_unit_test(digits_have_values_and_nothing_else_has),
		cmocka_unit_test(a_text_has_digits_alone_and_that_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
