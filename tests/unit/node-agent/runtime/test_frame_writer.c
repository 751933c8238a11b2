/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/frame_writer.h"

#include "base/cleanup.h"
#include "unit.h"

#include <stdbool.h>
#include <string.h>

#define OUT_MAX_BYTES ((size_t)1 << 20)
#define HEAD_BYTES (4 * sizeof(uint32_t))

static struct runtime_line line_of(const char *name, const char *filename)
{
	return (struct runtime_line){
		.name = name,
		.filename = filename,
		.name_len = strlen(name),
		.filename_len = filename ? strlen(filename) : 0,
	};
}

static struct frame_reader reader_of(const struct strbuf *out)
{
	return (struct frame_reader){ .bytes = strbuf_str(out), .len = out->len };
}

static void assert_text(const char *text, size_t len, const char *expected)
{
	assert_int_equal(len, strlen(expected));
	assert_memory_equal(text, expected, len);
}

static void a_frame_is_read_as_it_was_written(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);
	struct frame_writer writer = { .out = &out };
	struct runtime_line line = line_of("größe", "/app/a.py");
	struct runtime_line read;
	uint32_t nr_lines = 7;

	line.line = 12;
	line.start_line = 10;
	frame_writer_begin(&writer);
	frame_writer_begin(&writer);
	frame_writer_add(&writer, &line);
	line = line_of("outer", NULL);
	frame_writer_add(&writer, &line);
	assert_int_equal(strbuf_error(&out), 0);

	struct frame_reader reader = reader_of(&out);
	assert_int_equal(frame_reader_next(&reader, &nr_lines), 0);
	assert_int_equal(nr_lines, 0);
	assert_int_equal(frame_reader_next(&reader, &nr_lines), 0);
	assert_int_equal(nr_lines, 2);
	assert_int_equal(frame_reader_line(&reader, &read), 0);
	assert_text(read.name, read.name_len, "größe");
	assert_text(read.filename, read.filename_len, "/app/a.py");
	assert_int_equal(read.line, 12);
	assert_int_equal(read.start_line, 10);
	assert_int_equal(frame_reader_line(&reader, &read), 0);
	assert_text(read.name, read.name_len, "outer");
	assert_text(read.filename, read.filename_len, "");
	assert_int_equal(reader.position, out.len);
}

static void lines_can_be_dropped_again(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);
	struct frame_writer writer = { .out = &out };
	const struct runtime_line line = line_of("f", "a.py");
	uint32_t nr_lines = 7;

	frame_writer_begin(&writer);
	frame_writer_add(&writer, &line);
	frame_writer_add(&writer, &line);
	frame_writer_drop(&writer);
	assert_int_equal(out.len, sizeof(nr_lines));

	struct frame_reader reader = reader_of(&out);
	assert_int_equal(frame_reader_next(&reader, &nr_lines), 0);
	assert_int_equal(nr_lines, 0);
}

static void a_frame_has_a_limited_number_of_lines(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);
	struct frame_writer writer = { .out = &out };
	const struct runtime_line line = line_of("f", "a.py");
	uint32_t nr_lines;

	frame_writer_begin(&writer);
	for (int i = 0; i < RUNTIME_MAX_LINES + 5; i++)
		frame_writer_add(&writer, &line);

	struct frame_reader reader = reader_of(&out);
	assert_int_equal(frame_reader_next(&reader, &nr_lines), 0);
	assert_int_equal(nr_lines, RUNTIME_MAX_LINES);
	for (uint32_t i = 0; i < nr_lines; i++) {
		struct runtime_line read;

		assert_int_equal(frame_reader_line(&reader, &read), 0);
	}
	assert_int_equal(reader.position, out.len);
}

static void bytes_that_are_no_text_are_replaced(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t len;
		const char *expected;
	} cases[] = {
		{ "plain", 5, "plain" },
		{ "\xf0\x9f\x94\xa5", 4, "\xf0\x9f\x94\xa5" },
		{ "a\0b", 3,
		  "a\xef\xbf\xbd"
		  "b" },
		{ "a\nb", 3,
		  "a\xef\xbf\xbd"
		  "b" },
		{ "\x7f", 1, "\xef\xbf\xbd" },
		{ "\xc2\x9b!", 3, "\xef\xbf\xbd!" },
		{ "\xc2\xa0", 2, "\xc2\xa0" },
		{ "\xff\xfe", 2, "\xef\xbf\xbd\xef\xbf\xbd" },
		/* the text ends inside a character, which goes on behind its end */
		{ "ab\xc3\xa9", 3, "ab\xef\xbf\xbd" },
		{ "\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);
		struct frame_writer writer = { .out = &out };
		const struct runtime_line line = { .name = cases[i].text,
						   .name_len = cases[i].len };
		struct runtime_line read;
		uint32_t nr_lines;

		frame_writer_begin(&writer);
		frame_writer_add(&writer, &line);
		struct frame_reader reader = reader_of(&out);
		assert_int_equal(frame_reader_next(&reader, &nr_lines), 0);
		assert_int_equal(frame_reader_line(&reader, &read), 0);
		assert_text(read.name, read.name_len, cases[i].expected);
	}
}

/* Writes a name and reads its length back. */
static size_t len_of_written(const char *name, size_t len, char *to)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);
	struct frame_writer writer = { .out = &out };
	const struct runtime_line line = { .name = name, .name_len = len };
	struct runtime_line read;
	uint32_t nr_lines;

	frame_writer_begin(&writer);
	frame_writer_add(&writer, &line);
	struct frame_reader reader = reader_of(&out);
	assert_int_equal(frame_reader_next(&reader, &nr_lines), 0);
	assert_int_equal(frame_reader_line(&reader, &read), 0);
	memcpy(to, read.name, read.name_len);
	return read.name_len;
}

