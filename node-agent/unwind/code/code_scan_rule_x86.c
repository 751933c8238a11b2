/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/code/code_scan_state.h"

#define WORD_BYTES 8
#define FRAME_DEPTH (2 * WORD_BYTES) /* behind push %rbp; mov %rsp,%rbp */
#define SAVED_RBP 0 /* index in `saved` */

bool scan_state_allows(const struct scan_state *state, const struct code_insn *insn)
{
	if (!(state->known & SCAN_HAS_DEPTH))
		return true;
	if (insn->op == CODE_RETURN)
		return state->depth == CODE_ENTRY_DEPTH;
	return state->depth >= CODE_ENTRY_DEPTH ||
	       (insn->op != CODE_BRANCH && insn->op != CODE_JUMP);
}

/* Returns whether to use rbp: if it is a usual frame pointer, as the CFI of compilers does, or
 * if rsp is not known. */
static bool is_by_rbp(const struct scan_state *state)
{
	if (!(state->known & SCAN_HAS_FP))
		return false;
	return !(state->known & SCAN_HAS_DEPTH) ||
	       (state->fp_depth == FRAME_DEPTH &&
		state->saved[SAVED_RBP] == -FRAME_DEPTH / WORD_BYTES);
}

struct cfi_rule scan_state_rule(const struct scan_state *state)
{
	bool is_rbp = is_by_rbp(state);
	struct cfi_rule rule = {
		.kind = CFA_REGISTER,
		.reg = is_rbp ? CFI_RBP : CFI_RSP,
		.return_address = -1,
		.offset = is_rbp ? state->fp_depth : state->depth,
	};

	if (!scan_state_is_known(state) || rule.offset < WORD_BYTES)
		return (struct cfi_rule){ .kind = CFA_NONE };
	for (size_t i = 0; i < NR_SAVED_REGS; i++) {
		rule.saved[i] = (cfi_slot)state->saved[i];
		if (state->saved[i] == CFI_NOT_SAVED && state->changed >> i & 1)
			rule.saved[i] = CFI_LOST;
	}
	return rule;
}
