/* SPDX-License-Identifier: Apache-2.0 */
/* Names frames of CPython: function, file and line of a code object and a position in its bytecode.
 *
 * The process goes on while its memory is read. What the name depends on is read twice, before and
 * after the strings; a code object that changed in between is not named. It owns its strings, so
 * one that did not change held them all the time.
 * Sources: Include/cpython/code.h, Objects/codeobject.c (PyCode_Addr2Line). */
#ifndef RUNTIME_CPYTHON_CPYTHON_NAME_H
#define RUNTIME_CPYTHON_CPYTHON_NAME_H

#include "base/err.h"
#include "runtime/frame_writer.h"
#include "runtime/process_memory.h"

#include <stdint.h>

/* Line tables that are longer are not read; their frames have the line of the function. */
#define CPYTHON_MAX_TABLE_BYTES ((size_t)256 << 10)

/* runtime_ops.name() of CPython: adds one line, or none. Functions have their qualified names from
 * 3.11 on, earlier their names. A position before the first instruction (-1), or one that has no
 * line, is shown at the line of the function. A tag whose check is 0 names any code object.
 * `naming` is not trusted: enum cpython_naming. A file or a table that cannot be read is left out.
 * Errors: -ENOENT the name cannot be read, those of process_memory_read(), -ENOMEM. */
int cpython_name(struct process_memory *memory, const uint64_t *naming, const uint64_t *words,
		 struct frame_writer *writer) must_check;

#endif
