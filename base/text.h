/* SPDX-License-Identifier: Apache-2.0 */
/* Text for people: names from containers made harmless, long ones made short, numbers made
 * readable. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

/* Copies a text; NULL stays NULL. Errors: -ENOMEM. */
int text_copy(const char *text, char **ret_copy) must_check;

/* Appends a number as "17,812". */
void text_append_count(struct strbuf *out, uint64_t count);

/* " 12.0 %", "  0.4 %" of a whole, for a column of them; 0 of 0 is 0. */
void text_append_share(struct strbuf *out, uint64_t part, uint64_t whole);

/* Columns of a UTF-8 text on a terminal, each character counted as one. */
size_t text_columns(const char *text);

enum elide { ELIDE_LEFT, ELIDE_MIDDLE };

/* Appends `text` in at most `columns` columns, with "…" where something was cut out. The text
 * is made printable first: a process may call itself by an escape sequence. */
void text_append_name(struct strbuf *out, const char *text, size_t columns, enum elide elide);

/* Appends a word as a shell takes it: in single quotes when it needs them. */
void text_append_shell_word(struct strbuf *out, const char *word);

/* Columns of the terminal behind a descriptor, or `fallback` when it is none. */
unsigned int text_terminal_columns(int fd, unsigned int fallback);

#endif
