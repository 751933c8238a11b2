/* SPDX-License-Identifier: Apache-2.0 */
/* A table is a block of bytes: 12 per function, sorted by address, and the names. libLLVM's 35
 * thousand functions take 0.4 MB, and their names 2.5 MB. Segments and info are copied, because
 * they stay when the names are dropped.
 *
 * Functions may lie within functions, as in assembler code with sized labels. The one that starts
 * last wins. If it ends before the address, up to SEARCH_BACK functions before it are tried. */
#include "symbol/elf/elf_symbols.h"

#include "base/search.h"
#include "symbol/elf/elf_block.h"

#include <stdlib.h>
#include <string.h>

#define SEARCH_BACK 32

struct elf_symbols {
	void *bytes; /* owned; NULL if the names were dropped */
	size_t len;
	struct elf_block block; /* points into `bytes` */
	struct elf_symbols_info info;
	size_t nr_segments;
	struct elf_block_segment segments[];
};

int elf_symbols_from_block(void *block, size_t len, struct elf_symbols **ret_symbols)
{
	_cleanup_free_ void *bytes = block;
	struct elf_block parsed;

	int r = elf_block_parse(bytes, len, &parsed);
	if (r < 0)
		return r;

	size_t segments_bytes = parsed.header->nr_segments * sizeof(*parsed.segments);
	struct elf_symbols *symbols = calloc(1, sizeof(*symbols) + segments_bytes);
	if (!symbols)
		return -ENOMEM;
	symbols->len = len;
	symbols->block = parsed;
	symbols->info = parsed.header->info;
	symbols->nr_segments = parsed.header->nr_segments;
	memcpy(symbols->segments, parsed.segments, segments_bytes);
	symbols->bytes = take_ptr(bytes);
	*ret_symbols = symbols;
	return 0;
}

void elf_symbols_free(struct elf_symbols *symbols)
{
	if (!symbols)
		return;
	free(symbols->bytes);
	free(symbols);
}

void elf_symbols_drop_names(struct elf_symbols *symbols)
{
	free(symbols->bytes);
	symbols->bytes = NULL;
	symbols->len = 0;
}

const struct elf_block_segment *elf_symbols_find_segment(const struct elf_symbols *symbols,
							 uint64_t file_offset)
{
	for (size_t i = 0; i < symbols->nr_segments; i++) {
		const struct elf_block_segment *segment = &symbols->segments[i];

		if (file_offset >= segment->offset && file_offset - segment->offset < segment->size)
			return segment;
	}
	return NULL;
}

int elf_symbols_address_of(const struct elf_symbols *symbols, uint64_t file_offset,
			   uint64_t *ret_address)
{
	const struct elf_block_segment *segment = elf_symbols_find_segment(symbols, file_offset);

	if (!segment)
		return -ENOENT;
	*ret_address = segment->address + (file_offset - segment->offset);
	return 0;
}

/* Counts the functions that start at or below a delta. */
static size_t count_up_to(const struct elf_block *block, uint32_t delta)
{
	return search_count(block->header->nr_functions, i, block->functions[i].delta <= delta);
}

int elf_symbols_find(const struct elf_symbols *symbols, uint64_t address,
		     struct elf_symbol *ret_symbol)
{
	const struct elf_block *block = &symbols->block;

	if (!symbols->bytes || address < block->header->base ||
	    address - block->header->base >= UINT32_MAX)
		return -ENOENT;

	uint32_t delta = (uint32_t)(address - block->header->base);
	size_t last = count_up_to(block, delta);
	for (size_t i = last; i > 0 && last - i < SEARCH_BACK; i--) {
		const struct elf_block_function *function = &block->functions[i - 1];

		if (delta - function->delta < function->size) {
			*ret_symbol = (struct elf_symbol){
				.name = function->name == ELF_BLOCK_NAMELESS
						? ""
						: block->names + function->name,
				.address = block->header->base + function->delta,
				.size = function->size,
			};
			return 0;
		}
	}
	return -ENOENT;
}

const struct elf_symbols_info *elf_symbols_info(const struct elf_symbols *symbols)
{
	return &symbols->info;
}

const void *elf_symbols_block(const struct elf_symbols *symbols, size_t *ret_len)
{
	*ret_len = symbols->len;
	return symbols->bytes;
}

size_t elf_symbols_bytes(const struct elf_symbols *symbols)
{
	return sizeof(*symbols) + symbols->nr_segments * sizeof(symbols->segments[0]) +
	       symbols->len;
}
