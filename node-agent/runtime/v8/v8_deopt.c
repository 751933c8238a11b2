/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/v8/v8_deopt.h"

#include "base/cleanup.h"
#include "runtime/v8/v8_kinds.h"
#include "runtime/v8/v8_packed_safepoints.h"
#include "runtime/v8/v8_safepoints.h"
#include "runtime/v8/v8_translation.h"
#include "runtime/v8/v8_values.h"

#define MAX_TRANSLATION_BYTES (1 << 20)

/* Indexes in DeoptimizationData. The first ones precede the literals; from the table of inlined
 * functions to the entries are three numbers. */
#define INDEX_TRANSLATION 0
#define BYTECODES_BEFORE_LITERALS 1
#define INLINING_TO_ENTRIES 4
#define ENTRY_WORDS 3
#define ENTRY_TRANSLATION 1

/* The table of calls behind the instructions, in one of its forms. */
struct table_form {
	size_t head_bytes;
	size_t (*size)(const uint8_t *head);
	int32_t (*find)(const uint8_t *table, size_t len, uint32_t pc_offset);
};

static const struct table_form maglev_form = { V8_SAFEPOINTS_HEAD_BYTES, v8_safepoints_size,
					       v8_safepoints_find };
static const struct table_form packed_form = { V8_PACKED_SAFEPOINTS_HEAD_BYTES,
					       v8_packed_safepoints_size,
					       v8_packed_safepoints_find };

/* Returns the form that the table of a kind of code has; NULL if its data are not known. */
static const struct table_form *form_of(const struct v8_heap *heap, uint64_t kind)
{
	if (kind == 0)
		return NULL;
	if (kind == heap->values[V8_CODE_KIND_MAGLEV])
		return &maglev_form;
	return kind == heap->values[V8_CODE_KIND_TURBOFAN] ? &packed_form : NULL;
}

/* Returns the index of the deoptimization data of a call. */
static int find_index(const struct v8_heap *heap, const struct v8_code *code,
		      const struct table_form *form, uint64_t address)
{
	_cleanup_(strbuf_done) struct strbuf table = strbuf_with_max(V8_SAFEPOINTS_MAX_BYTES);
	uint8_t head[V8_SAFEPOINTS_HEAD_BYTES];
	uint32_t code_bytes;
	char *to;

	int r = v8_heap_u32(heap, code->object, heap->values[V8_CODE_SIZE], &code_bytes);
	if (r == 0)
		r = process_memory_read(heap->memory, code->start + code_bytes, head,
					form->head_bytes);
	if (r < 0)
		return r;
	size_t size = form->size(head);
	if (size == 0)
		return -ENOENT;
	to = strbuf_extend(&table, size);
	if (!to)
		return strbuf_error(&table);
	r = process_memory_read(heap->memory, code->start + code_bytes, to, size);
	if (r < 0)
		return r;
	r = form->find((const uint8_t *)to, size, (uint32_t)(address - code->start));
	return r < 0 ? -ENOENT : r;
}

/* Reads the translation of an entry. */
static int read_translation(const struct v8_heap *heap, uint64_t deopt, uint64_t index,
			    struct v8_translated *frames)
{
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(MAX_TRANSLATION_BYTES);
	uint64_t entry = heap->values[V8_DEOPT_INLINING] + INLINING_TO_ENTRIES +
			 index * ENTRY_WORDS;
	uint64_t translation, start;

	int r = v8_heap_protected_element(heap, deopt, entry + ENTRY_TRANSLATION, &start);
	if (r == 0)
		r = v8_heap_protected_element(heap, deopt, INDEX_TRANSLATION, &translation);
	if (r == 0)
		r = v8_heap_bytes(heap, translation, &bytes);
	if (r < 0)
		return r;
	if (!v8_is_smi(start) || v8_smi(start) < 0)
		return -ENOENT;
	return v8_translation_read((const uint8_t *)strbuf_str(&bytes), bytes.len,
				   (size_t)v8_smi(start), frames, V8_DEOPT_MAX_FRAMES);
}

/* Reads an element of the literals. */
static int read_shared(const struct v8_heap *heap, uint64_t deopt, int32_t index, uint64_t *ret)
{
	uint64_t array = heap->values[V8_DEOPT_LITERALS], literals;

	if (index < 0)
		return -ENOENT;
	int r = v8_heap_protected_element(heap, deopt, array, &literals);
	return r < 0 ? r : v8_heap_element(heap, literals, (uint64_t)index, ret);
}

/* The same of the literals that are in trusted space. */
static int read_bytecode(const struct v8_heap *heap, uint64_t deopt, int32_t index, uint64_t *ret)
{
	uint64_t array = heap->values[V8_DEOPT_LITERALS] - BYTECODES_BEFORE_LITERALS, literals;

	if (index < 0)
		return -ENOENT;
	int r = v8_heap_protected_element(heap, deopt, array, &literals);
	return r < 0 ? r : v8_heap_protected_element(heap, literals, (uint64_t)index, ret);
}

static int read_frame(const struct v8_heap *heap, uint64_t deopt,
		      const struct v8_translated *translated, struct v8_deopt_frame *ret_frame)
{
	struct v8_deopt_frame frame = { .position = -1 };
	uint64_t bytecode = 0;

	int r = read_shared(heap, deopt, translated->shared, &frame.shared);
	if (r == 0)
		r = read_bytecode(heap, deopt, translated->bytecode, &bytecode);
	if (r < 0)
		return r;
	if (!v8_is_shared(heap, frame.shared) || !v8_is_bytecode(heap, bytecode))
		return -ENOENT;
	if (translated->bytecode_offset >= 0)
		frame.position = v8_bytecode_position(heap, bytecode,
						      (uint32_t)translated->bytecode_offset);
	*ret_frame = frame;
	return 0;
}

int v8_deopt_read(const struct v8_heap *heap, const struct v8_code *code, uint64_t address,
		  struct v8_deopt_frame *frames)
{
	struct v8_translated translated[V8_DEOPT_MAX_FRAMES];
	uint64_t deopt;

	const struct table_form *form = form_of(heap, code->kind);
	if (!form)
		return -ENOENT;
	int index = find_index(heap, code, form, address);
	if (index < 0)
		return index;
	int r = v8_heap_protected(heap, code->object, heap->values[V8_CODE_DEOPT], &deopt);
	int nr = r < 0 ? r : read_translation(heap, deopt, (uint64_t)index, translated);
	for (int i = 0; i < nr; i++) {
		r = read_frame(heap, deopt, &translated[i], &frames[i]);
		if (r < 0)
			return r;
	}
	return nr;
}
