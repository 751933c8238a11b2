/* SPDX-License-Identifier: Apache-2.0 */
/* Reads objects of V8's heap. A word of an object is a *small integer* (Smi), whose value is in the
 * upper half, or points to an object, one byte behind its start (two more if it is weak). The first
 * word of an object is its Map, which has its instance type.
 *
 * Words may be *compressed*: four bytes, of which small integers have the upper 31 bits. A pointer
 * has its lower half then. Its upper half is the same for all objects, which are in one *cage*. In
 * some builds (V8_ENABLE_SANDBOX), bytecode, code and their data are in a *trusted cage* of their
 * own. Fields that point there from there are *protected*. Words are returned as if they were not
 * compressed.
 * Sources: V8's include/v8-internal.h, src/objects/map.tq, src/objects/trusted-object.h and
 * src/common/ptr-compr-inl.h. */
#ifndef RUNTIME_V8_V8_HEAP_H
#define RUNTIME_V8_V8_HEAP_H

#include "base/err.h"
#include "base/strbuf.h"
#include "runtime/process_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define V8_WORD_BYTES 8
#define V8_COMPRESSED_BYTES 4 /* of a word */
#define V8_MAP_INSTANCE_TYPE 4 /* in a Map, behind its first word */

struct v8_heap {
	struct process_memory *memory; /* borrowed */
	const uint64_t *values; /* V8_NR_VALUES; borrowed */
	/* With compressed pointers: the addresses of the cages. */
	uint64_t cage;
	uint64_t trusted_cage; /* 0: not known */
};

/* Returns the heap that an object is in. `trusted` is the upper half of the trusted cage's address,
 * which counts if there is such a cage; 0: it is not known. */
struct v8_heap v8_heap_of(struct process_memory *memory, const uint64_t *values, uint64_t object,
			  uint64_t trusted);

/* Returns whether pointers are compressed. */
bool v8_heap_is_compressed(const struct v8_heap *heap);

/* Returns the size of a word of an object. */
size_t v8_word_bytes(const struct v8_heap *heap);

/* Returns where an array has its elements. */
uint64_t v8_array_data(const struct v8_heap *heap);

/* Returns whether a word points to an object. */
bool v8_is_object(uint64_t word);

/* Returns whether a word is a small integer. */
bool v8_is_smi(uint64_t word);

/* Returns the value of a small integer. */
int32_t v8_smi(uint64_t word);

/* Reads from an object. Errors: -ENOENT the word does not point to an object; those of
 * process_memory_read(). */
int v8_heap_read(const struct v8_heap *heap, uint64_t object, uint64_t offset, void *to, size_t len)
	must_check;
int v8_heap_word(const struct v8_heap *heap, uint64_t object, uint64_t offset, uint64_t *ret)
	must_check;
int v8_heap_protected(const struct v8_heap *heap, uint64_t object, uint64_t offset, uint64_t *ret)
	must_check;
int v8_heap_u32(const struct v8_heap *heap, uint64_t object, uint64_t offset, uint32_t *ret)
	must_check;

/* Reads a small integer. Errors: -ENOENT it is none; as above. */
int v8_heap_smi(const struct v8_heap *heap, uint64_t object, uint64_t offset, int32_t *ret)
	must_check;

/* Returns the word of an object that is at `bytes`, of which v8_word_bytes() are read. */
uint64_t v8_heap_take(const struct v8_heap *heap, const void *bytes);

/* Returns the instance type. Errors: as above. */
int v8_heap_type(const struct v8_heap *heap, uint64_t object) must_check;

/* Returns whether the object can be read and has this instance type; false for type 0. */
bool v8_heap_is(const struct v8_heap *heap, uint64_t object, uint64_t type);

/* Reads the number of elements of an array, which is at least 0. Errors: -ENOENT it is not an
 * array; as above. */
int v8_heap_length(const struct v8_heap *heap, uint64_t array, uint32_t *ret_length) must_check;

/* Reads an element of an array of words. Errors: -ENOENT the array has no such element; those of
 * process_memory_read(). */
int v8_heap_element(const struct v8_heap *heap, uint64_t array, uint64_t index, uint64_t *ret)
	must_check;
int v8_heap_protected_element(const struct v8_heap *heap, uint64_t array, uint64_t index,
			      uint64_t *ret) must_check;

/* Appends the content of an array of bytes. Errors: -ENOENT it is not an array, or longer than the
 * buffer may be; those of process_memory_read() and strbuf_error(). */
int v8_heap_bytes(const struct v8_heap *heap, uint64_t array, struct strbuf *out) must_check;

#endif
