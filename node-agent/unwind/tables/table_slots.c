/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/tables/table_slots.h"

#include "base/clock.h"
#include "base/locked.h"
#include "unwind/tables/table_store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define MAX_RETRY_DOUBLINGS 4
#define MAX_PUTS 4
/* A table used in this tick of the clock or the one before is in use. */
#define MAX_AGE_IN_USE 1

struct table_slots {
	struct table_slots_opts opts;
	uint32_t without_cfi; /* slots that stay */
	uint32_t vdso;
	int wake_fd; /* owned */
	uint64_t next_tick_ns; /* the thread's */

	pthread_mutex_t lock; /* for all below; never held while unwinders are waited for */
	pthread_cond_t idle; /* there may be no file left to read */
	struct slot_map map;
	struct table_queue queue;
	size_t nr_loading; /* files that the thread has taken */
	struct table_store store; /* changed by the thread only */
	struct table_slots_stats stats; /* counters; the rest is filled in when it is asked for */
};

static void init_condition(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}

static int take_permanent_slot(struct table_slots *slots)
{
	int r = slot_map_take(&slots->map, &slots->without_cfi);
	if (r < 0)
		return r;
	slots->map.slots[slots->without_cfi].state = SLOT_WITHOUT_CFI;
	slot_map_set_unit(&slots->map, slots->without_cfi, TABLE_WITHOUT_CFI);
	return 0;
}

void table_slots_free(struct table_slots *slots)
{
	if (!slots)
		return;
	table_queue_done(&slots->queue);
	table_store_done(&slots->store);
	slot_map_done(&slots->map);
	cleanup_closep(&slots->wake_fd);
	pthread_cond_destroy(&slots->idle);
	pthread_mutex_destroy(&slots->lock);
	free(slots);
}

/* Makes a file wait for the slot. Takes file->fd over unless it fails. Errors: -ENOSPC. */
static int enqueue(struct table_slots *slots, const struct waiting_file *file, uint32_t slot)
{
	struct waiting_file waiting = *file;

	waiting.claim = (struct slot_claim){ slot, slots->map.slots[slot].generation };
	int r = table_queue_add(&slots->queue, &waiting);
	if (r == 0)
		slots->map.slots[slot].state = SLOT_PENDING;
	return r;
}

static void set_key(struct table_slots *slots, uint32_t slot, const struct file_key *key)
{
	if (unwind_memory_set_file(slots->opts.memory, key, slot) < 0) {
		slots->stats.nr_no_key++;
		return;
	}
	slots->map.slots[slot].key = *key;
	slots->map.slots[slot].has_key = true;
	slots->map.slots[slot].keyed_ns = clock_mono_ns();
	slots->stats.nr_keys++;
}

static int take_slot(struct table_slots *slots, const struct waiting_file *file, uint32_t *ret_slot)
{
	int r = slot_map_take(&slots->map, ret_slot);
	if (r < 0)
		return r;
	r = enqueue(slots, file, *ret_slot);
	if (r < 0)
		slot_map_release(&slots->map, *ret_slot);
	return r;
}

/* Takes a slot for a file, and file->fd over. `key` may be NULL. Errors: -ENOSPC (counted). */
static int add(struct table_slots *slots, const struct waiting_file *file,
	       const struct file_key *key, uint32_t *ret_slot)
{
	uint32_t slot = 0;

	LOCKED(&slots->lock);
	int r = take_slot(slots, file, &slot);
	if (r < 0) {
		slots->stats.nr_no_slot++;
		close(file->fd);
		return r;
	}
	if (key)
		set_key(slots, slot, key);
	(void)eventfd_write(slots->wake_fd, 1);
	*ret_slot = slot;
	return 0;
}

int table_slots_add(struct table_slots *slots, int *fd, uint64_t owner, uint32_t *ret_slot)
{
	const struct waiting_file file = { .owner = owner, .fd = take_fd(*fd) };
	struct file_key key;
	bool has_key = unwind_memory_find_key(slots->opts.memory, file.fd, &key) == 0;

	return add(slots, &file, has_key ? &key : NULL, ret_slot);
}

