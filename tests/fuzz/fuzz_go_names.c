/* SPDX-License-Identifier: Apache-2.0 */
/* Go's function table as a source of names. */
#include "base/cleanup.h"
#include "symbol/elf/go_names.c" /* NOLINT(bugprone-suspicious-include) */

#include <string.h>

#define TEXT 0x401000
#define MAX_BYTES ((size_t)4 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct gopclntab_section section = { data, size, TEXT };
	GElf_Shdr code = {
		.sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		.sh_addr = TEXT,
		.sh_size = 1 << 20,
	};
	const struct elf_reader reader = { .fd = -EBADF, .sections = &code, .nr_sections = 1 };
	_cleanup_(elf_symbol_list_done) struct elf_symbol_list list = { 0 };
	struct gopclntab_table table;
	uint64_t start;
	uint64_t end;

	if (gopclntab_table_init(&table, &section) < 0 ||
	    elf_symbol_list_init(&list, &reader, MAX_BYTES) < 0)
		return 0;
	find_code(&table, &start, &end);
	if (start > end || (start == end && end > 0))
		abort();
	if (list_functions(&table, &list) < 0)
		return 0;
	elf_symbol_list_seal(&list);
	for (size_t i = 0; i < list.nr_symbols; i++)
		if (list.symbols[i].size == 0 ||
		    memchr(elf_symbol_list_name(&list, &list.symbols[i]), '\0',
			   list.symbols[i].name_len))
			abort();
	return 0;
}
