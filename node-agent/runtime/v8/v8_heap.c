/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_heap.h"

#include "runtime/v8/v8_values.h"

#include <string.h>

#define OBJECT_TAG 1
#define OBJECT_TAG_MASK 3
#define WEAK_BIT 2ULL
#define ADDRESS_MAX ((1ULL << 48) - 1) /* of arm64; that of x86-64 is less */
#define SMI_SHIFT 32
#define UPPER_HALF (~(uint64_t)UINT32_MAX)

struct v8_heap v8_heap_of(struct process_memory *memory, const uint64_t *values, uint64_t object,
			  uint64_t trusted)
{
	uint64_t cage = object & UPPER_HALF;

	return (struct v8_heap){
		.memory = memory,
		.values = values,
		.cage = cage,
		.trusted_cage = values[V8_TRUSTED_CAGE] != 0 ? trusted << 32 : cage,
	};
}

bool v8_heap_is_compressed(const struct v8_heap *heap)
{
	return heap->values[V8_TAGGED_BYTES] == V8_COMPRESSED_BYTES;
}

size_t v8_word_bytes(const struct v8_heap *heap)
{
	return v8_heap_is_compressed(heap) ? V8_COMPRESSED_BYTES : V8_WORD_BYTES;
}

uint64_t v8_array_data(const struct v8_heap *heap)
{
	return 2 * v8_word_bytes(heap);
}

/* Returns a compressed word as if it were none. */
static uint64_t expand(uint32_t word, uint64_t cage)
{
	if (word & OBJECT_TAG)
		return cage | word;
	return (uint64_t)word >> 1 << SMI_SHIFT | (uint64_t)(word >> 31) << 63;
}

bool v8_is_object(uint64_t word)
{
	return (word & OBJECT_TAG) != 0 && word <= ADDRESS_MAX && word > UINT16_MAX;
}

bool v8_is_smi(uint64_t word)
{
	return (uint32_t)word == 0;
}

int32_t v8_smi(uint64_t word)
{
	return (int32_t)(word >> SMI_SHIFT);
}

int v8_heap_read(const struct v8_heap *heap, uint64_t object, uint64_t offset, void *to, size_t len)
{
	if (!v8_is_object(object))
		return -ENOENT;
	return process_memory_read(heap->memory, (object & ~WEAK_BIT) - OBJECT_TAG + offset, to,
				   len);
}

static int read_word(const struct v8_heap *heap, uint64_t object, uint64_t offset, uint64_t cage,
		     uint64_t *ret)
{
	uint32_t word;

	if (!v8_heap_is_compressed(heap))
		return v8_heap_read(heap, object, offset, ret, sizeof(*ret));
	int r = v8_heap_u32(heap, object, offset, &word);
	if (r == 0)
		*ret = expand(word, cage);
	return r;
}

int v8_heap_word(const struct v8_heap *heap, uint64_t object, uint64_t offset, uint64_t *ret)
{
	return read_word(heap, object, offset, heap->cage, ret);
}

int v8_heap_protected(const struct v8_heap *heap, uint64_t object, uint64_t offset, uint64_t *ret)
{
	if (heap->values[V8_TRUSTED_CAGE] != 0 && heap->trusted_cage == 0)
		return -ENOENT;
	return read_word(heap, object, offset, heap->trusted_cage, ret);
}

uint64_t v8_heap_take(const struct v8_heap *heap, const void *bytes)
{
	uint32_t compressed;
	uint64_t word;

	if (v8_heap_is_compressed(heap)) {
		memcpy(&compressed, bytes, sizeof(compressed));
		return expand(compressed, heap->cage);
	}
	memcpy(&word, bytes, sizeof(word));
	return word;
}

int v8_heap_smi(const struct v8_heap *heap, uint64_t object, uint64_t offset, int32_t *ret)
{
	uint64_t word = 0;

	int r = v8_heap_word(heap, object, offset, &word);
	if (r < 0)
		return r;
	if (!v8_is_smi(word))
		return -ENOENT;
	*ret = v8_smi(word);
	return 0;
}

int v8_heap_u32(const struct v8_heap *heap, uint64_t object, uint64_t offset, uint32_t *ret)
{
	return v8_heap_read(heap, object, offset, ret, sizeof(*ret));
}

int v8_heap_type(const struct v8_heap *heap, uint64_t object)
{
	uint16_t type = 0;
	uint64_t map;

	int r = v8_heap_word(heap, object, 0, &map);
	if (r == 0)
		r = v8_heap_read(heap, map, v8_word_bytes(heap) + V8_MAP_INSTANCE_TYPE, &type,
				 sizeof(type));
	return r < 0 ? r : type;
}

bool v8_heap_is(const struct v8_heap *heap, uint64_t object, uint64_t type)
{
	int r = type != 0 ? v8_heap_type(heap, object) : -ENOENT;

	return r >= 0 && (uint64_t)r == type;
}

/* Reads the length as if it were not compressed. */
static int read_length(const struct v8_heap *heap, uint64_t array, uint64_t *ret)
{
	uint32_t length;

	if (!v8_heap_is_compressed(heap) || heap->values[V8_SMI_LENGTHS] != 0)
		return v8_heap_word(heap, array, v8_word_bytes(heap), ret);
	int r = v8_heap_u32(heap, array, v8_word_bytes(heap), &length);
	if (r == 0)
		*ret = length;
	return r;
}

/* FixedArrayBase.length is a small integer; from V8 15.0 on it is a u32. */
int v8_heap_length(const struct v8_heap *heap, uint64_t array, uint32_t *ret_length)
{
	uint64_t length = 0;

	int r = read_length(heap, array, &length);
	if (r < 0)
		return r;
	if (length > UINT32_MAX)
		length = v8_is_smi(length) ? length >> SMI_SHIFT : UINT64_MAX;
	if (length > INT32_MAX)
		return -ENOENT;
	*ret_length = (uint32_t)length;
	return 0;
}

/* Finds where an array has an element. */
static int find_element(const struct v8_heap *heap, uint64_t array, uint64_t index,
			uint64_t *ret_offset)
{
	uint32_t length;

	int r = v8_heap_length(heap, array, &length);
	if (r < 0)
		return r;
	if (index >= length)
		return -ENOENT;
	*ret_offset = v8_array_data(heap) + index * v8_word_bytes(heap);
	return 0;
}

int v8_heap_element(const struct v8_heap *heap, uint64_t array, uint64_t index, uint64_t *ret)
{
	uint64_t offset;

	int r = find_element(heap, array, index, &offset);
	return r < 0 ? r : v8_heap_word(heap, array, offset, ret);
}

int v8_heap_protected_element(const struct v8_heap *heap, uint64_t array, uint64_t index,
			      uint64_t *ret)
{
	uint64_t offset;

	int r = find_element(heap, array, index, &offset);
	return r < 0 ? r : v8_heap_protected(heap, array, offset, ret);
}

int v8_heap_bytes(const struct v8_heap *heap, uint64_t array, struct strbuf *out)
{
	uint32_t length;
	char *to;

	int r = v8_heap_length(heap, array, &length);
	if (r < 0)
		return r;
	if (length > out->max - out->len)
		return -ENOENT;
	if (length == 0)
		return 0;
	to = strbuf_extend(out, length);
	return to ? v8_heap_read(heap, array, v8_array_data(heap), to, length) : strbuf_error(out);
}
