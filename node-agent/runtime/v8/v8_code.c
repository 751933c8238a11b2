/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_code.h"

#include "base/cleanup.h"
#include "runtime/v8/v8_function.h"
#include "runtime/v8/v8_kinds.h"
#include "runtime/v8/v8_values.h"

#include <string.h>

#define CODE_ALIGNMENT 32 /* of first instructions (64 in later versions), behind the header */
#define SEARCH_BYTES 4096
#define MAX_CODE_BYTES ((uint64_t)2 << 20)
#define MAX_TABLE_BYTES (1 << 20)
#define INLINING_ENTRY_BYTES 16

static bool has_stream(const struct v8_heap *heap)
{
	return heap->values[V8_TYPE_STREAM] != 0;
}

/* Returns the word that would point to an object at this address. */
static uint64_t object_at(uint64_t address)
{
	return address | 1;
}

/* Returns whether a Code says that its instructions follow this header. */
static bool has_header(const struct v8_heap *heap, uint64_t code, uint64_t header)
{
	uint64_t offset = heap->values[V8_CODE_STREAM], start;
	uint32_t stream;

	if (offset != 0)
		return v8_heap_u32(heap, code, offset, &stream) == 0 &&
		       stream == (uint32_t)object_at(header);
	return v8_is_code(heap, code) &&
	       (!has_stream(heap) || (v8_heap_read(heap, code, heap->values[V8_CODE_START], &start,
						   sizeof(start)) == 0 &&
				      start == header + heap->values[V8_CODE_HEADER]));
}

/* Reads the Code whose instructions begin at `header` + V8_CODE_HEADER. */
static int read_code(const struct v8_heap *heap, uint64_t header, struct v8_code *ret)
{
	uint32_t flags = 0;
	int r = 0;

	ret->object = object_at(header);
	if (has_stream(heap))
		r = v8_stream_code(heap, object_at(header), &ret->object);
	if (r == 0 && !has_header(heap, ret->object, header))
		r = -ENOENT;
	if (r == 0)
		r = v8_heap_u32(heap, ret->object, heap->values[V8_CODE_FLAGS], &flags);
	if (r < 0)
		return r;
	ret->start = header + heap->values[V8_CODE_HEADER];
	ret->kind = flags & heap->values[V8_CODE_KIND_MASK];
	return 0;
}

static bool has_address(const struct v8_heap *heap, const struct v8_code *code, uint64_t address)
{
	uint32_t size;

	return v8_heap_u32(heap, code->object, heap->values[V8_CODE_SIZE], &size) == 0 &&
	       address > code->start && address - code->start <= size;
}

/* Returns whether a word may be the first one of a header: a pointer to its Map. Few other words of
 * code look like a pointer, so the Map is hardly ever read in vain. */
static bool is_header(const struct v8_heap *heap, uint64_t map)
{
	return v8_is_map_of(heap, map,
			    heap->values[has_stream(heap) ? V8_TYPE_STREAM : V8_TYPE_CODE]);
}

/* Looks for a header in the page of memory that has `header`, there and at each place below where
 * one may be. Returns 1 if there is one, of other code perhaps; 0 and the next place if not. */
static int search_page(const struct v8_heap *heap, uint64_t *header, uint64_t address,
		       struct v8_code *ret_code)
{
	uint64_t from = *header / SEARCH_BYTES * SEARCH_BYTES;
	uint8_t bytes[SEARCH_BYTES];

	int r = process_memory_read(heap->memory, from, bytes, sizeof(bytes));
	if (r < 0)
		return r;
	for (; *header >= from; *header -= CODE_ALIGNMENT) {
		uint64_t at = (*header - from) / V8_WORD_BYTES * V8_WORD_BYTES;

		if (!is_header(heap, v8_heap_take(heap, bytes + at)) ||
		    read_code(heap, *header, ret_code) < 0)
			continue;
		return has_address(heap, ret_code, address) ? 1 : -ENOENT;
	}
	return 0;
}

