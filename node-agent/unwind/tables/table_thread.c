/* SPDX-License-Identifier: Apache-2.0 */
/* The thread "unwind": takes files out of the queue, has workers tell what their tables depend
 * on, gets these from the arena, the cache or the worker, and sets the slots. In between it
 * turns the clock and gives back what was freed. It reads no file itself, and waits for no
 * worker: each lane has a file.
 *
 * While a file is read, the slot may be removed and even become another file's: its generation
 * tells. */
#include "unwind/tables/table_state.h"

#include "base/clock.h"
#include "base/heartbeat.h"

#include <sys/eventfd.h>
#include <unistd.h>

#define CHORES_NS NSEC_PER_SEC
#define HEARTBEAT_MAX_NS (60 * NSEC_PER_SEC)

static void count_built(struct table_slots *slots, const struct unwind_losses *losses)
{
	pthread_mutex_lock(&slots->lock);
	slots->stats.nr_built++;
	slots->stats.nr_bad_entries += losses->nr_bad_entries;
	slots->stats.nr_unsupported_rules += losses->nr_unsupported_rules;
	pthread_mutex_unlock(&slots->lock);
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

/* Whether the table whose key has come is there already, in the arena or in the cache. */
static int find_table(struct table_slots *slots, const struct table_job *job, uint32_t *ret_number)
{
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };

	if (find_stored(slots, &job->key, ret_number))
		return 0;
	if (!slots->opts.cache || row_cache_get(slots->opts.cache, &job->key, &table) < 0)
		return -ENOENT;
	return table_job_store(slots, job, &table, ret_number);
}

/* Errors: -EAGAIN no room. */
static int keep_table(struct table_slots *slots, const struct table_job *job,
		      const struct rows_result *result, uint32_t *ret_number)
{
	count_built(slots, &result->losses);
	if (slots->opts.cache)
		row_cache_put(slots->opts.cache, &job->key, &result->table);
	return table_job_store(slots, job, &result->table, ret_number);
}

static void set_loaded(struct table_slots *slots, const struct table_job *job, uint32_t number)
{
	struct stored_table *table = table_store_get(&slots->store, number);
	struct slot *slot = &slots->map.slots[job->file.slot];

	slot->state = SLOT_LOADED;
	slot->table = number;
	table->nr_slots++;
	slot_map_set_unit(&slots->map, job->file.slot, table->unit);
}

static void set_without_cfi(struct table_slots *slots, const struct table_job *job,
			    uint64_t *counter)
{
	slots->map.slots[job->file.slot].state = SLOT_WITHOUT_CFI;
	slot_map_set_unit(&slots->map, job->file.slot, TABLE_WITHOUT_CFI);
	(*counter)++;
}

/* A file that no sample needed yet has not been tried in vain: it is asked for as soon as one
 * does. */
static void set_refused(struct table_slots *slots, const struct table_job *job)
{
	table_slots_set_evicted(slots, job->file.slot);
	if (slot_map_get_used(&slots->map, job->file.slot) == 0)
		slots->map.slots[job->file.slot].retry_ns = 0;
	slots->stats.nr_refused++;
}

static void set_result(struct table_slots *slots, const struct table_job *job, int r,
		       uint32_t number)
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
		table_slots_set_evicted(slots, job->file.slot);
		slots->stats.nr_failures++;
		break;
	}
}

/* Whether it is worth another try, and is in the queue for that. */
static bool is_read_again(struct table_slots *slots, const struct table_job *job,
			  const struct rows_result *result)
{
	struct waiting_file file = job->file;

	if (!result->is_for_slow_lane && !result->is_for_later)
		return false;
	file.is_slow = result->is_for_slow_lane;
	if (!table_job_find_slot(slots, job) || table_queue_add(&slots->queue, &file) < 0)
		return false;
	slots->map.slots[file.slot].state = SLOT_WAITING;
	slots->stats.nr_again += file.is_slow;
	return true;
}

/* The caller holds the lock. */
static void end_job(struct table_slots *slots, struct table_job *job, int r, uint32_t number)
{
	if (table_job_find_slot(slots, job))
		set_result(slots, job, r, number);
	close(job->file.fd);
	*job = (struct table_job){ .file.fd = -EBADF };
	slots->nr_loading--;
}

/* What has come of a lane's file: does what is next. The caller does not hold the lock. */
static void handle_result(struct table_slots *slots, enum worker_lane lane,
			  struct rows_result *result)
{
	struct table_job *job = &slots->jobs[lane];
	uint32_t number = 0;
	int r = result->error;

