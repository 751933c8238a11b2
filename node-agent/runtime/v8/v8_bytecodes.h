/* SPDX-License-Identifier: Apache-2.0 */
/* The sizes of bytecodes, which are needed to count those before a place. V8 exports them up to
 * 12. For later versions they are listed here, or found in the data of the file. Source: V8's
 * src/interpreter/bytecodes.h. */
#ifndef RUNTIME_V8_V8_BYTECODES_H
#define RUNTIME_V8_V8_BYTECODES_H

#include "base/err.h"
#include "elf/elf_exports.h"
#include "runtime/runtime.h"

/* Sets V8_NR_BYTECODES and the sizes of a file, whose version is known. They stay zero if they are
 * not known. Errors: those of the exports. */
int v8_bytecodes_read(const struct elf_exports *exports, struct runtime_file *file) must_check;

/* The same of a file that exports no sizes: finds the table of them in its read-only data, by the
 * first ones. The values stay as they are if it is not there. Errors: those of v8_data_scan(). */
int v8_bytecodes_in_data(const struct elf_reader *reader, struct runtime_file *file) must_check;

#endif
