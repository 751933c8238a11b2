/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/symbol_client.h"

#include "base/clock.h"
#include "base/locked.h"
#include "base/random.h"
#include "symbol/debug_downloads.h"
#include "symbol/debug_search.h"
#include "symbol/lines_request.h"
#include "symbol/names_request.h"
#include "symbol/symbol_jobs.h"
#include "symbol/worker/symbol_worker.h"

#include <stdlib.h>

#define PAUSE_NS (10 * NSEC_PER_MSEC)

/* Every nth file is the oldest one instead of the smallest. */
#define OLDEST_EVERY 4

/* Every nth job is about something else than names and files, of which a container may always have
 * new ones. */
#define OTHERS_EVERY 8

struct symbol_client {
	struct file_registry *registry; /* borrowed */
	struct name_store *store; /* borrowed */
	size_t max_bytes;
	bool wants_lines;
	struct symbol_jobs *jobs; /* owned */
	struct debug_downloads *downloads; /* owned */
	struct debug_search search;
	uint64_t seed; /* of fingerprints */
	uint64_t nr_starts; /* of jobs */
	uint64_t nr_loads; /* of files */

	pthread_mutex_t lock;
	struct symbol_client_stats stats; /* without nr_debug_files */
};

void symbol_client_free(struct symbol_client *client)
{
	if (!client)
		return;
	debug_downloads_free(client->downloads);
	symbol_jobs_free(client->jobs);
	pthread_mutex_destroy(&client->lock);
	free(client);
}

int symbol_client_new(const struct elf_cache_opts *opts, struct file_registry *registry,
		      struct name_store *store, struct symbol_client **ret_client)
{
	_cleanup_(symbol_client_freep) struct symbol_client *client = calloc(1, sizeof(*client));

	if (!client)
		return -ENOMEM;
	client->registry = registry;
	client->store = store;
	client->max_bytes = opts->max_bytes;
	client->wants_lines = opts->wants_lines;
	pthread_mutex_init(&client->lock, NULL);
	int r = symbol_jobs_new(opts, registry, store, &client->jobs);
	if (r == 0)
		r = debug_downloads_new(opts->debuginfod, store, &client->downloads);
	if (r == 0 && !line_store_get_seed(name_store_lines(store), &client->seed))
		r = random_bytes(&client->seed, sizeof(client->seed));
	if (r < 0)
		return r;
	client->search = (struct debug_search){
		.files = opts->debug_files,
		.wants_lines = opts->wants_lines,
		.jobs = client->jobs,
		.store = store,
		.downloads = client->downloads,
	};
	*ret_client = take_ptr(client);
	return 0;
}

static void fail_file(struct symbol_client *client, struct symbol_job *job, int error)
{
	file_registry_fail(client->registry, job->file.id, error);
	symbol_jobs_end(client->jobs, job);
}

/* The vDSO keeps its names, because it cannot be opened again. */
static void finish_file(struct symbol_client *client, const struct symbol_job *job,
			struct name_table *table)
{
	file_registry_finish(client->registry, job->file.id, &table->content);
	table->is_kept |= job->file.id == file_registry_vdso(client->registry);
}

/* Handles a file that is a copy of another one. */
static void take_copy(struct symbol_client *client, struct symbol_job *job, struct name_table *copy)
{
	bool wants_files = file_registry_has_dropped(client->registry, &copy->content) &&
			   !copy->is_completing;

	finish_file(client, job, copy);
	if (!wants_files) {
		symbol_jobs_end(client->jobs, job);
		return;
	}
	symbol_job_set_table(job, copy);
	job->is_shared = true;
	debug_search_start(&client->search, job);
}

/* Returns whether the fingerprint of a file broke the worker. Such a file is not read further. */
static bool is_fatal(int error)
{
	return error == -EPIPE || error == -ETIMEDOUT;
}

