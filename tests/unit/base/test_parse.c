/* SPDX-License-Identifier: Apache-2.0 */
#include "base/parse.h"
#include "unit.h"

#include <string.h>

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
		{ "250us", 0, 250000 },
		{ "7ns", 0, 7 },
		{ "1h", 0, UINT64_C(3600000000000) },
		{ "7d", 0, 7 * UINT64_C(86400000000000) },
		{ "0.000000001s", 0, 1 },
		{ "0.0000000001s", -ERANGE, 0 },
		{ "1.99999999999999999999s", -ERANGE, 0 },
		{ "1.s", -EINVAL, 0 },
		{ ".5s", -EINVAL, 0 },
		{ "1.5.5s", -EINVAL, 0 },
		{ "1S", -EINVAL, 0 },
		{ "1s2", -EINVAL, 0 },
		{ "18446744073709551616ns", -ERANGE, 0 },
		{ "18446744073.709551616", -ERANGE, 0 },
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

struct number_case {
	const char *text;
	int result;
	uint64_t value;
};

static void whole_numbers_are_digits_only(void **state)
{
	static const struct number_case cases[] = {
		{ "0", 0, 0 },
		{ "007", 0, 7 },
		{ "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -ERANGE, 99 },
		{ "99999999999999999999999", -ERANGE, 99 },
		{ "", -EINVAL, 99 },
		{ "-1", -EINVAL, 99 },
		{ "+1", -EINVAL, 99 },
		{ " 1", -EINVAL, 99 },
		{ "1 ", -EINVAL, 99 },
		{ "1\n", -EINVAL, 99 },
		{ "0x10", -EINVAL, 99 },
		{ "12a", -EINVAL, 99 },
		{ "1.5", -EINVAL, 99 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		uint64_t value = 99;

		assert_int_equal(parse_u64(cases[i].text, &value), cases[i].result);
		assert_int_equal(value, cases[i].value);
	}
}

static void numbers_of_32_bits_have_a_range(void **state)
{
	static const struct number_case cases[] = {
		{ "4294967295", 0, UINT32_MAX },
		{ "1", 0, 1 },
		{ "4294967296", -ERANGE, 99 },
		{ "18446744073709551616", -ERANGE, 99 },
		{ "x", -EINVAL, 99 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		uint32_t value = 99;

		assert_int_equal(parse_u32(cases[i].text, &value), cases[i].result);
		assert_int_equal(value, cases[i].value);
	}
}

static void booleans_have_four_names_each(void **state)
{
	static const struct number_case cases[] = {
		{ "true", 0, true },	    { "false", 0, false },  { "yes", 0, true },
		{ "no", 0, false },	    { "on", 0, true },	    { "off", 0, false },
		{ "1", 0, true },	    { "0", 0, false },	    { "TRUE", 0, true },
		{ "", -EINVAL, true },	    { "2", -EINVAL, true }, { "t", -EINVAL, true },
		{ "truee", -EINVAL, true }, { "o", -EINVAL, true },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		bool value = true;

		assert_int_equal(parse_bool(cases[i].text, &value), cases[i].result);
		assert_int_equal(value, cases[i].value);
	}
}

static void sizes_have_units_of_1024(void **state)
{
	static const struct number_case cases[] = {
		{ "0", 0, 0 },
		{ "4096", 0, 4096 },
		{ "64K", 0, 65536 },
		{ "64Ki", 0, 65536 },
		{ "32M", 0, UINT64_C(32) << 20 },
		{ "1Gi", 0, UINT64_C(1) << 30 },
		{ "17179869183G", 0, UINT64_C(17179869183) << 30 },
		{ "17179869184G", -ERANGE, 99 },
		{ "", -EINVAL, 99 },
		{ "K", -EINVAL, 99 },
		{ "1k", -EINVAL, 99 },
		{ "1KB", -EINVAL, 99 },
		{ "1.5M", -EINVAL, 99 },
		{ "-1M", -EINVAL, 99 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		uint64_t bytes = 99;

		assert_int_equal(parse_bytes(cases[i].text, &bytes), cases[i].result);
		assert_int_equal(bytes, cases[i].value);
	}
}

static void digits_are_read_up_to_the_first_other_character(void **state)
{
	static const struct {
		const char *text;
		unsigned int base;
		int result;
		uint64_t value;
		size_t nr_read;
	} cases[] = {
		{ "7f00-8000", 16, 0, 0x7f00, 4 },
		{ "FFg", 16, 0, 0xff, 2 },
		{ "12ab", 10, 0, 12, 2 },
		{ "ffffffffffffffff ", 16, 0, UINT64_MAX, 16 },
		{ "10000000000000000", 16, -ERANGE, 99, 0 },
		{ "", 16, -EINVAL, 99, 0 },
		{ "-1", 10, -EINVAL, 99, 0 },
		{ "g", 16, -EINVAL, 99, 0 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		const char *cursor = cases[i].text;
		const char *end = cursor + strlen(cursor);
		uint64_t value = 99;

		assert_int_equal(parse_digits(&cursor, end, cases[i].base, &value),
				 cases[i].result);
		assert_int_equal(value, cases[i].value);
		assert_int_equal(cursor - cases[i].text, cases[i].nr_read);
	}
}

static void digits_never_pass_the_given_end(void **state)
{
	const char text[] = { '1', '2', '3', '4' };
	const char *cursor = text;
	uint64_t value = 0;
	(void)state;

	assert_int_equal(parse_digits(&cursor, text + 2, 10, &value), 0);
	assert_int_equal(value, 12);
	assert_int_equal(parse_digits(&cursor, text + 2, 10, &value), -EINVAL);
	assert_ptr_equal(cursor, text + 2);
}

static void the_distance_of_words_counts_edits(void **state)
{
	static const char long_word[] =
		"0123456789012345678901234567890123456789012345678901234567890123"
		"4";
	static const struct {
		const char *a, *b;
		unsigned int distance;
	} cases[] = {
		{ "otlp-endpoint", "otlp-endpont", 1 },
		{ "otlp-endpoint", "otlp_endpoint", 1 },
		{ "node", "ndoe", 2 },
		{ "", "abc", 3 },
		{ "abc", "", 3 },
		{ "same", "same", 0 },
		{ "", "", 0 },
		{ "kitten", "sitting", 3 },
		{ long_word, long_word, 64 },
		{ "a", long_word, 64 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++)
		assert_int_equal(word_distance(cases[i].a, cases[i].b), cases[i].distance);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_have_units_and_fractions),
		cmocka_unit_test(whole_numbers_are_digits_only),
		cmocka_unit_test(numbers_of_32_bits_have_a_range),
		cmocka_unit_test(booleans_have_four_names_each),
		cmocka_unit_test(sizes_have_units_of_1024),
		cmocka_unit_test(digits_are_read_up_to_the_first_other_character),
		cmocka_unit_test(digits_never_pass_the_given_end),
		cmocka_unit_test(the_distance_of_words_counts_edits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
