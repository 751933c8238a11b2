/* SPDX-License-Identifier: Apache-2.0 */
/* Filters samples by process, thread and name in user space, as bpf/filter.bpf.h does in the
 * kernel. */
#ifndef CAPTURE_PERF_PERF_TARGETS_H
#define CAPTURE_PERF_PERF_TARGETS_H

#include "base/err.h"
#include "base/htable.h"
#include "bpf/shared/events.h"
#include "capture/capture_opts.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_TARGETS_MAX 65536 /* of each kind */

struct number_set {
	uint32_t *items; /* owned */
	size_t nr_items, cap_items;
	struct htable index;
};

struct perf_targets {
	struct number_set pids;
	struct number_set ended; /* of pids: they make room when there are too many */
	struct number_set tids;
	const char *const *comms; /* borrowed */
	size_t nr_comms;
	bool filter_by_pid;
	bool follow_forks;
	uint64_t asked_ns; /* when a process was last added: its own FORK may come after that */
	uint64_t nr_refused; /* children that found no room */
};

/* Names are borrowed from the options. Errors: -ENOSPC too many, -ENOMEM. */
int perf_targets_init(struct perf_targets *targets, const struct capture_opts *opts) must_check;
void perf_targets_done(struct perf_targets *targets);

/* Errors: as above. */
int perf_targets_add_pid(struct perf_targets *targets, uint32_t pid) must_check;

/* Call it when a process has made a child. If forks are followed, the child is wanted if the
 * process is, unless there are too many targets, which is counted. An earlier process with the
 * child's pid is forgotten. */
void perf_targets_fork(struct perf_targets *targets, uint32_t parent_pid, uint32_t pid,
		       uint64_t time_ns);

/* Call it when the first thread of the process has ended. The process stays wanted until its
 * pid is reused or room is needed: it is still sampled while it releases its memory, and
 * other threads may go on. */
void perf_targets_exit(struct perf_targets *targets, uint32_t pid);

/* Call it when the process has called exec(). If another thread than the first did so, the end of
 * the first one was reported, but the process has not ended. */
void perf_targets_exec(struct perf_targets *targets, uint32_t pid);

bool perf_targets_want_ids(const struct perf_targets *targets, uint32_t pid, uint32_t tid);

/* Returns whether the name of the thread or of the process is wanted. */
bool perf_targets_want_comms(const struct perf_targets *targets, const struct sample_event *event);

#endif
