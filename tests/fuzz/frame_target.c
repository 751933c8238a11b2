/* SPDX-License-Identifier: Apache-2.0 */
#include "frame_target.h"

#include "base/cleanup.h"
#include "sparse_input.h"

#include <stdlib.h>

#define OUT_MAX_BYTES ((size_t)1 << 20)

static void check(bool is_true)
{
	if (!is_true)
		abort();
}

static void check_frame(const struct frame_target *target, const struct strbuf *out, bool is_named)
{
	struct frame_reader reader = { .bytes = strbuf_str(out), .len = out->len };
	struct runtime_line line;
	uint32_t nr_lines;

	check(frame_reader_next(&reader, &nr_lines) == 0);
	check(nr_lines <= (is_named ? target->max_lines : 0));
	for (uint32_t i = 0; i < nr_lines; i++)
		check(frame_reader_line(&reader, &line) == 0 && line.line <= target->max_line);
	check(reader.position == out->len);
}

void frame_target_run(const struct frame_target *target, const uint8_t *data, size_t size)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);
	struct frame_writer writer = { .out = &out };

	if (size < target->head_bytes)
		return;
	_cleanup_close_ int fd = sparse_input_open(data + target->head_bytes,
						   size - target->head_bytes);
	if (fd < 0)
		return;

	struct process_memory memory = { .fd = fd, .nr_left = target->quota_bytes };
	frame_writer_begin(&writer);
	int r = target->name(&memory, data, &writer);
	check(r == 0 || r == -ENOENT || r == -EFAULT || r == -ENOMEM ||
	      (r == -EDQUOT && target->may_use_up_quota));
	check(memory.nr_left > 0 || target->may_use_up_quota);
	if (strbuf_error(&out) == 0)
		check_frame(target, &out, r == 0);
}
