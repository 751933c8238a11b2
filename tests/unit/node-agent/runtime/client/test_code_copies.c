/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/client/code_copies.h"

#include "base/cleanup.h"
#include "bpf/shared/runtime.h"

#include <string.h>

#include "unit.h"

#define PID 77
#define START_NS 5
#define CHECK 9
#define OWNER 3
#define ADDRESS 0x7f0000001000ULL

static void add_of(struct code_copies *copies, uint64_t owner, uint64_t address,
		   uint16_t nr_line_bytes, uint64_t now_ns)
{
	struct code_copy copy = {
		.start_ns = START_NS,
		.cgroup_id = owner,
		.pid = PID,
		.check = CHECK,
		.nr_line_bytes = nr_line_bytes,
		.addresses = { [CODE_COPY_OBJECT] = address },
	};

	memset(copy.lines, 'l', nr_line_bytes);
	code_copies_add(copies, &copy, now_ns);
}

static void add(struct code_copies *copies, uint64_t address, uint16_t nr_line_bytes,
		uint64_t now_ns)
{
	add_of(copies, OWNER, address, nr_line_bytes, now_ns);
}

static const struct code_copy *find(const struct code_copies *copies, uint64_t address,
				    uint64_t position)
{
	const uint64_t words[] = { RUNTIME_TAG(RUNTIME_FRAME_CPYTHON, CHECK, position), address };
	const struct code_key key = { PID, START_NS, words };

	return code_copies_find(copies, &key);
}

static void a_copy_is_found_by_any_frame_of_its_code_object(void **state)
{
	_cleanup_(code_copies_done) struct code_copies copies = { 0 };
	(void)state;

	assert_null(find(&copies, ADDRESS, 0));
	add(&copies, ADDRESS, 3, 1);
	add(&copies, ADDRESS + 64, 0, 1);
	const struct code_copy *copy = find(&copies, ADDRESS, 0);
	assert_non_null(copy);
	assert_ptr_equal(find(&copies, ADDRESS, 1000), copy);
	assert_int_equal(code_copy_len(copy), offsetof(struct code_copy, lines) + 3);
	assert_memory_equal(copy->lines, "lll", 3);
	assert_int_equal(find(&copies, ADDRESS + 64, 0)->nr_line_bytes, 0);
}

static void other_code_has_no_copy(void **state)
{
	_cleanup_(code_copies_done) struct code_copies copies = { 0 };
	const uint64_t words[] = { RUNTIME_TAG(RUNTIME_FRAME_CPYTHON, CHECK, 1), ADDRESS };
	const uint64_t changed[] = { RUNTIME_TAG(RUNTIME_FRAME_CPYTHON, CHECK + 1, 1), ADDRESS };
	const uint64_t java[] = { RUNTIME_TAG(RUNTIME_FRAME_JVM_COMPILED, CHECK, 1), ADDRESS };
	const struct code_key others[] = {
		{ PID + 1, START_NS, words },
		{ PID, START_NS + 1, words },
		{ PID, START_NS, changed },
		{ PID, START_NS, java },
	};
	(void)state;

	add(&copies, ADDRESS, 3, 1);
	for (size_t i = 0; i < array_len(others); i++)
		assert_null(code_copies_find(&copies, &others[i]));
	assert_null(find(&copies, ADDRESS + 8, 1));
}

static void copies_expire(void **state)
{
	_cleanup_(code_copies_done) struct code_copies copies = { 0 };
	(void)state;

	add(&copies, ADDRESS, 3, 1);
	add(&copies, ADDRESS + 64, 3, 2);
	code_copies_expire(&copies, 1 + CODE_COPIES_KEEP_NS);
	assert_non_null(find(&copies, ADDRESS, 0));
	code_copies_expire(&copies, 2 + CODE_COPIES_KEEP_NS);
	assert_null(find(&copies, ADDRESS, 0));
	assert_non_null(find(&copies, ADDRESS + 64, 0));
	code_copies_expire(&copies, UINT64_MAX);
	assert_int_equal(copies.nr_bytes, 0);
}

static void the_oldest_copies_make_room_for_new_ones(void **state)
{
	static const uint16_t line_bytes[] = { 0, CODE_COPY_LINES_BYTES };
	(void)state;

	for (size_t i = 0; i < array_len(line_bytes); i++) {
		_cleanup_(code_copies_done) struct code_copies copies = { 0 };
		uint64_t last = ADDRESS + UINT64_C(64) * (CODE_COPIES_MAX + 9);

		for (uint64_t address = ADDRESS; address <= last; address += 64)
			add(&copies, address, line_bytes[i], 1);
		assert_true(copies.nr <= CODE_COPIES_MAX);
		assert_true(copies.nr_bytes <= CODE_COPIES_MAX_BYTES);
		assert_null(find(&copies, ADDRESS, 0));
		assert_non_null(find(&copies, last, 0));
		assert_non_null(find(&copies, last - 64 * (copies.nr - 1), 0));
	}
}

/* Few copies of one owner survive many of another one, whether these are small or large. */
static void no_owner_takes_the_room_of_another_one(void **state)
{
	static const uint16_t line_bytes[] = { 0, CODE_COPY_LINES_BYTES };
	const uint64_t other = ADDRESS + ((uint64_t)1 << 32);
	(void)state;

	for (size_t i = 0; i < array_len(line_bytes); i++) {
		_cleanup_(code_copies_done) struct code_copies copies = { 0 };

		for (uint64_t k = 0; k < 100; k++)
			add(&copies, ADDRESS + 64 * k, 1000, 1);
		for (uint64_t k = 0; k < UINT64_C(3) * CODE_COPIES_MAX; k++)
			add_of(&copies, OWNER + 1, other + 64 * k, line_bytes[i], 1);
		for (uint64_t k = 0; k < 100; k++)
			assert_non_null(find(&copies, ADDRESS + 64 * k, 0));
		assert_null(find(&copies, other, 0));
		assert_non_null(find(&copies, other + UINT64_C(64) * (3 * CODE_COPIES_MAX - 1), 0));
		code_copies_expire(&copies, UINT64_MAX);
		assert_int_equal(copies.nr, 0);
		assert_int_equal(copies.nr_bytes, 0);
	}
}

/* Owners beyond the limit share their room. */
static void copies_of_any_number_of_owners_are_found(void **state)
{
	_cleanup_(code_copies_done) struct code_copies copies = { 0 };
	(void)state;

	for (int round = 1; round <= 2; round++) {
		for (uint64_t k = 0; k < UINT64_C(2) * CODE_COPIES_MAX; k++)
			add_of(&copies, k % (3 * CODE_COPIES_MAX_OWNERS), ADDRESS + 64 * k, 100, 1);
		assert_true(copies.nr > 0 && copies.nr <= CODE_COPIES_MAX);
		assert_true(copies.nr_bytes <= CODE_COPIES_MAX_BYTES);
		assert_non_null(
			find(&copies, ADDRESS + UINT64_C(64) * (2 * CODE_COPIES_MAX - 1), 0));
		code_copies_expire(&copies, UINT64_MAX);
		assert_int_equal(copies.nr_bytes, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_is_found_by_any_frame_of_its_code_object),
		cmocka_unit_test(other_code_has_no_copy),
		cmocka_unit_test(copies_expire),
		cmocka_unit_test(the_oldest_copies_make_room_for_new_ones),
		cmocka_unit_test(no_owner_takes_the_room_of_another_one),
		cmocka_unit_test(copies_of_any_number_of_owners_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
