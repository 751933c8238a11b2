/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the instructions of a CIE or an FDE: DW_CFA_ of DWARF 5 section 6.4.2, and those of GNU.
 *
 * A program is a compressed table of rules. Some instructions change the state, others go on to
 * a later address; at each of the latter, the changed state becomes a row. It takes time in
 * proportion to its bytes, whatever they are. */
#ifndef UNWIND_CFI_CFI_PROGRAM_H
#define UNWIND_CFI_CFI_PROGRAM_H

#include "unwind/cfi/cfi_entry.h"
#include "unwind/rows/unwind_source.h"

/* Runs the instructions of a CIE and sets cie->initial. Errors: -EBADMSG. */
int cfi_program_run_initial(const struct cfi_section *section, struct dwarf_cursor program,
			    struct cfi_cie *cie) must_check;

/* Runs the instructions of an FDE and adds its rows. Errors: -EBADMSG damaged: the rows before
 * the damage are in the builder, and one row that says that the rest is not known; those of
 * row_builder_add(). */
int cfi_program_run(const struct cfi_section *section, const struct cfi_cie *cie,
		    const struct cfi_fde *fde, struct row_builder *builder,
		    struct unwind_losses *losses) must_check;

#endif
