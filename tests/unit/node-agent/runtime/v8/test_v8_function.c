/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_function.h"

#include "base/cleanup.h"
#include "runtime/v8/v8_string.h"
#include "unit.h"
#include "v8_memory.h"

#include <string.h>

static const enum v8_memory_layout layouts[] = { V8_MEMORY_9, V8_MEMORY_12, V8_MEMORY_13,
						 V8_MEMORY_15 };

static void assert_name(struct v8_memory *objects, const struct v8_function *function,
			const char *expected)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(100);

	assert_int_equal(v8_string_append(&objects->heap, function->name, 50, &out), 0);
	assert_string_equal(strbuf_str(&out), expected);
}

static void a_function_is_named_by_its_scope(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(layouts); i++) {
		_cleanup_(v8_memory_done) struct v8_memory objects;
		struct v8_function function;

		v8_memory_init(&objects, layouts[i]);
		uint64_t script = v8_memory_put_script(&objects, "f.js", "function f() {}");
		uint64_t empty = v8_memory_put_string(&objects, "");
		uint64_t name = v8_memory_put_string(&objects, "f");
		uint64_t inferred = v8_memory_put_string(&objects, "F.f");
		const struct {
			uint64_t name, inferred;
			const char *expected;
		} cases[] = {
			{ name, 0, "f" },
			{ name, inferred, "f" },
			{ empty, inferred, "F.f" },
			{ 0, inferred, "F.f" },
		};

		for (size_t k = 0; k < array_len(cases); k++) {
			uint64_t shared = v8_memory_put_shared(
				&objects,
				v8_memory_put_scope(&objects, cases[k].name, cases[k].inferred, 9),
				script, 0);

			assert_int_equal(v8_function_read(&objects.heap, shared, &function), 0);
			assert_name(&objects, &function, cases[k].expected);
			assert_int_equal(function.start, 9);
			assert_int_equal(function.script, script);
		}
	}
}

static void scopes_with_variables_have_names_behind_them(void **state)
{
	(void)state;
	static const int32_t numbers[] = { 1, 2, 75, 76, 200 };
	_cleanup_(v8_memory_done) struct v8_memory objects;
	struct v8_function function;

	v8_memory_init(&objects, V8_MEMORY_12);
	uint64_t text = v8_memory_put_string(&objects, "variable");
	uint64_t table = v8_memory_put_object(&objects, V8_TYPE_OTHER, 16);
	for (size_t i = 0; i < array_len(numbers); i++) {
		bool has_table = numbers[i] > 75;
		size_t nr_names = has_table ? 1 : (size_t)numbers[i], next = 4;
		uint64_t scope = v8_memory_put_object(&objects, objects.values[V8_TYPE_SCOPE],
						      (2 * 200 + 10) * V8_WORD_BYTES);

		v8_memory_set(&objects, scope, 8, v8_memory_smi(3 << 12));
		v8_memory_set(&objects, scope, 24, v8_memory_smi(numbers[i]));
		for (size_t k = 0; k < nr_names; k++)
			v8_memory_set(&objects, scope, V8_WORD_BYTES * next++,
				      has_table ? table : text);
		next += (size_t)numbers[i];
		v8_memory_set(&objects, scope, V8_WORD_BYTES * next,
			      v8_memory_put_string(&objects, "f"));
		v8_memory_set(&objects, scope, V8_WORD_BYTES * (next + 2), v8_memory_smi(77));
		uint64_t shared = v8_memory_put_shared(&objects, scope, 0, 0);
		assert_int_equal(v8_function_read(&objects.heap, shared, &function), 0);
		assert_name(&objects, &function, "f");
		assert_int_equal(function.start, 77);
	}
}

static void the_receiver_of_old_versions_is_skipped(void **state)
{
	(void)state;
	static const uint32_t receivers[] = { 1, 2 };
	_cleanup_(v8_memory_done) struct v8_memory objects;
	struct v8_function function;

	v8_memory_init(&objects, V8_MEMORY_9);
	for (size_t i = 0; i < array_len(receivers); i++) {
		uint32_t flags = 3U << 12 | receivers[i] << 7;
		uint64_t words[] = { v8_memory_smi((int32_t)flags),
				     0,
				     0,
				     v8_memory_smi(3),
				     v8_memory_put_string(&objects, "method"),
				     v8_memory_smi(-1),
				     v8_memory_smi(5) };
		uint64_t scope = v8_memory_put_object(&objects, objects.values[V8_TYPE_SCOPE],
						      V8_WORD_BYTES + sizeof(words));

		v8_memory_put(&objects, scope - 1 + V8_WORD_BYTES, words, sizeof(words));
		uint64_t shared = v8_memory_put_shared(&objects, scope, 0, 0);
		assert_int_equal(v8_function_read(&objects.heap, shared, &function), 0);
		assert_name(&objects, &function, "method");
		assert_int_equal(function.start, 5);
	}
}

