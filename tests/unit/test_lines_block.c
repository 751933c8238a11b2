/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/lines_block.h"

#include "base/cleanup.h"
#include "symbol/lines_writer.h"
#include "torture.h"
#include "unit.h"

#include <stdbool.h>
#include <string.h>

#define MAX_BYTES ((size_t)1 << 20)
#define NR_ADDRESSES 3

/* A block as the worker makes it, small enough to be damaged byte by byte. */
struct image {
	struct lines_block_header header;
	struct lines_block_range ranges[NR_ADDRESSES];
	struct lines_block_line lines[3];
	char strings[20];
};

static const struct image good = {
	.header = { .nr_addresses = NR_ADDRESSES, .nr_lines = 3, .strings_len = 20 },
	.ranges = { { .first = 0, .nr = 2 }, { .first = 2, .nr = 0 }, { .first = 2, .nr = 1 } },
	.lines = {
		{ .name = 1, .filename = 7, .line = 3, .start_line = 1 },
		{ .name = 11, .filename = 7, .line = 9, .start_line = 8, .language = LANGUAGE_GO },
		{ .name = 1, .filename = 0 },
	},
	.strings = "\0inner\0a.c\0outer\0\0\0",
};

static const struct symbol_line inner = {
	.system_name = "inner",
	.filename = "a.c",
	.line = 3,
	.start_line = 1,
};
static const struct symbol_line outer = { .system_name = "outer", .filename = "a.c", .line = 9 };

static void a_whole_block_is_taken_as_it_is(void **state)
{
	(void)state;
	struct lines_block block;

	assert_int_equal(lines_block_parse(&good, sizeof(good), NR_ADDRESSES, &block), 0);
	assert_int_equal(block.nr_lines, 3);
	assert_int_equal(block.ranges[2].first, 2);
	assert_string_equal(block.strings + block.lines[1].name, "outer");
	assert_string_equal(block.strings + block.lines[1].filename, "a.c");
	assert_int_equal(block.lines[1].language, LANGUAGE_GO);
}

static void a_block_of_no_addresses_is_fine(void **state)
{
	(void)state;
	const struct {
		struct lines_block_header header;
		char strings[4];
	} empty = { .header.strings_len = 4 };
	struct lines_block block;

	assert_int_equal(lines_block_parse(&empty, sizeof(empty), 0, &block), 0);
	assert_int_equal(block.nr_lines, 0);
}

static void numbers_that_do_not_fit_are_refused(void **state)
{
	(void)state;
	static const struct {
		size_t offset; /* of a uint32_t */
		uint32_t value;
	} damages[] = {
		{ offsetof(struct image, header.nr_addresses), NR_ADDRESSES + 1 },
		{ offsetof(struct image, header.nr_addresses), 0 },
		{ offsetof(struct image, header.nr_lines), 2 },
		{ offsetof(struct image, header.nr_lines), UINT32_MAX },
		{ offsetof(struct image, header.strings_len), 19 },
		{ offsetof(struct image, header.strings_len), 0 },
		{ offsetof(struct image, header.strings_len), UINT32_MAX },
		{ offsetof(struct image, ranges[0].first), 2 },
		{ offsetof(struct image, ranges[0].first), UINT32_MAX },
		{ offsetof(struct image, ranges[1].first), 4 },
		{ offsetof(struct image, ranges[2].nr), 2 },
		{ offsetof(struct image, ranges[2].nr), UINT32_MAX },
		{ offsetof(struct image, lines[0].name), 0 },
		{ offsetof(struct image, lines[0].name), 6 },
		{ offsetof(struct image, lines[0].name), 20 },
		{ offsetof(struct image, lines[0].name), UINT32_MAX },
		{ offsetof(struct image, lines[1].filename), 20 },
		{ offsetof(struct image, lines[1].language), LANGUAGE_JIT + 1 },
	};

	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		struct image image = good;
		struct lines_block block;

		memcpy((char *)&image + damages[i].offset, &damages[i].value, sizeof(uint32_t));
		assert_int_equal(lines_block_parse(&image, sizeof(image), NR_ADDRESSES, &block),
				 -EBADMSG);
	}
}

