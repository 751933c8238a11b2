/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAPTURE_CAPTURE_STATS_H
#define CAPTURE_CAPTURE_STATS_H

#include "bpf/shared/stats.h"

#include <stdint.h>

/* The two backends that take samples (sample_source.h). */
enum capture_backend {
	CAPTURE_BPF,
	CAPTURE_PERF,
};

/* "bpf", "perf". */
static inline const char *capture_backend_name(enum capture_backend backend)
{
	return backend == CAPTURE_PERF ? "perf" : "bpf";
}

struct capture_stats {
	uint64_t backend; /* enum capture_backend */
	uint64_t bpf[STAT_NR]; /* by enum bpf_stat */
	uint64_t nr_bad_records;
	uint64_t nr_cgroups; /* creations and removals that were handed out */
	uint64_t follows_cgroups; /* 1: the kernel reports them */
	uint64_t nr_cpus_refused; /* CPUs that are online and wanted and cannot be sampled now */
	uint64_t bpf_run_ns; /* time in the sampler, while kernel.bpf_stats_enabled is set */
	uint64_t bpf_run_count;
	uint64_t nr_stacks_lost; /* of threads that were found asleep: not their user's part */
	uint64_t nr_found_lost; /* such threads */
	uint64_t nr_throttled; /* by perf: times that the kernel held a timer back */
	uint64_t nr_task_records_lost; /* by perf: of forks, execs, names and exits */
	uint64_t ring_bytes; /* by perf: of each CPU */
	uint64_t ring_bytes_wanted; /* by perf: the same, if enough memory could be locked */
	uint64_t nr_targets_refused; /* by perf: children of targets, over the limit of targets */
	uint64_t nr_tasks; /* by perf: threads and processes in the table */
	uint64_t nr_task_reads; /* by perf: times that a task's files in /proc were read */
	uint64_t nr_tasks_outside; /* by perf: of these, with a cgroup outside the mounted root */
};

#endif
