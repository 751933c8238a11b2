/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cpython/cpython_name.h"

#include "base/cleanup.h"
#include "bpf/shared/runtime.h"
#include "cpython_memory.h"
#include "cpython_naming_table.h"
#include "unit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define OUT_MAX_BYTES ((size_t)64 << 10)
#define UNCHANGED 77

/* Two units of the next line, and two of the one after it, in each format. */
static const uint8_t tables[CPYTHON_NR_LINES][4] = {
	[CPYTHON_LINES_LNOTAB] = { 0, 1, 4, 1 },
	[CPYTHON_LINES_LINETABLE] = { 4, 1, 4, 1 },
	[CPYTHON_LINES_LOCATIONS] = { 0xe9, 2, 0xe9, 2 },
};

struct function {
	struct cpython_memory objects;
	struct cpython_code_parts parts;
	uint64_t code;
	struct strbuf out;
};

static void function_init(struct function *function, int minor)
{
	struct cpython_memory *objects = &function->objects;

	function->out = strbuf_with_max(OUT_MAX_BYTES);
	cpython_memory_init(objects, minor);
	const uint8_t *table = tables[objects->naming[CPYTHON_NAMING_LINES]];
	function->parts = (struct cpython_code_parts){
		.name = cpython_memory_put_ascii(objects, "Shop.buy.<locals>.pay"),
		.filename = cpython_memory_put_ascii(objects, "/app/shop.py"),
		.table = cpython_memory_put_bytes(objects, sizeof(tables[0]), table,
						  sizeof(tables[0])),
		.first_line = 40,
	};
	function->code = cpython_memory_put_code(objects, &function->parts);
}

static void function_done(struct function *function)
{
	strbuf_done(&function->out);
	cpython_memory_done(&function->objects);
}

/* Puts the code object once more, with the parts that the test has changed. */
static void change_parts(struct function *function)
{
	function->code = cpython_memory_put_code(&function->objects, &function->parts);
}

static int name_words(struct function *function, const uint64_t *naming, const uint64_t *words)
{
	struct frame_writer writer = { .out = &function->out };

	strbuf_clear(&function->out);
	frame_writer_begin(&writer);
	return cpython_name(&function->objects.memory, naming, words, &writer);
}

static int name_at(struct function *function, int64_t position)
{
	uint16_t check = cpython_memory_check(&function->objects, function->code);
	const uint64_t words[] = {
		RUNTIME_TAG(RUNTIME_FRAME_CPYTHON, check, (uint64_t)position),
		function->code,
	};

	return name_words(function, function->objects.naming, words);
}

static uint32_t nr_lines_of(const struct function *function)
{
	struct frame_reader reader = { .bytes = strbuf_str(&function->out),
				       .len = function->out.len };
	uint32_t nr_lines = UNCHANGED;

	assert_int_equal(frame_reader_next(&reader, &nr_lines), 0);
	return nr_lines;
}

static struct runtime_line line_of(const struct function *function)
{
	struct frame_reader reader = { .bytes = strbuf_str(&function->out),
				       .len = function->out.len };
	struct runtime_line line = { 0 };
	uint32_t nr_lines;

	assert_int_equal(frame_reader_next(&reader, &nr_lines), 0);
	assert_int_equal(nr_lines, 1);
	assert_int_equal(frame_reader_line(&reader, &line), 0);
	assert_int_equal(reader.position, function->out.len);
	return line;
}

static void assert_text(const char *text, size_t len, const char *expected)
{
	assert_int_equal(len, strlen(expected));
	assert_memory_equal(text, expected, len);
}

static void a_frame_has_function_file_and_line(void **state)
{
	(void)state;
	for (int minor = CPYTHON_FIRST_MINOR; minor <= CPYTHON_LAST_MINOR; minor++) {
		_cleanup_(function_done) struct function function;

		function_init(&function, minor);
		assert_int_equal(name_at(&function, 2), 0);
		struct runtime_line line = line_of(&function);
		assert_text(line.name, line.name_len, "Shop.buy.<locals>.pay");
		assert_text(line.filename, line.filename_len, "/app/shop.py");
		assert_int_equal(line.start_line, 40);
		assert_int_equal(line.line, 42);

		assert_int_equal(name_at(&function, 1), 0);
		assert_int_equal(line_of(&function).line, 41);
		/* before the first instruction, and behind the last */
		assert_int_equal(name_at(&function, -1), 0);
		assert_int_equal(line_of(&function).line, 40);
		assert_int_equal(name_at(&function, 1 << 20), 0);
		assert_int_equal(line_of(&function).line, minor < 10 ? 42 : 40);
	}
}

