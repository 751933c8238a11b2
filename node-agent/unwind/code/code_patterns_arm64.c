/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/code/code_patterns.h"

#include <string.h>

#define FUNCTION_ALIGNMENT 16

#define PATTERN_BYTES 8
#define INSN_BYTES 4
#define X16 (1U << 16)

static bool begins_with(const uint8_t *code, size_t len, const char *pattern)
{
	return len >= PATTERN_BYTES && memcmp(code, pattern, PATTERN_BYTES) == 0;
}

/* mov x8,#__NR_rt_sigreturn; svc #0; and the instruction behind, where a task seems to be while
 * it is in the system call. */
size_t code_find_sigreturn(const uint8_t *code, size_t len)
{
	if (!begins_with(code, len, "\x68\x11\x80\xd2\x01\0\0\xd4"))
		return 0;
	return PATTERN_BYTES + INSN_BYTES;
}

/* mov x8,#__NR_exit; svc #0. (A result is the first argument of what is called next, whatever
 * that is; but for a main thread the return address is 0.) */
bool code_ends_thread(const uint8_t *code, size_t len)
{
	return begins_with(code, len, "\xa8\x0b\x80\xd2\x01\0\0\xd4");
}

static bool opens_frame(const struct code_insn *insn)
{
	if (insn->base != CODE_SP)
		return false;
	return insn->op == CODE_ADDRESS ? insn->reg == CODE_SP && insn->value < 0
					: insn->op == CODE_STORE && insn->step < 0;
}

/* Functions need not be aligned, and labels may be. With x16 begin entries of PLTs, some of
 * which have 24 bytes. */
enum code_start code_find_start(const struct code_insn *insn, uint64_t address,
				enum code_place place)
{
	if (insn->is_landing_pad || opens_frame(insn))
		return CODE_LIKELY_START;
	if (place == CODE_BEHIND_END && (address % FUNCTION_ALIGNMENT == 0 || insn->writes == X16))
		return CODE_POSSIBLE_START;
	return CODE_NO_START;
}
