/* SPDX-License-Identifier: Apache-2.0 */
/* A string table that stores each distinct string once and numbers them in order of arrival. Number
 * 0 is always "". */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include "base/arena.h"
#include "base/err.h"
#include "base/htable.h"

#include <stddef.h>
#include <stdint.h>

struct intern {
	struct arena arena;
	struct htable index;
	const char **strings; /* owned array; the strings live in the arena */
	size_t nr_strings;
	size_t cap_strings;
	size_t max_strings;
};

/* Errors: -ENOMEM. */
int intern_init(struct intern *intern, size_t max_strings, size_t max_bytes) must_check;
void intern_done(struct intern *intern);

/* Finds the number of `text`, which is added if it is new. Errors: -ENOSPC at a limit, -ENOMEM. */
int intern_add(struct intern *intern, const char *text, uint32_t *ret_id) must_check;

/* Finds the number of `text`. Errors: -ENOENT if it was not added. */
int intern_find(const struct intern *intern, const char *text, uint32_t *ret_id) must_check;

/* Returns the string with that number, borrowed from the table. `id` must come from the same
 * table. */
const char *intern_get(const struct intern *intern, uint32_t id);

#endif
