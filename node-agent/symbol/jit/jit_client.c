/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/jit/jit_client.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/locked.h"
#include "base/log.h"
#include "symbol/jit/jit_process_index.h"
#include "worker/worker_lanes.h"

#include <inttypes.h>
#include <stdlib.h>

/* Pause after a worker could not be started. */
#define START_PAUSE_NS (10 * NSEC_PER_MSEC)

/* Interval of counting memory between windows. */
#define COUNT_NS NSEC_PER_SEC

/* A request to a worker. */
struct jit_job {
	uint32_t id; /* of the process, which may be gone when the answer arrives */
	uint64_t cgroup_id; /* of the process */
	size_t kind; /* of the source */
	uint64_t nr_starts; /* of the source, at the time of the request */
	bool is_try; /* with a short time limit (worker/worker_lanes.h) */
	bool is_late; /* its owner has the lowest rank */
	struct jit_request request;
};

struct jit_client {
	struct jit_registry *registry; /* borrowed */
	size_t max_bytes;
	struct worker_lanes *lanes; /* owned */
	struct jit_job jobs[WORKER_NR_LANES]; /* by lane; valid while it is busy */
	struct jit_process *listed[JIT_PROCESS_INDEX_MAX]; /* borrowed; by the last refresh */
	size_t nr_listed;
	size_t first_listed; /* where this refresh began */
	size_t next_listed; /* after the process that was read last */
	/* By lane: processes considered from first_listed on. The list is passed twice. */
	size_t nr_passed[WORKER_NR_LANES];
	uint64_t nr_to_read; /* bytes left for this refresh */
	uint64_t now_ns; /* time of the last refresh */
	uint64_t counted_ns; /* time when memory was counted last (CLOCK_MONOTONIC) */

	pthread_mutex_t lock;
	struct jit_stats stats;
};

int jit_client_new(struct jit_registry *registry, size_t max_bytes, const char *worker_program,
		   struct jit_client **ret_client)
{
	const struct worker_client_opts worker = {
		.program = worker_program,
		.command = JIT_WORKER_COMMAND,
		.max_data_bytes = JIT_WORKER_MAX_DATA_BYTES,
	};
	_cleanup_free_ struct jit_client *client = calloc(1, sizeof(*client));

	if (!client)
		return -ENOMEM;
	int r = worker_lanes_new(&worker, &client->lanes);
	if (r < 0)
		return r;
	client->registry = registry;
	client->max_bytes = max_bytes;
	pthread_mutex_init(&client->lock, NULL);
	*ret_client = take_ptr(client);
	return 0;
}

void jit_client_free(struct jit_client *client)
{
	if (!client)
		return;
	worker_lanes_free(client->lanes);
	pthread_mutex_destroy(&client->lock);
	free(client);
}

/* Adds the counters of a process's sources, and updates its memory and functions. */
static void collect_counts(struct jit_client *client, struct jit_process *process)
{
	LOCKED(&client->lock);

	process->nr_bytes = 0;
	process->nr_functions = 0;
	for (size_t kind = 0; kind < JIT_SOURCE_KINDS; kind++) {
		struct jit_source *source = &process->sources[kind];

		client->stats.nr_bad_lines += source->nr_bad;
		client->stats.nr_dropped += source->nr_dropped;
		client->stats.nr_refused += source->nr_too_large;
		source->nr_bad = 0;
		source->nr_dropped = 0;
		source->nr_too_large = 0;
		process->nr_bytes += jit_source_bytes(source);
		process->nr_functions += jit_source_count(source);
	}
}

static struct jit_process *find_least_used(const struct jit_client *client)
{
	struct jit_process *least = NULL;

	for (size_t i = 0; i < client->nr_listed; i++) {
		struct jit_process *process = client->listed[i];

		if (process->nr_functions > 0 && (!least || process->used_ns < least->used_ns))
			least = process;
	}
	return least;
}

static uint64_t count_bytes(const struct jit_client *client)
{
	uint64_t nr_bytes = 0;

	for (size_t i = 0; i < client->nr_listed; i++)
		nr_bytes += client->listed[i]->nr_bytes;
	return nr_bytes;
}

