/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/dwarf/lines_unit.h"

#include "base/cleanup.h"
#include "symbol/dwarf/lines_writer.h"
#include "torture.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)1 << 20)
#define BASE UINT64_C(0x400000)

/* outer() with inner() inlined into it at BASE + 0x10; no function from BASE + 0x20 on. */
static void write_unit(struct lines_writer *writer)
{
	lines_writer_begin(writer, BASE);
	lines_writer_add_range(writer, BASE, BASE + 0x40);
	uint32_t file = lines_writer_add_file(writer, "/src/a.c");
	const struct lines_function outer = { .start_line = 8, .caller = LINES_NO_FUNCTION };
	const struct lines_function inner = { .start_line = 1, .call_file = file, .call_line = 9 };
	struct lines_row row = { .line = 8, .file = file, .function = 1 };
	static const struct lines_row nothing;

	lines_writer_add_function(writer, "outer", &outer);
	lines_writer_add_function(writer, "inner", &inner);
	lines_writer_add_row(writer, BASE, &row);
	row.line = 3;
	row.function = 2;
	lines_writer_add_row(writer, BASE + 0x10, &row);
	row.line = 10;
	row.function = 1;
	lines_writer_add_row(writer, BASE + 0x18, &row);
	lines_writer_add_row(writer, BASE + 0x1c, &row);
	lines_writer_add_row(writer, BASE + 0x20, &nothing);
}

static void make_unit(struct strbuf *out)
{
	_cleanup_(lines_writer_done) struct lines_writer writer = lines_writer_with_max(MAX_BYTES);

	write_unit(&writer);
	assert_int_equal(lines_writer_finish(&writer, 7, LANGUAGE_GO, out), 0);
}

static void functions_at_an_address_are_found(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	struct symbol_line lines[SYMBOL_MAX_LINES];
	struct lines_unit unit;

	make_unit(&out);
	assert_int_equal(lines_unit_parse(out.data, out.len, &unit), 0);
	assert_int_equal(unit.header->nr_bytes, out.len);
	assert_int_equal(unit.header->number, 7);
	assert_int_equal(unit.header->language, LANGUAGE_GO);
	assert_int_equal(lines_unit_find(&unit, BASE - 1, lines), 0);
	assert_int_equal(lines_unit_find(&unit, BASE + 0xf, lines), 1);
	assert_string_equal(lines[0].system_name, "outer");
	assert_int_equal(lines[0].line, 8);
	assert_int_equal(lines_unit_find(&unit, BASE + 0x10, lines), 2);
	assert_string_equal(lines[0].system_name, "inner");
	assert_string_equal(lines[0].filename, "/src/a.c");
	assert_int_equal(lines[0].line, 3);
	assert_int_equal(lines[0].start_line, 1);
	assert_string_equal(lines[1].system_name, "outer");
	assert_int_equal(lines[1].line, 9);
	assert_int_equal(lines[1].start_line, 8);
	assert_int_equal(lines_unit_find(&unit, BASE + 0x1f, lines), 1);
	assert_int_equal(lines[0].line, 10);
	assert_int_equal(lines_unit_find(&unit, BASE + 0x20, lines), 0);
	assert_int_equal(lines_unit_find(&unit, UINT64_MAX, lines), 0);
}

/* More rows than a mark has, with small and large differences in both directions. */
static void many_rows_are_found(void **state)
{
	(void)state;
	enum { NR_ROWS = 1000 };
	_cleanup_(lines_writer_done) struct lines_writer writer = lines_writer_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	const struct lines_function function = { .caller = LINES_NO_FUNCTION };
	struct symbol_line lines[SYMBOL_MAX_LINES];
	uint64_t addresses[NR_ROWS];
	uint32_t values[NR_ROWS];
	uint64_t address = BASE;
	struct lines_unit unit;

	lines_writer_begin(&writer, BASE);
	lines_writer_add_function(&writer, "f", &function);
	for (uint32_t i = 0; i < NR_ROWS; i++) {
		struct lines_row row = { .line = i * 2654435761U, .function = 1 };

		address += 1 + (i % 7 == 0 ? 100000 : i % 300);
		addresses[i] = address;
		values[i] = row.line;
		lines_writer_add_row(&writer, address, &row);
	}
	assert_int_equal(lines_writer_finish(&writer, 0, LANGUAGE_UNKNOWN, &out), 0);
	assert_int_equal(lines_unit_parse(out.data, out.len, &unit), 0);
	for (size_t i = 0; i < NR_ROWS; i++) {
		assert_int_equal(lines_unit_find(&unit, addresses[i], lines), 1);
		assert_int_equal(lines[0].line, values[i]);
		assert_int_equal(lines_unit_find(&unit, addresses[i] - 1, lines), i > 0);
	}
}

