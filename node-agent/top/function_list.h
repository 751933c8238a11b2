/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of a row with the time that was spent in each of them, without (self) and with
 * (total) what they called: CPU time, or time of waits. */
#ifndef TOP_FUNCTION_LIST_H
#define TOP_FUNCTION_LIST_H

#include "base/err.h"
#include "top/tally.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct function_row {
	const char *name; /* borrowed from the profile; not printable */
	const char *file; /* the program or library that it is in; "" if not known; borrowed */
	enum frame_kind kind;
	uint64_t self, total; /* samples, or nanoseconds; a recursion counts once */
	uint32_t last_stack; /* + 1; the stack that counted last, while the list is built */
};

struct function_list {
	struct function_row *rows; /* owned */
	size_t nr_rows, cap_rows;
};

/* Lists the functions of a row in no order. With `hides_kernel`, the kernel's functions are left
 * out, and their time is that of the application's function that called them. Errors: -ENOMEM,
 * -ENOSPC. */
int function_list_init(struct function_list *list, const struct tally_part *part, bool hides_kernel)
	must_check;
void function_list_done(struct function_list *list);

#endif
