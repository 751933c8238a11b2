/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and byte strings, one after the other, for messages between two processes of this
 * program: a number is eight bytes in host order, a string its length as a number, its bytes and a
 * NUL.
 *
 *	flat_put_number(&out, 7);		reader = flat_reader(bytes, len);
 *	flat_put_text(&out, "seven");		number = flat_take_number(&reader, 9);
 *						text = flat_take_text(&reader, 16);
 *						r = flat_reader_finish(&reader);
 *
 * The reader trusts nothing: each number and length has a maximum. It remembers the first error,
 * after which every value is 0 or empty. Strings are borrowed from the input. */
#ifndef BASE_FLAT_H
#define BASE_FLAT_H

#include "base/err.h"
#include "base/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void flat_put_number(struct strbuf *out, uint64_t number);
void flat_put_bytes(struct strbuf *out, const void *bytes, size_t len);
/* NULL is written as "". */
void flat_put_text(struct strbuf *out, const char *text);

struct flat_reader {
	const char *at; /* borrowed */
	size_t len; /* bytes that are left */
	bool is_bad;
};

static inline struct flat_reader flat_reader(const void *bytes, size_t len)
{
	return (struct flat_reader){ .at = bytes, .len = len };
}

/* Reads the next number, which must not exceed `max`. */
uint64_t flat_take_number(struct flat_reader *reader, uint64_t max);
bool flat_take_bool(struct flat_reader *reader);

/* Reads the next byte string of at most `max_len` bytes; a NUL follows it. */
const void *flat_take_bytes(struct flat_reader *reader, size_t max_len, size_t *ret_len);

/* Reads the next string, which must not contain a NUL. */
const char *flat_take_text(struct flat_reader *reader, size_t max_len);

/* Ends reading. Errors: -EBADMSG if a value was invalid or bytes are left. */
int flat_reader_finish(const struct flat_reader *reader) must_check;

#endif