/* Skips a process for a while. */
static void block(struct jit_client *client, struct jit_process *process)
{
	process->blocked_until_ns = client->now_ns + JIT_RETRY_NS;
	process->has_more = false;
}

/* Drops the functions of the processes sampled least recently, until the rest is within the limit.
 * A few bytes of a file can take a hundred bytes of memory, so this is done after each answer. */
static void evict(struct jit_client *client)
{
	uint64_t nr_bytes = count_bytes(client);

	while (nr_bytes > client->max_bytes) {
		struct jit_process *process = find_least_used(client);

		if (!process)
			break;
		for (size_t kind = 0; kind < JIT_SOURCE_KINDS; kind++)
			jit_source_drop(&process->sources[kind]);
		block(client, process);
		nr_bytes -= process->nr_bytes;
		collect_counts(client, process);

		LOCKED(&client->lock);
		client->stats.nr_evicted++;
	}
}

/* Penalizes the cgroup, and the process if it still exists (else NULL). */
static void punish(struct jit_client *client, uint64_t cgroup_id, struct jit_process *process)
{
	uint64_t now_ns = clock_mono_ns();

	if (process)
		process->slow_until_ns = now_ns + WORKER_LANES_PENALTY_NS;
	worker_lanes_punish(client->lanes, cgroup_id, now_ns);
}

/* Handles a missing or invalid answer. The functions known so far stay in use. The file is read
 * from its start again, because the stored position in it may be the cause. */
static void fail(struct jit_client *client, struct jit_process *process, size_t kind, int error)
{
	log_debug_errno(error, "the list of functions of process %" PRIu32 " cannot be read",
			process->pid);
	jit_source_restart(&process->sources[kind]);
	punish(client, process->cgroup_id, process);
	block(client, process);

	LOCKED(&client->lock);
	client->stats.nr_failures++;
}

/* An incomplete function at the end of the file is left for the next refresh: reading it again now
 * would not help. */
static void take_functions(struct jit_client *client, enum worker_lane lane,
			   struct jit_process *process, const void *bytes, size_t len)
{
	const struct jit_job *job = &client->jobs[lane];
	struct jit_source *source = &process->sources[job->kind];
	size_t *nr_to_read = &process->nr_to_read[job->kind];

	int r = jit_source_take(source, &job->request, bytes, len, client->max_bytes / 2);
	if (r == -EBADMSG) {
		worker_lanes_stop(client->lanes, lane);
		fail(client, process, job->kind, r);
		return;
	}
	source->nr_dropped += r < 0;
	bool is_read = r < 0 || !source->has_more || *nr_to_read < source->nr_read;
	*nr_to_read = is_read ? 0 : *nr_to_read - source->nr_read;
	client->nr_to_read -= client->nr_to_read < source->nr_read ? client->nr_to_read
								   : source->nr_read;
}

/* Returns the process that an answer belongs to, or NULL if it is gone or its file has changed. */
static struct jit_process *find_asker(const struct jit_client *client, const struct jit_job *job)
{
	struct jit_process *process = jit_registry_find(client->registry, job->id);

	if (!process)
		return NULL;
	process->is_asked[job->kind] = false;
	return process->sources[job->kind].nr_starts == job->nr_starts ? process : NULL;
}

static void take_answer(struct jit_client *client, enum worker_lane lane, int error,
			const void *bytes, size_t len)
{
	const struct jit_job *job = &client->jobs[lane];
	struct jit_process *process = find_asker(client, job);
	uint64_t took_ns = worker_lanes_took_ns(client->lanes, lane);

	if (lane == WORKER_LANE_FAST)
		worker_lanes_charge(client->lanes, job->cgroup_id, took_ns, clock_mono_ns());
	if (error < 0 && !(error == -ETIMEDOUT && job->is_try))
		punish(client, job->cgroup_id, process);
	if (!process)
		return;
	if (error == 0)
		take_functions(client, lane, process, bytes, len);
	else if (error != -ETIMEDOUT || lane == WORKER_LANE_SLOW)
		fail(client, process, job->kind, error);
	collect_counts(client, process);
	evict(client);
}

