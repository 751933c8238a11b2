/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/dwarf/lines_table.h"

#include "base/cleanup.h"
#include "symbol/dwarf/lines_writer.h"
#include "torture.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES ((size_t)1 << 20)

/* Appends a unit over [low, high) with a function at `function`. */
static void append_unit(struct strbuf *out, uint64_t low, uint64_t high, uint64_t function,
			const char *name)
{
	_cleanup_(lines_writer_done) struct lines_writer writer = lines_writer_with_max(MAX_BYTES);
	const struct lines_function added = { .caller = LINES_NO_FUNCTION };
	const struct lines_row row = { .line = 3, .function = 1 };
	static const struct lines_row nothing;

	lines_writer_begin(&writer, low);
	lines_writer_add_range(&writer, low, high);
	lines_writer_add_function(&writer, name, &added);
	lines_writer_add_row(&writer, function, &row);
	lines_writer_add_row(&writer, function + 0x10, &nothing);
	assert_int_equal(lines_writer_finish(&writer, (uint32_t)low, LANGUAGE_GO, out), 0);
}

static void append_left_out(struct strbuf *out, uint64_t low, uint64_t high)
{
	_cleanup_(lines_writer_done) struct lines_writer writer = lines_writer_with_max(MAX_BYTES);

	lines_writer_begin(&writer, low);
	lines_writer_add_range(&writer, low, high);
	assert_int_equal(lines_writer_finish_empty(&writer, 1, true, out), 0);
}

static struct lines_added add(struct lines_table *table, const struct strbuf *bytes)
{
	struct lines_added added;

	assert_int_equal(lines_table_add(table, bytes->data, bytes->len, &added), 0);
	return added;
}

static void expect(const struct lines_table *table, uint64_t address, const char *name)
{
	struct symbol_line lines[SYMBOL_MAX_LINES];
	enum symbol_language language = LANGUAGE_UNKNOWN;
	int nr = lines_table_find(table, address, lines, &language);

	if (!name) {
		assert_int_equal(nr, -ENOENT);
		return;
	}
	assert_int_equal(nr, name[0] ? 1 : 0);
	if (nr > 0) {
		assert_string_equal(lines[0].system_name, name);
		assert_int_equal(language, LANGUAGE_GO);
	}
}

static void units_come_one_after_the_other(void **state)
{
	(void)state;
	_cleanup_(lines_table_done) struct lines_table table = { 0 };
	_cleanup_(strbuf_done) struct strbuf first = strbuf_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf second = strbuf_with_max(MAX_BYTES);

	expect(&table, 0x2000, NULL);
	append_unit(&first, 0x2000, 0x3000, 0x2000, "two");
	append_left_out(&first, 0x5000, 0x6000);
	struct lines_added added = add(&table, &first);
	assert_int_equal(added.nr_units, 1);
	assert_int_equal(added.nr_left_out, 1);
	append_unit(&second, 0x1000, 0x2000, 0x1800, "one");
	assert_int_equal(add(&table, &second).nr_units, 1);

	expect(&table, 0xfff, NULL);
	expect(&table, 0x1000, "");
	expect(&table, 0x1800, "one");
	expect(&table, 0x180f, "one");
	expect(&table, 0x1810, "");
	expect(&table, 0x2000, "two");
	expect(&table, 0x2fff, "");
	expect(&table, 0x3000, NULL);
	expect(&table, 0x5800, "");
	assert_int_equal(table.nr_bytes, first.len + second.len);
	assert_true(lines_table_bytes(&table) >= table.nr_bytes);
}

static void of_overlapping_units_the_one_with_lines_counts(void **state)
{
	(void)state;
	_cleanup_(lines_table_done) struct lines_table table = { 0 };
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(MAX_BYTES);

	append_unit(&bytes, 0x1000, 0x9000, 0x8000, "wide");
	append_unit(&bytes, 0x7000, 0x9000, 0x7000, "narrow");
	(void)add(&table, &bytes);
	expect(&table, 0x7000, "narrow");
	expect(&table, 0x8000, "wide");
	expect(&table, 0x8010, "");
}

