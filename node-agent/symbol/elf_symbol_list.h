/* SPDX-License-Identifier: Apache-2.0 */
/* The function symbols of a file while they are collected from its symbol tables, before they become a
 * struct elf_symbols: as read, then sorted, with one left for each address. */
#ifndef SYMBOL_ELF_SYMBOL_LIST_H
#define SYMBOL_ELF_SYMBOL_LIST_H

#include "unwind/elf_reader.h"

#define ELF_MAX_SYMBOLS (4u << 20) /* a symbol table */
#define ELF_MAX_NAME_BYTES 4096 /* longer names are cut */

struct elf_code_range {
	uint64_t start;
	uint64_t end;
};

struct elf_listed_symbol {
	uint32_t delta; /* address - base */
	uint32_t size; /* 0: unknown until sealed */
	uint32_t name; /* offset in the names of its table */
	uint16_t name_len;
	uint8_t table;
	uint8_t rank; /* the smaller the better, see rank_of() */
};

#define ELF_MAX_TABLES 2 /* .symtab, .dynsym */

struct elf_names {
	const char *text; /* borrowed from the reader; not always NUL-terminated */
	size_t len;
};

struct elf_symbol_list {
	struct elf_code_range *ranges; /* owned; executable sections, sorted by start */
	size_t nr_ranges;
	uint64_t base; /* start of the first range */
	struct elf_listed_symbol *symbols; /* owned */
	size_t nr_symbols;
	size_t cap_symbols;
	struct elf_names tables[ELF_MAX_TABLES]; /* string tables of the symbol tables so far */
	size_t nr_tables;
	size_t names_len; /* of all of them */
	size_t max_bytes; /* of `symbols` and of the names, each */
};

/* Finds the executable sections of a file, whose reader must stay; nothing outside of them is a function. Errors: -ENOMEM. */
int elf_symbol_list_init(struct elf_symbol_list *list, const struct elf_reader *reader,
			 size_t max_bytes) must_check;
void elf_symbol_list_done(struct elf_symbol_list *list);

/* Appends the defined functions of the file's table of that type (SHT_SYMTAB, SHT_DYNSYM), if it has one.
 * Symbols that cannot be named, or lie more than 4 GB above the first code, are left out.
 * Errors: -EBADMSG damaged, -ENOSPC over max_bytes, -ENOMEM, what pread() says. */
int elf_symbol_list_add_table(struct elf_symbol_list *list, struct elf_reader *reader,
			      uint32_t type) must_check;

/* Sorts by address, keeps the best symbol of each address and gives sizes to those without: up to the
 * next symbol or the end of their section. No size reaches over that end. */
void elf_symbol_list_seal(struct elf_symbol_list *list);

/* The name_len bytes of a name, without a NUL; borrowed. */
const char *elf_symbol_list_name(const struct elf_symbol_list *list,
				 const struct elf_listed_symbol *symbol);

#endif
