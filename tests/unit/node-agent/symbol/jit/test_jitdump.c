/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/jit/jitdump.h"

#include "base/strbuf.h"
#include "jit_fixture.h"
#include "unit.h"

#include <string.h>

#define MAX_BYTES ((size_t)16 << 20)
#define MAGIC 0x4a695444
#define X86_64 62

enum { LOAD, MOVE, DEBUG_INFO, CLOSE, UNWINDING_INFO };

/* A file that the test writes, and the functions read from it. */
struct dump {
	struct strbuf file;
	struct jitdump_reader reader;
	struct jit_writer writer;
	struct jit_functions *functions;
};

static int setup(void **state)
{
	struct dump *dump = calloc(1, sizeof(*dump));

	jit_writer_init(&dump->writer, MAX_BYTES, false);
	dump->file = strbuf_with_max((size_t)1 << 30);
	assert_int_equal(jit_functions_new(MAX_BYTES, &dump->functions), 0);
	*state = dump;
	return 0;
}

static int teardown(void **state)
{
	struct dump *dump = *state;

	jit_writer_done(&dump->writer);
	strbuf_done(&dump->file);
	jit_functions_free(dump->functions);
	free(dump);
	return 0;
}

static void put32(struct dump *dump, uint32_t value)
{
	strbuf_append(&dump->file, &value, sizeof(value));
}

static void put64(struct dump *dump, uint64_t value)
{
	strbuf_append(&dump->file, &value, sizeof(value));
}

static void put_zeros(struct dump *dump, size_t nr)
{
	memset(strbuf_extend(&dump->file, nr), 0, nr);
}

static void put_header(struct dump *dump)
{
	const uint32_t fields[] = { MAGIC, 1, 40, X86_64, 0, 1 };

	strbuf_append(&dump->file, fields, sizeof(fields));
	put_zeros(dump, 16);
}

static void put_record(struct dump *dump, uint32_t id, size_t body_bytes)
{
	put32(dump, id);
	put32(dump, (uint32_t)(16 + body_bytes));
	put64(dump, 0);
}

static void put_load(struct dump *dump, uint64_t address, uint64_t nr_bytes, const char *name)
{
	put_record(dump, LOAD, 40 + strlen(name) + 1 + nr_bytes);
	put64(dump, 0);
	put64(dump, 0); /* vma, which is ignored */
	put64(dump, address);
	put64(dump, nr_bytes);
	put64(dump, address / 16); /* code_index */
	strbuf_append(&dump->file, name, strlen(name) + 1);
	put_zeros(dump, nr_bytes);
}

static void put_entry(struct dump *dump, uint64_t address, int32_t line, const char *filename)
{
	put64(dump, address);
	put32(dump, (uint32_t)line);
	put32(dump, 0);
	strbuf_append(&dump->file, filename, strlen(filename) + 1);
}

/* Feeds the file in pieces as jit_worker.c does, up to `size`. */
static int64_t read_up_to(struct dump *dump, size_t size, size_t piece)
{
	size_t at = 0;

	while (at < size) {
		size_t n = size - at < piece ? size - at : piece;
		int64_t done = jitdump_feed(&dump->reader, dump->file.data + at, n, size - at,
					    &dump->writer);

		jit_fixture_add(&dump->writer, dump->functions);
		if (done < 0)
			return done;
		if (done == 0)
			break;
		at += (size_t)done;
	}
	assert_int_equal(jit_functions_settle(dump->functions), 0);
	return (int64_t)at;
}

static int64_t read_all(struct dump *dump)
{
	return read_up_to(dump, dump->file.len, JITDUMP_MIN_PIECE_BYTES);
}

static const char *name_at(const struct dump *dump, uint64_t address)
{
	struct jit_found found;

	return jit_functions_find(dump->functions, address, &found) ? found.name : "";
}

static uint32_t line_at(const struct dump *dump, uint64_t address, const char *filename)
{
	struct jit_found found;

	assert_true(jit_functions_find(dump->functions, address, &found));
	assert_string_equal(found.filename, filename);
	return found.line;
}

