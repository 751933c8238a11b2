/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the numbers of a timeline out of the files of one host after the other. */
#ifndef STORE_TIMELINE_SOURCE_H
#define STORE_TIMELINE_SOURCE_H

#include "base/err.h"
#include "base/strbuf.h"
#include "base/zstd.h"
#include "profile/label_key.h"
#include "store/dict.h"
#include "store/period_unit.h"
#include "store/snapshot_holds.h"
#include "store/store_timeline.h"
#include "store/timeline_codec.h"
#include "store/timeline_lines.h"
#include "store/timeline_means.h"
#include "vitals/vitals.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timeline_source {
	const struct store_timeline_query *query; /* borrowed */
	struct label_key by; /* valid with query->by */
	struct time_range range; /* narrowed */
	uint64_t first_s, step_s; /* of the steps */
	struct timeline_lines lines;
	uint32_t *cpu_lines; /* owned; by CPU: its line + 1 */
	struct snapshot_holds holds; /* of a type of snapshots */
	struct timeline_means means; /* of GPUs */
	struct period_unit unit; /* of the lines of samples */

	/* Of the current host. */
	bool *is_known; /* owned; by second of the range */
	uint64_t *sums; /* owned; for vitals: by vital and step */
	uint32_t *counts; /* owned; the same: how many seconds a sum has */
	uint32_t vitals_seen; /* bit of each vital that any host has */

	/* Of the current file. */
	bool is_from_samples; /* the numbers, but not which seconds are known */
	struct dict dict;
	uint32_t *label_lines; /* owned; by label set: its line + 2, or NOT_SELECTED */
	struct strbuf plain; /* owned */
	struct zstd_unpacker unpacker;
	uint64_t base_s; /* of the current rows */
	uint64_t block_period; /* of the current block */
	uint64_t block_weight; /* the same: units of a value; 0: none was read */
};

/* Prepares to read a range in the steps of `timeline`. timeline_source_done() is needed after a
 * failure, too. Errors: -ENOSPC, -ENOMEM. */
int timeline_source_init(struct timeline_source *source, const struct store_timeline_query *query,
			 const struct time_range *range, const struct store_timeline *timeline)
	must_check;
void timeline_source_done(struct timeline_source *source);

/* Begins a host with its files, in the order of time. Files that cannot be read are left out, as
 * timeline_source_read() will say. */
void timeline_source_begin_host(struct timeline_source *source, const struct store_span *spans,
				size_t nr);

/* Reads a file. What was read before a failure counts. Errors: -ENOSPC too many numbers, -ENOMEM,
 * those of store_file.h. */
int timeline_source_read(struct timeline_source *source, const struct store_span *span) must_check;

/* Ends a host: adds to `nr_seconds`, of all steps, how many seconds something is known of. Returns
 * whether that is any. */
bool timeline_source_end_host(struct timeline_source *source, uint32_t *nr_seconds);

/* Ends the last host: the lines are complete, and may be sorted. Errors: -ENOMEM. */
int timeline_source_finish(struct timeline_source *source) must_check;

#endif
