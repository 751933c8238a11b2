/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_script.h"

#include "base/minmax.h"
#include "runtime/frame_writer.h"
#include "runtime/v8/v8_string.h"
#include "runtime/v8/v8_values.h"

#include <string.h>

#define URL_WORDS 2 /* from V8_SCRIPT_LAZY on */
#define MAX_SOURCE_CHARS (16 << 20)
#define CHUNK_BYTES 16384
#define NOTED_CHARS (64 << 10)
#define FILE_SCHEME "file://"

/* Counts the line terminators among characters; a CR before a LF is none. */
struct line_counter {
	uint32_t nr_ends;
	bool is_after_cr;
};

static void count_char(struct line_counter *counter, uint32_t c)
{
	if (counter->is_after_cr && c != '\n')
		counter->nr_ends++;
	counter->is_after_cr = c == '\r';
	if (c == '\n' || c == 0x2028 || c == 0x2029)
		counter->nr_ends++;
}

/* Most sources have no CR, and few LFs. */
static void count_one_byte(struct line_counter *counter, const uint8_t *chars, size_t nr_chars)
{
	const uint8_t *end = chars + nr_chars, *next = chars;

	if (counter->is_after_cr || memchr(chars, '\r', nr_chars)) {
		for (size_t i = 0; i < nr_chars; i++)
			count_char(counter, chars[i]);
		return;
	}
	while (next < end && (next = memchr(next, '\n', (size_t)(end - next)))) {
		counter->nr_ends++;
		next++;
	}
}

static void count_two_byte(struct line_counter *counter, const uint16_t *chars, size_t nr_chars)
{
	for (size_t i = 0; i < nr_chars; i++)
		count_char(counter, chars[i]);
}

static uint64_t address_of(const struct v8_flat *flat, uint32_t position)
{
	return flat->address + ((uint64_t)position << flat->is_two_byte);
}

static int count_chunk(const struct v8_heap *heap, const struct v8_flat *flat, uint32_t start,
		       size_t nr_chars, struct line_counter *counter)
{
	uint16_t chars[CHUNK_BYTES / 2];

	int r = process_memory_read(heap->memory, address_of(flat, start), chars,
				    nr_chars << flat->is_two_byte);
	if (r < 0)
		return r;
	if (flat->is_two_byte)
		count_two_byte(counter, chars, nr_chars);
	else
		count_one_byte(counter, (const uint8_t *)chars, nr_chars);
	return 0;
}

/* Returns whether the last character was a CR that ends a line: one that no LF follows. */
static bool is_at_lone_cr(const struct v8_heap *heap, const struct v8_flat *flat, uint32_t position,
			  const struct line_counter *counter)
{
	uint16_t next = 0;

	if (!counter->is_after_cr || position == flat->length)
		return counter->is_after_cr;
	return process_memory_read(heap->memory, address_of(flat, position), &next,
				   (size_t)1 << flat->is_two_byte) == 0 &&
	       next != '\n';
}

/* The part of a source that was searched for the ends of lines. */
struct search {
	struct line_counter counter;
	uint32_t position;
};

/* Returns the notes of a source: for each NOTED_CHARS, what was counted up to their end. NULL: none
 * are kept. */
static struct memory_notes *get_notes(const struct v8_heap *heap, const struct v8_flat *flat)
{
	struct memory_notes *notes = heap->memory->notes;
	const uint64_t key[] = { flat->address, (uint64_t)flat->length << 1 | flat->is_two_byte };

	_Static_assert(MAX_SOURCE_CHARS / NOTED_CHARS <= MEMORY_MAX_NOTES, "all have room");
	if (!notes)
		return NULL;
	if (memcmp(notes->key, key, sizeof(key)) != 0) {
		memcpy(notes->key, key, sizeof(key));
		notes->nr = 0;
	}
	return notes;
}

/* Goes to the last place before a position of which there is a note. */
static void use_notes(const struct memory_notes *notes, uint32_t position, struct search *search)
{
	size_t nr = notes ? min_u64(notes->nr, position / NOTED_CHARS) : 0;

	if (nr == 0)
		return;
	search->position = (uint32_t)nr * NOTED_CHARS;
	search->counter.nr_ends = notes->values[nr - 1] >> 1;
	search->counter.is_after_cr = notes->values[nr - 1] & 1;
}

