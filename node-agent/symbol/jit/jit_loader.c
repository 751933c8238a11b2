/* SPDX-License-Identifier: Apache-2.0 */
/* What a worker is asked for, one file after the other in each lane:
 *
 *	refresh		whose files may have grown ─▶ the next of them that this lane is to read ─▶ request
 *	answer		functions are added, as long as there is memory for them
 *			worker dead, or nonsense: the process is left alone for a while
 *			too late in the fast lane: again, in the slow lane
 *
 * Each refresh begins behind the one that was read last. */
#include "symbol/jit/jit_cache_parts.h"

#include "base/clock.h"
#include "base/log.h"

#include <inttypes.h>
#include <stdlib.h>

/* How long until a worker that could not be started is tried again. */
#define START_PAUSE_NS (10 * NSEC_PER_MSEC)

/* Between windows memory is counted so often. */
#define COUNT_NS NSEC_PER_SEC

/* Counts what reading met with, and what it keeps. */
static void collect_counts(struct jit_cache *cache, struct jit_process *process)
{
	LOCKED(cache);

	process->nr_bytes = 0;
	process->nr_functions = 0;
	for (size_t kind = 0; kind < JIT_SOURCE_KINDS; kind++) {
		struct jit_source *source = &process->sources[kind];

		cache->stats.nr_bad_lines += source->nr_bad;
		cache->stats.nr_dropped += source->nr_dropped;
		cache->stats.nr_refused += source->nr_too_large;
		source->nr_bad = 0;
		source->nr_dropped = 0;
		source->nr_too_large = 0;
		process->nr_bytes += jit_source_bytes(source);
		process->nr_functions += jit_source_count(source);
	}
}

static struct jit_process *find_least_used(const struct jit_cache *cache)
{
	struct jit_process *least = NULL;

	for (size_t i = 0; i < cache->nr_listed; i++) {
		struct jit_process *process = cache->listed[i];

		if (process->nr_functions > 0 && (!least || process->used_ns < least->used_ns))
			least = process;
	}
	return least;
}

static uint64_t count_bytes(const struct jit_cache *cache)
{
	uint64_t nr_bytes = 0;

	for (size_t i = 0; i < cache->nr_listed; i++)
		nr_bytes += cache->listed[i]->nr_bytes;
	return nr_bytes;
}

/* Leaves a process alone for a while. */
static void block(struct jit_cache *cache, struct jit_process *process)
{
	process->blocked_until_ns = cache->now_ns + JIT_RETRY_NS;
	process->has_more = false;
}

/* Drops the functions of those sampled least recently until the rest is within the limit. A few bytes of a file can take
 * a hundred of memory, so this is done after each answer. */
static void evict(struct jit_cache *cache)
{
	uint64_t nr_bytes = count_bytes(cache);

	while (nr_bytes > cache->opts.max_bytes) {
		struct jit_process *process = find_least_used(cache);

		if (!process)
			break;
		for (size_t kind = 0; kind < JIT_SOURCE_KINDS; kind++)
			jit_source_drop(&process->sources[kind]);
		block(cache, process);
		nr_bytes -= process->nr_bytes;
		collect_counts(cache, process);

		LOCKED(cache);
		cache->stats.nr_evicted++;
	}
}

/* What a process has written is its cgroup's to answer for, even if the process is gone; NULL then. */
static void punish(struct jit_cache *cache, uint64_t cgroup_id, struct jit_process *process)
{
	uint64_t now_ns = clock_mono_ns();

	if (process)
		process->slow_until_ns = now_ns + WORKER_LANES_PENALTY_NS;
	worker_lanes_punish(cache->lanes, cgroup_id, now_ns);
}

/* No answer came of it, or none that can be believed. What is known of the process goes on answering; what a worker has
 * kept of the place in the file may be what it stumbles over. */
