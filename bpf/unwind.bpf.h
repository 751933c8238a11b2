/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Unwinding user stacks: the input and the output of the unwinder, which is in
 * unwind_native.bpf.c. */
#ifndef BPF_UNWIND_BPF_H
#define BPF_UNWIND_BPF_H

#include "bpf/shared/cfi.h"
#include "bpf/shared/events.h"
#include "bpf/shared/frames.h"
#include "bpf/shared/runtime.h"

#include <stdbool.h>

#define REGISTER_BIT(reg) (1U << (reg))
#define ALL_REGISTERS (~0U >> (32 - NR_REGS))

/* Words that are read at once: the return address and, in nearly all code, every register that
 * was saved. */
#define WINDOW_WORDS (CFI_IS_ARM64 ? 2 : 8)

/* The stack goes on: no enum unwind_result. */
#define GOES_ON (-1)

/* The place where a range was found. */
enum range_origin {
	RANGE_OF_LIST,
	RANGE_OF_TASK, /* in the task's own mappings */
	RANGE_UNKNOWN, /* there, but the file is not known, or it could not be told */
};

/* One frame on the way from the leaf to the root, and what is kept from frame to frame. A record
 * for each CPU in the `scratch` map: it is too large for the BPF stack, and the verifier does
 * not track what it holds, so that a loop over frames looks the same to it in every round. */
struct unwind_state {
	/* In: set by the sampler. */
	__u64 regs[NR_REGS];
	__u64 ip;
	__u32 pid;
	bool is_exiting; /* the task has no user memory any more, or none soon */
	bool is_young; /* the process may end soon */
	__u32 missing; /* registers (REGISTER_BIT) that are not among `regs`: never with BPF */

	/* Out. */
	bool asks; /* the agent should look at the process now */
	__u8 nr_copies; /* of code objects */
	bool lacks_file; /* the last frame is in a file that is not known */
	__u32 nr_frames;
	__u32 nr_native; /* of them, behind the last one of a runtime */
	__u8 python; /* enum python_state (runtime.bpf.h) */
	__u32 python_slot; /* of the file with the eval loop */

	__u32 known; /* registers (REGISTER_BIT) whose value in this frame is known */
	bool is_call; /* ip is a return address: the frame's code is right before it */
	/* in the frame before; kept here, as the verifier would try all that follows with both */
	bool was_call;
	bool is_entered; /* ip was one, but is where a function begins that nobody called */

	__u32 mapping_table; /* the process's mapping table, by unit; 0: none */
	__u32 mapping_table_id; /* its id; 0: none */
	__u64 mappings; /* stands for the task's mappings as they are now; 0: nothing does */
	bool was_asked; /* without a table: the agent was woken for it before */
	__u32 nr_ranges;
	__u32 ranges_offset;
	/* Offsets in the table of the descriptors of runtimes, by kind; 0: none. */
	__u32 descriptors[RUNTIME_NR_KINDS];

	/* The range in which the last address was found. */
	__u64 range_start;
	__u64 range_end;
	struct mapping_range range;
	__u8 origin; /* enum range_origin */
	__u16 nr_walks; /* through the task's mappings, for this stack */

	/* A search that goes on. */
	__u32 low;
	__u32 high;

	struct cfi_rule rule; /* of this frame */
	/* The layout of the runtime in the frame's file, by unit; 0: none is known. */
	__u32 file_layout;
	/* another one may hold at the next byte; false where no row was found */
	bool is_end_of_row;
	__u64 window[WINDOW_WORDS];
	bool is_window_cut; /* not all of it could be read: its words are read one by one */
	__u64 signal_frame[NR_REGS + 1]; /* the last one is the instruction pointer */
};

/* A rule that was found for an address of a mapping table, so that it need not be searched for
 * again: programs are often where they were 10 ms before. It does not get outdated: a table is
 * never changed, while it is there so are its files, whatever becomes of their tables, and it
 * counts for the mappings only that the range was compared with. */
struct known_rule {
	__u64 address; /* as code_address() */
	__u64 mappings; /* as in struct unwind_state */
	__u64 range_start;
	__u64 range_end;
	__u64 bias;
	__u32 mapping_table_id; /* 0: nothing is known here */
	__u32 slot; /* the file's, in `tables` */
	struct cfi_rule rule;
};

#define NR_KNOWN_RULES 256 /* a power of 2 */

/* Returns the place of the rule of an address. Neighbouring instructions have different places. */
static inline __u32 known_rule_place(__u64 address, __u32 mapping_table_id)
{
	return (__u32)(address ^ address >> 9 ^ address >> 21 ^ mapping_table_id) &
	       (NR_KNOWN_RULES - 1);
}

/* Returns the address of the frame's code. A call may be the last instruction of a function, so
 * that its return address is in the next function. */
static inline __u64 code_address(const struct unwind_state *state)
{
	return state->ip - state->is_call;
}

/* unwind_lookup.bpf.c: find the range, or range and rule (CFA_NONE where there is none), of the
 * frame of this CPU's scratch record. Return GOES_ON or an enum unwind_result. */
int find_range(void);
int find_rule(void);

/* The same, of an address in the range that was found last. */
int find_rule_of_range(void);

/* unwind_vma.bpf.c: finds the range of the frame of this CPU's scratch record in the task's own
 * mappings. What is in none of them is left as it is. Returns GOES_ON or an enum unwind_result. */
int find_range_of_task(void);

/* The same: what stands for the task's mappings, as state->mappings; and whether the range
 * before state->low, of a table, is still what is mapped there: else it is a hole from now on. */
int find_mappings(void);
int check_range(void);

/* Unwinds the stack of this CPU's scratch record: appends its user frames, leaf first, and
 * returns an enum unwind_result. A function of its own to the verifier. */
int unwind_native(void);

#endif
