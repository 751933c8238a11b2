/* SPDX-License-Identifier: Apache-2.0 */
/* The thread "unwind": takes files out of the queue, gets their tables from the arena, the cache or the file
 * itself, and sets the slots. In between it turns the clock and gives back what was freed.
 *
 * While it reads a file, the slot may be removed and even become another file's: its generation tells. */
#include "unwind/table_state.h"

#include "base/clock.h"
#include "base/heartbeat.h"
#include "unwind/elf_rows.h"

#include <string.h>

#define CHORES_NS NSEC_PER_SEC
#define HEARTBEAT_MAX_NS (60 * NSEC_PER_SEC)
#define MAX_RETRY_DOUBLINGS 4
#define MAX_PUTS 4
/* A table used in this tick of the clock or the one before is in use. */
#define MAX_AGE_IN_USE 1

/* The file being read. */
struct job {
	int fd; /* owned */
	uint32_t slot;
	uint32_t generation;
};

/* NULL when it was removed meanwhile. */
static struct slot *find_slot(struct table_slots *slots, const struct job *job)
{
	struct slot *slot = &slots->map.slots[job->slot];

	return slot->generation == job->generation ? slot : NULL;
}

static uint32_t get_clock(const struct table_slots *slots)
{
	return slot_map_clock(&slots->map);
}

/* From now on the file is missing, and is asked for when a sample needs it. */
static void set_evicted(struct table_slots *slots, uint32_t number)
{
	struct slot *slot = &slots->map.slots[number];

	slot_map_set_unit(&slots->map, number, TABLE_NOT_LOADED);
	slot->state = SLOT_EVICTED;
	slot->table = 0;
	slot->retry_ns = clock_mono_ns() + (slots->opts.retry_ns << slot->nr_retries);
	if (slot->nr_retries < MAX_RETRY_DOUBLINGS)
		slot->nr_retries++;
}

/* Carries what unwinders noted in the slots over to their tables. */
static void note_uses(struct table_slots *slots)
{
	for (uint32_t i = 1; i < slots->map.end; i++)
		if (slots->map.slots[i].table != 0)
			table_store_use(&slots->store, slots->map.slots[i].table,
					slot_map_get_used(&slots->map, i), get_clock(slots));
}

/* A table that was used this many ticks ago or later must stay, as it is in use or needed no less than the
 * new one. */
static uint32_t get_min_age(struct table_slots *slots, const struct job *job)
{
	uint32_t age = get_clock(slots) - slot_map_get_used(&slots->map, job->slot);

	if (!find_slot(slots, job))
		return UINT32_MAX;
	return age > MAX_AGE_IN_USE ? age : MAX_AGE_IN_USE;
}

static void evict_table(struct table_slots *slots, uint32_t number)
{
	const struct stored_table *table = table_store_get(&slots->store, number);

	for (uint32_t i = 1; i < slots->map.end; i++)
		if (slots->map.slots[i].table == number)
			set_evicted(slots, i);
	unwind_arena_free(slots->opts.arena, table->unit, table->nr_bytes);
	table_store_remove(&slots->store, number);
	slots->stats.nr_evicted++;
}

/* Evicts the one table that is missed least. */
static bool evict_oldest(struct table_slots *slots, const struct job *job)
{
	pthread_mutex_lock(&slots->lock);
	note_uses(slots);
	uint32_t number = table_store_find_oldest(&slots->store, get_clock(slots),
						  get_min_age(slots, job));
	if (number)
		evict_table(slots, number);
	pthread_mutex_unlock(&slots->lock);
	return number != 0;
}

/* Whether it would be of any use to evict others. */
static bool can_make_room(struct table_slots *slots, const struct job *job, size_t len)
{
	pthread_mutex_lock(&slots->lock);
	note_uses(slots);
	uint64_t nr_older = table_store_count_older(&slots->store, get_clock(slots),
						    get_min_age(slots, job));
	uint64_t nr_bytes = slots->store.nr_bytes - nr_older + len;
	pthread_mutex_unlock(&slots->lock);
	return nr_bytes <= slots->opts.max_bytes;
}

/* Under the bound of bytes. Errors: -EAGAIN what is in use takes the room. */
static int make_room(struct table_slots *slots, const struct job *job, size_t len)
{
	if (slots->store.nr_bytes + len <= slots->opts.max_bytes)
		return 0;
	if (!can_make_room(slots, job, len))
		return -EAGAIN;
	while (slots->store.nr_bytes + len > slots->opts.max_bytes)
		if (!evict_oldest(slots, job))
			return -EAGAIN;
	return 0;
}

