/* SPDX-License-Identifier: Apache-2.0 */
/* A view of a part of a text: it copies nothing, and no NUL ends it. */
#ifndef BASE_STRVIEW_H
#define BASE_STRVIEW_H

#include <stdbool.h>
#include <stddef.h>

struct strview {
	const char *text;
	size_t len;
};

/* The text up to its NUL, at most `max` bytes of it. */
struct strview strview_of(const char *text, size_t max);

/* Cuts the text before the next separator off `rest`; false when nothing is left. A separator
 * always leaves something behind it, if only an empty view. */
bool strview_next(struct strview *rest, char separator, struct strview *ret_part);

/* The part behind the last such character; all of it when there is none. */
struct strview strview_behind_last(struct strview view, char separator);

bool strview_is(struct strview view, const char *text);
bool strview_starts_with(struct strview view, const char *prefix);
bool strview_ends_with(struct strview view, const char *suffix);

/* Without what it starts or ends with, if it does. */
struct strview strview_without_prefix(struct strview view, const char *prefix);
struct strview strview_without_suffix(struct strview view, const char *suffix);

/* Its first or last `len` bytes, which must be there. */
struct strview strview_head(struct strview view, size_t len);
struct strview strview_tail(struct strview view, size_t len);

/* Whether it consists of such characters alone; true when it is empty. */
bool strview_has_only(struct strview view, const char *characters);

/* Hex digits in lower case. */
bool strview_is_hex(struct strview view);

/* Whether all of it is 8-4-4-4-12 hex digits with "-", or all with "_", between them. */
bool strview_is_uuid(struct strview view);

#endif