static void add_note(struct memory_notes *notes, const struct search *search)
{
	if (notes && search->position == (notes->nr + 1) * NOTED_CHARS)
		notes->values[notes->nr++] = search->counter.nr_ends << 1 |
					     search->counter.is_after_cr;
}

/* Returns the number of lines that end before a position of the source, or -ENOENT. */
static int64_t search_source(const struct v8_heap *heap, uint64_t script, uint32_t position)
{
	struct search search = { 0 };
	struct v8_flat flat;
	uint64_t source;

	if (v8_heap_word(heap, script, heap->values[V8_SCRIPT_SOURCE], &source) < 0 ||
	    v8_string_flat(heap, source, &flat) < 0 || position > flat.length ||
	    position > MAX_SOURCE_CHARS)
		return -ENOENT;
	struct memory_notes *notes = get_notes(heap, &flat);
	use_notes(notes, position, &search);
	while (search.position < position) {
		uint32_t nr = (uint32_t)min_u64(position - search.position, CHUNK_BYTES / 2);

		if (count_chunk(heap, &flat, search.position, nr, &search.counter) < 0)
			return -ENOENT;
		search.position += nr;
		add_note(notes, &search);
	}
	return (int64_t)search.counter.nr_ends +
	       is_at_lone_cr(heap, &flat, position, &search.counter);
}

/* The same by Script.line_ends, an array of positions in ascending order. */
static int64_t search_line_ends(const struct v8_heap *heap, uint64_t script, int32_t position)
{
	uint32_t low = 0, high;
	uint64_t ends, end;

	if (v8_heap_word(heap, script, heap->values[V8_SCRIPT_LINE_ENDS], &ends) < 0 ||
	    !v8_heap_is(heap, ends, heap->values[V8_TYPE_FIXED_ARRAY]) ||
	    v8_heap_length(heap, ends, &high) < 0 || high == 0)
		return -ENOENT;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (v8_heap_element(heap, ends, middle, &end) < 0 || !v8_is_smi(end))
			return -ENOENT;
		if (v8_smi(end) < position)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the number of lines before the script's first one, in its file: Script.line_offset, which
 * is the word behind the name. */
static int32_t line_offset_of(const struct v8_heap *heap, uint64_t script)
{
	int32_t nr_lines;

	if (v8_heap_smi(heap, script, heap->values[V8_SCRIPT_NAME] + v8_word_bytes(heap),
			&nr_lines) < 0)
		return 0;
	return nr_lines;
}

uint32_t v8_script_line(const struct v8_heap *heap, uint64_t script, int32_t position)
{
	int64_t line;

	if (position < 0)
		return 0;
	line = search_line_ends(heap, script, position);
	if (line < 0)
		line = search_source(heap, script, (uint32_t)position);
	if (line < 0)
		return 0;
	line += (int64_t)line_offset_of(heap, script) + 1;
	return line > 0 && line <= UINT32_MAX ? (uint32_t)line : 0;
}

/* Finds the string that names a script: its name, or else the URL that its source tells, as that of
 * eval() may. */
static int find_name(const struct v8_heap *heap, uint64_t script, uint64_t *ret_name)
{
	uint64_t lazy = heap->values[V8_SCRIPT_LAZY], name, url;

	int r = v8_heap_word(heap, script, heap->values[V8_SCRIPT_NAME], &name);
	if (r < 0)
		return r;
	if (lazy != 0 && !v8_string_has_text(heap, name) &&
	    v8_heap_word(heap, script, lazy + URL_WORDS * v8_word_bytes(heap), &url) == 0 &&
	    v8_string_has_text(heap, url))
		name = url;
	*ret_name = name;
	return 0;
}

int v8_script_name(const struct v8_heap *heap, uint64_t script, struct strbuf *out)
{
	size_t scheme_len = strlen(FILE_SCHEME), start = out->len;
	uint64_t name;

	int r = find_name(heap, script, &name);
	if (r < 0)
		return r;
	r = v8_string_append(heap, name, RUNTIME_FILE_MAX_BYTES, out);
	if (r == -ENOENT)
		return 0;
	if (r < 0 || out->len - start < scheme_len ||
	    memcmp(out->data + start, FILE_SCHEME, scheme_len) != 0)
		return r;
	memmove(out->data + start, out->data + start + scheme_len, out->len - start - scheme_len);
	strbuf_truncate(out, out->len - scheme_len);
	return 0;
}
