/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/worker_lanes.h"

#include "base/clock.h"
#include "base/minmax.h"

#include <poll.h>
#include <stdlib.h>

/* Record of an owner. */
struct account {
	uint64_t owner;
	uint64_t heard_ns; /* time of the last charge or penalty */
	uint64_t slow_until_ns;
	uint64_t late_until_ns;
	uint64_t used_ns; /* since `since_ns` */
	uint64_t since_ns;
};

struct worker_lanes {
	struct worker_client *clients[WORKER_NR_LANES]; /* owned */
	struct account accounts[WORKER_LANES_MAX_OWNERS];
	size_t nr_accounts;
	uint64_t slow_until_ns; /* until then an owner has a penalty */
	uint64_t contended_until_ns;
	uint64_t nr_sent; /* in the fast lane */
	uint64_t sent_ns[WORKER_NR_LANES]; /* the last request */
	uint64_t took_ns[WORKER_NR_LANES];
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
		if (lane == WORKER_LANE_FAST)
			lane_opts.pool = NULL;
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

static const struct account *find_account(const struct worker_lanes *lanes, uint64_t owner)
{
	for (size_t i = 0; i < lanes->nr_accounts; i++)
		if (lanes->accounts[i].owner == owner)
			return &lanes->accounts[i];
	return NULL;
}

/* Returns the owner's account, or a new one. */
static struct account *get_account(struct worker_lanes *lanes, uint64_t owner, uint64_t now_ns)
{
	struct account *oldest = &lanes->accounts[0];

	for (size_t i = 0; i < lanes->nr_accounts; i++) {
		struct account *account = &lanes->accounts[i];

		if (account->owner == owner)
			return account;
		if (account->heard_ns < oldest->heard_ns)
			oldest = account;
	}
	if (lanes->nr_accounts < WORKER_LANES_MAX_OWNERS)
		oldest = &lanes->accounts[lanes->nr_accounts++];
	*oldest = (struct account){ .owner = owner, .since_ns = now_ns };
	return oldest;
}

enum worker_lane worker_lanes_choose(const struct worker_lanes *lanes, uint64_t owner,
				     uint64_t now_ns)
{
	if (now_ns >= lanes->slow_until_ns)
		return WORKER_LANE_FAST;
	const struct account *account = find_account(lanes, owner);

	return account && now_ns < account->slow_until_ns ? WORKER_LANE_SLOW : WORKER_LANE_FAST;
}

void worker_lanes_punish(struct worker_lanes *lanes, uint64_t owner, uint64_t now_ns)
{
	if (owner == 0)
		return;
	struct account *account = get_account(lanes, owner, now_ns);

	account->heard_ns = now_ns;
	account->slow_until_ns = now_ns + WORKER_LANES_PENALTY_NS;
	lanes->slow_until_ns = account->slow_until_ns;
}

static bool is_contended(const struct worker_lanes *lanes, uint64_t now_ns)
{
	return now_ns < lanes->contended_until_ns;
}

/* Returns whether it is the turn of proven owners. It is every other time, in an order that no
 * pattern of requests can follow (the fractional parts of multiples of the golden ratio). */
static bool is_turn_of_proven(const struct worker_lanes *lanes)
{
	return (lanes->nr_sent * UINT64_C(0x9e3779b97f4a7c15)) >> 63 != 0;
}

enum worker_rank worker_lanes_rank(const struct worker_lanes *lanes, uint64_t owner,
				   uint64_t now_ns)
{
	if (!is_contended(lanes, now_ns))
		return WORKER_RANK_FIRST;
	const struct account *account = find_account(lanes, owner);

	bool is_proven = account && account->late_until_ns == 0;

	if (account && now_ns < account->late_until_ns)
		return WORKER_RANK_LATE;
	return is_proven == is_turn_of_proven(lanes) ? WORKER_RANK_FIRST : WORKER_RANK_SECOND;
}

bool worker_lanes_is_try(const struct worker_lanes *lanes, enum worker_rank rank, uint64_t now_ns)
{
	return rank != WORKER_RANK_LATE && is_contended(lanes, now_ns);
}

void worker_lanes_charge(struct worker_lanes *lanes, uint64_t owner, uint64_t took_ns,
			 uint64_t now_ns)
{
	struct account *account = get_account(lanes, owner, now_ns);

	if (now_ns >= account->since_ns + WORKER_LANES_PENALTY_NS) {
		account->since_ns = now_ns;
		account->used_ns = 0;
	}
	account->heard_ns = now_ns;
	account->used_ns += took_ns;
	if (account->used_ns <= WORKER_LANES_SHARE_NS &&
	    (took_ns < WORKER_LANES_TRY_NS || !is_contended(lanes, now_ns)))
		return;
	account->late_until_ns = now_ns + WORKER_LANES_PENALTY_NS;
	lanes->contended_until_ns = account->late_until_ns;
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

	if (lane == WORKER_LANE_FAST) {
		cut.timeout_ns = min_u64(cut.timeout_ns, WORKER_LANES_FAST_NS);
		cut.cpu_s = min_u64(cut.cpu_s, WORKER_LANES_FAST_CPU_S);
	}
	lanes->sent_ns[lane] = clock_mono_ns();
	int r = worker_client_send(lanes->clients[lane], request, payload->bytes, payload->fds,
				   payload->nr_fds, &cut);
	lanes->nr_sent += r == 0 && lane == WORKER_LANE_FAST;
	return r;
}

void worker_lanes_wait(const struct worker_lanes *lanes, int wake_fd, uint64_t until_ns)
{
	struct pollfd waits[WORKER_NR_LANES + 1] = {
		[WORKER_NR_LANES] = { .fd = wake_fd, .events = POLLIN },
	};
	uint64_t now_ns = clock_mono_ns();

	for (size_t lane = 0; lane < WORKER_NR_LANES; lane++) {
		until_ns = min_u64(until_ns, worker_client_deadline_ns(lanes->clients[lane]));
		waits[lane] = (struct pollfd){
			.fd = worker_client_fd(lanes->clients[lane]),
			.events = POLLIN,
		};
	}
	const struct timespec timeout = clock_timespec(until_ns > now_ns ? until_ns - now_ns : 0);

	(void)ppoll(waits, array_len(waits), &timeout, NULL);
}

int worker_lanes_take(struct worker_lanes *lanes, enum worker_lane lane, int *ret_error,
		      void **ret_bytes, size_t *ret_len)
{
	int r = worker_client_wait(lanes->clients[lane], 0, ret_error, ret_bytes, ret_len);
	if (r == 1)
		lanes->took_ns[lane] = clock_mono_ns() - lanes->sent_ns[lane];
	return r;
}

uint64_t worker_lanes_took_ns(const struct worker_lanes *lanes, enum worker_lane lane)
{
	return lanes->took_ns[lane];
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

uint64_t worker_lanes_cpu_ns(const struct worker_lanes *lanes, enum worker_lane lane)
{
	return worker_client_get_stats(lanes->clients[lane]).cpu_ns;
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
