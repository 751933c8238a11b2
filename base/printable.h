/* SPDX-License-Identifier: Apache-2.0 */
/* Names come from programs, containers and servers, and may be any bytes. They end up on
 * terminals, in logs and in backends. Before a name leaves, in whatever format, it is made
 * printable here, so that it reads the same everywhere.
 *
 * Well-formed UTF-8 characters stay, except those that do something to the text around them:
 *
 *	control characters	C0 with newline and tab, DEL, C1: terminals obey them
 *	U+2028, U+2029		end a line
 *	U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069
 *				change the direction of the text that follows
 *	U+FFFE, U+FFFF		are no characters; XML forbids them
 *
 * Each byte of those, and each byte that is not UTF-8, becomes an escape: "\x1b", always two
 * digits in lower case. A backslash stays as it is. So text that is printable already does not
 * change, however often it comes through here, and a name that contains the four characters
 * "\x1b" looks like one that was escaped. What a format needs besides (quotes, entities,
 * backslashes before backslashes) is added on top. */
#ifndef BASE_PRINTABLE_H
#define BASE_PRINTABLE_H

#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>

#define PRINTABLE_ESCAPE_BYTES 4

/* A walk over a text. A piece is a character that stays or the escape of one byte; only its
 * first byte can be a quote or a backslash. */
struct printable {
	const char *rest; /* borrowed; text that was not read yet */
	const char *piece; /* points into the text or to `escape` */
	size_t len; /* bytes of the piece */
	char escape[PRINTABLE_ESCAPE_BYTES];
};

/* Returns a walk before the first piece of a NUL-terminated text. */
struct printable printable_of(const char *text);

/* Moves on to the next piece. Returns false after the last one. */
bool printable_next(struct printable *printable);

/* Returns whether `text` is printable as it is. */
bool printable_holds(const char *text);

/* Appends the printable form of `text`, which has at most four times as many bytes. */
void printable_append(struct strbuf *out, const char *text);

/* Appends the printable form of `text` with a backslash before each of the ASCII characters in
 * `special`. */
void printable_append_quoted(struct strbuf *out, const char *text, const char *special);

/* Copies as many whole pieces as fit into `size` bytes, which must not be 0, and ends them with
 * a NUL. Returns the number of bytes before it. `to` must not overlap `text`. */
size_t printable_copy(char *to, size_t size, const char *text);

/* Returns `text` itself if it is printable, else its printable form in `scratch`, whose old content
 * is lost. The result is valid until `scratch` changes. After a failure, which `scratch` keeps, the
 * result is a part of the text. */
const char *printable_text(const char *text, struct strbuf *scratch);

#endif
