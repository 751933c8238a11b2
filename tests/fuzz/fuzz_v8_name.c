/* SPDX-License-Identifier: Apache-2.0 */
/* A frame of V8 in memory that is all the input's: the head below, then the memory as in
 * sparse_input.h. A frame gets valid lines or none, and memory is read for it within a bound. */
#include "base/cleanup.h"
#include "bpf/shared/runtime.h"
#include "runtime/v8/v8_function.h"
#include "runtime/v8/v8_name.h"
#include "runtime/v8/v8_values.h"
#include "sparse_input.h"
#include "v8_values_table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define QUOTA_BYTES ((uint64_t)256 << 20)
#define OUT_MAX_BYTES ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct head {
	uint8_t layout; /* enum v8_memory_layout */
	uint8_t value; /* an index of the values that is another one, if there is such a value */
	uint8_t keeps_check; /* else the tag gets the check that fits */
	uint8_t pad[5];
	uint64_t number; /* of that value */
	uint64_t words[3];
};

static void check(bool is_true)
{
	if (!is_true)
		abort();
}

static void make_values(const struct head *head, uint64_t *values)
{
	v8_values_of((enum v8_memory_layout)(head->layout % V8_MEMORY_NR_LAYOUTS), values);
	values[V8_NR_BYTECODES] = V8_MAX_BYTECODES;
	memset(&values[V8_BYTECODE_SIZES], 0x12, V8_MAX_BYTECODES);
	if (head->value < V8_NR_VALUES)
		values[head->value] = head->number & UINT16_MAX;
}

static void fit_check(struct process_memory *memory, const uint64_t *values, uint64_t *words)
{
	const struct v8_heap heap = { memory, values };
	bool is_code = words[0] & 1;
	int r = v8_function_check(&heap, words[is_code ? 2 : 1]);

	if (r >= 0)
		words[0] = RUNTIME_TAG(is_code ? RUNTIME_FRAME_V8_CODE : RUNTIME_FRAME_V8_BYTECODE,
				       r, words[0] >> 1);
}

static void check_frame(const struct strbuf *out, bool is_named)
{
	struct frame_reader reader = { .bytes = strbuf_str(out), .len = out->len };
	struct runtime_line line;
	uint32_t nr_lines;

	check(frame_reader_next(&reader, &nr_lines) == 0);
	check(nr_lines <= (is_named ? RUNTIME_MAX_LINES : 0));
	for (uint32_t i = 0; i < nr_lines; i++)
		check(frame_reader_line(&reader, &line) == 0);
	check(reader.position == out->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);
	struct frame_writer writer = { .out = &out };
	uint64_t values[V8_NR_VALUES];
	struct head head;

	if (size < sizeof(head))
		return 0;
	memcpy(&head, data, sizeof(head));
	_cleanup_close_ int fd = sparse_input_open(data + sizeof(head), size - sizeof(head));
	if (fd < 0)
		return 0;

	struct process_memory memory = { .fd = fd, .nr_left = QUOTA_BYTES };
	make_values(&head, values);
	if (!head.keeps_check)
		fit_check(&memory, values, head.words);
	frame_writer_begin(&writer);
	int r = v8_name(&memory, values, head.words, &writer);
	check(r == 0 || r == -ENOENT || r == -EFAULT || r == -ENOMEM || r == -EDQUOT);
	if (strbuf_error(&out) == 0)
		check_frame(&out, r == 0);
	return 0;
}