static void tags_of_a_pointer_are_no_part_of_it(void **state)
{
	(void)state;
	_cleanup_(function_done) struct function function;

	function_init(&function, 14);
	uint16_t check = cpython_memory_check(&function.objects, function.code);
	for (uint64_t tag = 0; tag < 4; tag++) {
		const uint64_t words[] = { RUNTIME_TAG(RUNTIME_FRAME_CPYTHON, check, 0),
					   function.code | tag };

		assert_int_equal(name_words(&function, function.objects.naming, words), 0);
		assert_int_equal(line_of(&function).line, 41);
	}
}

/* In builds without a GIL. The code object has room for the field behind its others. */
static void a_position_in_a_copy_of_the_bytecode_has_a_line(void **state)
{
	(void)state;
	static const uint64_t nr_units = 4, copy = 0x7f0000200000;
	_cleanup_(function_done) struct function function;
	uint64_t naming[CPYTHON_NAMING_NR];

	function_init(&function, 14);
	memcpy(naming, function.objects.naming, sizeof(naming));
	naming[CPYTHON_NAMING_TLBC] = 200;
	naming[CPYTHON_NAMING_BYTECODE] = 208;
	const uint64_t array[] = { 2, function.code + naming[CPYTHON_NAMING_BYTECODE], copy };
	uint64_t array_address = (function.objects.end + 7) & ~7ULL;
	cpython_memory_put(&function.objects, array_address, array, sizeof(array));
	cpython_memory_put(&function.objects, function.code + naming[CPYTHON_NAMING_TLBC],
			   &array_address, sizeof(array_address));
	cpython_memory_put(&function.objects, function.code + naming[CPYTHON_NAMING_BYTES_SIZE],
			   &nr_units, sizeof(nr_units));

	for (uint64_t unit = 0; unit < 2 * nr_units; unit++) {
		uint64_t start = unit < nr_units ? array[1] : copy;
		const uint64_t words[] = {
			RUNTIME_TAG(RUNTIME_FRAME_CPYTHON, 0,
				    (start + unit % nr_units * 2 - array[1]) / 2),
			function.code,
		};

		assert_int_equal(name_words(&function, naming, words), 0);
		assert_int_equal(line_of(&function).line, unit % nr_units < 2 ? 41 : 42);
	}
	const uint64_t words[] = { RUNTIME_TAG(RUNTIME_FRAME_CPYTHON, 0, 1 << 30), function.code };
	assert_int_equal(name_words(&function, naming, words), 0);
	assert_int_equal(line_of(&function).line, 40);
}

static void another_object_at_the_address_is_not_named(void **state)
{
	(void)state;
	_cleanup_(function_done) struct function function;

	function_init(&function, 12);
	uint16_t check = cpython_memory_check(&function.objects, function.code);
	const uint64_t words[] = {
		RUNTIME_TAG(RUNTIME_FRAME_CPYTHON, check ^ 1, 0),
		function.code,
	};
	assert_int_equal(name_words(&function, function.objects.naming, words), 0);
	assert_int_equal(nr_lines_of(&function), 0);
}

static void a_tag_without_a_check_names_any_code(void **state)
{
	(void)state;
	_cleanup_(function_done) struct function function;

	function_init(&function, 12);
	const uint64_t words[] = { RUNTIME_TAG(RUNTIME_FRAME_CPYTHON, 0, 2), function.code };
	assert_int_equal(name_words(&function, function.objects.naming, words), 0);
	assert_int_equal(line_of(&function).line, 42);
}

static void code_that_cannot_be_read_has_no_name(void **state)
{
	(void)state;
	static const uint64_t addresses[] = { 0, 8, 1ULL << 40, 1ULL << 63, UINT64_MAX };

	_cleanup_(function_done) struct function function;
	function_init(&function, 12);
	for (size_t i = 0; i < array_len(addresses); i++) {
		const uint64_t words[] = { RUNTIME_TAG(RUNTIME_FRAME_CPYTHON, 0x1234, 0),
					   addresses[i] };

		int r = name_words(&function, function.objects.naming, words);
		assert_int_equal(r, i < 2 ? 0 : -EFAULT); /* the file has a hole at its start */
		assert_int_equal(nr_lines_of(&function), 0);
	}
	function.objects.memory.nr_left = 300;
	assert_int_equal(name_at(&function, 0), -EDQUOT);
	assert_int_equal(nr_lines_of(&function), 0);
}

