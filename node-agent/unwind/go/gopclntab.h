/* SPDX-License-Identifier: Apache-2.0 */
/* Go's function table (.gopclntab, runtime.pclntab) as a source of rows, because the toolchain
 * writes no .eh_frame. For each function, the table has the distance of the stack pointer from
 * the beginning of the frame at each pc. Formats of Go 1.2, 1.16, 1.18 and 1.20 and later
 * (src/internal/abi/symtab.go, src/debug/gosym/pclntab.go, src/runtime/symtab.go). */
#ifndef UNWIND_GO_GOPCLNTAB_H
#define UNWIND_GO_GOPCLNTAB_H

#include "base/err.h"
#include "elf/gopclntab_table.h"
#include "unwind/rows/unwind_source.h"

/* Makes a source. Errors: -EBADMSG an unknown format, or damaged; -ENOMEM. */
int gopclntab_source_new(const struct gopclntab_section *section, struct unwind_source **ret_source)
	must_check;

#endif
