/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/symbol_jobs.h"

#include "base/clock.h"
#include "symbol/dwarf/cpu_budget.h"
#include "symbol/worker/symbol_worker.h"

#include <stdlib.h>
#include <string.h>

/* The memory of a worker. The slow worker may use the largest size of a table, and the first of
 * these for libdw if the pool has it. The fast worker may use the second: files that need more are
 * read by the slow one. */
#define WORKER_LINES_BYTES ((size_t)128 << 20)
#define WORKER_FAST_BYTES ((size_t)64 << 20)

/* Jobs that took too long for the fast lane wait here until the slow one is free. A job that finds
 * no place fails. */
#define MAX_PARKED 32

/* The limits of one request in the slow lane. */
struct symbol_limits {
	struct worker_limits table; /* of a fingerprint as well */
	struct worker_limits crc;
	struct worker_limits names;
	struct worker_limits lines;
};

struct symbol_jobs {
	struct file_registry *registry; /* borrowed */
	struct name_store *store; /* borrowed */
	struct worker_lanes *lanes; /* owned */
	struct symbol_limits limits;
	struct cpu_budget lines_budgets[WORKER_NR_LANES]; /* of reading debug information */
	struct symbol_job jobs[WORKER_NR_LANES];
	struct symbol_job parked[MAX_PARKED];
	size_t nr_parked;
};

/* Opening a gigabyte of debug information takes seconds. */
static const struct symbol_limits default_limits = {
	.table = { .timeout_ns = 10 * NSEC_PER_SEC, .cpu_s = 10 },
	.crc = { .timeout_ns = 20 * NSEC_PER_SEC, .cpu_s = 10 },
	.names = { .timeout_ns = 10 * NSEC_PER_SEC, .cpu_s = 2 },
	.lines = { .timeout_ns = 15 * NSEC_PER_SEC, .cpu_s = 15 },
};

static const struct symbol_job no_job = {
	.file = { .opened = { .fd = -EBADF, .root_fd = -EBADF } },
	.debug = { .fd = -EBADF },
};

/* Replaces the job of a lane. Releases nothing. */
static void set_job(struct symbol_job *job, const struct symbol_job *other)
{
	enum worker_lane lane = job->lane;

	*job = *other;
	job->lane = lane;
}

static void abandon_job(struct symbol_job *job)
{
	if (job->table) {
		job->table->is_completing = false;
		job->table->nr_jobs--;
	}
	if (job->kind != JOB_NONE)
		opened_file_close(&job->file.opened);
	cleanup_closep(&job->debug.fd);
	set_job(job, &no_job);
}

void symbol_jobs_free(struct symbol_jobs *jobs)
{
	if (!jobs)
		return;
	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++)
		abandon_job(&jobs->jobs[lane]);
	while (jobs->nr_parked > 0)
		abandon_job(&jobs->parked[--jobs->nr_parked]);
	worker_lanes_free(jobs->lanes);
	free(jobs);
}

int symbol_jobs_new(const struct elf_cache_opts *opts, struct file_registry *registry,
		    struct name_store *store, struct symbol_jobs **ret_jobs)
{
	_cleanup_(symbol_jobs_freep) struct symbol_jobs *jobs = calloc(1, sizeof(*jobs));
	const struct worker_client_opts client = {
		.program = opts->worker_program,
		.command = SYMBOL_WORKER_COMMAND,
		.max_data_bytes = opts->max_bytes + WORKER_LINES_BYTES,
		.max_fast_data_bytes = WORKER_FAST_BYTES,
		.pool = opts->pool,
	};

	if (!jobs)
		return -ENOMEM;
	jobs->registry = registry;
	jobs->store = store;
	jobs->limits = default_limits;
	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++) {
		jobs->jobs[lane].lane = (enum worker_lane)lane;
		set_job(&jobs->jobs[lane], &no_job);
		cpu_budget_init(&jobs->lines_budgets[lane], opts->lines_permille, clock_mono_ns());
	}
	int r = worker_lanes_new(&client, &jobs->lanes);
	if (r < 0)
		return r;
	*ret_jobs = take_ptr(jobs);
	return 0;
}

struct worker_lanes *symbol_jobs_lanes(struct symbol_jobs *jobs)
{
	return jobs->lanes;
}

struct symbol_job *symbol_jobs_get(struct symbol_jobs *jobs, enum worker_lane lane)
{
	return &jobs->jobs[lane];
}

void symbol_job_set_table(struct symbol_job *job, struct name_table *table)
{
	job->table = table;
	table->nr_jobs++;
}

void symbol_jobs_end(struct symbol_jobs *jobs, struct symbol_job *job)
{
	struct name_table *table = job->table;

	abandon_job(job);
	name_store_tidy(jobs->store, table);
}

static bool is_of_file(const struct symbol_job *job)
{
	return job->kind != JOB_NAMES && job->kind != JOB_LINES_KEY && job->kind != JOB_LINES;
}

static struct file_owners owners_of(const struct symbol_jobs *jobs, const struct symbol_job *job)
{
	return job->table ? file_registry_owners(jobs->registry, &job->table->content)
			  : job->file.owners;
}

static const struct worker_limits *limits_of(const struct symbol_jobs *jobs,
					     enum symbol_job_kind kind)
{
	switch (kind) {
	case JOB_CRC:
		return &jobs->limits.crc;
	case JOB_NAMES:
		return &jobs->limits.names;
	case JOB_LINES:
		return &jobs->limits.lines;
	default:
		return &jobs->limits.table;
	}
}

