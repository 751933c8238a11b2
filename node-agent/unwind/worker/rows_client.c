/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/worker/rows_client.h"

#include "base/clock.h"
#include "unwind/file/debug_file.h"
#include "unwind/worker/rows_answer.h"

#include <stdlib.h>

/* Time after which a file is given up if no worker can be started. */
#define START_PATIENCE_NS (5 * NSEC_PER_SEC)
#define RETRY_NS (20 * NSEC_PER_MSEC)

enum step {
	STEP_NONE, /* no file */
	STEP_KEY, /* asked for, or about to be */
	STEP_HAS_KEY,
	STEP_TABLE,
};

struct lane {
	enum step step;
	bool must_send;
	bool is_try; /* its time is WORKER_LANES_TRY_NS */
	uint64_t give_up_ns; /* sending */
	int fd; /* borrowed */
	int debug_fd; /* owned; -EBADF: none */
	enum elf_rows_debug debug;
	uint64_t owner;
	uint64_t number;
};

struct rows_client {
	struct rows_client_opts opts;
	struct worker_lanes *workers; /* owned */
	struct lane lanes[WORKER_NR_LANES];
	uint64_t last_number;
};

int rows_client_new(const struct rows_client_opts *opts, struct rows_client **ret_client)
{
	const struct worker_client_opts worker_opts = {
		.command = ROWS_WORKER_COMMAND,
		.max_data_bytes = ROWS_CLIENT_DATA_BYTES,
		.max_fast_data_bytes = ROWS_CLIENT_FAST_DATA_BYTES,
		.pool = opts->pool,
	};
	struct rows_client *client = calloc(1, sizeof(*client));

	if (!client)
		return -ENOMEM;
	client->opts = *opts;
	for (size_t i = 0; i < WORKER_NR_LANES; i++)
		client->lanes[i].debug_fd = -EBADF;

	int r = worker_lanes_new(&worker_opts, &client->workers);
	if (r < 0) {
		free(client);
		return r;
	}
	*ret_client = client;
	return 0;
}

static void end_lane(struct lane *lane)
{
	if (lane->debug_fd >= 0)
		close(lane->debug_fd);
	*lane = (struct lane){ .debug_fd = -EBADF };
}

void rows_client_free(struct rows_client *client)
{
	if (!client)
		return;
	for (size_t i = 0; i < WORKER_NR_LANES; i++)
		end_lane(&client->lanes[i]);
	worker_lanes_free(client->workers);
	free(client);
}

enum worker_lane rows_client_choose(const struct rows_client *client, uint64_t owner)
{
	return worker_lanes_choose(client->workers, owner, clock_mono_ns());
}

enum worker_rank rows_client_rank(const struct rows_client *client, uint64_t owner)
{
	return worker_lanes_rank(client->workers, owner, clock_mono_ns());
}

bool rows_client_is_busy(const struct rows_client *client, enum worker_lane lane)
{
	return client->lanes[lane].step != STEP_NONE;
}

static int send_key_request(struct rows_client *client, enum worker_lane number,
			    const struct worker_limits *limits)
{
	const struct lane *lane = &client->lanes[number];
	const struct rows_ask ask = {
		.max_table_bytes = client->opts.max_table_bytes,
		.max_held_bytes = number == WORKER_LANE_FAST ? ROWS_CLIENT_FAST_HELD_BYTES
							     : ROWS_CLIENT_HELD_BYTES,
		.hash_seed = client->opts.hash_seed,
		.debug = lane->debug,
	};
	const struct worker_request request = {
		.kind = ROWS_REQUEST_KEY,
		.nr_bytes = sizeof(ask),
		.key = lane->number,
		.max_bytes = sizeof(struct rows_key_reply),
	};
	const int fds[] = { lane->fd, lane->debug_fd };
	const struct worker_payload payload = { &ask, fds, lane->debug_fd >= 0 ? 2 : 1 };

	return worker_lanes_send(client->workers, number, &request, &payload, limits);
}

static int send_build_request(struct rows_client *client, enum worker_lane number,
			      const struct worker_limits *limits)
{
	const struct worker_request request = {
		.kind = ROWS_REQUEST_BUILD,
		.key = client->lanes[number].number,
		.max_bytes = client->opts.max_table_bytes + sizeof(struct unwind_losses),
	};

	static const struct worker_payload nothing = { 0 };

	return worker_lanes_send(client->workers, number, &request, &nothing, limits);
}

/* Tries to send the request of the current step. If that fails, rows_client_take() tries again.
 * Errors: -EAGAIN later. */
static int send_request(struct rows_client *client, enum worker_lane number)
{
	struct lane *lane = &client->lanes[number];
	const struct worker_limits limits = {
		.timeout_ns = lane->is_try ? WORKER_LANES_TRY_NS : ROWS_CLIENT_TIMEOUT_NS,
		.cpu_s = ROWS_CLIENT_CPU_S,
	};
	int r = lane->step == STEP_KEY ? send_key_request(client, number, &limits)
				       : send_build_request(client, number, &limits);

	if (r == -EAGAIN && clock_mono_ns() >= lane->give_up_ns)
		r = -EIO;
	lane->must_send = r < 0;
	return r;
}

static void begin_step(struct rows_client *client, enum worker_lane number, enum step step)
{
	struct lane *lane = &client->lanes[number];

	lane->step = step;
	lane->give_up_ns = clock_mono_ns() + START_PATIENCE_NS;
	(void)!send_request(client, number);
}

