/* SPDX-License-Identifier: Apache-2.0 */
/* Finds V8's builtins in a file: megabytes of code that V8's own compiler made, without CFI. All
 * other code of such a file has CFI, so the builtins are its largest part without CFI. No exported
 * symbol has their address. Sources: V8's src/snapshot/embedded/embedded-file-writer.cc; Linux
 * Standard Base, "Exception Frames" (.eh_frame_hdr). */
#ifndef RUNTIME_V8_V8_BUILTINS_H
#define RUNTIME_V8_V8_BUILTINS_H

#include "base/err.h"
#include "elf/elf_exports.h"
#include "runtime/runtime.h"

/* Sets V8_BUILTINS_START and V8_BUILTINS_END; they stay zero if the builtins are not found. Errors:
 * those of the exports. */
int v8_builtins_find(const struct elf_exports *exports, struct runtime_file *file) must_check;

#endif
