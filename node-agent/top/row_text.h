/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of the table, on the screen and in print:
 *
 *	APPLICATION     CPU  %NODE   APP  KERN   IRQ  SIRQ  PROCS  TREND       HOTTEST STACK
 *	shop/cart     12.31    4.8    82    15     1     2      4  ▂▃▅▇█▇▅▃▂▂  61 % app   hash_session ← …
 *
 * CPU is a number of CPUs; APP, KERN, IRQ and SIRQ are shares of the row's CPU time in percent. */
#ifndef TOP_ROW_TEXT_H
#define TOP_ROW_TEXT_H

#include "base/strbuf.h"
#include "top/board.h"
#include "top/cells.h"

#include <stdbool.h>
#include <stddef.h>

struct row_layout {
	size_t name; /* cells */
	bool has_split, has_processes, has_trend;
	size_t stack; /* cells for the hottest stack; 0: none */
};

/* Chooses the columns that fit. */
struct row_layout row_layout_fit(size_t columns, bool has_trend, bool has_stack);

/* Appends the head of the table, with a "*" at the column by which it is sorted. */
void row_text_append_head(struct strbuf *out, const struct row_layout *layout,
			  const struct board *board, const struct screen *screen);

/* Appends a row without the end of the line. */
void row_text_append(struct strbuf *out, const struct row_layout *layout, struct board *board,
		     const struct tally_row *row, const struct cells_style *style);

/* Appends "61 % application" for the leaf of a row's hottest stack. */
void row_text_append_share(struct strbuf *out, const struct hot_stack *stack,
			   const struct tally_row *row);

/* Appends the head of the table of functions, and a row of it. */
void row_text_append_function_head(struct strbuf *out, const struct screen *screen);
void row_text_append_function(struct strbuf *out, const struct board *board,
			      const struct function_row *row, const struct cells_style *style);

#endif
