/* SPDX-License-Identifier: Apache-2.0 */
/* Room for tables: under the bound of bytes, and in the arena. */
#include "unwind/tables/table_state.h"

#include "base/clock.h"

#include <string.h>

#define MAX_RETRY_DOUBLINGS 4
#define MAX_PUTS 4
/* A table used in this tick of the clock or the one before is in use. */
#define MAX_AGE_IN_USE 1

struct slot *table_job_find_slot(struct table_slots *slots, const struct table_job *job)
{
	struct slot *slot = &slots->map.slots[job->file.slot];

	return slot->generation == job->generation ? slot : NULL;
}

static uint32_t get_clock(const struct table_slots *slots)
{
	return slot_map_clock(&slots->map);
}

void table_slots_set_evicted(struct table_slots *slots, uint32_t number)
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

/* A table that was used this many ticks ago or later must stay, as it is in use or needed no
 * less than the new one. */
static uint32_t get_min_age(struct table_slots *slots, const struct table_job *job)
{
	uint32_t age = get_clock(slots) - slot_map_get_used(&slots->map, job->file.slot);

	if (!table_job_find_slot(slots, job))
		return UINT32_MAX;
	return age > MAX_AGE_IN_USE ? age : MAX_AGE_IN_USE;
}

static void evict_table(struct table_slots *slots, uint32_t number)
{
	const struct stored_table *table = table_store_get(&slots->store, number);

	for (uint32_t i = 1; i < slots->map.end; i++)
		if (slots->map.slots[i].table == number)
			table_slots_set_evicted(slots, i);
	unwind_arena_free(slots->opts.arena, table->unit, table->nr_bytes);
	table_store_remove(&slots->store, number);
	slots->stats.nr_evicted++;
}

/* Evicts the one table that is missed least. */
static bool evict_oldest(struct table_slots *slots, const struct table_job *job)
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
static bool can_make_room(struct table_slots *slots, const struct table_job *job, size_t len)
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
static int make_room(struct table_slots *slots, const struct table_job *job, size_t len)
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
static int evict_bytes(struct table_slots *slots, const struct table_job *job, size_t len)
{
	uint64_t before = slots->store.nr_bytes;

	while (before - slots->store.nr_bytes < len)
		if (!evict_oldest(slots, job))
			break;
	return slots->store.nr_bytes < before ? 0 : -EAGAIN;
}

/* Before the n-th try: what was evicted for the first one becomes usable with the second. */
static int make_room_in_arena(struct table_slots *slots, const struct table_job *job, size_t len,
			      int nth)
{
	if (nth == 0)
		return make_room(slots, job, len);
	int r = nth == 1 ? 0 : evict_bytes(slots, job, len);
	return r < 0 ? r : unwind_arena_wait(slots->opts.arena);
}

/* Mapping tables take room in the arena too, and it may be in pieces: the bound of bytes alone
 * does not do.
 * Errors: -EAGAIN no room. */
static int put_table(struct table_slots *slots, const struct table_job *job,
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

size_t table_slots_max_table_bytes(const struct table_slots *slots)
{
	size_t max_bytes = slots->opts.max_bytes;

	return max_bytes < TABLE_MAX_BYTES ? max_bytes : TABLE_MAX_BYTES;
}

int table_job_store(struct table_slots *slots, const struct table_job *job,
		    const struct row_table_bytes *table, uint32_t *ret_number)
{
	struct stored_table stored = { .key = job->key, .nr_bytes = (uint32_t)table->len };
	struct row_table head;

	if (table->len > table_slots_max_table_bytes(slots))
		return -ENOSPC;
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
