/* SPDX-License-Identifier: Apache-2.0 */
/* The mapping tables of processes in the arena, and the bindings of processes to them.
 *
 * A table belongs to a struct mapping_list and is shared like it: forked children have their
 * parent's. The ranges of a table never change. A process whose mappings changed gets a new table,
 * and then a new binding with one store. Belongs to one thread, that of the process table. */
#ifndef UNWIND_TABLES_MAPPING_TABLES_H
#define UNWIND_TABLES_MAPPING_TABLES_H

#include "base/cleanup.h"
#include "base/err.h"
#include "process/mapping_list.h"
#include "unwind/tables/unwind_arena.h"

#include <stdint.h>

struct mapping_tables;

struct mapping_tables_stats {
	uint64_t nr_tables; /* in the arena */
	uint64_t nr_bytes;
	uint64_t nr_published;
	uint64_t nr_failures; /* arena full, no memory */
};

/* `memory` and the arena, which lies in it, are borrowed. Errors: -ENOMEM. */
int mapping_tables_new(struct unwind_memory *memory, struct unwind_arena *arena,
		       struct mapping_tables **ret_tables) must_check;
void mapping_tables_free(struct mapping_tables *tables);
DEFINE_FREEP(struct mapping_tables, mapping_tables_free)

/* Puts the table of a mapping list into the arena, unless list->table says that it is there, and
 * binds the process to it. The mappings' files must have their slots. Errors: -ESRCH the process
 * has ended, or has called exec() and not been sampled since; -ENOSPC, -ENOMEM, those of
 * unwind_memory_bind(): counted, and if the list has changed, all bindings to its table are
 * void. */
int mapping_tables_bind(struct mapping_tables *tables, uint32_t pid, struct mapping_list *list)
	must_check;

/* Frees the table of a list that is about to change or to be freed. Bindings to it are void from
 * then on. */
void mapping_tables_drop(struct mapping_tables *tables, struct mapping_list *list);

struct mapping_tables_stats mapping_tables_get_stats(const struct mapping_tables *tables);

#endif
