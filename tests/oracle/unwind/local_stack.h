/* SPDX-License-Identifier: Apache-2.0 */
/* The same stacks by the unwinder in the agent: from perf's copies, with tables of its own. */
#ifndef TESTS_UNWIND_LOCAL_STACK_H
#define TESTS_UNWIND_LOCAL_STACK_H

#include "bpf/shared/events.h"
#include "process/mapping_list.h"
#include "tests/oracle/unwind/recording.h"
#include "unwind/local_unwinder.h"
#include "unwind/unwind_tables.h"

#include <stdint.h>

struct local_stacks {
	struct unwind_memory *memory; /* owned */
	struct unwind_tables *tables; /* owned */
	struct local_unwinder *unwinder; /* owned */
	struct mapping_list *bound; /* borrowed from an epoch; NULL: nothing yet */
	struct sample_event event;
	uint64_t frames[MAX_USER_FRAMES]; /* without flags */
	uint64_t nr_frames;
	uint64_t unwind_ns;
};

/* Errors: those of unwind_memory_local_new(), unwind_tables_start() and local_unwinder_new(). */
int local_stacks_init(struct local_stacks *stacks, size_t max_bytes) must_check;

/* Also of stacks that are all zero. */
void local_stacks_done(struct local_stacks *stacks);

/* Adds a file, of which the descriptor is borrowed, and which must get the slot that it has on the
 * kernel's side. Errors: those of table_slots_add(); -EBADMSG it got another one. */
int local_stacks_add_file(struct local_stacks *stacks, int fd, uint32_t slot) must_check;

/* Unwinds a copy with the mappings of its time, which no kernel's side has any more. `*ret_stack`
 * is valid until the next call. Errors: those of mapping_tables_bind(). */
int local_stacks_unwind(struct local_stacks *stacks, uint32_t pid, struct mapping_list *list,
			const struct perf_copy *copy, struct bpf_stack *ret_stack) must_check;

#endif
