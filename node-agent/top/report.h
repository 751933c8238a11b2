/* SPDX-License-Identifier: Apache-2.0 */
/* The table as text for a terminal or a file, and as JSON for scripts. */
#ifndef TOP_REPORT_H
#define TOP_REPORT_H

#include "base/err.h"
#include "base/strbuf.h"
#include "top/board.h"
#include "top/cells.h"

#include <stddef.h>

/* Appends the totals and the first `max_rows` rows of the board, each with its hottest stack on a
 * line of its own. Errors: -ENOSPC, -ENOMEM. */
int report_append_text(struct strbuf *out, struct board *board, const struct screen *screen,
		       size_t max_rows, const struct cells_style *style) must_check;

/* Appends the same as one line of JSON. Errors: as above. */
int report_append_json(struct strbuf *out, struct board *board, size_t max_rows) must_check;

#endif
