/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/worker_lanes.h"

#include "base/clock.h"

#include <poll.h>
#include <stdlib.h>

struct punished {
	uint64_t owner; /* 0: none */
	uint64_t until_ns;
};

struct worker_lanes {
	struct worker_client *clients[WORKER_NR_LANES]; /* owned */
	struct punished punished[WORKER_LANES_MAX_OWNERS];
};

int worker_lanes_new(const struct worker_client_opts *opts, struct worker_lanes **ret_lanes)
{
	_cleanup_(worker_lanes_freep) struct worker_lanes *lanes = calloc(1, sizeof(*lanes));

	if (!lanes)
		return -ENOMEM;
	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++) {
		struct worker_client_opts lane_opts = *opts;

		if (lane == WORKER_LANE_FAST && opts->max_fast_data_bytes > 0)
			lane_opts.max_data_bytes = opts->max_fast_data_bytes;
		int r = worker_client_new(&lane_opts, &lanes->clients[lane]);
		if (r < 0)
			return r;
	}
	*ret_lanes = take_ptr(lanes);
	return 0;
}

void worker_lanes_free(struct worker_lanes *lanes)
{
	if (!lanes)
		return;
	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++)
		worker_client_free(lanes->clients[lane]);
	free(lanes);
}

enum worker_lane worker_lanes_choose(const struct worker_lanes *lanes, uint64_t owner,
				     uint64_t now_ns)
{
	for (size_t i = 0; owner != 0 && i < WORKER_LANES_MAX_OWNERS; i++) {
		const struct punished *punished = &lanes->punished[i];

		if (punished->owner == owner && now_ns < punished->until_ns)
			return WORKER_LANE_SLOW;
	}
	return WORKER_LANE_FAST;
}

/* The owner's own place, or else that of the one whose penalty ends first. */
static struct punished *find_place(struct worker_lanes *lanes, uint64_t owner)
{
	struct punished *first = &lanes->punished[0];

	for (size_t i = 0; i < WORKER_LANES_MAX_OWNERS; i++) {
		struct punished *punished = &lanes->punished[i];

		if (punished->owner == owner)
			return punished;
		if (punished->until_ns < first->until_ns)
			first = punished;
	}
	return first;
}

void worker_lanes_punish(struct worker_lanes *lanes, uint64_t owner, uint64_t now_ns)
{
	if (owner != 0)
		*find_place(lanes, owner) = (struct punished){ owner,
							       now_ns + WORKER_LANES_PENALTY_NS };
}

bool worker_lanes_is_busy(const struct worker_lanes *lanes, enum worker_lane lane)
{
	return worker_client_is_busy(lanes->clients[lane]);
}

int worker_lanes_send(struct worker_lanes *lanes, enum worker_lane lane,
		      const struct worker_request *request, const struct worker_payload *payload,
		      const struct worker_limits *limits)
{
	struct worker_limits cut = *limits;

	if (lane == WORKER_LANE_FAST && cut.timeout_ns > WORKER_LANES_FAST_NS)
		cut.timeout_ns = WORKER_LANES_FAST_NS;
	if (lane == WORKER_LANE_FAST && cut.cpu_s > WORKER_LANES_FAST_CPU_S)
		cut.cpu_s = WORKER_LANES_FAST_CPU_S;
	return worker_client_send(lanes->clients[lane], request, payload->bytes, payload->fds,
				  payload->nr_fds, &cut);
}

void worker_lanes_wait(const struct worker_lanes *lanes, uint64_t until_ns)
{
	struct pollfd waits[WORKER_NR_LANES];
	uint64_t now_ns = clock_mono_ns();

	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++) {
		uint64_t deadline_ns = worker_client_deadline_ns(lanes->clients[lane]);

		if (deadline_ns < until_ns)
			until_ns = deadline_ns;
		waits[lane] = (struct pollfd){
			.fd = worker_client_fd(lanes->clients[lane]),
			.events = POLLIN,
		};
	}
	const struct timespec timeout = clock_timespec(until_ns > now_ns ? until_ns - now_ns : 0);

	(void)ppoll(waits, WORKER_NR_LANES, &timeout, NULL);
}

int worker_lanes_take(struct worker_lanes *lanes, enum worker_lane lane, int *ret_error,
		      void **ret_bytes, size_t *ret_len)
{
	return worker_client_wait(lanes->clients[lane], 0, ret_error, ret_bytes, ret_len);
}

void worker_lanes_stop(struct worker_lanes *lanes, enum worker_lane lane)
{
	worker_client_stop(lanes->clients[lane]);
}

void worker_lanes_tidy(struct worker_lanes *lanes, uint64_t now_ns)
{
	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++)
		worker_client_tidy(lanes->clients[lane], now_ns);
}

struct worker_stats worker_lanes_get_stats(const struct worker_lanes *lanes)
{
	struct worker_stats sum = { 0 };

	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++) {
		struct worker_stats stats = worker_client_get_stats(lanes->clients[lane]);

		worker_stats_add(&sum, &stats);
	}
	return sum;
}
