/* SPDX-License-Identifier: Apache-2.0 */
/* Rows for code that has no CFI, from its instructions: above all for musl, the C library of
 * Alpine, which is built without. docs/unwinding.md tells how. */
#ifndef UNWIND_CODE_CODE_SCAN_H
#define UNWIND_CODE_CODE_SCAN_H

#include "base/err.h"
#include "unwind/code/code_scan_input.h"
#include "unwind/rows/unwind_source.h"

#include <stddef.h>

/* How many bytes a source of that allocates, at most. */
size_t code_scan_max_held(const struct code_scan_input *input);

/* Makes a source. Errors: -ENOSPC over CODE_SCAN_MAX_BYTES, -ENOMEM. */
int code_scan_source_new(const struct code_scan_input *input, struct unwind_source **ret_source)
	must_check;

#endif
