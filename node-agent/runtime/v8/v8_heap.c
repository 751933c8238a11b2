/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_heap.h"

#define OBJECT_TAG 1
#define OBJECT_TAG_MASK 3
#define WEAK_BIT 2ULL
#define ADDRESS_MAX ((1ULL << 48) - 1) /* of arm64; that of x86-64 is less */
#define SMI_SHIFT 32

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

int v8_heap_word(const struct v8_heap *heap, uint64_t object, uint64_t offset, uint64_t *ret)
{
	return v8_heap_read(heap, object, offset, ret, sizeof(*ret));
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
		r = v8_heap_read(heap, map, V8_MAP_INSTANCE_TYPE, &type, sizeof(type));
	return r < 0 ? r : type;
}

bool v8_heap_is(const struct v8_heap *heap, uint64_t object, uint64_t type)
{
	int r = type != 0 ? v8_heap_type(heap, object) : -ENOENT;

	return r >= 0 && (uint64_t)r == type;
}

int v8_heap_length(const struct v8_heap *heap, uint64_t array, uint32_t *ret_length)
{
	uint64_t length;

	int r = v8_heap_word(heap, array, V8_ARRAY_LENGTH, &length);
	if (r < 0)
		return r;
	if (length > UINT32_MAX)
		length = v8_is_smi(length) ? length >> SMI_SHIFT : UINT64_MAX;
	if (length > INT32_MAX)
		return -ENOENT;
	*ret_length = (uint32_t)length;
	return 0;
}

int v8_heap_element(const struct v8_heap *heap, uint64_t array, uint64_t index, uint64_t *ret)
{
	uint32_t length;

	int r = v8_heap_length(heap, array, &length);
	if (r < 0)
		return r;
	if (index >= length)
		return -ENOENT;
	return v8_heap_word(heap, array, V8_ARRAY_DATA + index * V8_WORD_BYTES, ret);
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
	return to ? v8_heap_read(heap, array, V8_ARRAY_DATA, to, length) : strbuf_error(out);
}
