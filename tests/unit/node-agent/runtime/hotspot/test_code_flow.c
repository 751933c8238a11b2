/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/hotspot/code_flow.h"

#include "bpf/shared/cfi.h"
#include "unit.h"

/* Instructions of this machine, as bytes. */
#if CFI_IS_ARM64
#define NOP 0x1f, 0x20, 0x03, 0xd5
#define NOP_BYTES 4
#define RETURN 0xc0, 0x03, 0x5f, 0xd6
#define BRANCH_TO_ITSELF 0x00, 0x00, 0x00, 0x54
#define BRANCH_OVER_NOP 0x40, 0x00, 0x00, 0x54
#define JUMP_TO_NOP_BEFORE 0xff, 0xff, 0xff, 0x17
#define JUMP_TO_INNER_LOOP 0xfc, 0xff, 0xff, 0x17
#define BRANCH_OVER_JUMP 0x40, 0x00, 0x00, 0x54
#define JUMP_OVER_BRANCH_BACK 0xff, 0xff, 0xff, 0x17
#define JUMP_TO_FIRST 0xfd, 0xff, 0xff, 0x17
#define JUMP_OVER_RETURN 0x02, 0x00, 0x00, 0x14
#define JUMP_OUT 0xff, 0xff, 0xff, 0x15
#define TRAP 0x00, 0x00, 0x20, 0xd4
#define NO_INSTRUCTION 0x00, 0x00, 0x00, 0x00
#else
#define NOP 0x90
#define NOP_BYTES 1
#define RETURN 0xc3
#define BRANCH_TO_ITSELF 0x7c, 0xfe
#define BRANCH_OVER_NOP 0x7c, 0x01
#define JUMP_TO_NOP_BEFORE 0xeb, 0xfd
#define JUMP_TO_INNER_LOOP 0xeb, 0xf9
#define BRANCH_OVER_JUMP 0x7c, 0x02
#define JUMP_OVER_BRANCH_BACK 0xeb, 0xfc
#define JUMP_TO_FIRST 0xeb, 0xf9
#define JUMP_OVER_RETURN 0xeb, 0x01
#define JUMP_OUT 0xe9, 0xff, 0xff, 0xff, 0x7f
#define TRAP 0xf4
#define NO_INSTRUCTION 0x06
#endif

static const struct code_marks no_marks = { .before = INT64_MIN, .behind = SIZE_MAX };

#define FLOW(...)                                                                                  \
	code_flow_find((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }), \
		       &no_marks)

static void a_return_is_found_behind_a_branch(void **state)
{
	(void)state;
	assert_int_equal(FLOW(RETURN), CODE_FLOW_RETURNS);
	assert_int_equal(FLOW(BRANCH_OVER_NOP, NOP, RETURN), CODE_FLOW_RETURNS);
	assert_int_equal(FLOW(JUMP_OVER_RETURN, NO_INSTRUCTION, RETURN), CODE_FLOW_RETURNS);
}

static void a_jump_to_the_place_or_before_it_loops(void **state)
{
	static const uint8_t second[] = { NOP, NOP, JUMP_TO_NOP_BEFORE };
	(void)state;

	assert_int_equal(FLOW(BRANCH_TO_ITSELF, RETURN), CODE_FLOW_LOOPS);
	assert_int_equal(FLOW(NOP, JUMP_TO_NOP_BEFORE), CODE_FLOW_LOOPS);
	assert_int_equal(code_flow_find(second + NOP_BYTES, sizeof(second) - NOP_BYTES, &no_marks),
			 CODE_FLOW_LOOPS);
	assert_int_equal(
		code_flow_find(second + 2 * NOP_BYTES, sizeof(second) - 2 * NOP_BYTES, &no_marks),
		CODE_FLOW_LOOPS);
}

/* It is behind a loop that does not have the place. */
static void a_jump_behind_the_place_goes_on(void **state)
{
	(void)state;
	assert_int_equal(FLOW(NOP, NOP, JUMP_TO_NOP_BEFORE, RETURN), CODE_FLOW_GOES_ON);
	assert_int_equal(FLOW(NOP, BRANCH_TO_ITSELF, RETURN), CODE_FLOW_RETURNS);
}

/* A pair of loops from its start on: the inner loop, a described place, and a jump back, here to
 * the instruction before the inner loop. */
static const uint8_t pair[] = { NOP, NOP, BRANCH_TO_ITSELF, NOP, NOP, JUMP_TO_INNER_LOOP, RETURN };

#define INNER_LOOP (2 * NOP_BYTES)
#define END_OF_INNER_LOOP ((int64_t)(INNER_LOOP + sizeof((uint8_t[]){ BRANCH_TO_ITSELF })))

/* The marks are offsets from the start of the pair. */
static enum code_flow flow_in_pair(int64_t before, int64_t behind)
{
	struct code_marks marks = { .before = before - INNER_LOOP,
				    .behind = (size_t)(behind - INNER_LOOP) };

	return code_flow_find(pair + INNER_LOOP, sizeof(pair) - INNER_LOOP, &marks);
}

static void an_inner_loop_goes_on_to_the_place_of_the_outer_one(void **state)
{
	(void)state;
	assert_int_equal(flow_in_pair(-10, END_OF_INNER_LOOP), CODE_FLOW_GOES_ON);
	assert_int_equal(flow_in_pair(0, END_OF_INNER_LOOP + NOP_BYTES), CODE_FLOW_GOES_ON);
}

