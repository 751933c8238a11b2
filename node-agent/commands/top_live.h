/* SPDX-License-Identifier: Apache-2.0 */
/* Samples the machine for `top`: for a screen with keys, or for tables one after the other. */
#ifndef COMMANDS_TOP_LIVE_H
#define COMMANDS_TOP_LIVE_H

#include "config/options.h"
#include "top/board.h"
#include "top/screen.h"

/* Shows the screen until the user quits. Returns the exit status. */
int top_live_screen(const struct options *options, struct screen *screen);

/* Prints a number of tables. Returns the exit status. */
int top_live_tables(const struct options *options, struct screen *screen);

/* Prints the board as the options ask. Returns the exit status. */
int top_print(const struct options *options, struct board *board, struct screen *screen);

#endif
