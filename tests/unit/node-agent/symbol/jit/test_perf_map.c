/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/jit/perf_map.h"

#include "base/cleanup.h"
#include "jit_fixture.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define MAX_BYTES ((size_t)16 << 20)

static struct jit_functions *make(void)
{
	struct jit_functions *functions = NULL;

	assert_int_equal(jit_functions_new(MAX_BYTES, &functions), 0);
	return functions;
}

static struct jit_writer make_writer(void)
{
	struct jit_writer writer;

	jit_writer_init(&writer, MAX_BYTES, false);
	return writer;
}

/* Feeds a piece and adds its functions. */
static size_t feed(struct perf_map_reader *reader, const char *data, size_t len,
		   struct jit_writer *writer, struct jit_functions *functions)
{
	size_t done = perf_map_feed(reader, data, len, writer);

	jit_fixture_add(writer, functions);
	return done;
}

static const char *name_at(struct jit_functions *functions, uint64_t address)
{
	struct jit_found found;

	assert_int_equal(jit_functions_settle(functions), 0);
	return jit_functions_find(functions, address, &found) ? found.name : "";
}

/* Feeds a whole line to a writer of its own. */
static struct jit_writer feed_line(const char *line, size_t len)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);
	struct perf_map_reader reader = { 0 };
	struct jit_writer writer = make_writer();

	strbuf_append(&text, line, len);
	strbuf_append_char(&text, '\n');
	assert_int_equal(perf_map_feed(&reader, text.data, text.len, &writer), text.len);
	return writer;
}

static void lines_of_every_writer_are_read(void **state)
{
	static const struct {
		const char *text;
		uint64_t address, nr_bytes;
		const char *name;
	} lines[] = {
		{ "7ff73b7c6900 440 JS:*bar /tmp/app.js:2:16", 0x7ff73b7c6900, 0x440,
		  "JS:*bar /tmp/app.js:2:16" },
		{ "0x00007f0ec8eca020 0x0000000000000318 double Hot$Inner.bar(int)", 0x7f0ec8eca020,
		  0x318, "double Hot$Inner.bar(int)" },
		{ "0XABC 0Xd name", 0xabc, 0xd, "name" },
		{ "FF 1 x", 0xff, 1, "x" },
		{ "1 2  leading blank", 1, 2, " leading blank" },
		{ "1 2 \xff\xfe bytes", 1, 2, "\xff\xfe bytes" },
		{ "fffffffffffffffe 1 x", UINT64_MAX - 1, 1, "x" },
	};

	(void)state;
	for (size_t i = 0; i < array_len(lines); i++) {
		_cleanup_(jit_writer_done) struct jit_writer writer = feed_line(
			lines[i].text, strlen(lines[i].text));
		struct jit_block_code code;

		assert_int_equal(writer.nr_bad, 0);
		assert_int_equal(writer.codes.len, sizeof(code));
		memcpy(&code, writer.codes.data, sizeof(code));
		assert_int_equal(code.address, lines[i].address);
		assert_int_equal(code.nr_bytes, lines[i].nr_bytes);
		assert_string_equal(writer.strings.data + code.name, lines[i].name);
	}
}

static void expect_malformed(const char *line, size_t len)
{
	_cleanup_(jit_writer_done) struct jit_writer writer = feed_line(line, len);

	assert_int_equal(writer.nr_bad, 1);
	assert_int_equal(writer.codes.len, 0);
}

static void malformed_lines_are_not_read(void **state)
{
	static const char *const lines[] = {
		"",
		" ",
		"name",
		"1",
		"1 ",
		"1 2",
		"1 2 ",
		"1  2 name",
		" 1 2 name",
		"1\t2\tname",
		"g 2 name",
		"1 g name",
		"-1 2 name",
		"1 -2 name",
		"0x 2 name",
		"0x0x1 2 name",
		"1, 2 name",
		"10000000000000000 2 name",
		"1 10000000000000000 name",
		"0 0 empty",
		"ffffffffffffffff ffffffffffffffff wraps",
	};

	(void)state;
	for (size_t i = 0; i < array_len(lines); i++)
		expect_malformed(lines[i], strlen(lines[i]));
	expect_malformed("1 2 na\0"
			 "me",
			 9);
	expect_malformed("1 2 \0", 5);
}

