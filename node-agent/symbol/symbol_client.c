/* SPDX-License-Identifier: Apache-2.0 */
/* What the workers are asked, each one thing after the other:
 *
 *	file that waits ─▶ FINGERPRINT ─▶ TABLE ─▶ is there a debug file? ─▶ CRC ─▶ DEBUG_TABLE ─▶ done
 *	                       └▶ a copy of one that is known ─┘       └▶ (by build id) ──┘
 *	debug file from debuginfod ─────────────────────────────────────────▶ DEBUG_TABLE ─▶ done
 *	table with names to demangle ─▶ NAMES
 *	table with wanted addresses ─▶ LINES_KEY, once a file; then what is on disk ─▶ LINES
 *
 * Names come first, as they take microseconds; and files mostly come before lines, so that a file whose debug information
 * is slow to read costs others their lines for a while, but not their names. What takes too long for the fast lane
 * (worker/worker_lanes.h), or too much memory, is done again in the slow one (symbol_jobs.c). */
#include "symbol/elf_cache_parts.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

/* One file in so many is the oldest one instead of the smallest. */
#define OLDEST_EVERY 4

/* One job in so many is something else, even if names or files wait: a container may always have new ones. */
#define OTHERS_EVERY 8

/* Opening a gigabyte of debug information takes seconds. */
static const struct elf_limits limits = {
	.table = { .timeout_ns = 10 * NSEC_PER_SEC, .cpu_s = 10 },
	.crc = { .timeout_ns = 20 * NSEC_PER_SEC, .cpu_s = 10 },
	.names = { .timeout_ns = 10 * NSEC_PER_SEC, .cpu_s = 2 },
	.lines = { .timeout_ns = 15 * NSEC_PER_SEC, .cpu_s = 15 },
};

const struct elf_job elf_loader_no_job = {
	.file = { .fd = -EBADF, .root_fd = -EBADF },
	.debug = { .fd = -EBADF },
};

void elf_loader_set_job(struct elf_job *job, const struct elf_job *other)
{
	enum worker_lane lane = job->lane;

	*job = *other;
	job->lane = lane;
}

void elf_loader_init(struct elf_cache *cache)
{
	cache->limits = limits;
	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++) {
		cache->jobs[lane].lane = (enum worker_lane)lane;
		elf_loader_set_job(&cache->jobs[lane], &elf_loader_no_job);
		lines_pace_init(&cache->paces[lane], cache->opts.lines_permille, clock_mono_ns());
	}
}

static void abandon_job(struct elf_job *job)
{
	if (job->table)
		job->table->is_completing = false;
	if (job->kind != JOB_NONE)
		known_file_release(&job->file);
	cleanup_closep(&job->debug.fd);
	elf_loader_set_job(job, &elf_loader_no_job);
}

void elf_loader_abandon(struct elf_cache *cache)
{
	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++)
		abandon_job(&cache->jobs[lane]);
	while (cache->nr_parked > 0)
		abandon_job(&cache->parked[--cache->nr_parked]);
}

void elf_loader_end_job(struct elf_cache *cache, struct elf_job *job)
{
	struct name_table *table = job->table;

	abandon_job(job);
	name_store_tidy(cache, table);
}

bool elf_loader_uses(const struct elf_cache *cache, const struct name_table *table)
{
	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++)
		if (cache->jobs[lane].table == table)
			return true;
	for (size_t i = 0; i < cache->nr_parked; i++)
		if (cache->parked[i].table == table)
			return true;
	return false;
}

static void fail_file(struct elf_cache *cache, struct elf_job *job, int error)
{
	elf_cache_finish_file(cache, job->file.id, NULL, error);
	elf_loader_end_job(cache, job);
}

/* A file that is a copy of another one. */
static void take_copy(struct elf_cache *cache, struct elf_job *job, struct name_table *copy)
{
	bool wants_files = copy->wants_files && !copy->is_completing;

	elf_cache_finish_file(cache, job->file.id, copy, 0);
	if (!wants_files) {
		elf_loader_end_job(cache, job);
		return;
	}
	job->table = copy;
	job->is_shared = true;
	elf_loader_complete(cache, job);
}

/* A file that broke the worker while its fingerprint was taken is not read further. */
static bool is_fatal(int error)
{
	return error == -EPIPE || error == -ETIMEDOUT;
}

