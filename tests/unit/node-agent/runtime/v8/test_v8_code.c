/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_code.h"

#include "base/cleanup.h"
#include "runtime/v8/v8_function.h"
#include "unit.h"
#include "v8_memory.h"

#include <string.h>

#define OPTIMIZED 13
#define BASELINE 11
#define CODE_BYTES 5000

static const enum v8_memory_layout layouts[] = {
	V8_MEMORY_9, V8_MEMORY_12, V8_MEMORY_13, V8_MEMORY_15, V8_MEMORY_COMPRESSED, V8_MEMORY_CAGED
};

static void code_is_found_by_an_address_in_it(void **state)
{
	(void)state;
	static const uint32_t sizes[] = { 1, 63, 64, 4096, 100000 };
	for (size_t i = 0; i < array_len(layouts); i++) {
		_cleanup_(v8_memory_done) struct v8_memory objects;

		v8_memory_init(&objects, layouts[i]);
		for (size_t k = 0; k < array_len(sizes); k++) {
			struct v8_code code;
			uint64_t start;
			uint64_t object = v8_memory_put_code(&objects, OPTIMIZED, sizes[k], &start);

			assert_int_equal(v8_code_find(&objects.heap, start + 1, &code), 0);
			assert_int_equal(code.object, object);
			assert_int_equal(code.start, start);
			assert_int_equal(code.kind, OPTIMIZED);
			assert_int_equal(v8_code_find(&objects.heap, start + sizes[k], &code), 0);
			assert_int_equal(code.object, object);
		}
	}
}

static void addresses_outside_have_no_code(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(layouts); i++) {
		_cleanup_(v8_memory_done) struct v8_memory objects;
		struct v8_code code;
		uint64_t start;

		v8_memory_init(&objects, layouts[i]);
		v8_memory_put_code(&objects, OPTIMIZED, 100, &start);
		v8_memory_put(&objects, start + 8192, "", 1);
		const uint64_t bad[] = { 0,	     1,		4096,	     UINT32_MAX,
					 UINT64_MAX, INT64_MAX, start + 101, start + 5000,
					 start - 200 };

		for (size_t k = 0; k < array_len(bad); k++)
			assert_int_equal(v8_code_find(&objects.heap, bad[k], &code), -ENOENT);
	}
}

static void code_that_does_not_know_its_header_is_none(void **state)
{
	(void)state;
	_cleanup_(v8_memory_done) struct v8_memory objects;
	struct v8_code code;
	uint64_t start;

	v8_memory_init(&objects, V8_MEMORY_12);
	uint64_t object = v8_memory_put_code(&objects, OPTIMIZED, 100, &start);
	v8_memory_set(&objects, object, objects.values[V8_CODE_START], start + 64);
	assert_int_equal(v8_code_find(&objects.heap, start + 1, &code), -ENOENT);
	v8_memory_set(&objects, object, objects.values[V8_CODE_START], start);
	v8_memory_set(&objects, start - 32 + 1, 8, start);
	assert_int_equal(v8_code_find(&objects.heap, start + 1, &code), -ENOENT);
}

static uint64_t put_function(struct v8_memory *objects)
{
	uint64_t script = v8_memory_put_script(objects, "app.js", "source");

	return v8_memory_put_shared(objects, 0, script, 0);
}

/* Sets the deoptimization data of code: its function and one that is inlined at two depths. */
static void put_deopt(struct v8_memory *objects, uint64_t code, uint64_t shared, uint64_t inlined)
{
	/* Called at 99 of the function itself, and at 49 of the first one. */
	const uint64_t positions[] = { 100 << 1, 0, 50 << 1 | 1ULL << 31, 1 };
	const uint64_t literals[] = { inlined, inlined };
	uint64_t words[10] = { 0 };

	words[objects->values[V8_DEOPT_LITERALS]] = v8_memory_put_array(objects, literals,
									array_len(literals));
	words[objects->values[V8_DEOPT_SHARED]] = v8_memory_put_wrapper(objects, shared);
	words[objects->values[V8_DEOPT_INLINING]] = v8_memory_put_bytes(objects, positions,
									sizeof(positions));
	v8_memory_set(objects, code, objects->values[V8_CODE_DEOPT],
		      v8_memory_put_array(objects, words, array_len(words)));
}

