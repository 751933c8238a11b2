/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_FUNCTION_COUNT_H
#define TESTS_UNIT_FUNCTION_COUNT_H

#include "symbol/elf/elf_symbols.h"

/* Returns the number of functions in a table; 0 if its names were dropped. */
static inline size_t function_count(const struct elf_symbols *symbols)
{
	struct elf_block block;
	size_t len;
	const void *bytes = elf_symbols_block(symbols, &len);

	if (!bytes)
		return 0;
	elf_block_find_parts(bytes, &block);
	return block.header->nr_functions;
}

#endif
