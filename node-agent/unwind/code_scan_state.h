/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the stack at an instruction, from the instructions before it. */
#ifndef UNWIND_CODE_SCAN_STATE_H
#define UNWIND_CODE_SCAN_STATE_H

#include "bpf/shared/cfi.h"
#include "unwind/x86_insn.h"

#include <stdbool.h>
#include <stdint.h>

#define SCAN_HAS_DEPTH 1
#define SCAN_HAS_RBP 2

/* Nothing is known: all zero. No padding, so that states are compared by their bytes. */
struct scan_state {
	int32_t depth; /* CFA - rsp, with SCAN_HAS_DEPTH; else 0 */
	int32_t rbp_depth; /* CFA - rbp, with SCAN_HAS_RBP; else 0 */
	uint8_t known;
	uint8_t changed; /* bit i: the register of saved[i] has not the caller's value */
	int8_t saved[NR_SAVED_REGS]; /* as in struct cfi_rule */
};

_Static_assert(sizeof(struct scan_state) == 16, "states are compared by their bytes");

/* At a function's first instruction. */
struct scan_state scan_state_at_entry(void);

static inline bool scan_state_is_known(const struct scan_state *state)
{
	return state->known != 0;
}

/* Behind an instruction that is no jump. Calls leave a state as it is. */
void scan_state_apply(struct scan_state *state, const struct x86_insn *insn);

/* What is known where two ways meet. False if they contradict each other. */
bool scan_state_merge(struct scan_state *state, const struct scan_state *other);

struct cfi_rule scan_state_rule(const struct scan_state *state);

#endif
