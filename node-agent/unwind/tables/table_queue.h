/* SPDX-License-Identifier: Apache-2.0 */
/* Files that wait to be read: those of the lowest rank first, of these the most wanted, then
 * first come, first served. Small enough to be searched from end to end. */
#ifndef UNWIND_TABLES_TABLE_QUEUE_H
#define UNWIND_TABLES_TABLE_QUEUE_H

#include "base/err.h"
#include "unwind/tables/slot_map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_QUEUE_MAX 1024

struct waiting_file {
	uint64_t nr_wanted; /* number of samples that needed it while it waited */
	uint64_t owner; /* see worker/worker_lanes.h */
	struct slot_claim claim;
	int fd; /* owned */
	bool is_slow; /* must be read in the slow lane */
};

struct table_queue {
	struct waiting_file files[TABLE_QUEUE_MAX]; /* in the order in which they came */
	size_t nr_files;
};

/* Closes the files that still wait. */
void table_queue_done(struct table_queue *queue);

/* Takes file->fd over unless it fails. Errors: -ENOSPC. */
int table_queue_add(struct table_queue *queue, const struct waiting_file *file) must_check;

/* Removes the next file that may be read now; its descriptor is the caller's from then on. `rank`
 * returns a file's rank, or a negative number if it may not be read now. Returns false if there is
 * no such file. */
bool table_queue_next(struct table_queue *queue,
		      int (*rank)(const struct waiting_file *file, void *data), void *data,
		      struct waiting_file *ret_file);

/* Counts a sample that needed the slot's file; removes and closes the file. Both do nothing if it
 * does not wait. */
void table_queue_want(struct table_queue *queue, uint32_t slot);
void table_queue_remove(struct table_queue *queue, uint32_t slot);

#endif
