/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_string.h"

#include "runtime/v8/v8_values.h"

/* Parts of an instance type, the same in all versions. */
#define REPRESENTATION_MASK 7
#define ONE_BYTE_BIT 8
#define UNCACHED_BIT 16 /* of an external string: it does not keep the address */

enum {
	REPRESENTATION_SEQ = 0,
	REPRESENTATION_CONS = 1,
	REPRESENTATION_EXTERNAL = 2,
	REPRESENTATION_SLICED = 3,
	REPRESENTATION_THIN = 5
};

/* Offsets behind the first word, the same in all versions. */
#define STRING_LENGTH 4
#define STRING_CHARS 8
#define STRING_FIRST 8 /* ConsString.first, SlicedString.parent, ThinString.actual */
/* One word behind it: ConsString.second, SlicedString.offset. An ExternalString has two addresses
 * there instead, which are not compressed. */
#define EXTERNAL_ADDRESS 16

#define MAX_REFERENCES 32 /* from string to string */
#define MAX_PARTS 256
#define CHUNK_CHARS 512

struct string {
	uint32_t type;
	uint32_t length;
	uint64_t words[2]; /* at STRING_FIRST, but of an ExternalString */
};

static uint32_t representation_of(const struct string *string)
{
	return string->type & REPRESENTATION_MASK;
}

static bool refers_to_strings(const struct string *string)
{
	return representation_of(string) != REPRESENTATION_SEQ &&
	       representation_of(string) != REPRESENTATION_EXTERNAL;
}

static int read_string(const struct v8_heap *heap, uint64_t object, struct string *ret)
{
	uint64_t first = v8_word_bytes(heap);

	int r = v8_heap_type(heap, object);
	if (r < 0)
		return r;
	ret->type = (uint32_t)r;
	if (ret->type >= heap->values[V8_FIRST_NONSTRING])
		return -ENOENT;
	r = v8_heap_u32(heap, object, first + STRING_LENGTH, &ret->length);
	ret->words[0] = ret->words[1] = 0;
	if (r < 0 || !refers_to_strings(ret))
		return r;
	r = v8_heap_word(heap, object, first + STRING_FIRST, &ret->words[0]);
	if (r < 0 || representation_of(ret) == REPRESENTATION_THIN)
		return r;
	return v8_heap_word(heap, object, 2 * first + STRING_FIRST, &ret->words[1]);
}

/* In builds with a trusted cage, tables have the addresses of external strings. */
static int external_chars(const struct v8_heap *heap, uint64_t object, const struct string *string,
			  uint64_t *ret_address)
{
	uint64_t offset = v8_word_bytes(heap) + EXTERNAL_ADDRESS;

	if (string->type & UNCACHED_BIT || heap->values[V8_TRUSTED_CAGE] != 0)
		return -ENOENT;
	return v8_heap_read(heap, object, offset, ret_address, sizeof(*ret_address));
}

/* Returns 1 if the string has its characters in one place, which it sets. */
static int take_chars(const struct v8_heap *heap, uint64_t object, const struct string *string,
		      uint32_t start, struct v8_flat *ret_flat)
{
	uint64_t address = (object & ~3ULL) + v8_word_bytes(heap) + STRING_CHARS;
	bool is_two_byte = !(string->type & ONE_BYTE_BIT);

	if (representation_of(string) == REPRESENTATION_EXTERNAL &&
	    external_chars(heap, object, string, &address) < 0)
		return -ENOENT;
	if (start > string->length || ret_flat->length > string->length - start)
		return -ENOENT;
	ret_flat->address = address + ((uint64_t)start << is_two_byte);
	ret_flat->is_two_byte = is_two_byte;
	return 1;
}

static bool is_empty(const struct v8_heap *heap, uint64_t object)
{
	struct string string;

	return read_string(heap, object, &string) == 0 && string.length == 0;
}

/* Goes from a string to the one that has its characters. Returns 1 when that was found. */
static int follow(const struct v8_heap *heap, uint64_t *object, uint32_t *start,
		  struct v8_flat *ret_flat)
{
	struct string string;

	int r = read_string(heap, *object, &string);
	if (r < 0)
		return r;
	switch (representation_of(&string)) {
	case REPRESENTATION_SEQ:
	case REPRESENTATION_EXTERNAL:
		return take_chars(heap, *object, &string, *start, ret_flat);
	case REPRESENTATION_SLICED:
		if (!v8_is_smi(string.words[1]) || v8_smi(string.words[1]) < 0)
			return -ENOENT;
		*start += (uint32_t)v8_smi(string.words[1]);
		break;
	case REPRESENTATION_CONS:
		if (!is_empty(heap, string.words[1]))
			return -ENOENT;
		break;
	case REPRESENTATION_THIN:
		break;
	default:
		return -ENOENT;
	}
	*object = string.words[0];
	return 0;
}

