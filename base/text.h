/* SPDX-License-Identifier: Apache-2.0 */
/* Formats text for people: harmless and shortened names, readable numbers. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/strbuf.h"

#include <stddef.h>
#include <stdint.h>

/* Copies a text; NULL stays NULL. Errors: -ENOMEM. */
int text_copy(const char *text, char **ret_copy) must_check;

/* Appends a time with its unit: "87 ns", "1.33 ms", "14.10 s". */
void text_append_time(struct strbuf *out, uint64_t time_ns);

/* Appends a number as "17,812". */
void text_append_count(struct strbuf *out, uint64_t count);

/* Appends a share in a column of fixed width: " 12.0 %", " 0.4 %"; 0 of 0 is 0. */
void text_append_share(struct strbuf *out, uint64_t part, uint64_t whole);

/* Returns the number of columns of a UTF-8 text, counting each character as one. */
size_t text_columns(const char *text);

enum elide { ELIDE_LEFT, ELIDE_MIDDLE };

/* Appends `text` in at most `columns` columns, with "…" in place of the omitted part. The text is
 * made printable first, as a process may have an escape sequence in its name. */
void text_append_name(struct strbuf *out, const char *text, size_t columns, enum elide elide);

/* Appends a word for a shell, in single quotes if necessary. */
void text_append_shell_word(struct strbuf *out, const char *word);

/* Returns the number of columns of a terminal, or `fallback` if the descriptor is not a
 * terminal. */
unsigned int text_terminal_columns(int fd, unsigned int fallback);

#endif