static void fail(struct jit_cache *cache, struct jit_process *process, size_t kind, int error)
{
	log_debug_errno(error, "the list of functions of process %" PRIu32 " cannot be read",
			process->pid);
	jit_source_restart(&process->sources[kind]);
	punish(cache, process->cgroup_id, process);
	block(cache, process);

	LOCKED(cache);
	cache->stats.nr_failures++;
}

/* What is there of an unfinished function is read by the next refresh: it would be the same again now. */
static void take_functions(struct jit_cache *cache, enum worker_lane lane,
			   struct jit_process *process, const void *bytes, size_t len)
{
	const struct jit_job *job = &cache->jobs[lane];
	struct jit_source *source = &process->sources[job->kind];
	size_t *nr_to_read = &process->nr_to_read[job->kind];

	int r = jit_source_take(source, &job->request, bytes, len, cache->opts.max_bytes / 2);
	if (r == -EBADMSG) {
		worker_lanes_stop(cache->lanes, lane);
		fail(cache, process, job->kind, r);
		return;
	}
	source->nr_dropped += r < 0;
	bool is_read = r < 0 || !source->has_more || *nr_to_read < source->nr_read;
	*nr_to_read = is_read ? 0 : *nr_to_read - source->nr_read;
	cache->nr_to_read -= cache->nr_to_read < source->nr_read ? cache->nr_to_read
								 : source->nr_read;
}

/* Whose answer it is; NULL when it has gone, or its file is another one now. */
static struct jit_process *find_asker(struct jit_cache *cache, const struct jit_job *job)
{
	LOCKED(cache);
	struct jit_process *process = jit_processes_get(&cache->processes, job->id);

	if (!process)
		return NULL;
	process->is_asked[job->kind] = false;
	return process->sources[job->kind].nr_starts == job->nr_starts ? process : NULL;
}

static void take_answer(struct jit_cache *cache, enum worker_lane lane, int error,
			const void *bytes, size_t len)
{
	const struct jit_job *job = &cache->jobs[lane];
	struct jit_process *process = find_asker(cache, job);
	uint64_t took_ns = worker_lanes_took_ns(cache->lanes, lane);

	if (lane == WORKER_LANE_FAST)
		worker_lanes_charge(cache->lanes, job->cgroup_id, took_ns, clock_mono_ns());
	if (error < 0 && !(error == -ETIMEDOUT && job->is_try))
		punish(cache, job->cgroup_id, process);
	if (!process)
		return;
	if (error == 0)
		take_functions(cache, lane, process, bytes, len);
	else if (error != -ETIMEDOUT || lane == WORKER_LANE_SLOW)
		fail(cache, process, job->kind, error);
	collect_counts(cache, process);
	evict(cache);
}

static void take_answers(struct jit_cache *cache)
{
	for (unsigned int lane = 0; lane < WORKER_NR_LANES; lane++) {
		_cleanup_free_ void *bytes = NULL;
		size_t len;
		int error;

		if (worker_lanes_take(cache->lanes, (enum worker_lane)lane, &error, &bytes, &len))
			take_answer(cache, (enum worker_lane)lane, error, bytes, len);
	}
}

static enum worker_rank rank_of(const struct jit_cache *cache, const struct jit_process *process)
{
	return worker_lanes_rank(cache->lanes, process->cgroup_id, clock_mono_ns());
}

static void set_rank(const struct jit_cache *cache, enum worker_lane lane,
		     const struct jit_process *process, struct jit_job *job)
{
	enum worker_rank rank = rank_of(cache, process);

	job->is_try = lane == WORKER_LANE_FAST &&
		      worker_lanes_is_try(cache->lanes, rank, clock_mono_ns());
	job->is_late = lane == WORKER_LANE_FAST && rank == WORKER_RANK_LATE;
}

