/* SPDX-License-Identifier: Apache-2.0 */
/* Where the functions without a name come from (symbol_source_cfi). */
#ifndef SYMBOL_ELF_CFI_FUNCTIONS_H
#define SYMBOL_ELF_CFI_FUNCTIONS_H

#include "unwind/file/elf_sections.h"

#include <stdbool.h>

/* The file's .eh_frame; without section headers, what PT_GNU_EH_FRAME leads to, up to the end of
 * its segment. False if there is none. */
bool cfi_functions_find_section(struct elf_reader *reader, const struct elf_section_names *names,
				GElf_Shdr *ret_section);

#endif