static void optimized_code_tells_its_positions(void **state)
{
	(void)state;
	/* From 0 on 19; from 10 on 39, inlined at 1. */
	static const uint8_t table[] = { 0x02, 0x50, 0x14, 0xd0, 0x80, 0x80, 0x80, 0x20 };
	for (size_t i = 0; i < array_len(layouts); i++) {
		_cleanup_(v8_memory_done) struct v8_memory objects;
		struct v8_position position;
		struct v8_code code;
		uint64_t start, found;

		v8_memory_init(&objects, layouts[i]);
		uint64_t shared = put_function(&objects), inlined = put_function(&objects);
		uint64_t object = v8_memory_put_code(&objects, OPTIMIZED, CODE_BYTES, &start);
		put_deopt(&objects, object, shared, inlined);
		v8_memory_set(&objects, object, objects.values[V8_CODE_POSITIONS],
			      v8_memory_put_bytes(&objects, table, sizeof(table)));
		assert_int_equal(v8_code_find(&objects.heap, start + 5, &code), 0);
		assert_int_equal(
			v8_code_optimized(&objects.heap, &code, start + 10, &found, &position), 0);
		assert_int_equal(found, shared);
		assert_int_equal(position.offset, 19);
		assert_int_equal(
			v8_code_optimized(&objects.heap, &code, start + 11, &found, &position), 0);
		assert_int_equal(position.offset, 39);
		assert_int_equal(v8_code_inlined(&objects.heap, &code, 1, &found, &position), 0);
		assert_int_equal(found, inlined);
		assert_int_equal(position.offset, 49);
		assert_int_equal(position.inlining, 0);
		assert_int_equal(v8_code_inlined(&objects.heap, &code, 0, &found, &position), 0);
		assert_int_equal(position.offset, 99);
		assert_int_equal(position.inlining, -1);
	}
}

static void a_function_may_be_wrapped(void **state)
{
	(void)state;
	_cleanup_(v8_memory_done) struct v8_memory objects;
	struct v8_position position;
	struct v8_code code;
	uint64_t start, found;

	v8_memory_init(&objects, V8_MEMORY_13);
	uint64_t shared = put_function(&objects);
	uint64_t wrapper = v8_memory_put_object(&objects, objects.values[V8_TYPE_WRAPPER], 16);
	uint64_t object = v8_memory_put_code(&objects, OPTIMIZED, CODE_BYTES, &start);
	v8_memory_set(&objects, wrapper, 8, shared);
	put_deopt(&objects, object, wrapper, shared);
	v8_memory_set(&objects, object, objects.values[V8_CODE_POSITIONS],
		      v8_memory_put_bytes(&objects, "", 1));
	assert_int_equal(v8_code_find(&objects.heap, start + 5, &code), 0);
	assert_int_equal(v8_code_optimized(&objects.heap, &code, start + 5, &found, &position), 0);
	assert_int_equal(found, shared);
	assert_int_equal(position.offset, -1);
}

static void damaged_optimized_code_tells_nothing(void **state)
{
	(void)state;
	_cleanup_(v8_memory_done) struct v8_memory objects;
	struct v8_position position;
	struct v8_code code;
	uint64_t start, found;

	v8_memory_init(&objects, V8_MEMORY_12);
	uint64_t other = v8_memory_put_object(&objects, V8_TYPE_OTHER, 32);
	uint64_t object = v8_memory_put_code(&objects, OPTIMIZED, CODE_BYTES, &start);
	assert_int_equal(v8_code_find(&objects.heap, start + 5, &code), 0);
	v8_memory_set(&objects, object, objects.values[V8_CODE_DEOPT], other);
	assert_int_equal(v8_code_optimized(&objects.heap, &code, start + 5, &found, &position),
			 -ENOENT);
	put_deopt(&objects, object, other, other);
	assert_int_equal(v8_code_optimized(&objects.heap, &code, start + 5, &found, &position),
			 -ENOENT);
	put_deopt(&objects, object, put_function(&objects), other);
	v8_memory_set(&objects, object, objects.values[V8_CODE_POSITIONS], v8_memory_smi(1));
	assert_int_equal(v8_code_optimized(&objects.heap, &code, start + 5, &found, &position),
			 -ENOENT);
	static const int32_t inlinings[] = { -1, 2, INT32_MAX };
	for (size_t i = 0; i < array_len(inlinings); i++)
		assert_int_equal(
			v8_code_inlined(&objects.heap, &code, inlinings[i], &found, &position),
			-ENOENT);
}

static void set_sizes(struct v8_memory *objects, const uint8_t *sizes, size_t nr)
{
	objects->values[V8_NR_BYTECODES] = nr;
	memcpy(&objects->values[V8_BYTECODE_SIZES], sizes, nr);
}

