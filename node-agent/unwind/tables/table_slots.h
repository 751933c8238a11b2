/* SPDX-License-Identifier: Apache-2.0 */
/* The slots of files, the files that wait to be read for them, and the row tables in the arena that
 * slots refer to.
 *
 * The reader takes a slot for each file that a sampled process maps and hands in an open
 * descriptor. The thread "unwind" (table_thread.h) has the file read, most wanted files first, and
 * sets the slot when the file's rows are in the arena. From that moment every process that maps
 * the file unwinds through it. Files with the same key (copies of an image) share one table.
 *
 * Tables are kept under a limit of bytes. One is evicted for another one only if no sample needed
 * it for some seconds, and for longer than the other one; those that were not needed for longest
 * go first. When a sample needs it again, its file must be read again, but not before `retry_ns`,
 * and ever more seldom: if the tables in use do not fit, some files stay without a table instead
 * of all being read in turns. Thread-safe. */
#ifndef UNWIND_TABLES_TABLE_SLOTS_H
#define UNWIND_TABLES_TABLE_SLOTS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "unwind/file/elf_rows.h"
#include "unwind/tables/table_queue.h"
#include "unwind/tables/unwind_arena.h"
#include "worker/worker_client.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_SLOTS_CLOCK_NS UINT64_C(5000000000)
#define TABLE_SLOTS_RETRY_NS UINT64_C(60000000000)
#define TABLE_MAX_BYTES ((size_t)64 << 20) /* of one table */

struct table_slots;

struct table_slots_opts {
	struct unwind_memory *memory; /* borrowed; outlives the slots */
	struct unwind_arena *arena; /* borrowed; lies in `memory` */
	size_t max_bytes; /* of all tables */
	uint64_t clock_ns; /* a tick of table_slot.used; 0: TABLE_SLOTS_CLOCK_NS */
	uint64_t retry_ns; /* shortest time between two reads of a file; 0: TABLE_SLOTS_RETRY_NS */
};

struct table_slots_stats {
	uint64_t nr_slots; /* in use */
	uint64_t nr_waiting; /* files that wait to be read, or are being read */
	uint64_t nr_tables; /* in the arena */
	uint64_t nr_bytes; /* of these tables */
	uint64_t nr_rows; /* of these tables */
	uint64_t nr_built;
	uint64_t build_ns; /* CPU time of the thread; that of workers is in `worker` */
	uint64_t nr_shared; /* slots that got a table of another slot */
	uint64_t nr_evicted;
	uint64_t nr_without_cfi;
	uint64_t nr_bad_files; /* not ELF, or damaged */
	uint64_t nr_over_limit; /* files whose tables are too large */
	uint64_t nr_refused; /* tables that found no room because all others were in use; retried */
	uint64_t nr_failures; /* files that were unreadable, or no memory; retried */
	/* files that took too long, or too much memory, and are read again in the slow lane */
	uint64_t nr_again;
	struct worker_stats worker; /* of the workers that read files */
	uint64_t nr_keys; /* slots that unwinders find by their file's key */
	uint64_t nr_no_key; /* slots that they cannot find so, because there are too many */
	uint64_t nr_no_slot; /* files refused: all slots taken, or too many waiting */
	uint64_t nr_bad_entries; /* see struct unwind_losses */
	uint64_t nr_unsupported_rules;
};

/* Takes the slots of the vDSO, whose file waits first, and without CFI. Errors: -ENOMEM, what
 * eventfd(2) says. */
int table_slots_new(const struct table_slots_opts *opts, struct table_slots **ret_slots) must_check;

/* Closes the files that still wait. */
void table_slots_free(struct table_slots *slots);
DEFINE_FREEP(struct table_slots, table_slots_free)

/* Takes a slot for a file, which is read soon. `owner` is the id of the cgroup that maps the file
 * (worker/worker_lanes.h), 0 if it is not known. Takes *fd over, also on failure. `*ret_slot` is
 * never 0. Errors: -ENOSPC (counted). */
