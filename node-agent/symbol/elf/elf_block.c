/* SPDX-License-Identifier: Apache-2.0 */
/* The checks here are the only ones: each address and name must be within bounds, and the strings
 * become parts of paths, so they must not lead outside of a directory. */
#include "symbol/elf/elf_block.h"

#include "base/hex.h"
#include "elf/elf_reader.h"
#include "symbol/elf/elf_symbol_list.h"

#include <string.h>

uint64_t elf_block_len(const struct elf_block_header *header)
{
	return sizeof(*header) + header->nr_segments * sizeof(struct elf_block_segment) +
	       header->nr_functions * sizeof(struct elf_block_function) + header->names_len;
}

void elf_block_find_parts(const void *bytes, struct elf_block *ret_block)
{
	const struct elf_block_header *header = bytes;
	const struct elf_block_segment *segments = (const void *)(header + 1);
	const struct elf_block_function *functions = (const void *)(segments + header->nr_segments);

	*ret_block = (struct elf_block){
		.header = header,
		.segments = segments,
		.functions = functions,
		.names = (const char *)(functions + header->nr_functions),
	};
}

static bool is_hex(const char *text, size_t max)
{
	size_t len = strnlen(text, max);

	return len < max && hex_is(text, len);
}

static bool is_file_name(const char *name, size_t max)
{
	return strnlen(name, max) < max && !strchr(name, '/') && strcmp(name, ".") != 0 &&
	       strcmp(name, "..") != 0;
}

/* Returns whether the byte at an offset may be read as a bool. With other
 * values, that is undefined. */
static bool is_bool(const void *bytes, size_t offset)
{
	return ((const uint8_t *)bytes)[offset] <= 1;
}

static bool is_info_sound(const struct elf_symbols_info *info)
{
	return is_bool(info, offsetof(struct elf_symbols_info, has_symtab)) &&
	       is_bool(info, offsetof(struct elf_symbols_info, has_debug_info)) &&
	       is_hex(info->build_id, sizeof(info->build_id)) &&
	       is_hex(info->alt_build_id, sizeof(info->alt_build_id)) &&
	       is_hex(info->htlhash, sizeof(info->htlhash)) &&
	       elf_go_build_id_is_sound(info->go_build_id, sizeof(info->go_build_id) - 1) &&
	       is_file_name(info->link_name, sizeof(info->link_name)) &&
	       info->go_start <= info->go_end;
}

static bool are_segments_sound(const struct elf_block *block)
{
	for (size_t i = 0; i < block->header->nr_segments; i++) {
		const struct elf_block_segment *segment = &block->segments[i];

		if (segment->size == 0 || segment->size > UINT64_MAX - segment->offset ||
		    segment->size > UINT64_MAX - segment->address)
			return false;
	}
	return block->header->nr_segments <= ELF_MAX_SEGMENTS;
}

static bool is_place_sound(const struct elf_block *block, size_t index)
{
	const struct elf_block_function *function = &block->functions[index];
	uint64_t address = block->header->base + function->delta;

	if (index > 0 && function->delta <= function[-1].delta)
		return false;
	return function->size > 0 && address >= block->header->base &&
	       function->size <= UINT64_MAX - address;
}

/* Names follow each other, so each byte is checked once. */
static bool are_functions_sound(const struct elf_block *block)
{
	size_t pos = 0;

	for (size_t i = 0; i < block->header->nr_functions; i++) {
		if (!is_place_sound(block, i))
			return false;
		if (block->functions[i].name == ELF_BLOCK_NAMELESS)
			continue;
		size_t left = block->header->names_len - pos;
		size_t max = left <= ELF_MAX_NAME_BYTES ? left : ELF_MAX_NAME_BYTES + 1;
		size_t len = strnlen(block->names + pos, max);

		if (len == 0 || len == max || block->functions[i].name != pos)
			return false;
		pos += len + 1;
	}
	return pos == block->header->names_len;
}

int elf_block_parse(const void *bytes, size_t len, struct elf_block *ret_block)
{
	const struct elf_block_header *header = bytes;
	struct elf_block block;

	if (len < sizeof(*header) || elf_block_len(header) != len || header->unused != 0)
		return -EBADMSG;
	elf_block_find_parts(bytes, &block);
	if (!is_info_sound(&header->info) || !are_segments_sound(&block) ||
	    !are_functions_sound(&block))
		return -EBADMSG;
	*ret_block = block;
	return 0;
}
