/* SPDX-License-Identifier: Apache-2.0 */
/* The thread "vitals": reads what the kernel counted at the end of each second of Unix time,
 * whatever others do. Above all, it does not wait for disks, so that the numbers of the seconds are
 * right in which a disk is too slow. */
#ifndef VITALS_VITALS_THREAD_H
#define VITALS_VITALS_THREAD_H

#include "base/cleanup.h"
#include "base/err.h"
#include "vitals/cpu_limit.h"
#include "vitals/vitals.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VITALS_THREAD_MAX_READINGS 64
#define VITALS_THREAD_MAX_THROTTLED 256

struct vitals_thread;

/* A second. */
struct vitals_reading {
	uint64_t second; /* Unix time */
	struct vitals vitals;
};

/* Threads of a cgroup were held up. */
struct throttled_reading {
	uint64_t second; /* Unix time, when it was read */
	uint64_t cgroup_id;
	struct cpu_throttling increase; /* since it was read before */
	uint32_t nr_seconds; /* since then, at least 1 */
};

struct vitals_thread_stats {
	uint64_t nr_missed; /* readings that nobody took in time */
	uint64_t nr_cgroups_ignored; /* for whose throttling there was no room */
	uint64_t cpu_ns; /* of the thread */
};

/* `proc_fd` may be closed afterwards. `cgroup_root` is that of cgroup_fs_open(), which is not
 * thread-safe; without cgroups, no throttling is read. Errors: -EAGAIN, -ENOMEM. */
int vitals_thread_start(int proc_fd, const char *cgroup_root, struct vitals_thread **ret_thread)
	must_check;

/* NULL is fine. */
void vitals_thread_stop(struct vitals_thread *thread);
DEFINE_FREEP(struct vitals_thread, vitals_thread_stop)

/* Notes that a cgroup was sampled: its throttling is followed from now on. For any thread. */
void vitals_thread_see_cgroup(struct vitals_thread *thread, uint64_t cgroup_id);

/* Take what was read, the oldest first, and return how many. For any thread. */
size_t vitals_thread_take(struct vitals_thread *thread,
			  struct vitals_reading readings[static VITALS_THREAD_MAX_READINGS]);
size_t vitals_thread_take_throttled(
	struct vitals_thread *thread,
	struct throttled_reading readings[static VITALS_THREAD_MAX_THROTTLED]);

struct vitals_thread_stats vitals_thread_get_stats(struct vitals_thread *thread);

#endif