static void bad_lines_are_counted_between_good_ones(void **state)
{
	static const char text[] = "1000 10 first\n"
				   "garbage\n"
				   "\n"
				   "2000 0 empty\n"
				   "ffffffffffffff00 200 wraps\n"
				   "3000 ffffffffffffffff wraps\n"
				   "4000 10 last\n";
	_cleanup_(jit_functions_freep) struct jit_functions *functions = make();
	_cleanup_(jit_writer_done) struct jit_writer writer = make_writer();
	struct perf_map_reader reader = { 0 };

	(void)state;
	assert_int_equal(feed(&reader, text, sizeof(text) - 1, &writer, functions),
			 sizeof(text) - 1);
	assert_int_equal(writer.nr_bad, 5);
	assert_string_equal(name_at(functions, 0x100f), "first");
	assert_string_equal(name_at(functions, 0x4000), "last");
	assert_string_equal(name_at(functions, 0x3000), "");
	assert_int_equal(jit_functions_count(functions), 2);
}

static void an_incomplete_line_is_left_for_later(void **state)
{
	static const char text[] = "1000 10 one\n2000 10 two\n3000 10 thr";
	_cleanup_(jit_functions_freep) struct jit_functions *functions = make();
	_cleanup_(jit_writer_done) struct jit_writer writer = make_writer();
	struct perf_map_reader reader = { 0 };

	(void)state;
	assert_int_equal(feed(&reader, text, strlen(text), &writer, functions), 24);
	assert_string_equal(name_at(functions, 0x3000), "");
	assert_int_equal(feed(&reader, "3000 10 three\n", 14, &writer, functions), 14);
	assert_string_equal(name_at(functions, 0x3000), "three");
	assert_int_equal(feed(&reader, "", 0, &writer, functions), 0);
	assert_int_equal(writer.nr_bad, 0);
}

/* The result does not depend on the size of the pieces. */
static void a_long_line_is_truncated_in_pieces_of_any_size(void **state)
{
	enum { LONG = 3 * PERF_MAP_MAX_LINE_BYTES };
	static char text[LONG + 64];
	size_t head = (size_t)snprintf(text, sizeof(text), "1000 10 ");

	(void)state;
	memset(text + head, 'x', LONG);
	memcpy(text + head + LONG, "\n2000 10 next\n", 15);
	size_t len = head + LONG + 14;
	for (size_t piece = PERF_MAP_MAX_LINE_BYTES; piece < len + 64; piece += 101) {
		_cleanup_(jit_functions_freep) struct jit_functions *functions = make();
		_cleanup_(jit_writer_done) struct jit_writer writer = make_writer();
		struct perf_map_reader reader = { 0 };

		for (size_t at = 0; at < len;) {
			size_t n = len - at < piece ? len - at : piece;
			size_t done = feed(&reader, text + at, n, &writer, functions);

			assert_true(done > 0);
			at += done;
		}
		assert_int_equal(strlen(name_at(functions, 0x1000)),
				 PERF_MAP_MAX_LINE_BYTES - head);
		assert_string_equal(name_at(functions, 0x2000), "next");
		assert_int_equal(writer.nr_bad, 0);
	}
}

static void binary_garbage_is_one_bad_line_after_the_other(void **state)
{
	_cleanup_(jit_functions_freep) struct jit_functions *functions = make();
	_cleanup_(jit_writer_done) struct jit_writer writer = make_writer();
	struct perf_map_reader reader = { 0 };
	char text[20000];

	(void)state;
	srand(1);
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)rand();
	assert_true(feed(&reader, text, sizeof(text), &writer, functions) > 0);
	assert_true(writer.nr_bad > 10);
	assert_int_equal(jit_functions_count(functions), 0);
}

static void a_full_writer_leaves_the_rest(void **state)
{
	enum { NR = 1000 };
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);
	_cleanup_(jit_functions_freep) struct jit_functions *functions = make();
	_cleanup_(jit_writer_done) struct jit_writer writer;
	struct perf_map_reader reader = { 0 };
	unsigned int nr_goes = 0;

	(void)state;
	jit_writer_init(&writer, 16 << 10, false);
	for (int i = 1; i <= NR; i++)
		strbuf_appendf(&text, "%x 10 function number %d\n", i * 16, i);
	for (size_t at = 0; at < text.len; nr_goes++) {
		size_t done = feed(&reader, text.data + at, text.len - at, &writer, functions);

		assert_true(done > 0);
		at += done;
	}
	assert_in_range(nr_goes, 5, 20);
	assert_int_equal(writer.nr_bad, 0);
	for (uint64_t i = 1; i <= NR; i++)
		assert_string_not_equal(name_at(functions, i * 16), "");
	assert_int_equal(jit_functions_count(functions), NR);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_every_writer_are_read),
		cmocka_unit_test(malformed_lines_are_not_read),
		cmocka_unit_test(bad_lines_are_counted_between_good_ones),
		cmocka_unit_test(an_incomplete_line_is_left_for_later),
		cmocka_unit_test(a_long_line_is_truncated_in_pieces_of_any_size),
		cmocka_unit_test(binary_garbage_is_one_bad_line_after_the_other),
		cmocka_unit_test(a_full_writer_leaves_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
