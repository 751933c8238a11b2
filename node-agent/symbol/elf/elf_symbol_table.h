/* SPDX-License-Identifier: Apache-2.0 */
/* The symbol tables of an ELF file: .symtab and .dynsym. If there are no section headers, .dynsym
 * is found through PT_DYNAMIC. */
#ifndef SYMBOL_ELF_ELF_SYMBOL_TABLE_H
#define SYMBOL_ELF_ELF_SYMBOL_TABLE_H

#include "symbol/elf/elf_symbol_list.h"

/* Offsets in the file. Both ranges are within the file. */
struct elf_symbol_table {
	uint64_t symbols_offset;
	uint64_t symbols_len; /* in bytes; a multiple of a symbol's size */
	uint64_t names_offset;
	uint64_t names_len;
};

/* Finds the table of a type (SHT_SYMTAB, SHT_DYNSYM). Errors: -ENOENT, -EBADMSG, -ENOSPC more than
 * ELF_MAX_SYMBOLS, those of pread(2). */
int elf_symbol_table_find(struct elf_reader *reader, uint32_t type,
			  struct elf_symbol_table *ret_table) must_check;

/* Finds the dynamic symbols of a file without section headers (elf_dynamic.c). Errors: as above. */
int elf_symbol_table_find_dynamic(struct elf_reader *reader, struct elf_symbol_table *ret_table)
	must_check;

/* Appends the defined functions of a table as a source, and with `has_labels` its
 * labels. The reader must outlive the list. Errors: -ENOSPC over the list's max_bytes,
 * -ENOMEM, those of pread(2). */
int elf_symbol_table_list(const struct elf_symbol_table *table, struct elf_reader *reader,
			  bool has_labels, struct elf_symbol_list *list) must_check;

#endif
