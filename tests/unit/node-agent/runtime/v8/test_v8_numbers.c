/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_numbers.h"

#include "base/err.h"
#include "unit.h"

#include <string.h>

static struct v8_numbers numbers_of(const char *bytes)
{
	return (struct v8_numbers){ (const uint8_t *)bytes, strlen(bytes) };
}

static void numbers_may_have_several_bytes(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		uint64_t number;
		int32_t as_signed;
	} cases[] = {
		{ "\1", 1, 0 },
		{ "\176", 126, 63 },
		{ "\177", 127, -63 },
		{ "\266\1", 182, 91 },
		{ "\377\377\377\377\17", UINT32_MAX, -INT32_MAX },
	};
	for (size_t i = 0; i < array_len(cases); i++) {
		struct v8_numbers numbers = numbers_of(cases[i].bytes), again = numbers;
		uint64_t number;
		int32_t as_signed;

		assert_true(v8_numbers_next(&numbers, &number));
		assert_int_equal(number, cases[i].number);
		assert_int_equal(numbers.left, 0);
		assert_true(v8_numbers_next_signed(&again, &as_signed));
		assert_int_equal(as_signed, cases[i].as_signed);
	}
}

static void damaged_numbers_are_none(void **state)
{
	(void)state;
	static const char *const damaged[] = { "", "\200", "\200\377",
					       "\377\377\377\377\377\377\377\377\377\377\1" };
	for (size_t i = 0; i < array_len(damaged); i++) {
		struct v8_numbers numbers = numbers_of(damaged[i]), again = numbers;
		uint64_t number;
		int32_t as_signed;

		assert_false(v8_numbers_next(&numbers, &number));
		assert_false(v8_numbers_next_signed(&again, &as_signed));
	}
}

static void numbers_with_a_sign_have_32_bits(void **state)
{
	(void)state;
	struct v8_numbers numbers = numbers_of("\377\377\377\377\37");
	int32_t number;

	assert_false(v8_numbers_next_signed(&numbers, &number));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_may_have_several_bytes),
		cmocka_unit_test(damaged_numbers_are_none),
		cmocka_unit_test(numbers_with_a_sign_have_32_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
