/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/lines_block.h"

#include <stdbool.h>
#include <string.h>

static bool is_range_ok(const struct lines_block_range *range, uint32_t nr_lines)
{
	return range->nr <= SYMBOL_MAX_LINES && range->first <= nr_lines &&
	       range->nr <= nr_lines - range->first;
}

/* Strings may share their bytes, but none is long: whoever takes them reads each as often as it is used. */
static bool is_string_ok(const char *strings, uint32_t strings_len, uint32_t offset)
{
	return offset < strings_len &&
	       strnlen(strings + offset, LINES_MAX_STRING + 1) <= LINES_MAX_STRING;
}

static bool is_line_ok(const struct lines_block_line *line, const char *strings,
		       uint32_t strings_len)
{
	return is_string_ok(strings, strings_len, line->name) && strings[line->name] != '\0' &&
	       is_string_ok(strings, strings_len, line->filename) && line->language <= LANGUAGE_JIT;
}

static bool is_content_ok(const struct lines_block *block, uint32_t strings_len)
{
	if (strings_len == 0 || block->strings[0] != '\0' ||
	    block->strings[strings_len - 1] != '\0')
		return false;
	for (uint32_t i = 0; i < block->nr_addresses; i++)
		if (!is_range_ok(&block->ranges[i], block->nr_lines))
			return false;
	for (uint32_t i = 0; i < block->nr_lines; i++)
		if (!is_line_ok(&block->lines[i], block->strings, strings_len))
			return false;
	return true;
}

int lines_block_parse(const void *bytes, size_t len, uint32_t nr_addresses,
		      struct lines_block *ret_block)
{
	const struct lines_block_header *header = bytes;

	if ((uintptr_t)bytes % _Alignof(struct lines_block_header) != 0 || len < sizeof(*header) ||
	    header->nr_addresses != nr_addresses)
		return -EBADMSG;

	/* None of the numbers has more than 32 bits: the sum fits. */
	uint64_t ranges_len = (uint64_t)nr_addresses * sizeof(struct lines_block_range);
	uint64_t lines_len = (uint64_t)header->nr_lines * sizeof(struct lines_block_line);
	if (len - sizeof(*header) != ranges_len + lines_len + header->strings_len)
		return -EBADMSG;

	const struct lines_block_range *ranges = (const void *)(header + 1);
	const struct lines_block_line *lines = (const void *)(ranges + nr_addresses);
	struct lines_block block = {
		.ranges = ranges,
		.lines = lines,
		.strings = (const char *)(lines + header->nr_lines),
		.nr_addresses = nr_addresses,
		.nr_lines = header->nr_lines,
	};
	if (!is_content_ok(&block, header->strings_len))
		return -EBADMSG;
	*ret_block = block;
	return 0;
}
