/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the part of the eval loop that GCC has moved away from the rest as rarely used
 * (-freorder-blocks-and-partition), in stripped files as well, on x86-64. */
#ifndef RUNTIME_CPYTHON_CPYTHON_COLD_H
#define RUNTIME_CPYTHON_CPYTHON_COLD_H

#include "elf/elf_exports.h"

/* `eval` is _PyEval_EvalFrameDefault(). Errors: -ENOENT there is no such part, or it cannot be
 * found in this file; -ENOMEM; those of elf_reader_read(). */
int cpython_cold_find(const struct elf_exports *exports, const struct elf_export *eval,
		      struct elf_export *ret_cold) must_check;

#endif
