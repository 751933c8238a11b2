/* SPDX-License-Identifier: Apache-2.0 */
/* A perf event and the ring buffer the kernel writes its records into.
 *
 *	perf_ring_begin(&ring);
 *	while (perf_ring_next(&ring, scratch, &record, &len) > 0)
 *		…
 *
 * One pass returns the records that were in the ring when it began. Their space goes back to the
 * kernel at the end of the pass, or earlier with perf_ring_release(), which a caller that stops in
 * the middle must call. */
#ifndef CAPTURE_PERF_EVENTS_PERF_RING_H
#define CAPTURE_PERF_EVENTS_PERF_RING_H

#include "base/err.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_RING_MAX_RECORD_BYTES 65536

struct perf_ring {
	int fd; /* owned */
	struct perf_event_mmap_page *page; /* owned mapping; the data follow page_bytes later */
	size_t page_bytes;
	size_t data_bytes; /* a power of two */
	uint64_t position; /* while reading: the next record */
	uint64_t end; /* while reading: where to stop */
};

/* The task (-1: all) and the CPU (-1: any) that an event observes. */
struct perf_ring_target {
	int pid;
	int cpu;
};

/* The size of a ring's data. Both are results of perf_ring_round_bytes(). */
struct perf_ring_size {
	size_t bytes; /* halved while the kernel refuses to lock that much memory */
	size_t min_bytes; /* `bytes` does not go below this */
};

/* The smallest size of a ring that holds `bytes`: a power of two of whole pages. */
size_t perf_ring_round_bytes(size_t bytes);

/* Opens the event; perf_open() says how `attr` changes. Errors: -ENODEV when the CPU is
 * offline, -EACCES or -EPERM without the privilege or above the limit of locked memory; else those
 * of perf_event_open() and mmap(). */
int perf_ring_open(struct perf_event_attr *attr, const struct perf_ring_target *target,
		   struct perf_ring_size *size, struct perf_ring *ret_ring) must_check;
void perf_ring_close(struct perf_ring *ring);

/* Reads the number of records lost so far, including those that no LOST record has reported yet.
 * The event must have been opened with PERF_FORMAT_LOST alone. Errors: -EOPNOTSUPP when the kernel
 * does not know that format; else those of read(2). */
int perf_ring_read_lost(const struct perf_ring *ring, uint64_t *ret_nr_lost) must_check;

void perf_ring_begin(struct perf_ring *ring);

/* Reads the next record. Returns 1, or 0 at the end. The record is borrowed until its space is
 * given back, and is in `scratch` if it wraps around. Errors: -EBADMSG if the rest of the ring is
 * broken; then it is skipped, and the pass has ended. */
int perf_ring_next(struct perf_ring *ring, uint8_t scratch[static PERF_RING_MAX_RECORD_BYTES],
		   const void **ret_record, size_t *ret_len) must_check;

/* Copies `len` bytes at `offset` of the next record and leaves the record in the ring. Errors:
 * -ENOENT after the last record; -EBADMSG if the record is broken or shorter. */
int perf_ring_peek(const struct perf_ring *ring, size_t offset, void *ret_bytes, size_t len)
	must_check;

/* Gives the space of the records that were read back to the kernel. */
void perf_ring_release(struct perf_ring *ring);

#endif
