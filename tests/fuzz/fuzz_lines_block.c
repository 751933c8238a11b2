/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/lines_block.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Touches all that a reader would; a sanitizer tells whether it is there. */
static size_t walk(const struct lines_block *block)
{
	size_t len = 0;

	for (uint32_t i = 0; i < block->nr_addresses; i++) {
		const struct lines_block_range *range = &block->ranges[i];

		for (uint32_t n = range->first; n < range->first + range->nr; n++) {
			const struct lines_block_line *line = &block->lines[n];

			len += strlen(block->strings + line->name);
			len += strlen(block->strings + line->filename) + line->language;
		}
	}
	return len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lines_block block;
	uint32_t nr_addresses = 0;
	uint8_t *bytes = malloc(size);

	if (!bytes || size < sizeof(nr_addresses)) {
		free(bytes);
		return 0;
	}
	memcpy(bytes, data, size);
	memcpy(&nr_addresses, data, sizeof(nr_addresses));
	if (lines_block_parse(bytes, size, nr_addresses, &block) == 0 && block.nr_lines > 0 &&
	    block.ranges[0].nr > 0 && walk(&block) == 0)
		abort();
	free(bytes);
	return 0;
}
