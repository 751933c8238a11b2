/* SPDX-License-Identifier: Apache-2.0 */
/* Code lists of processes in the arena, and who has which.
 *
 * A list in the arena belongs to a struct mapping_list and is shared like it: forked children have their
 * parent's. The ranges of a list are never changed: a process whose mappings changed gets a new one, and then its binding is
 * set with one store. Belongs to one thread, that of the process table. */
#ifndef UNWIND_TABLES_MAPPING_TABLES_H
#define UNWIND_TABLES_MAPPING_TABLES_H

#include "base/cleanup.h"
#include "base/err.h"
#include "process/mapping_list.h"
#include "unwind/tables/unwind_arena.h"

#include <stdint.h>

struct code_lists;

struct code_lists_stats {
	uint64_t nr_lists; /* in the arena */
	uint64_t nr_bytes;
	uint64_t nr_published;
	uint64_t nr_failures; /* arena full, no memory */
};

/* `memory` and the arena, which lies in it, are borrowed. Errors: -ENOMEM. */
int code_lists_new(struct unwind_memory *memory, struct unwind_arena *arena,
		   struct code_lists **ret_lists) must_check;
void code_lists_free(struct code_lists *lists);
DEFINE_FREEP(struct code_lists, code_lists_free)

/* Puts a mapping list into the arena unless it is there (mapping_list.code says so), and binds the process to
 * it. The mappings' files must have their slots. Errors: -ESRCH the process has ended, or has called exec() and not been
 * sampled since; -ENOSPC, -ENOMEM, what unwind_memory_bind() says: counted, and if the list has changed, then all bindings to it are
 * void. */
int code_lists_bind(struct code_lists *lists, uint32_t pid, struct mapping_list *list) must_check;

/* The list is about to change or to be freed: takes it out of the arena. Bindings to it are void from then on. */
void code_lists_drop(struct code_lists *lists, struct mapping_list *list);

struct code_lists_stats code_lists_get_stats(const struct code_lists *lists);

#endif
