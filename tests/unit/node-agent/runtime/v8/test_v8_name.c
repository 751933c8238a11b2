/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_name.h"

#include "base/cleanup.h"
#include "bpf/shared/runtime.h"
#include "runtime/v8/v8_function.h"
#include "unit.h"
#include "v8_memory.h"

#include <stdio.h>
#include <string.h>

#define OPTIMIZED 13
#define BASELINE 11
#define CODE_BYTES 500
#define OUT_MAX_BYTES ((size_t)64 << 10)
#define SOURCE "function f() {\n  g();\n}\nfunction g() {\n  h();\n}\n"
enum { IN_F = 18, IN_G = 41, START_F = 10, START_G = 33 };

static const enum v8_memory_layout layouts[] = {
	V8_MEMORY_9, V8_MEMORY_12, V8_MEMORY_13, V8_MEMORY_15, V8_MEMORY_COMPRESSED, V8_MEMORY_CAGED
};
static const enum v8_memory_layout compressed[] = { V8_MEMORY_COMPRESSED, V8_MEMORY_CAGED };

/* Two functions; the first one calls the second one. */
struct program {
	struct v8_memory objects;
	uint64_t bytecode;
	uint64_t f, g;
};

static uint64_t put_function(struct v8_memory *objects, const char *name, uint64_t script,
			     int32_t start, uint64_t data)
{
	uint64_t scope = v8_memory_put_scope(objects, v8_memory_put_string(objects, name), 0,
					     start);

	return v8_memory_put_shared(objects, scope, script, data);
}

static void program_init(struct program *program, enum v8_memory_layout layout)
{
	/* From 0 on IN_F. */
	static const uint8_t positions[] = { 0x02, 2 * 2 * (IN_F + 1) };
	struct v8_memory *objects = &program->objects;

	v8_memory_init(objects, layout);
	uint64_t script = v8_memory_put_script(objects, "file:///app.js", SOURCE);
	program->bytecode = v8_memory_put_bytecode(
		objects, "\4\4", 2, v8_memory_put_bytes(objects, positions, sizeof(positions)));
	program->f = put_function(objects, "f", script, START_F, program->bytecode);
	program->g = put_function(objects, "g", script, START_G, 0);
}

static void program_done(struct program *program)
{
	v8_memory_done(&program->objects);
}

static uint16_t check_of(struct program *program, uint64_t shared)
{
	int r = v8_function_check(&program->objects.heap, shared);

	assert_true(r >= 0);
	return (uint16_t)r;
}

/* Returns the tag of a frame of compiled code. */
static uint64_t code_tag(struct program *program, uint64_t shared)
{
	return RUNTIME_TAG(RUNTIME_FRAME_V8_CODE, check_of(program, shared),
			   program->objects.heap.trusted_cage >> 32);
}

/* Names a frame as "name file:line(start_line) …". */
static int name(struct program *program, const uint64_t *words, char *text, size_t max)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);
	struct frame_writer writer = { .out = &out };
	struct runtime_line line;
	uint32_t nr_lines;
	size_t len = 0;

	text[0] = '\0';
	frame_writer_begin(&writer);
	int r = v8_name(&program->objects.memory, program->objects.values, words, &writer);
	struct frame_reader reader = { .bytes = out.data, .len = out.len };
	assert_int_equal(frame_reader_next(&reader, &nr_lines), 0);
	for (uint32_t i = 0; i < nr_lines; i++) {
		assert_int_equal(frame_reader_line(&reader, &line), 0);
		len += (size_t)snprintf(text + len, max - len, "%s%.*s %.*s:%u(%u)",
					i > 0 ? " " : "", (int)line.name_len, line.name,
					(int)line.filename_len, line.filename, line.line,
					line.start_line);
	}
	return r;
}

static void assert_named(struct program *program, const uint64_t *words, const char *expected)
{
	char text[256];

	assert_int_equal(name(program, words, text, sizeof(text)), 0);
	assert_string_equal(text, expected);
}

static void interpreted_frames_have_the_line_of_their_bytecode(void **state)
{
	(void)state;
	for (size_t i = 0; layouts[i] != V8_MEMORY_CAGED; i++) {
		_cleanup_(program_done) struct program program;

		program_init(&program, layouts[i]);
		uint64_t offset = program.objects.values[V8_BYTECODE_DATA] - 1 + 1;
		const uint64_t words[] = { RUNTIME_TAG(RUNTIME_FRAME_V8_BYTECODE,
						       check_of(&program, program.f), offset),
					   program.f };
		assert_named(&program, words, "f /app.js:2(1)");
	}
}

