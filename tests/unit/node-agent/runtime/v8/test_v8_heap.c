/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_heap.h"

#include "base/err.h"
#include "unit.h"

static void objects_are_anywhere_in_an_address_space(void **state)
{
	static const uint64_t objects[] = { 0x10001,	    0x29bc00000001, 0x7fffffffffff,
					    0x800000000001, 0xffffa0043001, 0xffffa0043003 };
	(void)state;

	for (size_t i = 0; i < array_len(objects); i++)
		assert_true(v8_is_object(objects[i]));
}

static void other_words_are_no_objects(void **state)
{
	static const uint64_t words[] = { 0,
					  1,
					  UINT16_MAX,
					  0x29bc00000000,
					  0x29bc00000002,
					  0x1000000000001,
					  UINT64_MAX,
					  0xffff800000000001 };
	(void)state;

	for (size_t i = 0; i < array_len(words); i++)
		assert_false(v8_is_object(words[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_are_anywhere_in_an_address_space),
		cmocka_unit_test(other_words_are_no_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