static void code_is_loaded_and_moved(void **state)
{
	struct dump *dump = *state;

	put_header(dump);
	put_load(dump, 0x1000, 0x20, "one");
	put_record(dump, UNWINDING_INFO, 48);
	put_zeros(dump, 48);
	put_load(dump, 0x2000, 20000, "big");
	put_load(dump, 0x3000, 0, "without code");
	put_record(dump, MOVE, 48);
	put64(dump, 0);
	put64(dump, 0);
	put64(dump, 0x1000);
	put64(dump, 0x9000);
	put64(dump, 0x20);
	put64(dump, 0x100);
	put_record(dump, 77, 8); /* of a future version */
	put64(dump, 0);
	put_record(dump, CLOSE, 0);
	put_load(dump, 0x1010, 0x20, "over it");

	assert_int_equal(read_all(dump), dump->file.len);
	assert_int_equal(dump->writer.nr_bad, 0);
	assert_string_equal(name_at(dump, 0x100f), "one");
	assert_string_equal(name_at(dump, 0x1010), "over it");
	assert_string_equal(name_at(dump, 0x2000 + 19999), "big");
	assert_string_equal(name_at(dump, 0x901f), "one");
}

static void lines_belong_to_the_code_after_them(void **state)
{
	struct dump *dump = *state;

	put_header(dump);
	put_record(dump, DEBUG_INFO, 16 + 3 * 16 + 5 + 2 + 5 + 3);
	put64(dump, 0x1000);
	put64(dump, 3);
	put_entry(dump, 0x1000, 10, "a.js");
	put_entry(dump, 0x1008, 11, "\xff");
	put_entry(dump, 0x1010, 7, "b.js");
	put_zeros(dump, 3); /* padding */
	put_record(dump, UNWINDING_INFO, 0);
	put_load(dump, 0x1000, 0x20, "f");
	put_load(dump, 0x2000, 0x20, "g");
	assert_int_equal(read_all(dump), dump->file.len);
	assert_int_equal(line_at(dump, 0x1000, "a.js"), 10);
	assert_int_equal(line_at(dump, 0x100f, "a.js"), 11);
	assert_int_equal(line_at(dump, 0x101f, "b.js"), 7);
	assert_int_equal(line_at(dump, 0x2000, ""), 0);
	assert_int_equal(dump->writer.nr_bad, 0);
}

static void lines_of_other_code_are_forgotten(void **state)
{
	struct dump *dump = *state;

	put_header(dump);
	for (uint64_t address = 0x5000; address <= 0x6000; address += 0x1000) {
		put_record(dump, DEBUG_INFO, 16 + 16 + 5);
		put64(dump, address);
		put64(dump, 1);
		put_entry(dump, address, 10, "a.js");
	}
	put_load(dump, 0x1000, 0x20, "f");
	put_load(dump, 0x6000, 0x20, "g");
	assert_int_equal(read_all(dump), dump->file.len);
	assert_int_equal(line_at(dump, 0x1000, ""), 0);
	assert_int_equal(line_at(dump, 0x6000, ""), 0);
}

static void v8s_lines_are_corrected(void **state)
{
	struct dump *dump = *state;

	put_header(dump);
	put_record(dump, DEBUG_INFO, 16 + 2 * (16 + 5));
	put64(dump, 0x1000);
	put64(dump, 2);
	put_entry(dump, 0x1040, 10, "a.js");
	put_entry(dump, 0x1050, 11, "a.js");
	put_load(dump, 0x1000, 0x20, "JS:*f a.js:9:1");
	assert_int_equal(read_all(dump), dump->file.len);
	assert_int_equal(line_at(dump, 0x1000, "a.js"), 10);
	assert_int_equal(line_at(dump, 0x1010, "a.js"), 11);
}

