/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "store/block.h"
#include "unit.h"

#include <string.h>

#define MAX_BYTES ((size_t)1 << 20)
#define MAX_ROWS 1000
#define LIMIT 1000 /* of label sets and nodes */

/* Rows that a visitor got. */
struct got {
	struct block_row rows[MAX_ROWS];
	size_t nr;
	uint32_t only; /* label set that is wanted; UINT32_MAX: all */
	int error; /* that visit() returns */
	bool joins_seconds;
};

static bool wants(uint32_t labels, void *data)
{
	const struct got *got = data;

	return got->only == UINT32_MAX || got->only == labels;
}

static int visit(const struct block_row *row, void *data)
{
	struct got *got = data;

	if (got->error)
		return got->error;
	assert_true(got->nr < MAX_ROWS);
	got->rows[got->nr++] = *row;
	return 0;
}

static int decode(const void *bytes, size_t len, struct got *got)
{
	const struct block_visitor visitor = { wants, visit, got, got->joins_seconds };

	got->nr = 0;
	return block_decode(bytes, len, LIMIT, LIMIT, &visitor);
}

static void assert_rows(const struct got *got, const struct block_row *rows, size_t nr)
{
	assert_int_equal(got->nr, nr);
	for (size_t i = 0; i < nr; i++) {
		assert_int_equal(got->rows[i].labels, rows[i].labels);
		assert_int_equal(got->rows[i].node, rows[i].node);
		assert_int_equal(got->rows[i].second, rows[i].second);
		assert_int_equal(got->rows[i].value, rows[i].value);
	}
}

static void rows_come_back_sorted_and_joined(void **state)
{
	(void)state;
	struct block_row rows[] = {
		{ 7, 3, 59, 1 },
		{ 7, 3, 0, 2 },
		{ 0, 0, 0, 1 },
		{ 7, 3, 59, 4 },
		{ 999, 999, 3, UINT64_MAX },
		{ 7, 1, 5, 1 },
	};
	const struct block_row expected[] = {
		{ 0, 0, 0, 1 },
		{ 7, 1, 5, 1 },
		{ 7, 3, 0, 2 },
		{ 7, 3, 59, 5 },
		{ 999, 999, 3, UINT64_MAX },
	};
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	struct got got = { .only = UINT32_MAX };

	size_t nr = block_sort(rows, array_len(rows));
	assert_int_equal(nr, array_len(expected));
	block_encode(rows, nr, &out);
	assert_int_equal(strbuf_error(&out), 0);
	assert_int_equal(decode(out.data, out.len, &got), 0);
	assert_rows(&got, expected, array_len(expected));

	got.only = 7;
	assert_int_equal(decode(out.data, out.len, &got), 0);
	assert_rows(&got, expected + 1, 3);
}

static void the_seconds_of_a_stack_are_joined_if_asked_for(void **state)
{
	(void)state;
	const struct block_row rows[] = {
		{ 0, 5, 1, 300 }, { 0, 5, 2, 1 }, { 0, 5, 59, 1 }, { 0, 6, 3, 4 }, { 9, 5, 0, 7 },
	};
	const struct block_row expected[] = { { 0, 5, 0, 302 }, { 0, 6, 0, 4 }, { 9, 5, 0, 7 } };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	struct got got = { .only = UINT32_MAX, .joins_seconds = true };

	block_encode(rows, array_len(rows), &out);
	assert_int_equal(decode(out.data, out.len, &got), 0);
	assert_rows(&got, expected, array_len(expected));

	got.only = 9;
	assert_int_equal(decode(out.data, out.len, &got), 0);
	assert_rows(&got, expected + 2, 1);

	got.error = -ENOMEM;
	assert_int_equal(decode(out.data, out.len, &got), -ENOMEM);
	got.error = 0;
	for (size_t len = 0; len < out.len; len++)
		assert_int_equal(decode(out.data, len, &got), -EBADMSG);
}

static void no_rows_are_a_block_too(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	struct got got = { .only = UINT32_MAX };

	assert_int_equal(block_sort(NULL, 0), 0);
	block_encode(NULL, 0, &out);
	assert_int_equal(decode(out.data, out.len, &got), 0);
	assert_int_equal(got.nr, 0);
}

static void a_visitor_ends_the_reading(void **state)
{
	(void)state;
	struct block_row row = { 1, 2, 3, 4 };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	struct got got = { .only = UINT32_MAX, .error = -ENOMEM };

	block_encode(&row, 1, &out);
	assert_int_equal(decode(out.data, out.len, &got), -ENOMEM);
}

static void damaged_blocks_are_refused(void **state)
{
	(void)state;
	/* Columns: labels, nodes, counts, seconds, values; each with its length before it. */
	static const struct {
		const char *what;
		unsigned char bytes[32];
		size_t len;
	} cases[] = {
		{ "nothing", { 0 }, 0 },
		{ "four columns", { 0, 0, 0, 0 }, 4 },
		{ "a column that is longer than the block", { 9, 0, 0, 0, 0 }, 5 },
		{ "bytes behind the columns", { 0, 0, 0, 0, 0, 1 }, 6 },
		{ "a label set without a number of stacks", { 1, 0, 0, 0, 0, 0 }, 6 },
		{ "a stack that is missing", { 2, 0, 1, 0, 0, 0, 0 }, 7 },
		{ "a node behind the limit", { 2, 0, 1, 2, 0xe8, 0x07, 1, 1, 1, 0, 1, 1 }, 12 },
		{ "a label set behind the limit",
		  { 3, 0xe8, 0x07, 1, 1, 0, 1, 1, 1, 0, 1, 1 },
		  12 },
		{ "a second that is missing", { 2, 0, 1, 1, 0, 1, 1, 0, 1, 1 }, 10 },
		{ "a value that is missing", { 2, 0, 1, 1, 0, 1, 1, 1, 0, 0 }, 10 },
		{ "a node that nobody counts", { 2, 0, 0, 1, 0, 0, 0, 0 }, 8 },
		{ "a value too many", { 2, 0, 1, 1, 0, 1, 1, 1, 0, 2, 1, 1 }, 12 },
		{ "more seconds than there can be",
		  { 2, 0, 1, 1, 0, 1, 1, 5, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 1 },
		  15 },
		{ "a number without an end", { 1, 0x80, 0, 0, 0, 0 }, 6 },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		struct got got = { .only = UINT32_MAX };

		if (decode(cases[i].bytes, cases[i].len, &got) != -EBADMSG)
			fail_msg("%s was taken", cases[i].what);
	}
}

static void every_shortened_block_is_refused(void **state)
{
	(void)state;
	const struct block_row rows[] = { { 1, 2, 3, 4 }, { 1, 2, 5, 1 }, { 2, 300, 0, 500 } };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
	struct got got = { .only = UINT32_MAX };

	block_encode(rows, array_len(rows), &out);
	for (size_t len = 0; len < out.len; len++)
		assert_int_equal(decode(out.data, len, &got), -EBADMSG);
	assert_int_equal(decode(out.data, out.len, &got), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_come_back_sorted_and_joined),
		cmocka_unit_test(the_seconds_of_a_stack_are_joined_if_asked_for),
		cmocka_unit_test(no_rows_are_a_block_too),
		cmocka_unit_test(a_visitor_ends_the_reading),
		cmocka_unit_test(damaged_blocks_are_refused),
		cmocka_unit_test(every_shortened_block_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
