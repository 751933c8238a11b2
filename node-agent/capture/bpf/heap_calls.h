/* SPDX-License-Identifier: Apache-2.0 */
/* Samples the calls by which chosen processes allocate memory (bpf/shared/heap.h), by uprobes on
 * the allocator's functions in these processes alone, in windows of time (call_pace.h). Since Linux
 * 6.6. A thread of its own attaches and detaches. */
#ifndef CAPTURE_BPF_HEAP_CALLS_H
#define CAPTURE_BPF_HEAP_CALLS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "capture/call_target.h"

#include <stddef.h>
#include <stdint.h>

struct bpf_map;
struct bpf_program;
struct heap_calls;

/* The kernel side; borrowed. */
struct heap_calls_kernel {
	const struct bpf_program *program; /* heap_call */
	const struct bpf_map *counts; /* heap_cpus */
	volatile uint64_t *window; /* heap_window */
};

/* Begins. The targets are copied, with their descriptors. Errors: -ENOSPC more than
 * CALL_TARGETS_MAX; -ESRCH all processes have ended; those of uprobe_multi_attach(), fcntl(2) and
 * thread_start(); -ENOMEM. */
int heap_calls_start(const struct heap_calls_kernel *kernel, const struct call_target *targets,
		     size_t nr, struct heap_calls **ret_calls) must_check;

/* NULL is fine. */
void heap_calls_stop(struct heap_calls *calls);
DEFINE_FREEP(struct heap_calls, heap_calls_stop)

#endif
