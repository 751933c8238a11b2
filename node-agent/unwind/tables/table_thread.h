/* SPDX-License-Identifier: Apache-2.0 */
/* The thread "unwind": takes waiting files from the slots (table_slots.h), has workers read them
 * (rows_client.h), and gives the tables to the slots. It reads no file itself. In between it turns
 * the clock of uses and reclaims what was freed. */
#ifndef UNWIND_TABLES_TABLE_THREAD_H
#define UNWIND_TABLES_TABLE_THREAD_H

#include "base/cleanup.h"
#include "base/err.h"
#include "unwind/file/row_cache.h"
#include "unwind/tables/table_slots.h"
#include "unwind/worker/rows_client.h"

#include <stdint.h>

struct table_thread;

struct table_thread_opts {
	struct table_slots *slots; /* borrowed; outlives the thread */
	struct row_cache *cache; /* borrowed; NULL: none */
	uint64_t capabilities; /* that adding to the slots' memory takes */
	struct rows_client_opts client;
};

/* Starts the thread. Errors: -ENOMEM, -EAGAIN. */
int table_thread_start(const struct table_thread_opts *opts, struct table_thread **ret_thread)
	must_check;
void table_thread_stop(struct table_thread *thread);
DEFINE_FREEP(struct table_thread, table_thread_stop)

#endif
