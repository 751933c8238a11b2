/* SPDX-License-Identifier: Apache-2.0 */
/* Finds events in one signal: a number per second, such as the CPU time of a pod.
 *
 * A burst begins with a value that is above the median of the last ten minutes by six deviations,
 * by a floor and by a quarter. It goes on until the value is low, also compared with the peak, for
 * ten seconds, so bursts that nearly touch are one. A burst of five minutes ends as well: from then
 * on, its level is usual.
 *
 * A burst is an event, unless bursts like it are usual: it exceeds neither what is high nor what
 * bursts reached in the last ten minutes, or it comes as regularly as the three bursts before it
 * and is hardly larger. */
#ifndef STORE_EVENT_SIGNAL_H
#define STORE_EVENT_SIGNAL_H

#include "base/err.h"
#include "store/event_history.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVENT_WARM_UP_S 60
#define EVENT_QUIET_S 10
#define EVENT_MAX_S 300
#define EVENT_NR_HABITS 3

/* An earlier burst. */
struct event_habit {
	uint64_t first_s;
	double peak;
};

struct event_burst {
	uint64_t first_s, end_s; /* `end_s` is behind the last high second */
	double usual; /* the median before it */
	double peak;
	double excess; /* sum over the high seconds of what is above the usual value */
	uint64_t nr_high; /* seconds */
};

struct event_signal {
	double step; /* the unit of the history */
	double floor; /* a burst is at least this much above the usual value */
	struct event_history *history; /* owned; NULL: zeros so far */
	struct event_baseline baseline; /* of the history, at most 10 s old; in steps */
	unsigned int baseline_age_s;
	uint64_t nr_seconds; /* that were pushed, or stood before the first one as zeros */
	uint64_t nr_zeros; /* since the last other value */
	struct event_habit habits[EVENT_NR_HABITS]; /* newest first */
	bool is_bursting;
	bool is_event; /* the burst is one */
	double event_level; /* above it, the burst becomes an event */
	double low; /* below it, a second is not part of the burst */
	struct event_burst burst;
};

enum event_step {
	EVENT_STEP_NONE,
	EVENT_STEP_BEGINS, /* signal->burst is an event; it may have begun some seconds ago */
	EVENT_STEP_PEAKS, /* this second is the highest one so far */
	EVENT_STEP_LASTS,
	EVENT_STEP_ENDS, /* signal->burst is final */
};

/* A signal that begins after so many seconds, in which it was 0. */
void event_signal_init(struct event_signal *signal, double step, double floor, uint64_t nr_zeros);
void event_signal_done(struct event_signal *signal);

/* Adds the value of a second, which must be later than the last one. Returns what this means for
 * the burst. Errors: -ENOMEM; the second is left out then. */
int event_signal_push(struct event_signal *signal, uint64_t second, double value,
		      enum event_step *ret_step) must_check;

/* Ends a burst, if there is one. Returns whether an event ends with it. */
bool event_signal_stop(struct event_signal *signal);

/* Returns the usual value, the median of the last ten minutes. */
double event_signal_usual(const struct event_signal *signal);

/* Returns whether a signal holds nothing that matters any more. */
bool event_signal_is_idle(const struct event_signal *signal);

#endif
