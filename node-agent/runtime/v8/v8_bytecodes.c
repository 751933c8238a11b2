/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_bytecodes.h"

#include "base/cleanup.h"
#include "runtime/v8/v8_data_scan.h"
#include "runtime/v8/v8_values.h"

#include <string.h>

#define SIZES "_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE"
#define NR_SCALES 3 /* rows of the table: operands of one, two and four bytes */
#define MAX_SIZE 15
#define WIDER_SHIFT 4
#define VERSION_MASK 0xffff0000
#define NR_FIRST 19 /* bytecodes whose sizes are the same from 13.6 to 15.8 */
#define MIN_BYTECODES 128

_Static_assert(V8_BYTECODE_SIZES + V8_MAX_BYTECODES / 8 <= RUNTIME_FILE_VALUES, "they fit");
_Static_assert(V8_NR_VALUES <= RUNTIME_NAMING_VALUES, "they fit");

/* Of a class: the size of a bytecode, and how many of its operands Wide makes wider. */
struct size_class {
	uint8_t size;
	uint8_t nr_wider;
};

static const struct size_class size_classes[] = {
	['a' - 'a'] = { 1, 0 }, ['b' - 'a'] = { 2, 0 }, ['c' - 'a'] = { 2, 1 },
	['d' - 'a'] = { 3, 1 }, ['e' - 'a'] = { 3, 2 }, ['f' - 'a'] = { 4, 1 },
	['g' - 'a'] = { 4, 2 }, ['h' - 'a'] = { 4, 3 }, ['i' - 'a'] = { 5, 2 },
	['j' - 'a'] = { 5, 3 }, ['k' - 'a'] = { 5, 4 }, ['l' - 'a'] = { 6, 3 },
	['m' - 'a'] = { 6, 5 },
};

/* A letter for each bytecode. */
static const struct {
	uint32_t version;
	const char *classes;
} known[] = {
	{ 13 << 24 | 6 << 16, "aaaaacehkilcacaaaaachhhccccecccaaabeeehchcchhhchhhdhhekeehhhjhjeeeee"
			      "eeeeeeeeeeeeeeeeeeecccc"
			      "aacccchkkhkmkehkkilggkkeeeeeeeeeacccaaigacgagegceeeeaaahcccccccccchc"
			      "ccccccccccchhcekcaaaacaa"
			      "chkhhaccaaaaaaaaaaaaaaaaa" },
	{ 14 << 24 | 6 << 16, "aaaaacehkilcacaaaaachhhccccecccaaabeeehchcchhhchhhdhhekeehhhjhjeeeee"
			      "eeeeeeeegeeeeeeeeeeeeccc"
			      "caacccchkkhkmkehkkilggkkeffffffeeacccaaigacgagegceeeeeaaahcccccccccc"
			      "hcccccccccccchhcekckaaaa"
			      "caachkhhacbaaaaaaaaaaaaaaaaa" },
};

static uint8_t *sizes_of(struct runtime_file *file)
{
	return (uint8_t *)&file->values[V8_BYTECODE_SIZES];
}

static void set_known(struct runtime_file *file, const char *classes)
{
	for (size_t i = 0; classes[i] != '\0' && i < V8_MAX_BYTECODES; i++) {
		const struct size_class *class = &size_classes[classes[i] - 'a'];

		sizes_of(file)[i] = (uint8_t)(class->size | class->nr_wider << WIDER_SHIFT);
		file->values[V8_NR_BYTECODES] = i + 1;
	}
}

/* `rows` has the sizes with operands of one byte, and then those with operands of two. */
static void set_exported(struct runtime_file *file, const uint8_t *rows, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint8_t size = rows[i], wide = rows[nr + i];

		if (size > MAX_SIZE || wide < size || wide - size > MAX_SIZE)
			size = wide = 0;
		sizes_of(file)[i] = (uint8_t)(size | (wide - size) << WIDER_SHIFT);
	}
	file->values[V8_NR_BYTECODES] = nr;
}

/* The sizes of the first bytecodes, with operands of one byte and of two. */
struct first_sizes {
	uint8_t narrow[NR_FIRST];
	uint8_t wide[NR_FIRST];
};

static struct first_sizes first_sizes(void)
{
	const char *classes = known[array_len(known) - 1].classes;
	struct first_sizes first;

	for (size_t i = 0; i < NR_FIRST; i++) {
		const struct size_class *class = &size_classes[classes[i] - 'a'];

		first.narrow[i] = class->size;
		first.wide[i] = (uint8_t)(class->size + class->nr_wider);
	}
	return first;
}

/* Returns the length of a row of the table, whose start was found; 0 if it is no such table. */
static size_t row_length(const uint8_t *rows, size_t len, const struct first_sizes *first)
{
	for (size_t nr = MIN_BYTECODES; nr <= V8_MAX_BYTECODES && 2 * nr <= len; nr++)
		if (memcmp(rows + nr, first->wide, NR_FIRST) == 0)
			return nr;
	return 0;
}

struct data_search {
	const struct elf_reader *reader;
	struct runtime_file *file;
	struct first_sizes first;
};

static int search_chunk(const struct v8_data_chunk *chunk, void *data)
{
	const struct data_search *search = data;
	const uint8_t *at = memmem(chunk->bytes, chunk->len, search->first.narrow, NR_FIRST);
	uint8_t rows[2 * V8_MAX_BYTECODES];

	if (!at)
		return 0;
	int64_t len = v8_data_read(search->reader, chunk->offset + (uint64_t)(at - chunk->bytes),
				   chunk->end, rows, sizeof(rows));
	if (len < 0)
		return (int)len;
	size_t nr = row_length(rows, (size_t)len, &search->first);
	if (nr > 0)
		set_exported(search->file, rows, nr);
	return nr > 0;
}

int v8_bytecodes_in_data(const struct elf_reader *reader, struct runtime_file *file)
{
	struct data_search search = { reader, file, first_sizes() };

	int r = v8_data_scan(reader, search_chunk, &search);
	return r < 0 ? r : 0;
}

int v8_bytecodes_read(const struct elf_exports *exports, struct runtime_file *file)
{
	uint8_t rows[2 * V8_MAX_BYTECODES];
	struct elf_export sizes;

	int r = elf_exports_find(exports, SIZES, &sizes);
	size_t nr = r == 0 ? sizes.size / NR_SCALES : 0;
	if (r == 0 && nr > 0 && nr <= V8_MAX_BYTECODES) {
		r = elf_exports_read(exports, sizes.address, rows, 2 * nr);
		if (r == 0)
			set_exported(file, rows, nr);
		return r == -ENOENT ? 0 : r;
	}
	for (size_t i = 0; i < array_len(known); i++)
		if (known[i].version == (file->version & VERSION_MASK))
			set_known(file, known[i].classes);
	return r == -ENOENT ? 0 : r;
}
