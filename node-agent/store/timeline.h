/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of the current minute, in memory until the file has it: numbers by second, and the
 * label sets that they are of. It has a dictionary of its own, which is small: who asks for a
 * timeline need not read the stacks. */
#ifndef STORE_TIMELINE_H
#define STORE_TIMELINE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "gpu/gpu_reading.h"
#include "store/dict.h"
#include "store/ingest.h"
#include "store/second.h"
#include "store/timeline_codec.h"
#include "vitals/vitals.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMELINE_MAX_TRACKS 64

struct timeline_track {
	struct track_key key;
	struct block_rows rows; /* seconds are Unix time; `node` is 0 */
	size_t nr_in_heads;
};

struct timeline {
	struct dict dict;
	struct dict_mark written, in_heads;
	struct timeline_track tracks[TIMELINE_MAX_TRACKS];
	size_t nr_tracks;
	size_t nr_rows; /* of all tracks */
	uint64_t nr_dropped; /* numbers for which there was no room, since the beginning */
};

/* timeline_done() is needed after a failure, too. Errors: -ENOMEM. */
int timeline_init(struct timeline *timeline) must_check;
void timeline_done(struct timeline *timeline);

/* Add what is known of a second, Unix time. Numbers that there is no room for are dropped and
 * counted. The label sets are those of timeline.dict. */
void timeline_add_vitals(struct timeline *timeline, uint64_t second, const struct vitals *vitals);
void timeline_add_series(struct timeline *timeline, uint64_t second,
			 const struct second_series *series);
void timeline_add_throttling(struct timeline *timeline, uint64_t second,
			     const struct second_throttling *throttling);

void timeline_add_gpu(struct timeline *timeline, uint64_t second, uint32_t index,
		      const struct gpu_device *device);
void timeline_add_gpu_use(struct timeline *timeline, uint64_t second, uint32_t labels,
			  uint64_t percent, uint64_t memory_bytes);

/* Finds or adds the label set of a cgroup: its number and, if samples of it are in this file, its
 * resource. Errors: -ENOSPC, -ENOMEM. */
int timeline_find_cgroup(struct timeline *timeline, uint64_t cgroup_id, uint32_t *ret_labels)
	must_check;

static inline bool timeline_is_empty(const struct timeline *timeline)
{
	return timeline->nr_rows == 0;
}

/* Appends the tracks: all rows, or, with `is_head`, those that are in no head yet. *ret_first_s and
 * *ret_end_s are their range; both are 0 if there are none. Errors: -ENOMEM. */
int timeline_encode(const struct timeline *timeline, bool is_head, struct strbuf *out,
		    uint64_t *ret_first_s, uint64_t *ret_end_s) must_check;

/* Appends the label sets that were added since the last head, or, without `is_head`, since the last
 * minute. */
void timeline_encode_dict(struct timeline *timeline, bool is_head, struct strbuf *out);

/* Notes that the heads have all rows, or that there are none any more. */
void timeline_settle_head(struct timeline *timeline);
void timeline_forget_heads(struct timeline *timeline);

/* Notes that the file has everything; the timeline is empty then. */
void timeline_settle(struct timeline *timeline);

/* Starts a dictionary anew, for the next file. The timeline must be empty. Errors: -ENOMEM; then
 * nothing changes. */
int timeline_restart(struct timeline *timeline) must_check;

#endif
