/* SPDX-License-Identifier: Apache-2.0 */
/* The records of many rings, one for each CPU, in the order of their time. Each ring is in order
 * by itself, except for records that an interrupt wrote while another record was being written:
 * these are off by microseconds.
 *
 *	ring_merge_begin(&merge);
 *	while (ring_merge_next(&merge, until_ns, &record, &len))
 *		…
 *
 * A CPU may still be writing a record that is older than those of other CPUs. So records younger
 * than `until_ns` are left in their rings. */
#ifndef CAPTURE_PERF_RING_MERGE_H
#define CAPTURE_PERF_RING_MERGE_H

#include "base/err.h"
#include "capture/perf_events/perf_ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct merged_ring {
	struct perf_ring ring; /* owned */
	uint64_t *nr_lost; /* borrowed: counts records lost in rings of this kind */
	uint64_t nr_told; /* records lost in this ring that were counted */
	uint64_t next_ns; /* time of the record that is next */
	bool is_retired; /* its event is disabled: it is closed when it is empty */
};

struct ring_merge {
	struct merged_ring **rings; /* owned, as each of them */
	size_t nr_rings, cap_rings;
	struct merged_ring **heap; /* owned; rings with records, that of the oldest record first */
	size_t nr_heap;
	struct merged_ring *current; /* the ring of the record that is being handled */
	uint64_t nr_bad; /* rings whose contents were broken */
	uint8_t scratch[PERF_RING_MAX_RECORD_BYTES];
};

void ring_merge_done(struct ring_merge *merge);

/* Takes a ring over. Errors: -ENOMEM, and the ring is still the caller's. */
int ring_merge_add(struct ring_merge *merge, const struct perf_ring *ring, uint64_t *nr_lost,
		   struct merged_ring **ret_ring) must_check;

/* Retires a ring: it is read until it is empty, then closed. Records lost after its last one are
 * counted if the kernel reports them (PERF_FORMAT_LOST). */
void ring_merge_retire(struct merged_ring *ring);

/* Begins a reading of the records that are in the rings now. Later ones are left to the next
 * reading. */
void ring_merge_begin(struct ring_merge *merge);

/* Returns the oldest record that is left, borrowed until the next call. False if there is none up
 * to `until_ns`; then the kernel has the room of all records back that were read. */
bool ring_merge_next(struct ring_merge *merge, uint64_t until_ns, const void **ret_record,
		     size_t *ret_len);

/* Counts `nr_lost` records for the ring of the record that was handed out last, which is a LOST. */
void ring_merge_count_lost(struct ring_merge *merge, uint64_t nr_lost);

#endif
