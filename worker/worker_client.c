/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/worker_client.h"

#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/minmax.h"
#include "worker/worker_channel.h"
#include "worker/worker_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#define END_WAIT_NS NSEC_PER_SEC /* for a killed worker, at the end */
/* for a worker that closed its socket, to learn why it ended */
#define BURY_WAIT_NS (200 * NSEC_PER_MSEC)
#define GIVE_UP_STEP_NS (100 * NSEC_PER_MSEC) /* interval of checks for giving up */
#define IDLE_USAGE_NS (5 * NSEC_PER_SEC) /* interval of checks of an idle worker's usage */
/* after a worker was killed, before it counts as stuck */
#define SET_ASIDE_NS (100 * NSEC_PER_MSEC)

/* A killed worker may take a moment to end. The client waits for it when the next one is needed. A
 * worker that waits for data in the kernel, as from a FUSE file system below an overlay, cannot be
 * killed; it is set aside. */
struct worker_client {
	struct worker_client_opts opts;
	struct worker_stats stats; /* without those of the current worker */
	struct worker_process worker; /* without a socket: killed but not ended */
	uint64_t killed_ns; /* time when it was killed */
	struct worker_process stuck[WORKER_CLIENT_MAX_STUCK]; /* pid 0: none */
	struct worker_reply_reader reader;
	bool is_busy;
	uint64_t deadline_ns; /* of the current request */
	uint64_t restart_ns; /* delay after the last death; 0: a request was answered since */
	uint64_t not_before_ns; /* earliest start of a new worker */
	uint64_t used_ns; /* time of the last request */
	struct worker_process_usage usage; /* of the current worker, as last checked */
	uint64_t usage_ns; /* time of that check; 0: none since the last answer */
};

int worker_client_new(const struct worker_client_opts *opts, struct worker_client **ret_client)
{
	struct worker_client *client = calloc(1, sizeof(*client));

	if (!client)
		return -ENOMEM;
	client->opts = *opts;
	client->worker = WORKER_PROCESS_NONE;
	*ret_client = client;
	return 0;
}

/* Adds the CPU time of a worker that ended, and returns its memory to the pool. */
static void settle(struct worker_client *client, struct worker_process *worker)
{
	client->stats.cpu_ns += worker->cpu_ns;
	memory_pool_give(client->opts.pool, worker->max_data_bytes);
	*worker = WORKER_PROCESS_NONE;
}

/* Returns whether the worker has ended. */
static bool bury(struct worker_client *client)
{
	if (!worker_process_has_ended(&client->worker))
		return false;
	settle(client, &client->worker);
	client->usage_ns = 0;
	return true;
}

void worker_client_free(struct worker_client *client)
{
	if (!client)
		return;
	worker_process_stop(&client->worker, END_WAIT_NS);
	bury(client);
	worker_reply_reader_done(&client->reader);
	free(client);
}

bool worker_client_is_busy(const struct worker_client *client)
{
	return client->is_busy;
}

static void end_worker(struct worker_client *client)
{
	client->killed_ns = clock_mono_ns();
	worker_process_stop(&client->worker, 0);
	bury(client);
}

/* Removes stuck workers that have ended meanwhile. */
static void bury_stuck(struct worker_client *client)
{
	for (size_t i = 0; i < WORKER_CLIENT_MAX_STUCK; i++) {
		struct worker_process *stuck = &client->stuck[i];

		if (stuck->pid == 0 || !worker_process_has_ended(stuck))
			continue;
		settle(client, stuck);
		client->stats.nr_stuck--;
	}
}

/* Sets the worker that cannot be killed aside; returns false if there are too many. */
static bool set_aside(struct worker_client *client)
{
	int r = worker_process_release_memory(&client->worker);

	if (r < 0 && client->stats.nr_stuck >= WORKER_CLIENT_MAX_STUCK_WITH_MEMORY)
		return false;
	if (r == 0) {
		memory_pool_give(client->opts.pool, client->worker.max_data_bytes);
		client->worker.max_data_bytes = 0;
	}
	for (size_t i = 0; i < WORKER_CLIENT_MAX_STUCK; i++) {
		if (client->stuck[i].pid != 0)
			continue;
		client->stuck[i] = client->worker;
		client->worker = WORKER_PROCESS_NONE;
		client->usage_ns = 0;
		client->stats.nr_stuck++;
		return true;
	}
	return false;
}

/* Returns whether another worker may be started. */
static bool is_out_of_the_way(struct worker_client *client)
{
	bury_stuck(client);
	if (bury(client))
		return true;
	return clock_mono_ns() >= client->killed_ns + SET_ASIDE_NS && set_aside(client);
}

