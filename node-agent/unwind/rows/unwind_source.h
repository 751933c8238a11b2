/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of rules: .eh_frame, .debug_frame, Go's .gopclntab. A source first lists the functions
 * that it describes. Later it gives their rows in the order of addresses, and only for functions
 * that no better source has. So functions are sorted, and never rows. */
#ifndef UNWIND_ROWS_UNWIND_SOURCE_H
#define UNWIND_ROWS_UNWIND_SOURCE_H

#include "base/cleanup.h"
#include "base/err.h"
#include "unwind/rows/row_builder.h"

#include <stddef.h>
#include <stdint.h>

struct unwind_function {
	uint64_t start; /* virtual addresses */
	uint64_t end;
	uint64_t ref; /* the source's own: which entry describes it */
	uint32_t source; /* index, set by whoever merges the lists; lower is better */
};

/* A growing, bounded list. */
struct unwind_functions {
	struct unwind_function *items; /* owned */
	size_t nr_items;
	size_t cap_items;
	size_t max_items;
};

/* Damage in an input that was read all the same. Functions add to it. */
struct unwind_losses {
	uint64_t nr_bad_entries; /* CIEs, FDEs, functions that are damaged: skipped */
	uint64_t nr_unsupported_rules; /* became CFA_UNSUPPORTED or CFI_LOST */
};

struct unwind_source;

struct unwind_source_ops {
	/* Appends all functions, in any order. Errors: -ENOSPC at max_items, -ENOMEM. */
	int (*list)(struct unwind_source *source, struct unwind_functions *functions,
		    struct unwind_losses *losses);
	/* Calls row_builder_add() for each row of a function that it listed, after the caller
	 * has called row_builder_begin(). Errors: those of row_builder_add(). A damaged entry is
	 * counted, and its rows so far stay. */
	int (*emit)(struct unwind_source *source, const struct unwind_function *function,
		    struct row_builder *builder, struct unwind_losses *losses);
	void (*free)(struct unwind_source *source);
};

/* The first member of each source. */
struct unwind_source {
	const struct unwind_source_ops *ops;
};

static inline void unwind_source_free(struct unwind_source *source)
{
	if (source)
		source->ops->free(source);
}
DEFINE_FREEP(struct unwind_source, unwind_source_free)

#endif