static void functions_without_a_name_are_left_out(void **state)
{
	(void)state;
	_cleanup_(lines_writer_done) struct lines_writer writer = lines_writer_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	const struct lines_function outer = { .caller = LINES_NO_FUNCTION };
	const struct lines_function inner = { .call_line = 9 };
	const struct lines_row row = { .line = 3, .function = 2 };
	struct symbol_line lines[SYMBOL_MAX_LINES];
	struct lines_unit unit;

	lines_writer_begin(&writer, BASE);
	lines_writer_add_function(&writer, "outer", &outer);
	lines_writer_add_function(&writer, "", &inner);
	lines_writer_add_row(&writer, BASE, &row);
	assert_int_equal(lines_writer_finish(&writer, 0, LANGUAGE_UNKNOWN, &out), 0);
	assert_int_equal(lines_unit_parse(out.data, out.len, &unit), 0);
	assert_int_equal(lines_unit_find(&unit, BASE, lines), 1);
	assert_string_equal(lines[0].system_name, "outer");
	assert_int_equal(lines[0].line, 9);
}

static void code_too_far_from_the_base_is_left_out(void **state)
{
	(void)state;
	_cleanup_(lines_writer_done) struct lines_writer writer = lines_writer_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	const struct lines_row row = { .line = 3, .function = 1 };
	struct lines_unit unit;

	lines_writer_begin(&writer, BASE);
	lines_writer_add_range(&writer, BASE, BASE + UINT32_MAX);
	lines_writer_add_range(&writer, BASE, BASE + UINT32_MAX + 1);
	lines_writer_add_range(&writer, BASE - 1, BASE + 1);
	lines_writer_add_range(&writer, BASE + 1, BASE + 1);
	lines_writer_add_row(&writer, BASE + UINT32_MAX + 1, &row);
	assert_int_equal(lines_writer_finish(&writer, 0, LANGUAGE_UNKNOWN, &out), 0);
	assert_int_equal(lines_unit_parse(out.data, out.len, &unit), 0);
	assert_int_equal(unit.header->nr_ranges, 1);
	assert_int_equal(unit.header->nr_marks, 0);
}

static void search_everywhere(const struct lines_unit *unit, size_t len)
{
	struct symbol_line lines[SYMBOL_MAX_LINES];

	for (uint64_t address = BASE; address < BASE + 0x42; address++) {
		size_t nr = lines_unit_find(unit, address, lines);

		for (size_t n = 0; n < nr; n++)
			assert_true(strlen(lines[n].system_name) < len);
	}
}

/* Changes each byte. A unit that is still valid can be searched without reading out of bounds,
 * which a sanitizer would report. */
static void damaged_bytes_lead_nowhere(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	struct lines_unit unit;
	size_t nr_refused = 0;

	make_unit(&out);
	_cleanup_free_ char *copy = malloc(out.len);
	assert_non_null(copy);
	for (size_t i = 0; i < out.len; i++) {
		for (unsigned int bit = 0; bit < 8; bit++) {
			memcpy(copy, out.data, out.len);
			copy[i] = (char)(copy[i] ^ (1U << bit));
			if (lines_unit_parse(copy, out.len, &unit) < 0)
				nr_refused++;
			else
				search_everywhere(&unit, out.len);
		}
	}
	assert_true(nr_refused > out.len);
}

