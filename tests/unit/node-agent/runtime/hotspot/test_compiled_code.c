/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/hotspot/compiled_code.h"

#include "base/cleanup.h"
#include "base/strbuf.h"
#include "bpf/shared/cfi.h"
#include "hotspot_memory.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define COMPILE_ID 0x20007
#define MAX_PCS 1000

/* Scopes, in which no byte is 0: at 1 the second method at bci 4, of nobody; at 4 the first method
 * at bci 3, inlined into that. Offset 0 is none. */
static const uint8_t scopes[] = { 1, 1, 3, 6, 2, 2, 5 };

static const int32_t pcs[][4] = {
	{ -1, 0 }, { 16, 1 }, { 32, 4 }, { 48, 0 }, { INT32_MAX, 0 },
};

static const uint8_t line_table[] = { 0x07, 0x1a, 0 };

struct code {
	struct hotspot_memory objects;
	uint64_t methods[2];
	struct hotspot_blob_parts parts;
	uint64_t blob;
	struct strbuf out;
	char names[256]; /* of the lines, each with its line */
};

static uint64_t put_method(struct code *code, const char *name)
{
	struct hotspot_method_parts parts = { .class_name = "A",
					      .name = name,
					      .source_file = "A.java",
					      .code_size = 9,
					      .line_table = line_table,
					      .line_table_bytes = sizeof(line_table) };

	return hotspot_memory_put_method(&code->objects, &parts);
}

static void code_init(struct code *code)
{
	hotspot_memory_init(&code->objects);
	code->methods[0] = put_method(code, "inner");
	code->methods[1] = put_method(code, "outer");
	code->parts = (struct hotspot_blob_parts){ .name = "nmethod",
						   .compile_id = COMPILE_ID,
						   .method = code->methods[1],
						   .pcs = pcs,
						   .nr_pcs = array_len(pcs),
						   .scopes = scopes,
						   .scopes_bytes = sizeof(scopes),
						   .metadata = code->methods,
						   .nr_metadata = 2 };
	code->blob = hotspot_memory_put_blob(&code->objects, &code->parts);
	code->out = strbuf_with_max(64 << 10);
}

static void code_done(struct code *code)
{
	strbuf_done(&code->out);
	hotspot_memory_done(&code->objects);
}

static void change_parts(struct code *code)
{
	code->blob = hotspot_memory_put_blob(&code->objects, &code->parts);
}

static void append_line(struct code *code, const struct runtime_line *line)
{
	size_t len = strlen(code->names);

	assert_true(line->name_len < 64);
	snprintf(code->names + len, sizeof(code->names) - len, "%s%.*s:%u", len > 0 ? " " : "",
		 (int)line->name_len, line->name, line->line);
}

static int add(struct code *code, int32_t pc_offset)
{
	struct code_place place = { .blob = code->blob,
				    .compile_id = (uint16_t)COMPILE_ID,
				    .pc_offset = pc_offset };
	struct frame_writer writer = { .out = &code->out };
	struct frame_reader reader;
	uint32_t nr_lines;

	strbuf_clear(&code->out);
	code->names[0] = '\0';
	frame_writer_begin(&writer);
	int r = compiled_code_add(&code->objects.memory, hotspot_memory_naming, &place, &writer);
	reader = (struct frame_reader){ .bytes = code->out.data, .len = code->out.len };
	assert_int_equal(frame_reader_next(&reader, &nr_lines), 0);
	for (uint32_t i = 0; i < nr_lines; i++) {
		struct runtime_line line;

		assert_int_equal(frame_reader_line(&reader, &line), 0);
		append_line(code, &line);
	}
	return r;
}

static void inlined_methods_come_first(void **state)
{
	_cleanup_(code_done) struct code code;
	(void)state;

	code_init(&code);
	assert_int_equal(add(&code, 0), 0);
	assert_string_equal(code.names, "A.outer:9");
	assert_int_equal(add(&code, 15), 0);
	assert_string_equal(code.names, "A.outer:9");
	assert_int_equal(add(&code, 16), 0);
	assert_string_equal(code.names, "A.outer:9");
	assert_int_equal(add(&code, 17), 0);
	assert_string_equal(code.names, "A.inner:9 A.outer:9");
	assert_int_equal(add(&code, 32), 0);
	assert_string_equal(code.names, "A.inner:9 A.outer:9");
}

