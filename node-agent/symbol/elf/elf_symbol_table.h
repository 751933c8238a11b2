/* SPDX-License-Identifier: Apache-2.0 */
/* The symbol tables of an ELF file: .symtab and .dynsym. The latter is found without section
 * headers as well, by way of PT_DYNAMIC. */
#ifndef SYMBOL_ELF_ELF_SYMBOL_TABLE_H
#define SYMBOL_ELF_ELF_SYMBOL_TABLE_H

#include "symbol/elf/elf_symbol_list.h"

/* Offsets in the file; all of it is within the file. */
struct elf_symbol_table {
	uint64_t symbols_offset;
	uint64_t symbols_len; /* a multiple of a symbol's size */
	uint64_t names_offset;
	uint64_t names_len;
};

/* The table of that type (SHT_SYMTAB, SHT_DYNSYM). Errors: -ENOENT, -EBADMSG, -ENOSPC more than
 * ELF_MAX_SYMBOLS, what pread() says. */
int elf_symbol_table_find(struct elf_reader *reader, uint32_t type,
			  struct elf_symbol_table *ret_table) must_check;

/* The same for the dynamic symbols of a file without section headers (elf_dynamic.c). */
int elf_symbol_table_find_dynamic(struct elf_reader *reader, struct elf_symbol_table *ret_table)
	must_check;

/* Appends the defined functions of a table as a source; `has_labels`: and labels of its code. The
 * reader outlives the list. Errors: -ENOSPC over the list's max_bytes, -ENOMEM, what pread()
 * says. */
int elf_symbol_table_list(const struct elf_symbol_table *table, struct elf_reader *reader,
			  bool has_labels, struct elf_symbol_list *list) must_check;

#endif