/* Many lines may share a string: what each of them costs is bounded. */
static void a_string_has_a_longest_length(void **state)
{
	enum { STRINGS_BYTES = LINES_MAX_STRING + 4 };
	static struct {
		struct lines_block_header header;
		struct lines_block_range range;
		struct lines_block_line line;
		char strings[STRINGS_BYTES];
	} image = {
		.header = { .nr_addresses = 1, .nr_lines = 1, .strings_len = STRINGS_BYTES },
		.range = { .nr = 1 },
	};
	struct lines_block block;
	(void)state;

	memset(image.strings + 1, 'n', STRINGS_BYTES - 2);
	for (uint32_t start = 1; start <= 3; start++) {
		int expected = STRINGS_BYTES - 1 - start <= LINES_MAX_STRING ? 0 : -EBADMSG;

		image.line = (struct lines_block_line){ .name = start };
		assert_int_equal(lines_block_parse(&image, sizeof(image), 1, &block), expected);
		image.line = (struct lines_block_line){ .name = STRINGS_BYTES - 2,
							.filename = start };
		assert_int_equal(lines_block_parse(&image, sizeof(image), 1, &block), expected);
	}
}

static void every_shorter_or_longer_block_is_refused(void **state)
{
	(void)state;
	struct lines_block block;
	struct {
		struct image image;
		uint32_t more;
	} longer = { .image = good };

	for (size_t len = 0; len < sizeof(good); len++)
		assert_int_equal(lines_block_parse(&good, len, NR_ADDRESSES, &block), -EBADMSG);
	assert_int_equal(lines_block_parse(&longer, sizeof(longer), NR_ADDRESSES, &block),
			 -EBADMSG);
}

static void strings_must_begin_and_end_with_nul(void **state)
{
	(void)state;
	struct image image = good;
	struct lines_block block;

	image.strings[19] = 'x';
	assert_int_equal(lines_block_parse(&image, sizeof(image), NR_ADDRESSES, &block), -EBADMSG);
	image = good;
	image.strings[0] = 'x';
	assert_int_equal(lines_block_parse(&image, sizeof(image), NR_ADDRESSES, &block), -EBADMSG);
}

static void a_block_for_more_lines_than_an_address_has_is_refused(void **state)
{
	(void)state;
	static struct {
		struct lines_block_header header;
		struct lines_block_range range;
		struct lines_block_line lines[SYMBOL_MAX_LINES + 1];
		char strings[4];
	} image = {
		.header = { .nr_addresses = 1, .nr_lines = SYMBOL_MAX_LINES + 1, .strings_len = 4 },
		.range = { .nr = SYMBOL_MAX_LINES },
		.strings = "\0ab",
	};
	struct lines_block block;

	for (size_t i = 0; i <= SYMBOL_MAX_LINES; i++)
		image.lines[i].name = 1;
	assert_int_equal(lines_block_parse(&image, sizeof(image), 1, &block), 0);
	image.range.nr++;
	assert_int_equal(lines_block_parse(&image, sizeof(image), 1, &block), -EBADMSG);
}

static void a_block_that_is_not_aligned_is_refused(void **state)
{
	(void)state;
	_Alignas(8) char bytes[sizeof(good) + 1];
	struct lines_block block;

	memcpy(bytes + 1, &good, sizeof(good));
	assert_int_equal(lines_block_parse(bytes + 1, sizeof(good), NR_ADDRESSES, &block),
			 -EBADMSG);
}

/* Two addresses, the second one first. */
static int write_two(struct strbuf *out)
{
	_cleanup_(lines_writer_done) struct lines_writer writer = { 0 };

	int r = lines_writer_init(&writer, 2, out->max);
	if (r < 0)
		return r;
	lines_writer_begin(&writer, 1);
	lines_writer_add(&writer, &outer, LANGUAGE_RUST);
	lines_writer_begin(&writer, 0);
	lines_writer_add(&writer, &inner, LANGUAGE_UNKNOWN);
	lines_writer_add(&writer, &outer, LANGUAGE_UNKNOWN);
	return lines_writer_finish(&writer, out);
}

