/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_embedded.h"

#include "base/cleanup.h"
#include "base/minmax.h"
#include "runtime/v8/v8_data_scan.h"

#include <stdlib.h>
#include <string.h>

#define MIN_CODE_BYTES (8ULL << 20) /* of a file with V8; it has three times as much */
#define CHUNK_BYTES ((size_t)256 << 10)

/* Of the table. */
#define MIN_BUILTINS 1000
#define MAX_BUILTINS 8192
#define MAX_BEHIND 16
#define MAX_TABLES 64 /* that are looked at, because they begin like one */
#define CODE_ALIGNMENT 32
#define MAX_PADDING 128
#define MAX_BUILTIN_BYTES (1 << 20)
#define MAX_OFFSET (16 << 20)

/* Of the code, which begins at a page. */
#define PAGE_BYTES 4096
#define PADDING 0xcc
#define WINDOW_BYTES ((size_t)64 << 10) /* of its start, in which the padding is looked at */
#define MAX_GAPS 32
#define MIN_GAPS 4

/* In code with compressed pointers, a page has ten such instructions, else less than one. */
#define MIN_CAGE_USES_PER_PAGE 4

/* Code adds the address of the trusted cage more often than any other word of the isolate. */
#define MIN_TRUSTED_USES 48
#define MAX_ISOLATE_WORDS 512
#define INSTRUCTION_BYTES 7 /* with an offset of 32 bits */

struct builtin {
	uint32_t offset;
	uint32_t nr_bytes;
	uint32_t metadata;
};

struct gap {
	uint32_t offset;
	uint32_t nr_bytes;
};

struct search {
	const struct elf_reader *reader;
	uint8_t *chunk; /* owned; CHUNK_BYTES + WINDOW_BYTES */
	struct builtin *table; /* owned; MAX_BUILTINS */
	uint32_t nr_builtins;
	uint32_t nr_tables; /* that were looked at */
	uint32_t code_bytes;
	struct gap gaps[MAX_GAPS];
	uint32_t nr_gaps;
};

static void search_done(struct search *search)
{
	free(search->chunk);
	free(search->table);
}

static bool has_much_code(const struct elf_reader *reader)
{
	uint64_t nr_bytes = 0;

	for (size_t i = 0; i < reader->nr_segments; i++)
		if (reader->segments[i].p_type == PT_LOAD && reader->segments[i].p_flags & PF_X)
			nr_bytes = max_u64(nr_bytes, reader->segments[i].p_filesz);
	return nr_bytes >= MIN_CODE_BYTES;
}

static bool is_builtin(const struct builtin *builtin)
{
	return builtin->offset % CODE_ALIGNMENT == 0 && builtin->offset < MAX_OFFSET &&
	       builtin->nr_bytes > 0 && builtin->nr_bytes < MAX_BUILTIN_BYTES;
}

/* Returns whether the second one lies behind the first one. */
static bool follows(const struct builtin *first, const struct builtin *second)
{
	return second->offset - first->offset - first->nr_bytes < MAX_PADDING;
}

/* Returns whether a table may begin there. The first three functions follow each other in the code,
 * also where others are in the order in which they are used. */
static bool begins_table(const struct builtin *table)
{
	return is_builtin(&table[0]) && follows(&table[0], &table[1]) && is_builtin(&table[1]) &&
	       follows(&table[1], &table[2]) && is_builtin(&table[2]);
}

/* Returns whether the table is one of code: the functions fill most of it. */
static bool measure_table(struct search *search)
{
	uint64_t sum = 0, end = 0;
	uint32_t nr = 0;

	for (; nr < search->nr_builtins && is_builtin(&search->table[nr]); nr++) {
		const struct builtin *builtin = &search->table[nr];

		sum += builtin->nr_bytes;
		end = max_u64(end, (uint64_t)builtin->offset + builtin->nr_bytes);
	}
	search->nr_builtins = nr;
	search->code_bytes = (uint32_t)end;
	return nr >= MIN_BUILTINS && sum > end / 2 && sum <= end;
}

/* Notes the padding behind the first functions of the code. What follows the table may look like
 * part of it. */
static void note_gaps(struct search *search)
{
	search->nr_gaps = 0;
	for (uint32_t i = 0; i + MAX_BEHIND < search->nr_builtins && search->nr_gaps < MAX_GAPS;
	     i++) {
		const struct builtin *builtin = &search->table[i];
		uint32_t end = builtin->offset + builtin->nr_bytes;
		uint32_t rest = end % CODE_ALIGNMENT;

		if (end < WINDOW_BYTES && rest > 0)
			search->gaps[search->nr_gaps++] = (struct gap){ end,
									CODE_ALIGNMENT - rest };
	}
}

/* Returns 1 if the table is at an offset of the file. */
static int read_table(struct search *search, uint64_t offset, uint64_t end)
{
	int64_t len = v8_data_read(search->reader, offset, end, search->table,
				   MAX_BUILTINS * sizeof(*search->table));

	if (len < 0)
		return (int)len;
	search->nr_builtins = (uint32_t)((uint64_t)len / sizeof(*search->table));
	if (!measure_table(search))
		return 0;
	note_gaps(search);
	return search->nr_gaps >= MIN_GAPS;
}

/* Returns 1 if the table begins in the chunk. */
static int search_chunk(const struct v8_data_chunk *chunk, void *data)
{
	struct search *search = data;

	for (size_t at = 0; at + 3 * sizeof(struct builtin) <= chunk->len; at += sizeof(uint32_t)) {
		if (!begins_table((const struct builtin *)(const void *)(chunk->bytes + at)))
			continue;
		if (++search->nr_tables > MAX_TABLES)
			return -ENOENT;
		int r = read_table(search, chunk->offset + at, chunk->end);
		if (r != 0)
			return r;
	}
	return 0;
}

