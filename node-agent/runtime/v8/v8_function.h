/* SPDX-License-Identifier: Apache-2.0 */
/* A function as its SharedFunctionInfo describes it: script, name, and where it begins. Its name
 * may be in a ScopeInfo, as may be the name that V8 infers for one without ("Foo.bar").
 * Sources: V8's src/objects/shared-function-info.tq, src/objects/scope-info.tq. */
#ifndef RUNTIME_V8_V8_FUNCTION_H
#define RUNTIME_V8_V8_FUNCTION_H

#include "base/err.h"
#include "runtime/frame_writer.h"
#include "runtime/v8/v8_heap.h"

#include <stdbool.h>
#include <stdint.h>

struct v8_function {
	uint64_t shared; /* SharedFunctionInfo */
	uint64_t script; /* 0: none, as for functions of V8 itself */
	uint64_t name; /* a string that is not empty; 0: none */
	int32_t start; /* position in the script; -1: unknown */
};

/* Reads a function. Errors: -ENOENT it is no SharedFunctionInfo; those of process_memory_read(). */
int v8_function_read(const struct v8_heap *heap, uint64_t shared, struct v8_function *ret_function)
	must_check;

/* Returns the check of a tag, or a negative errno as above. */
int v8_function_check(const struct v8_heap *heap, uint64_t shared) must_check;

/* Finds the BytecodeArray of a function. Errors: -ENOENT it has none (any more), or it has a handle
 * to an object in a trusted cage; as above. */
int v8_function_bytecode(const struct v8_heap *heap, uint64_t shared, uint64_t *ret_bytecode)
	must_check;

/* The same for what refers to the bytecode: an InterpreterData, a BytecodeArray itself, or (if
 * may_be_code) what functions with baseline code have. */
int v8_bytecode_of(const struct v8_heap *heap, uint64_t data, bool may_be_code,
		   uint64_t *ret_bytecode) must_check;

/* Returns whether a function has a handle to an object in a trusted cage. */
bool v8_function_has(const struct v8_heap *heap, uint64_t shared, uint64_t object);

/* Adds a line of the function, that of a position in its script, or its first line if the position
 * is unknown. Errors: those of v8_string_append(). */
int v8_function_add(const struct v8_heap *heap, const struct v8_function *function,
		    int32_t position, struct frame_writer *writer) must_check;

#endif
