/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cpython/cpython_copies.h"

#include "base/cleanup.h"
#include "cpython_memory.h"
#include "unit.h"

#include <string.h>

#define BYTECODE 0x7f0000100000
#define ARRAY 0x2000
#define NR_UNITS 10
#define UNCHANGED (-77)

/* Puts the array: its size, and the addresses of the copies. */
static void put_array(struct cpython_memory *objects, uint64_t nr, const uint64_t *copies,
		      size_t nr_copies)
{
	cpython_memory_init(objects, 14);
	cpython_memory_put(objects, ARRAY, &nr, sizeof(nr));
	cpython_memory_put(objects, ARRAY + sizeof(nr), copies, nr_copies * sizeof(*copies));
}

static int find(struct cpython_memory *objects, int64_t position, int64_t *ret_position)
{
	const struct cpython_bytecode bytecode = { BYTECODE, NR_UNITS, ARRAY };

	*ret_position = UNCHANGED;
	return cpython_copies_find(&objects->memory, &bytecode, position, ret_position);
}

/* The position of an instruction as a tag has it: 40 bits with a sign. */
static int64_t position_in_tag(uint64_t instruction)
{
	return (int64_t)((instruction - BYTECODE) / 2 << 24) >> 24;
}

static void an_instruction_is_found_in_its_copy(void **state)
{
	(void)state;
	static const uint64_t copies[] = { BYTECODE,	   0,
					   0x7f0000200000, 0x7effff000000,
					   0x7e0000000000, 0x555500000000 };
	_cleanup_(cpython_memory_done) struct cpython_memory objects;
	int64_t position;

	put_array(&objects, array_len(copies), copies, array_len(copies));
	for (size_t i = 0; i < array_len(copies); i++) {
		for (uint64_t unit = 0; unit < NR_UNITS && copies[i] != 0; unit++) {
			int64_t far = position_in_tag(copies[i] + 2 * unit);

			assert_int_equal(find(&objects, far, &position), 0);
			assert_int_equal(position, unit);
		}
	}
}

static void an_instruction_elsewhere_has_no_position(void **state)
{
	(void)state;
	static const uint64_t copies[] = { BYTECODE, 0, 0x7f0000200000 };
	static const uint64_t instructions[] = {
		BYTECODE - 2,
		BYTECODE + 2ULL * NR_UNITS,
		0x7f0000200000 - 2,
		0x7f0000200000 + 20,
		0x7f0000300000,
		0,
		2,
	};
	_cleanup_(cpython_memory_done) struct cpython_memory objects;
	int64_t position;

	put_array(&objects, array_len(copies), copies, array_len(copies));
	for (size_t i = 0; i < array_len(instructions); i++) {
		assert_int_equal(find(&objects, position_in_tag(instructions[i]), &position),
				 -ENOENT);
		assert_int_equal(position, UNCHANGED);
	}
}

static void many_copies_are_searched_up_to_a_limit(void **state)
{
	(void)state;
	static const struct {
		uint64_t nr;
		int result;
	} cases[] = {
		{ CPYTHON_MAX_COPIES, 0 },
		{ CPYTHON_MAX_COPIES - 1, -ENOENT },
		{ CPYTHON_MAX_COPIES + 1, -ENOENT },
		{ 0, -ENOENT },
		{ UINT64_MAX, -ENOENT },
		{ 1ULL << 61, -ENOENT },
	};
	static uint64_t copies[CPYTHON_MAX_COPIES];
	int64_t position;

	copies[CPYTHON_MAX_COPIES - 1] = 0x7f0000200000;
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(cpython_memory_done) struct cpython_memory objects;

		put_array(&objects, cases[i].nr, copies, array_len(copies));
		assert_int_equal(find(&objects, position_in_tag(0x7f0000200000), &position),
				 cases[i].result);
	}
}

static void an_array_that_is_not_mapped_cannot_be_read(void **state)
{
	(void)state;
	static const uint64_t copies[] = { BYTECODE };
	static const uint64_t addresses[] = { ARRAY + 16, 1ULL << 47, UINT64_MAX, UINT64_MAX - 7 };
	_cleanup_(cpython_memory_done) struct cpython_memory objects;
	int64_t position;

	put_array(&objects, 100, copies, array_len(copies));
	assert_int_equal(find(&objects, 1 << 20, &position), -EFAULT);
	for (size_t i = 0; i < array_len(addresses); i++) {
		const struct cpython_bytecode bytecode = { BYTECODE, NR_UNITS, addresses[i] };

		assert_int_equal(
			cpython_copies_find(&objects.memory, &bytecode, 1 << 20, &position),
			-EFAULT);
	}
}

static void bytecode_of_any_size_does_no_harm(void **state)
{
	(void)state;
	static const uint64_t copies[] = { BYTECODE };
	static const uint64_t sizes[] = { 0, (1 << 30) + 1, 1ULL << 63, UINT64_MAX };
	_cleanup_(cpython_memory_done) struct cpython_memory objects;
	int64_t position;

	put_array(&objects, array_len(copies), copies, array_len(copies));
	for (size_t i = 0; i < array_len(sizes); i++) {
		const struct cpython_bytecode bytecode = { BYTECODE, sizes[i], ARRAY };

		assert_int_equal(cpython_copies_find(&objects.memory, &bytecode, 0, &position),
				 -ENOENT);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_instruction_is_found_in_its_copy),
		cmocka_unit_test(an_instruction_elsewhere_has_no_position),
		cmocka_unit_test(many_copies_are_searched_up_to_a_limit),
		cmocka_unit_test(an_array_that_is_not_mapped_cannot_be_read),
		cmocka_unit_test(bytecode_of_any_size_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
