/* SPDX-License-Identifier: Apache-2.0 */
/* What a file says of itself besides its functions: build ids, where its debug information is. */
#ifndef SYMBOL_ELF_ELF_INFO_H
#define SYMBOL_ELF_ELF_INFO_H

#include "symbol/elf/elf_block.h"
#include "unwind/file/elf_sections.h"

/* Fills in what is not for symbol sources to tell, in an info that is 0. What cannot be read is as
 * if it was missing. */
void elf_info_read(struct elf_reader *reader, const struct elf_section_names *names,
		   struct elf_symbols_info *info);

#endif
