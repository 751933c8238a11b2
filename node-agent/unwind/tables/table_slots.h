/* SPDX-License-Identifier: Apache-2.0 */
/* Which file's rows are in the arena: the slots of tables, and the thread that fills them.
 *
 * The reader takes a slot for each file that a sampled process maps and hands in an open
 * descriptor; the thread "unwind" has it read by a worker (rows_client.h), most wanted first,
 * and sets the slot when its rows are in the arena. From that moment every process that maps the
 * file unwinds through it. Files with the same key (copies of an image) share one table.
 *
 * Tables are kept under a bound of bytes. One goes for another only if no sample needed it for
 * some seconds, and for longer than the other; those that were not needed for longest go first.
 * When a sample needs it again it is read again, but not before `retry_ns`, and ever more
 * seldom: where the tables in use do not fit, some files stay without instead of all being read
 * in turns. Thread-safe. */
#ifndef UNWIND_TABLES_TABLE_SLOTS_H
#define UNWIND_TABLES_TABLE_SLOTS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "unwind/tables/table_slots_opts.h"

#include <stdbool.h>
#include <stdint.h>

struct table_slots;

/* Starts the thread. Errors: -ENOMEM, -EAGAIN. */
int table_slots_start(const struct table_slots_opts *opts, struct table_slots **ret_slots)
	must_check;
void table_slots_stop(struct table_slots *slots);
DEFINE_FREEP(struct table_slots, table_slots_stop)

/* A slot for a file, which is read soon. `owner` is whose it is (worker/worker_lanes.h): the id
 * of the cgroup that maps it; 0: not known. Takes *fd over, also on failure. `*ret_slot` is
 * never 0. Errors: -ENOSPC (counted), -ENOMEM. */
int table_slots_add(struct table_slots *slots, int *fd, uint64_t owner, uint32_t *ret_slot)
	must_check;

/* Whether an open file is still the one that has the slot, as far as mappings can tell: not
 * another one, and not changed. True when that is not known. The caller's is the thread that
 * adds files. */
bool table_slots_is_same(struct table_slots *slots, uint32_t slot, int fd);

/* Whether unwinders find the slot by what mappings know its file by, since before a time
 * (CLOCK_MONOTONIC). */
bool table_slots_has_key(struct table_slots *slots, uint32_t slot, uint64_t time_ns);

/* A slot that works like TABLE_WITHOUT_CFI for ever: for files that cannot be opened. Never 0. */
uint32_t table_slots_without_cfi(const struct table_slots *slots);

/* The slot of the vDSO; where there is none, that without CFI. */
uint32_t table_slots_vdso(const struct table_slots *slots);

/* No process maps the file any more. The slot may become another file's once no unwinder can be
 * using it. The two slots above stay. */
void table_slots_remove(struct table_slots *slots, uint32_t slot);

/* A sample ended for want of this slot's table: it comes before those that were wanted less
 * often. Returns whether the file must be handed in again with table_slots_reopen(), because the
 * table was evicted. */
bool table_slots_want(struct table_slots *slots, uint32_t slot);

/* Hands in the file of an evicted table; its owner as above. Takes *fd over. */
void table_slots_reopen(struct table_slots *slots, uint32_t slot, int *fd, uint64_t owner);

/* Waits until nothing waits to be read, but not past a time (CLOCK_MONOTONIC): for tests and for
 * `record`. False at the deadline. */
bool table_slots_wait_idle(struct table_slots *slots, uint64_t deadline_ns);

struct table_slots_stats table_slots_get_stats(struct table_slots *slots);

#endif