static void a_function_of_v8_has_a_name_and_no_script(void **state)
{
	(void)state;
	_cleanup_(v8_memory_done) struct v8_memory objects;
	struct v8_function function;

	v8_memory_init(&objects, V8_MEMORY_12);
	uint64_t shared = v8_memory_put_shared(&objects, v8_memory_put_string(&objects, "map"),
					       v8_memory_put_object(&objects, V8_TYPE_OTHER, 16),
					       v8_memory_smi(222));
	assert_int_equal(v8_function_read(&objects.heap, shared, &function), 0);
	assert_name(&objects, &function, "map");
	assert_int_equal(function.script, 0);
	assert_int_equal(function.start, -1);
}

static void damaged_functions_have_no_names(void **state)
{
	(void)state;
	_cleanup_(v8_memory_done) struct v8_memory objects;
	struct v8_function function;

	v8_memory_init(&objects, V8_MEMORY_12);
	uint64_t other = v8_memory_put_object(&objects, V8_TYPE_OTHER, 16);
	uint64_t huge = v8_memory_put_scope(&objects, v8_memory_put_string(&objects, "f"), 0, 1);
	uint64_t negative = v8_memory_put_scope(&objects, v8_memory_put_string(&objects, "f"), 0,
						1);
	v8_memory_set(&objects, huge, 24, v8_memory_smi(INT32_MAX));
	v8_memory_set(&objects, negative, 24, v8_memory_smi(-1));
	const uint64_t names[] = { 0, 3, UINT64_MAX, other, huge, negative };

	for (size_t i = 0; i < array_len(names); i++) {
		uint64_t shared = v8_memory_put_shared(&objects, names[i], other, 0);

		assert_int_equal(v8_function_read(&objects.heap, shared, &function), 0);
		assert_int_equal(function.name, 0);
		assert_int_equal(function.start, -1);
	}
	assert_int_equal(v8_function_read(&objects.heap, other, &function), -ENOENT);
	assert_int_equal(v8_function_read(&objects.heap, 0, &function), -ENOENT);
	assert_int_equal(v8_function_check(&objects.heap, other), -ENOENT);
}

static void bytecode_is_found_through_what_has_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(layouts); i++) {
		_cleanup_(v8_memory_done) struct v8_memory objects;
		uint64_t start, found;

		v8_memory_init(&objects, layouts[i]);
		uint64_t bytecode = v8_memory_put_bytecode(&objects, "\4", 1, 0);
		uint64_t data = v8_memory_put_object(&objects,
						     objects.values[V8_TYPE_INTERPRETER_DATA], 24);
		v8_memory_set(&objects, data, 8, bytecode);
		uint64_t code = v8_memory_put_code(&objects, 11, 64, &start);
		v8_memory_set(&objects, code, objects.values[V8_CODE_DEOPT], data);
		const uint64_t good[] = { bytecode, data, code };

		for (size_t k = 0; k < array_len(good); k++) {
			uint64_t shared = v8_memory_put_shared(&objects, 0, 0, good[k]);

			assert_int_equal(v8_function_bytecode(&objects.heap, shared, &found), 0);
			assert_int_equal(found, bytecode);
		}
		uint64_t other = v8_memory_put_object(&objects, V8_TYPE_OTHER, 16);
		v8_memory_set(&objects, data, 8, data);
		v8_memory_set(&objects, code, objects.values[V8_CODE_DEOPT], code);
		const uint64_t bad[] = { 0, v8_memory_smi(1), other, data, code };
		for (size_t k = 0; k < array_len(bad); k++) {
			uint64_t shared = v8_memory_put_shared(&objects, 0, 0, bad[k]);

			assert_int_equal(v8_function_bytecode(&objects.heap, shared, &found),
					 -ENOENT);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_is_named_by_its_scope),
		cmocka_unit_test(scopes_with_variables_have_names_behind_them),
		cmocka_unit_test(the_receiver_of_old_versions_is_skipped),
		cmocka_unit_test(a_function_of_v8_has_a_name_and_no_script),
		cmocka_unit_test(damaged_functions_have_no_names),
		cmocka_unit_test(bytecode_is_found_through_what_has_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