/* V8 of Node.js 20 writes such filenames now and then. */
static void lines_with_damaged_file_names_are_left_out(void **state)
{
	struct dump *dump = *state;

	put_header(dump);
	put_record(dump, DEBUG_INFO, 16 + 2 * (16 + 12));
	put64(dump, 0x1000);
	put64(dump, 2);
	for (int i = 0; i < 2; i++) {
		put64(dump, 0x1040);
		put64(dump, 1);
		strbuf_append(&dump->file, "\xc8\x09\x02\0\0\0\0\0a.js", 12);
	}
	put_load(dump, 0x1000, 0x20, "JS:*f /app/a.js:9:1");
	assert_int_equal(read_all(dump), dump->file.len);
	assert_int_equal(line_at(dump, 0x1000, ""), 0);
	assert_int_equal(dump->writer.nr_bad, 1);
}

static void many_lines_come_in_pieces(void **state)
{
	enum { NR = 5000 };
	struct dump *dump = *state;

	put_header(dump);
	put_record(dump, DEBUG_INFO, 16 + NR * (16 + 5));
	put64(dump, 0x1000);
	put64(dump, NR);
	for (uint32_t i = 0; i < NR; i++)
		put_entry(dump, 0x1000 + i, (int32_t)i + 1, "a.js");
	put_load(dump, 0x1000, NR, "f");
	for (size_t piece = JITDUMP_MIN_PIECE_BYTES; piece < 200000; piece += 9999) {
		dump->reader = (struct jitdump_reader){ 0 };
		assert_int_equal(read_up_to(dump, dump->file.len, piece), dump->file.len);
		assert_int_equal(dump->writer.nr_bad, 0);
		assert_int_equal(line_at(dump, 0x1000 + NR - 1, "a.js"), NR);
	}
}

static void records_are_read_when_they_are_complete(void **state)
{
	struct dump *dump = *state;

	put_header(dump);
	size_t first = dump->file.len;
	put_load(dump, 0x1000, 100, "one");
	size_t second = dump->file.len;
	put_load(dump, 0x2000, 100, "two");
	for (size_t size = 0; size <= dump->file.len; size++) {
		size_t whole = size < 40 ? 0 : size < second ? first : second;

		dump->reader = (struct jitdump_reader){ 0 };
		assert_int_equal(read_up_to(dump, size, JITDUMP_MIN_PIECE_BYTES),
				 size == dump->file.len ? size : whole);
	}
	assert_string_equal(name_at(dump, 0x2000), "two");
}

static void a_long_name_is_truncated(void **state)
{
	static char name[3 * JITDUMP_MAX_NAME_BYTES];
	struct dump *dump = *state;

	memset(name, 'x', sizeof(name) - 1);
	put_header(dump);
	put_load(dump, 0x1000, 10, name);
	put_load(dump, 0x2000, 10, "next");
	assert_int_equal(read_all(dump), dump->file.len);
	assert_int_equal(strlen(name_at(dump, 0x1000)), JITDUMP_MAX_NAME_BYTES);
	assert_string_equal(name_at(dump, 0x2000), "next");
}

static void other_headers_are_refused(void **state)
{
	static const uint32_t headers[][4] = {
		{ 0x4454694a, 1, 40, X86_64 }, /* the other byte order */
		{ 0x4f74496a, 1, 40, X86_64 },
		{ MAGIC, 2, 40, X86_64 },
		{ MAGIC, 1, 39, X86_64 },
		{ MAGIC, 1, 0, X86_64 },
		{ MAGIC, 1, UINT32_MAX, X86_64 },
		{ MAGIC, 1, 40, 3 }, /* 32 bits */
		{ MAGIC, 1, 40, 0 },
	};
	struct dump *dump = *state;

	for (size_t i = 0; i < array_len(headers); i++) {
		strbuf_clear(&dump->file);
		strbuf_append(&dump->file, headers[i], sizeof(headers[i]));
		put_zeros(dump, 100);
		assert_int_equal(read_all(dump), -EBADMSG);
	}
}