static void what_is_written_can_be_read(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	struct lines_block block;

	assert_int_equal(write_two(&out), 0);
	assert_int_equal(lines_block_parse(out.data, out.len, 2, &block), 0);
	assert_int_equal(block.ranges[0].nr, 2);
	assert_int_equal(block.ranges[1].nr, 1);

	const struct lines_block_line *line = &block.lines[block.ranges[0].first];
	assert_string_equal(block.strings + line->name, "inner");
	assert_string_equal(block.strings + line->filename, "a.c");
	assert_int_equal(line->line, 3);
	assert_int_equal(line->start_line, 1);
	assert_int_equal(block.lines[block.ranges[1].first].language, LANGUAGE_RUST);
}

static void equal_strings_are_written_once(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	struct lines_block_header header;

	assert_int_equal(write_two(&out), 0);
	memcpy(&header, strbuf_str(&out), sizeof(header));
	assert_int_equal(header.strings_len, sizeof("\0inner\0a.c\0outer"));
}

static void long_strings_are_cut(void **state)
{
	(void)state;
	static char name[2 * LINES_MAX_STRING];
	_cleanup_(lines_writer_done) struct lines_writer writer = { 0 };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	const struct symbol_line line = { .system_name = name, .filename = "" };
	struct lines_block block;

	memset(name, 'x', sizeof(name) - 1);
	assert_int_equal(lines_writer_init(&writer, 1, MAX_BYTES), 0);
	lines_writer_begin(&writer, 0);
	lines_writer_add(&writer, &line, LANGUAGE_UNKNOWN);
	assert_int_equal(lines_writer_finish(&writer, &out), 0);
	assert_int_equal(lines_block_parse(out.data, out.len, 1, &block), 0);
	assert_int_equal(strlen(block.strings + block.lines[0].name), LINES_MAX_STRING);
}

static void no_limit_below_its_size_lets_a_block_through(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf whole = strbuf_with_max(MAX_BYTES);

	assert_int_equal(write_two(&whole), 0);
	for (size_t max = 0; max < whole.len; max++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(max);

		assert_int_equal(write_two(&out), -ENOSPC);
	}

	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(whole.len);
	assert_int_equal(write_two(&out), 0);
}

static void a_line_too_many_for_an_address_is_an_error(void **state)
{
	(void)state;
	_cleanup_(lines_writer_done) struct lines_writer writer = { 0 };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);

	assert_int_equal(lines_writer_init(&writer, 1, MAX_BYTES), 0);
	lines_writer_begin(&writer, 0);
	for (size_t i = 0; i <= SYMBOL_MAX_LINES; i++)
		lines_writer_add(&writer, &inner, LANGUAGE_UNKNOWN);
	assert_int_equal(lines_writer_finish(&writer, &out), -ENOSPC);
	assert_int_equal(strbuf_error(&out), -ENOSPC);
	assert_int_equal(out.len, 0);
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	bool failed = true;

	for (unsigned int n = 1; failed; n++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);

		torture_begin(n);
		int r = write_two(&out);
		failed = torture_end();
		assert_int_equal(r, failed ? -ENOMEM : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_block_is_taken_as_it_is),
		cmocka_unit_test(a_block_of_no_addresses_is_fine),
		cmocka_unit_test(numbers_that_do_not_fit_are_refused),
		cmocka_unit_test(a_string_has_a_longest_length),
		cmocka_unit_test(every_shorter_or_longer_block_is_refused),
		cmocka_unit_test(strings_must_begin_and_end_with_nul),
		cmocka_unit_test(a_block_for_more_lines_than_an_address_has_is_refused),
		cmocka_unit_test(a_block_that_is_not_aligned_is_refused),
		cmocka_unit_test(what_is_written_can_be_read),
		cmocka_unit_test(equal_strings_are_written_once),
		cmocka_unit_test(long_strings_are_cut),
		cmocka_unit_test(no_limit_below_its_size_lets_a_block_through),
		cmocka_unit_test(a_line_too_many_for_an_address_is_an_error),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
