/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_heap.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "unit.h"
#include "v8_memory.h"

static const enum v8_memory_layout compressed[] = { V8_MEMORY_COMPRESSED, V8_MEMORY_CAGED };

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

static void compressed_words_are_made_whole(void **state)
{
	static const int32_t numbers[] = { 0, 1, -1, 12345, (1 << 30) - 1, -(1 << 30) };
	(void)state;

	for (size_t i = 0; i < array_len(compressed); i++) {
		_cleanup_(v8_memory_done) struct v8_memory objects;
		uint64_t word;
		int32_t number;

		v8_memory_init(&objects, compressed[i]);
		uint64_t object = v8_memory_put_object(&objects, V8_TYPE_OTHER, 64);
		for (size_t k = 0; k < array_len(numbers); k++) {
			v8_memory_set(&objects, object, 8, v8_memory_smi(numbers[k]));
			assert_int_equal(v8_heap_smi(&objects.heap, object, 8, &number), 0);
			assert_int_equal(number, numbers[k]);
		}
		v8_memory_set(&objects, object, 8, object);
		assert_int_equal(v8_heap_word(&objects.heap, object, 8, &word), 0);
		assert_int_equal(word, object);
		assert_int_equal(v8_heap_smi(&objects.heap, object, 8, &number), -ENOENT);
		assert_int_equal(v8_heap_type(&objects.heap, object), V8_TYPE_OTHER);
	}
}

static void protected_words_point_into_the_trusted_cage(void **state)
{
	_cleanup_(v8_memory_done) struct v8_memory objects;
	uint64_t word;
	(void)state;

	v8_memory_init(&objects, V8_MEMORY_CAGED);
	uint64_t table = v8_memory_put_bytes(&objects, "table", 5);
	uint64_t array = v8_memory_put_array(&objects, &table, 1);
	assert_int_equal(v8_heap_protected_element(&objects.heap, array, 0, &word), 0);
	assert_int_equal(word, table);
	assert_int_equal(v8_heap_element(&objects.heap, array, 0, &word), 0);
	assert_int_equal(word, objects.heap.cage | (uint32_t)table);
}

static void nothing_is_read_of_a_cage_that_is_not_known(void **state)
{
	_cleanup_(v8_memory_done) struct v8_memory objects;
	uint64_t word;
	(void)state;

	v8_memory_init(&objects, V8_MEMORY_CAGED);
	uint64_t table = v8_memory_put_bytes(&objects, "table", 5);
	uint64_t array = v8_memory_put_array(&objects, &table, 1);
	objects.heap.trusted_cage = 0;
	assert_int_equal(v8_heap_protected(&objects.heap, array, 8, &word), -ENOENT);
	assert_int_equal(v8_heap_protected_element(&objects.heap, array, 0, &word), -ENOENT);
	assert_int_equal(v8_heap_protected_element(&objects.heap, array, 1, &word), -ENOENT);
}

/* As from 15.0 on, and before. */
static void damaged_lengths_are_none(void **state)
{
	static const uint32_t bad[][2] = { { UINT32_MAX, 1U << 31 }, { 1, UINT32_MAX } };
	(void)state;

	for (size_t i = 0; i < array_len(compressed); i++) {
		_cleanup_(v8_memory_done) struct v8_memory objects;
		uint32_t length;

		v8_memory_init(&objects, compressed[i]);
		uint64_t array = v8_memory_put_array(&objects, NULL, 0);
		assert_int_equal(v8_heap_length(&objects.heap, array, &length), 0);
		assert_int_equal(length, 0);
		for (size_t k = 0; k < array_len(bad[i]); k++) {
			v8_memory_put(&objects, array - 1 + 4, &bad[i][k], sizeof(bad[i][k]));
			assert_int_equal(v8_heap_length(&objects.heap, array, &length), -ENOENT);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_are_anywhere_in_an_address_space),
		cmocka_unit_test(other_words_are_no_objects),
		cmocka_unit_test(compressed_words_are_made_whole),
		cmocka_unit_test(protected_words_point_into_the_trusted_cage),
		cmocka_unit_test(nothing_is_read_of_a_cage_that_is_not_known),
		cmocka_unit_test(damaged_lengths_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
