/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_packed_safepoints.h"

#include "base/err.h"
#include "unit.h"

#include <string.h>

/* Slots; the size, with deoptimization data and with or without registers. */
#define HEAD(size, upper) 7, 0, 0, 0, (size), 0, 0, (upper)
#define WITH_DEOPT 0x80
#define WITH_REGISTERS 0xc0

static const uint8_t table[] = {
	HEAD(35, WITH_DEOPT),
	/* 0x111: nothing; the slots are those of the start */
	0x90, 2, 0, 0,
	/* 0x121: 0, or 0x300; the slots are in one byte */
	0x10, 1, 0x80, 6, 0x0d,
	/* 0x131: 2, or 0x304; others come before, and each takes two bytes */
	0x10, 2, 4, 0x83, 1, 0x85, 1,
	/* 0x231: nothing; the slots are in three bytes of their own */
	0x80, 2, 0, 6, 1, 0x80, 1,
	/* 0x241: 3, or 0x304 */
	0x10, 1
};
/* Where the table above ends. */
static const uint8_t rest[] = { 0, 0 };

static const uint8_t with_registers[] = { HEAD(18, WITH_REGISTERS), 0x1f, 1, 9, 0x81, 0, 0,
					  /* 0x30 */ 0x10,	    3,	  2, 0 };

static void calls_have_an_index(void **state)
{
	(void)state;
	static const struct {
		uint32_t pc_offset;
		int32_t index;
	} cases[] = { { 0x121, 0 },	 { 0x300, 0 },	{ 0x131, 2 },  { 0x304, 2 },
		      { 0x241, 3 },	 { 0x111, -1 }, { 0x231, -1 }, { 0x122, -1 },
		      { 0x120, -1 },	 { 0, -1 },	{ 1, -1 },     { INT32_MAX, -1 },
		      { UINT32_MAX, -1 } };
	uint8_t whole[sizeof(table) + sizeof(rest)];

	memcpy(whole, table, sizeof(table));
	memcpy(whole + sizeof(table), rest, sizeof(rest));
	assert_int_equal(v8_packed_safepoints_size(whole), sizeof(whole));
	for (size_t i = 0; i < array_len(cases); i++)
		assert_int_equal(
			v8_packed_safepoints_find(whole, sizeof(whole), cases[i].pc_offset),
			cases[i].index);
}

static void entries_may_have_registers(void **state)
{
	(void)state;
	size_t len = sizeof(with_registers);

	assert_int_equal(v8_packed_safepoints_size(with_registers), len);
	assert_int_equal(v8_packed_safepoints_find(with_registers, len, 0x20), 0);
	assert_int_equal(v8_packed_safepoints_find(with_registers, len, 0x30), -1);
}

static void tables_may_be_cut(void **state)
{
	(void)state;
	for (size_t len = V8_PACKED_SAFEPOINTS_HEAD_BYTES; len < sizeof(table); len++)
		assert_int_equal(v8_packed_safepoints_find(table, len, 0x241), -1);
	assert_int_equal(v8_packed_safepoints_find(table, sizeof(table), 0x131), 2);
}

static void damaged_heads_have_no_size(void **state)
{
	(void)state;
	static const uint8_t heads[][V8_PACKED_SAFEPOINTS_HEAD_BYTES] = {
		{ HEAD(30, 0x40) }, /* no deoptimization data */
		{ HEAD(7, WITH_DEOPT) },
		{ HEAD(30, 0xbf) }, /* too large */
	};
	for (size_t i = 0; i < array_len(heads); i++)
		assert_int_equal(v8_packed_safepoints_size(heads[i]), 0);
	assert_int_equal(v8_packed_safepoints_find(heads[0], sizeof(heads[0]), 1), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_have_an_index),
		cmocka_unit_test(entries_may_have_registers),
		cmocka_unit_test(tables_may_be_cut),
		cmocka_unit_test(damaged_heads_have_no_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
