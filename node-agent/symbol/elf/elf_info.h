/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the facts about a file that do not depend on its functions: build ids, and links to debug
 * information. */
#ifndef SYMBOL_ELF_ELF_INFO_H
#define SYMBOL_ELF_ELF_INFO_H

#include "symbol/elf/elf_block.h"
#include "unwind/file/elf_sections.h"

/* Fills in all fields of an info of zeros, except those that symbol sources set. A part that cannot
 * be read counts as missing. */
void elf_info_read(struct elf_reader *reader, const struct elf_section_names *names,
		   struct elf_symbols_info *info);

#endif
