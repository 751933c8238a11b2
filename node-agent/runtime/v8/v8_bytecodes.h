/* SPDX-License-Identifier: Apache-2.0 */
/* The sizes of bytecodes, which are needed to count those before a place. V8 exports them up to 12.
 * For later versions they are listed here. Source: V8's src/interpreter/bytecodes.h. */
#ifndef RUNTIME_V8_V8_BYTECODES_H
#define RUNTIME_V8_V8_BYTECODES_H

#include "base/err.h"
#include "elf/elf_exports.h"
#include "runtime/runtime.h"

/* Sets V8_NR_BYTECODES and the sizes of a file, whose version is known. They stay zero if they are
 * not known. Errors: those of the exports. */
int v8_bytecodes_read(const struct elf_exports *exports, struct runtime_file *file) must_check;

#endif
