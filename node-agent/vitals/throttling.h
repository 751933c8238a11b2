/* SPDX-License-Identifier: Apache-2.0 */
/* Follows how long limits of CPU time hold up the threads of the cgroups that are sampled. A cgroup
 * is read every few seconds, or each second while it is held up, and few of them at a time: a
 * reading takes the kernel some ten microseconds. One that was not sampled for a minute is
 * forgotten. Belongs to one thread. */
#ifndef VITALS_THROTTLING_H
#define VITALS_THROTTLING_H

#include "base/err.h"
#include "cgroup/cgroup_fs.h"
#include "vitals/cpu_limit.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THROTTLING_MAX_CGROUPS 1024
#define THROTTLING_MAX_READS 64 /* in a call */
#define THROTTLING_INTERVAL_S 5
#define THROTTLING_FORGET_S 60

struct throttled_cgroup;

struct throttling {
	const struct cgroup_fs *fs; /* borrowed */
	int root_fds[2]; /* owned; hierarchies that may have the limits; negative: none */
	struct throttled_cgroup *cgroups; /* owned */
	size_t nr, cap;
	size_t next; /* the one to be looked at first */
	uint64_t nr_ignored; /* cgroups for which there was no room */
};

/* `fs` tells the paths of cgroups; it must outlive this. */
void throttling_init(struct throttling *throttling, const struct cgroup_fs *fs);
void throttling_done(struct throttling *throttling);

/* Notes that a cgroup was sampled. Times are those of a monotonic clock. */
void throttling_see(struct throttling *throttling, uint64_t cgroup_id, uint64_t now_s);

/* Reads the cgroups that are due. Calls `visit` for each whose threads were held up since it was
 * read last, with the increase, and with how many seconds ago that was: at least 1. Several cgroups
 * below one with a limit are one: the first of them. */
typedef void (*throttling_visit)(uint64_t cgroup_id, const struct cpu_throttling *increase,
				 uint32_t nr_seconds, void *data);
void throttling_read(struct throttling *throttling, uint64_t now_s, throttling_visit visit,
		     void *data);

#endif