static void stored_units_can_be_added_again(void **state)
{
	(void)state;
	_cleanup_(lines_table_done) struct lines_table table = { 0 };
	_cleanup_(lines_table_done) struct lines_table again = { 0 };
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(MAX_BYTES);
	struct lines_added added;
	char name[16];

	for (unsigned int i = 0; i < 100; i++) {
		strbuf_clear(&bytes);
		snprintf(name, sizeof(name), "f%u", i);
		append_unit(&bytes, (101 - i) * 0x1000, (102 - i) * 0x1000, (101 - i) * 0x1000,
			    name);
		(void)add(&table, &bytes);
	}
	assert_true(lines_table_is_valid(table.bytes, table.nr_bytes));
	assert_int_equal(lines_table_add(&again, table.bytes, table.nr_bytes, &added), 0);
	assert_int_equal(added.nr_units, 100);
	for (unsigned int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		expect(&again, (101 - i) * 0x1000 + 1, name);
	}
}

static void no_units_are_an_answer_but_nothing_to_keep(void **state)
{
	(void)state;
	_cleanup_(lines_table_done) struct lines_table table = { 0 };
	struct lines_added added;

	assert_int_equal(lines_table_add(&table, NULL, 0, &added), 0);
	assert_int_equal(added.nr_units, 0);
	assert_false(lines_table_is_valid(NULL, 0));
}

static void damaged_units_change_nothing(void **state)
{
	(void)state;
	_cleanup_(lines_table_done) struct lines_table table = { 0 };
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf bad = strbuf_with_max(MAX_BYTES);
	struct lines_added added;

	append_unit(&bytes, 0x2000, 0x3000, 0x2000, "two");
	(void)add(&table, &bytes);
	append_unit(&bad, 0x4000, 0x5000, 0x4000, "four");
	append_unit(&bad, 0x6000, 0x7000, 0x6000, "six");
	for (size_t len = 1; len < bad.len; len++) {
		bool is_whole = len == bad.len / 2;

		assert_int_equal(lines_table_is_valid(bad.data, len), is_whole);
		if (!is_whole)
			assert_int_equal(lines_table_add(&table, bad.data, len, &added), -EBADMSG);
	}
	memset(bad.data + bad.len - 8, 'x', 8);
	assert_int_equal(lines_table_add(&table, bad.data, bad.len, &added), -EBADMSG);
	assert_int_equal(table.nr_bytes, bytes.len);
	expect(&table, 0x2000, "two");
	expect(&table, 0x4000, NULL);
	expect(&table, 0x6000, NULL);
}

static void addresses_at_the_end_of_all_are_found(void **state)
{
	(void)state;
	_cleanup_(lines_table_done) struct lines_table table = { 0 };
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(MAX_BYTES);

	append_unit(&bytes, UINT64_MAX - 0x100, UINT64_MAX, UINT64_MAX - 0x80, "last");
	(void)add(&table, &bytes);
	expect(&table, UINT64_MAX - 0x80, "last");
	expect(&table, UINT64_MAX, NULL);
}

static void running_out_of_memory_leaves_the_table_unchanged(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(MAX_BYTES);
	struct lines_added added;
	bool has_failed = true;

	append_unit(&bytes, 0x2000, 0x3000, 0x2000, "two");
	for (unsigned int n = 1; has_failed; n++) {
		_cleanup_(lines_table_done) struct lines_table table = { 0 };

		torture_begin(n);
		int r = lines_table_add(&table, bytes.data, bytes.len, &added);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		expect(&table, 0x2000, has_failed ? NULL : "two");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_come_one_after_the_other),
		cmocka_unit_test(of_overlapping_units_the_one_with_lines_counts),
		cmocka_unit_test(stored_units_can_be_added_again),
		cmocka_unit_test(no_units_are_an_answer_but_nothing_to_keep),
		cmocka_unit_test(damaged_units_change_nothing),
		cmocka_unit_test(addresses_at_the_end_of_all_are_found),
		cmocka_unit_test(running_out_of_memory_leaves_the_table_unchanged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