static void long_texts_are_cut_between_two_characters(void **state)
{
	(void)state;
	static const char euro[] = { '\xe2', '\x82', '\xac' };
	char name[2 * RUNTIME_NAME_MAX_BYTES];
	char written[RUNTIME_NAME_MAX_BYTES];

	memset(name, 'x', sizeof(name));
	assert_int_equal(len_of_written(name, RUNTIME_NAME_MAX_BYTES, written),
			 RUNTIME_NAME_MAX_BYTES);
	assert_memory_equal(written, name, sizeof(written));

	assert_int_equal(len_of_written(name, RUNTIME_NAME_MAX_BYTES + 1, written),
			 RUNTIME_NAME_MAX_BYTES);
	assert_memory_equal(written + RUNTIME_NAME_MAX_BYTES - 4, "x\xe2\x80\xa6", 4);

	for (size_t i = 0; i + 3 <= sizeof(name); i += 3)
		memcpy(name + i, euro, sizeof(euro));
	/* 340 characters of three bytes fit before "…" */
	assert_int_equal(len_of_written(name, sizeof(name) - sizeof(name) % 3, written), 1023);
	assert_memory_equal(written + 1017, "\xe2\x82\xac\xe2\x80\xa6", 6);
}

static void a_full_buffer_keeps_its_failure(void **state)
{
	(void)state;
	for (size_t max = 0; max < sizeof(uint32_t) + HEAD_BYTES + 5; max++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(max);
		struct frame_writer writer = { .out = &out };
		const struct runtime_line line = line_of("f", "a.py");

		frame_writer_begin(&writer);
		frame_writer_add(&writer, &line);
		frame_writer_add(&writer, &line);
		assert_int_equal(strbuf_error(&out), -ENOSPC);
		frame_writer_drop(&writer);
		assert_int_equal(strbuf_error(&out), -ENOSPC);
	}
}

struct raw_line {
	uint32_t nr_lines, line, start_line, name_len, filename_len;
	char texts[8];
};

static void damaged_frames_are_refused(void **state)
{
	(void)state;
	static const struct {
		struct raw_line raw;
		size_t len;
		bool is_valid;
	} cases[] = {
		{ { 1, 5, 4, 3, 5, "onea.pyx" }, 28, true },
		{ { 1, 5, 4, 0, 0, "" }, 20, true },
		{ { 1, 5, 4, 3, 5, "onea.pyx" }, 27, false },
		{ { 1, 5, 4, 3, 5, "onea.pyx" }, 19, false },
		{ { 1, 5, 4, 3, 5, "onea.pyx" }, 3, false },
		{ { 1, 5, 4, 3, 5, "onea.pyx" }, 4, false },
		{ { RUNTIME_MAX_LINES + 1, 5, 4, 0, 0, "" }, 20, false },
		{ { UINT32_MAX, 5, 4, 0, 0, "" }, 20, false },
		{ { 1, 5, 4, UINT32_MAX, 5, "onea.pyx" }, 28, false },
		{ { 1, 5, 4, 3, UINT32_MAX, "onea.pyx" }, 28, false },
		{ { 1, 5, 4, 3, 5, "o\0ea.pyx" }, 28, false },
		{ { 1, 5, 4, 3, 5, "onea\n.py" }, 28, false },
		{ { 1, 5, 4, 3, 5, "on\xc3\xa9.pyx" }, 28, false },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		struct frame_reader reader = { .bytes = (const char *)&cases[i].raw,
					       .len = cases[i].len };
		struct runtime_line read;
		uint32_t nr_lines;

		bool is_valid = frame_reader_next(&reader, &nr_lines) == 0 &&
				frame_reader_line(&reader, &read) == 0;
		assert_int_equal(is_valid, cases[i].is_valid);
	}
}

static void texts_beyond_their_limit_are_refused(void **state)
{
	(void)state;
	static char bytes[HEAD_BYTES + RUNTIME_FILE_MAX_BYTES + 1];
	static const struct {
		uint32_t name_len, filename_len;
		int result;
	} cases[] = {
		{ RUNTIME_NAME_MAX_BYTES, 0, 0 },
		{ 0, RUNTIME_FILE_MAX_BYTES, 0 },
		{ RUNTIME_NAME_MAX_BYTES + 1, 0, -EBADMSG },
		{ 0, RUNTIME_FILE_MAX_BYTES + 1, -EBADMSG },
	};

	memset(bytes, 'x', sizeof(bytes));
	for (size_t i = 0; i < array_len(cases); i++) {
		const uint32_t head[] = { 1, 1, cases[i].name_len, cases[i].filename_len };
		struct frame_reader reader = { .bytes = bytes, .len = sizeof(bytes) };
		struct runtime_line read;

		memcpy(bytes, head, sizeof(head));
		assert_int_equal(frame_reader_line(&reader, &read), cases[i].result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_is_read_as_it_was_written),
		cmocka_unit_test(lines_can_be_dropped_again),
		cmocka_unit_test(a_frame_has_a_limited_number_of_lines),
		cmocka_unit_test(bytes_that_are_no_text_are_replaced),
		cmocka_unit_test(long_texts_are_cut_between_two_characters),
		cmocka_unit_test(a_full_buffer_keeps_its_failure),
		cmocka_unit_test(damaged_frames_are_refused),
		cmocka_unit_test(texts_beyond_their_limit_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