	if (r == 0 && !result->has_table) {
		job->key = result->key;
		r = find_table(slots, job, &number);
		if (r == -ENOENT) {
			rows_client_build(slots->client, lane);
			return;
		}
	} else if (r == 0) {
		r = keep_table(slots, job, result, &number);
	}
	rows_client_end(slots->client, lane);
	pthread_mutex_lock(&slots->lock);
	if (is_read_again(slots, job, result)) {
		*job = (struct table_job){ .file.fd = -EBADF };
		slots->nr_loading--;
	} else {
		end_job(slots, job, r, number);
	}
	pthread_cond_broadcast(&slots->idle);
	pthread_mutex_unlock(&slots->lock);
}

static void look_at_lanes(struct table_slots *slots)
{
	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++) {
		struct rows_result result;

		if (!rows_client_is_busy(slots->client, lane) ||
		    !rows_client_take(slots->client, lane, &result))
			continue;
		handle_result(slots, lane, &result);
		row_table_bytes_done(&result.table);
	}
}

/* The caller holds the lock, which is released while workers are waited for. */
static void do_jobs(struct table_slots *slots)
{
	uint64_t until = slots->next_chores_ns;
	eventfd_t nr_wakes;

	pthread_mutex_unlock(&slots->lock);
	uint64_t start_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	rows_client_wait(slots->client, slots->wake_fd, until);
	(void)eventfd_read(slots->wake_fd, &nr_wakes);
	look_at_lanes(slots);
	uint64_t end_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	pthread_mutex_lock(&slots->lock);
	slots->stats.build_ns += end_ns - start_ns;
}

static enum worker_lane choose_lane(struct table_slots *slots, const struct waiting_file *file)
{
	return file->is_slow ? WORKER_LANE_SLOW : rows_client_choose(slots->client, file->owner);
}

/* In the order of the fast lane; negative while the file's lane is busy. */
static int rank_file(const struct waiting_file *file, void *data)
{
	struct table_slots *slots = data;
	enum worker_lane lane = choose_lane(slots, file);

	if (rows_client_is_busy(slots->client, lane))
		return -1;
	return lane == WORKER_LANE_FAST ? (int)rows_client_rank(slots->client, file->owner) : 0;
}

/* The caller holds the lock. Returns whether there was one to begin. */
static bool begin_job(struct table_slots *slots)
{
	struct waiting_file file;

	if (slots->nr_loading == WORKER_NR_LANES ||
	    !table_queue_next(&slots->queue, rank_file, slots, &file))
		return false;
	struct slot *slot = &slots->map.slots[file.slot];
	enum worker_lane lane = choose_lane(slots, &file);

	slot->state = SLOT_LOADING;
	slots->jobs[lane] = (struct table_job){ .file = file, .generation = slot->generation };
	slots->nr_loading++;
	pthread_mutex_unlock(&slots->lock);
	rows_client_begin(slots->client, lane, file.fd, file.owner);
	pthread_mutex_lock(&slots->lock);
	return true;
}

static void advance_clock(struct table_slots *slots, uint64_t now)
{
	uint32_t clock = slot_map_clock(&slots->map) + 1;

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
	rows_client_tidy(slots->client);
	struct worker_stats worker = rows_client_get_stats(slots->client);
	if (has_limbo)
		is_over = unwind_arena_wait(slots->opts.arena) == 0;
	else
		unwind_arena_reclaim(slots->opts.arena);
	pthread_mutex_lock(&slots->lock);
	slots->stats.worker = worker;
	slot_map_end_reclaim(&slots->map, is_over);
	slots->next_chores_ns = now + CHORES_NS;
}

static void wait_for_work(struct table_slots *slots)
{
	struct timespec until = clock_timespec(slots->next_chores_ns);

	pthread_cond_timedwait(&slots->changed, &slots->lock, &until);
}

static void give_up_jobs(struct table_slots *slots)
{
	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++) {
		if (!rows_client_is_busy(slots->client, lane))
			continue;
		rows_client_end(slots->client, lane);
		close(slots->jobs[lane].file.fd);
	}
}

void *table_thread_run(void *data)
{
	struct table_slots *slots = data;

	heartbeat_begin("unwind", HEARTBEAT_MAX_NS);
	pthread_mutex_lock(&slots->lock);
	while (!slots->is_stopping) {
		heartbeat_beat();
		uint64_t now = clock_mono_ns();

		if (now >= slots->next_chores_ns)
			do_chores(slots, now);
		else if (begin_job(slots))
			continue;
		else if (slots->nr_loading > 0)
			do_jobs(slots);
		else
			wait_for_work(slots);
	}
	pthread_mutex_unlock(&slots->lock);
	give_up_jobs(slots);
	return NULL;
}