static void take_print(struct elf_cache *cache, struct elf_job *job, int error, const void *bytes,
		       size_t len)
{
	if (error == 0 && elf_fingerprint_parse(bytes, len, &job->print) < 0) {
		elf_loader_distrust(cache, job);
		fail_file(cache, job, -EBADMSG);
		return;
	}
	if (is_fatal(error)) {
		fail_file(cache, job, error);
		return;
	}
	/* A file that has grown since it was opened is like no other. */
	job->has_print = error == 0 && job->print.size == job->file.identity.size;
	struct name_table *copy = job->has_print ? name_store_find_copy(cache, &job->print) : NULL;
	if (copy)
		take_copy(cache, job, copy);
	else
		job->kind = JOB_TABLE;
}

int elf_loader_take_symbols(struct elf_cache *cache, const struct elf_job *job, void *bytes,
			    size_t len, struct elf_symbols **ret_symbols)
{
	int r = elf_symbols_from_block(bytes, len, ret_symbols);

	if (r == -EBADMSG)
		elf_loader_distrust(cache, job);
	return r;
}

static void take_table(struct elf_cache *cache, struct elf_job *job, int error, void *bytes,
		       size_t len)
{
	struct elf_symbols *symbols = NULL;
	int r = error;

	if (r == 0)
		r = elf_loader_take_symbols(cache, job, bytes, len, &symbols);
	if (r == 0)
		r = name_store_add(cache, symbols, job->has_print ? &job->print : NULL,
				   &job->table);
	if (r < 0) {
		fail_file(cache, job, r);
		return;
	}
	elf_cache_finish_file(cache, job->file.id, job->table, 0);
	elf_loader_complete(cache, job);
}

static void take_answer(struct elf_cache *cache, struct elf_job *job, int error, void *bytes,
			size_t len)
{
	_cleanup_free_ void *owned = bytes;

	if (elf_loader_repeat(cache, job, error))
		return;
	if (error == -EPIPE) /* the next worker starts after a while only */
		elf_loader_punish(cache, job);
	switch (job->kind) {
	case JOB_FINGERPRINT:
		take_print(cache, job, error, owned, len);
		break;
	case JOB_TABLE:
		take_table(cache, job, error, take_ptr(owned), len);
		break;
	case JOB_CRC:
		elf_loader_take_crc(cache, job, error, owned, len);
		break;
	case JOB_DEBUG_TABLE:
		elf_loader_take_debug_table(cache, job, error, take_ptr(owned), len);
		break;
	case JOB_NAMES:
		elf_names_take(cache, job, error, owned, len);
		elf_loader_end_job(cache, job);
		break;
	case JOB_LINES_KEY:
		elf_loader_take_lines_key(cache, job, error, owned, len);
		elf_loader_end_job(cache, job);
		break;
	case JOB_LINES:
		elf_loader_take_lines(cache, job, error, owned, len);
		elf_loader_end_job(cache, job);
		break;
	case JOB_NONE:
		break;
	}
}

void elf_loader_take_answers(struct elf_cache *cache)
{
	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++) {
		void *bytes = NULL;
		size_t len = 0;
		int error = 0;

		if (!worker_lanes_take(cache->lanes, (enum worker_lane)lane, &error, &bytes, &len))
			continue;
		elf_loader_charge(cache, &cache->jobs[lane]);
		take_answer(cache, &cache->jobs[lane], error, bytes, len);
	}
}

static bool start_file(struct elf_cache *cache, struct elf_job *job)
{
	bool oldest = ++cache->nr_loads % OLDEST_EVERY == 0;

	if (!elf_cache_take_waiting(cache, job->lane, oldest, &job->file))
		return false;
	job->kind = JOB_FINGERPRINT;
	return true;
}

/* A debug file that was downloaded. */
static bool start_download(struct elf_cache *cache, struct elf_job *job)
{
	if (job->lane != WORKER_LANE_FAST ||
	    !elf_downloads_next(cache, &job->table, &job->debug.fd))
		return false;
	job->debug.is_hosts = true;
	job->is_shared = true;
	job->is_downloaded = true;
	job->table->is_completing = true;
	job->kind = JOB_DEBUG_TABLE;
	return true;
}

static bool start_wanted(struct elf_cache *cache, struct elf_job *job, enum elf_job_kind kind)
{
	job->table = name_store_find_wanting(cache, job->lane, kind);
	if (!job->table)
		return false;
	job->table->last_served = cache->nr_starts;
	job->kind = kind;
	return true;
}

/* Reading debug information waits when it has had its share of CPU time. */
static bool start_lines(struct elf_cache *cache, struct elf_job *job)
{
	if (!lines_pace_allows(&cache->paces[job->lane], clock_mono_ns()) ||
	    !start_wanted(cache, job, JOB_LINES))
		return false;
	if (job->table->lines_state == LINES_NEW)
		job->kind = JOB_LINES_KEY;
	return true;
}