static void take_answers(struct jit_client *client)
{
	for (unsigned int lane = 0; lane < WORKER_NR_LANES; lane++) {
		_cleanup_free_ void *bytes = NULL;
		size_t len;
		int error;

		if (worker_lanes_take(client->lanes, (enum worker_lane)lane, &error, &bytes, &len))
			take_answer(client, (enum worker_lane)lane, error, bytes, len);
	}
}

static enum worker_rank rank_of(const struct jit_client *client, const struct jit_process *process)
{
	return worker_lanes_rank(client->lanes, process->cgroup_id, clock_mono_ns());
}

static void set_rank(const struct jit_client *client, enum worker_lane lane,
		     const struct jit_process *process, struct jit_job *job)
{
	enum worker_rank rank = rank_of(client, process);

	job->is_try = lane == WORKER_LANE_FAST &&
		      worker_lanes_is_try(client->lanes, rank, clock_mono_ns());
	job->is_late = lane == WORKER_LANE_FAST && rank == WORKER_RANK_LATE;
}

static int send_request(struct jit_client *client, enum worker_lane lane,
			struct jit_process *process, size_t kind)
{
	static const struct worker_request head = {
		.kind = JIT_REQUEST_READ,
		.nr_bytes = sizeof(struct jit_request),
		.max_bytes = JIT_ANSWER_MAX_BYTES,
	};
	const struct jit_source *source = &process->sources[kind];
	struct jit_job *job = &client->jobs[lane];

	set_rank(client, lane, process, job);
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

	int r = worker_lanes_send(client->lanes, lane, &head, &payload, &limits);
	if (r == 0)
		process->is_asked[kind] = true;
	return r;
}

static size_t get_max_read(const struct jit_client *client, const struct jit_process *process,
			   size_t kind)
{
	size_t max_read = process->nr_to_read[kind];

	if (max_read > client->nr_to_read)
		max_read = client->nr_to_read;
	return max_read < JIT_REQUEST_MAX_BYTES ? max_read : JIT_REQUEST_MAX_BYTES;
}

/* Requests what was added to a file. Returns 1 if the request was sent, 0 if there is nothing to
 * read now. Errors: as worker_lanes_send(). */
static int ask_for(struct jit_client *client, enum worker_lane lane, struct jit_process *process,
		   size_t kind)
{
	size_t max_read = get_max_read(client, process, kind);

	if (process->is_asked[kind] || max_read == 0 ||
	    !jit_source_ask(&process->sources[kind], max_read, &client->jobs[lane].request))
		return 0;
	int r = send_request(client, lane, process, kind);
	if (r == 0)
		return 1;
	if (r != -EAGAIN)
		fail(client, process, kind, r);
	return r;
}

/* Does the same for the files of a process, up to the first request. If there is nothing to read
 * now, updates whether something is left for the next refresh. */
static int ask_for_process(struct jit_client *client, enum worker_lane lane,
			   struct jit_process *process)
{
	bool has_more = false;

	for (size_t kind = 0; kind < JIT_SOURCE_KINDS; kind++) {
		int r = ask_for(client, lane, process, kind);

		if (r != 0)
			return r;
		has_more = has_more || process->sources[kind].has_more || process->is_asked[kind];
	}
	process->has_more = has_more;
	return 0;
}

static bool is_for_lane(const struct jit_client *client, enum worker_lane lane,
			const struct jit_process *process, uint64_t now_ns)
{
	bool is_slow = now_ns < process->slow_until_ns ||
		       worker_lanes_choose(client->lanes, process->cgroup_id, now_ns) ==
			       WORKER_LANE_SLOW;

	return process->has_more && client->now_ns >= process->blocked_until_ns &&
	       is_slow == (lane == WORKER_LANE_SLOW);
}

/* In the fast lane, processes with a late owner are skipped in the first pass over the list. */
static bool is_turn_of(const struct jit_client *client, enum worker_lane lane,
		       const struct jit_process *process)
{
	return lane != WORKER_LANE_FAST || client->nr_passed[lane] >= client->nr_listed ||
	       rank_of(client, process) != WORKER_RANK_LATE;
}

/* Sends the next request in a lane that is free. Returns false if the worker cannot be started
 * yet. */
