/* SPDX-License-Identifier: Apache-2.0 */
/* A frame of V8 in memory that is all the input's: the head below, then the memory as in
 * sparse_input.h. A frame gets valid lines or none, and memory is read for it within a bound. */
#include "bpf/shared/runtime.h"
#include "frame_target.h"
#include "runtime/v8/v8_function.h"
#include "runtime/v8/v8_name.h"
#include "runtime/v8/v8_values.h"
#include "v8_values_table.h"

#include <string.h>

#define FRAME_MAX_BYTES ((uint64_t)256 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct head {
	uint8_t layout; /* enum v8_memory_layout */
	uint8_t value; /* an index of the values that is another one, if there is such a value */
	uint8_t keeps_check; /* else the tag gets the check that fits */
	uint8_t has_array; /* a frame of bytecode has its array */
	uint8_t pad[4];
	uint64_t number; /* of that value */
	uint64_t words[3];
};

static void make_values(const struct head *head, uint64_t *values)
{
	v8_values_of((enum v8_memory_layout)(head->layout % V8_MEMORY_NR_LAYOUTS), values);
	values[V8_NR_BYTECODES] = V8_MAX_BYTECODES;
	memset(&values[V8_BYTECODE_SIZES], 0x12, V8_MAX_BYTECODES);
	if (head->value < V8_NR_VALUES)
		values[head->value] = head->number & UINT16_MAX;
}

static enum runtime_frame frame_of(const struct head *head)
{
	if (head->words[0] & 1)
		return RUNTIME_FRAME_V8_CODE;
	return head->has_array ? RUNTIME_FRAME_V8_ARRAY : RUNTIME_FRAME_V8_BYTECODE;
}

static void fit_check(struct process_memory *memory, const uint64_t *values, struct head *head)
{
	enum runtime_frame frame = frame_of(head);
	uint64_t shared = head->words[frame == RUNTIME_FRAME_V8_BYTECODE ? 1 : 2];
	const struct v8_heap heap = v8_heap_of(memory, values, shared, 0);
	int r = v8_function_check(&heap, shared);

	if (r >= 0)
		head->words[0] = RUNTIME_TAG(frame, r, head->words[0] >> 1);
}

static int name(struct process_memory *memory, const void *bytes, struct frame_writer *writer)
{
	uint64_t values[V8_NR_VALUES];
	struct head head;

	memcpy(&head, bytes, sizeof(head));
	make_values(&head, values);
	if (!head.keeps_check)
		fit_check(memory, values, &head);
	return v8_name(memory, values, head.words, writer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct frame_target target = {
		.head_bytes = sizeof(struct head),
		.quota_bytes = FRAME_MAX_BYTES,
		.may_use_up_quota = true,
		.max_lines = RUNTIME_MAX_LINES,
		.max_line = UINT32_MAX,
		.name = name,
	};

	frame_target_run(&target, data, size);
	return 0;
}
