/* SPDX-License-Identifier: Apache-2.0 */
/* Two workers of a kind, so that an owner of slow files does not delay others:
 *
 *	fast	all requests, each for WORKER_LANES_FAST_NS at most
 *	slow	requests that took longer, again and with their full time, and for a while all of the same owner
 *
 * The owner of a file is a cgroup, by its id, which a container cannot choose. Files of owner 0
 * (not known) get no penalty.
 *
 * A penalty alone would let each of many owners cost the others the fast lane's time once. So the
 * time that owners use in the fast lane is counted. When one of them has used more than its share,
 * the fast lane is contended for WORKER_LANES_PENALTY_NS:
 *
 *	this owner	is late: its requests come after those of all others, and have the lane's whole time
 *	all others	have WORKER_LANES_TRY_NS for a request; an owner whose request takes longer is late, and the
 *			request is repeated when nobody is before it
 *
 * Owners that are not late come in turns: at one time those first that had answers before and were
 * never late, at another time all others. So new cgroups do not hold up those that were there
 * before, however many they are, nor the other way round. Belongs to one thread. */
#ifndef WORKER_LANES_H
#define WORKER_LANES_H

#include "base/cleanup.h"
#include "base/err.h"
#include "worker/worker_client.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORKER_LANES_FAST_NS UINT64_C(2000000000)
#define WORKER_LANES_FAST_CPU_S 1 /* and one more, as worker_process_limit_cpu() has it */
#define WORKER_LANES_PENALTY_NS UINT64_C(60000000000)
#define WORKER_LANES_TRY_NS UINT64_C(150000000)
#define WORKER_LANES_SHARE_NS UINT64_C(500000000) /* of an owner, in WORKER_LANES_PENALTY_NS */
#define WORKER_LANES_MAX_OWNERS 256 /* beyond that, the least recently active one is forgotten */

enum worker_lane {
	WORKER_LANE_FAST,
	WORKER_LANE_SLOW,
	WORKER_NR_LANES,
};

/* Order of owners in the fast lane: the lowest comes first. */
enum worker_rank {
	WORKER_RANK_FIRST,
	WORKER_RANK_SECOND,
	WORKER_RANK_LATE,
};

struct worker_lanes;

/* Does not start the workers yet. Errors: -ENOMEM. */
int worker_lanes_new(const struct worker_client_opts *opts, struct worker_lanes **ret_lanes)
	must_check;

/* Ends the workers. NULL is fine. */
void worker_lanes_free(struct worker_lanes *lanes);
DEFINE_FREEP(struct worker_lanes, worker_lanes_free)

/* Returns the lane of an owner's requests. */
enum worker_lane worker_lanes_choose(const struct worker_lanes *lanes, uint64_t owner,
				     uint64_t now_ns);

/* Sends an owner's requests to the slow lane for a while. Does nothing for owner 0. */
void worker_lanes_punish(struct worker_lanes *lanes, uint64_t owner, uint64_t now_ns);

/* Returns the owner's rank. Without contention, all owners have the first one. */
enum worker_rank worker_lanes_rank(const struct worker_lanes *lanes, uint64_t owner,
				   uint64_t now_ns);

/* Returns whether requests of that rank have only WORKER_LANES_TRY_NS. */
bool worker_lanes_is_try(const struct worker_lanes *lanes, enum worker_rank rank, uint64_t now_ns);

/* Adds the time of an owner's request in the fast lane. */
void worker_lanes_charge(struct worker_lanes *lanes, uint64_t owner, uint64_t took_ns,
			 uint64_t now_ns);

bool worker_lanes_is_busy(const struct worker_lanes *lanes, enum worker_lane lane);

/* Content of a request: request->nr_bytes bytes, and descriptors, which stay the caller's. */
struct worker_payload {
	const void *bytes;
	const int *fds;
	size_t nr_fds;
};

/* Sends a request in that lane, as worker_client_send(). The fast lane reduces the limits to its
 * own. */
int worker_lanes_send(struct worker_lanes *lanes, enum worker_lane lane,
		      const struct worker_request *request, const struct worker_payload *payload,
		      const struct worker_limits *limits) must_check;

/* Waits until an answer arrives in any lane, a deadline or `until_ns` (CLOCK_MONOTONIC) has come,
 * or `wake_fd` (-1: none) is readable. */
void worker_lanes_wait(const struct worker_lanes *lanes, int wake_fd, uint64_t until_ns);

/* Takes an answer, as worker_client_wait() without waiting. */
int worker_lanes_take(struct worker_lanes *lanes, enum worker_lane lane, int *ret_error,
		      void **ret_bytes, size_t *ret_len) must_check;

/* Returns the time of the last answered request in a lane; 0 before the first one. */
uint64_t worker_lanes_took_ns(const struct worker_lanes *lanes, enum worker_lane lane);

/* Gives up the current request of a lane and ends its worker. */
void worker_lanes_stop(struct worker_lanes *lanes, enum worker_lane lane);

/* Ends idle workers. To be called from time to time. */
void worker_lanes_tidy(struct worker_lanes *lanes, uint64_t now_ns);

/* Returns the CPU time of all workers of a lane so far. */
uint64_t worker_lanes_cpu_ns(const struct worker_lanes *lanes, enum worker_lane lane);

/* Returns the statistics of both lanes together. */
struct worker_stats worker_lanes_get_stats(const struct worker_lanes *lanes);

#endif
