/* SPDX-License-Identifier: Apache-2.0 */
/* The sources of the functions of an ELF file. Each source is a C function that adds the functions
 * that it finds to the list. elf_symbols_load.c calls them in this order, so a source may skip
 * functions that an earlier one has found. */
#ifndef SYMBOL_ELF_SYMBOL_SOURCE_H
#define SYMBOL_ELF_SYMBOL_SOURCE_H

#include "symbol/elf/elf_symbol_list.h"
#include "symbol/elf/elf_symbols.h"
#include "symbol/elf/minidebug.h"
#include "unwind/file/elf_sections.h"

#include "base/strbuf.h"

/* A file while its functions are collected. The list borrows names from the other members. */
struct symbol_file {
	struct elf_reader reader;
	struct elf_section_names section_names;
	struct elf_symbols_info info;
	struct elf_symbol_list list;
	size_t max_bytes;
	struct minidebug minidebug;
	struct strbuf plt_names;
};

/* Errors: -EBADMSG the source is damaged, -ENOSPC it is over a limit; other sources may still work.
 * -ENOMEM and those of pread(2). */
int symbol_source_symtab(struct symbol_file *file) must_check; /* sets has_symtab */
int symbol_source_dynsym(struct symbol_file *file) must_check;
int symbol_source_minidebug(struct symbol_file *file) must_check; /* .gnu_debugdata */
int symbol_source_go(struct symbol_file *file) must_check; /* .gopclntab; sets go_start, go_end */
int symbol_source_plt(struct symbol_file *file) must_check; /* "name@plt" */

/* Adds the functions of .eh_frame, without names, as far as the table has room. Errors: as
 * above. */
int symbol_source_cfi(struct symbol_file *file) must_check;

/* Finds .eh_frame. In a file without section headers, it begins where PT_GNU_EH_FRAME points, and
 * ends with its segment. Returns false if there is none. */
bool symbol_source_find_eh_frame(struct elf_reader *reader, const struct elf_section_names *names,
				 GElf_Shdr *ret_section);

#endif
