/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the code that has an address, and its lines and functions. Nothing in a frame of compiled
 * code refers to that code: its function may have newer code, or none any more. But instructions
 * follow a header, whose Map says so: it is searched for downwards from the address.
 * Sources: V8's src/objects/code.h, src/objects/instruction-stream.h,
 * src/objects/deoptimization-data.h. */
#ifndef RUNTIME_V8_V8_CODE_H
#define RUNTIME_V8_V8_CODE_H

#include "base/err.h"
#include "runtime/v8/v8_heap.h"
#include "runtime/v8/v8_positions.h"

#include <stdint.h>

struct v8_code {
	uint64_t object; /* Code */
	uint64_t start; /* of its instructions */
	uint64_t kind;
};

/* Finds the code whose instructions have the byte before `address`. Errors: -ENOENT there is none;
 * those of process_memory_read(). */
int v8_code_find(const struct v8_heap *heap, uint64_t address, struct v8_code *ret_code) must_check;

/* Finds the bytecode of a function that has code. Errors: -ENOENT it has none (any more), or the
 * code is not that of the function and only that would lead to it; those of
 * v8_function_bytecode(). */
int v8_code_bytecode(const struct v8_heap *heap, const struct v8_code *code, uint64_t shared,
		     uint64_t *ret_bytecode) must_check;

/* Finds the position of the call before `address`, in baseline code that was made of a
 * BytecodeArray. Errors: -ENOENT it is no baseline code, or that of other bytecode; those of
 * v8_heap_bytes(). */
int v8_code_baseline(const struct v8_heap *heap, const struct v8_code *code, uint64_t address,
		     uint64_t bytecode, int32_t *ret_position) must_check;

/* The same in optimized code, whose function it sets too. Errors: -ENOENT it is no optimized code;
 * those of v8_heap_bytes(). */
int v8_code_optimized(const struct v8_heap *heap, const struct v8_code *code, uint64_t address,
		      uint64_t *ret_shared, struct v8_position *ret_position) must_check;

/* From the position of an inlined function to that function, and to where it was called. Errors:
 * -ENOENT damaged; those of process_memory_read(). */
int v8_code_inlined(const struct v8_heap *heap, const struct v8_code *code, int32_t inlining,
		    uint64_t *ret_shared, struct v8_position *ret_caller) must_check;

/* Returns the source position of a bytecode, by its offset; -1 if it is unknown. */
int32_t v8_bytecode_position(const struct v8_heap *heap, uint64_t bytecode, uint32_t offset);

#endif