/* There the method that was compiled returns. */
static void code_behind_the_last_place_is_in_the_outermost_method(void **state)
{
	_cleanup_(code_done) struct code code;
	(void)state;

	code_init(&code);
	assert_int_equal(add(&code, 33), 0);
	assert_string_equal(code.names, "A.outer:9");
	assert_int_equal(add(&code, 48), 0);
	assert_string_equal(code.names, "A.outer:9");
	assert_int_equal(add(&code, INT32_MAX), 0);
	assert_string_equal(code.names, "A.outer:9");
}

#if CFI_IS_ARM64
#define RETURN 0xc0, 0x03, 0x5f, 0xd6
#define BRANCH_TO_ITSELF 0x00, 0x00, 0x00, 0x54
#define NOPS_TO_36 0x1f, 0x20, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5
#define JUMP_FROM_36_TO_20 0xfc, 0xff, 0xff, 0x17
#else
#define RETURN 0xc3
#define BRANCH_TO_ITSELF 0x7c, 0xfe
#define NOPS_TO_36                                                                                 \
	0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90
#define JUMP_FROM_36_TO_20 0xeb, 0xee
#endif

static void put_code(struct code *code, int at, const uint8_t *bytes, size_t len)
{
	static uint8_t machine_code[64];

	memset(machine_code, 0, sizeof(machine_code));
	memcpy(machine_code + at, bytes, len);
	code->parts.code = machine_code;
	code->parts.code_bytes = sizeof(machine_code);
	change_parts(code);
}

/* What is described behind a return is another part of the code. */
static void code_that_returns_is_in_the_outermost_method(void **state)
{
	static const uint8_t bytes[] = { RETURN };
	_cleanup_(code_done) struct code code;
	(void)state;

	code_init(&code);
	put_code(&code, 20, bytes, sizeof(bytes));
	assert_int_equal(add(&code, 20), 0);
	assert_string_equal(code.names, "A.outer:9");
	/* The last byte of a call, and a place that is described: */
	assert_int_equal(add(&code, 31), 0);
	assert_string_equal(code.names, "A.inner:9 A.outer:9");
}

/* The compiler describes no place in a loop that can not be stopped. */
static void a_loop_belongs_to_what_is_before_it(void **state)
{
	static const uint8_t bytes[] = { BRANCH_TO_ITSELF };
	_cleanup_(code_done) struct code code;
	(void)state;

	code_init(&code);
	put_code(&code, 20, bytes, sizeof(bytes));
	assert_int_equal(add(&code, 20), 0);
	assert_string_equal(code.names, "A.outer:9");
	put_code(&code, 36, bytes, sizeof(bytes));
	assert_int_equal(add(&code, 36), 0);
	assert_string_equal(code.names, "A.inner:9 A.outer:9");
	put_code(&code, 4, bytes, sizeof(bytes));
	assert_int_equal(add(&code, 4), 0);
	assert_string_equal(code.names, "A.outer:9");
}

/* The compiler describes one in the outer loop that it put around. */
static void a_loop_belongs_to_the_place_in_its_outer_loop(void **state)
{
	static const uint8_t bytes[] = { BRANCH_TO_ITSELF, NOPS_TO_36, JUMP_FROM_36_TO_20 };
	_cleanup_(code_done) struct code code;
	(void)state;

	code_init(&code);
	put_code(&code, 20, bytes, sizeof(bytes));
	assert_int_equal(add(&code, 20), 0);
	assert_string_equal(code.names, "A.inner:9 A.outer:9");
	put_code(&code, 4, bytes, sizeof(bytes));
	assert_int_equal(add(&code, 4), 0);
	assert_string_equal(code.names, "A.outer:9");
}

static void code_without_scopes_has_its_method(void **state)
{
	_cleanup_(code_done) struct code code;
	(void)state;

	code_init(&code);
	code.parts.name = "native nmethod";
	code.parts.nr_pcs = 0;
	change_parts(&code);
	assert_int_equal(add(&code, 0), 0);
	assert_string_equal(code.names, "A.outer:0");
}

static void a_place_is_found_in_a_long_table(void **state)
{
	static int32_t many[MAX_PCS][4];
	_cleanup_(code_done) struct code code;
	(void)state;

	for (int i = 0; i < MAX_PCS; i++) {
		many[i][0] = 10 * i;
		many[i][1] = i % 3 == 0 ? 4 : 1;
	}
	code_init(&code);
	code.parts.pcs = many;
	code.parts.nr_pcs = MAX_PCS;
	change_parts(&code);
	for (int i = 0; i < MAX_PCS; i++) {
		assert_int_equal(add(&code, 10 * i - 1), 0);
		assert_string_equal(code.names, i % 3 == 0 ? "A.inner:9 A.outer:9" : "A.outer:9");
	}
}

