/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the instructions of a CIE or an FDE: DW_CFA_ of DWARF 5 section 6.4.2, and GNU's.
 *
 * A program is a table of rules, compressed: instructions that change the state, and
 * instructions that go on to a later address. At each of the latter, what was changed becomes a
 * row. It takes time in proportion to its bytes, whatever is in it. */
#ifndef UNWIND_CFI_CFI_PROGRAM_H
#define UNWIND_CFI_CFI_PROGRAM_H

#include "unwind/cfi/cfi_entry.h"
#include "unwind/rows/unwind_source.h"

/* Sets cie->initial. Errors: -EBADMSG. */
int cfi_program_run_initial(const struct cfi_section *section, struct dwarf_cursor program,
			    struct cfi_cie *cie) must_check;

/* Errors: -EBADMSG damaged: the rows up to there are in the builder, and one that says that what
 * follows is not known; those of row_builder_add(). */
int cfi_program_run(const struct cfi_section *section, const struct cfi_cie *cie,
		    const struct cfi_fde *fde, struct row_builder *builder,
		    struct unwind_losses *losses) must_check;

#endif
