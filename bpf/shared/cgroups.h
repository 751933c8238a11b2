/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The contract between kernel and agent about cgroups: the agent says which are sampled, the
 * kernel says which come and go. */
#ifndef BPF_SHARED_CGROUPS_H
#define BPF_SHARED_CGROUPS_H

#include <linux/types.h>

#define CGROUP_PATH_MAX                                                                            \
	1024 /* what the kernel's tracepoints have of a path: TRACE_CGROUP_PATH_LEN */

/* Verdicts by cgroup id, in memory that both sides see: a hash table with open addressing, since
 * one look into the kernel's own would cost more than all the rest that is done for a sample
 * nobody wants. A slot is 0 or id << 2 | verdict; slots in use or used before (CGROUP_SLOT_LEFT)
 * follow each other without a gap from where the id belongs, for at most CGROUP_MAX_PROBES. The
 * agent writes, one slot at a time. */
#define CGROUP_SLOT_BITS 15
#define CGROUP_SLOTS (1 << CGROUP_SLOT_BITS)
#define CGROUP_MAX_PROBES 16
#define CGROUP_SLOT_LEFT 1ULL /* of no cgroup */
#define MAX_CGROUP_VERDICTS (CGROUP_SLOTS / 2)

static inline __u32 cgroup_first_slot(__u64 id)
{
	return (__u32)((id * 0x9e3779b97f4a7c15ULL) >> (64 - CGROUP_SLOT_BITS));
}

/* The verdict says if a cgroup is sampled. A cgroup without a verdict follows the nearest one above
 * it that has one; if there is none, the default of the agent. */
enum cgroup_verdict {
	CGROUP_UNFILTERED, /* as a default only: everything is sampled, verdicts do not count */
	CGROUP_WANTED,
	CGROUP_EXCLUDED,
	CGROUP_UNDECIDED, /* not sampled, as it may be excluded */
};

enum cgroup_event_kind {
	CGROUP_BORN,
	CGROUP_DIED,
};

/* Of the hierarchy that samples are identified by; cut behind the path. */
struct cgroup_event {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u64 id; /* as in struct sample_event */
	__u32 kind; /* enum cgroup_event_kind */
	__u32 path_bytes; /* with the NUL; CGROUP_PATH_MAX: it may be cut */
	char path[CGROUP_PATH_MAX]; /* below the hierarchy's root */
};

_Static_assert(sizeof(struct cgroup_event) == 24 + CGROUP_PATH_MAX, "no hidden padding");

#endif
