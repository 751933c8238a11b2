/* SPDX-License-Identifier: Apache-2.0 */
/* A part of a text. It is not copied and not NUL-terminated. */
#ifndef BASE_STRVIEW_H
#define BASE_STRVIEW_H

#include <stdbool.h>
#include <stddef.h>

struct strview {
	const char *text;
	size_t len;
};

/* Returns a view of the text up to its NUL, with at most `max` bytes. */
struct strview strview_of(const char *text, size_t max);

/* Takes the part before the next separator off `rest`; returns false at the end. After a separator
 * there is always another part, which may be empty. */
bool strview_next(struct strview *rest, char separator, struct strview *ret_part);

/* Returns the part after the last separator; the whole view if there is none. */
struct strview strview_behind_last(struct strview view, char separator);

bool strview_is(struct strview view, const char *text);
bool strview_starts_with(struct strview view, const char *prefix);
bool strview_ends_with(struct strview view, const char *suffix);

/* Remove the prefix or suffix, if the view has it. */
struct strview strview_without_prefix(struct strview view, const char *prefix);
struct strview strview_without_suffix(struct strview view, const char *suffix);

/* Return the first or last `len` bytes; the view must have as many. */
struct strview strview_head(struct strview view, size_t len);
struct strview strview_tail(struct strview view, size_t len);

/* Returns whether the view consists of these characters only; true if it is empty. */
bool strview_has_only(struct strview view, const char *characters);

/* Returns whether the view consists of lower-case hex digits. */
bool strview_is_hex(struct strview view);

/* Returns whether the view has 8-4-4-4-12 hex digits, all separated by "-" or all by "_". */
bool strview_is_uuid(struct strview view);

#endif
