/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a stack on one line: "clear_page_erms[k] ← … ← build_table ← main". */
#ifndef TOP_PATH_TEXT_H
#define TOP_PATH_TEXT_H

#include "base/strbuf.h"
#include "top/cells.h"
#include "top/hot_stack.h"

#include <stddef.h>

/* Appends the stack in at most `columns` cells: its leaf and as many callers as fit. If the leaf is
 * the kernel's, the application's function that called the kernel is among them. Functions of the
 * kernel end in "[k]". */
void path_text_append(struct strbuf *out, const struct hot_stack *stack, size_t columns,
		      const struct cells_style *style);

#endif
