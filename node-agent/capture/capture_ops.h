/* SPDX-License-Identifier: Apache-2.0 */
/* What the ways of capturing have in common, and what each does in its own way. Private to capture/. */
#ifndef CAPTURE_CAPTURE_OPS_H
#define CAPTURE_CAPTURE_OPS_H

#include "base/strbuf.h"
#include "capture/sample_source.h"
#include "capture/cpu_timers.h"
#include "capture/verdict_slots.h"

#include <stdint.h>

/* Functions of capture.h by their names there. */
struct sample_source_ops {
	enum capture_path path;
	void (*close)(struct sample_source *source); /* the timers have been stopped */
	uint64_t (*poll)(struct sample_source *source,
			 void (*handle)(const struct sample_event *event, void *data), void *data);
	void (*poll_cgroups)(struct sample_source *source,
			     void (*handle)(const struct cgroup_event *event, void *data),
			     void *data);
	int (*get_wake_fd)(
		const struct sample_source *source); /* epoll(7): see sample_source_wait() */
	int (*add_pid)(struct sample_source *source, uint32_t pid);
	void (*get_stats)(const struct sample_source *source, struct capture_stats *stats);
};

/* The first member of each kind's own struct. */
struct sample_source {
	const struct sample_source_ops *ops;
	struct cpu_timers *timers; /* owned */
	struct verdict_slots verdicts;
	volatile uint32_t
		*cgroup_default; /* enum cgroup_verdict; of the kind's memory, as the slots */
	struct capture_maps maps;
};

#endif
