/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Unwinding user stacks: what the sampler hands in, and what it gets. How it is done: unwind_native.bpf.c. */
#ifndef BPF_UNWIND_BPF_H
#define BPF_UNWIND_BPF_H

#include "bpf/shared/cfi.h"
#include "bpf/shared/events.h"
#include "bpf/shared/frames.h"

#include <stdbool.h>

#define REGISTER_BIT(reg) (1U << (reg))
#define ALL_REGISTERS (~0U >> (32 - NR_REGS))

/* Words that are read at once: the return address and, in nearly all code, every register that was saved. */
#define WINDOW_WORDS (CFI_IS_ARM64 ? 2 : 8)

/* The stack goes on: no enum unwind_result. */
#define GOES_ON (-1)

/* One frame on the way from the leaf to the root, and what is kept from frame to frame. A record for each
 * CPU in the `scratch` map: it is too large for the BPF stack, and the verifier does not track what it
 * holds, so that a loop over frames looks the same to it in every round. */
struct unwind_state {
	/* In: set by the sampler. */
	__u64 regs[NR_REGS];
	__u64 ip;
	__u32 pid;
	bool is_exiting; /* the task has no user memory any more, or none soon */
	__u32 missing; /* registers (REGISTER_BIT) that are not among `regs`: never with BPF */

	bool asks; /* out: the agent should look at the process now */

	__u32 known; /* registers (REGISTER_BIT) whose value in this frame is known */
	bool is_call; /* ip is a return address: the frame's code is right before it */

	__u32 list; /* the process's code list, by unit */
	__u32 nr_ranges;
	__u32 ranges_offset;

	/* The range in which the last address was found. */
	__u64 range_start;
	__u64 range_end;
	struct code_range range;

	/* A search that goes on. */
	__u32 low;
	__u32 high;

	struct cfi_rule rule; /* of this frame */
	__u64 window[WINDOW_WORDS];
	bool is_window_cut; /* not all of it could be read: its words are read one by one */
	__u64 signal_frame[NR_REGS + 1]; /* the last one is the instruction pointer */
};

/* Where the frame's code is: a call may be a function's last instruction, so that its return address is in
 * the next one. */
static inline __u64 code_address(const struct unwind_state *state)
{
	return state->ip - state->is_call;
}

/* unwind_lookup.bpf.c: find the range, or range and rule (CFA_NONE where there is none), of the frame of this CPU's scratch
 * record. Return GOES_ON or an enum unwind_result. */
int find_range(void);
int find_rule(void);

/* Unwinds the stack of this CPU's scratch record: appends its user frames, leaf first, and returns an enum
 * unwind_result. A function of its own to the verifier. */
int unwind_native(void);

#endif
