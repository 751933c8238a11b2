/* SPDX-License-Identifier: Apache-2.0 */
/* The lists of functions that the sources of rows give, made into one in which each byte of code
 * belongs to at most one function. */
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

/* The list may take what is left of a budget, up to `max_items`; half of it is for the sort. */
void unwind_functions_limit(struct unwind_functions *functions, const struct elf_budget *budget,
			    size_t max_items);

/* Gives memory back that the list has no use for, and charges what it keeps, so many bytes.
 * Errors: -ENOSPC, -ENOMEM. */
int unwind_functions_charge(struct unwind_functions *functions, struct elf_budget *budget,
			    size_t *ret_nr_bytes) must_check;

/* Says that the functions from the index `first` on are those of a source, and removes those of
 * them that do not begin in one of the segments: what the linker threw away leaves entries
 * behind. */
void unwind_functions_claim(struct unwind_functions *functions, size_t first, uint32_t source,
			    const struct code_segments *segments);

/* Appends what a source lists and claims it for the source's number; nothing for NULL. Errors:
 * those of list(). */
int unwind_functions_list(struct unwind_functions *functions, struct unwind_source *source,
			  uint32_t number, const struct code_segments *segments,
			  struct unwind_losses *losses) must_check;

/* Sorts by address and removes overlaps. Of two functions of one source the earlier one keeps
 * what they share. Between sources the better one's does; what another one's has behind it is
 * lost. Sources are below UNWIND_MAX_SOURCES. Returns how many functions overlapped one of their
 * own source. */
size_t unwind_functions_resolve(struct unwind_functions *functions);

/* The index of the first function that ends above an address; nr_items if there is none. For a
 * list that is resolved. */
size_t unwind_functions_find(const struct unwind_functions *functions, uint64_t address);

#endif
