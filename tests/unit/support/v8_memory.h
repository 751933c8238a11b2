/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a process that has a heap of V8, in a file. */
#ifndef TESTS_UNIT_V8_MEMORY_H
#define TESTS_UNIT_V8_MEMORY_H

#include "runtime/v8/v8_heap.h"
#include "runtime/v8/v8_values.h"
#include "v8_values_table.h"

#include <stddef.h>
#include <stdint.h>

#define V8_MEMORY_QUOTA ((uint64_t)1 << 30)

/* Instance types of strings. */
enum {
	V8_STRING_TWO_BYTE = 0x20,
	V8_STRING_ONE_BYTE = 0x28,
	V8_STRING_CONS = 0x29,
	V8_STRING_EXTERNAL = 0x2a,
	V8_STRING_SLICED = 0x2b,
	V8_STRING_THIN = 0x2d,
	V8_STRING_UNCACHED = 0x3a,
	V8_TYPE_BYTES = 0xf0, /* an array of bytes */
	V8_TYPE_OTHER = 0xf1,
};

/* Parts of the memory. With compressed pointers, they have other upper halves of addresses; where
 * there is no trusted cage, its objects are in the heap. */
enum v8_memory_space { V8_HEAP, V8_TRUSTED, V8_CODE, V8_NR_SPACES };

struct v8_memory {
	struct process_memory memory;
	uint64_t values[V8_NR_VALUES];
	struct v8_heap heap;
	uint64_t ends[V8_NR_SPACES]; /* of what is used */
};

/* An empty heap. It must not be moved. */
void v8_memory_init(struct v8_memory *objects, enum v8_memory_layout layout);
void v8_memory_done(struct v8_memory *objects);

void v8_memory_put(struct v8_memory *objects, uint64_t address, const void *bytes, size_t len);

/* Sets a word of an object. It is put compressed where words are. */
void v8_memory_set(struct v8_memory *objects, uint64_t object, uint64_t offset, uint64_t word);

uint64_t v8_memory_smi(int32_t value);

/* Put an object each behind those that are there, and return the word that points to it. */
uint64_t v8_memory_put_object(struct v8_memory *objects, uint64_t type, size_t nr_bytes);
uint64_t v8_memory_put_trusted(struct v8_memory *objects, uint64_t type, size_t nr_bytes);
uint64_t v8_memory_put_string(struct v8_memory *objects, const char *chars);
uint64_t v8_memory_put_two_byte(struct v8_memory *objects, const uint16_t *chars, size_t nr_chars);

/* A string of a type that refers to others, by the two words behind its length. */
uint64_t v8_memory_put_reference(struct v8_memory *objects, uint64_t type, uint32_t length,
				 uint64_t first, uint64_t second);

/* Arrays, in trusted space where there is one. */
uint64_t v8_memory_put_bytes(struct v8_memory *objects, const void *bytes, size_t len);
uint64_t v8_memory_put_array(struct v8_memory *objects, const uint64_t *words, size_t nr_words);

/* A script with a name and a source. */
uint64_t v8_memory_put_script(struct v8_memory *objects, const char *name, const char *source);

/* A function whose name is a string or in a ScopeInfo. */
uint64_t v8_memory_put_shared(struct v8_memory *objects, uint64_t name, uint64_t script,
			      uint64_t data);

/* A ScopeInfo without variables, whose function begins at a position. Names may be 0. */
uint64_t v8_memory_put_scope(struct v8_memory *objects, uint64_t name, uint64_t inferred,
			     int32_t start);

/* A BytecodeArray with a table of source positions. */
uint64_t v8_memory_put_bytecode(struct v8_memory *objects, const void *bytes, size_t len,
				uint64_t positions);

/* Gives a function the handle of an object in trusted space. */
void v8_memory_share_handle(struct v8_memory *objects, uint64_t shared, uint64_t object);

/* What the deoptimization data of code refer to a function by: in a trusted cage, that is a
 * SharedFunctionInfoWrapper. */
uint64_t v8_memory_put_wrapper(struct v8_memory *objects, uint64_t shared);

/* Code with `size` bytes of instructions, whose start is set. */
uint64_t v8_memory_put_code(struct v8_memory *objects, uint32_t kind, uint32_t size,
			    uint64_t *ret_start);

#endif