static void delay_restart(struct worker_client *client)
{
	uint64_t delay_ns = client->restart_ns ? client->restart_ns * 2 : WORKER_CLIENT_RESTART_NS;

	client->restart_ns = min_u64(delay_ns, WORKER_CLIENT_MAX_RESTART_NS);
	client->not_before_ns = clock_mono_ns() + client->restart_ns;
}

static void count_death(struct worker_client *client)
{
	client->stats.nr_deaths++;
	end_worker(client);
	delay_restart(client);
}

/* Between requests nothing may arrive. Either the worker has ended, or it sent data that would be
 * taken for the next answer. */
static bool is_out_of_step(const struct worker_client *client)
{
	struct pollfd look = { .fd = client->worker.socket, .events = POLLIN };

	return poll(&look, 1, 0) != 0;
}

/* Takes the memory of the next worker from the pool. Errors: -EAGAIN the pool has too little
 * left. */
static int take_memory(const struct worker_client *client, uint64_t *ret_bytes)
{
	uint64_t share = memory_pool_room(client->opts.pool) / 2;
	uint64_t bytes = client->opts.max_data_bytes;

	if (client->opts.pool && share < bytes)
		bytes = share;
	if (bytes < WORKER_CLIENT_MIN_POOLED_BYTES && bytes < client->opts.max_data_bytes)
		return -EAGAIN;
	if (memory_pool_take(client->opts.pool, bytes) < 0)
		return -EAGAIN;
	*ret_bytes = bytes;
	return 0;
}

static int start_worker(struct worker_client *client)
{
	struct worker_process_opts opts = {
		.program = client->opts.program,
		.command = client->opts.command,
		.max_fds = client->opts.max_fds,
	};

	if (!is_out_of_the_way(client) || clock_mono_ns() < client->not_before_ns)
		return -EAGAIN;
	int r = take_memory(client, &opts.max_data_bytes);
	if (r < 0)
		return r;
	r = worker_process_start(&opts, &client->worker);
	if (r < 0) {
		memory_pool_give(client->opts.pool, opts.max_data_bytes);
		delay_restart(client);
		return r;
	}
	client->stats.nr_started++;
	return 0;
}

static int need_worker(struct worker_client *client)
{
	if (client->worker.socket >= 0 && is_out_of_step(client))
		count_death(client);
	return client->worker.socket >= 0 ? 0 : start_worker(client);
}

int worker_client_send(struct worker_client *client, const struct worker_request *request,
		       const void *bytes, const int *fds, size_t nr_fds,
		       const struct worker_limits *limits)
{
	if (client->is_busy)
		return -EBUSY;
	if (nr_fds > WORKER_MAX_FDS)
		return -EINVAL;
	int r = need_worker(client);
	if (r < 0)
		return r;

	client->used_ns = clock_mono_ns();
	client->deadline_ns = client->used_ns + limits->timeout_ns;
	worker_process_limit_cpu(&client->worker, limits->cpu_s);
	r = worker_channel_send_request(client->worker.socket, request, bytes, fds, nr_fds,
					client->deadline_ns);
	if (r == -EPIPE) {
		count_death(client);
		return -EAGAIN;
	}
	if (r < 0) {
		end_worker(client); /* it may have received a part */
		return r;
	}
	client->reader = worker_reply_reader_with_max(request->max_bytes);
	client->is_busy = true;
	client->stats.nr_requests++;
	client->usage_ns = 0;
	return 0;
}

/* Reads until the answer is complete or one of both times has come. Returns like
 * worker_reply_reader_read(), or -ETIMEDOUT. */
static int read_reply(struct worker_client *client, uint64_t until_ns)
{
	struct pollfd wait = { .fd = client->worker.socket, .events = POLLIN };

	for (;;) {
		int r = worker_reply_reader_read(&client->reader, client->worker.socket);
		uint64_t now_ns = clock_mono_ns();

		if (r != 0)
			return r;
		if (now_ns >= client->deadline_ns)
			return -ETIMEDOUT;
		if (now_ns >= until_ns)
			return 0;

		const struct timespec timeout = clock_timespec(
			min_u64(until_ns, client->deadline_ns) - now_ns);
		if (ppoll(&wait, 1, &timeout, NULL) < 0 && errno != EINTR)
			return -errno;
	}
}

/* Returns whether the kernel killed the worker for its CPU time, which counts as a timeout. */
static bool has_used_up_cpu(struct worker_client *client)
{
	worker_process_stop(&client->worker, BURY_WAIT_NS);
	return client->worker.pid == 0 && WIFSIGNALED(client->worker.status) &&
	       WTERMSIG(client->worker.status) == SIGXCPU;
}