/* Nearly every process calls into the vDSO, so it is read first. It always counts as in use,
 * because nobody could hand in its file again. */
static void add_vdso(struct table_slots *slots)
{
	struct waiting_file file = { .nr_wanted = UINT64_MAX };
	const struct file_key key = { 0 };

	slots->vdso = slots->without_cfi;
	if (elf_rows_open_vdso(&file.fd) < 0)
		slots->stats.nr_failures++;
	else
		(void)add(slots, &file, NULL, &slots->vdso);
	slot_map_set_used(&slots->map, slots->vdso, slot_map_clock(&slots->map));
	/* without the key, only processes that are new do without the vDSO's table */
	(void)!unwind_memory_set_file(slots->opts.memory, &key, slots->vdso);
}

int table_slots_new(const struct table_slots_opts *opts, struct table_slots **ret_slots)
{
	_cleanup_(table_slots_freep) struct table_slots *slots = calloc(1, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	slots->opts = *opts;
	if (slots->opts.clock_ns == 0)
		slots->opts.clock_ns = TABLE_SLOTS_CLOCK_NS;
	if (slots->opts.retry_ns == 0)
		slots->opts.retry_ns = TABLE_SLOTS_RETRY_NS;
	slots->next_tick_ns = clock_mono_ns() + slots->opts.clock_ns;
	pthread_mutex_init(&slots->lock, NULL);
	init_condition(&slots->idle);
	slots->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (slots->wake_fd < 0)
		return -errno;
	int r = slot_map_init(&slots->map, opts->memory->tables);
	if (r == 0)
		r = take_permanent_slot(slots);
	if (r < 0)
		return r;
	add_vdso(slots);
	*ret_slots = take_ptr(slots);
	return 0;
}

static void unlink_table(struct table_slots *slots, uint32_t slot)
{
	uint32_t number = slots->map.slots[slot].table;
	uint32_t used = slot_map_get_used(&slots->map, slot);

	table_store_use(&slots->store, number, used, slot_map_clock(&slots->map));
	table_store_get(&slots->store, number)->nr_slots--;
}

static void unset_key(struct table_slots *slots, uint32_t slot)
{
	if (!slots->map.slots[slot].has_key)
		return;
	unwind_memory_unset_file(slots->opts.memory, &slots->map.slots[slot].key, slot);
	slots->map.slots[slot].has_key = false;
	slots->stats.nr_keys--;
}

static void remove_slot(struct table_slots *slots, uint32_t slot)
{
	if (slots->map.slots[slot].state == SLOT_LOADED)
		unlink_table(slots, slot);
	table_queue_remove(&slots->queue, slot);
	unset_key(slots, slot);
	slot_map_release(&slots->map, slot);
}

void table_slots_remove(struct table_slots *slots, uint32_t slot)
{
	if (slot == slots->without_cfi || slot == slots->vdso)
		return;
	LOCKED(&slots->lock);
	if (slot_map_has(&slots->map, slot))
		remove_slot(slots, slot);
	pthread_cond_broadcast(&slots->idle);
}

uint32_t table_slots_vdso(const struct table_slots *slots)
{
	return slots->vdso;
}

uint32_t table_slots_without_cfi(const struct table_slots *slots)
{
	return slots->without_cfi;
}

bool table_slots_is_same(struct table_slots *slots, uint32_t slot, int fd)
{
	struct file_key key;

	if (unwind_memory_find_key(slots->opts.memory, fd, &key) < 0)
		return true;
	LOCKED(&slots->lock);
	const struct slot *known = slot_map_has(&slots->map, slot) ? &slots->map.slots[slot] : NULL;
	return !known || !known->has_key || memcmp(&known->key, &key, sizeof(key)) == 0;
}

bool table_slots_has_key(struct table_slots *slots, uint32_t slot, uint64_t time_ns)
{
	LOCKED(&slots->lock);
	return slot_map_has(&slots->map, slot) && slots->map.slots[slot].has_key &&
	       slots->map.slots[slot].keyed_ns < time_ns;
}

static bool is_evicted(const struct table_slots *slots, uint32_t slot)
{
	return slot_map_has(&slots->map, slot) && slots->map.slots[slot].state == SLOT_EVICTED;
}

bool table_slots_want(struct table_slots *slots, uint32_t slot)
{
	uint64_t now = clock_mono_ns();

	LOCKED(&slots->lock);
	table_queue_want(&slots->queue, slot);
	if (!is_evicted(slots, slot) || slot == slots->vdso ||
	    now < slots->map.slots[slot].retry_ns)
		return false;
	slots->map.slots[slot].retry_ns = now + slots->opts.retry_ns;
	return true;
}

void table_slots_reopen(struct table_slots *slots, uint32_t slot, int *fd, uint64_t owner)
{
	const struct waiting_file file = { .nr_wanted = 1, .owner = owner, .fd = take_fd(*fd) };

	LOCKED(&slots->lock);
	int r = is_evicted(slots, slot) ? enqueue(slots, &file, slot) : -ENOENT;
	if (r == 0)
		(void)eventfd_write(slots->wake_fd, 1);
	else
		close(file.fd);
	slots->stats.nr_no_slot += r == -ENOSPC;
}

/* Counts the files that wait or are being read. The caller holds the lock. */
static size_t count_waiting(const struct table_slots *slots)
{
	return slots->queue.nr_files + slots->nr_loading;
}

bool table_slots_wait_idle(struct table_slots *slots, uint64_t deadline_ns)
{
	struct timespec deadline = clock_timespec(deadline_ns);
	int r = 0;

	LOCKED(&slots->lock);
	while (count_waiting(slots) > 0 && r == 0)
		r = pthread_cond_timedwait(&slots->idle, &slots->lock, &deadline);
	return count_waiting(slots) == 0;
}

int table_slots_wake_fd(const struct table_slots *slots)
{
	return slots->wake_fd;
}

bool table_slots_next(struct table_slots *slots,
		      int (*rank)(const struct waiting_file *file, void *data), void *data,
		      struct waiting_file *ret_file)
{
	LOCKED(&slots->lock);
	if (!table_queue_next(&slots->queue, rank, data, ret_file))
		return false;
	slots->nr_loading++;
	return true;
}

static uint32_t get_clock(const struct table_slots *slots)
{
	return slot_map_clock(&slots->map);
}

static void set_loaded(struct table_slots *slots, struct slot_claim claim, uint32_t number)
{
	struct stored_table *table = table_store_get(&slots->store, number);

	if (!slot_map_is_claimed(&slots->map, claim))
		return;
	slots->map.slots[claim.slot].state = SLOT_LOADED;
	slots->map.slots[claim.slot].table = number;
	table->nr_slots++;
	slot_map_set_unit(&slots->map, claim.slot, table->unit);
}

bool table_slots_share(struct table_slots *slots, struct slot_claim claim,
		       const struct elf_rows_key *key)
{
	LOCKED(&slots->lock);
	uint32_t number = table_store_find(&slots->store, key);
	if (number == 0)
		return false;
	slots->stats.nr_shared++;
	set_loaded(slots, claim, number);
	return true;
}

/* The file is missing from now on, and is asked for when a sample needs it. */
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

/* Copies the uses that unwinders noted in the slots to the slots' tables. */
static void note_uses(struct table_slots *slots)
{
	for (uint32_t i = 1; i < slots->map.end; i++)
		if (slots->map.slots[i].table != 0)
			table_store_use(&slots->store, slots->map.slots[i].table,
					slot_map_get_used(&slots->map, i), get_clock(slots));
}

/* Returns the age, in ticks, up to which other tables must stay, because they are in use or
 * needed no less than that of the slot. */
static uint32_t get_min_age(struct table_slots *slots, struct slot_claim claim)
{
	uint32_t age = get_clock(slots) - slot_map_get_used(&slots->map, claim.slot);

	if (!slot_map_is_claimed(&slots->map, claim))
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

/* Evicts the one table that is missed least. Returns whether there was one. */
static bool evict_oldest(struct table_slots *slots, struct slot_claim claim)
{
	LOCKED(&slots->lock);
	note_uses(slots);
	uint32_t number = table_store_find_oldest(&slots->store, get_clock(slots),
						  get_min_age(slots, claim));
	if (number)
		evict_table(slots, number);
	return number != 0;
}

/* Returns whether evicting others can make room for `len` bytes. */
static bool can_make_room(struct table_slots *slots, struct slot_claim claim, size_t len)
{
	LOCKED(&slots->lock);
	note_uses(slots);
	uint64_t nr_older = table_store_count_older(&slots->store, get_clock(slots),
						    get_min_age(slots, claim));
	return slots->store.nr_bytes - nr_older + len <= slots->opts.max_bytes;
}

/* Makes room under the limit of bytes. Errors: -EAGAIN the tables in use take the room. */
static int make_room(struct table_slots *slots, struct slot_claim claim, size_t len)
{
	if (slots->store.nr_bytes + len <= slots->opts.max_bytes)
		return 0;
	if (!can_make_room(slots, claim, len))
		return -EAGAIN;
	while (slots->store.nr_bytes + len > slots->opts.max_bytes)
		if (!evict_oldest(slots, claim))
			return -EAGAIN;
	return 0;
}

/* Evicts `len` bytes, which need not lie in one piece. Errors: -EAGAIN nothing can be evicted. */
static int evict_bytes(struct table_slots *slots, struct slot_claim claim, size_t len)
{
	uint64_t before = slots->store.nr_bytes;

	while (before - slots->store.nr_bytes < len)
		if (!evict_oldest(slots, claim))
			break;
	return slots->store.nr_bytes < before ? 0 : -EAGAIN;
}

/* Makes room before the n-th try: what the first one evicted becomes usable with the second. */
static int make_room_in_arena(struct table_slots *slots, struct slot_claim claim, size_t len,
			      int nth)
{
	if (nth == 0)
		return make_room(slots, claim, len);
	int r = nth == 1 ? 0 : evict_bytes(slots, claim, len);
	return r < 0 ? r : unwind_arena_wait(slots->opts.arena);
}

/* Tries several times: mapping tables take room in the arena too, and free room may be in pieces,
 * so that the limit of bytes alone does not suffice. Errors: -EAGAIN no room. */
static int put_table(struct table_slots *slots, struct slot_claim claim,
		     const struct row_table_bytes *table, uint32_t *ret_unit)
{
	for (int i = 0; i < MAX_PUTS; i++) {
		int r = make_room_in_arena(slots, claim, table->len, i);
		if (r < 0)
			return r;
		r = unwind_arena_put(slots->opts.arena, table->data, table->len, ret_unit);
		if (r != -ENOSPC)
			return r;
	}
	return -EAGAIN;
}

int table_slots_load(struct table_slots *slots, struct slot_claim claim,
		     const struct elf_rows_key *key, const struct row_table_bytes *table)
{
	struct stored_table stored = { .key = *key, .nr_bytes = (uint32_t)table->len };
	struct row_table head;
	uint32_t number;

	if (table->len > TABLE_MAX_BYTES || table->len > slots->opts.max_bytes)
		return -ENOSPC;
	int r = put_table(slots, claim, table, &stored.unit);
	if (r < 0)
		return r;
	memcpy(&head, table->data, sizeof(head));
	stored.nr_rows = head.nr_rows;
	pthread_mutex_lock(&slots->lock);
	r = table_store_add(&slots->store, &stored, &number);
	if (r == 0)
		set_loaded(slots, claim, number);
	pthread_mutex_unlock(&slots->lock);
	if (r == 0)
		return 0;
	unwind_arena_free(slots->opts.arena, stored.unit, table->len);
	return r == -ENOSPC ? -EAGAIN : r;
}

static void set_without_cfi(struct table_slots *slots, uint32_t slot, uint64_t *counter)
{
	slots->map.slots[slot].state = SLOT_WITHOUT_CFI;
	slot_map_set_unit(&slots->map, slot, TABLE_WITHOUT_CFI);
	(*counter)++;
}

/* A file that no sample needed yet has not been tried in vain: it is asked for as soon as one
 * does. */
static void set_refused(struct table_slots *slots, uint32_t slot)
{
	set_evicted(slots, slot);
	if (slot_map_get_used(&slots->map, slot) == 0)
		slots->map.slots[slot].retry_ns = 0;
	slots->stats.nr_refused++;
}

static void set_failed(struct table_slots *slots, uint32_t slot, int error)
{
	switch (error) {
	case -ENODATA:
		set_without_cfi(slots, slot, &slots->stats.nr_without_cfi);
		break;
	case -EBADMSG:
		set_without_cfi(slots, slot, &slots->stats.nr_bad_files);
		break;
	case -ENOSPC:
		set_without_cfi(slots, slot, &slots->stats.nr_over_limit);
		break;
	case -EAGAIN:
		set_refused(slots, slot);
		break;
	default:
		set_evicted(slots, slot);
		slots->stats.nr_failures++;
		break;
	}
}

void table_slots_end(struct table_slots *slots, const struct waiting_file *file, int error)
{
	LOCKED(&slots->lock);
	if (error < 0 && slot_map_is_claimed(&slots->map, file->claim))
		set_failed(slots, file->claim.slot, error);
	close(file->fd);
	slots->nr_loading--;
	pthread_cond_broadcast(&slots->idle);
}

bool table_slots_retry(struct table_slots *slots, const struct waiting_file *file)
{
	LOCKED(&slots->lock);
	if (!slot_map_is_claimed(&slots->map, file->claim) ||
	    table_queue_add(&slots->queue, file) < 0)
		return false;
	slots->nr_loading--;
	slots->stats.nr_again += file->is_slow;
	return true;
}

/* The caller holds the lock. */
static void advance_clock(struct table_slots *slots, uint64_t now)
{
	uint32_t clock = get_clock(slots) + 1;

	slot_map_set_used(&slots->map, 0, clock);
	slot_map_set_used(&slots->map, slots->vdso, clock);
	slots->next_tick_ns = now + slots->opts.clock_ns;
}

void table_slots_tidy(struct table_slots *slots, uint64_t now_ns)
{
	bool is_over = false;

	pthread_mutex_lock(&slots->lock);
	if (now_ns >= slots->next_tick_ns)
		advance_clock(slots, now_ns);
	bool has_limbo = slot_map_begin_reclaim(&slots->map);
	pthread_mutex_unlock(&slots->lock);
	if (has_limbo)
		is_over = unwind_arena_wait(slots->opts.arena) == 0;
	else
		unwind_arena_reclaim(slots->opts.arena);
	pthread_mutex_lock(&slots->lock);
	slot_map_end_reclaim(&slots->map, is_over);
	pthread_mutex_unlock(&slots->lock);
}

void table_slots_count_built(struct table_slots *slots, const struct unwind_losses *losses)
{
	LOCKED(&slots->lock);
	slots->stats.nr_built++;
	slots->stats.nr_bad_entries += losses->nr_bad_entries;
	slots->stats.nr_unsupported_rules += losses->nr_unsupported_rules;
}

void table_slots_count_work(struct table_slots *slots, uint64_t cpu_ns,
			    const struct worker_stats *worker)
{
	LOCKED(&slots->lock);
	slots->stats.build_ns += cpu_ns;
	slots->stats.worker = *worker;
}

struct table_slots_stats table_slots_get_stats(struct table_slots *slots)
{
	LOCKED(&slots->lock);
	struct table_slots_stats stats = slots->stats;
	stats.nr_slots = slots->map.nr_taken;
	stats.nr_waiting = count_waiting(slots);
	stats.nr_tables = slots->store.nr_tables;
	stats.nr_bytes = slots->store.nr_bytes;
	stats.nr_rows = slots->store.nr_rows;
	return stats;
}
