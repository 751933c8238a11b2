/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader's side (table_slots.c) and the thread's (table_thread.c) have in common. */
#ifndef UNWIND_TABLES_TABLE_STATE_H
#define UNWIND_TABLES_TABLE_STATE_H

#include "unwind/tables/slot_map.h"
#include "unwind/tables/table_queue.h"
#include "unwind/tables/table_slots_opts.h"
#include "unwind/tables/table_store.h"
#include "unwind/worker/rows_client.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* A file that is being read. */
struct table_job {
	struct waiting_file file; /* its fd is owned */
	uint32_t generation; /* of the slot */
	struct elf_rows_key key; /* once it has come */
};

struct table_slots {
	struct table_slots_opts opts;
	struct rows_client *client; /* owned; the thread's */
	pthread_t thread;
	bool has_thread;

	pthread_mutex_t
		lock; /* for all below; never held while a file is read or the kernel waits */
	pthread_cond_t changed; /* work has come, or the end */
	int wake_fd; /* owned; eventfd(2): the same, for when the thread waits for workers */
	pthread_cond_t idle; /* all work is done */
	bool is_stopping;
	struct table_job jobs[WORKER_NR_LANES]; /* the thread's, without the lock */
	size_t nr_loading; /* of these */
	struct slot_map map;
	struct table_queue queue;
	struct table_store store; /* tables are added and removed by the thread only */
	uint32_t without_cfi; /* slots that stay */
	uint32_t vdso;
	uint64_t next_chores_ns;
	uint64_t next_tick_ns;
	struct table_slots_stats stats; /* counters; the rest is filled in when it is asked for */
};

_Static_assert(TABLE_QUEUE_MAX == TABLE_SLOTS_MAX_OPEN, "a waiting file is an open one");

/* Its slot; NULL when it was removed meanwhile. */
struct slot *table_job_find_slot(struct table_slots *slots, const struct table_job *job);

/* From now on the file is missing, and is asked for when a sample needs it. The caller holds the
 * lock. */
void table_slots_set_evicted(struct table_slots *slots, uint32_t number);

/* Work has come for the thread, or the end. The caller holds the lock. */
void table_slots_wake(struct table_slots *slots);

/* What a table may have. */
size_t table_slots_max_table_bytes(const struct table_slots *slots);

/* Puts a job's table into the arena and the store; evicts others for it, if that is right. By
 * the thread, without the lock.
 * Errors: -EAGAIN no room; -ENOSPC the table is larger than one may be; -ENOMEM; those of
 * unwind_arena_put(). */
int table_job_store(struct table_slots *slots, const struct table_job *job,
		    const struct row_table_bytes *table, uint32_t *ret_number) must_check;

/* `data` is a struct table_slots. */
void *table_thread_run(void *data);

#endif