/* Evicts as much as is wanted. That need not lie in one piece. */
static int evict_bytes(struct table_slots *slots, const struct job *job, size_t len)
{
	uint64_t before = slots->store.nr_bytes;

	while (before - slots->store.nr_bytes < len)
		if (!evict_oldest(slots, job))
			break;
	return slots->store.nr_bytes < before ? 0 : -EAGAIN;
}

/* Before the n-th try: what was evicted for the first one becomes usable with the second. */
static int make_room_in_arena(struct table_slots *slots, const struct job *job, size_t len, int nth)
{
	if (nth == 0)
		return make_room(slots, job, len);
	int r = nth == 1 ? 0 : evict_bytes(slots, job, len);
	return r < 0 ? r : unwind_arena_wait(slots->opts.arena);
}

/* Code lists take room in the arena too, and it may be in pieces: the bound of bytes alone does not do.
 * Errors: -EAGAIN no room. */
static int put_table(struct table_slots *slots, const struct job *job,
		     const struct row_table_bytes *table, uint32_t *ret_unit)
{
	for (int i = 0; i < MAX_PUTS; i++) {
		int r = make_room_in_arena(slots, job, table->len, i);
		if (r < 0)
			return r;
		r = unwind_arena_put(slots->opts.arena, table->data, table->len, ret_unit);
		if (r != -ENOSPC)
			return r;
	}
	return -EAGAIN;
}

static int store_table(struct table_slots *slots, const struct job *job,
		       const struct elf_rows_key *key, const struct row_table_bytes *table,
		       uint32_t *ret_number)
{
	struct stored_table stored = { .key = *key, .nr_bytes = (uint32_t)table->len };
	struct row_table head;

	int r = put_table(slots, job, table, &stored.unit);
	if (r < 0)
		return r;
	memcpy(&head, table->data, sizeof(head));
	stored.nr_rows = head.nr_rows;
	pthread_mutex_lock(&slots->lock);
	r = table_store_add(&slots->store, &stored, ret_number);
	pthread_mutex_unlock(&slots->lock);
	if (r == 0)
		return 0;
	unwind_arena_free(slots->opts.arena, stored.unit, table->len);
	return r == -ENOSPC ? -EAGAIN : r;
}

static void count_built(struct table_slots *slots, const struct unwind_losses *losses)
{
	pthread_mutex_lock(&slots->lock);
	slots->stats.nr_built++;
	slots->stats.nr_bad_entries += losses->nr_bad_entries;
	slots->stats.nr_unsupported_rules += losses->nr_unsupported_rules;
	pthread_mutex_unlock(&slots->lock);
}

static int build_table(struct table_slots *slots, struct elf_rows *rows,
		       struct row_table_bytes *ret_table)
{
	const struct elf_rows_key *key = elf_rows_get_key(rows);
	struct elf_rows_stats stats;

	if (slots->opts.cache && row_cache_get(slots->opts.cache, key, ret_table) == 0)
		return 0;
	int r = elf_rows_build(rows, ret_table, &stats);
	if (r < 0)
		return r;
	count_built(slots, &stats.losses);
	if (slots->opts.cache)
		row_cache_put(slots->opts.cache, key, ret_table);
	return 0;
}

static bool find_stored(struct table_slots *slots, const struct elf_rows_key *key,
			uint32_t *ret_number)
{
	pthread_mutex_lock(&slots->lock);
	uint32_t number = table_store_find(&slots->store, key);
	if (number) {
		slots->stats.nr_shared++;
		*ret_number = number;
	}
	pthread_mutex_unlock(&slots->lock);
	return number != 0;
}

static size_t get_max_table_bytes(const struct table_slots *slots)
{
	size_t max_bytes = slots->opts.max_bytes;

	return max_bytes < TABLE_MAX_BYTES ? max_bytes : TABLE_MAX_BYTES;
}

/* Closes the file as soon as it can. */
static int open_rows(struct table_slots *slots, struct job *job, struct elf_rows **ret_rows)
{
	_cleanup_close_ int fd = take_fd(job->fd);
	struct elf_rows_opts opts = {
		.max_bytes = get_max_table_bytes(slots),
		.debug_dir = slots->opts.debug_dir,
	};

	return elf_rows_open(fd, &opts, ret_rows);
}

/* Errors: those of elf_rows_open() and elf_rows_build(); -EAGAIN no room. */
static int load_table(struct table_slots *slots, struct job *job, uint32_t *ret_number)
{
	_cleanup_(elf_rows_closep) struct elf_rows *rows = NULL;
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };

	int r = open_rows(slots, job, &rows);
	if (r < 0)
		return r;
	struct elf_rows_key key = *elf_rows_get_key(rows);
	if (find_stored(slots, &key, ret_number))
		return 0;
	r = build_table(slots, rows, &table);
	if (r < 0)
		return r;
	elf_rows_close(take_ptr(rows));
	if (table.len > get_max_table_bytes(slots))
		return -ENOSPC;
	return store_table(slots, job, &key, &table, ret_number);
}