static void baseline_code_tells_its_positions(void **state)
{
	(void)state;
	static const uint8_t sizes[] = { 0x01, 0x01, 0x01, 0x01, 0x01, 0x12 };
	static const uint8_t steps[] = { 20, 10, 10 };
	/* From 0 on 19, from 2 on 39. */
	static const uint8_t positions[] = { 0x02, 0x50, 0x04, 0x50 };
	for (size_t i = 0; i < array_len(layouts); i++) {
		_cleanup_(v8_memory_done) struct v8_memory objects;
		struct v8_code code;
		uint64_t start;
		int32_t position;

		v8_memory_init(&objects, layouts[i]);
		set_sizes(&objects, sizes, sizeof(sizes));
		uint64_t bytecode = v8_memory_put_bytecode(
			&objects, "\5\1\4", 3,
			v8_memory_put_bytes(&objects, positions, sizeof(positions)));
		uint64_t object = v8_memory_put_code(&objects, BASELINE, CODE_BYTES, &start);
		v8_memory_set(&objects, object, objects.values[V8_CODE_DEOPT], bytecode);
		v8_memory_set(&objects, object, objects.values[V8_CODE_POSITIONS],
			      v8_memory_put_bytes(&objects, steps, sizeof(steps)));
		assert_int_equal(v8_code_find(&objects.heap, start + 5, &code), 0);
		static const struct {
			uint64_t pc_offset;
			int32_t expected;
		} cases[] = { { 20, -1 }, { 21, 19 }, { 30, 19 }, { 31, 39 }, { 41, -1 } };
		for (size_t k = 0; k < array_len(cases); k++) {
			assert_int_equal(v8_code_baseline(&objects.heap, &code,
							  start + cases[k].pc_offset, bytecode,
							  &position),
					 0);
			assert_int_equal(position, cases[k].expected);
		}
		code.kind = OPTIMIZED;
		assert_int_equal(
			v8_code_baseline(&objects.heap, &code, start + 21, bytecode, &position),
			-ENOENT);
	}
}

static void damaged_baseline_code_tells_nothing(void **state)
{
	(void)state;
	_cleanup_(v8_memory_done) struct v8_memory objects;
	struct v8_code code;
	int32_t position;
	uint64_t start;

	v8_memory_init(&objects, V8_MEMORY_12);
	uint64_t object = v8_memory_put_code(&objects, BASELINE, CODE_BYTES, &start);
	uint64_t huge = v8_memory_put_bytecode(&objects, "\4", 1, 0);
	uint64_t other = v8_memory_put_bytecode(&objects, "\4", 1, 0);
	v8_memory_set(&objects, huge, objects.values[V8_EXPOSED_HEAD], v8_memory_smi(INT32_MAX));
	const uint64_t data[] = { 0, object, huge, other };

	assert_int_equal(v8_code_find(&objects.heap, start + 5, &code), 0);
	v8_memory_set(&objects, object, objects.values[V8_CODE_POSITIONS],
		      v8_memory_put_bytes(&objects, "\1\1", 2));
	for (size_t i = 0; i < array_len(data); i++) {
		v8_memory_set(&objects, object, objects.values[V8_CODE_DEOPT], data[i]);
		assert_int_equal(
			v8_code_baseline(&objects.heap, &code, start + 21, huge, &position),
			-ENOENT);
	}
	assert_int_equal(v8_bytecode_position(&objects.heap, 0, 0), -1);
	assert_int_equal(v8_bytecode_position(&objects.heap, huge, 0), -1);
}

static void functions_may_have_the_bytecode_of_baseline_code(void **state)
{
	(void)state;
	_cleanup_(v8_memory_done) struct v8_memory objects;
	uint64_t found;

	v8_memory_init(&objects, V8_MEMORY_9);
	objects.values[V8_TYPE_BASELINE_DATA] = 0x109;
	uint64_t bytecode = v8_memory_put_bytecode(&objects, "\4", 1, 0);
	uint64_t data = v8_memory_put_object(&objects, 0x109, 24);
	uint64_t shared = v8_memory_put_shared(&objects, 0, 0, data);
	v8_memory_set(&objects, data, 16, bytecode);
	assert_int_equal(v8_function_bytecode(&objects.heap, shared, &found), 0);
	assert_int_equal(found, bytecode);
	v8_memory_set(&objects, data, 16, data);
	assert_int_equal(v8_function_bytecode(&objects.heap, shared, &found), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_is_found_by_an_address_in_it),
		cmocka_unit_test(addresses_outside_have_no_code),
		cmocka_unit_test(code_that_does_not_know_its_header_is_none),
		cmocka_unit_test(optimized_code_tells_its_positions),
		cmocka_unit_test(a_function_may_be_wrapped),
		cmocka_unit_test(damaged_optimized_code_tells_nothing),
		cmocka_unit_test(baseline_code_tells_its_positions),
		cmocka_unit_test(damaged_baseline_code_tells_nothing),
		cmocka_unit_test(functions_may_have_the_bytecode_of_baseline_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