static bool is_padded(const struct search *search, const uint8_t *code)
{
	if (code[0] == PADDING)
		return false;
	for (uint32_t i = 0; i < search->nr_gaps; i++)
		for (uint32_t k = 0; k < search->gaps[i].nr_bytes; k++)
			if (code[search->gaps[i].offset + k] != PADDING)
				return false;
	return true;
}

/* Returns 1 and the offset of the code if it begins in that part of the file. */
static int search_code(const struct search *search, uint64_t start, uint64_t end,
		       uint64_t *ret_offset)
{
	uint64_t first = (start + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;

	for (uint64_t offset = first; offset < end; offset += CHUNK_BYTES) {
		int64_t len = v8_data_read(search->reader, offset, end, search->chunk,
					   CHUNK_BYTES + WINDOW_BYTES);

		if (len < 0)
			return (int)len;
		for (size_t at = 0; at < CHUNK_BYTES && at + WINDOW_BYTES <= (uint64_t)len;
		     at += PAGE_BYTES) {
			if (!is_padded(search, search->chunk + at))
				continue;
			*ret_offset = offset + at;
			return 1;
		}
	}
	return 0;
}

static int find_code(const struct search *search, uint64_t *ret_offset)
{
	for (size_t i = 0; i < search->reader->nr_segments; i++) {
		const GElf_Phdr *segment = &search->reader->segments[i];

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) ||
		    segment->p_filesz > search->reader->size)
			continue;
		int r = search_code(search, segment->p_offset,
				    segment->p_offset + segment->p_filesz, ret_offset);
		if (r != 0)
			return r < 0 ? r : 0;
	}
	return -ENOENT;
}

/* Returns whether an instruction makes a pointer of four bytes whole: add or or, of %r14. */
static bool uses_cage(const uint8_t *code)
{
	return (code[0] == 0x49 || code[0] == 0x4d) && (code[1] == 0x03 || code[1] == 0x0b) &&
	       (code[2] & 0xc7) == 0xc6;
}

/* Returns the offset from which an instruction takes a word of the isolate, to add or or it; -1 if
 * it is no such instruction. */
static int32_t isolate_offset(const uint8_t *code)
{
	int32_t offset;

	if ((code[0] != 0x49 && code[0] != 0x4d) || (code[1] != 0x03 && code[1] != 0x0b))
		return -1;
	if ((code[2] & 0xc7) == 0x45)
		return (int8_t)code[3];
	memcpy(&offset, code + 3, sizeof(offset));
	return (code[2] & 0xc7) == 0x85 ? offset : -1;
}

/* How often code uses the cage of the heap, and words of the isolate. */
struct uses {
	uint64_t of_cage;
	uint32_t of_words[MAX_ISOLATE_WORDS];
};

static void count_use(const uint8_t *code, struct uses *uses)
{
	int32_t offset = isolate_offset(code);

	uses->of_cage += uses_cage(code);
	if (offset > 0 && offset % 8 == 0 && offset / 8 < MAX_ISOLATE_WORDS)
		uses->of_words[offset / 8]++;
}

static int count_uses(const struct search *search, uint64_t start, struct uses *uses)
{
	uint64_t end = start + search->code_bytes;

	for (uint64_t offset = start; offset < end; offset += CHUNK_BYTES) {
		int64_t len = v8_data_read(search->reader, offset, end, search->chunk,
					   CHUNK_BYTES + INSTRUCTION_BYTES - 1);

		if (len < 0)
			return (int)len;
		for (int64_t at = 0; at + INSTRUCTION_BYTES <= len; at++)
			count_use(search->chunk + at, uses);
	}
	return 0;
}

static uint16_t trusted_cage_of(const struct uses *uses)
{
	size_t most = 0;

	for (size_t i = 0; i < MAX_ISOLATE_WORDS; i++)
		if (uses->of_words[i] > uses->of_words[most])
			most = i;
	return uses->of_words[most] >= MIN_TRUSTED_USES ? (uint16_t)(most * 8) : 0;
}

static int find(struct search *search, struct v8_embedded *ret_embedded)
{
	struct uses uses = { 0 };
	uint64_t start = 0;

	int r = v8_data_scan(search->reader, search_chunk, search);
	if (r >= 0)
		r = r == 0 ? -ENOENT : find_code(search, &start);
	if (r == 0 && search->reader->machine == EM_X86_64)
		r = count_uses(search, start, &uses);
	if (r < 0)
		return r;
	*ret_embedded = (struct v8_embedded){
		.start = start,
		.end = start + search->code_bytes,
		.is_compressed = uses.of_cage >
				 (uint64_t)search->code_bytes / PAGE_BYTES * MIN_CAGE_USES_PER_PAGE,
		.trusted_cage = trusted_cage_of(&uses),
	};
	return 0;
}

int v8_embedded_find(const struct elf_reader *reader, struct v8_embedded *ret_embedded)
{
	_cleanup_(search_done) struct search search = { .reader = reader };

	if (!has_much_code(reader))
		return -ENOENT;
	search.chunk = malloc(CHUNK_BYTES + WINDOW_BYTES);
	search.table = calloc(MAX_BUILTINS, sizeof(*search.table));
	if (!search.chunk || !search.table)
		return -ENOMEM;
	return find(&search, ret_embedded);
}
