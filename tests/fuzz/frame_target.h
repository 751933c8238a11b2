/* SPDX-License-Identifier: Apache-2.0 */
/* Names a frame of a runtime in memory that is all the input's: the input is a head, which each
 * runtime defines for itself, and then the memory as in sparse_input.h. */
#ifndef FUZZ_FRAME_TARGET_H
#define FUZZ_FRAME_TARGET_H

#include "runtime/frame_writer.h"
#include "runtime/process_memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame_target {
	size_t head_bytes;
	uint64_t quota_bytes; /* of memory that may be read for a frame */
	bool may_use_up_quota; /* else a frame must need less */
	uint32_t max_lines; /* of a frame */
	uint32_t max_line; /* the largest number of a line */
	/* As in struct runtime_ops; the head says what the frame's words are. */
	int (*name)(struct process_memory *memory, const void *head, struct frame_writer *writer);
};

/* Names the frame of an input. Aborts if there is another error than runtime_ops has, or if the
 * lines are not valid or too many. */
void frame_target_run(const struct frame_target *target, const uint8_t *data, size_t size);

#endif
