/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_function.h"

#include "base/cleanup.h"
#include "bpf/shared/runtime.h"
#include "runtime/v8/v8_kinds.h"
#include "runtime/v8/v8_script.h"
#include "runtime/v8/v8_string.h"
#include "runtime/v8/v8_values.h"

#define NAMELESS "(anonymous)"
#define NAME_BUFFER_BYTES (4 * RUNTIME_NAME_MAX_BYTES)
#define FILE_BUFFER_BYTES (4 * RUNTIME_FILE_MAX_BYTES)

/* ScopeInfo: words, and bits of the flags. */
#define SCOPE_FLAGS 1
#define SCOPE_NR_LOCALS 3
#define SCOPE_FIXED_POSITIONS 4 /* if there are five words before the variables */
#define SCOPE_MAX_INLINE_LOCALS 75 /* the names of more are in a hash table */
#define SCOPE_MAX_LOCALS (1 << 20)
#define SCOPE_RECEIVER_SHIFT 7
#define SCOPE_RECEIVER_MASK 3
#define SCOPE_RECEIVER_ON_STACK 1
#define SCOPE_RECEIVER_IN_CONTEXT 2
#define SCOPE_HAS_SAVED_CLASS (1U << 10)
#define SCOPE_HAS_FUNCTION_NAME (3U << 12)
#define SCOPE_HAS_INFERRED_NAME (1U << 14)

#define BASELINE_DATA_BYTECODE 16 /* only with whole pointers */

struct scope {
	const struct v8_heap *heap;
	uint64_t object;
	uint32_t flags;
	uint64_t next; /* index of the next optional word */
	bool has_fixed_positions;
};

static int read_scope_word(const struct scope *scope, uint64_t index, uint64_t *ret)
{
	return v8_heap_word(scope->heap, scope->object, index * v8_word_bytes(scope->heap), ret);
}

/* The names of local variables, or the table that has them, precede a word for each variable. */
static int skip_locals(struct scope *scope)
{
	uint64_t nr_locals, first;

	int r = read_scope_word(scope, SCOPE_NR_LOCALS, &nr_locals);
	if (r < 0)
		return r;
	if (!v8_is_smi(nr_locals) || v8_smi(nr_locals) < 0 || v8_smi(nr_locals) > SCOPE_MAX_LOCALS)
		return -ENOENT;
	nr_locals = (uint64_t)v8_smi(nr_locals);
	scope->next += 2 * nr_locals;
	if (nr_locals <= SCOPE_MAX_INLINE_LOCALS)
		return 0;
	r = read_scope_word(scope, scope->next - 2 * nr_locals, &first);
	if (r == 0 && !v8_string_has_text(scope->heap, first))
		scope->next -= nr_locals - 1;
	return r;
}

/* The flags are a small integer up to 12, then a number of 32 bits. */
static int read_flags(const struct scope *scope, uint32_t *ret_flags)
{
	uint64_t flags;

	if (v8_heap_is_compressed(scope->heap))
		return v8_heap_u32(scope->heap, scope->object, V8_COMPRESSED_BYTES, ret_flags);
	int r = read_scope_word(scope, SCOPE_FLAGS, &flags);
	if (r == 0)
		*ret_flags = v8_is_smi(flags) ? (uint32_t)v8_smi(flags) : (uint32_t)flags;
	return r;
}

static int open_scope(const struct v8_heap *heap, uint64_t object, struct scope *ret)
{
	*ret = (struct scope){ .heap = heap, .object = object };
	if (!v8_is_scope(heap, object))
		return -ENOENT;
	int r = read_flags(ret, &ret->flags);
	if (r < 0)
		return r;
	ret->next = 1 + heap->values[V8_SCOPE_VARIABLES];
	ret->has_fixed_positions = ret->next > SCOPE_FIXED_POSITIONS;
	return skip_locals(ret);
}

static bool has_receiver(const struct scope *scope)
{
	uint32_t receiver = scope->flags >> SCOPE_RECEIVER_SHIFT & SCOPE_RECEIVER_MASK;

	return scope->heap->values[V8_SCOPE_HAS_RECEIVER] != 0 &&
	       (receiver == SCOPE_RECEIVER_ON_STACK || receiver == SCOPE_RECEIVER_IN_CONTEXT);
}

/* Takes the next word as a name, if it is one. */
static void take_name(struct scope *scope, uint64_t nr_words, uint64_t *name)
{
	uint64_t word;

	if (*name == 0 && read_scope_word(scope, scope->next, &word) == 0 &&
	    v8_string_has_text(scope->heap, word))
		*name = word;
	scope->next += nr_words;
}