int v8_code_find(const struct v8_heap *heap, uint64_t address, struct v8_code *ret_code)
{
	uint64_t header = (address - 1) / CODE_ALIGNMENT * CODE_ALIGNMENT;
	int r = 0;

	if (address == 0 || address > INT64_MAX || header < 2 * MAX_CODE_BYTES)
		return -ENOENT;
	header -= heap->values[V8_CODE_HEADER];
	for (uint32_t i = 0; i < MAX_CODE_BYTES / SEARCH_BYTES && r == 0; i++)
		r = search_page(heap, &header, address, ret_code);
	if (r == 0 || r == -EFAULT)
		return -ENOENT;
	return r < 0 ? r : 0;
}

static int read_table(const struct v8_heap *heap, uint64_t object, uint64_t offset,
		      struct strbuf *out)
{
	uint64_t table;

	int r = v8_heap_protected(heap, object, offset, &table);
	return r < 0 ? r : v8_heap_bytes(heap, table, out);
}

static const uint8_t *bytes_of(const struct strbuf *buf)
{
	return (const uint8_t *)strbuf_str(buf);
}

/* The length of a BytecodeArray is a small integer, in V8 15 as well. */
static int read_bytecodes(const struct v8_heap *heap, uint64_t bytecode, struct strbuf *out)
{
	int32_t length;
	char *to;

	int r = v8_heap_smi(heap, bytecode, heap->values[V8_EXPOSED_HEAD], &length);
	if (r < 0)
		return r;
	if (length <= 0 || (size_t)length > out->max)
		return -ENOENT;
	to = strbuf_extend(out, (size_t)length);
	if (!to)
		return strbuf_error(out);
	return v8_heap_read(heap, bytecode, heap->values[V8_BYTECODE_DATA], to, (size_t)length);
}

static int find_bytecode_offset(const struct v8_heap *heap, const struct v8_code *code,
				uint64_t bytecode, uint64_t address, int32_t *ret_offset)
{
	_cleanup_(strbuf_done) struct strbuf table = strbuf_with_max(MAX_TABLE_BYTES);
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(MAX_TABLE_BYTES);
	uint64_t nr_sizes = heap->values[V8_NR_BYTECODES];

	int r = read_table(heap, code->object, heap->values[V8_CODE_POSITIONS], &table);
	if (r == 0)
		r = read_bytecodes(heap, bytecode, &bytes);
	if (r < 0)
		return r;
	*ret_offset = v8_bytecode_offset_find(
		bytes_of(&table), table.len,
		&(struct v8_bytecodes){
			.bytes = bytes_of(&bytes),
			.len = bytes.len,
			.sizes = (const uint8_t *)&heap->values[V8_BYTECODE_SIZES],
			.nr_sizes = (uint32_t)(nr_sizes < V8_MAX_BYTECODES ? nr_sizes
									   : V8_MAX_BYTECODES),
		},
		(uint32_t)(address - code->start));
	return 0;
}

static enum v8_distances distances_of(const struct v8_heap *heap)
{
	switch (heap->values[V8_POSITION_DISTANCES]) {
	case V8_DISTANCES_SIGNED:
		return V8_DISTANCES_SIGNED;
	case V8_DISTANCES_SHIFTED:
		return V8_DISTANCES_SHIFTED;
	default:
		return V8_DISTANCES_SHIFTED_3;
	}
}

int32_t v8_bytecode_position(const struct v8_heap *heap, uint64_t bytecode, uint32_t offset)
{
	_cleanup_(strbuf_done) struct strbuf table = strbuf_with_max(MAX_TABLE_BYTES);

	if (read_table(heap, bytecode, heap->values[V8_BYTECODE_POSITIONS], &table) < 0)
		return -1;
	return v8_positions_find(bytes_of(&table), table.len, distances_of(heap), offset).offset;
}

/* Finds the bytecode that baseline code refers to. */
static int own_bytecode(const struct v8_heap *heap, const struct v8_code *code,
			uint64_t *ret_bytecode)
{
	uint64_t data;

	int r = v8_heap_protected(heap, code->object, heap->values[V8_CODE_DEOPT], &data);
	return r < 0 ? r : v8_bytecode_of(heap, data, false, ret_bytecode);
}

