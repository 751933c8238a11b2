/* SPDX-License-Identifier: Apache-2.0 */
/* The layouts of runtimes (bpf/shared/runtime.h) that are the same in all processes that map a
 * file: one per slot, in the arena. Belongs to one thread, that of the process table. */
#ifndef UNWIND_TABLES_RUNTIME_LAYOUTS_H
#define UNWIND_TABLES_RUNTIME_LAYOUTS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "bpf/shared/runtime.h"
#include "unwind/tables/unwind_arena.h"

#include <stdint.h>

struct runtime_layouts;

/* `memory` and the arena, which lies in it, are borrowed. Errors: -ENOMEM. */
int runtime_layouts_new(struct unwind_memory *memory, struct unwind_arena *arena,
			struct runtime_layouts **ret_layouts) must_check;
void runtime_layouts_free(struct runtime_layouts *layouts);
DEFINE_FREEP(struct runtime_layouts, runtime_layouts_free)

/* Gives the slot of a file a layout, in place of an earlier one. Unwinders use it from now on.
 * Errors: -ENOSPC, -ENOMEM, those of unwind_arena_put(); then the earlier one stays. */
int runtime_layouts_set(struct runtime_layouts *layouts, uint32_t slot,
			const struct runtime_layout *layout) must_check;

/* Takes the layout of a slot away, if it has one: before the slot is given back. */
void runtime_layouts_drop(struct runtime_layouts *layouts, uint32_t slot);

#endif