static void set_loaded(struct table_slots *slots, const struct job *job, uint32_t number)
{
	struct stored_table *table = table_store_get(&slots->store, number);
	struct slot *slot = &slots->map.slots[job->slot];

	slot->state = SLOT_LOADED;
	slot->table = number;
	table->nr_slots++;
	slot_map_set_unit(&slots->map, job->slot, table->unit);
}

static void set_without_cfi(struct table_slots *slots, const struct job *job, uint64_t *counter)
{
	slots->map.slots[job->slot].state = SLOT_WITHOUT_CFI;
	slot_map_set_unit(&slots->map, job->slot, TABLE_WITHOUT_CFI);
	(*counter)++;
}

/* A file that no sample needed yet has not been tried in vain: it is asked for as soon as one does. */
static void set_refused(struct table_slots *slots, const struct job *job)
{
	set_evicted(slots, job->slot);
	if (slot_map_get_used(&slots->map, job->slot) == 0)
		slots->map.slots[job->slot].retry_ns = 0;
	slots->stats.nr_refused++;
}

static void set_result(struct table_slots *slots, const struct job *job, int r, uint32_t number)
{
	switch (r) {
	case 0:
		set_loaded(slots, job, number);
		break;
	case -ENODATA:
		set_without_cfi(slots, job, &slots->stats.nr_without_cfi);
		break;
	case -EBADMSG:
		set_without_cfi(slots, job, &slots->stats.nr_bad_files);
		break;
	case -ENOSPC:
		set_without_cfi(slots, job, &slots->stats.nr_over_limit);
		break;
	case -EAGAIN:
		set_refused(slots, job);
		break;
	default:
		set_evicted(slots, job->slot);
		slots->stats.nr_failures++;
		break;
	}
}

/* The caller holds the lock, which is released while the file is read. */
static void do_job(struct table_slots *slots, struct job *job)
{
	uint32_t number = 0;

	slots->is_loading = true;
	pthread_mutex_unlock(&slots->lock);
	uint64_t start_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	int r = load_table(slots, job, &number);
	uint64_t end_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	pthread_mutex_lock(&slots->lock);
	slots->is_loading = false;
	slots->stats.build_ns += end_ns - start_ns;
	if (find_slot(slots, job))
		set_result(slots, job, r, number);
	pthread_cond_broadcast(&slots->idle);
}

static bool next_job(struct table_slots *slots, struct job *ret_job)
{
	struct waiting_file file;

	if (!table_queue_next(&slots->queue, &file))
		return false;
	struct slot *slot = &slots->map.slots[file.slot];
	slot->state = SLOT_LOADING;
	*ret_job = (struct job){ file.fd, file.slot, slot->generation };
	return true;
}

static void advance_clock(struct table_slots *slots, uint64_t now)
{
	uint32_t clock = get_clock(slots) + 1;

	slot_map_set_used(&slots->map, 0, clock);
	slot_map_set_used(&slots->map, slots->vdso, clock);
	slots->next_tick_ns = now + slots->opts.clock_ns;
}

/* The caller holds the lock, which is released while unwinders are waited for. */
static void do_chores(struct table_slots *slots, uint64_t now)
{
	bool is_over = false;

	if (now >= slots->next_tick_ns)
		advance_clock(slots, now);
	bool has_limbo = slot_map_begin_reclaim(&slots->map);
	pthread_mutex_unlock(&slots->lock);
	if (has_limbo)
		is_over = unwind_arena_wait(slots->opts.arena) == 0;
	else
		unwind_arena_reclaim(slots->opts.arena);
	pthread_mutex_lock(&slots->lock);
	slot_map_end_reclaim(&slots->map, is_over);
	slots->next_chores_ns = now + CHORES_NS;
}

static void wait_for_work(struct table_slots *slots)
{
	struct timespec until = clock_timespec(slots->next_chores_ns);

	pthread_cond_timedwait(&slots->changed, &slots->lock, &until);
}

void *table_thread_run(void *data)
{
	struct table_slots *slots = data;
	struct job job;

	heartbeat_begin("unwind", HEARTBEAT_MAX_NS);
	pthread_mutex_lock(&slots->lock);
	while (!slots->is_stopping) {
		heartbeat_beat();
		uint64_t now = clock_mono_ns();

		if (now >= slots->next_chores_ns)
			do_chores(slots, now);
		else if (next_job(slots, &job))
			do_job(slots, &job);
		else
			wait_for_work(slots);
	}
	pthread_mutex_unlock(&slots->lock);
	return NULL;
}
