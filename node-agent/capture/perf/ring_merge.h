/* SPDX-License-Identifier: Apache-2.0 */
/* The records of many rings, one for each CPU, in the order of their time. Each ring is in order by itself, but for what an
 * interrupt wrote while another record was being written, which is off by microseconds.
 *
 *	ring_merge_begin(&merge);
 *	while (ring_merge_next(&merge, until_ns, &record, &len))
 *		…
 *
 * A CPU may be just writing a record that is older than those of others that are there: so what is younger than `until_ns`
 * is left in its ring. */
#ifndef CAPTURE_PERF_RING_MERGE_H
#define CAPTURE_PERF_RING_MERGE_H

#include "base/err.h"
#include "capture/perf_events/perf_ring.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct merged_ring {
	struct perf_ring ring; /* owned */
	uint64_t *nr_lost; /* borrowed: counts what found no room in rings of this kind */
	uint64_t nr_told; /* of these, in this ring */
	uint64_t next_ns; /* time of the record that is next */
	bool is_retired; /* its event writes no more: it is closed when it is empty */
};

struct ring_merge {
	struct merged_ring **rings; /* owned, as each of them */
	size_t nr_rings, cap_rings;
	struct merged_ring **heap; /* owned; those that have records, the oldest record's first */
	size_t nr_heap;
	struct merged_ring *current; /* whose record is being looked at */
	uint64_t nr_bad; /* rings' contents that made no sense */
	uint8_t scratch[PERF_RING_MAX_RECORD_BYTES];
};

void ring_merge_done(struct ring_merge *merge);

/* Takes a ring over. Errors: -ENOMEM, and the ring is still the caller's. */
int ring_merge_add(struct ring_merge *merge, const struct perf_ring *ring, uint64_t *nr_lost,
		   struct merged_ring **ret_ring) must_check;

/* What is in the ring is still read; then it is closed. What it lost behind its last record is counted where the kernel tells
 * (PERF_FORMAT_LOST). */
void ring_merge_retire(struct merged_ring *ring);

/* Reads what is there now, not what comes meanwhile. */
void ring_merge_begin(struct ring_merge *merge);

/* The oldest record that is left; borrowed until the next call. False when there is none as old as that: then all room that
 * was read has been given back. */
bool ring_merge_next(struct ring_merge *merge, uint64_t until_ns, const void **ret_record,
		     size_t *ret_len);

/* Counts what the record that was handed out last, a LOST, tells of its ring. */
void ring_merge_count_lost(struct ring_merge *merge, uint64_t nr_lost);

#endif