static void read_scope(const struct v8_heap *heap, uint64_t object, struct v8_function *function)
{
	struct scope scope;
	uint64_t start;

	if (open_scope(heap, object, &scope) < 0)
		return;
	if (scope.flags & SCOPE_HAS_SAVED_CLASS)
		scope.next++;
	if (has_receiver(&scope))
		scope.next++;
	if (scope.flags & SCOPE_HAS_FUNCTION_NAME)
		take_name(&scope, 2, &function->name);
	if (scope.flags & SCOPE_HAS_INFERRED_NAME)
		take_name(&scope, 1, &function->name);
	if (scope.has_fixed_positions)
		scope.next = SCOPE_FIXED_POSITIONS;
	if (read_scope_word(&scope, scope.next, &start) == 0 && v8_is_smi(start))
		function->start = v8_smi(start);
}

int v8_function_read(const struct v8_heap *heap, uint64_t shared, struct v8_function *ret_function)
{
	struct v8_function function = { .shared = shared, .start = -1 };
	uint64_t name = 0;

	if (!v8_is_shared(heap, shared))
		return -ENOENT;
	int r = v8_heap_word(heap, shared, heap->values[V8_SHARED_SCRIPT], &function.script);
	if (r == 0)
		r = v8_heap_word(heap, shared, heap->values[V8_SHARED_NAME], &name);
	if (r < 0)
		return r;
	if (!v8_is_script(heap, function.script))
		function.script = 0;
	if (v8_string_has_text(heap, name))
		function.name = name;
	else
		read_scope(heap, name, &function);
	*ret_function = function;
	return 0;
}

int v8_function_check(const struct v8_heap *heap, uint64_t shared)
{
	uint64_t words[V8_CHECK_WORDS];

	if (!v8_is_shared(heap, shared))
		return -ENOENT;
	int r = v8_heap_read(heap, shared, heap->values[V8_SHARED_LENGTH], words, sizeof(words));
	return r < 0 ? r : runtime_check(v8_check_bytes(words[0], words[1]));
}

int v8_bytecode_of(const struct v8_heap *heap, uint64_t data, bool may_be_code,
		   uint64_t *ret_bytecode)
{
	int r = 0;

	if (may_be_code && v8_is_code(heap, data))
		r = v8_heap_protected(heap, data, heap->values[V8_CODE_DEOPT], &data);
	else if (may_be_code && v8_heap_is(heap, data, heap->values[V8_TYPE_BASELINE_DATA]))
		r = v8_heap_word(heap, data, BASELINE_DATA_BYTECODE, &data);
	if (r == 0 && v8_is_interpreter_data(heap, data))
		r = v8_heap_protected(heap, data, heap->values[V8_EXPOSED_HEAD], &data);
	if (r < 0)
		return r;
	if (!v8_is_bytecode(heap, data))
		return -ENOENT;
	*ret_bytecode = data;
	return 0;
}

int v8_function_bytecode(const struct v8_heap *heap, uint64_t shared, uint64_t *ret_bytecode)
{
	uint64_t data;

	if (heap->values[V8_TRUSTED_CAGE] != 0)
		return -ENOENT;
	int r = v8_heap_word(heap, shared, heap->values[V8_SHARED_DATA], &data);
	return r < 0 ? r : v8_bytecode_of(heap, data, true, ret_bytecode);
}

bool v8_function_has(const struct v8_heap *heap, uint64_t shared, uint64_t object)
{
	uint32_t data, handle;

	return v8_heap_u32(heap, shared, heap->values[V8_SHARED_DATA], &data) == 0 &&
	       v8_heap_u32(heap, object, v8_word_bytes(heap), &handle) == 0 && data == handle;
}

int v8_function_add(const struct v8_heap *heap, const struct v8_function *function,
		    int32_t position, struct frame_writer *writer)
{
	_cleanup_(strbuf_done) struct strbuf name = strbuf_with_max(NAME_BUFFER_BYTES);
	_cleanup_(strbuf_done) struct strbuf file = strbuf_with_max(FILE_BUFFER_BYTES);
	struct runtime_line line = { 0 };
	int r = 0;

	if (function->name == 0)
		strbuf_append_str(&name, NAMELESS);
	else
		r = v8_string_append(heap, function->name, RUNTIME_NAME_MAX_BYTES, &name);
	if (r == 0 && function->script != 0)
		r = v8_script_name(heap, function->script, &file);
	if (r < 0)
		return r;
	if (function->script != 0) {
		line.start_line = v8_script_line(heap, function->script, function->start);
		line.line = v8_script_line(heap, function->script, position);
	}
	if (line.line == 0)
		line.line = line.start_line;
	line.name = strbuf_str(&name);
	line.name_len = name.len;
	line.filename = strbuf_str(&file);
	line.filename_len = file.len;
	frame_writer_add(writer, &line);
	return 0;
}
