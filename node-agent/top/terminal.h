/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal as a screen: without line editing and echo, on the alternate page, so that the
 * user's page is back at the end. There is one such screen in a process, as its signals are
 * handled here:
 *
 *	terminal_open() ─▶ terminal_read(), terminal_write() repeatedly ─▶ terminal_close()
 *
 * The terminal is restored however the process ends: by SIGTSTP, which the shell follows, by a
 * crash, and by the signals that ask for the end, if they call terminal_restore(). Messages to
 * standard error would destroy the picture. They are held and written at the end. */
#ifndef TOP_TERMINAL_H
#define TOP_TERMINAL_H

#include "base/err.h"
#include "base/strbuf.h"
#include "top/cells.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns whether standard input and output are a terminal that can be used as a screen. */
bool terminal_is_usable(void);

/* Fills in the size of the terminal, whether it shows UTF-8, and whether colours are wanted, from
 * the terminal on that descriptor and the environment (COLUMNS, TERM, NO_COLOR, LC_ALL, LC_CTYPE,
 * LANG). A terminal is taken to show UTF-8 unless the environment says otherwise. */
void terminal_get_style(int fd, struct cells_style *ret_style);

/* Errors: those of tcsetattr(3). */
int terminal_open(void) must_check;

/* Restores the terminal and writes the messages that were held. */
void terminal_close(void);

/* Restores the terminal. May be called by a signal handler. Nothing is drawn afterwards. */
void terminal_restore(void);

/* Reads what was typed, without waiting. Returns the number of bytes. */
size_t terminal_read(char *bytes, size_t size);

/* Draws. If the terminal does not take the text for a while, the rest is dropped. Errors: those of
 * write(2), such as -EIO for a terminal that is gone. */
int terminal_write(const char *text, size_t len) must_check;

/* Returns whether the picture must be drawn anew, since the size has changed or the process was
 * stopped. */
bool terminal_take_redraw(void);

/* Appends the last message that was held, if it came since the last call. */
void terminal_take_message(struct strbuf *out);

#endif
