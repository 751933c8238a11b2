/* SPDX-License-Identifier: Apache-2.0 */
/* A table of functions as the symbol worker sends it. */
#include "base/cleanup.h"
#include "symbol/elf/elf_symbols.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_info(const struct elf_symbols_info *info)
{
	if (strlen(info->build_id) >= sizeof(info->build_id) ||
	    strlen(info->alt_build_id) >= sizeof(info->alt_build_id) ||
	    strlen(info->htlhash) >= sizeof(info->htlhash) ||
	    strlen(info->go_build_id) >= sizeof(info->go_build_id) ||
	    strlen(info->link_name) > ELF_MAX_LINK_NAME || strchr(info->link_name, '/') ||
	    info->go_start > info->go_end)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(elf_symbols_freep) struct elf_symbols *symbols = NULL;
	char *copy = malloc(size > 0 ? size : 1);
	struct elf_symbol symbol;
	uint64_t address = 0;

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (elf_symbols_from_block(copy, size, &symbols) < 0)
		return 0;
	check_info(elf_symbols_info(symbols));
	for (uint64_t i = 0; i < 1 << 16; i += 61) {
		if (elf_symbols_address_of(symbols, i, &address) < 0)
			address = i << 8;
		if (elf_symbols_find(symbols, address + i, &symbol) == 0 &&
		    (address + i - symbol.address >= symbol.size || strlen(symbol.name) > 4096))
			abort();
	}
	elf_symbols_drop_names(symbols);
	check_info(elf_symbols_info(symbols));
	return 0;
}
