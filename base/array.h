/* SPDX-License-Identifier: Apache-2.0 */
/* Growing plain C arrays. The caller keeps pointer, count and capacity as fields of its own
 * struct; this is the one place where the size is checked against a limit and multiplied. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include "base/err.h"

#include <stddef.h>

/* Makes room for `need` elements in all, doubling the capacity. On failure nothing has changed.
 * Errors: -ENOSPC when need > max, -ENOMEM. */
int array_reserve(void **data, size_t *cap, size_t need, size_t elem_bytes, size_t max) must_check;

/* Type-safe form: struct { struct x *items; size_t nr_items, cap_items; }. */
#define array_grow(items, cap, need, max)                                                          \
	array_reserve((void **)&(items), &(cap), (need), sizeof(*(items)), (max))

#endif
