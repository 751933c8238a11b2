/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the version of the V8 in a file: by its symbols, else by its text, such as
 * "13.6.233.17-node.44", among the texts of the file. */
#ifndef RUNTIME_V8_V8_VERSION_H
#define RUNTIME_V8_V8_VERSION_H

#include "base/err.h"
#include "elf/elf_exports.h"

#include <stdint.h>

#define V8_MAJOR_SHIFT 24
#define V8_MINOR_SHIFT 16

/* Sets major << 24 | minor << 16 | patch << 8; 0: the file exports no version. Errors: those of the
 * exports. */
int v8_version_exported(const struct elf_exports *exports, uint32_t *ret_version) must_check;

/* The same for the first text that looks like a version. Errors: those of v8_data_scan(). */
int v8_version_in_data(const struct elf_reader *reader, uint32_t *ret_version) must_check;

#endif
