/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The counters of the BPF side, per CPU. Every sample ends in exactly one of the first group. */
#ifndef BPF_SHARED_STATS_H
#define BPF_SHARED_STATS_H

#include "bpf/shared/frames.h"

#include <linux/types.h>

/* X(NAME, name, help) */
#define BPF_STATS(X)                                                                               \
	X(SENT, sampled, "samples handed to the agent")                                            \
	X(IDLE, idle, "samples of an idle CPU, not wanted")                                        \
	X(FILTERED, filtered, "samples outside the target")                                        \
	X(EXCLUDED, excluded, "samples of cgroups that the selection excludes, not taken")         \
	X(UNDECIDED, undecided, "samples of cgroups not known well enough to select, not taken")   \
	X(RING_FULL, ring_full, "samples lost: ring buffer full")                                  \
	X(NO_SCRATCH, no_scratch, "samples lost: no per-CPU memory")                               \
	X(KERNEL_STACK_FAILED, kernel_stack_failed, "samples sent without their kernel stack")     \
	X(UNLISTED_KNOWN, unlisted_known,                                                          \
	  "samples of processes without a mapping table, unwound by their own mappings")           \
	X(UNLISTED_FILE, unlisted_file, "such samples that end in a file that is not known")       \
	X(UNLISTED_BROKEN, unlisted_broken, "such samples whose mappings could not be told")       \
	X(BLOCK_SENT, blocks, "waits whose stack was handed to the agent")                         \
	X(BLOCK_LOST, blocks_lost, "waits lost: ring buffer full, or the unwinder was busy")       \
	X(GROWTH_SENT, growth, "growths of memory whose stack was handed to the agent")            \
	X(GROWTH_LOST, growth_lost, "growths of memory lost: ring buffer full")                    \
	X(ALLOC_SENT, allocations, "allocations whose stack was handed to the agent")              \
	X(ALLOC_LOST, allocations_lost, "allocations lost: ring buffer full, or unwinder busy")    \
	X(ALLOC_TOO_LARGE, allocations_too_large, "allocations ignored: of more than 16 TiB")      \
	X(FREE_LOST, frees_lost, "frees of sampled allocations lost: ring buffer full")            \
	X(CGROUP_EVENT_LOST, cgroup_events_lost,                                                   \
	  "births and deaths of cgroups lost: ring buffer full")

enum bpf_stat {
#define X(NAME, name, help) STAT_##NAME,
	BPF_STATS(X)
#undef X
	/* Stop reasons of user stacks follow, in the order of enum unwind_result. */
	STAT_UNWIND_FIRST,
	STAT_NR = STAT_UNWIND_FIRST + UNWIND_NR_RESULTS,
};

/* Of one CPU: the only value of the map `stats`. */
struct bpf_counts {
	__u64 of[STAT_NR]; /* by enum bpf_stat */
};

#endif
