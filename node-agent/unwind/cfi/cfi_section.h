/* SPDX-License-Identifier: Apache-2.0 */
/* A section of call frame information, as it was read. */
#ifndef UNWIND_CFI_CFI_SECTION_H
#define UNWIND_CFI_CFI_SECTION_H

#include "elf/elf_budget.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cfi_section {
	const uint8_t *data; /* borrowed */
	size_t len;
	uint64_t address; /* virtual address of `data`: what DW_EH_PE_pcrel counts from */
	uint64_t text_address; /* DW_EH_PE_textrel */
	uint64_t data_address; /* DW_EH_PE_datarel */
	bool is_debug_frame; /* .debug_frame: other CIE ids, absolute pointers */
	struct elf_budget *budget; /* borrowed; of the list of CIEs; NULL: none */
};

#endif
