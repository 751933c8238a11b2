/* SPDX-License-Identifier: Apache-2.0 */
/* The rings of the backend perf: two for each CPU, of an event that samples and of one that
 * reports tasks (perf_record.h). All rings are read as one, in the order of time. */
#ifndef CAPTURE_PERF_CPU_RINGS_H
#define CAPTURE_PERF_CPU_RINGS_H

#include "base/err.h"
#include "capture/capture_opts.h"
#include "capture/perf/ring_merge.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

/* Rings of one event, each on another CPU. */
struct ring_kind {
	struct perf_event_attr attr; /* as far as the kernel knows it, once tried */
	struct perf_ring_size size;
	uint64_t nr_lost; /* records that found no room */
};

struct cpu_rings {
	struct ring_kind samples;
	struct ring_kind tasks;
	size_t wanted_bytes; /* for samples, if enough memory could be locked */
	struct ring_merge merge;
	int wake_fd; /* owned; epoll(7) over all rings; -EBADF until tried */
};

/* Computes the attributes and sizes of the rings. `rings` is zero. Opens nothing. */
void cpu_rings_init(struct cpu_rings *rings, const struct capture_opts *opts);
void cpu_rings_done(struct cpu_rings *rings);

/* Finds out, before anything runs, which attributes the kernel knows and whether it permits the
 * events. Errors: those of perf_open(). */
int cpu_rings_try(struct cpu_rings *rings) must_check;

/* The functions of struct cpu_timer_kind; its data are the rings. Records that are in a CPU's
 * rings when they are closed are still read. */
int cpu_rings_open(uint32_t cpu, void *data, int *ret_event_fd, void **ret_timer) must_check;
void cpu_rings_close(void *timer, void *data);

#endif
