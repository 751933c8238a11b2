/* SPDX-License-Identifier: Apache-2.0 */
/* The values of one signal in the last ten minutes, a value per second, and what was usual in that
 * time. Values are whole steps of a unit that the caller chooses. */
#ifndef STORE_EVENT_HISTORY_H
#define STORE_EVENT_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#define EVENT_HISTORY_S 600
#define EVENT_HISTORY_MAX UINT16_MAX /* larger values are stored as this one */

struct event_history {
	uint16_t values[EVENT_HISTORY_S]; /* a ring */
	size_t nr, next;
};

struct event_baseline {
	double median;
	double spread; /* median absolute deviation, scaled to a standard deviation */
	double high; /* 90 of 100 values are at most this one */
	double bursts; /* bursts up to this value are usual */
};

/* Forgets everything, and begins with so many seconds of 0. */
void event_history_reset(struct event_history *history, size_t nr_zeros);

/* Adds the value of the next second, in steps. */
void event_history_push(struct event_history *history, double steps);

/* Forgets all values except the newest ones. */
void event_history_keep(struct event_history *history, size_t nr);

/* Returns what was usual. A history without values is one of zeros. */
struct event_baseline event_history_baseline(const struct event_history *history);

#endif