static void take_print(struct symbol_client *client, struct symbol_job *job, int error,
		       const void *bytes, size_t len)
{
	if (error == 0 && elf_fingerprint_parse(bytes, len, &job->print) < 0) {
		symbol_jobs_distrust(client->jobs, job);
		fail_file(client, job, -EBADMSG);
		return;
	}
	if (is_fatal(error)) {
		fail_file(client, job, error);
		return;
	}
	/* A file whose size has changed since it was opened is not recognized as a copy. */
	job->has_print = error == 0 && job->print.size == job->file.identity.size;
	struct name_table *copy = job->has_print ? name_store_find_copy(client->store, &job->print)
						 : NULL;
	if (copy)
		take_copy(client, job, copy);
	else
		job->kind = JOB_TABLE;
}

static void take_table(struct symbol_client *client, struct symbol_job *job, int error, void *bytes,
		       size_t len)
{
	struct elf_symbols *symbols = NULL;
	struct name_table *table;
	int r = error;

	if (r == 0)
		r = symbol_jobs_take_symbols(client->jobs, job, bytes, len, &symbols);
	if (r == 0)
		r = name_store_add(client->store, symbols, job->has_print ? &job->print : NULL,
				   &table);
	if (r != 0) {
		fail_file(client, job, r);
		return;
	}
	symbol_job_set_table(job, table);
	finish_file(client, job, table);
	debug_search_start(&client->search, job);
}

static void take_answer(struct symbol_client *client, struct symbol_job *job, int error,
			void *bytes, size_t len)
{
	struct place_names *places = name_store_places(client->store);
	_cleanup_free_ void *owned = bytes;

	if (symbol_jobs_repeat(client->jobs, job, error))
		return;
	if (error == -EPIPE) /* the next worker only starts after a while */
		symbol_jobs_punish(client->jobs, job);
	switch (job->kind) {
	case JOB_FINGERPRINT:
		take_print(client, job, error, owned, len);
		break;
	case JOB_TABLE:
		take_table(client, job, error, take_ptr(owned), len);
		break;
	case JOB_CRC:
		debug_search_take_crc(&client->search, job, error, owned, len);
		break;
	case JOB_DEBUG_TABLE:
		debug_search_take_table(&client->search, job, error, take_ptr(owned), len);
		break;
	case JOB_NAMES:
		names_request_take(client->jobs, places, job, error, owned, len);
		symbol_jobs_end(client->jobs, job);
		break;
	case JOB_LINES_KEY:
		lines_request_take_key(client->jobs, client->store, job, error, owned, len);
		symbol_jobs_end(client->jobs, job);
		break;
	case JOB_LINES:
		lines_request_take(client->jobs, client->store, job, error, owned, len);
		symbol_jobs_end(client->jobs, job);
		break;
	case JOB_NONE:
		break;
	}
}

/* Handles the answers that have arrived. */
static void take_answers(struct symbol_client *client)
{
	struct worker_lanes *lanes = symbol_jobs_lanes(client->jobs);

	for (size_t i = 0; i < WORKER_NR_LANES; i++) {
		enum worker_lane lane = (enum worker_lane)i;
		struct symbol_job *job = symbol_jobs_get(client->jobs, lane);
		void *bytes = NULL;
		size_t len = 0;
		int error = 0;

		if (!worker_lanes_take(lanes, lane, &error, &bytes, &len))
			continue;
		symbol_jobs_charge(client->jobs, job);
		take_answer(client, job, error, bytes, len);
	}
}

static bool start_file(struct symbol_client *client, struct symbol_job *job)
{
	bool oldest = ++client->nr_loads % OLDEST_EVERY == 0;

	if (!file_registry_take(client->registry, symbol_jobs_lanes(client->jobs), job->lane,
				oldest, &job->file))
		return false;
	job->kind = JOB_FINGERPRINT;
	return true;
}

/* Starts to read a debug file that was downloaded. */
static bool start_download(struct symbol_client *client, struct symbol_job *job)
{
	struct name_table *table;

	if (job->lane != WORKER_LANE_FAST ||
	    !debug_downloads_next(client->downloads, &table, &job->debug.fd))
		return false;
	symbol_job_set_table(job, table);
	job->debug.is_hosts = true;
	job->is_shared = true;
	job->is_downloaded = true;
	job->table->is_completing = true;
	job->kind = JOB_DEBUG_TABLE;
	return true;
}

