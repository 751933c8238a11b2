/* SPDX-License-Identifier: Apache-2.0 */
/* A frame of a JVM in memory that is all the input's: the words of the frame, then the memory as in
 * sparse_input.h. A frame gets valid lines or none, and little memory is read for it. */
#include "base/cleanup.h"
#include "hotspot_naming_table.h"
#include "runtime/runtime.h"
#include "sparse_input.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define QUOTA_BYTES ((uint64_t)1 << 30)
#define FRAME_MAX_BYTES ((uint64_t)16 << 20)
#define OUT_MAX_BYTES ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct head {
	uint8_t field; /* an index of naming that is another one, if there is such a field */
	uint8_t pad[7];
	uint64_t offset; /* of that field, at most 65535, or what a place is */
	uint64_t words[2];
};

static void check(bool is_true)
{
	if (!is_true)
		abort();
}

static void make_naming(const struct head *head, uint64_t *naming)
{
	memcpy(naming, hotspot_memory_naming, sizeof(hotspot_memory_naming));
	if (head->field < HOTSPOT_NAMING_NR)
		naming[head->field] = head->offset & 0xffffffffffff;
}

static void check_frame(const struct strbuf *out, bool is_named)
{
	struct frame_reader reader = { .bytes = strbuf_str(out), .len = out->len };
	struct runtime_line line;
	uint32_t nr_lines;

	check(frame_reader_next(&reader, &nr_lines) == 0);
	check(nr_lines <= RUNTIME_MAX_LINES && (is_named || nr_lines == 0));
	for (uint32_t i = 0; i < nr_lines; i++)
		check(frame_reader_line(&reader, &line) == 0 && line.line <= UINT16_MAX);
	check(reader.position == out->len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(OUT_MAX_BYTES);
	struct frame_writer writer = { .out = &out };
	uint64_t naming[HOTSPOT_NAMING_NR];
	struct head head;

	if (size < sizeof(head))
		return 0;
	memcpy(&head, data, sizeof(head));
	_cleanup_close_ int fd = sparse_input_open(data + sizeof(head), size - sizeof(head));
	if (fd < 0)
		return 0;

	struct process_memory memory = { .fd = fd, .nr_left = QUOTA_BYTES };
	make_naming(&head, naming);
	frame_writer_begin(&writer);
	int r = hotspot_runtime.name(&memory, naming, head.words, &writer);
	check(r == 0 || r == -ENOENT || r == -EFAULT || r == -ENOMEM);
	check(QUOTA_BYTES - memory.nr_left < FRAME_MAX_BYTES);
	check_frame(&out, r == 0);
	return 0;
}
