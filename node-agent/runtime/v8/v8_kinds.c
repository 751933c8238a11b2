/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_kinds.h"

#include "bpf/shared/runtime_v8.h"
#include "runtime/v8/v8_string.h"
#include "runtime/v8/v8_values.h"

/* In words: of Script, from its name on. */
#define SCRIPT_LINE_OFFSET 1
#define SCRIPT_COLUMN_OFFSET 2

static bool is_known(const struct v8_heap *heap, enum v8_value type)
{
	return heap->values[type] != V8_UNKNOWN_TYPE;
}

static bool is_of_type(const struct v8_heap *heap, uint64_t object, enum v8_value type)
{
	return v8_heap_is(heap, object, heap->values[type]);
}

static bool has_smi(const struct v8_heap *heap, uint64_t object, uint64_t offset)
{
	uint64_t word;

	return v8_heap_word(heap, object, offset, &word) == 0 && v8_is_smi(word);
}

bool v8_is_script(const struct v8_heap *heap, uint64_t object)
{
	uint64_t name = heap->values[V8_SCRIPT_NAME], word_bytes = v8_word_bytes(heap), source;

	if (is_known(heap, V8_TYPE_SCRIPT))
		return is_of_type(heap, object, V8_TYPE_SCRIPT);
	return v8_heap_word(heap, object, heap->values[V8_SCRIPT_SOURCE], &source) == 0 &&
	       v8_string_has_text(heap, source) &&
	       has_smi(heap, object, name + SCRIPT_LINE_OFFSET * word_bytes) &&
	       has_smi(heap, object, name + SCRIPT_COLUMN_OFFSET * word_bytes);
}

bool v8_is_shared(const struct v8_heap *heap, uint64_t object)
{
	uint64_t script;

	if (is_known(heap, V8_TYPE_SHARED))
		return is_of_type(heap, object, V8_TYPE_SHARED);
	return v8_heap_word(heap, object, heap->values[V8_SHARED_SCRIPT], &script) == 0 &&
	       v8_is_script(heap, script);
}

bool v8_is_wrapper(const struct v8_heap *heap, uint64_t object)
{
	uint64_t shared;

	if (is_known(heap, V8_TYPE_WRAPPER))
		return is_of_type(heap, object, V8_TYPE_WRAPPER);
	return !v8_is_shared(heap, object) &&
	       v8_heap_word(heap, object, v8_word_bytes(heap), &shared) == 0 &&
	       v8_is_shared(heap, shared);
}

bool v8_is_scope(const struct v8_heap *heap, uint64_t object)
{
	if (is_known(heap, V8_TYPE_SCOPE))
		return is_of_type(heap, object, V8_TYPE_SCOPE);
	int type = v8_heap_type(heap, object);
	return type >= 0 && (uint64_t)type >= heap->values[V8_FIRST_NONSTRING];
}

int v8_stream_code(const struct v8_heap *heap, uint64_t stream, uint64_t *ret_code)
{
	return v8_heap_protected(heap, stream, v8_word_bytes(heap), ret_code);
}

bool v8_is_code(const struct v8_heap *heap, uint64_t object)
{
	uint64_t offset = heap->values[V8_CODE_START], start, code;

	if (is_known(heap, V8_TYPE_CODE))
		return is_of_type(heap, object, V8_TYPE_CODE);
	if (offset == 0 || v8_heap_read(heap, object, offset, &start, sizeof(start)) < 0 ||
	    start < heap->values[V8_CODE_HEADER])
		return false;
	uint64_t stream = (start - heap->values[V8_CODE_HEADER]) | 1;
	return v8_stream_code(heap, stream, &code) == 0 && code == object;
}

bool v8_is_bytecode(const struct v8_heap *heap, uint64_t object)
{
	int32_t length;

	if (is_known(heap, V8_TYPE_BYTECODE))
		return is_of_type(heap, object, V8_TYPE_BYTECODE);
	return v8_heap_smi(heap, object, heap->values[V8_EXPOSED_HEAD], &length) == 0 && length > 0;
}

bool v8_is_interpreter_data(const struct v8_heap *heap, uint64_t object)
{
	uint64_t bytecode;

	if (is_known(heap, V8_TYPE_INTERPRETER_DATA))
		return is_of_type(heap, object, V8_TYPE_INTERPRETER_DATA);
	return v8_heap_protected(heap, object, heap->values[V8_EXPOSED_HEAD], &bytecode) == 0 &&
	       v8_is_bytecode(heap, bytecode);
}

bool v8_is_map_of(const struct v8_heap *heap, uint64_t map, uint64_t type)
{
	uint16_t found;

	return (map & 3) == 1 &&
	       v8_heap_read(heap, map, v8_word_bytes(heap) + V8_MAP_INSTANCE_TYPE, &found,
			    sizeof(found)) == 0 &&
	       (found == type || type == V8_UNKNOWN_TYPE);
}
