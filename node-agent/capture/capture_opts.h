/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a sample source: the tasks and CPUs to sample, and the memory to use. */
#ifndef CAPTURE_CAPTURE_OPTS_H
#define CAPTURE_CAPTURE_OPTS_H

#include "capture/perf_events/cpu_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cgroup_fs;
struct counted_event;
struct memory_pool;

/* A task must match all kinds of targets that are set, and one target of each kind. All pointers
 * are borrowed; names, `cgroup_fs` and the pool outlive the source. */
struct capture_opts {
	uint32_t frequency_hz; /* per CPU */
	/* The highest one that sample_source_set_period() will ask for, for which buffers have to
	 * do; 0: `frequency_hz`. */
	uint32_t max_frequency_hz;
	/* Each `event_period` of these takes a sample instead of a timer; NULL: the timer does. */
	const struct counted_event *event;
	uint64_t event_period;
	/* Between calls of sample_source_poll(): decides the buffers' size. */
	uint64_t poll_interval_ns;
	const struct cpu_set_bits *cpus; /* NULL: all */
	const uint32_t *pids;
	size_t nr_pids;
	const uint32_t *tids;
	size_t nr_tids;
	const char *const *comms;
	size_t nr_comms;
	bool include_idle;
	bool off_cpu; /* blocks are wanted; CAPTURE_BPF only */
	bool wall; /* and how long each thread runs and does not, in all */
	bool growth; /* so is growth of memory; CAPTURE_BPF only */
	bool allocations; /* and allocations of programs; CAPTURE_BPF only */
	bool frees; /* and their ends */
	bool irq; /* so is time in interrupts; CAPTURE_BPF only */
	bool only_irq; /* and nothing else */
	bool may_lack_off_cpu; /* rather than samples */
	/* Some cgroups are selected. Until the source is told which, it takes nothing: waits would
	 * be taken at once. */
	bool selects_cgroups;
	uint64_t min_block_ns; /* shorter blocks need not be told */
	bool wakers; /* of blocks */
	bool only_locks; /* only blocks in which threads wait for locks of user space */
	/* Waits for locks of the kernel are wanted. Kernels before 5.19 do not tell them. */
	bool locks;
	bool cgroup_is_v1; /* see enum cgroup_mode: CGROUP_MODE_LEGACY */
	bool cgroup_is_cpu; /* in v1: the cpu controller's hierarchy, not the memory controller's */
	uint32_t cgroup_hierarchy; /* its number, see cgroup_fs_hierarchy() */
	bool follow_forks; /* children of `pids` are wanted too */
	size_t unwind_memory_max; /* bytes; of a backend that unwinds in this process */
	int proc_fd; /* a directory like /proc, in the pid namespace of the host */
	struct memory_pool *pool; /* the unwind memory's chunks are taken from it; NULL: no limit */

	/* CAPTURE_PERF only. */
	uint32_t stack_copy_bytes; /* of the user stack, for each sample; a multiple of 8 */
	size_t sideband_bytes; /* each CPU's locked memory for the side band's rings */
	const struct cgroup_fs *cgroup_fs; /* NULL: tasks have no cgroup */
};

#endif
