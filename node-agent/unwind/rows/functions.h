/* SPDX-License-Identifier: Apache-2.0 */
/* Merges the functions that sources of rows list into one list, in which each byte of code belongs
 * to at most one function. */
#ifndef UNWIND_ROWS_FUNCTIONS_H
#define UNWIND_ROWS_FUNCTIONS_H

#include "elf/elf_budget.h"
#include "unwind/rows/unwind_source.h"

#include <stddef.h>
#include <stdint.h>

#define UNWIND_MAX_SOURCES 16

/* Executable bytes of a file that are mapped at once. */
struct code_segment {
	uint64_t address;
	uint64_t len;
	uint64_t offset; /* in the file */
};

struct code_segments {
	const struct code_segment *items; /* borrowed */
	size_t nr_items;
};

/* Appends a function. Errors: -ENOSPC at max_items, -ENOMEM. */
int unwind_functions_add(struct unwind_functions *functions, const struct unwind_function *function)
	must_check;
void unwind_functions_done(struct unwind_functions *functions);

/* Lets the list grow to what is left of a budget, at most to `max_items`. Half of the budget is for
 * the sort. */
void unwind_functions_limit(struct unwind_functions *functions, const struct elf_budget *budget,
			    size_t max_items);

/* Frees memory that the list does not use, and charges the rest, *ret_nr_bytes, to the budget.
 * Errors: -ENOSPC, -ENOMEM. */
int unwind_functions_charge(struct unwind_functions *functions, struct elf_budget *budget,
			    size_t *ret_nr_bytes) must_check;

/* Lists the functions of all sources as one resolved list: sorted by address, without overlaps. Of
 * two functions of one source, the earlier one keeps the bytes that they share. Between sources,
 * the function of the better one does, and the other one loses all that is behind. Functions that
 * begin in none of the segments are left out, because what the linker threw away leaves entries
 * behind. The better source comes first; NULL is no source. Functions that overlap another one of
 * their source are counted as bad entries. At most UNWIND_MAX_SOURCES sources. Errors: those of
 * list(). */
int unwind_functions_collect(struct unwind_functions *functions,
			     struct unwind_source *const *sources, size_t nr_sources,
			     const struct code_segments *segments, struct unwind_losses *losses)
	must_check;

/* Returns the index of the first function of a resolved list that ends above an address; nr_items
 * if there is none. */
size_t unwind_functions_find(const struct unwind_functions *functions, uint64_t address);

#endif
