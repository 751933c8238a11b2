/* SPDX-License-Identifier: Apache-2.0 */
/* The size of the rings for samples with copied stacks. Rings are locked memory. Without
 * CAP_IPC_LOCK a process may have kernel.perf_event_mlock_kb of it for each CPU, and
 * RLIMIT_MEMLOCK beyond that for all CPUs together. The size is computed from these limits: a
 * process that asks for more until the kernel refuses has nothing left for the last CPUs. */
#ifndef CAPTURE_PERF_EVENTS_RING_ROOM_H
#define CAPTURE_PERF_EVENTS_RING_ROOM_H

#include "capture/perf_events/perf_ring.h"

#include <stdint.h>

#define RING_ROOM_UNBOUNDED UINT64_MAX

/* The load that the rings must take. */
struct ring_load {
	uint32_t frequency_hz;
	uint32_t stack_copy_bytes;
	uint64_t poll_interval_ns;
	uint64_t nr_cpus;
};

/* The limits of this process. */
struct ring_limits {
	uint64_t cpu_bytes; /* for each CPU, or RING_ROOM_UNBOUNDED */
	uint64_t locked_bytes; /* in addition, for all CPUs together */
	uint64_t nr_cpus; /* online */
	uint64_t others_bytes; /* of each CPU's other rings */
};

/* The size for this load if memory may be locked without limit. */
struct perf_ring_size ring_room_wanted(const struct ring_load *load);

/* Reads all but others_bytes. `proc_fd` is a directory like /proc. */
void ring_room_read_limits(int proc_fd, struct ring_limits *limits);

/* Returns the size of the side band's ring of each CPU that leaves room for that of samples:
 * `wanted` bytes, or half of that if little memory may be locked. */
size_t ring_room_for_sideband(const struct ring_limits *limits, size_t wanted);

/* The same for the present limits. */
size_t ring_room_sideband_bytes(int proc_fd, size_t wanted);

/* Reduces the ring to what the limits permit, but not below its least size. */
void ring_room_fit(const struct ring_limits *limits, struct perf_ring_size *size);

#endif
