/* SPDX-License-Identifier: Apache-2.0 */
/* Limits the memory that is in use while the unwind rows of one file are built. A few bytes in the
 * headers of a file decide how much of it is read and how many items it has. So all memory that
 * grows with a file is charged here before it is allocated: pages that are read, section headers,
 * names, decompressed sections, CIEs, functions, the map of a code scan, and the table.
 *
 * A budget may be NULL: unlimited. */
#ifndef ELF_ELF_BUDGET_H
#define ELF_ELF_BUDGET_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct elf_budget {
	size_t max_bytes;
	size_t nr_bytes; /* charged now */
};

/* Charges a number of bytes. Errors: -ENOSPC, then nothing is charged. */
int elf_budget_take(struct elf_budget *budget, uint64_t nr_bytes) must_check;

/* Returns bytes that were charged. */
void elf_budget_give(struct elf_budget *budget, size_t nr_bytes);

/* Returns the number of elements of a size that there is room for. */
size_t elf_budget_room(const struct elf_budget *budget, size_t elem_bytes);

/* As array_reserve(), but charges the growth of the array. Errors: -ENOSPC, also if need > max;
 * -ENOMEM. */
int elf_budget_reserve(struct elf_budget *budget, void **data, size_t *cap, size_t need,
		       size_t elem_bytes, size_t max) must_check;

#define elf_budget_grow(budget, items, cap, need, max)                                             \
	elf_budget_reserve((budget), (void **)&(items), &(cap), (need), sizeof(*(items)), (max))

#endif
