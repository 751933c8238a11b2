/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle tests/oracle/python_lines compares every table of the standard library; here are the
 * corners. */
#include "runtime/cpython/cpython_lines.h"

#include "base/err.h"
#include "unit.h"

#include <stdbool.h>
#include <string.h>

#define MAX_BYTES 24
#define MAX_UNITS 12

struct lines_case {
	int32_t first_line;
	size_t len;
	uint8_t bytes[MAX_BYTES];
	size_t nr_units;
	uint32_t expected[MAX_UNITS];
};

static void check(enum cpython_lines format, const struct lines_case *cases, size_t nr_cases)
{
	for (size_t i = 0; i < nr_cases; i++) {
		const struct cpython_line_table table = {
			.format = format,
			.first_line = cases[i].first_line,
			.bytes = cases[i].bytes,
			.len = cases[i].len,
		};

		for (size_t unit = 0; unit < cases[i].nr_units; unit++)
			assert_int_equal(cpython_lines_find(&table, unit), cases[i].expected[unit]);
	}
}

static void lnotab_says_where_lines_begin(void **state)
{
	(void)state;
	static const struct lines_case cases[] = {
		{ 10, 4, { 2, 1, 4, 2 }, 5, { 10, 11, 11, 13, 13 } },
		/* lines go back */
		{ 10, 4, { 2, 5, 2, 0xff }, 3, { 10, 15, 14 } },
		/* the first line has no code */
		{ 10, 2, { 0, 1 }, 2, { 11, 11 } },
		/* more than 127 lines and 255 bytes need several pairs */
		{ 10, 6, { 0, 127, 0, 127, 2, 46 }, 2, { 264, 310 } },
		{ 10, 4, { 255, 0, 1, 1 }, 2, { 10, 10 } },
		{ 10, 0, { 0 }, 2, { 10, 10 } },
		/* half a pair */
		{ 10, 1, { 0 }, 2, { 10, 10 } },
		{ 10, 3, { 2, 1, 0 }, 2, { 10, 11 } },
		/* lines that cannot be */
		{ 10, 2, { 2, 0x80 }, 2, { 10, 0 } },
		{ -5, 0, { 0 }, 1, { 0 } },
		{ 0, 0, { 0 }, 1, { 0 } },
		{ INT32_MAX, 2, { 2, 1 }, 2, { INT32_MAX, 0 } },
	};

	check(CPYTHON_LINES_LNOTAB, cases, array_len(cases));
}

static void linetable_says_where_lines_end(void **state)
{
	(void)state;
	static const struct lines_case cases[] = {
		{ 10, 4, { 2, 1, 4, 2 }, 4, { 11, 13, 13, 0 } },
		/* an entry without a line leaves the next one where it would be */
		{ 10, 6, { 2, 1, 2, 0x80, 2, 1 }, 3, { 11, 0, 12 } },
		/* entries without code */
		{ 10, 6, { 0, 127, 0, 127, 2, 1 }, 2, { 265, 0 } },
		{ 10, 4, { 0, 0x80, 2, 1 }, 2, { 11, 0 } },
		{ 10, 4, { 4, 3, 2, 0xff }, 3, { 13, 13, 12 } },
		/* ends at once, or inside a pair */
		{ 10, 0, { 0 }, 2, { 0, 0 } },
		{ 10, 1, { 8 }, 2, { 0, 0 } },
		{ 10, 3, { 2, 1, 8 }, 2, { 11, 0 } },
		/* lines that cannot be */
		{ 10, 2, { 4, 0x81 }, 2, { 0, 0 } },
		{ INT32_MAX, 2, { 4, 1 }, 2, { 0, 0 } },
		{ INT32_MIN, 2, { 4, 0x81 }, 2, { 0, 0 } },
	};

	check(CPYTHON_LINES_LINETABLE, cases, array_len(cases));
}

static void locations_say_how_long_a_line_is(void **state)
{
	(void)state;
	static const struct lines_case cases[] = {
		/* A closure that 3.11 made: units without a place, of the first line, of
		 * the next one, and with all numbers. */
		{ 1,
		  11,
		  { 0xf8, 0x80, 0x00, 0xd8, 0x08, 0x09, 0xf0, 0x02, 0x02, 0x01, 0x05 },
		  5,
		  { 0, 1, 2, 3, 0 } },
		/* Eight units of one entry. */
		{ 10, 2, { 0x87, 0x00 }, 9, { 10, 10, 10, 10, 10, 10, 10, 10, 0 } },
		/* Without columns: 3 lines on, then 2 lines back. */
		{ 10, 4, { 0xe8, 0x06, 0xe8, 0x05 }, 3, { 13, 11, 0 } },
		/* A delta of two and of three bytes. */
		{ 10, 6, { 0xe8, 0x40, 0x02, 0xe8, 0x41, 0x02 }, 3, { 74, 10, 0 } },
		{ 10, 4, { 0xe8, 0x40, 0x40, 0x01 }, 1, { 2058 } },
		/* An entry without a place does not change the line. */
		{ 10, 4, { 0xe8, 0x02, 0xf8, 0xe0 }, 2, { 11, 0 } },
		{ 10, 5, { 0xe8, 0x02, 0xf8, 0xe8, 0x02 }, 3, { 11, 0, 12 } },
		/* ends at once, and inside an entry */
		{ 10, 0, { 0 }, 2, { 0, 0 } },
		{ 10, 1, { 0xe8 }, 2, { 10, 0 } },
		{ 10, 2, { 0xe8, 0x42 }, 2, { 11, 0 } },
		{ 10, 1, { 0x80 }, 2, { 10, 0 } },
		/* bytes that begin nothing */
		{ 10, 3, { 0x00, 0x01, 0x02 }, 2, { 10, 0 } },
		{ 10, 4, { 0x80, 0x7f, 0x7f, 0x7f }, 2, { 10, 0 } },
		/* a number that does not end */
		{ 10, 9, { 0xe8, 0x7e, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f }, 2, { 0, 0 } },
		{ 10, 9, { 0xe8, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f }, 2, { 0, 0 } },
		/* lines that cannot be */
		{ 10, 2, { 0xe8, 0x15 }, 1, { 0 } },
		{ INT32_MAX, 2, { 0xe8, 0x02 }, 1, { 0 } },
	};

	check(CPYTHON_LINES_LOCATIONS, cases, array_len(cases));
}

static void no_position_is_too_large(void **state)
{
	(void)state;
	static const uint8_t bytes[] = { 2, 1, 0xf8 };

	for (int format = 0; format < CPYTHON_NR_LINES; format++) {
		const struct cpython_line_table table = { (enum cpython_lines)format, 10, bytes,
							  sizeof(bytes) };
		bool is_lnotab = format == CPYTHON_LINES_LNOTAB;

		assert_int_equal(cpython_lines_find(&table, 1ULL << 39), is_lnotab ? 11 : 0);
		assert_int_equal(cpython_lines_find(&table, INT64_MAX), is_lnotab ? 11 : 0);
	}
}

static void an_unknown_format_has_no_lines(void **state)
{
	(void)state;
	static const uint8_t bytes[] = { 2, 1 };
	const struct cpython_line_table table = { CPYTHON_NR_LINES, 10, bytes, sizeof(bytes) };

	assert_int_equal(cpython_lines_find(&table, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lnotab_says_where_lines_begin),
		cmocka_unit_test(linetable_says_where_lines_end),
		cmocka_unit_test(locations_say_how_long_a_line_is),
		cmocka_unit_test(no_position_is_too_large),
		cmocka_unit_test(an_unknown_format_has_no_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
