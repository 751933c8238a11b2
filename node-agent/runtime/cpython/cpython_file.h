/* SPDX-License-Identifier: Apache-2.0 */
/* Recognizes a CPython by the symbols that its file exports, and reads its values: the executable
 * of a static build, libpython, or a program that CPython is linked into. */
#ifndef RUNTIME_CPYTHON_CPYTHON_FILE_H
#define RUNTIME_CPYTHON_CPYTHON_FILE_H

#include "runtime/runtime.h"

/* As runtime_ops.read_file. The values are those of enum cpython_value. */
int cpython_file_read(struct elf_exports *exports, struct runtime_file *ret_file) must_check;

#endif
