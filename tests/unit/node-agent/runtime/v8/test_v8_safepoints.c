/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_safepoints.h"

#include "base/err.h"
#include "unit.h"

#include <string.h>

/* Return addresses of two bytes, indexes and registers of one. */
#define CONFIGURATION 0xa3, 0, 0, 0

static const uint8_t table[] = {
	/* slots, entries, configuration, tagged slots */
	7, 0, 0, 0, 3, 0, 0, 0, CONFIGURATION, 2, 0, 0, 0,
	/* 0x110: nothing */
	0x10, 1, 0, 0, 0, 0, 0,
	/* 0x120: 4, or 0x300 */
	0x20, 1, 5, 1, 3, 0, 0,
	/* 0x130: 5, or 0x304 */
	0x30, 1, 6, 5, 3, 1, 1
};

static void calls_have_an_index(void **state)
{
	(void)state;
	static const struct {
		uint32_t pc_offset;
		int32_t index;
	} cases[] = { { 0x120, 4 },	 { 0x300, 4 },	    { 0x130, 5 },  { 0x304, 5 },
		      { 0x110, -1 },	 { 0x111, -1 },	    { 0x121, -1 }, { 0, -1 },
		      { INT32_MAX, -1 }, { UINT32_MAX, -1 } };
	assert_int_equal(v8_safepoints_size(table), sizeof(table));
	for (size_t i = 0; i < array_len(cases); i++)
		assert_int_equal(v8_safepoints_find(table, sizeof(table), cases[i].pc_offset),
				 cases[i].index);
}

static void tables_may_be_cut(void **state)
{
	(void)state;
	assert_int_equal(v8_safepoints_find(table, sizeof(table) - 1, 0x120), 4);
	assert_int_equal(v8_safepoints_find(table, sizeof(table) - 1, 0x130), -1);
	assert_int_equal(v8_safepoints_find(table, V8_SAFEPOINTS_HEAD_BYTES, 0x120), -1);
}

static void damaged_heads_have_no_size(void **state)
{
	(void)state;
	static const struct {
		uint8_t at;
		uint8_t byte;
	} damages[] = {
		{ 8, 0xa2 }, /* no deoptimization data */
		{ 8, 0xd3 }, /* addresses of five bytes */
		{ 8, 0xaf }, /* registers of seven bytes */
		{ 9, 0x03 }, /* indexes of seven bytes */
		{ 7, 0x80 }, /* entries */
		{ 6, 0x10 },
	};
	for (size_t i = 0; i < array_len(damages); i++) {
		uint8_t head[V8_SAFEPOINTS_HEAD_BYTES];

		memcpy(head, table, sizeof(head));
		head[damages[i].at] = damages[i].byte;
		assert_int_equal(v8_safepoints_size(head), 0);
		assert_int_equal(v8_safepoints_find(head, sizeof(head), 0x120), -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_have_an_index),
		cmocka_unit_test(tables_may_be_cut),
		cmocka_unit_test(damaged_heads_have_no_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
