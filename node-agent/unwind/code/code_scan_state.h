/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the stack at an instruction, as far as the instructions before tell it. */
#ifndef UNWIND_CODE_CODE_SCAN_STATE_H
#define UNWIND_CODE_CODE_SCAN_STATE_H

#include "bpf/shared/cfi.h"
#include "unwind/code/code_insn.h"

#include <stdbool.h>
#include <stdint.h>

#define SCAN_HAS_DEPTH 1
#define SCAN_HAS_FP 2

/* Nothing is known: all zero. No padding, so that states are compared by their bytes. */
struct scan_state {
	int32_t depth; /* CFA - sp, with SCAN_HAS_DEPTH; else 0 */
	int32_t fp_depth; /* CFA - fp, with SCAN_HAS_FP; else 0 */
	uint16_t known;
	uint16_t changed; /* bit i: the i-th of CODE_KEPT_REGISTERS has not the caller's value */
	int16_t saved[CODE_NR_KEPT]; /* as in struct cfi_rule */
};

_Static_assert(sizeof(struct scan_state) == 12 + 2 * CODE_NR_KEPT, "no padding");

/* Returns the state at the first instruction of a function. */
struct scan_state scan_state_at_entry(void);

static inline bool scan_state_is_known(const struct scan_state *state)
{
	return state->known != 0;
}

/* Changes the state as an instruction does that is no jump; a call, as when it has returned. */
void scan_state_apply(struct scan_state *state, const struct code_insn *insn);

/* Merges the states of two paths that meet. Returns false if they contradict each other. */
bool scan_state_merge(struct scan_state *state, const struct scan_state *other);

/* By architecture: code_scan_rule_….c. */

/* Returns whether the instruction makes sense in this state: no function leaves with something
 * on the stack, or takes more off the stack than it put there. */
bool scan_state_allows(const struct scan_state *state, const struct code_insn *insn);

struct cfi_rule scan_state_rule(const struct scan_state *state);

#endif
