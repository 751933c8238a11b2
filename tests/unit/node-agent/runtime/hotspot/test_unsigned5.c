/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/hotspot/unsigned5.h"

#include "unit.h"

#define UNCHANGED 77

struct number_case {
	uint8_t nr_excluded;
	uint8_t len;
	uint8_t bytes[6];
	int result;
	uint32_t number;
	size_t nr_used;
};

static const struct number_case cases[] = {
	{ 0, 1, { 0 }, 0, 0, 1 },
	{ 0, 1, { 191 }, 0, 191, 1 },
	{ 0, 2, { 192, 0 }, 0, 192, 2 },
	{ 0, 3, { 255, 192, 1 }, 0, 255 + 64 * 192 + 4096, 3 },
	{ 0, 5, { 255, 252, 252, 252, 252 }, 0, UINT32_MAX, 5 },
	{ 1, 1, { 1 }, 0, 0, 1 },
	{ 1, 1, { 191 }, 0, 190, 1 },
	{ 1, 2, { 192, 1 }, 0, 191, 2 },
	{ 1, 2, { 193, 3 }, 0, 192 + 128, 2 },
	/* The fifth byte is the last one, whatever it is. */
	{ 0, 6, { 255, 255, 255, 255, 255, 255 }, 0, 0x030c30bf, 5 },
	/* The number goes on behind the end. */
	{ 0, 0, { 0 }, -EBADMSG, UNCHANGED, 0 },
	{ 0, 1, { 192 }, -EBADMSG, UNCHANGED, 1 },
	{ 0, 1, { 255 }, -EBADMSG, UNCHANGED, 1 },
	{ 0, 4, { 255, 255, 255, 255 }, -EBADMSG, UNCHANGED, 4 },
	{ 1, 0, { 0 }, -EBADMSG, UNCHANGED, 0 },
	{ 1, 1, { 255 }, -EBADMSG, UNCHANGED, 1 },
	/* A byte that does not occur. */
	{ 1, 1, { 0 }, -EBADMSG, UNCHANGED, 1 },
	{ 1, 2, { 192, 0 }, -EBADMSG, UNCHANGED, 2 },
	{ 1, 3, { 255, 255, 0 }, -EBADMSG, UNCHANGED, 3 },
	{ 1, 5, { 255, 255, 255, 255, 0 }, -EBADMSG, UNCHANGED, 5 },
};

static void a_number_has_up_to_five_bytes(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(cases); i++) {
		struct unsigned5_reader reader = { .bytes = cases[i].bytes,
						   .len = cases[i].len,
						   .nr_excluded = cases[i].nr_excluded };
		uint32_t number = UNCHANGED;

		assert_int_equal(unsigned5_next(&reader, &number), cases[i].result);
		assert_int_equal(number, cases[i].number);
		assert_int_equal(reader.position, cases[i].nr_used);
	}
}

static void the_lowest_bit_of_a_signed_number_is_its_sign(void **state)
{
	static const uint8_t bytes[] = { 0, 1, 2, 3, 255, 252, 252, 252, 252 };
	static const int32_t numbers[] = { 0, -1, 1, -2, INT32_MIN };
	struct unsigned5_reader reader = { .bytes = bytes, .len = sizeof(bytes) };
	int32_t number = UNCHANGED;
	(void)state;

	for (size_t i = 0; i < array_len(numbers); i++) {
		assert_int_equal(unsigned5_next_signed(&reader, &number), 0);
		assert_int_equal(number, numbers[i]);
	}
	assert_int_equal(unsigned5_next_signed(&reader, &number), -EBADMSG);
	assert_int_equal(number, INT32_MIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_has_up_to_five_bytes),
		cmocka_unit_test(the_lowest_bit_of_a_signed_number_is_its_sign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
