/* SPDX-License-Identifier: Apache-2.0 */
/* What table slots are told at their start, and what they count. */
#ifndef UNWIND_TABLES_TABLE_SLOTS_OPTS_H
#define UNWIND_TABLES_TABLE_SLOTS_OPTS_H

#include "unwind/file/row_cache.h"
#include "unwind/tables/unwind_arena.h"
#include "worker/worker_client.h"

#include <stddef.h>
#include <stdint.h>

#define TABLE_SLOTS_MAX_OPEN 1024 /* descriptors that wait */
#define TABLE_SLOTS_CLOCK_NS UINT64_C(5000000000)
#define TABLE_SLOTS_RETRY_NS UINT64_C(60000000000)
#define TABLE_MAX_BYTES ((size_t)64 << 20) /* a table */

struct table_slots_opts {
	struct unwind_memory
		*memory; /* borrowed; outlives the slots, as does the arena that lies in it */
	struct unwind_arena *arena; /* borrowed */
	struct row_cache *cache; /* borrowed; NULL: none */
	const char *debug_dir; /* as in rows_client_opts; borrowed */
	size_t max_bytes; /* of all tables */
	struct memory_pool *pool; /* as in rows_client_opts */
	/* of the keys that tables are shared by: not known to those whose files they are */
	uint64_t hash_seed;
	uint64_t clock_ns; /* a tick of table_slot.used; 0: TABLE_SLOTS_CLOCK_NS */
	uint64_t retry_ns; /* a file is not read again before; 0: TABLE_SLOTS_RETRY_NS */
};

struct table_slots_stats {
	uint64_t nr_slots; /* taken */
	uint64_t nr_waiting;
	uint64_t nr_tables; /* in the arena */
	uint64_t nr_bytes;
	uint64_t nr_rows;
	uint64_t nr_built;
	uint64_t build_ns; /* CPU time of the thread; workers' is in `worker` */
	uint64_t nr_shared; /* slots that got a table another one had */
	uint64_t nr_evicted;
	uint64_t nr_without_cfi;
	uint64_t nr_bad_files; /* not ELF, damaged */
	uint64_t nr_over_limit; /* of files whose tables are too large */
	/* tables for which there was no room: all others were in use. Tried again */
	uint64_t nr_refused;
	uint64_t nr_failures; /* unreadable, no memory. Tried again */
	/* files that took too long, or too much, and are read again in the slow lane */
	uint64_t nr_again;
	struct worker_stats worker; /* of those that read files */
	uint64_t nr_keys; /* files that unwinders find by what mappings know them by */
	uint64_t nr_no_key; /* files that they do not find so: there are too many */
	uint64_t nr_no_slot; /* files refused: all slots taken, or too many waiting */
	uint64_t nr_bad_entries; /* see struct unwind_losses */
	uint64_t nr_unsupported_rules;
};

#endif
