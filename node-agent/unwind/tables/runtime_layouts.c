/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/tables/runtime_layouts.h"

#include "bpf/shared/cfi.h"

#include <stdlib.h>

struct runtime_layouts {
	struct unwind_memory *memory; /* borrowed */
	struct unwind_arena *arena; /* borrowed */
	uint32_t units[MAX_TABLE_SLOTS]; /* by slot; 0: no layout. Touched as they are needed */
};

int runtime_layouts_new(struct unwind_memory *memory, struct unwind_arena *arena,
			struct runtime_layouts **ret_layouts)
{
	struct runtime_layouts *layouts = calloc(1, sizeof(*layouts));

	if (!layouts)
		return -ENOMEM;
	layouts->memory = memory;
	layouts->arena = arena;
	*ret_layouts = layouts;
	return 0;
}

void runtime_layouts_free(struct runtime_layouts *layouts)
{
	free(layouts);
}

/* Unwinders see the layout after everything that was written before. */
static void point_to(struct runtime_layouts *layouts, uint32_t slot, uint32_t unit)
{
	uint32_t old = layouts->units[slot];

	layouts->units[slot] = unit;
	__atomic_store_n(&layouts->memory->tables[slot].runtime, unit, __ATOMIC_RELEASE);
	if (old != 0)
		unwind_arena_free(layouts->arena, old, sizeof(struct runtime_layout));
}

int runtime_layouts_set(struct runtime_layouts *layouts, uint32_t slot,
			const struct runtime_layout *layout)
{
	uint32_t unit;

	int r = unwind_arena_put(layouts->arena, layout, sizeof(*layout), &unit);
	if (r == 0)
		point_to(layouts, slot, unit);
	return r;
}

void runtime_layouts_drop(struct runtime_layouts *layouts, uint32_t slot)
{
	if (layouts->units[slot] != 0)
		point_to(layouts, slot, 0);
}
