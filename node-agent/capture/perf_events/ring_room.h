/* SPDX-License-Identifier: Apache-2.0 */
/* How large the rings are that samples with copies of stacks come in. They lie in memory that cannot be swapped, of which the
 * kernel lets a process without CAP_IPC_LOCK have so much: kernel.perf_event_mlock_kb for each CPU, and what is more counts as
 * locked (RLIMIT_MEMLOCK), for all CPUs together. Asking for more until it refuses would leave nothing for the last CPUs. */
#ifndef CAPTURE_PERF_EVENTS_RING_ROOM_H
#define CAPTURE_PERF_EVENTS_RING_ROOM_H

#include "capture/perf_events/perf_ring.h"

#include <stdint.h>

#define RING_ROOM_UNBOUNDED UINT64_MAX

/* What comes in. */
struct ring_load {
	uint32_t frequency_hz;
	uint32_t stack_copy_bytes;
	uint64_t poll_interval_ns;
	uint64_t nr_cpus;
};

/* The limits as they are for this process. */
struct ring_limits {
	uint64_t cpu_bytes; /* for each CPU, or RING_ROOM_UNBOUNDED */
	uint64_t locked_bytes; /* and more for all together */
	uint64_t nr_cpus; /* on line */
	uint64_t others_bytes; /* a CPU's other rings have */
};

/* What is right for the load when memory can be locked. */
struct perf_ring_size ring_room_wanted(const struct ring_load *load);

/* Reads all but others_bytes. `proc_fd` is a directory like /proc. */
void ring_room_read_limits(int proc_fd, struct ring_limits *limits);

/* How large the side band's rings may be, so that those of samples have room beside them: `wanted` bytes for each CPU, or half of
 * them where little memory can be locked. */
size_t ring_room_for_sideband(const struct ring_limits *limits, size_t wanted);

/* The same by the limits as they are now. */
size_t ring_room_sideband_bytes(int proc_fd, size_t wanted);

/* Makes the ring as small as the limits want it, but not smaller than its least size. */
void ring_room_fit(const struct ring_limits *limits, struct perf_ring_size *size);

#endif
