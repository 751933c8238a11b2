/* SPDX-License-Identifier: Apache-2.0 */
/* The offsets of fields in CPython 3.8 to 3.12, which have no _Py_DebugOffsets. They are those
 * of builds for 64-bit machines without Py_DEBUG or Py_TRACE_REFS, as every distribution has
 * them. */
#ifndef RUNTIME_CPYTHON_CPYTHON_VERSIONS_H
#define RUNTIME_CPYTHON_CPYTHON_VERSIONS_H

#include "runtime/runtime.h"

#include <stdbool.h>

/* Fills the values of a version, which its minor number decides: kinds and offsets. Returns false
 * for other versions. */
bool cpython_versions_fill(struct runtime_file *file);

#endif
