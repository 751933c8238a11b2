/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_kinds.h"

#include "bpf/shared/runtime_v8.h"
#include "runtime/v8/v8_string.h"
#include "runtime/v8/v8_values.h"

#define INTERPRETER_DATA_BYTECODE 8
#define STREAM_CODE 8 /* InstructionStream.code */
#define WRAPPER_SHARED 8 /* SharedFunctionInfoWrapper.shared_info */
#define SCRIPT_LINE_OFFSET 8 /* from its name on, as is the next */
#define SCRIPT_COLUMN_OFFSET 16

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
	uint64_t name = heap->values[V8_SCRIPT_NAME], source;

	if (is_known(heap, V8_TYPE_SCRIPT))
		return is_of_type(heap, object, V8_TYPE_SCRIPT);
	return v8_heap_word(heap, object, heap->values[V8_SCRIPT_SOURCE], &source) == 0 &&
	       v8_string_has_text(heap, source) &&
	       has_smi(heap, object, name + SCRIPT_LINE_OFFSET) &&
	       has_smi(heap, object, name + SCRIPT_COLUMN_OFFSET);
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
	       v8_heap_word(heap, object, WRAPPER_SHARED, &shared) == 0 &&
	       v8_is_shared(heap, shared);
}

bool v8_is_scope(const struct v8_heap *heap, uint64_t object)
{
	if (is_known(heap, V8_TYPE_SCOPE))
		return is_of_type(heap, object, V8_TYPE_SCOPE);
	int type = v8_heap_type(heap, object);
	return type >= 0 && (uint64_t)type >= heap->values[V8_FIRST_NONSTRING];
}

bool v8_is_code(const struct v8_heap *heap, uint64_t object)
{
	uint64_t start, code;

	if (is_known(heap, V8_TYPE_CODE))
		return is_of_type(heap, object, V8_TYPE_CODE);
	if (v8_heap_word(heap, object, heap->values[V8_CODE_START], &start) < 0 ||
	    start < heap->values[V8_CODE_HEADER])
		return false;
	uint64_t stream = (start - heap->values[V8_CODE_HEADER]) | 1;
	return v8_heap_word(heap, stream, STREAM_CODE, &code) == 0 && code == object;
}

bool v8_is_bytecode(const struct v8_heap *heap, uint64_t object)
{
	uint64_t length;

	if (is_known(heap, V8_TYPE_BYTECODE))
		return is_of_type(heap, object, V8_TYPE_BYTECODE);
	/* It is a small integer here in V8 15, too. */
	return v8_heap_word(heap, object, V8_ARRAY_LENGTH, &length) == 0 && v8_is_smi(length) &&
	       v8_smi(length) > 0;
}

bool v8_is_interpreter_data(const struct v8_heap *heap, uint64_t object)
{
	uint64_t bytecode;

	if (is_known(heap, V8_TYPE_INTERPRETER_DATA))
		return is_of_type(heap, object, V8_TYPE_INTERPRETER_DATA);
	return v8_heap_word(heap, object, INTERPRETER_DATA_BYTECODE, &bytecode) == 0 &&
	       v8_is_bytecode(heap, bytecode);
}

bool v8_is_map_of(const struct v8_heap *heap, uint64_t map, uint64_t type)
{
	uint16_t found;

	return (map & 3) == 1 &&
	       v8_heap_read(heap, map, V8_MAP_INSTANCE_TYPE, &found, sizeof(found)) == 0 &&
	       (found == type || type == V8_UNKNOWN_TYPE);
}
