/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the part of the eval loop that GCC has moved away from the rest as rarely used. Only a
 * symbol of a file that is not stripped tells it. */
#ifndef RUNTIME_CPYTHON_CPYTHON_COLD_H
#define RUNTIME_CPYTHON_CPYTHON_COLD_H

#include "elf/elf_exports.h"

/* Errors: -ENOENT the file does not tell; those of elf_reader_bytes(). */
int cpython_cold_find(struct elf_reader *reader, struct elf_export *ret_cold) must_check;

#endif