static bool is_try(const struct rows_client *client, enum worker_lane number, uint64_t owner)
{
	return number == WORKER_LANE_FAST &&
	       worker_lanes_is_try(client->workers, rows_client_rank(client, owner),
				   clock_mono_ns());
}

void rows_client_begin(struct rows_client *client, enum worker_lane number, int fd, uint64_t owner)
{
	struct lane *lane = &client->lanes[number];

	*lane = (struct lane){
		.fd = fd,
		.debug_fd = -EBADF,
		.debug = client->opts.debug_dir ? ELF_ROWS_DEBUG_ASK : ELF_ROWS_DEBUG_NONE,
		.is_try = is_try(client, number, owner),
		.owner = owner,
		.number = ++client->last_number,
	};
	begin_step(client, number, STEP_KEY);
}

void rows_client_build(struct rows_client *client, enum worker_lane number)
{
	begin_step(client, number, STEP_TABLE);
}

void rows_client_end(struct rows_client *client, enum worker_lane number)
{
	if (worker_lanes_is_busy(client->workers, number))
		worker_lanes_stop(client->workers, number);
	end_lane(&client->lanes[number]);
}

/* Sets the error of a result. Owners of files that take long, or that workers die of, are moved
 * to the slow lane, so that they do not hold up others again soon. */
static bool take_error(struct rows_client *client, enum worker_lane number, int error,
		       struct rows_result *result)
{
	const struct lane *lane = &client->lanes[number];

	result->error = rows_answer_error(error);
	result->is_for_later = lane->is_try && result->error == -ETIMEDOUT;
	if (result->is_for_later)
		return true;
	if (result->error == -ETIMEDOUT || result->error == -EIO)
		worker_lanes_punish(client->workers, lane->owner, clock_mono_ns());
	result->is_for_slow_lane = number == WORKER_LANE_FAST &&
				   (result->error == -ETIMEDOUT || result->error == -ENOSPC ||
				    result->error == -ENOMEM);
	return true;
}

/* Stops a worker that sent nonsense, because nothing that it sends can be trusted any more. */
static bool take_nonsense(struct rows_client *client, enum worker_lane number,
			  struct rows_result *result)
{
	worker_lanes_stop(client->workers, number);
	return take_error(client, number, -EIO, result);
}

/* Looks for the debug file, and repeats the request with or without it. */
static void find_debug_file(struct rows_client *client, enum worker_lane number,
			    const struct elf_rows_wanted *wanted)
{
	struct lane *lane = &client->lanes[number];

	lane->debug = debug_file_find(client->opts.debug_dir, wanted, &lane->debug_fd);
	begin_step(client, number, STEP_KEY);
}

static bool take_key(struct rows_client *client, enum worker_lane number, const void *bytes,
		     size_t len, struct rows_result *result)
{
	struct lane *lane = &client->lanes[number];
	struct rows_key_reply reply;

	if (rows_answer_key(bytes, len, &reply) < 0 ||
	    (reply.wants_debug && lane->debug != ELF_ROWS_DEBUG_ASK))
		return take_nonsense(client, number, result);
	if (reply.wants_debug) {
		find_debug_file(client, number, &reply.wanted);
		return false;
	}
	result->key = reply.key;
	lane->step = STEP_HAS_KEY;
	return true;
}

static bool take_table(struct rows_client *client, enum worker_lane number, void **bytes,
		       size_t len, struct rows_result *result)
{
	if (rows_answer_table(*bytes, len, client->opts.max_table_bytes, &result->table,
			      &result->losses) < 0)
		return take_nonsense(client, number, result);
	*bytes = NULL;
	result->has_table = true;
	return true;
}

bool rows_client_take(struct rows_client *client, enum worker_lane number,
		      struct rows_result *ret_result)
{
	struct lane *lane = &client->lanes[number];
	_cleanup_free_ void *bytes = NULL;
	size_t len;
	int error = 0;

	*ret_result = (struct rows_result){ 0 };
	if (lane->must_send) {
		error = send_request(client, number);
		return error < 0 && error != -EAGAIN &&
		       take_error(client, number, error, ret_result);
	}
	if (worker_lanes_take(client->workers, number, &error, &bytes, &len) == 0)
		return false;
	if (number == WORKER_LANE_FAST)
		worker_lanes_charge(client->workers, lane->owner,
				    worker_lanes_took_ns(client->workers, number), clock_mono_ns());
	if (error != 0)
		return take_error(client, number, error, ret_result);
	return lane->step == STEP_KEY ? take_key(client, number, bytes, len, ret_result)
				      : take_table(client, number, &bytes, len, ret_result);
}

/* Returns whether a request waits for a worker. Nothing signals when one may be started. */
static bool has_to_send(const struct rows_client *client)
{
	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++)
		if (client->lanes[lane].must_send)
			return true;
	return false;
}

void rows_client_wait(const struct rows_client *client, int wake_fd, uint64_t until_ns)
{
	uint64_t retry_ns = clock_mono_ns() + RETRY_NS;

	if (has_to_send(client) && retry_ns < until_ns)
		until_ns = retry_ns;
	worker_lanes_wait(client->workers, wake_fd, until_ns);
}

void rows_client_tidy(struct rows_client *client)
{
	worker_lanes_tidy(client->workers, clock_mono_ns());
}

struct worker_stats rows_client_get_stats(const struct rows_client *client)
{
	return worker_lanes_get_stats(client->workers);
}