int table_slots_add(struct table_slots *slots, int *fd, uint64_t owner, uint32_t *ret_slot)
	must_check;

/* Returns whether an open file is still the one that has the slot: not another one, and not
 * changed. True if that is not known. To be called by the thread that adds files. */
bool table_slots_is_same(struct table_slots *slots, uint32_t slot, int fd);

/* Returns whether unwinders have found the slot by its file's key (struct file_key) since before
 * `time_ns` (CLOCK_MONOTONIC). */
bool table_slots_has_key(struct table_slots *slots, uint32_t slot, uint64_t time_ns);

/* Returns the slot of all files that cannot be opened: it stays TABLE_WITHOUT_CFI. Never 0. */
uint32_t table_slots_without_cfi(const struct table_slots *slots);

/* Returns the slot of the vDSO, or that without CFI if there is no vDSO. */
uint32_t table_slots_vdso(const struct table_slots *slots);

/* Gives back the slot of a file that no process maps any more. It may become another file's once
 * no unwinder can be using it. The two slots above stay. */
void table_slots_remove(struct table_slots *slots, uint32_t slot);

/* Counts a sample whose stack ended because the slot has no table yet; files that more samples
 * need are read first. Returns whether the file must be handed in again with
 * table_slots_reopen(), because the table was evicted. */
bool table_slots_want(struct table_slots *slots, uint32_t slot);

/* Hands in the file of an evicted table. `owner` is as above. Takes *fd over. */
void table_slots_reopen(struct table_slots *slots, uint32_t slot, int *fd, uint64_t owner);

/* Waits until no file waits to be read, at most until `deadline_ns` (CLOCK_MONOTONIC). Returns
 * false at the deadline. */
bool table_slots_wait_idle(struct table_slots *slots, uint64_t deadline_ns);

struct table_slots_stats table_slots_get_stats(struct table_slots *slots);

/* The rest is for the thread "unwind".
 *
 * Returns a descriptor that can be read (eventfd(2)) when a file has come; borrowed. */
int table_slots_wake_fd(const struct table_slots *slots);

/* Takes the next file out of those that wait, see table_queue_next(). table_slots_end() must
 * follow. */
bool table_slots_next(struct table_slots *slots,
		      int (*rank)(const struct waiting_file *file, void *data), void *data,
		      struct waiting_file *ret_file);

/* Gives the slot the table with this key, if there is one in the arena. Returns whether there
 * is. */
bool table_slots_share(struct table_slots *slots, struct slot_claim claim,
		       const struct elf_rows_key *key);

/* Puts a table with a new key into the arena, and gives it to the slot. Evicts other tables for
 * it, if that is right, and may wait for unwinders. Errors: -EAGAIN no room; -ENOSPC the table is
 * larger than one may be; -ENOMEM; those of unwind_arena_put(). */
int table_slots_load(struct table_slots *slots, struct slot_claim claim,
		     const struct elf_rows_key *key, const struct row_table_bytes *table)
	must_check;

/* Ends the reading of a file, and closes it. `error` says why its slot has no table: 0, or one of
 * rows_result or table_slots_load(). */
void table_slots_end(struct table_slots *slots, const struct waiting_file *file, int error);

/* Ends the reading of a file that is worth another try, in the slow lane if file->is_slow: it waits
 * again. Returns false, and does nothing, if its slot was removed or too many files wait. */
bool table_slots_retry(struct table_slots *slots, const struct waiting_file *file);

/* Turns the clock of uses, and makes usable again what was given back, which may wait for
 * unwinders. To be called about once per second. */
void table_slots_tidy(struct table_slots *slots, uint64_t now_ns);

/* Adds a table that was built to the statistics. */
void table_slots_count_built(struct table_slots *slots, const struct unwind_losses *losses);

/* Adds CPU time of the thread to the statistics, and sets those of the workers. */
void table_slots_count_work(struct table_slots *slots, uint64_t cpu_ns,
			    const struct worker_stats *worker);

#endif
