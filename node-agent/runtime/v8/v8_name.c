/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_name.h"

#include "bpf/shared/runtime.h"
#include "runtime/v8/v8_code.h"
#include "runtime/v8/v8_deopt.h"
#include "runtime/v8/v8_function.h"
#include "runtime/v8/v8_kinds.h"
#include "runtime/v8/v8_values.h"

/* In words of a frame. */
enum { BYTECODE_SHARED = 1, ARRAY = 1, ARRAY_SHARED = 2, CODE_ADDRESS = 1, CODE_SHARED = 2 };

static int add_line(const struct v8_heap *heap, uint64_t shared, int32_t position,
		    struct frame_writer *writer)
{
	struct v8_function function;

	int r = v8_function_read(heap, shared, &function);
	return r < 0 ? r : v8_function_add(heap, &function, position, writer);
}

/* Returns the position of a bytecode whose offset is in a tag. */
static int32_t position_in(const struct v8_heap *heap, uint64_t bytecode, uint64_t tag)
{
	uint64_t offset = RUNTIME_TAG_POSITION(tag);
	uint64_t head = heap->values[V8_BYTECODE_DATA] - V8_OBJECT_TAG;

	return offset < head ? -1 : v8_bytecode_position(heap, bytecode, (uint32_t)(offset - head));
}

static int name_bytecode(const struct v8_heap *heap, const uint64_t *words,
			 struct frame_writer *writer)
{
	int32_t position = -1;
	uint64_t bytecode;

	if (v8_function_bytecode(heap, words[BYTECODE_SHARED], &bytecode) == 0)
		position = position_in(heap, bytecode, words[0]);
	return add_line(heap, words[BYTECODE_SHARED], position, writer);
}

/* The same if the frame has its bytecode. */
static int name_array(const struct v8_heap *heap, const uint64_t *words,
		      struct frame_writer *writer)
{
	int32_t position = -1;

	if (v8_is_bytecode(heap, words[ARRAY]))
		position = position_in(heap, words[ARRAY], words[0]);
	return add_line(heap, words[ARRAY_SHARED], position, writer);
}

/* Adds the functions that are inlined at a position, the innermost one first, and then the one that
 * the code was made for. */
static int add_inlined(const struct v8_heap *heap, const struct v8_code *code, uint64_t outermost,
		       struct v8_position position, struct frame_writer *writer)
{
	struct v8_position caller;
	uint64_t shared;

	for (int i = 1; i < RUNTIME_MAX_LINES && position.inlining >= 0; i++) {
		int r = v8_code_inlined(heap, code, position.inlining, &shared, &caller);

		if (r == 0)
			r = add_line(heap, shared, position.offset, writer);
		if (r < 0)
			return r;
		position = caller;
	}
	return add_line(heap, outermost, position.offset, writer);
}

/* Names the functions at a call by the deoptimization data. */
static int name_call(const struct v8_heap *heap, const struct v8_code *code, const uint64_t *words,
		     struct frame_writer *writer)
{
	struct v8_deopt_frame frames[V8_DEOPT_MAX_FRAMES];

	int nr = v8_deopt_read(heap, code, words[CODE_ADDRESS], frames);
	if (nr < 0)
		return nr;
	if (frames[0].shared != words[CODE_SHARED])
		return -ENOENT;
	for (int i = nr - 1; i >= 0; i--) {
		int r = add_line(heap, frames[i].shared, frames[i].position, writer);

		if (r < 0) {
			frame_writer_drop(writer);
			return r;
		}
	}
	return 0;
}

static int name_optimized(const struct v8_heap *heap, const struct v8_code *code,
			  const uint64_t *words, struct frame_writer *writer)
{
	struct v8_position position;
	uint64_t shared;

	int r = v8_code_optimized(heap, code, words[CODE_ADDRESS], &shared, &position);
	if (r < 0)
		return r;
	if (shared != words[CODE_SHARED])
		return -ENOENT;
	r = add_inlined(heap, code, shared, position, writer);
	if (r < 0)
		frame_writer_drop(writer);
	return r;
}

static int name_code(const struct v8_heap *heap, const uint64_t *words, struct frame_writer *writer)
{
	uint64_t bytecode;
	int32_t position = -1;
	struct v8_code code = { 0 };

	int r = v8_code_find(heap, words[CODE_ADDRESS], &code);
	if (r == 0) {
		r = name_call(heap, &code, words, writer);
		if (r == -ENOENT || r == -EFAULT)
			r = name_optimized(heap, &code, words, writer);
	}
	if (r != -ENOENT && r != -EFAULT)
		return r;
	if (v8_code_bytecode(heap, &code, words[CODE_SHARED], &bytecode) < 0 ||
	    v8_code_baseline(heap, &code, words[CODE_ADDRESS], bytecode, &position) < 0)
		position = -1;
	return add_line(heap, words[CODE_SHARED], position, writer);
}

/* The upper half of the address of the trusted cage, by the words of a frame. */
static uint64_t trusted_of_code(const uint64_t *words)
{
	return RUNTIME_TAG_POSITION(words[0]);
}

static uint64_t trusted_of_array(const uint64_t *words)
{
	return words[ARRAY] >> 32;
}

static uint64_t no_trusted(const uint64_t *words)
{
	(void)words;
	return 0;
}

struct frame_kind {
	int shared; /* index of the word */
	uint64_t (*trusted)(const uint64_t *words);
	int (*name)(const struct v8_heap *heap, const uint64_t *words, struct frame_writer *writer);
};

static const struct frame_kind *kind_of(uint64_t tag)
{
	static const struct frame_kind code = { CODE_SHARED, trusted_of_code, name_code };
	static const struct frame_kind array = { ARRAY_SHARED, trusted_of_array, name_array };
	static const struct frame_kind bytecode = { BYTECODE_SHARED, no_trusted, name_bytecode };

	switch (RUNTIME_TAG_FRAME(tag)) {
	case RUNTIME_FRAME_V8_CODE:
		return &code;
	case RUNTIME_FRAME_V8_ARRAY:
		return &array;
	default:
		return &bytecode;
	}
}

int v8_name(struct process_memory *memory, const uint64_t *naming, const uint64_t *words,
	    struct frame_writer *writer)
{
	const struct frame_kind *kind = kind_of(words[0]);
	uint64_t shared = words[kind->shared];
	struct v8_heap heap = v8_heap_of(memory, naming, shared, kind->trusted(words));

	if (v8_function_check(&heap, shared) != RUNTIME_TAG_CHECK(words[0]))
		return -ENOENT;
	int r = kind->name(&heap, words, writer);
	if (r == 0 && v8_function_check(&heap, shared) != RUNTIME_TAG_CHECK(words[0]))
		r = -ENOENT;
	if (r < 0)
		frame_writer_drop(writer);
	return r;
}