static int send_request(struct jit_cache *cache, enum worker_lane lane, struct jit_process *process,
			size_t kind)
{
	static const struct worker_request head = {
		.kind = JIT_REQUEST_READ,
		.nr_bytes = sizeof(struct jit_request),
		.max_bytes = JIT_ANSWER_MAX_BYTES,
	};
	const struct jit_source *source = &process->sources[kind];
	struct jit_job *job = &cache->jobs[lane];

	set_rank(cache, lane, process, job);
	job->id = process->id;
	job->cgroup_id = process->cgroup_id;
	job->kind = kind;
	job->nr_starts = source->nr_starts;
	job->request.is_java = process->writes_java;
	const struct worker_payload payload = { &job->request, &source->fd, 1 };
	const struct worker_limits limits = {
		.timeout_ns = job->is_try ? WORKER_LANES_TRY_NS : JIT_READ_NS,
		.cpu_s = JIT_READ_CPU_S,
	};

	int r = worker_lanes_send(cache->lanes, lane, &head, &payload, &limits);
	if (r == 0)
		process->is_asked[kind] = true;
	return r;
}

static size_t get_max_read(const struct jit_cache *cache, const struct jit_process *process,
			   size_t kind)
{
	size_t max_read = process->nr_to_read[kind];

	if (max_read > cache->nr_to_read)
		max_read = cache->nr_to_read;
	return max_read < JIT_REQUEST_MAX_BYTES ? max_read : JIT_REQUEST_MAX_BYTES;
}

/* Asks for what a file has gained. Returns 1 if that is on its way, 0 if there is nothing to be read of it now. Errors: as
 * worker_lanes_send(). */
static int ask_for(struct jit_cache *cache, enum worker_lane lane, struct jit_process *process,
		   size_t kind)
{
	size_t max_read = get_max_read(cache, process, kind);

	if (process->is_asked[kind] || max_read == 0 ||
	    !jit_source_ask(&process->sources[kind], max_read, &cache->jobs[lane].request))
		return 0;
	int r = send_request(cache, lane, process, kind);
	if (r == 0)
		return 1;
	if (r != -EAGAIN)
		fail(cache, process, kind, r);
	return r;
}

/* The same for all its files; when there is nothing to be read, what is left for the next refresh is known. */
static int ask_for_process(struct jit_cache *cache, enum worker_lane lane,
			   struct jit_process *process)
{
	bool has_more = false;

	for (size_t kind = 0; kind < JIT_SOURCE_KINDS; kind++) {
		int r = ask_for(cache, lane, process, kind);

		if (r != 0)
			return r;
		has_more = has_more || process->sources[kind].has_more || process->is_asked[kind];
	}
	process->has_more = has_more;
	return 0;
}

static bool is_for_lane(const struct jit_cache *cache, enum worker_lane lane,
			const struct jit_process *process, uint64_t now_ns)
{
	bool is_slow = now_ns < process->slow_until_ns ||
		       worker_lanes_choose(cache->lanes, process->cgroup_id, now_ns) ==
			       WORKER_LANE_SLOW;

	return process->has_more && cache->now_ns >= process->blocked_until_ns &&
	       is_slow == (lane == WORKER_LANE_SLOW);
}

/* Those whose owner is late are passed by the first time. */
static bool is_turn_of(const struct jit_cache *cache, enum worker_lane lane,
		       const struct jit_process *process)
{
	bool is_late = lane == WORKER_LANE_FAST && rank_of(cache, process) == WORKER_RANK_LATE;

	return !is_late || cache->nr_passed[lane] >= cache->nr_listed;
}

/* Gives a lane that is free its next request. Returns false when the worker cannot be started yet. */
static bool start_next(struct jit_cache *cache, enum worker_lane lane)
{
	size_t *nr_passed = &cache->nr_passed[lane];
	uint64_t now_ns = clock_mono_ns();

	if (worker_lanes_is_busy(cache->lanes, lane))
		return true;
	for (; *nr_passed < 2 * cache->nr_listed && cache->nr_to_read > 0; ++*nr_passed) {
		size_t place = (cache->first_listed + *nr_passed) % cache->nr_listed;
		struct jit_process *process = cache->listed[place];
		int r = 0;

		if (is_for_lane(cache, lane, process, now_ns) && is_turn_of(cache, lane, process))
			r = ask_for_process(cache, lane, process);
		if (r == 1)
			cache->next_listed = place + 1;
		if (r == 1 || r == -EAGAIN)
			return r == 1;
	}
	return true;
}