static void a_function_without_a_readable_name_is_refused(void **state)
{
	(void)state;
	_cleanup_(function_done) struct function function;

	function_init(&function, 12);
	function.parts.name = cpython_memory_put_text(&function.objects,
						      CPYTHON_TEXT_STATE(1, 0, 1), 4, "main", 4);
	change_parts(&function);
	assert_int_equal(name_at(&function, 0), -ENOENT);
	function.parts.name = 1ULL << 50;
	change_parts(&function);
	assert_int_equal(name_at(&function, 0), -EFAULT);
	assert_int_equal(nr_lines_of(&function), 0);
}

static void what_else_cannot_be_read_is_left_out(void **state)
{
	(void)state;
	for (int minor = CPYTHON_FIRST_MINOR; minor <= CPYTHON_LAST_MINOR; minor++) {
		_cleanup_(function_done) struct function function;

		function_init(&function, minor);
		function.parts.filename = 1ULL << 50;
		function.parts.table = 1ULL << 50;
		change_parts(&function);
		assert_int_equal(name_at(&function, 2), 0);
		struct runtime_line line = line_of(&function);
		assert_text(line.name, line.name_len, "Shop.buy.<locals>.pay");
		assert_text(line.filename, line.filename_len, "");
		assert_int_equal(line.line, 40);

		function.parts.filename = 0;
		function.parts.first_line = -3;
		change_parts(&function);
		assert_int_equal(name_at(&function, 2), 0);
		line = line_of(&function);
		assert_int_equal(line.filename_len, 0);
		assert_int_equal(line.line, 0);
		assert_int_equal(line.start_line, 0);
	}
}

static void long_tables_are_read_up_to_a_limit(void **state)
{
	(void)state;
	static const struct {
		uint64_t size;
		uint32_t line;
	} cases[] = {
		{ 4, 42 },
		{ 4096, 42 },
		{ CPYTHON_MAX_TABLE_BYTES, 42 },
		/* too long, negative, more than there is */
		{ CPYTHON_MAX_TABLE_BYTES + 1, 40 },
		{ UINT64_MAX, 40 },
		{ 1ULL << 63, 40 },
		{ CPYTHON_MAX_TABLE_BYTES - 1, 40 },
	};
	_cleanup_free_ uint8_t *table = calloc(1, CPYTHON_MAX_TABLE_BYTES);

	assert_non_null(table);
	memcpy(table, tables[CPYTHON_LINES_LOCATIONS], sizeof(tables[0]));
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(function_done) struct function function;
		bool is_cut = i + 1 == array_len(cases);
		size_t len = cases[i].size > CPYTHON_MAX_TABLE_BYTES ? CPYTHON_MAX_TABLE_BYTES
								     : cases[i].size;

		function_init(&function, 13);
		uint64_t code = function.code;
		function.parts.table = cpython_memory_put_bytes(&function.objects, cases[i].size,
								table, is_cut ? 4 : len);
		cpython_memory_put(&function.objects,
				   code + function.objects.naming[CPYTHON_NAMING_LINETABLE],
				   &function.parts.table, sizeof(function.parts.table));
		assert_int_equal(name_at(&function, 2), 0);
		assert_int_equal(line_of(&function).line, cases[i].line);
	}
}

static void long_names_are_cut(void **state)
{
	(void)state;
	_cleanup_(function_done) struct function function;
	char name[2 * RUNTIME_NAME_MAX_BYTES];

	function_init(&function, 13);
	memset(name, 'x', sizeof(name));
	function.parts.name = cpython_memory_put_text(&function.objects, CPYTHON_ASCII,
						      sizeof(name), name, sizeof(name));
	change_parts(&function);
	assert_int_equal(name_at(&function, 2), 0);
	struct runtime_line line = line_of(&function);
	assert_int_equal(line.name_len, RUNTIME_NAME_MAX_BYTES);
	assert_memory_equal(line.name + line.name_len - 4, "x\xe2\x80\xa6", 4);
	assert_text(line.filename, line.filename_len, "/app/shop.py");
}

static void namings_that_cannot_be_name_nothing(void **state)
{
	(void)state;
	static const enum cpython_naming fields[] = {
		CPYTHON_NAMING_CHECK,	    CPYTHON_NAMING_FILENAME,  CPYTHON_NAMING_QUALNAME,
		CPYTHON_NAMING_FIRSTLINENO, CPYTHON_NAMING_LINETABLE,
	};
	static const uint64_t values[] = { 201, 512, 1ULL << 32, UINT64_MAX, UINT64_MAX - 7 };
	_cleanup_(function_done) struct function function;

	function_init(&function, 12);
	const uint64_t words[] = {
		RUNTIME_TAG(RUNTIME_FRAME_CPYTHON,
			    cpython_memory_check(&function.objects, function.code), 0),
		function.code,
	};
	for (size_t i = 0; i < array_len(fields) * array_len(values); i++) {
		uint64_t naming[CPYTHON_NAMING_NR];

		memcpy(naming, function.objects.naming, sizeof(naming));
		naming[fields[i / array_len(values)]] = values[i % array_len(values)];
		assert_int_equal(name_words(&function, naming, words), -ENOENT);
		assert_int_equal(nr_lines_of(&function), 0);
	}
}

