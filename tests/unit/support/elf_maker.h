/* SPDX-License-Identifier: Apache-2.0 */
/* Makes ELF files of any sections. Each has one code section, .text, which is section 1. */
#ifndef TESTS_UNIT_ELF_MAKER_H
#define TESTS_UNIT_ELF_MAKER_H

#include "base/strbuf.h"

#include <elf.h>

#define MAKER_TEXT_ADDRESS 0x401000
#define MAKER_TEXT_OFFSET 0x1000 /* if it was in the file: it has no content */
#define MAKER_TEXT_BYTES 0x1000
#define MAKER_MAX_SECTIONS 24
#define MAKER_MAX_BYTES ((size_t)64 << 20)

struct elf_maker {
	struct strbuf bytes; /* of the file so far */
	struct strbuf names; /* of the sections */
	Elf64_Shdr sections[MAKER_MAX_SECTIONS];
	size_t nr_sections;
};

/* An entry of a symbol table. The name NULL ends an array. */
struct maker_symbol {
	const char *name;
	uint64_t delta; /* address - MAKER_TEXT_ADDRESS */
	uint64_t size;
};

void elf_maker_init(struct elf_maker *maker);
void elf_maker_done(struct elf_maker *maker);

/* Adds a section, whose offset, size and name are set here. Returns its number. */
size_t elf_maker_add(struct elf_maker *maker, const char *name, Elf64_Shdr header, const void *data,
		     size_t len);

/* Adds a section without flags. */
size_t elf_maker_add_plain(struct elf_maker *maker, const char *name, const void *data, size_t len);

/* Adds a symbol table of that type (SHT_SYMTAB, SHT_DYNSYM) with global functions, and its
 * names. Symbol 0 is empty. */
size_t elf_maker_add_symbols(struct elf_maker *maker, uint32_t type,
			     const struct maker_symbol *symbols);

/* Writes section headers and file header: no more sections. */
void elf_maker_finish(struct elf_maker *maker);

/* Headers in the finished file, to be changed. */
Elf64_Ehdr *elf_maker_header(const struct elf_maker *maker);
Elf64_Phdr *elf_maker_segment(const struct elf_maker *maker);
Elf64_Shdr *elf_maker_section(const struct elf_maker *maker, size_t number);

/* A file with these bytes; the caller's. */
int elf_maker_write(const void *bytes, size_t len);

#endif
