/* SPDX-License-Identifier: Apache-2.0 */
/* .eh_frame and .debug_frame as a source of rows: CIEs, FDEs, and their programs of DW_CFA_
 * instructions (DWARF 5 section 6.4; Linux Standard Base 5.0 Core, "Exception Frames"). */
#ifndef UNWIND_CFI_CFI_H
#define UNWIND_CFI_CFI_H

#include "base/err.h"
#include "unwind/cfi/dwarf_cursor.h"
#include "unwind/rows/unwind_source.h"

/* Makes a source of rows for this build's architecture. `section` is copied; its data stays the
 * caller's and outlives the source. Errors: -ENOMEM. */
int cfi_source_new(const struct cfi_section *section, struct unwind_source **ret_source) must_check;

#endif
