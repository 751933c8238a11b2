/* SPDX-License-Identifier: Apache-2.0 */
/* A frame of a JVM in memory that is all the input's: the words of the frame, then the memory as in
 * sparse_input.h. A frame gets valid lines or none, and little memory is read for it. */
#include "frame_target.h"
#include "hotspot_naming_table.h"
#include "runtime/runtime.h"

#include <string.h>

#define FRAME_MAX_BYTES ((uint64_t)16 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct head {
	uint8_t field; /* an index of naming that is another one, if there is such a field */
	uint8_t pad[7];
	uint64_t offset; /* of that field, at most 65535, or what a place is */
	uint64_t words[2];
};

static void make_naming(const struct head *head, uint64_t *naming)
{
	memcpy(naming, hotspot_memory_naming, sizeof(hotspot_memory_naming));
	if (head->field < HOTSPOT_NAMING_NR)
		naming[head->field] = head->offset & 0xffffffffffff;
}

static int name(struct process_memory *memory, const void *bytes, struct frame_writer *writer)
{
	uint64_t naming[HOTSPOT_NAMING_NR];
	struct head head;

	memcpy(&head, bytes, sizeof(head));
	make_naming(&head, naming);
	return hotspot_runtime.name(memory, naming, head.words, writer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct frame_target target = {
		.head_bytes = sizeof(struct head),
		.quota_bytes = FRAME_MAX_BYTES,
		.max_lines = RUNTIME_MAX_LINES,
		.max_line = UINT16_MAX,
		.name = name,
	};

	frame_target_run(&target, data, size);
	return 0;
}
