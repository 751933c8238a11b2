/* SPDX-License-Identifier: Apache-2.0 */
/* The windows of one type of profile, one behind the other, in seconds of Unix time. */
#ifndef PIPELINE_WINDOW_SERIES_H
#define PIPELINE_WINDOW_SERIES_H

#include "pipeline/window.h"

#include <stdint.h>

struct window_series {
	enum profile_type type;
	struct window *window; /* owned; being filled; NULL before the first sample */
	uint64_t last_end_ns; /* of the last window, CLOCK_MONOTONIC; 0: there was none */
	/* Of CPU time: what a sample stands for before a time, and from then on. */
	uint64_t old_period_ns, period_ns, period_from_ns;
};

/* Samples that are taken from a time on stand for another period. A window has one, so that the
 * present one ends there. */
void window_series_set_period(struct window_series *series, uint64_t from_ns, uint64_t period_ns);

/* Opens the next window. It begins with its second, or behind the window before it; the first one
 * begins at `time_ns`. Errors: -ENOMEM. */
int window_series_open(struct window_series *series, uint64_t time_ns) must_check;

/* Ends the last window now, before its second is over: nobody samples what is left of it. */
void window_series_end(struct window_series *series, uint64_t now_ns);

#endif
