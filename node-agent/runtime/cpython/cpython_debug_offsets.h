/* SPDX-License-Identifier: Apache-2.0 */
/* Reads _Py_DebugOffsets, with which _PyRuntime begins from 3.13 on: the offsets of fields in this
 * build. Source: Include/internal/pycore_debug_offsets.h (pycore_runtime.h in 3.13). */
#ifndef RUNTIME_CPYTHON_CPYTHON_DEBUG_OFFSETS_H
#define RUNTIME_CPYTHON_CPYTHON_DEBUG_OFFSETS_H

#include "base/err.h"
#include "runtime/runtime.h"

#define CPYTHON_DEBUG_OFFSETS_BYTES (96 * 8)

/* Fills the values of the file from the first bytes of its _PyRuntime. A version that is newer than
 * the newest known one is read like that one (CPYTHON_IS_GUESS). Errors: -EBADMSG the bytes are not
 * of that version, or contradict themselves. */
int cpython_debug_offsets_decode(const uint8_t bytes[static CPYTHON_DEBUG_OFFSETS_BYTES],
				 struct runtime_file *file) must_check;

#endif
