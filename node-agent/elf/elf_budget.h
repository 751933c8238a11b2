/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory the making of one file's rows may hold at a time. A file decides by a few
 * bytes of its headers how much of it is read and how long the lists made of it become, so all
 * that grows with a file is charged here before it is allocated: pages that are read, section
 * headers, names, decompressed sections, CIEs, functions, the map of a code scan, and the table.
 *
 * All functions take NULL for a budget without a bound. */
#ifndef ELF_ELF_BUDGET_H
#define ELF_ELF_BUDGET_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct elf_budget {
	size_t max_bytes;
	size_t nr_bytes; /* charged now */
};

/* Errors: -ENOSPC, then nothing is charged. */
int elf_budget_take(struct elf_budget *budget, uint64_t nr_bytes) must_check;

/* Gives back what was taken. */
void elf_budget_give(struct elf_budget *budget, size_t nr_bytes);

/* How many elements of a size there is room for. */
size_t elf_budget_room(const struct elf_budget *budget, size_t elem_bytes);

/* As array_reserve(), and charges what the array grows by. Errors: -ENOSPC, also when need >
 * max; -ENOMEM. */
int elf_budget_reserve(struct elf_budget *budget, void **data, size_t *cap, size_t need,
		       size_t elem_bytes, size_t max) must_check;

#define elf_budget_grow(budget, items, cap, need, max)                                             \
	elf_budget_reserve((budget), (void **)&(items), &(cap), (need), sizeof(*(items)), (max))

#endif
