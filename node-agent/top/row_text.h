/* SPDX-License-Identifier: Apache-2.0 */
/* The columns of the table, on the screen and in print:
 *
 *	APPLICATION     CPU  %NODE   APP  KERN   IRQ  SIRQ  PROCS  TREND       HOTTEST STACK
 *	shop/cart     12.31    4.8    82    15     1     2      4  ▂▃▅▇█▇▅▃▂▂  61 % app   hash_session ← …
 *
 * CPU is a number of CPUs; APP, KERN, IRQ and SIRQ are shares of the row's CPU time in percent. If
 * waits are known, WAIT and DELAY stand behind %NODE: numbers of threads that were blocked, and
 * that waited for a CPU. The screen can show what they waited for instead of the shares:
 *
 *	APPLICATION     CPU  %NODE   WAIT  DELAY   DISK    MEM   LOCK    NET  HOTTEST WAIT
 *	shop/cart     12.31    4.8   3.20   0.41   2.70   0.00   0.50   8.10  84 % disk  io_schedule ← … */
#ifndef TOP_ROW_TEXT_H
#define TOP_ROW_TEXT_H

#include "base/strbuf.h"
#include "top/board.h"
#include "top/cells.h"

#include <stdbool.h>
#include <stddef.h>

struct row_layout {
	size_t name; /* cells */
	bool has_waits, shows_waits, has_split, has_processes, has_trend;
	size_t stack; /* cells for the hottest stack; 0: none */
};

/* Chooses the columns that fit. */
struct row_layout row_layout_fit(const struct screen *screen, size_t columns, bool has_trend,
				 bool has_stack);

/* Appends the head of the table, with a "*" at the column by which it is sorted. */
void row_text_append_head(struct strbuf *out, const struct row_layout *layout,
			  const struct board *board, const struct screen *screen);

/* Appends a row without the end of the line. */
void row_text_append(struct strbuf *out, const struct row_layout *layout, struct board *board,
		     const struct tally_row *row, const struct cells_style *style);

/* Appends "61 % application" for the leaf of a row's hottest stack. */
void row_text_append_share(struct strbuf *out, const struct hot_stack *stack,
			   const struct tally_row *row);

/* Appends "84 % disk" for the leaf of the hottest stack of a row's waits. */
void row_text_append_wait_share(struct strbuf *out, const struct hot_stack *stack);

/* Appends what the threads of a row waited for, the most first: "disk 2.70, futex 0.50, poll 31.2
 * threads". */
void row_text_append_reasons(struct strbuf *out, const struct board *board,
			     const struct tally_row *row);

/* Appends the head of the table of functions, and a row of it. */
void row_text_append_function_head(struct strbuf *out, const struct screen *screen);
void row_text_append_function(struct strbuf *out, const struct board *board,
			      const struct function_row *row, const struct cells_style *style);

#endif
