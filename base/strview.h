/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of a text that are looked at where they stand: nothing is copied, nothing ends with a NUL. */
#ifndef BASE_STRVIEW_H
#define BASE_STRVIEW_H

#include <stdbool.h>
#include <stddef.h>

struct span {
	const char *text;
	size_t len;
};

/* The text up to its NUL, at most `max` bytes of it. */
struct span span_of(const char *text, size_t max);

/* Cuts the text before the next separator off `rest`; false when nothing is left. Behind a separator there
 * is always something left, if only an empty piece. */
bool span_next(struct span *rest, char separator, struct span *ret_part);

/* The part behind the last such character; all of it when there is none. */
struct span span_behind_last(struct span span, char separator);

bool span_is(struct span span, const char *text);
bool span_starts_with(struct span span, const char *prefix);
bool span_ends_with(struct span span, const char *suffix);

/* Without what it starts or ends with, if it does. */
struct span span_without_prefix(struct span span, const char *prefix);
struct span span_without_suffix(struct span span, const char *suffix);

/* Its first or last `len` bytes, which must be there. */
struct span span_head(struct span span, size_t len);
struct span span_tail(struct span span, size_t len);

/* Whether it consists of such characters alone; true when it is empty. */
bool span_has_only(struct span span, const char *characters);

/* Hex digits in lower case. */
bool span_is_hex(struct span span);

/* Whether all of it is 8-4-4-4-12 hex digits with "-", or all with "_", between them. */
bool span_is_uuid(struct span span);

#endif
