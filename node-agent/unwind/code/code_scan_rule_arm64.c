/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/code/code_scan_state.h"

#define WORD_BYTES 8
#define KEPT_FP 0 /* indices in CODE_KEPT_REGISTERS */
#define KEPT_LR 1

static bool is_changed(const struct scan_state *state, int kept)
{
	return state->changed >> kept & 1;
}

/* Returns whether lr has the return address: it was not saved, or its place on the stack was
 * freed. */
static bool is_in_lr(const struct scan_state *state)
{
	int place = state->saved[KEPT_LR];

	return place == CFI_NOT_SAVED ||
	       (state->known & SCAN_HAS_DEPTH && -WORD_BYTES * place > state->depth);
}

bool scan_state_allows(const struct scan_state *state, const struct code_insn *insn)
{
	bool has_lr = insn->reg == CODE_LR || insn->reg2 == CODE_LR;
	bool is_by_sp = insn->base == CODE_SP;

	if (!(state->known & SCAN_HAS_DEPTH))
		return true;
	switch (insn->op) {
	case CODE_RETURN:
		return state->depth == CODE_ENTRY_DEPTH && !is_changed(state, KEPT_LR);
	case CODE_ADDRESS:
		if (insn->reg != CODE_SP)
			return true;
		return is_by_sp ? insn->value <= state->depth
				: insn->base != CODE_FP || state->known & SCAN_HAS_FP;
	case CODE_LOAD:
		return !is_by_sp || (insn->step <= state->depth &&
				     (!has_lr || state->saved[KEPT_LR] != CFI_NOT_SAVED));
	default:
		return true;
	}
}

/* Uses sp if it is known, as the CFI of compilers does. */
struct cfi_rule scan_state_rule(const struct scan_state *state)
{
	bool is_by_sp = state->known & SCAN_HAS_DEPTH;
	struct cfi_rule rule = {
		.kind = CFA_REGISTER,
		.reg = is_by_sp ? CFI_SP : CFI_FP,
		.offset = is_by_sp ? state->depth : state->fp_depth,
		.saved = { state->saved[KEPT_FP] },
	};

	if (!scan_state_is_known(state) || (is_in_lr(state) && is_changed(state, KEPT_LR)))
		return (struct cfi_rule){ .kind = CFA_NONE };
	if (is_in_lr(state)) {
		rule.flags = CFI_RETURN_IN_REGISTER;
		rule.arg = CFI_LR;
	} else {
		rule.return_address = state->saved[KEPT_LR];
	}
	if (rule.saved[0] == CFI_NOT_SAVED && is_changed(state, KEPT_FP))
		rule.saved[0] = CFI_LOST;
	return rule;
}
