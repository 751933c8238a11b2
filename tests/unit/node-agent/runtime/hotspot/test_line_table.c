/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/hotspot/line_table.h"

#include "unit.h"

#define UNCHANGED 77

struct lookup {
	const char *bytes;
	uint8_t len;
	int32_t bci;
	int result;
	uint32_t line;
};

#define TABLE(bytes) bytes, sizeof(bytes) - 1

/* bci 0 line 7, bci 3 line 9, bci 10 line 8 by a long pair (+7, -1). */
#define THREE_LINES "\x07\x1a\xff\x0f\x02\x00"

static const struct lookup lookups[] = {
	{ TABLE(THREE_LINES), 0, 0, 7 },
	{ TABLE(THREE_LINES), 2, 0, 7 },
	{ TABLE(THREE_LINES), 3, 0, 9 },
	{ TABLE(THREE_LINES), 9, 0, 9 },
	{ TABLE(THREE_LINES), 10, 0, 8 },
	{ TABLE(THREE_LINES), 65535, 0, 8 },
	/* Pairs that are not sorted: bci 5 line 3, then bci 0 line 4. */
	{ TABLE("\x2b\xff\x0a\x03\x00"), 0, 0, 4 },
	{ TABLE("\x2b\xff\x0a\x03\x00"), 6, 0, 3 },
	/* Nothing is at or before the bci. */
	{ TABLE("\x00"), 0, -ENOENT, UNCHANGED },
	{ TABLE("\x2b\x00"), 4, -ENOENT, UNCHANGED },
	/* The table has no end, or ends within a pair. */
	{ TABLE(""), 0, -EBADMSG, UNCHANGED },
	{ TABLE("\x07"), 0, -EBADMSG, UNCHANGED },
	{ TABLE("\x07\xff"), 0, -EBADMSG, UNCHANGED },
	{ TABLE("\x07\xff\x0f"), 0, -EBADMSG, UNCHANGED },
	{ TABLE("\x07\xff\x0f\xff\xff"), 0, -EBADMSG, UNCHANGED },
	/* Lines that cannot be: 0, -1, 65536. */
	{ TABLE("\x08\x00"), 1, -EBADMSG, UNCHANGED },
	{ TABLE("\xff\x01\x02\x00"), 0, -EBADMSG, UNCHANGED },
	{ TABLE("\xff\x01\xc1\xfd\x1e\x00"), 0, -EBADMSG, UNCHANGED },
};

static void a_line_holds_up_to_the_next_pair(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(lookups); i++) {
		struct line_table table = { .bytes = (const uint8_t *)lookups[i].bytes,
					    .len = lookups[i].len,
					    .nr_excluded = 1 };
		uint32_t line = UNCHANGED;

		assert_int_equal(line_table_find(&table, lookups[i].bci, &line), lookups[i].result);
		assert_int_equal(line, lookups[i].line);
	}
}

static void numbers_that_overflow_are_no_lines(void **state)
{
	/* Twice the largest signed number. */
	static const uint8_t bytes[] = { 0xff, 254, 254, 254, 254, 251, 0, 0xff,
					 254,  254, 254, 254, 251, 0,	0 };
	struct line_table table = { .bytes = bytes, .len = sizeof(bytes) };
	uint32_t line = UNCHANGED;
	(void)state;

	assert_int_equal(line_table_find(&table, 0, &line), -EBADMSG);
	assert_int_equal(line, UNCHANGED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_holds_up_to_the_next_pair),
		cmocka_unit_test(numbers_that_overflow_are_no_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