static void set_rank(const struct symbol_jobs *jobs, struct symbol_job *job)
{
	const struct file_owners owners = owners_of(jobs, job);
	uint64_t now_ns = clock_mono_ns();
	enum worker_rank rank = file_owners_rank(&owners, jobs->lanes, now_ns);
	bool is_ranked = job->lane == WORKER_LANE_FAST && is_of_file(job);

	job->is_try = is_ranked && worker_lanes_is_try(jobs->lanes, rank, now_ns);
	job->is_late = is_ranked && rank == WORKER_RANK_LATE;
}

int symbol_jobs_send(struct symbol_jobs *jobs, struct symbol_job *job,
		     const struct worker_request *request, const struct worker_payload *payload)
{
	struct worker_limits limits = *limits_of(jobs, job->kind);

	set_rank(jobs, job);
	if (job->is_try && limits.timeout_ns > WORKER_LANES_TRY_NS)
		limits.timeout_ns = WORKER_LANES_TRY_NS;
	job->cpu_ns = worker_lanes_cpu_ns(jobs->lanes, job->lane);
	return worker_lanes_send(jobs->lanes, job->lane, request, payload, &limits);
}

void symbol_jobs_charge(struct symbol_jobs *jobs, const struct symbol_job *job)
{
	const struct file_owners owners = owners_of(jobs, job);

	if (job->lane == WORKER_LANE_FAST && is_of_file(job))
		file_owners_charge(&owners, jobs->lanes,
				   worker_lanes_took_ns(jobs->lanes, job->lane), clock_mono_ns());
}

void symbol_jobs_punish(struct symbol_jobs *jobs, const struct symbol_job *job)
{
	const struct file_owners owners = owners_of(jobs, job);

	if (job->table)
		job->table->is_slow = true;
	file_owners_punish(&owners, jobs->lanes, clock_mono_ns());
}

void symbol_jobs_distrust(struct symbol_jobs *jobs, const struct symbol_job *job)
{
	worker_lanes_stop(jobs->lanes, job->lane);
	symbol_jobs_punish(jobs, job);
}

/* Returns whether more time or more memory may help. */
static bool may_be_repeated(const struct symbol_jobs *jobs, const struct symbol_job *job, int error)
{
	if (job->lane != WORKER_LANE_FAST)
		return false;
	return error == -ENOMEM ||
	       (error == -ETIMEDOUT &&
		(job->is_try || limits_of(jobs, job->kind)->timeout_ns > WORKER_LANES_FAST_NS));
}

/* Moves a job to the slow lane. Returns false if there is no room. */
static bool park(struct symbol_jobs *jobs, struct symbol_job *job)
{
	if (jobs->nr_parked == MAX_PARKED)
		return false;
	jobs->parked[jobs->nr_parked++] = *job;
	set_job(job, &no_job);
	return true;
}

bool symbol_jobs_resume(struct symbol_jobs *jobs, struct symbol_job *job)
{
	if (job->lane != WORKER_LANE_SLOW || jobs->nr_parked == 0)
		return false;
	set_job(job, &jobs->parked[0]);
	jobs->nr_parked--;
	memmove(jobs->parked, jobs->parked + 1, jobs->nr_parked * sizeof(jobs->parked[0]));
	return true;
}

/* Lets the file of a job wait again, behind those of owners that are not late. Returns
 * false if there is no room. */
static bool try_later(struct symbol_jobs *jobs, struct symbol_job *job)
{
	if (!file_registry_put_back(jobs->registry, &job->file))
		return false;
	set_job(job, &no_job);
	return true;
}

/* Jobs about a table just end, because the table still has its list of
 * requests. Other jobs are moved. */
bool symbol_jobs_repeat(struct symbol_jobs *jobs, struct symbol_job *job, int error)
{
	bool was_too_slow = error == -ETIMEDOUT && !job->is_try;

	if (!may_be_repeated(jobs, job, error))
		return false;
	if (was_too_slow)
		symbol_jobs_punish(jobs, job);
	if (!is_of_file(job)) {
		job->table->is_slow = true;
		symbol_jobs_end(jobs, job);
		return true;
	}
	if (error == -ETIMEDOUT && job->is_try && !job->table)
		return try_later(jobs, job);
	return park(jobs, job);
}

bool symbol_jobs_may_read_lines(struct symbol_jobs *jobs, const struct symbol_job *job)
{
	return cpu_budget_allows(&jobs->lines_budgets[job->lane], clock_mono_ns());
}

void symbol_jobs_charge_lines(struct symbol_jobs *jobs, const struct symbol_job *job)
{
	uint64_t cpu_ns = worker_lanes_cpu_ns(jobs->lanes, job->lane);

	if (cpu_ns > job->cpu_ns)
		cpu_budget_charge(&jobs->lines_budgets[job->lane], cpu_ns - job->cpu_ns);
}

int symbol_jobs_take_symbols(struct symbol_jobs *jobs, const struct symbol_job *job, void *bytes,
			     size_t len, struct elf_symbols **ret_symbols)
{
	int r = elf_symbols_from_block(bytes, len, ret_symbols);

	if (r == -EBADMSG)
		symbol_jobs_distrust(jobs, job);
	return r;
}
