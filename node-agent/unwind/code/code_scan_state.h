/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the stack at an instruction, from the instructions before it. */
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

/* At a function's first instruction. */
struct scan_state scan_state_at_entry(void);

static inline bool scan_state_is_known(const struct scan_state *state)
{
	return state->known != 0;
}

/* Behind an instruction that is no jump; behind a call when that has returned. */
void scan_state_apply(struct scan_state *state, const struct code_insn *insn);

/* What is known where two ways meet. False if they contradict each other. */
bool scan_state_merge(struct scan_state *state, const struct scan_state *other);

/* By architecture: code_scan_rule_….c. */

/* Whether the instruction makes sense where the stack is like that: no function leaves with
 * something on the stack, or takes more off than it has there. */
bool scan_state_allows(const struct scan_state *state, const struct code_insn *insn);

struct cfi_rule scan_state_rule(const struct scan_state *state);

#endif
