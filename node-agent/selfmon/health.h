/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether the agent is alive and ready, from what its reader thread reported and the time.
 * It has no lock and reads no clock.
 *
 * Alive means that a restart would not help: the reader reports progress, and the symbolizer
 * finishes windows. Ready means that samples are taken and carry their pods' names, or that the
 * agent has waited for these long enough: a kubelet that does not answer must not block a
 * rollout. */
#ifndef SELFMON_HEALTH_H
#define SELFMON_HEALTH_H

#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>

#define HEALTH_START_MAX_NS (60 * NSEC_PER_SEC) /* from start to first beat */
#define HEALTH_BEAT_MAX_NS (10 * NSEC_PER_SEC)
#define HEALTH_MISSING_MAX_NS (20 * NSEC_PER_SEC) /* longest wait for what is missing */
#define HEALTH_WINDOW_MAX_NS (60 * NSEC_PER_SEC) /* a window may take 13 s */

struct health {
	uint64_t start_ns;
	uint64_t first_beat_ns; /* this and the next: 0: none yet */
	uint64_t beat_ns; /* of the last one */
	bool is_stopping;
	const char *missing; /* static; see struct health_beat */
	uint64_t nr_finished; /* as of the last beat */
	uint64_t finished_ns; /* when it last changed, or did not have to */
	uint64_t nr_windows_then;
};

struct health_beat {
	uint64_t time_ns; /* CLOCK_MONOTONIC, as all times here */
	uint64_t nr_windows; /* handed to the symbolizer */
	uint64_t nr_finished; /* finished by the symbolizer */
	const char *missing; /* static sentence: why it is not ready; NULL: nothing is missing */
};

void health_init(struct health *health, uint64_t now_ns);
void health_beat(struct health *health, const struct health_beat *beat);

/* The agent stops: no beats are expected any more. */
void health_stopping(struct health *health);

/* Returns what is wrong, a static sentence; NULL if nothing is. */
const char *health_problem(const struct health *health, uint64_t now_ns);

/* Returns why it is not ready, a static sentence; NULL if it is. */
const char *health_unready(const struct health *health, uint64_t now_ns);

#endif
