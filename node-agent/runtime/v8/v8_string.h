/* SPDX-License-Identifier: Apache-2.0 */
/* Reads strings of V8's heap. A string has its characters in itself or outside of the heap, as one
 * byte (Latin-1) or two (UTF-16) each; or it refers to others: a part of one (sliced), another one
 * (thin), or two that follow each other (cons).
 * Sources: V8's src/objects/string.tq and src/objects/instance-type.h. */
#ifndef RUNTIME_V8_V8_STRING_H
#define RUNTIME_V8_V8_STRING_H

#include "base/err.h"
#include "base/strbuf.h"
#include "runtime/v8/v8_heap.h"

#include <stdbool.h>
#include <stdint.h>

/* The characters of a string that are in one place. */
struct v8_flat {
	uint64_t address;
	uint32_t length; /* characters */
	bool is_two_byte;
};

/* Finds the characters of a string that are not in several places. Errors: -ENOENT it is not such a
 * string; those of process_memory_read(). */
int v8_string_flat(const struct v8_heap *heap, uint64_t string, struct v8_flat *ret_flat)
	must_check;

/* Appends a string as UTF-8, at most its first `max_chars` characters. Errors: -ENOENT it is not a
 * string; those of process_memory_read() and strbuf_error(). */
int v8_string_append(const struct v8_heap *heap, uint64_t string, uint32_t max_chars,
		     struct strbuf *out) must_check;

/* Returns whether an object can be read and is a string that has characters. */
bool v8_string_has_text(const struct v8_heap *heap, uint64_t object);

#endif
