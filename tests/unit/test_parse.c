/* SPDX-License-Identifier: Apache-2.0 */
#include "base/parse.h"
#include "unit.h"

struct duration_case {
	const char *text;
	int result;
	uint64_t ns;
};

static void durations_have_units_and_fractions(void **state)
{
	static const struct duration_case cases[] = {
		{ "10", 0, 10000000000 },
		{ "10s", 0, 10000000000 },
		{ "500ms", 0, 500000000 },
		{ "1.5s", 0, 1500000000 },
		{ "2m", 0, 120000000000 },
		{ "0", 0, 0 },
		{ "", -EINVAL, 0 },
		{ "s", -EINVAL, 0 },
		{ "-1s", -EINVAL, 0 },
		{ "1x", -EINVAL, 0 },
		{ "1.s", -EINVAL, 0 },
		{ "1 s", -EINVAL, 0 },
		{ "99999999999h", -ERANGE, 0 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		uint64_t ns = 0;

		assert_int_equal(parse_duration_ns(cases[i].text, &ns), cases[i].result);
		assert_int_equal(ns, cases[i].ns);
	}
}

static void the_nearest_word_is_one_edit_away(void **state)
{
	(void)state;
	assert_int_equal(word_distance("otlp-endpoint", "otlp-endpont"), 1);
	assert_int_equal(word_distance("", "abc"), 3);
	assert_int_equal(word_distance("same", "same"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_have_units_and_fractions),
		cmocka_unit_test(the_nearest_word_is_one_edit_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
