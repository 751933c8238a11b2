/* SPDX-License-Identifier: Apache-2.0 */
/* Finds files that tell of allocations (bpf/shared/heap.h) among those that processes map. Each
 * file is opened when it is first seen, and a worker looks into it (probe_worker.h), one after the
 * other. Belongs to one thread. */
#ifndef PROBES_PROBE_FINDER_H
#define PROBES_PROBE_FINDER_H

#include "base/cleanup.h"
#include "base/err.h"
#include "bpf/shared/heap.h"
#include "probes/probe_worker.h"
#include "process/proc_event.h"

#include <stddef.h>
#include <stdint.h>

#define PROBE_FINDER_MAX_WAITING 256 /* open files */

struct probe_finder;

struct probe_finder_opts {
	int proc_fd; /* borrowed */
	const char *program; /* borrowed; of the worker, see worker_client.h */
	enum probe_question question;
	/* Called with each file that has probes; the descriptor stays the finder's. */
	void (*found)(int fd, const struct heap_probes *probes, void *data);
	void *data;
};

struct probe_finder_stats {
	uint64_t nr_files; /* that were looked into */
	uint64_t nr_failed; /* could not be opened or read */
	uint64_t nr_dropped; /* over PROBE_FINDER_MAX_WAITING */
};

/* Errors: -ENOMEM. */
int probe_finder_new(const struct probe_finder_opts *opts, struct probe_finder **ret_finder)
	must_check;

/* NULL is fine. */
void probe_finder_free(struct probe_finder *finder);
DEFINE_FREEP(struct probe_finder, probe_finder_free)

/* Looks at an open file. The descriptor becomes the finder's. Errors: -ENOSPC too many wait. */
int probe_finder_add(struct probe_finder *finder, int fd) must_check;

/* Looks at what a process maps now. */
void probe_finder_scan(struct probe_finder *finder, uint32_t pid);

/* The same for all processes. */
void probe_finder_scan_all(struct probe_finder *finder);

/* Looks at what a process has mapped (PROC_MMAP); ignores other events. */
void probe_finder_handle(struct probe_finder *finder, const struct proc_event *event);

/* Goes on without waiting. To be called from time to time. */
void probe_finder_tick(struct probe_finder *finder);

/* Goes on until all files were looked into, at most until `until_ns` (CLOCK_MONOTONIC). */
void probe_finder_wait(struct probe_finder *finder, uint64_t until_ns);

struct probe_finder_stats probe_finder_get_stats(const struct probe_finder *finder);

#endif
