/* SPDX-License-Identifier: Apache-2.0 */
/* .eh_frame and .debug_frame as a source of rows: CIEs, FDEs, and their programs of DW_CFA_ instructions
 * (DWARF 5 section 6.4; Linux Standard Base 5.0 Core, "Exception Frames"). */
#ifndef UNWIND_CFI_CFI_H
#define UNWIND_CFI_CFI_H

#include "base/cleanup.h"
#include "elf/elf_budget.h"
#include "unwind/rows/unwind_source.h"

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

/* The rows are those of x86-64. `section` is copied, its data stays the caller's and outlives the source.
 * Errors: -ENOMEM. Free with cfi_source_free(). */
int cfi_source_new(const struct cfi_section *section, struct unwind_source **ret_source) must_check;
void cfi_source_free(struct unwind_source *source);
DEFINE_FREEP(struct unwind_source, cfi_source_free)

#endif
