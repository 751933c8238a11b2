/* SPDX-License-Identifier: Apache-2.0 */
/* What the reader's side (table_slots.c) and the thread's (table_thread.c) have in common. */
#ifndef UNWIND_TABLE_STATE_H
#define UNWIND_TABLE_STATE_H

#include "unwind/slot_map.h"
#include "unwind/table_queue.h"
#include "unwind/table_slots.h"
#include "unwind/table_store.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct table_slots {
	struct table_slots_opts opts;
	pthread_t thread;
	bool has_thread;

	pthread_mutex_t
		lock; /* for all below; never held while a file is read or the kernel waits */
	pthread_cond_t changed; /* work has come, or the end */
	pthread_cond_t idle; /* all work is done */
	bool is_stopping;
	bool is_loading;
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

/* `data` is a struct table_slots. */
void *table_thread_run(void *data);

#endif