/* Code of f with g inlined, from its first instruction on. */
static uint64_t put_optimized(struct program *program)
{
	static const uint8_t table[] = { 0x02, 0xa8, 0x81, 0x80, 0x80, 0x10 };
	const uint64_t inlining[] = { (IN_F + 1) << 1, 0 };
	struct v8_memory *objects = &program->objects;
	uint64_t start, deopt[10] = { 0 };
	uint64_t code = v8_memory_put_code(objects, OPTIMIZED, CODE_BYTES, &start);

	deopt[objects->values[V8_DEOPT_LITERALS]] = v8_memory_put_array(objects, &program->g, 1);
	deopt[objects->values[V8_DEOPT_SHARED]] = v8_memory_put_wrapper(objects, program->f);
	deopt[objects->values[V8_DEOPT_INLINING]] = v8_memory_put_bytes(objects, inlining,
									sizeof(inlining));
	v8_memory_set(objects, code, objects->values[V8_CODE_DEOPT],
		      v8_memory_put_array(objects, deopt, array_len(deopt)));
	v8_memory_set(objects, code, objects->values[V8_CODE_POSITIONS],
		      v8_memory_put_bytes(objects, table, sizeof(table)));
	return start;
}

static void frames_may_have_their_bytecode(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(compressed); i++) {
		_cleanup_(program_done) struct program program;

		program_init(&program, compressed[i]);
		uint64_t offset = program.objects.values[V8_BYTECODE_DATA] - 1 + 1;
		const uint64_t words[] = { RUNTIME_TAG(RUNTIME_FRAME_V8_ARRAY,
						       check_of(&program, program.f), offset),
					   program.bytecode, program.f };
		assert_named(&program, words, "f /app.js:2(1)");
	}
}

/* The word in the place of the bytecode is another object, none, or one in no memory. */
static void frames_with_other_bytecode_have_the_first_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(compressed); i++) {
		_cleanup_(program_done) struct program program;

		program_init(&program, compressed[i]);
		uint64_t array = v8_memory_put_array(&program.objects, NULL, 0);
		const uint64_t others[] = { array, program.bytecode - 1,
					    program.bytecode + (1 << 22), 0, UINT64_MAX };
		for (size_t k = 0; k < array_len(others); k++) {
			const uint64_t words[] = { RUNTIME_TAG(RUNTIME_FRAME_V8_ARRAY,
							       check_of(&program, program.f), 60),
						   others[k], program.f };
			assert_named(&program, words, "f /app.js:1(1)");
		}
	}
}

static void code_without_its_cage_has_the_first_line(void **state)
{
	(void)state;
	static const uint64_t halves[] = { 0, 1, 0x7fff, RUNTIME_POSITION_MASK };
	_cleanup_(program_done) struct program program;

	program_init(&program, V8_MEMORY_CAGED);
	uint64_t start = put_optimized(&program);
	for (size_t i = 0; i < array_len(halves); i++) {
		const uint64_t words[] = { RUNTIME_TAG(RUNTIME_FRAME_V8_CODE,
						       check_of(&program, program.f), halves[i]),
					   start + 10, program.f };
		assert_named(&program, words, "f /app.js:1(1)");
	}
}

/* Code that has the handle of another function, or of none, is not this function's. */
static void baseline_code_of_another_function_tells_nothing(void **state)
{
	(void)state;
	static const uint8_t sizes[] = { 1, 1, 1, 1, 1 };
	_cleanup_(program_done) struct program program;
	struct v8_memory *objects = &program.objects;
	uint64_t start;

	program_init(&program, V8_MEMORY_CAGED);
	objects->values[V8_NR_BYTECODES] = sizeof(sizes);
	memcpy(&objects->values[V8_BYTECODE_SIZES], sizes, sizeof(sizes));
	uint64_t code = v8_memory_put_code(objects, BASELINE, CODE_BYTES, &start);
	v8_memory_set(objects, code, objects->values[V8_CODE_DEOPT], program.bytecode);
	v8_memory_set(objects, code, objects->values[V8_CODE_POSITIONS],
		      v8_memory_put_bytes(objects, "\x10\x10\x10", 3));
	v8_memory_share_handle(objects, program.g, code);
	const uint64_t words[] = { code_tag(&program, program.f), start + 20, program.f };
	assert_named(&program, words, "f /app.js:1(1)");
}

static void frames_without_a_table_have_the_first_line(void **state)
{
	(void)state;
	_cleanup_(program_done) struct program program;

	program_init(&program, V8_MEMORY_12);
	const uint64_t words[] = {
		RUNTIME_TAG(RUNTIME_FRAME_V8_BYTECODE, check_of(&program, program.g), 70), program.g
	};
	assert_named(&program, words, "g /app.js:4(4)");
	const uint64_t early[] = {
		RUNTIME_TAG(RUNTIME_FRAME_V8_BYTECODE, check_of(&program, program.f), 3), program.f
	};
	assert_named(&program, early, "f /app.js:1(1)");
}

static void optimized_frames_have_the_functions_that_are_inlined(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(layouts); i++) {
		_cleanup_(program_done) struct program program;

		program_init(&program, layouts[i]);
		const uint64_t words[] = {
			code_tag(&program, program.f),
			put_optimized(&program) + 10,
			program.f,
		};
		assert_named(&program, words, "g /app.js:5(4) f /app.js:2(1)");
	}
}

