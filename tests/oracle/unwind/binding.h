/* SPDX-License-Identifier: Apache-2.0 */
/* Our side of the test, without the agent around it: keeps row tables and the mapping table of one
 * process as they should be, and remembers when they were.
 *
 * An epoch is a time in which the process's mappings are known not to have changed, and all of them
 * were known to the BPF program. Stacks of other times say how fast the agent follows, not how well
 * it unwinds: they are not compared. */
#ifndef TESTS_UNWIND_BINDING_H
#define TESTS_UNWIND_BINDING_H

#include "base/err.h"
#include "process/mapping_list.h"
#include "tests/oracle/unwind/libdw_stack.h"
#include "tests/oracle/unwind/local_stack.h"
#include "tests/oracle/unwind/recording.h"
#include "unwind/unwind_tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct epoch {
	uint64_t from_ns;
	uint64_t to_ns;
	struct mapping_list *list; /* one reference is owned */
	struct libdw *libdw; /* borrowed from the binding */
};

struct binding {
	uint32_t pid;
	int proc_fd; /* owned */
	struct mapped_files files;
	struct unwind_memory *memory; /* owned */
	struct unwind_tables *tables; /* owned */
	struct local_stacks local;
	struct mapping_list *bound; /* owned; what the BPF program has, or NULL */
	bool in_epoch; /* the last epoch still goes on */
	struct epoch *epochs; /* owned */
	size_t nr_epochs, cap_epochs;
	struct libdw *
		*libdws; /* owned, as are its items; the last one is that of the files mapped now */
	size_t nr_libdws, cap_libdws;
};

/* Errors: what unwind_memory_bpf_new(), unwind_tables_start() and local_stacks_init() say. */
int binding_init(struct binding *binding, const struct recording_maps *maps, uint32_t pid)
	must_check;

/* Also of a binding that is all zero. */
void binding_done(struct binding *binding);

/* Looks at the process's mappings and, where they have changed, waits until the tables of new files
 * are built. To be called every now and then. Errors: -ESRCH the process is gone; -ENOSPC,
 * -ENOMEM. */
int binding_follow(struct binding *binding) must_check;

/* No stack is to come: what was bound last is not any more, and local stacks can be unwound. */
void binding_end(struct binding *binding);

/* The epoch at a time, or NULL. */
const struct epoch *binding_find_epoch(const struct binding *binding, uint64_t time_ns);

#endif
