/* SPDX-License-Identifier: Apache-2.0 */
/* Which lane (worker/worker_lanes.h) does a job, what it may take there, and what becomes of it when it takes more:
 *
 *	fast lane, a try		a file that nothing was read of waits again, behind others; all else is for the slow
 *					lane
 *	fast lane, its whole time	the slow lane, and the owners are punished
 *	slow lane			it has failed
 *
 * Names and lines are no files that somebody waits behind: they are not charged, and have no tries. */
#include "symbol/elf_cache_parts.h"

#include "base/clock.h"

static bool is_of_file(const struct elf_job *job)
{
	return job->kind != JOB_NAMES && job->kind != JOB_LINES_KEY && job->kind != JOB_LINES;
}

static const struct file_owners *owners_of(const struct elf_job *job)
{
	return job->table ? &job->table->owners : &job->file.owners;
}

static const struct worker_limits *limits_of(const struct elf_cache *cache, enum elf_job_kind kind)
{
	switch (kind) {
	case JOB_CRC:
		return &cache->limits.crc;
	case JOB_NAMES:
		return &cache->limits.names;
	case JOB_LINES:
		return &cache->limits.lines;
	default:
		return &cache->limits.table;
	}
}

static void set_rank(struct elf_cache *cache, struct elf_job *job)
{
	uint64_t now_ns = clock_mono_ns();
	LOCKED(cache);
	enum worker_rank rank = file_owners_rank(owners_of(job), cache->lanes, now_ns);
	bool is_ranked = job->lane == WORKER_LANE_FAST && is_of_file(job);

	job->is_try = is_ranked && worker_lanes_is_try(cache->lanes, rank, now_ns);
	job->is_late = is_ranked && rank == WORKER_RANK_LATE;
}

int elf_loader_send(struct elf_cache *cache, struct elf_job *job,
		    const struct worker_request *request, const void *bytes, const int *fds,
		    size_t nr_fds)
{
	const struct worker_payload payload = { bytes, fds, nr_fds };
	struct worker_limits limits = *limits_of(cache, job->kind);

	set_rank(cache, job);
	if (job->is_try && limits.timeout_ns > WORKER_LANES_TRY_NS)
		limits.timeout_ns = WORKER_LANES_TRY_NS;
	return worker_lanes_send(cache->lanes, job->lane, request, &payload, &limits);
}

void elf_loader_charge(struct elf_cache *cache, const struct elf_job *job)
{
	LOCKED(cache);

	if (job->lane == WORKER_LANE_FAST && is_of_file(job))
		file_owners_charge(owners_of(job), cache->lanes,
				   worker_lanes_took_ns(cache->lanes, job->lane), clock_mono_ns());
}

void elf_loader_punish(struct elf_cache *cache, const struct elf_job *job)
{
	LOCKED(cache);

	if (job->table)
		job->table->is_slow = true;
	file_owners_punish(owners_of(job), cache->lanes, clock_mono_ns());
}

void elf_loader_distrust(struct elf_cache *cache, const struct elf_job *job)
{
	worker_lanes_stop(cache->lanes, job->lane);
	elf_loader_punish(cache, job);
}

/* Whether more time, or more memory, would help. */
static bool may_be_repeated(const struct elf_cache *cache, const struct elf_job *job, int error)
{
	if (job->lane != WORKER_LANE_FAST)
		return false;
	return error == -ENOMEM ||
	       (error == -ETIMEDOUT &&
		(job->is_try || limits_of(cache, job->kind)->timeout_ns > WORKER_LANES_FAST_NS));
}

/* Hands a job to the slow lane. False when there is no room. */
static bool park(struct elf_cache *cache, struct elf_job *job)
{
	if (cache->nr_parked == ELF_CACHE_MAX_PARKED)
		return false;
	cache->parked[cache->nr_parked++] = *job;
	elf_loader_set_job(job, &elf_loader_no_job);
	return true;
}

/* Its file waits, behind those of owners that are not late. False when there is no room. */
static bool try_later(struct elf_cache *cache, struct elf_job *job)
{
	if (!elf_cache_put_back(cache, &job->file))
		return false;
	elf_loader_set_job(job, &elf_loader_no_job);
	return true;
}

/* What is wanted of tables stays wanted, other jobs are put aside. */
bool elf_loader_repeat(struct elf_cache *cache, struct elf_job *job, int error)
{
	bool was_too_slow = error == -ETIMEDOUT && !job->is_try;

	if (!may_be_repeated(cache, job, error))
		return false;
	if (was_too_slow)
		elf_loader_punish(cache, job);
	if (!is_of_file(job)) {
		job->table->is_slow = true;
		elf_loader_end_job(cache, job);
		return true;
	}
	if (error == -ETIMEDOUT && job->is_try && !job->table)
		return try_later(cache, job);
	return park(cache, job);
}