static bool start_next(struct jit_client *client, enum worker_lane lane)
{
	size_t *nr_passed = &client->nr_passed[lane];
	uint64_t now_ns = clock_mono_ns();

	if (worker_lanes_is_busy(client->lanes, lane))
		return true;
	for (; *nr_passed < 2 * client->nr_listed && client->nr_to_read > 0; ++*nr_passed) {
		size_t place = (client->first_listed + *nr_passed) % client->nr_listed;
		struct jit_process *process = client->listed[place];
		int r = 0;

		if (is_for_lane(client, lane, process, now_ns) && is_turn_of(client, lane, process))
			r = ask_for_process(client, lane, process);
		if (r == 1)
			client->next_listed = place + 1;
		if (r == 1 || r == -EAGAIN)
			return r == 1;
	}
	return true;
}

/* Sets which processes this refresh may read, and how much. */
static void begin_reading(struct jit_client *client)
{
	client->nr_to_read = JIT_REFRESH_MAX_BYTES;
	client->first_listed = client->next_listed;
	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++)
		client->nr_passed[lane] = 0;
	for (size_t i = 0; i < client->nr_listed; i++) {
		struct jit_process *process = client->listed[i];

		process->has_more = client->now_ns >= process->blocked_until_ns &&
				    (process->has_more || process->was_used);
		for (size_t kind = 0; kind < JIT_SOURCE_KINDS; kind++)
			process->nr_to_read[kind] = JIT_REFRESH_FILE_BYTES;
	}
}

/* Returns whether the refresh has to wait for a request in the fast lane. */
static bool is_awaited(const struct jit_client *client)
{
	return worker_lanes_is_busy(client->lanes, WORKER_LANE_FAST) &&
	       !client->jobs[WORKER_LANE_FAST].is_late;
}

/* Makes workers read files until the fast lane has nothing left to do. Does not wait for requests
 * of late owners, nor for the slow lane. */
static void read_listed(struct jit_client *client, uint64_t until_ns)
{
	for (;;) {
		bool is_started = start_next(client, WORKER_LANE_FAST);
		uint64_t now_ns = clock_mono_ns();
		uint64_t wake_ns = is_started ? until_ns : now_ns + START_PAUSE_NS;

		(void)start_next(client, WORKER_LANE_SLOW);
		if (now_ns >= until_ns || (is_started && !is_awaited(client)))
			return;
		worker_lanes_wait(client->lanes, -1, wake_ns < until_ns ? wake_ns : until_ns);
		take_answers(client);
	}
}

static void count_memory(struct jit_client *client)
{
	struct worker_stats worker = worker_lanes_get_stats(client->lanes);
	uint64_t nr_functions = 0;

	for (size_t i = 0; i < client->nr_listed; i++)
		nr_functions += client->listed[i]->nr_functions;
	client->counted_ns = clock_mono_ns();

	LOCKED(&client->lock);
	client->stats.nr_bytes = count_bytes(client);
	client->stats.nr_functions = nr_functions;
	client->stats.worker = worker;
}

void jit_client_refresh(struct jit_client *client, uint64_t now_ns, uint64_t until_ns)
{
	client->now_ns = now_ns;
	take_answers(client);
	client->nr_listed = jit_registry_list(client->registry, now_ns, client->listed);
	begin_reading(client);
	read_listed(client, until_ns);
	worker_lanes_tidy(client->lanes, clock_mono_ns());
	count_memory(client);
}

static bool is_busy(const struct jit_client *client)
{
	return worker_lanes_is_busy(client->lanes, WORKER_LANE_FAST) ||
	       worker_lanes_is_busy(client->lanes, WORKER_LANE_SLOW);
}

bool jit_client_work(struct jit_client *client)
{
	bool was_busy = is_busy(client);
	uint64_t now_ns = clock_mono_ns();

	take_answers(client);
	worker_lanes_tidy(client->lanes, now_ns);
	if ((was_busy && !is_busy(client)) || now_ns - client->counted_ns >= COUNT_NS)
		count_memory(client);
	return is_busy(client);
}

struct jit_stats jit_client_get_stats(struct jit_client *client)
{
	LOCKED(&client->lock);

	return client->stats;
}
