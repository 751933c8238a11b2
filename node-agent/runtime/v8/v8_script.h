/* SPDX-License-Identifier: Apache-2.0 */
/* From a position in a script to its line. V8 keeps the ends of a script's lines once it needed
 * them; before that, the source is searched for them. Sources: V8's src/objects/script.tq,
 * src/objects/script-inl.h, src/objects/string.cc (CalculateLineEnds). */
#ifndef RUNTIME_V8_V8_SCRIPT_H
#define RUNTIME_V8_V8_SCRIPT_H

#include "base/err.h"
#include "base/strbuf.h"
#include "runtime/v8/v8_heap.h"

#include <stdint.h>

/* Returns the line, from 1 on, of a position in a script; 0 if it is unknown. */
uint32_t v8_script_line(const struct v8_heap *heap, uint64_t script, int32_t position);

/* Appends the name of the script's file, without "file://". One without a name, as of eval(), has
 * the URL that its source tells; nothing is appended if there is none. Errors: those of
 * v8_string_append(). */
int v8_script_name(const struct v8_heap *heap, uint64_t script, struct strbuf *out) must_check;

#endif
