/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cpython/cpython_object.h"

#include "base/cleanup.h"
#include "cpython_memory.h"
#include "unit.h"

#include <string.h>

#define ADDRESS 0x1000
#define MAX_BYTES 1024

/* A memory of numbers, `len` bytes from ADDRESS on. */
static void put_numbers(struct cpython_memory *objects, size_t len)
{
	cpython_memory_init(objects, 12);
	for (size_t i = 0; i < len; i++) {
		uint8_t byte = (uint8_t)(i % 251);

		cpython_memory_put(objects, ADDRESS + i, &byte, 1);
	}
}

static void a_field_is_copied_from_the_start(void **state)
{
	(void)state;
	_cleanup_(cpython_memory_done) struct cpython_memory objects;
	struct cpython_object object;
	uint8_t bytes[4] = { 0 };

	put_numbers(&objects, 20);
	assert_int_equal(cpython_object_read(&objects.memory, ADDRESS, 16, &object), 0);
	assert_int_equal(cpython_object_field(&object, 0, bytes, sizeof(bytes)), 0);
	assert_int_equal(bytes[3], 3);
	assert_int_equal(cpython_object_field(&object, 12, bytes, sizeof(bytes)), 0);
	assert_int_equal(bytes[3], 15);
}

static void fields_outside_are_refused(void **state)
{
	(void)state;
	static const uint64_t offsets[] = {
		13, 16, 17, 512, UINT64_MAX, UINT64_MAX - 3, 1ULL << 63
	};
	_cleanup_(cpython_memory_done) struct cpython_memory objects;
	struct cpython_object object;
	uint8_t bytes[4];

	put_numbers(&objects, 16);
	assert_int_equal(cpython_object_read(&objects.memory, ADDRESS, SIZE_MAX, &object), 0);
	assert_int_equal(object.len, 16);
	for (size_t i = 0; i < array_len(offsets); i++)
		assert_int_equal(cpython_object_field(&object, offsets[i], bytes, sizeof(bytes)),
				 -EFAULT);
}

static void an_object_that_is_nowhere_cannot_be_read(void **state)
{
	(void)state;
	static const uint64_t addresses[] = { ADDRESS + 16, 1ULL << 47, INT64_MAX, 1ULL << 63,
					      UINT64_MAX };
	_cleanup_(cpython_memory_done) struct cpython_memory objects;
	struct cpython_object object;

	put_numbers(&objects, 16);
	for (size_t i = 0; i < array_len(addresses); i++)
		assert_int_equal(cpython_object_read(&objects.memory, addresses[i], 16, &object),
				 -EFAULT);
	objects.memory.nr_left = 15;
	assert_int_equal(cpython_object_read(&objects.memory, ADDRESS, 16, &object), -EDQUOT);
}

static void a_part_is_read_if_it_is_not_in_the_start(void **state)
{
	(void)state;
	_cleanup_(cpython_memory_done) struct cpython_memory objects;
	_cleanup_(strbuf_done) struct strbuf scratch = strbuf_with_max(MAX_BYTES);
	struct cpython_object object;
	const uint8_t *part;

	put_numbers(&objects, MAX_BYTES);
	assert_int_equal(cpython_object_read(&objects.memory, ADDRESS, SIZE_MAX, &object), 0);
	assert_int_equal(object.len, CPYTHON_OBJECT_BYTES);
	assert_int_equal(cpython_object_part(&objects.memory, &object, 500, 12, &scratch, &part),
			 0);
	assert_ptr_equal(part, object.bytes + 500);
	assert_int_equal(cpython_object_part(&objects.memory, &object, 500, 13, &scratch, &part),
			 0);
	assert_int_equal(part[12], 512 % 251);
	assert_int_equal(cpython_object_part(&objects.memory, &object, 600, 424, &scratch, &part),
			 0);
	assert_int_equal(part[0], 600 % 251);
	assert_int_equal(cpython_object_part(&objects.memory, &object, 4096, 0, &scratch, &part),
			 0);
}

static void parts_that_are_too_long_or_unmapped_are_refused(void **state)
{
	(void)state;
	_cleanup_(cpython_memory_done) struct cpython_memory objects;
	_cleanup_(strbuf_done) struct strbuf scratch = strbuf_with_max(MAX_BYTES);
	struct cpython_object object;
	const uint8_t *part;

	put_numbers(&objects, 700);
	assert_int_equal(cpython_object_read(&objects.memory, ADDRESS, SIZE_MAX, &object), 0);
	assert_int_equal(cpython_object_part(&objects.memory, &object, 600, 101, &scratch, &part),
			 -EFAULT);
	assert_int_equal(
		cpython_object_part(&objects.memory, &object, 0, MAX_BYTES + 1, &scratch, &part),
		-ENOSPC);
	assert_int_equal(
		cpython_object_part(&objects.memory, &object, 0, SIZE_MAX, &scratch, &part),
		-ENOSPC);
	objects.memory.nr_left = 600;
	assert_int_equal(cpython_object_part(&objects.memory, &object, 0, 601, &scratch, &part),
			 -EDQUOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_field_is_copied_from_the_start),
		cmocka_unit_test(fields_outside_are_refused),
		cmocka_unit_test(an_object_that_is_nowhere_cannot_be_read),
		cmocka_unit_test(a_part_is_read_if_it_is_not_in_the_start),
		cmocka_unit_test(parts_that_are_too_long_or_unmapped_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