static void other_blobs_have_names_of_their_own(void **state)
{
	_cleanup_(code_done) struct code code;
	(void)state;

	code_init(&code);
	code.parts.name = "StubRoutines (1)";
	code.parts.compile_id = 5;
	change_parts(&code);
	assert_int_equal(add(&code, 7), 0);
	assert_string_equal(code.names, "StubRoutines (1):0");
	code.parts.name = "";
	change_parts(&code);
	assert_int_equal(add(&code, 7), -EBADMSG);
}

static void code_that_is_another_one_is_not_named(void **state)
{
	_cleanup_(code_done) struct code code;
	(void)state;

	code_init(&code);
	code.parts.compile_id = COMPILE_ID + 1;
	change_parts(&code);
	assert_int_equal(add(&code, 16), -ENOENT);
	assert_string_equal(code.names, "");
}

/* The method that was compiled is still known. */
static void damaged_scopes_leave_the_method(void **state)
{
	static const uint8_t damaged[][7] = {
		{ 1, 1, 3, 6, 5, 2, 5 }, /* inlined into itself */
		{ 1, 1, 3, 6, 6, 2, 5 }, /* or into one that comes later */
		{ 1, 1, 3, 6, 2, 1, 5 }, /* no method */
		{ 1, 1, 3, 6, 2, 100, 5 }, /* a method that is not there */
		{ 1, 1, 3, 6, 2, 2, 255 }, /* ends within a number */
		{ 1, 1, 3, 6, 0, 2, 5 }, /* a byte that does not occur */
		{ 1, 1, 3, 6, 2, 2, 150 }, /* bytecode outside */
	};
	(void)state;

	for (size_t i = 0; i < array_len(damaged); i++) {
		_cleanup_(code_done) struct code code;

		code_init(&code);
		code.parts.scopes = damaged[i];
		change_parts(&code);
		assert_int_equal(add(&code, 17), 0);
		assert_string_equal(code.names, "A.outer:0");
	}
}

static void damaged_tables_leave_the_method(void **state)
{
	static const int32_t outside[][4] = { { 16, 7 }, { INT32_MAX, 0 } };
	static const int32_t negative[][4] = { { 16, -5 }, { INT32_MAX, 0 } };
	_cleanup_(code_done) struct code code;
	(void)state;

	code_init(&code);
	code.parts.pcs = outside;
	code.parts.nr_pcs = 2;
	change_parts(&code);
	assert_int_equal(add(&code, 0), 0);
	assert_string_equal(code.names, "A.outer:0");
	code.parts.pcs = negative;
	change_parts(&code);
	assert_int_equal(add(&code, 0), 0);
	assert_string_equal(code.names, "A.outer:0");
	/* The end is before the start. */
	hotspot_memory_put_u32(&code.objects, code.blob + 200, (uint32_t)-16);
	assert_int_equal(add(&code, 0), 0);
	assert_string_equal(code.names, "A.outer:0");
}

static void wild_pointers_lead_nowhere(void **state)
{
	static const uint64_t addresses[] = { 1, HOTSPOT_MEMORY_BYTES - 100, INT64_MAX - 8,
					      UINT64_MAX };
	_cleanup_(code_done) struct code code;
	(void)state;

	code_init(&code);
	for (size_t i = 0; i < array_len(addresses); i++) {
		code.blob = addresses[i];
		assert_true(add(&code, 16) < 0);
		assert_string_equal(code.names, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inlined_methods_come_first),
		cmocka_unit_test(code_behind_the_last_place_is_in_the_outermost_method),
		cmocka_unit_test(code_that_returns_is_in_the_outermost_method),
		cmocka_unit_test(a_loop_belongs_to_what_is_before_it),
		cmocka_unit_test(a_loop_belongs_to_the_place_in_its_outer_loop),
		cmocka_unit_test(code_without_scopes_has_its_method),
		cmocka_unit_test(a_place_is_found_in_a_long_table),
		cmocka_unit_test(other_blobs_have_names_of_their_own),
		cmocka_unit_test(code_that_is_another_one_is_not_named),
		cmocka_unit_test(damaged_scopes_leave_the_method),
		cmocka_unit_test(damaged_tables_leave_the_method),
		cmocka_unit_test(wild_pointers_lead_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
