/* SPDX-License-Identifier: Apache-2.0 */
/* Finds rows for code without CFI, from its instructions: above all for musl, the C library of
 * Alpine, which is built without CFI. docs/unwinding.md describes how. */
#ifndef UNWIND_CODE_CODE_SCAN_H
#define UNWIND_CODE_CODE_SCAN_H

#include "base/err.h"
#include "unwind/code/code_scan_input.h"
#include "unwind/rows/unwind_source.h"

#include <stddef.h>

/* Returns the number of bytes that a source of this input allocates at most. */
size_t code_scan_max_held(const struct code_scan_input *input);

/* Makes a source. Errors: -ENOSPC over CODE_SCAN_MAX_BYTES, -ENOMEM. */
int code_scan_source_new(const struct code_scan_input *input, struct unwind_source **ret_source)
	must_check;

#endif
