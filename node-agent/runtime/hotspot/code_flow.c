/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/hotspot/code_flow.h"

#include "unwind/code/code_insn.h"

#include <stdbool.h>

static bool is_jump(const struct code_insn *insn)
{
	return insn->op == CODE_BRANCH || insn->op == CODE_JUMP;
}

enum code_flow code_flow_find(const uint8_t *code, size_t len)
{
	size_t at = 0;

	while (at < len) {
		struct code_insn insn;

		if (code_insn_decode(code + at, len - at, &insn) < 0)
			break;
		at += insn.len;
		if (insn.op == CODE_RETURN)
			return CODE_FLOW_RETURNS;
		if (is_jump(&insn) && (int64_t)at + insn.value <= 0)
			return CODE_FLOW_LOOPS;
		if (insn.op == CODE_JUMP && insn.value > 0)
			at += (uint32_t)insn.value;
		else if (insn.op == CODE_JUMP || insn.op == CODE_JUMP_INDIRECT ||
			 insn.op == CODE_TRAP)
			break;
	}
	return CODE_FLOW_GOES_ON;
}
