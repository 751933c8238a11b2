/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cpython/cpython_text.h"

#include "base/cleanup.h"
#include "runtime/cpython/cpython_naming.h"
#include "runtime/cpython/cpython_object.h"

#include <stdbool.h>
#include <string.h>

#define CHAR_MAX_BYTES 4
#define REPLACEMENT 0xfffd

/* PyASCIIObject.state: bit fields, the lowest first. */
#define INTERNED_MASK 3
#define INTERNED_BITS 2
#define INTERNED_BITS_FREE_THREADED 8 /* from 3.14 on, where it has a byte of its own */
#define KIND(state) ((state)&7) /* bytes of a character: 1, 2, 4 */
#define IS_COMPACT(state) ((state) >> 3 & 1)
#define IS_ASCII(state) ((state) >> 4 & 1)

struct text {
	uint64_t offset; /* of the characters, in the object */
	size_t nr_chars;
	size_t kind;
};

/* Returns the state from `kind` on. Any compact string has a kind, so the first byte is larger than
 * `interned` unless that fills it. */
static uint32_t without_interned(uint32_t state)
{
	return state >>
	       ((uint8_t)state > INTERNED_MASK ? INTERNED_BITS : INTERNED_BITS_FREE_THREADED);
}

static int parse_head(const struct cpython_object *object, const uint64_t *naming,
		      struct text *ret_text)
{
	uint64_t length;
	uint32_t state;

	if (cpython_object_field(object, naming[CPYTHON_NAMING_UNICODE_LENGTH], &length,
				 sizeof(length)) < 0 ||
	    cpython_object_field(object, naming[CPYTHON_NAMING_UNICODE_STATE], &state,
				 sizeof(state)) < 0)
		return -ENOENT;
	state = without_interned(state);

	uint32_t kind = KIND(state);
	if (!IS_COMPACT(state) || (kind != 1 && kind != 2 && kind != 4) || length > INT64_MAX)
		return -ENOENT;
	uint64_t offset =
		naming[IS_ASCII(state) ? CPYTHON_NAMING_ASCII_DATA : CPYTHON_NAMING_COMPACT_DATA];
	if (offset > CPYTHON_OBJECT_BYTES)
		return -ENOENT;
	*ret_text = (struct text){ .offset = offset, .nr_chars = length, .kind = kind };
	return 0;
}

static uint32_t char_at(const uint8_t *chars, size_t kind, size_t i)
{
	uint16_t two;
	uint32_t four;

	if (kind == 1)
		return chars[i];
	if (kind == 2) {
		memcpy(&two, chars + i * sizeof(two), sizeof(two));
		return two;
	}
	memcpy(&four, chars + i * sizeof(four), sizeof(four));
	return four;
}

static uint8_t next_six(uint32_t c, unsigned int shift)
{
	return (uint8_t)(0x80 | (c >> shift & 0x3f));
}

/* Returns the number of bytes; Unicode 15.0, table 3-6. */
static size_t encode(uint32_t c, uint8_t *to)
{
	if ((c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff)
		c = REPLACEMENT;
	if (c < 0x80) {
		to[0] = (uint8_t)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (uint8_t)(0xc0 | c >> 6);
		to[1] = next_six(c, 0);
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (uint8_t)(0xe0 | c >> 12);
		to[1] = next_six(c, 6);
		to[2] = next_six(c, 0);
		return 3;
	}
	to[0] = (uint8_t)(0xf0 | c >> 18);
	to[1] = next_six(c, 12);
	to[2] = next_six(c, 6);
	to[3] = next_six(c, 0);
	return 4;
}

static int append_chars(const uint8_t *chars, const struct text *text, struct strbuf *out)
{
	for (size_t i = 0; i < text->nr_chars; i++) {
		uint8_t bytes[CHAR_MAX_BYTES];

		strbuf_append(out, bytes, encode(char_at(chars, text->kind, i), bytes));
	}
	return strbuf_error(out);
}

int cpython_text_append(struct process_memory *memory, const uint64_t *naming, uint64_t address,
			size_t max_chars, struct strbuf *out)
{
	_cleanup_(strbuf_done) struct strbuf scratch = strbuf_with_max(max_chars * CHAR_MAX_BYTES);
	struct cpython_object object;
	struct text text;
	const uint8_t *chars;

	int r = cpython_object_read(memory, address, CPYTHON_OBJECT_BYTES, &object);
	if (r < 0)
		return r;
	r = parse_head(&object, naming, &text);
	if (r < 0)
		return r;
	if (text.nr_chars > max_chars)
		text.nr_chars = max_chars;
	r = cpython_object_part(memory, &object, text.offset, text.nr_chars * text.kind, &scratch,
				&chars);
	return r < 0 ? r : append_chars(chars, &text, out);
}
