/* SPDX-License-Identifier: Apache-2.0 */
/* The length from which waits are chosen for certain (bpf/shared/off_cpu.h, bpf/shared/lock.h), the
 * mean distance of the bytes that are chosen of growth (bpf/shared/growth.h), or the number of
 * allocations of which one is chosen (bpf/shared/heap.h), adapted to the number of those that come.
 * Belongs to one thread. */
#ifndef CAPTURE_BPF_THRESHOLD_H
#define CAPTURE_BPF_THRESHOLD_H

#include <stdint.h>

#define THRESHOLD_RATE 100

struct threshold {
	uint64_t rate; /* the wanted number of records per second and CPU; 0: THRESHOLD_RATE */
	volatile uint64_t *value; /* borrowed: the kernel side's; NULL: there is none */
	uint64_t min, max;
	uint64_t nr_chosen; /* since the last change */
	uint64_t next_ns; /* time of the next change, CLOCK_MONOTONIC */
};

/* Counts a record. */
void threshold_count(struct threshold *threshold);

/* Adapts the threshold about once a second, so that about as many records a second and CPU come
 * as are wanted. Records have what they stand for, so sums stay right. */
void threshold_pace(struct threshold *threshold, uint32_t nr_cpus, uint64_t now_ns);

#endif