static bool start_wanted(struct symbol_client *client, struct symbol_job *job, enum table_want want)
{
	struct name_table *table = name_store_find_wanting(
		client->store, symbol_jobs_lanes(client->jobs), job->lane, want);

	if (!table)
		return false;
	symbol_job_set_table(job, table);
	table->last_served = client->nr_starts;
	job->kind = want == WANTS_NAMES ? JOB_NAMES : JOB_LINES;
	return true;
}

/* Lines wait if the lane has used up its share of CPU time for debug information. */
static bool start_lines(struct symbol_client *client, struct symbol_job *job)
{
	if (!symbol_jobs_may_read_lines(client->jobs, job) ||
	    !start_wanted(client, job, WANTS_LINES))
		return false;
	if (job->table->lines_state == LINES_NEW)
		job->kind = JOB_LINES_KEY;
	return true;
}

static bool start_job(struct symbol_client *client, struct symbol_job *job)
{
	bool is_others_turn = ++client->nr_starts % OTHERS_EVERY == 0;

	if (symbol_jobs_resume(client->jobs, job))
		return true;
	if (is_others_turn &&
	    (start_download(client, job) || start_lines(client, job) || start_file(client, job)))
		return true;
	return start_wanted(client, job, WANTS_NAMES) || start_file(client, job) ||
	       start_download(client, job) || start_lines(client, job);
}

/* Returns the limit of the next table of a file. Its own names and those of its debug file together
 * may take half of the budget. */
static size_t max_table_bytes(const struct symbol_client *client, const struct name_table *table)
{
	size_t max_bytes = client->max_bytes / 2;
	size_t own_bytes = table ? elf_symbols_bytes(table->symbols) : 0;

	return own_bytes < max_bytes ? max_bytes - own_bytes : 0;
}

static int send_plain(struct symbol_client *client, struct symbol_job *job,
		      enum symbol_request_kind kind, int fd, size_t max_bytes)
{
	const struct worker_request request = { .kind = kind, .key = 1, .max_bytes = max_bytes };
	const struct worker_payload payload = { .fds = &fd, .nr_fds = 1 };

	return symbol_jobs_send(client->jobs, job, &request, &payload);
}

static int send_fingerprint(struct symbol_client *client, struct symbol_job *job)
{
	const struct elf_fingerprint_opts opts = {
		.seed = client->seed,
		.max_bytes = client->max_bytes / 2,
		.wants_lines = client->wants_lines,
	};
	const struct worker_request request = {
		.kind = SYMBOL_REQUEST_FINGERPRINT,
		.nr_bytes = sizeof(opts),
		.key = 1,
		.max_bytes = sizeof(job->print),
	};
	const struct worker_payload payload = { &opts, &job->file.opened.fd, 1 };

	return symbol_jobs_send(client->jobs, job, &request, &payload);
}

static int send_job(struct symbol_client *client, struct symbol_job *job)
{
	size_t max_bytes = max_table_bytes(client, job->table);

	switch (job->kind) {
	case JOB_FINGERPRINT:
		return send_fingerprint(client, job);
	case JOB_TABLE:
		return send_plain(client, job, SYMBOL_REQUEST_TABLE, job->file.opened.fd,
				  max_bytes);
	case JOB_CRC:
		return send_plain(client, job, SYMBOL_REQUEST_CRC, job->debug.fd, sizeof(uint32_t));
	case JOB_DEBUG_TABLE:
		return send_plain(client, job, SYMBOL_REQUEST_TABLE, job->debug.fd, max_bytes);
	case JOB_NAMES:
		return names_request_send(client->jobs, name_store_places(client->store), job);
	case JOB_LINES_KEY:
		return lines_request_send_key(client->jobs, job, client->seed);
	case JOB_LINES:
		return lines_request_send(client->jobs, client->store, job);
	case JOB_NONE:
		break;
	}
	return 0;
}

/* If a job cannot be sent now, it stays the present one. If it can never be sent, it fails here. */
static void start_lane(struct symbol_client *client, enum worker_lane lane)
{
	struct symbol_job *job = symbol_jobs_get(client->jobs, lane);

	while (!worker_lanes_is_busy(symbol_jobs_lanes(client->jobs), lane)) {
		if (job->kind == JOB_NONE && !start_job(client, job))
			return;
		int r = send_job(client, job);
		if (r == -EAGAIN)
			return;
		if (r < 0)
			take_answer(client, job, r, NULL, 0);
	}
}

