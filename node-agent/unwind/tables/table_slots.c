/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/tables/table_slots.h"

#include "base/capabilities.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "unwind/file/elf_rows.h"
#include "unwind/tables/table_state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

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

/* Takes *fd over. */
static int add_file(struct table_slots *slots, const struct waiting_file *what, uint32_t *ret_slot)
{
	_cleanup_close_ int taken = what->fd;
	struct waiting_file file = *what;

	int r = slot_map_take(&slots->map, &file.slot);
	if (r < 0)
		return r;
	r = table_queue_add(&slots->queue, &file);
	if (r < 0) {
		slot_map_release(&slots->map, file.slot);
		return r;
	}
	(void)take_fd(taken);
	slots->map.slots[file.slot].state = SLOT_WAITING;
	*ret_slot = file.slot;
	return 0;
}

/* The caller holds the lock. */
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

static void unset_key(struct table_slots *slots, uint32_t slot)
{
	if (!slots->map.slots[slot].has_key)
		return;
	unwind_memory_unset_file(slots->opts.memory, &slots->map.slots[slot].key, slot);
	slots->map.slots[slot].has_key = false;
	slots->stats.nr_keys--;
}

static int add_vdso_file(struct table_slots *slots)
{
	struct waiting_file file = { .nr_wanted = UINT64_MAX };

	int r = elf_rows_open_vdso(&file.fd);
	return r < 0 ? r : add_file(slots, &file, &slots->vdso);
}

/* Nearly every process calls into it: it comes before all others. It counts as in use always,
 * for nobody could hand it in again. */
static void add_vdso(struct table_slots *slots)
{
	slots->vdso = slots->without_cfi;
	if (add_vdso_file(slots) < 0)
		slots->stats.nr_failures++;
	slot_map_set_used(&slots->map, slots->vdso, slot_map_clock(&slots->map));

	const struct file_key key = { 0 };
	int r = unwind_memory_set_file(slots->opts.memory, &key, slots->vdso);
	(void)r; /* a process that is new does without */
}

static int make_client(struct table_slots *slots)
{
	const struct rows_client_opts opts = {
		.debug_dir = slots->opts.debug_dir,
		.hash_seed = slots->opts.hash_seed,
		.max_table_bytes = table_slots_max_table_bytes(slots),
		.pool = slots->opts.pool,
	};

	return rows_client_new(&opts, &slots->client);
}

void table_slots_wake(struct table_slots *slots)
{
	if (slots->nr_loading > 0)
		(void)eventfd_write(slots->wake_fd, 1);
	else
		pthread_cond_signal(&slots->changed);
}

static int start(struct table_slots *slots)
{
	slots->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (slots->wake_fd < 0)
		return -errno;
	int r = slot_map_init(&slots->map, slots->opts.memory->tables);
	if (r < 0)
		return r;
	r = take_permanent_slot(slots);
	if (r < 0)
		return r;
	add_vdso(slots);
	slots->next_tick_ns = clock_mono_ns() + slots->opts.clock_ns;
	r = make_client(slots);
	if (r < 0)
		return r;
	r = thread_start("unwind", slots->opts.memory->capabilities | CAPABILITY(DAC_READ_SEARCH),
			 table_thread_run, slots, &slots->thread);
	slots->has_thread = r == 0;
	return r;
}

