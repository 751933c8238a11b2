/* SPDX-License-Identifier: Apache-2.0 */
/* Samples from the kernel, taken by a timer on each online CPU, in one of two ways that give the same records:
 *
 *	bpf	a BPF program filters, unwinds and writes the record
 *	perf	the kernel copies registers and stack, and filtering and unwinding is done here: for kernels that have
 *		no BPF, or do not let us (docs/capture.md)
 *
 * Belongs to one thread. */
#ifndef CAPTURE_SAMPLE_SOURCE_H
#define CAPTURE_SAMPLE_SOURCE_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/strbuf.h"
#include "bpf/shared/cgroups.h"
#include "bpf/shared/events.h"
#include "bpf/shared/stack_copy.h"
#include "bpf/shared/stats.h"
#include "capture/perf_events/cpu_list.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sample_source;
struct cgroup_fs;

enum capture_path {
	CAPTURE_BPF,
	CAPTURE_PERF,
};

/* What to sample. Kinds of targets narrow each other, several of a kind widen it. All borrowed. */
struct capture_opts {
	uint32_t frequency_hz; /* per CPU */
	uint64_t
		poll_interval_ns; /* between calls of sample_source_poll(): decides the ring buffer's size */
	const struct cpu_set_bits *cpus; /* NULL: all */
	const uint32_t *pids;
	size_t nr_pids;
	const uint32_t *tids;
	size_t nr_tids;
	const char *const *comms;
	size_t nr_comms;
	bool include_idle;
	bool cgroup_is_v1; /* see enum cgroup_mode: CGROUP_MODE_LEGACY */
	bool cgroup_is_cpu; /* then: the cpu controller's hierarchy, not the memory controller's */
	uint32_t cgroup_hierarchy; /* its number, see cgroup_fs_hierarchy() */
	bool follow_forks; /* children of `pids` are wanted too */

	/* CAPTURE_PERF only. */
	uint32_t stack_copy_bytes; /* of the user stack, for each sample; a multiple of 8 */
	int proc_fd; /* a directory like /proc, in the pid namespace of the host */
	size_t sideband_bytes; /* each CPU's memory for the sideband, which counts as the rings do */
	const struct cgroup_fs *cgroup_fs; /* NULL: tasks are nobody's */
	/* Unwinds the user stack of `event` from a copy: fills nr_user, the user frames and unwind_result. Called in time
	 * order, during sample_source_poll(), for samples that are wanted. NULL: there are no user frames. */
	void (*unwind)(const struct stack_copy *copy, struct sample_event *event, void *data);
	void *unwind_data;
};

/* What the unwinder fills (bpf/shared/cfi.h): map descriptors, borrowed from the capture. Without BPF there are none. */
struct capture_maps {
	int arena_fd;
	int tables_fd;
	int processes_fd;
	int files_fd;
	int found_file_key_fd;
	int file_key_fd; /* a program */
};

struct capture_stats {
	uint64_t path; /* enum capture_path */
	uint64_t bpf[STAT_NR]; /* by enum bpf_stat */
	uint64_t nr_bad_records;
	uint64_t nr_cgroups; /* births and deaths that were handed out */
	uint64_t follows_cgroups; /* 1: the kernel tells of them */
	uint64_t nr_cpus_refused; /* now: CPUs that are online and wanted, and cannot be sampled */
	uint64_t bpf_run_ns; /* time in the sampler, while kernel.bpf_stats_enabled is set */
	uint64_t bpf_run_count;
	uint64_t nr_throttled; /* by perf: times that the kernel held a timer back */
	uint64_t nr_task_records_lost; /* by perf: of forks, execs, names and exits */
	uint64_t ring_bytes; /* by perf: of each CPU, */
	uint64_t ring_bytes_wanted; /* and what it would be if enough memory could be locked */
	uint64_t nr_targets_refused; /* by perf: children of targets, over the limit of them */
	uint64_t nr_tasks; /* by perf: threads and processes that are known, also of late */
	uint64_t nr_task_reads; /* by perf: of their files in /proc */
	uint64_t nr_tasks_outside; /* by perf: of these, with a cgroup outside of what is mounted */
};

/* Opened by capture/bpf/capture_bpf.h or capture/perf/capture_perf.h. */
void sample_source_close(struct sample_source *source);
DEFINE_FREEP(struct sample_source, sample_source_close)

enum capture_path sample_source_path(const struct sample_source *source);

/* "bpf", "perf". */
const char *capture_path_name(enum capture_path path);

/* Starts the timers of all CPUs that are online and wanted. Call it again, about once a second, to follow
 * CPUs that come and go; those of `*ret_restarted` went and came in between. Errors: -ENODEV none could be started, and what perf_event_open(2) said. */
int sample_source_follow_cpus(struct sample_source *source, struct cpu_set_bits *ret_restarted)
	must_check;

/* Stops the timers; what was sampled before can still be polled. */
void sample_source_stop(struct sample_source *source);

/* Calls `handle` for each sample that is there, up to a full buffer of them: samples that come faster than
 * they are handled do not keep the caller. The record is valid during the call. Returns the number of
 * records. */
uint64_t sample_source_poll(struct sample_source *source,
			    void (*handle)(const struct sample_event *event, void *data),
			    void *data);

/* Calls `handle` for each cgroup that came or went since the last call, up to a full buffer of them; the path has its NUL. The
 * record is valid during the call. Capture by perf tells of those that it sees first at a sample, before it hands the sample
 * out, so this may be called while a sample is handled; of ends it does not tell. */
void sample_source_poll_cgroups(struct sample_source *source,
				void (*handle)(const struct cgroup_event *event, void *data),
				void *data);

/* Which cgroups are sampled, from now on: the verdict of one and what is below it, and of all that have none; at first
 * everything is. Errors: those of verdict_slots_set(). */
int sample_source_set_cgroup(struct sample_source *source, uint64_t id, enum cgroup_verdict verdict)
	must_check;
void sample_source_forget_cgroup(struct sample_source *source, uint64_t id);
void sample_source_set_cgroup_default(struct sample_source *source, enum cgroup_verdict verdict);

struct capture_maps sample_source_get_maps(const struct sample_source *source);

/* Waits until a time (CLOCK_MONOTONIC), a signal, or a sample of a process that should be looked at now;
 * returns whether it was the last of these. */
bool sample_source_wait(struct sample_source *source, uint64_t until_ns);

/* CPUs sampled now. */
uint32_t sample_source_nr_cpus(const struct sample_source *source);

/* What the kernel said of the last CPU that is online and wanted, and cannot be sampled; 0: there is none. */
int sample_source_cpu_refusal(const struct sample_source *source);

/* Adds a target while running. Errors: -ENOSPC, and what bpf() says. */
int sample_source_add_pid(struct sample_source *source, uint32_t pid) must_check;

void sample_source_get_stats(const struct sample_source *source, struct capture_stats *ret_stats);

#endif
