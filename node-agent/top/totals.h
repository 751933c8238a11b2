/* SPDX-License-Identifier: Apache-2.0 */
/* The totals above the table. */
#ifndef TOP_TOTALS_H
#define TOP_TOTALS_H

#include "base/strbuf.h"
#include "top/board.h"
#include "top/cells.h"

#include <stdbool.h>

/* Appends a line without its end: "node-1  CPU 1.31 of 2 [###==-   ] application 71 %  kernel …",
 * with the parts that fit. */
void totals_append_bar(struct strbuf *out, const struct board *board,
		       const struct cells_style *style);

/* Appends what the kernel itself counted: "kernel counts: user 1.23  system 0.40  irq 0.01 …", in
 * CPUs, with the parts that fit. */
void totals_append_vitals(struct strbuf *out, const struct board *board,
			  const struct cells_style *style);

/* Appends "1.31 of 2 CPUs busy (65.5 %): application 71.2 %, kernel 20.1 %, …". */
void totals_append_sentence(struct strbuf *out, const struct board *board);

/* Appends "threads blocked 3.20: disk 2.70, memory 0.00, locks 0.50; waiting for a CPU 0.41", if
 * waits are known. Returns whether it did. */
bool totals_append_waits(struct strbuf *out, const struct board *board);

/* Appends ", 131 samples in 2.0 s, 0 lost". */
void totals_append_samples(struct strbuf *out, const struct board *board);

#endif
