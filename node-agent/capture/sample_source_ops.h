/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that a backend implements, and the members that both backends have. Consumers use
 * sample_source.h. */
#ifndef CAPTURE_SAMPLE_SOURCE_OPS_H
#define CAPTURE_SAMPLE_SOURCE_OPS_H

#include "bpf/shared/cgroups.h"
#include "bpf/shared/heap.h"
#include "capture/call_target.h"
#include "capture/capture_stats.h"
#include "capture/cpu_timers.h"
#include "capture/irq_time.h"
#include "capture/sample_consumer.h"
#include "capture/verdict_slots.h"
#include "process/proc_event.h"
#include "unwind/tables/unwind_memory.h"

#include <stdint.h>

struct sample_source;

/* The functions of sample_source.h have the same names. */
struct sample_source_ops {
	enum capture_backend backend;
	const char *profile_label; /* constant text; NULL: none */
	void (*close)(struct sample_source *source); /* the timers have been stopped */
	uint64_t (*poll)(struct sample_source *source, const struct sample_consumer *consumer);
	void (*poll_cgroups)(struct sample_source *source,
			     void (*handle)(const struct cgroup_event *event, void *data),
			     void *data);
	/* This and the next: NULL where the kernel follows processes. */
	void (*follow_process)(struct sample_source *source, const struct proc_event *event);
	void (*lose_events)(struct sample_source *source);
	/* An epoll(7) descriptor: see sample_source_wait(). */
	int (*get_wake_fd)(const struct sample_source *source);
	int (*add_pid)(struct sample_source *source, uint32_t pid);
	/* This and the next: NULL where single threads cannot be sampled. */
	int (*open_thread)(struct sample_source *source, uint32_t tid, void **ret_thread);
	void (*close_thread)(void *thread);
	/* NULL if the backend does not report blocks. */
	bool (*has_block)(const struct sample_source *source, uint32_t tid, uint32_t sequence);
	uint64_t (*start_blocks)(struct sample_source *source); /* the same */
	/* This and the next: NULL if the backend does not report allocations. */
	int (*attach_heap)(struct sample_source *source, int fd, const struct heap_probes *probes);
	int (*sample_calls)(struct sample_source *source, const struct call_target *targets,
			    size_t nr);
	/* NULL if the backend does not count interrupts. */
	void (*take_irq_times)(struct sample_source *source, irq_time_fn handle, void *data);
	void (*get_stats)(const struct sample_source *source, struct capture_stats *stats);
};

/* The first member of each backend's own struct. */
struct sample_source {
	const struct sample_source_ops *ops;
	struct cpu_timers *timers; /* owned */
	struct verdict_slots verdicts;
	/* An enum cgroup_verdict; in the backend's memory, as the slots. */
	volatile uint32_t *cgroup_default;
	struct unwind_memory *unwind_memory; /* owned; the backend frees it when it is closed */
};

#endif