static void code_of_another_function_names_only_the_frame_s_own(void **state)
{
	(void)state;
	_cleanup_(program_done) struct program program;

	program_init(&program, V8_MEMORY_12);
	uint64_t words[] = { RUNTIME_TAG(RUNTIME_FRAME_V8_CODE, check_of(&program, program.g), 0),
			     put_optimized(&program) + 10, program.g };
	assert_named(&program, words, "g /app.js:4(4)");
	words[1] = 1 << 28;
	assert_named(&program, words, "g /app.js:4(4)");
	words[1] = UINT64_MAX;
	assert_named(&program, words, "g /app.js:4(4)");
}

static void baseline_frames_have_the_line_of_their_bytecode(void **state)
{
	(void)state;
	static const uint8_t sizes[] = { 1, 1, 1, 1, 1 };
	for (size_t i = 0; i < array_len(layouts); i++) {
		_cleanup_(program_done) struct program program;
		struct v8_memory *objects = &program.objects;
		uint64_t start;

		program_init(&program, layouts[i]);
		objects->values[V8_NR_BYTECODES] = sizeof(sizes);
		memcpy(&objects->values[V8_BYTECODE_SIZES], sizes, sizeof(sizes));
		uint64_t code = v8_memory_put_code(objects, BASELINE, CODE_BYTES, &start);
		v8_memory_set(objects, code, objects->values[V8_CODE_DEOPT], program.bytecode);
		v8_memory_set(objects, code, objects->values[V8_CODE_POSITIONS],
			      v8_memory_put_bytes(objects, "\x10\x10\x10", 3));
		if (layouts[i] == V8_MEMORY_CAGED)
			v8_memory_share_handle(objects, program.f, code);
		uint64_t words[] = { code_tag(&program, program.f), start + 20, program.f };
		assert_named(&program, words, "f /app.js:2(1)");
		words[1] = start + 3;
		assert_named(&program, words, "f /app.js:1(1)");
	}
}

static void words_that_do_not_fit_name_nothing(void **state)
{
	(void)state;
	_cleanup_(program_done) struct program program;
	char text[256];

	program_init(&program, V8_MEMORY_12);
	uint16_t check = check_of(&program, program.f);
	const uint64_t words[][3] = {
		{ RUNTIME_TAG(RUNTIME_FRAME_V8_BYTECODE, check + 1, 70), program.f },
		{ RUNTIME_TAG(RUNTIME_FRAME_V8_CODE, check + 1, 0), 0, program.f },
		{ RUNTIME_TAG(RUNTIME_FRAME_V8_BYTECODE, check, 70), 0 },
		{ RUNTIME_TAG(RUNTIME_FRAME_V8_BYTECODE, check, 70), UINT64_MAX },
		{ RUNTIME_TAG(RUNTIME_FRAME_V8_BYTECODE, check, 70), program.bytecode },
		{ RUNTIME_TAG(RUNTIME_FRAME_V8_BYTECODE, check, 70), 0x700000000001 },
	};

	for (size_t i = 0; i < array_len(words); i++) {
		assert_int_equal(name(&program, words[i], text, sizeof(text)), -ENOENT);
		assert_string_equal(text, "");
	}
}

static void inlining_that_never_ends_is_cut(void **state)
{
	(void)state;
	_cleanup_(program_done) struct program program;
	struct v8_memory *objects = &program.objects;
	const uint64_t loop[] = { (IN_F + 1) << 1 | 1ULL << 31, 0 };
	char text[RUNTIME_MAX_LINES * 32];

	program_init(&program, V8_MEMORY_12);
	uint64_t start = put_optimized(&program), deopt;
	uint64_t header = start - objects->values[V8_CODE_HEADER] + 1, code;
	assert_int_equal(v8_heap_word(&objects->heap, header, 8, &code), 0);
	assert_int_equal(v8_heap_word(&objects->heap, code, objects->values[V8_CODE_DEOPT], &deopt),
			 0);
	v8_memory_set(objects, deopt,
		      v8_array_data(&objects->heap) +
			      V8_WORD_BYTES * objects->values[V8_DEOPT_INLINING],
		      v8_memory_put_bytes(objects, loop, sizeof(loop)));
	const uint64_t words[] = { RUNTIME_TAG(RUNTIME_FRAME_V8_CODE, check_of(&program, program.f),
					       0),
				   start + 10, program.f };
	assert_int_equal(name(&program, words, text, sizeof(text)), 0);
	assert_non_null(strstr(text, "f /app.js:2(1)"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interpreted_frames_have_the_line_of_their_bytecode),
		cmocka_unit_test(frames_may_have_their_bytecode),
		cmocka_unit_test(frames_with_other_bytecode_have_the_first_line),
		cmocka_unit_test(code_without_its_cage_has_the_first_line),
		cmocka_unit_test(baseline_code_of_another_function_tells_nothing),
		cmocka_unit_test(frames_without_a_table_have_the_first_line),
		cmocka_unit_test(optimized_frames_have_the_functions_that_are_inlined),
		cmocka_unit_test(code_of_another_function_names_only_the_frame_s_own),
		cmocka_unit_test(baseline_frames_have_the_line_of_their_bytecode),
		cmocka_unit_test(words_that_do_not_fit_name_nothing),
		cmocka_unit_test(inlining_that_never_ends_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