/* It is left by a branch that leads right behind it. */
static void an_inner_loop_may_end_in_a_jump(void **state)
{
	static const uint8_t left[] = { BRANCH_OVER_JUMP, JUMP_OVER_BRANCH_BACK, NOP,
					JUMP_TO_FIRST };
	static const uint8_t endless[] = { NOP, JUMP_TO_NOP_BEFORE, NOP, JUMP_TO_INNER_LOOP };
	const struct code_marks marks = { .before = -100,
					  .behind = sizeof((uint8_t[]){ BRANCH_OVER_JUMP,
									JUMP_OVER_BRANCH_BACK }) };
	(void)state;

	assert_int_equal(code_flow_find(left, sizeof(left), &marks), CODE_FLOW_GOES_ON);
	assert_int_equal(code_flow_find(endless, sizeof(endless), &marks), CODE_FLOW_LOOPS);
}

/* An outer loop that has both described places may be that of another method. */
static void a_place_before_that_is_in_the_outer_loop_stays_nearer(void **state)
{
	(void)state;
	assert_int_equal(flow_in_pair(NOP_BYTES, END_OF_INNER_LOOP), CODE_FLOW_LOOPS);
}

static void an_outer_loop_without_a_described_place_loops(void **state)
{
	(void)state;
	assert_int_equal(flow_in_pair(0, sizeof(pair)), CODE_FLOW_LOOPS);
}

/* The jump leads to a described place, or to what is before it, but not into the inner loop. */
static void a_loop_behind_the_inner_one_is_no_outer_loop(void **state)
{
	static const uint8_t code[] = { BRANCH_TO_ITSELF, NOP, NOP, JUMP_TO_NOP_BEFORE };
	const struct code_marks marks = { .before = INT64_MIN,
					  .behind = sizeof(code) - 2 * NOP_BYTES };
	(void)state;

	assert_int_equal(code_flow_find(code, sizeof(code), &marks), CODE_FLOW_LOOPS);
}

static void an_outer_loop_that_is_not_reached_loops(void **state)
{
	static const uint8_t jumps[] = { BRANCH_TO_ITSELF, JUMP_OVER_RETURN, RETURN, NOP };
	static const uint8_t returns[] = { BRANCH_TO_ITSELF, RETURN, NOP };
	static const uint8_t traps[] = { BRANCH_TO_ITSELF, TRAP, NOP };
	static const uint8_t unknown[] = { BRANCH_TO_ITSELF, NO_INSTRUCTION, NOP };
	const struct code_marks marks = { .before = INT64_MIN, .behind = END_OF_INNER_LOOP };
	(void)state;

	assert_int_equal(code_flow_find(jumps, sizeof(jumps), &marks), CODE_FLOW_LOOPS);
	assert_int_equal(code_flow_find(returns, sizeof(returns), &marks), CODE_FLOW_LOOPS);
	assert_int_equal(code_flow_find(traps, sizeof(traps), &marks), CODE_FLOW_LOOPS);
	assert_int_equal(code_flow_find(unknown, sizeof(unknown), &marks), CODE_FLOW_LOOPS);
}

static void a_truncated_outer_loop_loops(void **state)
{
	const struct code_marks marks = { .before = INT64_MIN,
					  .behind = (size_t)END_OF_INNER_LOOP - INNER_LOOP };
	(void)state;

	for (size_t len = (size_t)END_OF_INNER_LOOP;
	     len < sizeof(pair) - sizeof((uint8_t[]){ RETURN }); len++)
		assert_int_equal(code_flow_find(pair + INNER_LOOP, len - INNER_LOOP, &marks),
				 CODE_FLOW_LOOPS);
}

static void the_rest_goes_on(void **state)
{
	(void)state;
	assert_int_equal(code_flow_find(NULL, 0, &no_marks), CODE_FLOW_GOES_ON);
	assert_int_equal(FLOW(NOP, NOP), CODE_FLOW_GOES_ON);
	assert_int_equal(FLOW(JUMP_OVER_RETURN, RETURN), CODE_FLOW_GOES_ON);
	assert_int_equal(FLOW(JUMP_OUT, RETURN), CODE_FLOW_GOES_ON);
	assert_int_equal(FLOW(TRAP, RETURN), CODE_FLOW_GOES_ON);
	assert_int_equal(FLOW(NO_INSTRUCTION, RETURN), CODE_FLOW_GOES_ON);
}

static void a_truncated_instruction_goes_on(void **state)
{
	static const uint8_t code[] = { JUMP_OUT };
	(void)state;

	for (size_t len = 1; len < sizeof(code); len++)
		assert_int_equal(code_flow_find(code, len, &no_marks), CODE_FLOW_GOES_ON);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_return_is_found_behind_a_branch),
		cmocka_unit_test(a_jump_to_the_place_or_before_it_loops),
		cmocka_unit_test(a_jump_behind_the_place_goes_on),
		cmocka_unit_test(an_inner_loop_goes_on_to_the_place_of_the_outer_one),
		cmocka_unit_test(an_inner_loop_may_end_in_a_jump),
		cmocka_unit_test(a_place_before_that_is_in_the_outer_loop_stays_nearer),
		cmocka_unit_test(an_outer_loop_without_a_described_place_loops),
		cmocka_unit_test(a_loop_behind_the_inner_one_is_no_outer_loop),
		cmocka_unit_test(an_outer_loop_that_is_not_reached_loops),
		cmocka_unit_test(a_truncated_outer_loop_loops),
		cmocka_unit_test(the_rest_goes_on),
		cmocka_unit_test(a_truncated_instruction_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