static void a_truncated_unit_is_refused(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	struct lines_unit unit;

	make_unit(&out);
	for (size_t len = 0; len < out.len; len++) {
		_cleanup_free_ char *copy = malloc(len + 1);

		assert_non_null(copy);
		memcpy(copy, out.data, len);
		assert_int_equal(lines_unit_parse(copy, len, &unit), -EBADMSG);
	}
	assert_int_equal(lines_unit_parse(out.data + 4, out.len - 4, &unit), -EBADMSG);
}

/* The part of a unit that a test damages. */
static struct lines_unit_header *header_of(struct strbuf *out)
{
	return (struct lines_unit_header *)(void *)out->data;
}

static void numbers_that_do_not_fit_are_refused(void **state)
{
	(void)state;
	static const struct {
		size_t offset; /* of a uint32_t in the header */
		uint32_t value;
	} damages[] = {
		{ offsetof(struct lines_unit_header, nr_bytes), 0 },
		{ offsetof(struct lines_unit_header, nr_bytes), UINT32_MAX },
		{ offsetof(struct lines_unit_header, language), LANGUAGE_JIT + 1 },
		{ offsetof(struct lines_unit_header, nr_ranges), UINT32_MAX },
		{ offsetof(struct lines_unit_header, nr_functions), 0 },
		{ offsetof(struct lines_unit_header, nr_functions), UINT32_MAX },
		{ offsetof(struct lines_unit_header, nr_files), UINT32_MAX },
		{ offsetof(struct lines_unit_header, nr_marks), UINT32_MAX },
		{ offsetof(struct lines_unit_header, rows_len), UINT32_MAX },
		{ offsetof(struct lines_unit_header, strings_len), 0 },
		{ offsetof(struct lines_unit_header, strings_len), UINT32_MAX },
	};
	struct lines_unit unit;

	for (size_t i = 0; i < array_len(damages); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);

		make_unit(&out);
		memcpy(out.data + damages[i].offset, &damages[i].value, sizeof(uint32_t));
		assert_int_equal(lines_unit_parse(out.data, out.len, &unit), -EBADMSG);
	}
}

static void a_function_is_in_one_that_precedes_it(void **state)
{
	(void)state;
	static const uint32_t callers[] = { 1, 2, UINT32_MAX - 1 };
	struct lines_unit unit;

	for (size_t i = 0; i < array_len(callers); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);

		make_unit(&out);
		lines_unit_find_parts(out.data, &unit);
		((struct lines_function *)(uintptr_t)unit.functions)[1].caller = callers[i];
		assert_int_equal(lines_unit_parse(out.data, out.len, &unit), -EBADMSG);
	}
}

static void a_mark_has_few_rows(void **state)
{
	(void)state;
	enum { NR_ROWS = LINES_ROWS_PER_MARK + 1, ROWS_LEN = 2 * NR_ROWS };
	struct {
		struct lines_unit_header header;
		struct lines_mark mark;
		uint8_t rows[ROWS_LEN];
		char strings[6];
	} image = {
		.header = { .nr_bytes = sizeof(image),
			    .nr_marks = 1,
			    .rows_len = ROWS_LEN - 2,
			    .strings_len = 8 },
	};
	struct lines_unit unit;

	assert_int_equal(sizeof(image) % LINES_ALIGNMENT, 0);
	assert_int_equal(lines_unit_parse(&image, sizeof(image), &unit), 0);
	image.header.rows_len += 2;
	image.header.strings_len -= 2;
	assert_int_equal(lines_unit_parse(&image, sizeof(image), &unit), -EBADMSG);
}