/* Decides what happens to the worker after a complete answer (`r` is 1) or an error. Returns the
 * error for the caller. */
static int judge_reply(struct worker_client *client, int r)
{
	if (r == 1) {
		client->restart_ns = 0;
		if (client->reader.reply.is_last)
			end_worker(client);
		return client->reader.reply.error;
	}
	if (r == -EPIPE && has_used_up_cpu(client))
		r = -ETIMEDOUT;
	if (r == -EPIPE || r == -EBADMSG) {
		count_death(client);
		return r;
	}
	client->stats.nr_timeouts += r == -ETIMEDOUT;
	end_worker(client);
	return r;
}

int worker_client_wait(struct worker_client *client, uint64_t until_ns, int *ret_error,
		       void **ret_bytes, size_t *ret_len)
{
	int r = client->is_busy ? read_reply(client, until_ns) : 0;
	if (r == 0)
		return 0;
	client->is_busy = false;
	client->used_ns = clock_mono_ns();
	r = judge_reply(client, r);
	*ret_error = r;
	*ret_len = r == 0 ? client->reader.reply.nr_bytes : 0;
	*ret_bytes = r == 0 ? take_ptr(client->reader.bytes) : NULL;
	worker_reply_reader_done(&client->reader);
	return 1;
}

static bool must_give_up(const uint64_t *give_up_ns)
{
	return give_up_ns && clock_mono_ns() >= __atomic_load_n(give_up_ns, __ATOMIC_RELAXED);
}

int worker_client_ask(struct worker_client *client, const struct strbuf *request,
		      uint64_t max_reply_bytes, const struct worker_limits *limits,
		      const uint64_t *give_up_ns, struct worker_bytes *ret_reply)
{
	const struct worker_request head = {
		.nr_bytes = (uint32_t)request->len,
		.max_bytes = max_reply_bytes,
	};
	int error = 0;

	if (must_give_up(give_up_ns))
		return -ECANCELED;
	int r = worker_client_send(client, &head, request->data, NULL, 0, limits);
	if (r < 0)
		return r;
	while (worker_client_wait(client, clock_mono_ns() + GIVE_UP_STEP_NS, &error,
				  &ret_reply->data, &ret_reply->len) == 0) {
		heartbeat_beat();
		if (!must_give_up(give_up_ns))
			continue;
		worker_client_stop(client);
		return -ECANCELED;
	}
	return error;
}

int worker_client_fd(const struct worker_client *client)
{
	return client->is_busy ? client->worker.socket : -EBADF;
}

uint64_t worker_client_deadline_ns(const struct worker_client *client)
{
	return client->is_busy ? client->deadline_ns : UINT64_MAX;
}

void worker_client_stop(struct worker_client *client)
{
	client->is_busy = false;
	worker_reply_reader_done(&client->reader);
	end_worker(client);
}

void worker_client_reject(struct worker_client *client)
{
	client->stats.nr_deaths++;
	worker_client_stop(client);
}

void worker_client_tidy(struct worker_client *client, uint64_t now_ns)
{
	uint64_t idle_ns = client->opts.pool ? WORKER_CLIENT_POOLED_IDLE_NS : WORKER_CLIENT_IDLE_NS;

	bury_stuck(client);
	if (client->worker.socket < 0)
		bury(client);
	else if (!client->is_busy && now_ns > client->used_ns + idle_ns)
		end_worker(client);
}

/* The check takes six system calls, and callers may ask several times per second. An idle worker
 * uses no CPU time. */
static void look_at_usage(struct worker_client *client)
{
	uint64_t now_ns = clock_mono_ns();

	if (client->usage_ns > 0 && now_ns < client->usage_ns + IDLE_USAGE_NS)
		return;
	client->usage = worker_process_get_usage(&client->worker);
	client->usage_ns = client->is_busy ? 0 : now_ns;
}

struct worker_stats worker_client_get_stats(struct worker_client *client)
{
	struct worker_stats stats = client->stats;

	look_at_usage(client);
	stats.cpu_ns += client->usage.cpu_ns;
	stats.resident_bytes = client->usage.resident_bytes;
	return stats;
}

void worker_stats_add(struct worker_stats *sum, const struct worker_stats *stats)
{
	sum->nr_requests += stats->nr_requests;
	sum->nr_started += stats->nr_started;
	sum->nr_timeouts += stats->nr_timeouts;
	sum->nr_deaths += stats->nr_deaths;
	sum->cpu_ns += stats->cpu_ns;
	sum->resident_bytes += stats->resident_bytes;
	sum->nr_stuck += stats->nr_stuck;
}
