/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of an ELF file that are needed to unwind its code. */
#ifndef UNWIND_FILE_ELF_SECTIONS_H
#define UNWIND_FILE_ELF_SECTIONS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "elf/elf_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_MAX_UNWIND_SECTIONS 12
#define ELF_MAX_SECTION_NAMES                                                                      \
	((size_t)16 << 20) /* bytes of .shstrtab; -ffunction-sections makes many */

/* In this order the better one wins. */
enum elf_section_kind {
	ELF_GOPCLNTAB,
	ELF_EH_FRAME,
	ELF_DEBUG_FRAME,
};

struct elf_unwind_section {
	enum elf_section_kind kind;
	const uint8_t *data; /* borrowed from the reader, or `owned` */
	size_t len;
	const struct elf_reader *reader; /* borrowed; where it lies … */
	uint64_t offset; /* … in the file, and … */
	uint64_t file_bytes; /* … how much of it, which compressed is less than `len` */
	uint64_t address; /* virtual */
	uint8_t *owned; /* decompressed */
};

struct elf_sections {
	struct elf_unwind_section items[ELF_MAX_UNWIND_SECTIONS]; /* by kind */
	size_t nr_items;
	size_t nr_bytes;
	size_t max_bytes;
	/* sections that were left out, as they share bytes of the file with one before */
	uint64_t nr_overlapping;
};

/* The names of sections, which section headers refer to. */
struct elf_section_names {
	char *names; /* owned; terminated */
	size_t len;
	struct elf_budget *budget; /* borrowed: the reader's */
};

/* Reads the names; there are none without section headers. The budget of the reader, if it has
 * one, must outlive them. Errors: -ENOSPC, -ENOMEM, -EBADMSG, what pread() says. */
int elf_section_names_load(struct elf_section_names *names, struct elf_reader *reader) must_check;
void elf_section_names_done(struct elf_section_names *names);

/* Returns the first section of that name that has content in the file, or NULL; borrowed. */
const GElf_Shdr *elf_section_find(const struct elf_section_names *names,
				  const struct elf_reader *reader, const char *name);

/* Returns Go's function table, or NULL; borrowed. */
const GElf_Shdr *elf_sections_find_gopclntab(const struct elf_section_names *names,
					     const struct elf_reader *reader);

/* Adds .gopclntab and all sections that have the name or the type of .eh_frame; without section
 * headers, the .eh_frame that the program header PT_GNU_EH_FRAME leads to. Decompressed sections
 * are charged to the budget of the reader. The reader must outlive `sections`. Errors: -EBADMSG,
 * -ENOSPC over max_bytes or the budget, -ENOMEM, what pread() says. */
int elf_sections_load(struct elf_sections *sections, struct elf_reader *reader,
		      const struct elf_section_names *names) must_check;

/* Adds .debug_frame, decompressed, if there is one. Errors: as above. */
int elf_sections_load_debug_frame(struct elf_sections *sections, struct elf_reader *reader,
				  const struct elf_section_names *names) must_check;
void elf_sections_done(struct elf_sections *sections);

/* Finds the .eh_frame that PT_GNU_EH_FRAME leads to. It reaches to the end of its segment.
 * Returns false if there is none. */
bool elf_sections_find_eh_frame(struct elf_reader *reader, GElf_Shdr *ret_section);

/* Returns whether there is a Go table, or at least `nr` functions in .eh_frame. */
bool elf_sections_have_functions(const struct elf_sections *sections, size_t nr);

/* Returns the address of runtime.text of a Go program; that of .text if the file does not say. */
uint64_t elf_sections_go_text(struct elf_reader *reader, const struct elf_section_names *names);

#endif
