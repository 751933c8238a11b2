/* SPDX-License-Identifier: Apache-2.0 */
/* A builder from inside: what builder.c and those beside it share. */
#ifndef PROFILE_BUILDER_TABLES_H
#define PROFILE_BUILDER_TABLES_H

#include "base/htable.h"
#include "profile/builder.h"

#include <stdbool.h>

/* Numbers are 32 bits wide and an index stores number + 1. */
#define BUILDER_MAX_ROWS (UINT32_MAX - 1)

struct builder {
	struct profile *profile; /* owned until sealed */
	size_t max_bytes;
	size_t nr_bytes; /* charged so far; never above max_bytes */
	struct htable functions;
	struct htable locations;
	struct htable stacks;
	struct htable resources;
	struct htable processes;
	struct htable samples;
	bool has_type; /* builder_set_type() was called */
	bool has_time; /* builder_set_time() was called */
	bool drops_times; /* builder_drop_times() was called */
};

bool builder_has_room(const struct builder *builder, size_t bytes);

/* Files a new row in its index and charges for both; `bytes` is what the row takes.
 * Errors: -ENOSPC, -ENOMEM. */
int builder_book(struct builder *builder, struct htable *index, uint32_t hash, size_t row,
		 size_t bytes) must_check;

#endif
