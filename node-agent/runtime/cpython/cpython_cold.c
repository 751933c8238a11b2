/* SPDX-License-Identifier: Apache-2.0 */
/* The loop jumps into its cold part, whereas into other functions it jumps at their start, if at
 * all. Each part has call frame information of its own, and the search table of .eh_frame_hdr (LSB
 * core specification, "Exception Frames") has the starts of all. So the part is the one between
 * whose start and end most of the jumps lead. Jumps are searched for without decoding what is
 * between them: bytes that only look like one would lead anywhere in 4 GB. */
#include "runtime/cpython/cpython_cold.h"

#include "base/cleanup.h"
#include "bpf/shared/cfi.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CODE_BYTES ((size_t)1 << 20)
#define MAX_JUMPS 4096
#define MAX_ENTRIES 500000 /* functions of a file; the largest ones have 100000 */
#define MIN_JUMPS 3

/* .eh_frame_hdr: version, encodings of a pointer, of the number of entries, and of the entries.
 * Linkers make no others. */
#define HEADER_VERSION 1
#define NUMBER_ENCODING 0x03 /* udata4 */
#define ENTRY_ENCODING 0x3b /* sdata4, relative to the header */
#define NR_AT 8
#define TABLE_AT 12

struct entry {
	int32_t start; /* of a function, from the header */
	int32_t frame;
};

struct table {
	uint64_t address; /* of the header */
	struct entry *entries; /* owned; by their start */
	size_t nr;
};

struct jumps {
	uint64_t targets[MAX_JUMPS];
	size_t nr;
};

static void table_done(struct table *table)
{
	free(table->entries);
}

static int read_table(const struct elf_exports *exports, uint64_t address, struct table *table)
{
	uint8_t header[TABLE_AT];
	uint32_t nr;

	int r = elf_exports_read(exports, address, header, sizeof(header));
	if (r < 0)
		return r;
	memcpy(&nr, header + NR_AT, sizeof(nr));
	if (header[0] != HEADER_VERSION || header[2] != NUMBER_ENCODING ||
	    header[3] != ENTRY_ENCODING || nr == 0 || nr > MAX_ENTRIES)
		return -ENOENT;
	table->entries = calloc(nr, sizeof(*table->entries));
	if (!table->entries)
		return -ENOMEM;
	table->address = address;
	table->nr = nr;
	return elf_exports_read(exports, address + TABLE_AT, table->entries,
				nr * sizeof(*table->entries));
}

static int find_table(const struct elf_exports *exports, struct table *table)
{
	for (size_t i = 0; i < exports->reader->nr_segments; i++)
		if (exports->reader->segments[i].p_type == PT_GNU_EH_FRAME)
			return read_table(exports, exports->reader->segments[i].p_vaddr, table);
	return -ENOENT;
}

static uint64_t start_of(const struct table *table, size_t index)
{
	return table->address + (uint64_t)(int64_t)table->entries[index].start;
}

/* Returns the last entry that does not begin behind the address; 0 also if there is none. */
static size_t find_entry(const struct table *table, uint64_t address)
{
	size_t low = 0, high = table->nr;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (start_of(table, middle) <= address)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Returns the length of a jump's opcode, before its 32-bit distance; 0: no jump. */
static size_t opcode_bytes(const uint8_t *code)
{
	if (code[0] == 0xe9)
		return 1;
	return code[0] == 0x0f && code[1] >> 4 == 8 ? 2 : 0;
}

/* Collects where the function jumps outside of itself. */
static void collect_jumps(const struct elf_export *eval, const uint8_t *code, struct jumps *jumps)
{
	int32_t distance;

	jumps->nr = 0;
	for (size_t i = 0; i + 2 + sizeof(distance) <= eval->size && jumps->nr < MAX_JUMPS; i++) {
		size_t at = i + opcode_bytes(code + i);
		uint64_t target;

		if (at == i)
			continue;
		memcpy(&distance, code + at, sizeof(distance));
		target = eval->address + at + sizeof(distance) + (uint64_t)(int64_t)distance;
		if (target - eval->address >= eval->size)
			jumps->targets[jumps->nr++] = target;
	}
}

/* Counts the jumps that lead into the entry, behind its start. */
static size_t count_jumps(const struct table *table, size_t entry, const struct jumps *jumps)
{
	size_t nr = 0;

	for (size_t i = 0; i < jumps->nr; i++)
		if (jumps->targets[i] > start_of(table, entry) &&
		    jumps->targets[i] < start_of(table, entry + 1))
			nr++;
	return nr;
}

/* A target outside of all entries counts for none. The number of jumps that lead far is small. */
static int find_most_wanted(const struct table *table, const struct jumps *jumps,
			    struct elf_export *ret_cold)
{
	size_t most = MIN_JUMPS - 1, last = SIZE_MAX;

	for (size_t i = 0; i < jumps->nr; i++) {
		size_t entry = find_entry(table, jumps->targets[i]);

		if (entry == last || entry + 1 >= table->nr)
			continue;
		last = entry;

		size_t nr = count_jumps(table, entry, jumps);
		if (nr <= most)
			continue;
		most = nr;
		*ret_cold = (struct elf_export){
			.address = start_of(table, entry),
			.size = start_of(table, entry + 1) - start_of(table, entry),
			.type = STT_FUNC,
		};
	}
	return most < MIN_JUMPS ? -ENOENT : 0;
}

static int find_jumps(const struct elf_exports *exports, const struct elf_export *eval,
		      struct jumps *jumps)
{
	_cleanup_free_ uint8_t *code = NULL;

	if (eval->size == 0 || eval->size > MAX_CODE_BYTES)
		return -ENOENT;
	code = malloc((size_t)eval->size);
	if (!code)
		return -ENOMEM;

	int r = elf_exports_read(exports, eval->address, code, (size_t)eval->size);
	if (r == 0)
		collect_jumps(eval, code, jumps);
	return r;
}

int cpython_cold_find(const struct elf_exports *exports, const struct elf_export *eval,
		      struct elf_export *ret_cold)
{
	_cleanup_(table_done) struct table table = { 0 };
	_cleanup_free_ struct jumps *jumps = NULL;

	if (CFI_IS_ARM64)
		return -ENOENT;
	jumps = calloc(1, sizeof(*jumps));
	if (!jumps)
		return -ENOMEM;

	int r = find_jumps(exports, eval, jumps);
	if (r == 0)
		r = find_table(exports, &table);
	return r < 0 ? r : find_most_wanted(&table, jumps, ret_cold);
}
