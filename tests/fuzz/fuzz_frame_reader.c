/* SPDX-License-Identifier: Apache-2.0 */
/* Reads frames as a worker writes them. Frames that can be read give the same bytes when they are
 * written again. */
#include "base/cleanup.h"
#include "runtime/frame_writer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define OUT_MAX_BYTES ((size_t)64 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool copy_frame(struct frame_reader *reader, struct frame_writer *writer)
{
	struct runtime_line line;
	uint32_t nr_lines;

	if (frame_reader_next(reader, &nr_lines) < 0)
		return false;
	frame_writer_begin(writer);
	for (uint32_t i = 0; i < nr_lines; i++) {
		if (frame_reader_line(reader, &line) < 0) {
			frame_writer_drop(writer);
			return false;
		}
		frame_writer_add(writer, &line);
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);
	struct frame_reader reader = { .bytes = (const char *)data, .len = size };
	struct frame_writer writer = { .out = &out };
	size_t read = 0;

	while (copy_frame(&reader, &writer))
		read = reader.position;
	if (reader.position > size || strbuf_error(&out) < 0 || out.len < read ||
	    (read > 0 && memcmp(out.data, data, read) != 0))
		abort();
	return 0;
}