/* Who may be asked for, and for how much. */
static void begin_reading(struct jit_cache *cache)
{
	cache->nr_to_read = JIT_REFRESH_MAX_BYTES;
	cache->first_listed = cache->next_listed;
	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++)
		cache->nr_passed[lane] = 0;
	for (size_t i = 0; i < cache->nr_listed; i++) {
		struct jit_process *process = cache->listed[i];

		process->has_more = cache->now_ns >= process->blocked_until_ns &&
				    (process->has_more || process->was_used);
		for (size_t kind = 0; kind < JIT_SOURCE_KINDS; kind++)
			process->nr_to_read[kind] = JIT_REFRESH_FILE_BYTES;
	}
}

/* Whether the fast lane has something that is waited for. */
static bool is_awaited(const struct jit_cache *cache)
{
	return worker_lanes_is_busy(cache->lanes, WORKER_LANE_FAST) &&
	       !cache->jobs[WORKER_LANE_FAST].is_late;
}

/* Has files read until there is nothing left to do for the fast lane, but for what comes last there. That, and the slow lane,
 * is not waited for. */
static void read_listed(struct jit_cache *cache, uint64_t until_ns)
{
	for (;;) {
		bool is_started = start_next(cache, WORKER_LANE_FAST);
		uint64_t now_ns = clock_mono_ns();
		uint64_t wake_ns = is_started ? until_ns : now_ns + START_PAUSE_NS;

		(void)start_next(cache, WORKER_LANE_SLOW);
		if (now_ns >= until_ns || (is_started && !is_awaited(cache)))
			return;
		worker_lanes_wait(cache->lanes, -1, wake_ns < until_ns ? wake_ns : until_ns);
		take_answers(cache);
	}
}

static void count_memory(struct jit_cache *cache)
{
	struct worker_stats worker = worker_lanes_get_stats(cache->lanes);
	uint64_t nr_functions = 0;

	for (size_t i = 0; i < cache->nr_listed; i++)
		nr_functions += cache->listed[i]->nr_functions;
	cache->counted_ns = clock_mono_ns();

	LOCKED(cache);
	cache->stats.nr_bytes = count_bytes(cache);
	cache->stats.nr_functions = nr_functions;
	cache->stats.worker = worker;
}

void jit_cache_refresh(struct jit_cache *cache, uint64_t now_ns, uint64_t until_ns)
{
	cache->now_ns = now_ns;
	take_answers(cache);
	struct jit_process *over = jit_cache_list(cache, now_ns);

	while (over) {
		struct jit_process *process = over;

		over = process->next_over;
		jit_process_free(process);
	}
	begin_reading(cache);
	read_listed(cache, until_ns);
	worker_lanes_tidy(cache->lanes, clock_mono_ns());
	count_memory(cache);
}

static bool is_busy(const struct jit_cache *cache)
{
	return worker_lanes_is_busy(cache->lanes, WORKER_LANE_FAST) ||
	       worker_lanes_is_busy(cache->lanes, WORKER_LANE_SLOW);
}

bool jit_cache_work(struct jit_cache *cache)
{
	bool was_busy = is_busy(cache);
	uint64_t now_ns = clock_mono_ns();

	take_answers(cache);
	worker_lanes_tidy(cache->lanes, now_ns);
	if ((was_busy && !is_busy(cache)) || now_ns - cache->counted_ns >= COUNT_NS)
		count_memory(cache);
	return is_busy(cache);
}
