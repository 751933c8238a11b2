/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The contract for growth of resident memory.
 *
 * Each time that the kernel changes a count of resident pages of a process, the kernel side finds
 * out by how much, and whether the current thread makes its own process grow. The bytes of all such
 * growth of a process on a CPU form a line. Points on the line choose what is sent, with
 * RECORD_GROWTH: the distances of the points are random, between a half and one and a half of their
 * mean. A record stands for the distances that end in it (`grown_bytes`). So the sum of all records
 * is the growth, but for the distances that have not ended, and each byte has the same chance to be
 * chosen. */
#ifndef BPF_SHARED_GROWTH_H
#define BPF_SHARED_GROWTH_H

#include <linux/types.h>

/* What the kernel counts pages of, in its order: include/linux/mm_types_task.h. Flamelet does not
 * use the count of swapped pages. */
enum grown_memory {
	GROWN_FILE,
	GROWN_ANONYMOUS,
	GROWN_SWAPPED,
	GROWN_SHARED,
	GROWN_NR,
};

/* Limits of the mean distance. The agent raises it if many records come, and lowers it if few
 * do. */
#define GROWTH_MIN_MEAN_BYTES (1ULL << 20)
#define GROWTH_MAX_MEAN_BYTES (1ULL << 30)

/* Processes share a slot if the lowest bits of the numbers of their memories are the same. Then
 * the growth of some may be counted wrongly, by less than what a CPU counts for itself
 * (growth.bpf.c), each time that another one uses the slot. */
#define GROWTH_SLOTS (1 << 13)
#define GROWTH_CPU_SLOTS (1 << 9) /* of each CPU */

#endif