/* Checks that baseline code was made of this bytecode, if the code refers to it. */
static int check_bytecode(const struct v8_heap *heap, const struct v8_code *code, uint64_t bytecode)
{
	uint64_t found = 0;

	if (heap->values[V8_TYPE_BASELINE_DATA] != 0)
		return 0;
	int r = own_bytecode(heap, code, &found);
	if (r < 0)
		return r;
	return found == bytecode ? 0 : -ENOENT;
}

int v8_code_bytecode(const struct v8_heap *heap, const struct v8_code *code, uint64_t shared,
		     uint64_t *ret_bytecode)
{
	uint64_t bytecode = 0;

	if (heap->values[V8_TRUSTED_CAGE] == 0)
		return v8_function_bytecode(heap, shared, ret_bytecode);
	if (code->kind != heap->values[V8_CODE_KIND_BASELINE])
		return -ENOENT;
	int r = own_bytecode(heap, code, &bytecode);
	if (r < 0)
		return r;
	if (!v8_function_has(heap, shared, code->object) &&
	    !v8_function_has(heap, shared, bytecode))
		return -ENOENT;
	*ret_bytecode = bytecode;
	return 0;
}

int v8_code_baseline(const struct v8_heap *heap, const struct v8_code *code, uint64_t address,
		     uint64_t bytecode, int32_t *ret_position)
{
	int32_t offset = -1;

	if (code->kind != heap->values[V8_CODE_KIND_BASELINE])
		return -ENOENT;
	int r = check_bytecode(heap, code, bytecode);
	if (r == 0)
		r = find_bytecode_offset(heap, code, bytecode, address, &offset);
	if (r < 0)
		return r;
	*ret_position = offset < 0 ? -1 : v8_bytecode_position(heap, bytecode, (uint32_t)offset);
	return 0;
}

static int deopt_element(const struct v8_heap *heap, const struct v8_code *code, uint64_t index,
			 uint64_t *ret)
{
	uint64_t deopt;

	int r = v8_heap_protected(heap, code->object, heap->values[V8_CODE_DEOPT], &deopt);
	return r < 0 ? r : v8_heap_protected_element(heap, deopt, heap->values[index], ret);
}

int v8_code_optimized(const struct v8_heap *heap, const struct v8_code *code, uint64_t address,
		      uint64_t *ret_shared, struct v8_position *ret_position)
{
	_cleanup_(strbuf_done) struct strbuf table = strbuf_with_max(MAX_TABLE_BYTES);
	uint64_t shared;

	if (code->kind == heap->values[V8_CODE_KIND_BASELINE])
		return -ENOENT;
	int r = deopt_element(heap, code, V8_DEOPT_SHARED, &shared);
	if (r == 0 && v8_is_wrapper(heap, shared))
		r = v8_heap_word(heap, shared, v8_word_bytes(heap), &shared);
	if (r < 0)
		return r;
	if (!v8_is_shared(heap, shared))
		return -ENOENT;
	r = read_table(heap, code->object, heap->values[V8_CODE_POSITIONS], &table);
	if (r < 0)
		return r;
	*ret_shared = shared;
	*ret_position = v8_positions_find(bytes_of(&table), table.len, distances_of(heap),
					  (uint32_t)(address - code->start - 1));
	return 0;
}

int v8_code_inlined(const struct v8_heap *heap, const struct v8_code *code, int32_t inlining,
		    uint64_t *ret_shared, struct v8_position *ret_caller)
{
	uint64_t table, literals, shared = 0, entry[2] = { 0 };
	uint32_t length = 0;

	int r = deopt_element(heap, code, V8_DEOPT_INLINING, &table);
	if (r == 0)
		r = v8_heap_length(heap, table, &length);
	if (r < 0)
		return r;
	if (inlining < 0 || (uint32_t)inlining >= length / INLINING_ENTRY_BYTES)
		return -ENOENT;
	r = v8_heap_read(heap, table,
			 v8_array_data(heap) + (uint64_t)inlining * INLINING_ENTRY_BYTES, entry,
			 sizeof(entry));
	if (r == 0)
		r = deopt_element(heap, code, V8_DEOPT_LITERALS, &literals);
	if (r == 0)
		r = v8_heap_element(heap, literals, (uint32_t)entry[1], &shared);
	if (r < 0)
		return r;
	*ret_shared = shared;
	*ret_caller = v8_position_of(entry[0]);
	return 0;
}
