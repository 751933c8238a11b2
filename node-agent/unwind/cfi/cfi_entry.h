/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of .eh_frame and .debug_frame. What many functions have in common is in a common
 * information entry (CIE); each function has a frame description entry (FDE) that refers to one:
 *
 *	length | 0 (CIE) or where the CIE is (FDE) | header | instructions …
 *
 * A length of 0xffffffff says that the real one follows in 8 bytes. A length of 0 is a
 * terminator, but what was linked from several pieces may go on behind it. */
#ifndef UNWIND_CFI_CFI_ENTRY_H
#define UNWIND_CFI_CFI_ENTRY_H

#include "unwind/cfi/cfi_state.h"
#include "unwind/cfi/dwarf_cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cfi_entry {
	uint64_t offset; /* in the section */
	uint64_t cie_offset; /* FDEs: where their CIE is, which may be anything */
	bool is_cie;
	struct dwarf_cursor body; /* what follows */
};

struct cfi_entries {
	const struct cfi_section *section; /* borrowed */
	uint64_t offset;
	/* an entry is longer than the section, or there are too many terminators: the rest is
	 * not read */
	bool is_cut;
};

struct cfi_cie {
	uint64_t offset;
	uint64_t code_align; /* of distances in the code */
	int64_t data_align; /* of places on the stack */
	uint8_t pointer_encoding;
	bool has_augmentation; /* FDEs have augmentation data, which begins with its length */
	bool is_signal_frame;
	struct cfi_state initial; /* after its instructions */
};

struct cfi_fde {
	uint64_t start; /* virtual addresses */
	uint64_t end; /* the same as `start` for code that the linker has thrown away */
	struct dwarf_cursor program;
};

/* Reads the next entry, skipping terminators. Returns false at the end. */
bool cfi_entries_next(struct cfi_entries *entries, struct cfi_entry *ret_entry);

/* Reads a CIE up to its instructions, which are left in `ret_program`; `initial` is empty.
 * Errors: -EBADMSG damaged, or not one for this architecture. */
int cfi_cie_parse(const struct cfi_section *section, const struct cfi_entry *entry,
		  struct cfi_cie *ret_cie, struct dwarf_cursor *ret_program) must_check;

/* Reads an FDE. Errors: -EBADMSG. */
int cfi_fde_parse(const struct cfi_section *section, const struct cfi_entry *entry,
		  const struct cfi_cie *cie, struct cfi_fde *ret_fde) must_check;

#endif
