/* SPDX-License-Identifier: Apache-2.0 */
/* How long snapshots hold, in a timeline: each until the next one of the host, since snapshots
 * cannot be added up. */
#ifndef STORE_SNAPSHOT_HOLDS_H
#define STORE_SNAPSHOT_HOLDS_H

#include "base/err.h"
#include "store/time_range.h"
#include "store/timeline_lines.h"

#include <stddef.h>
#include <stdint.h>

/* A snapshot comes every 30 s at least, unless nothing is in use. */
#define SNAPSHOT_HOLDS_MAX_S 31

struct snapshot_holds {
	struct time_range range;
	uint64_t first_s, step_s; /* of the steps of the timeline; they cover the range */
	uint8_t *seconds; /* owned; by second of the range: how many it holds; 0: no snapshot */
};

/* The range must not be too long for memory. Errors: -ENOMEM. */
int snapshot_holds_init(struct snapshot_holds *holds, const struct time_range *range,
			uint64_t first_s, uint64_t step_s) must_check;
void snapshot_holds_done(struct snapshot_holds *holds);

/* Forgets all snapshots, for the next host. */
void snapshot_holds_clear(struct snapshot_holds *holds);

/* Notes that there is a snapshot in a second. Seconds outside the range do not count. */
void snapshot_holds_note(struct snapshot_holds *holds, uint64_t second);

/* Finds out how long they hold, when all are noted. */
void snapshot_holds_settle(struct snapshot_holds *holds);

/* Adds a value of the snapshot in a second to a line. A step gets the mean of its seconds that are
 * in the range. */
void snapshot_holds_add(const struct snapshot_holds *holds, struct timeline_lines *lines,
			uint32_t index, uint64_t second, uint64_t value);

#endif
