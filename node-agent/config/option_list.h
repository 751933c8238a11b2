/* SPDX-License-Identifier: Apache-2.0 */
/* The two kinds of lists in options. Both have at most LIST_ITEMS_MAX items. */
#ifndef CONFIG_OPTION_LIST_H
#define CONFIG_OPTION_LIST_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define LIST_ITEMS_MAX 8192 /* as many as a kernel has CPUs */

struct string_list {
	char **items; /* owned, as are the strings */
	size_t nr, cap;
};

struct number_list {
	uint32_t *items; /* owned, no number twice */
	size_t nr, cap;
};

/* Appends a copy of the text. Errors: -ENOSPC, -ENOMEM. */
int string_list_add(struct string_list *list, const char *text) must_check;

/* Frees the strings and the array. */
void string_list_done(struct string_list *list);

/* Appends a number unless the list has it already. Errors: -ENOSPC, -ENOMEM. */
int number_list_add(struct number_list *list, uint32_t number) must_check;

/* Frees the array. */
void number_list_done(struct number_list *list);

#endif
