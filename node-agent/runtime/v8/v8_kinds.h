/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the kinds of V8's objects apart. By their instance types where these are known, else by
 * what such objects have and others have not. Where code is in a trusted cage and types are not
 * known, v8_is_code() is always false: only an InstructionStream tells that it has a Code. */
#ifndef RUNTIME_V8_V8_KINDS_H
#define RUNTIME_V8_V8_KINDS_H

#include "runtime/v8/v8_heap.h"

#include <stdbool.h>
#include <stdint.h>

/* Return whether an object can be read and is of that kind. */
bool v8_is_shared(const struct v8_heap *heap, uint64_t object);
bool v8_is_wrapper(const struct v8_heap *heap, uint64_t object);
bool v8_is_script(const struct v8_heap *heap, uint64_t object);
bool v8_is_scope(const struct v8_heap *heap, uint64_t object);
bool v8_is_code(const struct v8_heap *heap, uint64_t object);
bool v8_is_bytecode(const struct v8_heap *heap, uint64_t object);
bool v8_is_interpreter_data(const struct v8_heap *heap, uint64_t object);

/* Finds the Code of an InstructionStream. Errors: those of v8_heap_protected(). */
int v8_stream_code(const struct v8_heap *heap, uint64_t stream, uint64_t *ret_code) must_check;

/* Returns whether a word may point to the Map of an object with this instance type. */
bool v8_is_map_of(const struct v8_heap *heap, uint64_t map, uint64_t type);

#endif
