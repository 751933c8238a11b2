/* SPDX-License-Identifier: Apache-2.0 */
/* A process whose calls of an allocator are sampled (bpf/shared/heap.h). */
#ifndef CAPTURE_CALL_TARGET_H
#define CAPTURE_CALL_TARGET_H

#include "bpf/shared/heap.h"

#include <stdint.h>

#define CALL_TARGETS_MAX 32

/* A file that the process maps, with functions of an allocator. */
struct call_target {
	uint32_t pid;
	int fd;
	struct heap_probes probes; /* other kinds than HEAP_PROBE_CALL are ignored */
};

#endif
