/* SPDX-License-Identifier: Apache-2.0 */
/* Workers read a file in two steps: first for the key of its table; then for the table, unless the
 * arena or the cache has one with this key. The thread waits for all worker lanes at once, and each
 * lane has a file of its own.
 *
 * While a file is read, its slot may be removed and even become another file's; then the slot's
 * claim (slot_map.h) is void. */
#include "unwind/tables/table_thread.h"

#include "base/capabilities.h"
#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define CHORES_NS NSEC_PER_SEC
#define HEARTBEAT_MAX_NS (60 * NSEC_PER_SEC)

/* A file that is being read. */
struct job {
	struct waiting_file file; /* its fd is owned */
	struct elf_rows_key key; /* set when the worker has reported it */
};

struct table_thread {
	struct table_slots *slots; /* borrowed */
	struct row_cache *cache; /* borrowed; NULL: none */
	struct rows_client *client; /* owned */
	pthread_t pthread;
	bool is_running;
	bool is_stopping; /* atomic */
	struct job jobs[WORKER_NR_LANES];
	uint64_t next_chores_ns;
};

/* Gives the slot the table whose key has come, if it is in the arena or the cache. Errors: -ENOENT
 * it is in neither; those of table_slots_load(). */
static int find_table(struct table_thread *thread, const struct job *job)
{
	_cleanup_(row_table_bytes_done) struct row_table_bytes table = { 0 };

	if (table_slots_share(thread->slots, job->file.claim, &job->key))
		return 0;
	if (!thread->cache || row_cache_get(thread->cache, &job->key, &table) < 0)
		return -ENOENT;
	return table_slots_load(thread->slots, job->file.claim, &job->key, &table);
}

static int keep_table(struct table_thread *thread, const struct job *job,
		      const struct rows_result *result)
{
	table_slots_count_built(thread->slots, &result->losses);
	if (thread->cache)
		row_cache_put(thread->cache, &job->key, &result->table);
	return table_slots_load(thread->slots, job->file.claim, &job->key, &result->table);
}

static void end_job(struct table_thread *thread, const struct job *job,
		    const struct rows_result *result, int r)
{
	struct waiting_file file = job->file;

	file.is_slow = result->is_for_slow_lane;
	if ((result->is_for_slow_lane || result->is_for_later) &&
	    table_slots_retry(thread->slots, &file))
		return;
	table_slots_end(thread->slots, &job->file, r);
}

/* Takes the next step with a lane's file. */
static void handle_result(struct table_thread *thread, enum worker_lane lane,
			  const struct rows_result *result)
{
	struct job *job = &thread->jobs[lane];
	int r = result->error;

	if (r == 0 && !result->has_table) {
		job->key = result->key;
		r = find_table(thread, job);
		if (r == -ENOENT) {
			rows_client_build(thread->client, lane);
			return;
		}
	} else if (r == 0) {
		r = keep_table(thread, job, result);
	}
	rows_client_end(thread->client, lane);
	end_job(thread, job, result, r);
}

static void count_work(struct table_thread *thread, uint64_t cpu_ns)
{
	struct worker_stats worker = rows_client_get_stats(thread->client);

	table_slots_count_work(thread->slots, cpu_ns, &worker);
}

static void look_at_lanes(struct table_thread *thread)
{
	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++) {
		struct rows_result result;

		if (!rows_client_is_busy(thread->client, lane) ||
		    !rows_client_take(thread->client, lane, &result))
			continue;
		handle_result(thread, lane, &result);
		row_table_bytes_done(&result.table);
	}
}

/* Waits for workers and for new files, and does what is next with the files that are read. */
static void do_jobs(struct table_thread *thread)
{
	int wake_fd = table_slots_wake_fd(thread->slots);
	uint64_t start_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	eventfd_t nr_wakes;

	rows_client_wait(thread->client, wake_fd, thread->next_chores_ns);
	(void)eventfd_read(wake_fd, &nr_wakes);
	look_at_lanes(thread);
	count_work(thread, clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns);
}

static enum worker_lane choose_lane(struct table_thread *thread, const struct waiting_file *file)
{
	return file->is_slow ? WORKER_LANE_SLOW : rows_client_choose(thread->client, file->owner);
}

/* Ranks files as the fast lane does; negative while the file's lane is busy. */
static int rank_file(const struct waiting_file *file, void *data)
{
	struct table_thread *thread = data;
	enum worker_lane lane = choose_lane(thread, file);

	if (rows_client_is_busy(thread->client, lane))
		return -1;
	return lane == WORKER_LANE_FAST ? (int)rows_client_rank(thread->client, file->owner) : 0;
}

/* Begins to read the next file. Returns false if there is none, or no lane for it. */
static bool begin_job(struct table_thread *thread)
{
	struct waiting_file file;

	if (rows_client_is_busy(thread->client, WORKER_LANE_FAST) &&
	    rows_client_is_busy(thread->client, WORKER_LANE_SLOW))
		return false;
	if (!table_slots_next(thread->slots, rank_file, thread, &file))
		return false;
	enum worker_lane lane = choose_lane(thread, &file);
	thread->jobs[lane] = (struct job){ .file = file };
	rows_client_begin(thread->client, lane, file.fd, file.owner);
	return true;
}

static void do_chores(struct table_thread *thread, uint64_t now)
{
	rows_client_tidy(thread->client);
	count_work(thread, 0);
	table_slots_tidy(thread->slots, now);
	thread->next_chores_ns = now + CHORES_NS;
}

static void give_up_jobs(struct table_thread *thread)
{
	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++) {
		if (!rows_client_is_busy(thread->client, lane))
			continue;
		rows_client_end(thread->client, lane);
		close(thread->jobs[lane].file.fd);
	}
}

static void *run(void *data)
{
	struct table_thread *thread = data;

	heartbeat_begin("unwind", HEARTBEAT_MAX_NS);
	while (!__atomic_load_n(&thread->is_stopping, __ATOMIC_ACQUIRE)) {
		heartbeat_beat();
		uint64_t now = clock_mono_ns();

		if (now >= thread->next_chores_ns)
			do_chores(thread, now);
		else if (!begin_job(thread))
			do_jobs(thread);
	}
	give_up_jobs(thread);
	return NULL;
}

int table_thread_start(const struct table_thread_opts *opts, struct table_thread **ret_thread)
{
	_cleanup_(table_thread_stopp) struct table_thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return -ENOMEM;
	thread->slots = opts->slots;
	thread->cache = opts->cache;
	int r = rows_client_new(&opts->client, &thread->client);
	if (r < 0)
		return r;
	r = thread_start("unwind", opts->capabilities | CAPABILITY(DAC_READ_SEARCH), run, thread,
			 &thread->pthread);
	if (r < 0)
		return r;
	thread->is_running = true;
	*ret_thread = take_ptr(thread);
	return 0;
}

void table_thread_stop(struct table_thread *thread)
{
	if (!thread)
		return;
	if (thread->is_running) {
		__atomic_store_n(&thread->is_stopping, true, __ATOMIC_RELEASE);
		(void)eventfd_write(table_slots_wake_fd(thread->slots), 1);
		pthread_join(thread->pthread, NULL);
	}
	rows_client_free(thread->client);
	free(thread);
}
