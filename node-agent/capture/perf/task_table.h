/* SPDX-License-Identifier: Apache-2.0 */
/* The name, cgroup and start time of sampled threads. BPF reads these from the task itself; here
 * they come from the kernel's records of forks, execs, names and exits, and from /proc, which is
 * read
 *
 *	- once for each thread that is sampled, and once more when it has called exec()
 *	- again after TASK_TRUST_NS while it is sampled, as a task can be moved to another
 *	  cgroup; at most TASK_REFRESHES times in a poll
 *
 * A thread that has ended stays in the table until its tid is reused or room is needed. One that
 * ended before /proc could be read has its parent's cgroup, and its name from the records.
 *
 * The table of processes (process/process_table.h) is another one: it knows their mappings,
 * lives with either backend and is fed by the side band. Belongs to one thread. */
#ifndef CAPTURE_PERF_TASK_TABLE_H
#define CAPTURE_PERF_TASK_TABLE_H

#include "base/cleanup.h"
#include "base/err.h"
#include "bpf/shared/events.h"
#include "capture/perf/cgroup_ids.h"
#include "capture/perf_events/perf_record.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#define TASK_TABLE_MAX 65536
#define TASK_TRUST_NS (UINT64_C(10) * 1000000000)
#define TASK_REFRESHES 20

struct cgroup_namespace;
struct task_table;

/* A thread. The entry of a process is that of its first thread. */
struct task {
	TAILQ_ENTRY(task) link;
	uint32_t tid; /* 0: the row is unused */
	uint32_t pid;
	uint32_t parent_pid; /* this and the next: its parent; 0: not known */
	uint32_t parent_tid;
	uint32_t cgroup; /* see cgroup_ids.h, of this generation: */
	uint64_t cgroup_generation;
	bool cgroup_is_assumed; /* its parent's, or from before exec(): /proc was not read */
	bool cgroup_is_refused; /* /proc named a cgroup that cgroup_ids.h refuses */
	uint64_t start_ns; /* of a process, since boot; 0: not known */
	uint64_t read_ns; /* when /proc was read */
	uint64_t since_ns; /* of the first record or sample of it; 0: the row is new */
	uint64_t nr_losses; /* of the table, when name and cgroup were last known */
	bool must_read; /* /proc was not read yet, or not since its last exec() */
	bool is_kernel_thread; /* as /proc said */
	bool has_comm;
	bool has_ended; /* by a record; it may still be sampled while it releases its memory */
	char comm[TASK_COMM_LEN];
};

struct task_table_opts {
	int proc_fd; /* a directory like /proc; borrowed */
	struct cgroup_ids *cgroups; /* borrowed */
	const struct cgroup_namespace *cgroup_namespace; /* borrowed */
	uint32_t cgroup_hierarchy; /* see proc_cgroup.h */
	/* The kernel marks execs; without it each new name of a first thread counts as one. */
	bool marks_execs;
};

struct task_table_stats {
	uint64_t nr_tasks; /* in the table, some of which have ended */
	uint64_t nr_reads; /* of tasks' files in /proc */
	uint64_t nr_outside; /* of these, with a cgroup outside the mounted root */
};

/* Errors: -ENOMEM. */
int task_table_new(const struct task_table_opts *opts, struct task_table **ret_table) must_check;
void task_table_free(struct task_table *table);
DEFINE_FREEP(struct task_table, task_table_free)

/* Begins a poll. Samples and records that come until the next call were taken before now
 * (CLOCK_MONOTONIC). */
void task_table_begin(struct task_table *table, uint64_t now_ns);

/* Applies a COMM, FORK or EXIT, or that records were lost, in the order of time. */
void task_table_handle(struct task_table *table, const struct perf_record *record);

/* Returns the thread of a sample taken at `time_ns` (CLOCK_MONOTONIC), borrowed until the next call
 * on the table; NULL only without memory. */
const struct task *task_table_get(struct task_table *table, uint32_t pid, uint32_t tid,
				  uint64_t time_ns);

struct task_table_stats task_table_get_stats(const struct task_table *table);

#endif
