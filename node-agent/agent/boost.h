/* SPDX-License-Identifier: Apache-2.0 */
/* Samples CPU time more often for half a minute when a rule of --trigger fires (--trigger-boost).
 * All CPUs change their frequency at once, and a window of samples ends there: so each window, and
 * what is made of it, has one period. The periods are multiples, so that sums of both are exact in
 * the shorter one.
 *
 *	store: boost_begin() ─▶ time when it ends ─▶ reader: boost_tick() ─▶ agent_set_period() */
#ifndef AGENT_BOOST_H
#define AGENT_BOOST_H

#include "base/err.h"
#include "base/strbuf.h"
#include "config/options.h"
#include "store/triggers.h"
#include "store/turns.h"

#include <stdbool.h>
#include <stdint.h>

#define BOOST_S 30

struct agent;

struct boost_stats {
	uint64_t nr_begun, nr_refused; /* refused: too many in an hour */
	uint64_t on_ns; /* time that boosts took */
};

struct boost {
	uint64_t usual_ns, short_ns; /* periods; short_ns 0: there are no boosts */
	uint32_t frequency_hz; /* of a boost */
	uint32_t max_per_hour;
	struct turns turns; /* the store's */
	uint64_t until_ns; /* atomic; CLOCK_MONOTONIC */
	bool is_on; /* this and the next two: the reader's */
	bool is_broken; /* the kernel refused */
	uint64_t counted_ns; /* CLOCK_MONOTONIC: up to then, `stats.on_ns` has its time */
	struct boost_stats stats; /* atomic */
};

/* Returns the period of usual samples. With boosts, it is shortened by some nanoseconds. */
uint64_t boost_usual_period(const struct options *options);

/* Returns the frequency of a boost, a multiple of the usual one; 0: there are none. */
uint32_t boost_frequency(const struct options *options);

/* Reads the options. On failure `reterr_msg` says what is wrong. Errors: -EINVAL. */
int boost_init(struct boost *boost, const struct options *options, struct strbuf *reterr_msg)
	must_check;

/* A rule fires: begins a boost, or has the present one last longer. Returns false if there are
 * none, or too many in an hour. For the thread "store". */
bool boost_begin(struct boost *boost, struct trigger_boost *ret_boost);

/* Sets the usual period of an agent that was not started yet. Without boosts, it is left as it is.
 * Errors: those of agent_set_period(). */
int boost_prepare(const struct boost *boost, struct agent *agent) must_check;

/* Begins or ends a boost if it is time. For the reader, between two calls of agent_poll(). */
void boost_tick(struct boost *boost, struct agent *agent, uint64_t now_ns);

/* For any thread. */
struct boost_stats boost_get_stats(const struct boost *boost);

#endif