static void namings_without_sense_do_no_harm(void **state)
{
	(void)state;
	static const uint64_t values[] = { 0, 1, 511, 512, 1ULL << 32, UINT64_MAX };
	_cleanup_(function_done) struct function function;

	function_init(&function, 12);
	const uint64_t words[] = {
		RUNTIME_TAG(RUNTIME_FRAME_CPYTHON,
			    cpython_memory_check(&function.objects, function.code), 0),
		function.code,
	};
	for (size_t i = 0; i < CPYTHON_NAMING_NR * array_len(values); i++) {
		uint64_t naming[CPYTHON_NAMING_NR];

		memcpy(naming, function.objects.naming, sizeof(naming));
		naming[i / array_len(values)] = values[i % array_len(values)];
		int r = name_words(&function, naming, words);
		assert_true(r == 0 || r == -ENOENT || r == -EFAULT);
		assert_true(nr_lines_of(&function) <= 1);
	}
}

#define NR_PARTS 4
#define PART_BYTES 256

/* Copies parts of objects, and has the function named from them. */
static int name_from_copies(struct function *function, const size_t lens[static NR_PARTS])
{
	const uint64_t addresses[NR_PARTS] = { function->code, function->parts.name,
					       function->parts.filename, function->parts.table };
	struct process_memory whole = function->objects.memory;
	uint8_t bytes[NR_PARTS][PART_BYTES] = { { 0 } };
	struct memory_part parts[NR_PARTS];

	for (size_t i = 0; i < NR_PARTS; i++) {
		assert_true(process_memory_read_some(&whole, addresses[i], bytes[i], lens[i]) > 0);
		parts[i] = (struct memory_part){ addresses[i], bytes[i], lens[i] };
	}
	uint16_t check = cpython_memory_check(&function->objects, function->code);
	const uint64_t words[] = { RUNTIME_TAG(RUNTIME_FRAME_CPYTHON, check, 2), function->code };
	function->objects.memory.parts = parts;
	function->objects.memory.nr_parts = NR_PARTS;
	int r = name_words(function, function->objects.naming, words);
	function->objects.memory = whole;
	return r;
}

static void copies_name_a_function_exactly_or_not_at_all(void **state)
{
	static const size_t lens[NR_PARTS] = { PART_BYTES, 69, 60, 36 };
	(void)state;

	for (int minor = CPYTHON_FIRST_MINOR; minor <= CPYTHON_LAST_MINOR; minor++) {
		_cleanup_(function_done) struct function function;

		function_init(&function, minor);
		assert_int_equal(name_from_copies(&function, lens), 0);
		struct runtime_line line = line_of(&function);
		assert_text(line.name, line.name_len, "Shop.buy.<locals>.pay");
		assert_text(line.filename, line.filename_len, "/app/shop.py");
		assert_int_equal(line.line, 42);
		for (size_t i = 1; i < NR_PARTS; i++) {
			static const size_t headers[NR_PARTS] = { 0, 48, 48, 32 };
			size_t shorter[NR_PARTS];

			memcpy(shorter, lens, sizeof(lens));
			shorter[i] = headers[i] + 3;
			assert_int_equal(name_from_copies(&function, shorter), -ENODATA);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_has_function_file_and_line),
		cmocka_unit_test(tags_of_a_pointer_are_no_part_of_it),
		cmocka_unit_test(a_position_in_a_copy_of_the_bytecode_has_a_line),
		cmocka_unit_test(another_object_at_the_address_is_not_named),
		cmocka_unit_test(a_tag_without_a_check_names_any_code),
		cmocka_unit_test(code_that_cannot_be_read_has_no_name),
		cmocka_unit_test(a_function_without_a_readable_name_is_refused),
		cmocka_unit_test(what_else_cannot_be_read_is_left_out),
		cmocka_unit_test(long_tables_are_read_up_to_a_limit),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(namings_that_cannot_be_name_nothing),
		cmocka_unit_test(namings_without_sense_do_no_harm),
		cmocka_unit_test(copies_name_a_function_exactly_or_not_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