/* Many functions may refer to a string, so its length is limited. */
static void a_string_has_a_longest_length(void **state)
{
	(void)state;
	enum { STRINGS_LEN = LINES_MAX_STRING + 8 };
	static struct {
		struct lines_unit_header header;
		char strings[STRINGS_LEN];
	} image;
	struct lines_unit unit;

	image.header = (struct lines_unit_header){
		.nr_bytes = sizeof(image),
		.strings_len = STRINGS_LEN,
	};
	memset(image.strings + 1, 'x', LINES_MAX_STRING);
	assert_int_equal(lines_unit_parse(&image, sizeof(image), &unit), 0);
	image.strings[LINES_MAX_STRING + 1] = 'x';
	assert_int_equal(lines_unit_parse(&image, sizeof(image), &unit), -EBADMSG);
	image.strings[LINES_MAX_STRING + 1] = '\0';
	image.strings[0] = 'x';
	assert_int_equal(lines_unit_parse(&image, sizeof(image), &unit), -EBADMSG);
	image.strings[0] = '\0';
	image.strings[STRINGS_LEN - 1] = 'x';
	assert_int_equal(lines_unit_parse(&image, sizeof(image), &unit), -EBADMSG);
}

static void long_strings_are_truncated(void **state)
{
	(void)state;
	_cleanup_(lines_writer_done) struct lines_writer writer = lines_writer_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	static char name[LINES_MAX_STRING + 10];
	struct lines_unit unit;

	memset(name, 'n', sizeof(name) - 1);
	lines_writer_begin(&writer, BASE);
	lines_writer_add_file(&writer, name);
	lines_writer_add_file(&writer, name);
	assert_int_equal(lines_writer_finish(&writer, 0, LANGUAGE_UNKNOWN, &out), 0);
	assert_int_equal(lines_unit_parse(out.data, out.len, &unit), 0);
	assert_int_equal(strlen(unit.strings + unit.files[0]), LINES_MAX_STRING);
	assert_int_equal(unit.files[0], unit.files[1]);
}

static void a_unit_without_room_leaves_the_answer_unchanged(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf whole = strbuf_with_max(MAX_BYTES);

	make_unit(&whole);
	for (size_t max = 0; max < whole.len; max++) {
		_cleanup_(lines_writer_done) struct lines_writer writer = lines_writer_with_max(
			max);
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(max);

		write_unit(&writer);
		assert_int_equal(lines_writer_finish(&writer, 0, LANGUAGE_GO, &out), -ENOSPC);
		assert_int_equal(out.len, 0);
		assert_int_equal(strbuf_error(&out), 0);
	}
}

static void a_unit_without_content_has_its_ranges(void **state)
{
	(void)state;
	_cleanup_(lines_writer_done) struct lines_writer writer = lines_writer_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	struct lines_unit unit;

	write_unit(&writer);
	assert_int_equal(lines_writer_finish_empty(&writer, 3, true, &out), 0);
	assert_int_equal(lines_unit_parse(out.data, out.len, &unit), 0);
	assert_int_equal(unit.header->is_left_out, 1);
	assert_int_equal(unit.header->nr_ranges, 1);
	assert_int_equal(unit.header->nr_functions, 0);
	assert_int_equal(unit.ranges[0].length, 0x40);
	assert_int_equal(header_of(&out)->number, 3);
}

static void running_out_of_memory_is_reported(void **state)
{
	(void)state;
	bool has_failed = true;

	for (unsigned int n = 1; has_failed; n++) {
		_cleanup_(lines_writer_done) struct lines_writer writer = lines_writer_with_max(
			MAX_BYTES);
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);

		torture_begin(n);
		write_unit(&writer);
		int r = lines_writer_finish(&writer, 0, LANGUAGE_GO, &out);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_at_an_address_are_found),
		cmocka_unit_test(many_rows_are_found),
		cmocka_unit_test(functions_without_a_name_are_left_out),
		cmocka_unit_test(code_too_far_from_the_base_is_left_out),
		cmocka_unit_test(damaged_bytes_lead_nowhere),
		cmocka_unit_test(a_truncated_unit_is_refused),
		cmocka_unit_test(numbers_that_do_not_fit_are_refused),
		cmocka_unit_test(a_function_is_in_one_that_precedes_it),
		cmocka_unit_test(a_mark_has_few_rows),
		cmocka_unit_test(a_string_has_a_longest_length),
		cmocka_unit_test(long_strings_are_truncated),
		cmocka_unit_test(a_unit_without_room_leaves_the_answer_unchanged),
		cmocka_unit_test(a_unit_without_content_has_its_ranges),
		cmocka_unit_test(running_out_of_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
