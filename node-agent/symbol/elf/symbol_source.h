/* SPDX-License-Identifier: Apache-2.0 */
/* Where the functions of an ELF file come from. Each source is a function that adds what it finds
 * to the list, and nothing when the file has no such thing; they are asked in this order
 * (elf_symbols_load.c), so that one may leave out what others had. */
#ifndef SYMBOL_ELF_SYMBOL_SOURCE_H
#define SYMBOL_ELF_SYMBOL_SOURCE_H

#include "symbol/elf/elf_symbol_list.h"
#include "symbol/elf/elf_symbols.h"
#include "symbol/elf/minidebug.h"
#include "unwind/file/elf_sections.h"

#include "base/strbuf.h"

/* A file while its functions are collected. The list borrows names from the rest. */
struct symbol_file {
	struct elf_reader reader;
	struct elf_section_names section_names;
	struct elf_symbols_info info;
	struct elf_symbol_list list;
	size_t max_bytes;
	struct minidebug minidebug;
	struct strbuf plt_names;
};

/* Errors: -EBADMSG the source is damaged, -ENOSPC it is over a limit: others may still do;
 * -ENOMEM and what pread() says. */
int symbol_source_symtab(struct symbol_file *file) must_check; /* sets has_symtab */
int symbol_source_dynsym(struct symbol_file *file) must_check;
int symbol_source_minidebug(struct symbol_file *file) must_check; /* .gnu_debugdata */
int symbol_source_go(struct symbol_file *file) must_check; /* .gopclntab; sets go_start, go_end */
int symbol_source_plt(struct symbol_file *file) must_check; /* "name@plt" */

/* The functions of .eh_frame, without names; no more of them than the table has
 * room for. Errors: as above. */
int symbol_source_cfi(struct symbol_file *file) must_check;

#endif
