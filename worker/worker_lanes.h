/* SPDX-License-Identifier: Apache-2.0 */
/* Two workers of a kind, so that whoever has files that take long does not hold up others:
 *
 *	fast	all requests, each for WORKER_LANES_FAST_NS at most
 *	slow	those that took longer, again and with their full time, and for a while all of the same owner
 *
 * An owner is whose file it is, told by a number that its owner cannot choose: a cgroup's id. So a bad file costs
 * others the fast lane's time, and its owner can do that once in WORKER_LANES_PENALTY_NS. 0 is nobody's: such files get no
 * penalty. Belongs to one thread. */
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
#define WORKER_LANES_MAX_OWNERS 64 /* with a penalty; then the oldest one is let off */

enum worker_lane {
	WORKER_LANE_FAST,
	WORKER_LANE_SLOW,
	WORKER_NR_LANES,
};

struct worker_lanes;

/* Starts nothing yet. Errors: -ENOMEM. */
int worker_lanes_new(const struct worker_client_opts *opts, struct worker_lanes **ret_lanes)
	must_check;

/* Ends the workers. NULL is fine. */
void worker_lanes_free(struct worker_lanes *lanes);
DEFINE_FREEP(struct worker_lanes, worker_lanes_free)

/* Which lane an owner's requests take now. */
enum worker_lane worker_lanes_choose(const struct worker_lanes *lanes, uint64_t owner,
				     uint64_t now_ns);

/* From now on an owner's requests take the slow lane for a while. Nothing happens with 0. */
void worker_lanes_punish(struct worker_lanes *lanes, uint64_t owner, uint64_t now_ns);

bool worker_lanes_is_busy(const struct worker_lanes *lanes, enum worker_lane lane);

/* What goes with a request: request->nr_bytes bytes, and descriptors, which stay the caller's. */
struct worker_payload {
	const void *bytes;
	const int *fds;
	size_t nr_fds;
};

/* As worker_client_send(), in that lane. In the fast one the limits are cut to the lane's. */
int worker_lanes_send(struct worker_lanes *lanes, enum worker_lane lane,
		      const struct worker_request *request, const struct worker_payload *payload,
		      const struct worker_limits *limits) must_check;

/* Waits until an answer in any lane is there or a deadline has come, but not past `until_ns` (CLOCK_MONOTONIC). */
void worker_lanes_wait(const struct worker_lanes *lanes, uint64_t until_ns);

/* As worker_client_wait() without waiting. */
int worker_lanes_take(struct worker_lanes *lanes, enum worker_lane lane, int *ret_error,
		      void **ret_bytes, size_t *ret_len) must_check;

/* Gives up what is on its way in a lane, and ends its worker. */
void worker_lanes_stop(struct worker_lanes *lanes, enum worker_lane lane);

/* Ends workers that have nothing to do. To be called now and then. */
void worker_lanes_tidy(struct worker_lanes *lanes, uint64_t now_ns);

/* Of both lanes together. */
struct worker_stats worker_lanes_get_stats(const struct worker_lanes *lanes);

#endif
