/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the strings of a CPython. Sources: PEP 393, Include/cpython/unicodeobject.h. */
#ifndef RUNTIME_CPYTHON_CPYTHON_TEXT_H
#define RUNTIME_CPYTHON_CPYTHON_TEXT_H

#include "base/err.h"
#include "base/strbuf.h"
#include "runtime/process_memory.h"

#include <stddef.h>
#include <stdint.h>

/* Appends a `str` object as UTF-8; of one that has more than `max_chars` characters, the first of
 * them. Surrogates, and numbers that are no characters, become U+FFFD. `naming` is that of
 * runtime_ops.name(). Errors: -ENOENT it is not a string, or a legacy one, whose characters are
 * elsewhere; those of cpython_object_part() and strbuf_error(). */
int cpython_text_append(struct process_memory *memory, const uint64_t *naming, uint64_t address,
			size_t max_chars, struct strbuf *out) must_check;

#endif
