/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a timeline: numbers by second, in tracks. A track has the numbers of one kind, such
 * as the samples of each CPU. docs/record.md describes the bytes. */
#ifndef STORE_TIMELINE_CODEC_H
#define STORE_TIMELINE_CODEC_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/profile_type.h"
#include "store/block.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the numbers of a track are, and what their rows are numbered by. The values are those in
 * files. */
enum track_kind {
	TRACK_VITALS, /* enum vital; times in microseconds, memory in KiB */
	TRACK_GROUPS, /* label set: the samples of a program in a cgroup */
	TRACK_CPUS, /* CPU: samples */
	TRACK_SLOTS, /* 0 to 19: the samples in 50 ms of the second */
	TRACK_THROTTLED, /* label set: microseconds in which the threads of a cgroup were held up */
	TRACK_GPUS, /* GPU * TRACK_GPU_ROWS + enum track_gpu_row */
	TRACK_GPU_USE, /* label set: percent of a GPU that the processes of a cgroup used */
	TRACK_GPU_USE_MEMORY, /* label set: KiB of GPUs' memory that they had */
	TRACK_NR_KINDS,
};

/* What is known of a GPU at the end of a second. */
enum track_gpu_row {
	TRACK_GPU_BUSY, /* percent of the time in which a kernel ran */
	TRACK_GPU_MEMORY_USED, /* KiB */
	TRACK_GPU_MEMORY_TOTAL, /* KiB */
	TRACK_GPU_ROWS = 4, /* one is free */
};

#define TRACK_MAX_GPUS 64

#define TRACK_MAX_CPUS 65536

struct track_key {
	enum track_kind kind;
	enum profile_type type; /* of tracks of samples; else 0 */
	uint64_t period; /* the same */
};

/* Appends a track. Each row's `labels` is the row's number in the track, its `node` is 0, its
 * second counts from the timeline's first one on. block_sort() has sorted the rows. Failures are
 * kept in `out`. */
void timeline_encode_track(const struct track_key *key, const struct block_row *rows, size_t nr,
			   struct strbuf *out);

struct track_visitor {
	/* Returns whether a track's rows are wanted; the others are skipped. */
	bool (*wants)(const struct track_key *key, void *data);
	/* Takes a row: number, second from the timeline's first one on, value. Numbers of label
	 * sets and slots are valid; others may be unknown. Errors: any, which ends the reading. */
	int (*visit)(const struct track_key *key, const struct block_row *row, void *data);
	void *data;
};

/* Reads all tracks of a timeline. Tracks of unknown kinds and types are skipped. Errors: -EBADMSG
 * damaged, those of visit(). */
int timeline_decode(const void *bytes, size_t len, uint32_t nr_labels,
		    const struct track_visitor *visitor) must_check;

#endif
