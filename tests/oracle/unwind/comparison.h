/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two unwinds of the same stack position by position, and counts.
 *
 * A frame agrees when both have the same address in the same position. Where the oracle reached the
 * root, every frame of either counts; where it stopped before (its copy ended, or it failed), only
 * as many as it has: what we have beyond that nobody can judge. What it has and we have not is a
 * disagreement. Where it stopped because the CFI is wrong, a stack that stops there as well for
 * want of a register counts by its frames alone. */
#ifndef TESTS_UNWIND_COMPARISON_H
#define TESTS_UNWIND_COMPARISON_H

#include "bpf/shared/frames.h"
#include "tests/oracle/unwind/libdw_stack.h"
#include "tests/oracle/unwind/recording.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define COMPARISON_MAX_REASONS 64

struct failure_reason {
	char text[sizeof(((struct libdw_stack *)NULL)->why)];
	uint64_t nr;
};

struct comparison {
	uint64_t nr_stacks;
	uint64_t nr_frames; /* compared */
	uint64_t nr_agreeing; /* of those */
	uint64_t nr_differing_stacks;
	uint64_t nr_seen_roots; /* stacks of which the oracle saw the root */
	uint64_t nr_roots; /* of those, complete ones */
	uint64_t nr_end_of_stack; /* stacks of which the oracle saw a part */
	uint64_t nr_failed; /* in which the oracle failed */
	uint64_t nr_untold; /* not among the stacks: those that end where wrong CFI ends them */
	uint64_t results[UNWIND_NR_RESULTS];
	struct failure_reason reasons[COMPARISON_MAX_REASONS]; /* of the oracle */
	size_t nr_reasons;
};

/* Returns whether all compared frames agree and the stack ends as well as it can. */
bool comparison_add(struct comparison *comparison, const struct bpf_stack *stack,
		    const struct libdw_stack *oracle);

/* Of an enum unwind_result. */
const char *comparison_result_name(uint32_t result);

/* As lines of "key value", the keys with a prefix. */
void comparison_print(const struct comparison *comparison, const char *prefix, FILE *out);

#endif