static bool start_parked(struct elf_cache *cache, struct elf_job *job)
{
	if (job->lane != WORKER_LANE_SLOW || cache->nr_parked == 0)
		return false;
	elf_loader_set_job(job, &cache->parked[0]);
	cache->nr_parked--;
	memmove(cache->parked, cache->parked + 1, cache->nr_parked * sizeof(cache->parked[0]));
	return true;
}

static bool start_job(struct elf_cache *cache, struct elf_job *job)
{
	bool is_others_turn = ++cache->nr_starts % OTHERS_EVERY == 0;

	if (start_parked(cache, job))
		return true;
	if (is_others_turn &&
	    (start_download(cache, job) || start_lines(cache, job) || start_file(cache, job)))
		return true;
	return start_wanted(cache, job, JOB_NAMES) || start_file(cache, job) ||
	       start_download(cache, job) || start_lines(cache, job);
}

/* Of a table: own names and those of the debug file together have half of the budget. */
static size_t max_table_bytes(const struct elf_cache *cache, const struct name_table *table)
{
	size_t max_bytes = cache->opts.max_bytes / 2;
	size_t own_bytes = table ? elf_symbols_bytes(table->symbols) : 0;

	return own_bytes < max_bytes ? max_bytes - own_bytes : 0;
}

static int send_plain(struct elf_cache *cache, struct elf_job *job, enum symbol_request_kind kind,
		      int fd, size_t max_bytes)
{
	const struct worker_request request = { .kind = kind, .key = 1, .max_bytes = max_bytes };

	return elf_loader_send(cache, job, &request, NULL, &fd, 1);
}

static int send_fingerprint(struct elf_cache *cache, struct elf_job *job)
{
	const struct elf_fingerprint_opts opts = {
		.seed = cache->seed,
		.max_bytes = cache->opts.max_bytes / 2,
		.wants_lines = cache->opts.wants_lines,
	};
	const struct worker_request request = {
		.kind = SYMBOL_REQUEST_FINGERPRINT,
		.nr_bytes = sizeof(opts),
		.key = 1,
		.max_bytes = sizeof(job->print),
	};

	return elf_loader_send(cache, job, &request, &opts, &job->file.fd, 1);
}

static int send_job(struct elf_cache *cache, struct elf_job *job)
{
	size_t max_bytes = max_table_bytes(cache, job->table);

	switch (job->kind) {
	case JOB_FINGERPRINT:
		return send_fingerprint(cache, job);
	case JOB_TABLE:
		return send_plain(cache, job, SYMBOL_REQUEST_TABLE, job->file.fd, max_bytes);
	case JOB_CRC:
		return send_plain(cache, job, SYMBOL_REQUEST_CRC, job->debug.fd, sizeof(uint32_t));
	case JOB_DEBUG_TABLE:
		return send_plain(cache, job, SYMBOL_REQUEST_TABLE, job->debug.fd, max_bytes);
	case JOB_NAMES:
		return elf_names_send(cache, job);
	case JOB_LINES_KEY:
		return elf_loader_send_lines_key(cache, job);
	case JOB_LINES:
		return elf_loader_send_lines(cache, job);
	case JOB_NONE:
		break;
	}
	return 0;
}

/* A job that cannot be sent now stays the present one; one that never can is answered here. */
static void start_lane(struct elf_cache *cache, struct elf_job *job)
{
	while (!worker_lanes_is_busy(cache->lanes, job->lane)) {
		if (job->kind == JOB_NONE && !start_job(cache, job))
			return;
		int r = send_job(cache, job);
		if (r == -EAGAIN)
			return;
		if (r < 0)
			take_answer(cache, job, r, NULL, 0);
	}
}

/* What the fast lane cannot do may be for the slow one. */
void elf_loader_start_next(struct elf_cache *cache)
{
	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++)
		start_lane(cache, &cache->jobs[lane]);
}

enum elf_progress elf_loader_progress(const struct elf_cache *cache)
{
	size_t nr_jobs = 0, nr_busy = 0;

	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++) {
		nr_jobs += cache->jobs[lane].kind != JOB_NONE;
		nr_busy += worker_lanes_is_busy(cache->lanes, (enum worker_lane)lane);
	}
	if (nr_jobs == 0)
		return PROGRESS_DONE;
	if (nr_busy == 0)
		return PROGRESS_STUCK;
	return nr_busy == nr_jobs ? PROGRESS_AT_WORK : PROGRESS_HALF_STUCK;
}
