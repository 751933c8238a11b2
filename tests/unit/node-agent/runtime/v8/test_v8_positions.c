/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_positions.h"

#include "base/err.h"
#include "unit.h"

#include <string.h>

/* Of a function of Node 20: at its entry 724, from 0 on 740 (a statement), from 6 on 740, and from
 * 10 on 731. */
static const uint8_t table[] = { 0x01, 0xd4, 0x16, 0x02, 0x40, 0x0d, 0x00, 0x09, 0x23 };

static void the_last_entry_that_does_not_begin_above_holds(void **state)
{
	(void)state;
	static const struct {
		uint32_t offset;
		int32_t expected;
	} cases[] = { { 0, 740 }, { 5, 740 }, { 6, 740 }, { 9, 740 }, { 10, 731 }, { 1000, 731 } };

	for (size_t i = 0; i < array_len(cases); i++) {
		struct v8_position position = v8_positions_find(
			table, sizeof(table), V8_DISTANCES_SIGNED, cases[i].offset);

		assert_int_equal(position.offset, cases[i].expected);
		assert_int_equal(position.inlining, -1);
	}
}

/* The same function in Node 26, and in a V8 15. */
static void distances_may_be_shifted(void **state)
{
	(void)state;
	static const uint8_t shifted[] = { 0x02, 0xd4, 0x16, 0x07, 0x40, 0x1a, 0x00, 0x12, 0x23 };
	static const uint8_t shifted_3[] = { 0x02, 0xd4, 0x16, 0x0b, 0x40, 0x32, 0x00, 0x22, 0x23 };

	for (uint32_t offset = 0; offset < 20; offset++) {
		struct v8_position expected = v8_positions_find(table, sizeof(table),
								V8_DISTANCES_SIGNED, offset);
		struct v8_position position = v8_positions_find(shifted, sizeof(shifted),
								V8_DISTANCES_SHIFTED, offset);

		assert_int_equal(position.offset, expected.offset);
		assert_int_equal(position.inlining, expected.inlining);
		position = v8_positions_find(shifted_3, sizeof(shifted_3), V8_DISTANCES_SHIFTED_3,
					     offset);
		assert_int_equal(position.offset, expected.offset);
	}
}

/* The third entry of the table, from 6 on, has its own position, 740. */
static void positions_may_be_absolute(void **state)
{
	(void)state;
	static const uint8_t absolute[] = { 0x02, 0xd4, 0x16, 0x0b, 0x40,
					    0x36, 0x94, 0x17, 0x22, 0x23 };

	for (uint32_t offset = 6; offset < 20; offset++) {
		struct v8_position expected = v8_positions_find(table, sizeof(table),
								V8_DISTANCES_SIGNED, offset);
		struct v8_position position = v8_positions_find(absolute, sizeof(absolute),
								V8_DISTANCES_SHIFTED_3, offset);

		assert_int_equal(position.offset, expected.offset);
	}
}

static void a_position_has_an_offset_and_an_inlining(void **state)
{
	(void)state;
	struct v8_position position = v8_position_of(0x800004d6);

	assert_int_equal(position.offset, 0x26a);
	assert_int_equal(position.inlining, 0);
	position = v8_position_of(0);
	assert_int_equal(position.offset, -1);
	assert_int_equal(position.inlining, -1);
	position = v8_position_of(UINT64_MAX);
	assert_int_equal(position.offset, 0x3ffffffe);
	assert_int_equal(position.inlining, 0xfffe);
}

static void a_damaged_table_counts_up_to_the_damage(void **state)
{
	(void)state;
	static const uint8_t endless[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					   0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

	assert_int_equal(v8_positions_find(table, 0, V8_DISTANCES_SIGNED, 10).offset, -1);
	assert_int_equal(v8_positions_find(table, 1, V8_DISTANCES_SIGNED, 10).offset, -1);
	assert_int_equal(v8_positions_find(table, 2, V8_DISTANCES_SIGNED, 10).offset, -1);
	assert_int_equal(v8_positions_find(table, 8, V8_DISTANCES_SIGNED, 10).offset, 740);
	assert_int_equal(
		v8_positions_find(endless, sizeof(endless), V8_DISTANCES_SIGNED, 10).offset, -1);
}

/* Sizes: 0 to 3 are prefixes, 4 has one byte, 5 two and 6 three, of which two are operands. */
static const uint8_t sizes[] = { 0x01, 0x01, 0x01, 0x01, 0x01, 0x12, 0x23, 0x00 };

static struct v8_bytecodes bytecodes_of(const uint8_t *bytes, size_t len)
{
	return (struct v8_bytecodes){ bytes, len, sizes, sizeof(sizes) };
}

static void baseline_code_leads_to_its_bytecode(void **state)
{
	(void)state;
	static const uint8_t bytes[] = { 4, 5, 9, 0, 6, 1, 0, 2, 0, 1, 5, 9, 9, 9, 9, 4 };
	static const uint8_t steps[] = { 20, 10, 10, 0x85, 0x01, 10, 10 };
	static const struct {
		uint32_t pc_offset;
		int32_t expected;
	} cases[] = {
		{ 1, -1 },   { 20, -1 },  { 21, 0 },   { 30, 0 },	   { 31, 1 },
		{ 40, 1 },   { 41, 3 },	  { 173, 3 },  { 174, 9 },	   { 183, 9 },
		{ 184, 15 }, { 193, 15 }, { 194, -1 }, { UINT32_MAX, -1 },
	};
	struct v8_bytecodes bytecodes = bytecodes_of(bytes, sizeof(bytes));

	for (size_t i = 0; i < array_len(cases); i++)
		assert_int_equal(v8_bytecode_offset_find(steps, sizeof(steps), &bytecodes,
							 cases[i].pc_offset),
				 cases[i].expected);
}

static void damaged_baseline_tables_lead_nowhere(void **state)
{
	(void)state;
	static const uint8_t steps[] = { 1, 10, 10, 10 };
	static const struct {
		uint8_t bytes[4];
		size_t len, nr_steps;
	} cases[] = {
		{ { 4, 4, 4, 4 }, 0, 4 }, /* no bytecode */
		{ { 4, 4, 4, 4 }, 4, 0 }, /* no table */
		{ { 4, 4, 4, 4 }, 4, 2 }, /* ends early */
		{ { 4, 7, 4, 4 }, 4, 4 }, /* of unknown size */
		{ { 4, 200, 4, 4 }, 4, 4 }, /* unknown */
		{ { 4, 0 }, 2, 4 }, /* a prefix of nothing */
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		struct v8_bytecodes bytecodes = bytecodes_of(cases[i].bytes, cases[i].len);

		assert_int_equal(v8_bytecode_offset_find(steps, cases[i].nr_steps, &bytecodes, 25),
				 -1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_entry_that_does_not_begin_above_holds),
		cmocka_unit_test(distances_may_be_shifted),
		cmocka_unit_test(positions_may_be_absolute),
		cmocka_unit_test(a_position_has_an_offset_and_an_inlining),
		cmocka_unit_test(a_damaged_table_counts_up_to_the_damage),
		cmocka_unit_test(baseline_code_leads_to_its_bytecode),
		cmocka_unit_test(damaged_baseline_tables_lead_nowhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