int table_slots_start(const struct table_slots_opts *opts, struct table_slots **ret_slots)
{
	_cleanup_(table_slots_stopp) struct table_slots *slots = calloc(1, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	slots->opts = *opts;
	slots->wake_fd = -EBADF;
	if (slots->opts.clock_ns == 0)
		slots->opts.clock_ns = TABLE_SLOTS_CLOCK_NS;
	if (slots->opts.retry_ns == 0)
		slots->opts.retry_ns = TABLE_SLOTS_RETRY_NS;
	pthread_mutex_init(&slots->lock, NULL);
	init_condition(&slots->changed);
	init_condition(&slots->idle);

	int r = start(slots);
	if (r < 0)
		return r;
	*ret_slots = take_ptr(slots);
	return 0;
}

static void stop_thread(struct table_slots *slots)
{
	pthread_mutex_lock(&slots->lock);
	slots->is_stopping = true;
	table_slots_wake(slots);
	pthread_mutex_unlock(&slots->lock);
	pthread_join(slots->thread, NULL);
}

void table_slots_stop(struct table_slots *slots)
{
	if (!slots)
		return;
	if (slots->has_thread)
		stop_thread(slots);
	rows_client_free(slots->client);
	table_queue_done(&slots->queue);
	table_store_done(&slots->store);
	slot_map_done(&slots->map);
	pthread_cond_destroy(&slots->idle);
	pthread_cond_destroy(&slots->changed);
	cleanup_closep(&slots->wake_fd);
	pthread_mutex_destroy(&slots->lock);
	free(slots);
}

int table_slots_add(struct table_slots *slots, int *fd, uint64_t owner, uint32_t *ret_slot)
{
	const struct waiting_file file = { .owner = owner, .fd = take_fd(*fd) };
	struct file_key key;
	bool has_key = unwind_memory_find_key(slots->opts.memory, file.fd, &key) == 0;

	pthread_mutex_lock(&slots->lock);
	int r = add_file(slots, &file, ret_slot);
	if (r < 0)
		slots->stats.nr_no_slot++;
	else
		table_slots_wake(slots);
	if (r == 0 && has_key)
		set_key(slots, *ret_slot, &key);
	pthread_mutex_unlock(&slots->lock);
	return r;
}

bool table_slots_is_same(struct table_slots *slots, uint32_t slot, int fd)
{
	struct file_key key;

	if (unwind_memory_find_key(slots->opts.memory, fd, &key) < 0)
		return true;
	pthread_mutex_lock(&slots->lock);
	const struct slot *known = slot_map_has(&slots->map, slot) ? &slots->map.slots[slot] : NULL;
	bool is_same = !known || !known->has_key || memcmp(&known->key, &key, sizeof(key)) == 0;
	pthread_mutex_unlock(&slots->lock);
	return is_same;
}

bool table_slots_has_key(struct table_slots *slots, uint32_t slot, uint64_t time_ns)
{
	pthread_mutex_lock(&slots->lock);
	bool has_key = slot_map_has(&slots->map, slot) && slots->map.slots[slot].has_key &&
		       slots->map.slots[slot].keyed_ns < time_ns;
	pthread_mutex_unlock(&slots->lock);
	return has_key;
}

uint32_t table_slots_without_cfi(const struct table_slots *slots)
{
	return slots->without_cfi;
}

uint32_t table_slots_vdso(const struct table_slots *slots)
{
	return slots->vdso;
}

static void unlink_table(struct table_slots *slots, uint32_t slot)
{
	uint32_t number = slots->map.slots[slot].table;
	uint32_t used = slot_map_get_used(&slots->map, slot);

	table_store_use(&slots->store, number, used, slot_map_clock(&slots->map));
	table_store_get(&slots->store, number)->nr_slots--;
}

static void remove_slot(struct table_slots *slots, uint32_t slot)
{
	if (slots->map.slots[slot].state == SLOT_LOADED)
		unlink_table(slots, slot);
	else if (slots->map.slots[slot].state == SLOT_WAITING)
		table_queue_remove(&slots->queue, slot);
	unset_key(slots, slot);
	slot_map_release(&slots->map, slot);
}

void table_slots_remove(struct table_slots *slots, uint32_t slot)
{
	if (slot == slots->without_cfi || slot == slots->vdso)
		return;
	pthread_mutex_lock(&slots->lock);
	if (slot_map_has(&slots->map, slot))
		remove_slot(slots, slot);
	pthread_cond_broadcast(&slots->idle);
	pthread_mutex_unlock(&slots->lock);
}

/* Whether it is time to ask for the file. It is not asked for again soon: the answer may never
 * come. */
static bool want_evicted(struct table_slots *slots, struct slot *slot)
{
	uint64_t now = clock_mono_ns();

	if (now < slot->retry_ns)
		return false;
	slot->retry_ns = now + slots->opts.retry_ns;
	return true;
}

bool table_slots_want(struct table_slots *slots, uint32_t slot)
{
	bool must_reopen = false;

	pthread_mutex_lock(&slots->lock);
	if (slot_map_has(&slots->map, slot)) {
		struct slot *wanted = &slots->map.slots[slot];

		if (wanted->state == SLOT_WAITING)
			table_queue_want(&slots->queue, slot);
		else if (wanted->state == SLOT_EVICTED && slot != slots->vdso)
			must_reopen = want_evicted(slots, wanted);
	}
	pthread_mutex_unlock(&slots->lock);
	return must_reopen;
}

static void reopen(struct table_slots *slots, const struct waiting_file *file)
{
	if (table_queue_add(&slots->queue, file) < 0) {
		slots->stats.nr_no_slot++;
		close(file->fd);
		return;
	}
	slots->map.slots[file->slot].state = SLOT_WAITING;
	table_slots_wake(slots);
}

void table_slots_reopen(struct table_slots *slots, uint32_t slot, int *fd, uint64_t owner)
{
	const struct waiting_file file = {
		.nr_wanted = 1,
		.owner = owner,
		.slot = slot,
		.fd = take_fd(*fd),
	};

	pthread_mutex_lock(&slots->lock);
	if (slot_map_has(&slots->map, slot) && slots->map.slots[slot].state == SLOT_EVICTED)
		reopen(slots, &file);
	else
		close(file.fd);
	pthread_mutex_unlock(&slots->lock);
}

static bool is_idle(const struct table_slots *slots)
{
	return slots->queue.nr_files == 0 && slots->nr_loading == 0;
}

bool table_slots_wait_idle(struct table_slots *slots, uint64_t deadline_ns)
{
	struct timespec deadline = clock_timespec(deadline_ns);
	int r = 0;

	pthread_mutex_lock(&slots->lock);
	while (!is_idle(slots) && r == 0)
		r = pthread_cond_timedwait(&slots->idle, &slots->lock, &deadline);
	bool has_nothing_to_do = is_idle(slots);
	pthread_mutex_unlock(&slots->lock);
	return has_nothing_to_do;
}

struct table_slots_stats table_slots_get_stats(struct table_slots *slots)
{
	pthread_mutex_lock(&slots->lock);
	struct table_slots_stats stats = slots->stats;
	stats.nr_slots = slots->map.nr_taken;
	stats.nr_waiting = slots->queue.nr_files + slots->nr_loading;
	stats.nr_tables = slots->store.nr_tables;
	stats.nr_bytes = slots->store.nr_bytes;
	stats.nr_rows = slots->store.nr_rows;
	pthread_mutex_unlock(&slots->lock);
	return stats;
}
