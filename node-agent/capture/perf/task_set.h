/* SPDX-License-Identifier: Apache-2.0 */
/* Threads and processes by their thread id, in order of use, bounded. A process is its first
 * thread's entry. */
#ifndef CAPTURE_PERF_TASK_SET_H
#define CAPTURE_PERF_TASK_SET_H

#include "base/err.h"
#include "base/htable.h"
#include "bpf/shared/events.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

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
	bool has_ended; /* a record said so; it may still be sampled while it releases its memory */
	char comm[TASK_COMM_LEN];
};

TAILQ_HEAD(task_queue, task);

struct task_set {
	struct task *rows; /* owned array of max_tasks */
	size_t max_tasks;
	size_t nr_rows; /* rows that were ever used */
	size_t nr_tasks;
	struct htable by_tid;
	struct task_queue used; /* least recently used first */
	struct task_queue unused;
};

/* `max_tasks` is more than 0. Errors: -ENOMEM. */
int task_set_init(struct task_set *set, size_t max_tasks) must_check;
void task_set_done(struct task_set *set);

/* The entry of a thread, or NULL; it stays where it is until it is removed. */
struct task *task_set_find(const struct task_set *set, uint32_t tid);

/* The entry of a thread, new and empty when it is not there or is of another process. When full,
 * the least recently used one makes room: other entries may not be valid after this. NULL
 * without memory. */
struct task *task_set_take(struct task_set *set, uint32_t pid, uint32_t tid);

/* Empties an entry whose tid now belongs to another thread. */
void task_set_renew(struct task *task);

/* NULL is fine. */
void task_set_remove(struct task_set *set, struct task *task);

#endif