/* The progress of the workers. */
enum progress {
	PROGRESS_DONE, /* there is nothing to do */
	PROGRESS_STUCK, /* no worker is busy, and one cannot be started yet */
	PROGRESS_AT_WORK,
	PROGRESS_HALF_STUCK, /* one worker is busy, the other cannot be started yet */
};

static enum progress get_progress(const struct symbol_client *client)
{
	size_t nr_jobs = 0, nr_busy = 0;

	for (size_t i = 0; i < WORKER_NR_LANES; i++) {
		enum worker_lane lane = (enum worker_lane)i;

		nr_jobs += symbol_jobs_get(client->jobs, lane)->kind != JOB_NONE;
		nr_busy += worker_lanes_is_busy(symbol_jobs_lanes(client->jobs), lane);
	}
	if (nr_jobs == 0)
		return PROGRESS_DONE;
	if (nr_busy == 0)
		return PROGRESS_STUCK;
	return nr_busy == nr_jobs ? PROGRESS_AT_WORK : PROGRESS_HALF_STUCK;
}

/* Does one step of the work. The fast lane comes first, as it may pass jobs to the slow one.
 * Returns 1 if all is done, 0 if not, -EAGAIN if the next step must wait for a debug file, or until
 * a new worker may be started. */
static int step(struct symbol_client *client, uint64_t until_ns)
{
	uint64_t soon_ns = clock_mono_ns() + PAUSE_NS;

	start_lane(client, WORKER_LANE_FAST);
	start_lane(client, WORKER_LANE_SLOW);
	switch (get_progress(client)) {
	case PROGRESS_DONE:
		return debug_downloads_are_awaited(client->downloads) ? -EAGAIN : 1;
	case PROGRESS_STUCK:
		return -EAGAIN;
	case PROGRESS_HALF_STUCK:
		until_ns = soon_ns < until_ns ? soon_ns : until_ns;
		break;
	case PROGRESS_AT_WORK:
		break;
	}
	worker_lanes_wait(symbol_jobs_lanes(client->jobs), -1, until_ns);
	take_answers(client);
	return 0;
}

/* Keeps the budget, even if nothing is read, and copies statistics of other modules. */
static void tidy(struct symbol_client *client)
{
	struct worker_lanes *lanes = symbol_jobs_lanes(client->jobs);
	struct worker_stats worker = worker_lanes_get_stats(lanes);
	struct debuginfod_stats debuginfod = debug_downloads_get_stats(client->downloads);

	name_store_save_settled(client->store);
	name_store_tidy(client->store, NULL);
	worker_lanes_tidy(lanes, clock_mono_ns());

	LOCKED(&client->lock);
	client->stats.worker = worker;
	client->stats.debuginfod = debuginfod;
}

bool symbol_client_wait(struct symbol_client *client, uint64_t until_ns)
{
	int r;

	tidy(client);
	while ((r = step(client, until_ns)) < 1) {
		uint64_t now_ns = clock_mono_ns();
		struct timespec wake = clock_timespec(now_ns + PAUSE_NS);

		if (now_ns >= until_ns)
			return false;
		if (r == -EAGAIN)
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
	}
	return true;
}

bool symbol_client_awaits(const struct symbol_client *client, const struct name_table *table)
{
	return table->is_completing || debug_downloads_are_awaited_by(client->downloads, table);
}

bool symbol_client_is_slow_only(const struct symbol_client *client)
{
	const struct symbol_job *fast = symbol_jobs_get(client->jobs, WORKER_LANE_FAST);
	const struct symbol_job *slow = symbol_jobs_get(client->jobs, WORKER_LANE_SLOW);
	bool is_fast_busy = fast->kind != JOB_NONE;

	return (!is_fast_busy || fast->is_try || fast->is_late) &&
	       (is_fast_busy || slow->kind != JOB_NONE);
}

struct symbol_client_stats symbol_client_get_stats(struct symbol_client *client)
{
	LOCKED(&client->lock);
	struct symbol_client_stats stats = client->stats;

	stats.nr_debug_files = debug_search_nr_found(&client->search);
	return stats;
}
