/* SPDX-License-Identifier: Apache-2.0 */
/* Grows plain C arrays. The caller keeps the pointer, count and capacity in its own struct. The
 * size is checked against a limit and multiplied here only. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include "base/err.h"

#include <stddef.h>

/* Makes room for a total of `need` elements by doubling the capacity. On failure nothing changes.
 * Errors: -ENOSPC when need > max, -ENOMEM. */
int array_reserve(void **data, size_t *cap, size_t need, size_t elem_bytes, size_t max) must_check;

/* Type-safe form: struct { struct x *items; size_t nr_items, cap_items; }. */
#define array_grow(items, cap, need, max)                                                          \
	array_reserve((void **)&(items), &(cap), (need), sizeof(*(items)), (max))

#endif
