/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the values of the V8 in an ELF file. V8 exports its layout for debuggers, as numbers with
 * names "v8dbg_…", of which each version lacks some others. A V8 that exports none (v8_embedded.h)
 * has the values of the newest known version, and types that are not known (v8_kinds.h). Sources:
 * V8's tools/gen-postmortem-metadata.py, and for what is missing the definitions of the classes in
 * src/objects. */
#ifndef RUNTIME_V8_V8_FILE_H
#define RUNTIME_V8_V8_FILE_H

#include "base/err.h"
#include "elf/elf_exports.h"
#include "runtime/runtime.h"

/* runtime_ops.read_file(). The values are those of enum v8_value. */
int v8_file_read(struct elf_exports *exports, struct runtime_file *ret_file) must_check;

#endif
