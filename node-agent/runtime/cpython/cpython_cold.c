/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/cpython/cpython_cold.h"

#include <string.h>

/* GCC 8 has added a number to the name; later versions add none. */
#define COLD_NAME "_PyEval_EvalFrameDefault.cold"
#define MAX_SYMBOLS 200000 /* libpython has about 10000 */

/* Returns 1 if the symbol has the name, else 0. */
static int has_name(struct elf_reader *reader, const GElf_Shdr *names, const Elf64_Sym *symbol)
{
	size_t len = sizeof(COLD_NAME) - 1;
	const uint8_t *name;

	if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_size == 0 ||
	    symbol->st_name >= names->sh_size || len > names->sh_size - symbol->st_name)
		return 0;

	int r = elf_reader_bytes(reader, names->sh_offset + symbol->st_name, len, &name);
	return r < 0 ? r : memcmp(name, COLD_NAME, len) == 0;
}

int cpython_cold_find(struct elf_reader *reader, struct elf_export *ret_cold)
{
	const GElf_Shdr *table = elf_reader_find_section(reader, SHT_SYMTAB);
	Elf64_Sym symbol;
	const uint8_t *bytes;

	if (!table || table->sh_link >= reader->nr_sections)
		return -ENOENT;
	for (uint64_t i = 0; i < MAX_SYMBOLS && i < table->sh_size / sizeof(symbol); i++) {
		int r = elf_reader_bytes(reader, table->sh_offset + i * sizeof(symbol),
					 sizeof(symbol), &bytes);
		if (r < 0)
			return r;
		memcpy(&symbol, bytes, sizeof(symbol));
		r = has_name(reader, &reader->sections[table->sh_link], &symbol);
		if (r < 0)
			return r;
		if (r > 0) {
			*ret_cold = (struct elf_export){ .address = symbol.st_value,
							 .size = symbol.st_size,
							 .type = STT_FUNC };
			return 0;
		}
	}
	return -ENOENT;
}