int v8_string_flat(const struct v8_heap *heap, uint64_t string, struct v8_flat *ret_flat)
{
	struct v8_flat flat = { 0 };
	struct string head;
	uint32_t start = 0;

	int r = read_string(heap, string, &head);
	if (r < 0)
		return r;
	flat.length = head.length;
	for (int i = 0; i < MAX_REFERENCES; i++) {
		r = follow(heap, &string, &start, &flat);
		if (r < 0)
			return r;
		if (r > 0) {
			*ret_flat = flat;
			return 0;
		}
	}
	return -ENOENT;
}

static void append_char(struct strbuf *out, uint32_t c)
{
	if (c < 0x80) {
		strbuf_append_char(out, (char)c);
	} else if (c < 0x800) {
		strbuf_append_char(out, (char)(0xc0 | c >> 6));
		strbuf_append_char(out, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		strbuf_append_char(out, (char)(0xe0 | c >> 12));
		strbuf_append_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
		strbuf_append_char(out, (char)(0x80 | (c & 0x3f)));
	} else {
		strbuf_append_char(out, (char)(0xf0 | c >> 18));
		strbuf_append_char(out, (char)(0x80 | (c >> 12 & 0x3f)));
		strbuf_append_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
		strbuf_append_char(out, (char)(0x80 | (c & 0x3f)));
	}
}

static bool is_high_surrogate(uint32_t c)
{
	return c >= 0xd800 && c < 0xdc00;
}

static bool is_low_surrogate(uint32_t c)
{
	return c >= 0xdc00 && c < 0xe000;
}

/* Appends UTF-16. Half a pair becomes U+FFFD. */
static void append_two_byte(struct strbuf *out, const uint16_t *chars, size_t nr_chars)
{
	for (size_t i = 0; i < nr_chars; i++) {
		uint32_t c = chars[i];

		if (is_high_surrogate(c) && i + 1 < nr_chars && is_low_surrogate(chars[i + 1]))
			c = 0x10000 + ((c - 0xd800) << 10) + (chars[++i] - 0xdc00U);
		else if (is_high_surrogate(c) || is_low_surrogate(c))
			c = 0xfffd;
		append_char(out, c);
	}
}

static void append_one_byte(struct strbuf *out, const uint8_t *chars, size_t nr_chars)
{
	for (size_t i = 0; i < nr_chars; i++)
		append_char(out, chars[i]);
}

static int append_chunk(const struct v8_heap *heap, const struct v8_flat *flat, uint32_t start,
			uint32_t nr_chars, struct strbuf *out)
{
	uint16_t chars[CHUNK_CHARS];
	uint64_t address = flat->address + ((uint64_t)start << flat->is_two_byte);

	int r = process_memory_read(heap->memory, address, chars,
				    (size_t)nr_chars << flat->is_two_byte);
	if (r < 0)
		return r;
	if (flat->is_two_byte)
		append_two_byte(out, chars, nr_chars);
	else
		append_one_byte(out, (const uint8_t *)chars, nr_chars);
	return strbuf_error(out);
}

static int append_flat(const struct v8_heap *heap, const struct v8_flat *flat, uint32_t *chars_left,
		       struct strbuf *out)
{
	uint32_t length = flat->length < *chars_left ? flat->length : *chars_left;

	for (uint32_t start = 0; start < length; start += CHUNK_CHARS) {
		uint32_t rest = length - start;
		int r = append_chunk(heap, flat, start, rest < CHUNK_CHARS ? rest : CHUNK_CHARS,
				     out);

		if (r < 0)
			return r;
	}
	*chars_left -= length;
	return 0;
}

/* The strings that are still to be appended, the next one last. */
struct pending {
	uint64_t objects[MAX_REFERENCES];
	uint32_t nr;
};

/* Replaces a cons string by its two halves. */
static int split_cons(const struct v8_heap *heap, uint64_t object, struct pending *pending)
{
	struct string string;

	int r = read_string(heap, object, &string);
	if (r < 0)
		return r;
	if (representation_of(&string) != REPRESENTATION_CONS || pending->nr + 2 > MAX_REFERENCES)
		return -ENOENT;
	pending->objects[pending->nr++] = string.words[1];
	pending->objects[pending->nr++] = string.words[0];
	return 0;
}

int v8_string_append(const struct v8_heap *heap, uint64_t string, uint32_t max_chars,
		     struct strbuf *out)
{
	struct pending pending = { .objects = { string }, .nr = 1 };

	for (int i = 0; i < MAX_PARTS && pending.nr > 0 && max_chars > 0; i++) {
		uint64_t object = pending.objects[--pending.nr];
		struct v8_flat flat;
		int r = v8_string_flat(heap, object, &flat);

		if (r == 0)
			r = append_flat(heap, &flat, &max_chars, out);
		else if (r == -ENOENT)
			r = split_cons(heap, object, &pending);
		if (r < 0)
			return r;
	}
	return 0;
}

bool v8_string_has_text(const struct v8_heap *heap, uint64_t object)
{
	struct string string;

	return read_string(heap, object, &string) == 0 && string.length > 0;
}
