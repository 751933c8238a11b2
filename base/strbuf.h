/* SPDX-License-Identifier: Apache-2.0 */
/* A growing byte buffer with a hard limit; strbuf_with_max() makes it, a zeroed one takes nothing.
 *
 * Appending never returns an error: the first failure is kept in the buffer and everything after it
 * is ignored. The caller checks once, at the end:
 *
 *	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
 *	strbuf_appendf(&out, "%s %d\n", name, count);
 *	if (strbuf_error(&out) < 0) … */
#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct strbuf {
	char *data; /* owned; NUL-terminated once anything was appended, else NULL */
	size_t len; /* bytes in use, without the NUL */
	size_t cap;
	size_t max; /* -ENOSPC when len would exceed it */
	int error; /* first failure, or 0 */
};

/* An empty buffer that may grow to `max` bytes. Nothing is allocated. */
static inline struct strbuf strbuf_with_max(size_t max)
{
	return (struct strbuf){ .max = max };
}

void strbuf_done(struct strbuf *buf);

/* Removes the content and the error; keeps the memory. */
void strbuf_clear(struct strbuf *buf);

void strbuf_append(struct strbuf *buf, const void *data, size_t len);
void strbuf_append_str(struct strbuf *buf, const char *text);
void strbuf_append_char(struct strbuf *buf, char c);
/* Appends a number, faster than strbuf_appendf(). */
void strbuf_append_u64(struct strbuf *buf, uint64_t number);
void strbuf_appendf(struct strbuf *buf, const char *format, ...) printf_like(2, 3);

/* Appends `len` bytes that the caller must fill. Returns a pointer to them, valid until the next
 * append, or NULL after a failure. */
char *strbuf_extend(struct strbuf *buf, size_t len);

/* Truncates the content to at most `len` bytes. */
void strbuf_truncate(struct strbuf *buf, size_t len);

/* Returns the content as a C string; "" when empty. Borrowed, valid until the next append. */
const char *strbuf_str(const struct strbuf *buf);

/* Keeps a negative errno as the buffer's failure unless there is an earlier one; 0 is ignored. */
void strbuf_fail(struct strbuf *buf, int error);

/* Returns the first failure, or 0: -ENOSPC at the limit, -ENOMEM, -EINVAL from strbuf_appendf() if
 * the text cannot be formatted, or the error of another function that appends. */
int strbuf_error(const struct strbuf *buf) must_check;

#endif
