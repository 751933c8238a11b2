/* SPDX-License-Identifier: Apache-2.0 */
/* Files that wait to be read: those of the lowest rank first, of these the most wanted, then
 * first come, first served. Small enough to be searched from end to end. */
#ifndef UNWIND_TABLES_TABLE_QUEUE_H
#define UNWIND_TABLES_TABLE_QUEUE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_QUEUE_MAX 1024

struct waiting_file {
	uint64_t nr_wanted; /* how often samples wanted it since it waits */
	uint64_t owner; /* see worker/worker_lanes.h */
	uint32_t slot;
	int fd; /* owned */
	bool is_slow; /* it is to be read in the slow lane */
};

struct table_queue {
	struct waiting_file files[TABLE_QUEUE_MAX]; /* in the order in which they came */
	size_t nr_files;
};

/* Closes what still waits. */
void table_queue_done(struct table_queue *queue);

/* Takes file->fd over unless it fails. Errors: -ENOSPC. */
int table_queue_add(struct table_queue *queue, const struct waiting_file *file) must_check;

/* Takes the next one out of those that may be read now; its descriptor is the caller's from then
 * on. `rank` tells a file's rank, or a negative number when it may not be read now. False when
 * there is none. */
bool table_queue_next(struct table_queue *queue,
		      int (*rank)(const struct waiting_file *file, void *data), void *data,
		      struct waiting_file *ret_file);

/* These do nothing when the slot does not wait. */
void table_queue_want(struct table_queue *queue, uint32_t slot);
void table_queue_remove(struct table_queue *queue, uint32_t slot);

#endif
