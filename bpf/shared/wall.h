/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The contract for the time that each thread ran, and did not run, in all.
 *
 * Samples of the timer and chosen blocks (off_cpu.h) estimate these times. If a recording has both,
 * the kernel side also adds up the lengths of all blocks of a thread, from wall_start_ns on. When
 * the recording ends, and when a thread exits, it sends a record RECORD_TIMES: the sum, and the
 * rest of the time for which the thread has existed since then, in which it had a CPU. Both are of
 * CLOCK_MONOTONIC, so they add up to the time that has passed.
 *
 * There is no such record of threads of the kernel, whose idle times are no blocks, of threads
 * whose sum is not known, and of those that existed for less than WALL_MIN_NS. Most of these have
 * no sample, and their sums would say nothing of what they did: samples of all of them do. */
#ifndef BPF_SHARED_WALL_H
#define BPF_SHARED_WALL_H

#include "bpf/shared/off_cpu.h"

#include <linux/types.h>

#define WALL_MIN_NS (500 * 1000 * 1000ULL)

/* In place of a sum of which a part is missing. */
#define WALL_UNKNOWN ((__u64)-1)

/* The sum of the thread that used a slot last, by the lowest bits of thread ids as off_cpu_slot. */
struct wall_slot {
	__u64 start_ns; /* the wall_start_ns since which it counts; another one: the slot is free */
	__u64 off_ns; /* lengths of its blocks that have ended; WALL_UNKNOWN */
	__u32 tid;
	__u32 unused; /* 0 */
};

#endif