static void a_longer_header_is_skipped(void **state)
{
	const uint32_t fields[] = { MAGIC, 1, 48, X86_64, 0, 1 };
	struct dump *dump = *state;

	strbuf_append(&dump->file, fields, sizeof(fields));
	put_zeros(dump, 24);
	put_load(dump, 0x1000, 10, "f");
	assert_int_equal(read_all(dump), dump->file.len);
	assert_string_equal(name_at(dump, 0x1000), "f");
}

static void a_record_shorter_than_its_header_ends_the_reading(void **state)
{
	struct dump *dump = *state;

	put_header(dump);
	put_load(dump, 0x1000, 10, "f");
	put32(dump, LOAD);
	put32(dump, 15);
	put_zeros(dump, 100);
	assert_int_equal(read_all(dump), -EBADMSG);
	assert_int_equal(jit_functions_settle(dump->functions), 0);
	assert_string_equal(name_at(dump, 0x1000), "f");
}

/* Each bad record is followed by a good one. */
static void bad_records_are_counted_and_skipped(void **state)
{
	struct dump *dump = *state;

	put_header(dump);
	for (uint32_t id = LOAD; id <= DEBUG_INFO; id++) {
		put_record(dump, id, 15);
		put_zeros(dump, 15);
	}
	put_record(dump, LOAD, 40 + 4);
	put_zeros(dump, 40);
	strbuf_append(&dump->file, "name", 4); /* not terminated */
	put_load(dump, UINT64_MAX - 4, 10, "wraps");
	put_record(dump, MOVE, 48);
	put_zeros(dump, 48);
	put_record(dump, DEBUG_INFO, 16); /* fewer lines than nr_entry */
	put64(dump, 0x1000);
	put64(dump, UINT64_MAX);
	put_record(dump, DEBUG_INFO, 16 + 16 + 4);
	put64(dump, 0x1000);
	put64(dump, 2);
	put64(dump, 0x1000);
	put64(dump, 1);
	strbuf_append(&dump->file, "name", 4);
	put_record(dump, DEBUG_INFO, 16 + 15);
	put_zeros(dump, 8);
	put64(dump, 1);
	put_zeros(dump, 15);
	put_record(dump, DEBUG_INFO, 16 + 16 + 5);
	put64(dump, 0x1000);
	put64(dump, 2);
	put_entry(dump, 0x1000, 1, "a.js"); /* the only one */
	put_load(dump, 0x1000, 10, "good");
	assert_int_equal(read_all(dump), dump->file.len);
	assert_int_equal(line_at(dump, 0x1000, ""), 0);
	assert_int_equal(dump->writer.nr_bad, 10);
	assert_string_equal(name_at(dump, 0x1000), "good");
}

static void impossible_lines_are_left_out(void **state)
{
	struct dump *dump = *state;

	put_header(dump);
	put_record(dump, DEBUG_INFO, 16 + 4 * (16 + 5));
	put64(dump, 0x1000);
	put64(dump, 4);
	put_entry(dump, 0xfff, 1, "a.js");
	put_entry(dump, UINT64_MAX, 2, "a.js");
	put_entry(dump, 0x1000, 0, "a.js");
	put_entry(dump, 0x1000, -1, "a.js");
	put_load(dump, 0x1000, 10, "f");
	assert_int_equal(read_all(dump), dump->file.len);
	assert_int_equal(line_at(dump, 0x1000, ""), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(code_is_loaded_and_moved),
		TEST(lines_belong_to_the_code_after_them),
		TEST(lines_of_other_code_are_forgotten),
		TEST(v8s_lines_are_corrected),
		TEST(lines_with_damaged_file_names_are_left_out),
		TEST(many_lines_come_in_pieces),
		TEST(records_are_read_when_they_are_complete),
		TEST(a_long_name_is_truncated),
		TEST(other_headers_are_refused),
		TEST(a_longer_header_is_skipped),
		TEST(a_record_shorter_than_its_header_ends_the_reading),
		TEST(bad_records_are_counted_and_skipped),
		TEST(impossible_lines_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
