/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the whole screen as text with escape sequences, from its upper left corner. */
#ifndef TOP_DRAW_H
#define TOP_DRAW_H

#include "base/strbuf.h"
#include "top/board.h"
#include "top/cells.h"
#include "top/screen.h"

/* Appends the screen. `message` is shown in the last line but one if it is not empty; it need not
 * be printable. Sets screen->nr_visible. */
void draw_screen(struct strbuf *out, struct screen *screen, struct board *board,
		 const struct cells_style *style, const char *message);

#endif
