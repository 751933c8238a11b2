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
#define JUMP_OVER_RETURN 0xeb, 0x01
#define JUMP_OUT 0xe9, 0xff, 0xff, 0xff, 0x7f
#define TRAP 0xf4
#define NO_INSTRUCTION 0x06
#endif

#define FLOW(...)                                                                                  \
	code_flow_find((const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

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
	assert_int_equal(code_flow_find(second + NOP_BYTES, sizeof(second) - NOP_BYTES),
			 CODE_FLOW_LOOPS);
	assert_int_equal(code_flow_find(second + 2 * NOP_BYTES, sizeof(second) - 2 * NOP_BYTES),
			 CODE_FLOW_LOOPS);
}

/* It is behind a loop that does not have the place. */
static void a_jump_behind_the_place_goes_on(void **state)
{
	(void)state;
	assert_int_equal(FLOW(NOP, NOP, JUMP_TO_NOP_BEFORE, RETURN), CODE_FLOW_GOES_ON);
	assert_int_equal(FLOW(NOP, BRANCH_TO_ITSELF, RETURN), CODE_FLOW_RETURNS);
}

static void the_rest_goes_on(void **state)
{
	(void)state;
	assert_int_equal(code_flow_find(NULL, 0), CODE_FLOW_GOES_ON);
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
		assert_int_equal(code_flow_find(code, len), CODE_FLOW_GOES_ON);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_return_is_found_behind_a_branch),
		cmocka_unit_test(a_jump_to_the_place_or_before_it_loops),
		cmocka_unit_test(a_jump_behind_the_place_goes_on),
		cmocka_unit_test(the_rest_goes_on),
		cmocka_unit_test(a_truncated_instruction_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
