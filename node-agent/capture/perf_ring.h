/* SPDX-License-Identifier: Apache-2.0 */
/* A perf event of one CPU and the ring buffer the kernel writes its records into.
 *
 *	perf_ring_begin(&ring);
 *	while (perf_ring_next(&ring, scratch, &record, &len) > 0)
 *		…
 *
 * What was there at the beginning is read, not what comes meanwhile, and the room is given back at the
 * end. */
#ifndef CAPTURE_PERF_RING_H
#define CAPTURE_PERF_RING_H

#include "base/err.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_RING_MAX_RECORD_BYTES 65536

struct perf_ring {
	int fd; /* owned */
	struct perf_event_mmap_page *page; /* owned mapping; the data begin page_bytes behind */
	size_t page_bytes;
	size_t data_bytes; /* a power of two */
	uint64_t position; /* while reading: what comes next, */
	uint64_t end; /* and where to stop */
};

/* The least size of a ring, in whole pages and a power of two, that holds `bytes`. */
size_t perf_ring_round_bytes(size_t bytes);

/* Opens the event for all tasks on one CPU; `data_bytes` as perf_ring_round_bytes() gives it. Errors:
 * -ENODEV when the CPU is off line, -EACCES or -EPERM without the right, what else perf_event_open() and
 * mmap() say. */
int perf_ring_open(const struct perf_event_attr *attr, unsigned int cpu, size_t data_bytes,
		   struct perf_ring *ret_ring) must_check;
void perf_ring_close(struct perf_ring *ring);

void perf_ring_begin(struct perf_ring *ring);

/* The next record: 1, or 0 at the end. It is borrowed until then, and in `scratch` if it wraps around.
 * -EBADMSG when the rest of the ring makes no sense; it is skipped and the reading has ended. */
int perf_ring_next(struct perf_ring *ring, uint8_t scratch[static PERF_RING_MAX_RECORD_BYTES],
		   const void **ret_record, size_t *ret_len) must_check;

#endif
