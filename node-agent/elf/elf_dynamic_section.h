/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of an ELF file for the dynamic linker, which files without section headers have too.
 * Source: gABI, "Dynamic Section". */
#ifndef ELF_ELF_DYNAMIC_SECTION_H
#define ELF_ELF_DYNAMIC_SECTION_H

#include "base/err.h"
#include "elf/elf_reader.h"

#include <stdint.h>

/* Virtual addresses, and the size of the strings in bytes; 0: the file has no such entry. */
struct elf_dynamic_section {
	uint64_t symbols; /* DT_SYMTAB */
	uint64_t strings; /* DT_STRTAB */
	uint64_t strings_bytes; /* DT_STRSZ */
	uint64_t hash; /* DT_HASH */
	uint64_t gnu_hash; /* DT_GNU_HASH */
};

/* Reads the entries. Errors: -ENOENT the file has no PT_DYNAMIC segment, -ENOSPC the segment is too
 * large, those of elf_reader_data(). */
int elf_dynamic_section_read(struct elf_reader *reader, struct elf_dynamic_section *ret_section)
	must_check;

/* Finds the offset in the file of `len` bytes at a virtual address, in one segment. Errors:
 * -EBADMSG no segment has all of them in the file. */
int elf_dynamic_section_find_offset(const struct elf_reader *reader, uint64_t address, uint64_t len,
				    uint64_t *ret_offset) must_check;

#endif
