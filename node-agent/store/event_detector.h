/* SPDX-License-Identifier: Apache-2.0 */
/* Finds events in what a node did, second by second (store/second.h). Each of these is a signal,
 * compared with its own last ten minutes (store/event_signal.h): the node's CPU time, interrupts,
 * stolen time, threads that wait for a CPU, pressure on memory, new processes and lost samples; the
 * CPU time of each pod, and outside pods of all processes with the same name; the time for which
 * CPU limits stopped threads. */
#ifndef STORE_EVENT_DETECTOR_H
#define STORE_EVENT_DETECTOR_H

#include "base/cleanup.h"
#include "base/err.h"
#include "store/event.h"
#include "store/second.h"

#include <stdint.h>

struct event_detector;

struct event_detector_stats {
	uint64_t nr_events[EVENT_NR_KINDS]; /* that have begun */
	uint64_t nr_events_dropped; /* too many at once */
	uint64_t nr_unwatched; /* seconds of pods and processes that there was no room for */
};

/* Events are numbered from `first_number` on. Errors: -ENOMEM. */
int event_detector_new(uint64_t first_number, struct event_detector **ret_detector) must_check;
void event_detector_free(struct event_detector *detector);
DEFINE_FREEP(struct event_detector, event_detector_free)

/* Adds a second. If the clock goes back or leaps, all events end. */
void event_detector_add(struct event_detector *detector, const struct store_second *second);

/* What a pod, a process, or the node did in the second that was added last. */
struct event_value {
	const char *subject, *selector; /* borrowed; as in struct event */
	double value; /* in seconds of time per second, or a number */
	double usual; /* the median of the last ten minutes */
	double floor; /* what is above the usual value by less is no event */
	bool is_known; /* long enough to have a usual value */
};

/* Visits the values of a kind. They are valid for the call. */
typedef void (*event_value_visit)(const struct event_value *value, void *data);
void event_detector_visit(const struct event_detector *detector, enum event_kind kind,
			  event_value_visit visit, void *data);

/* Returns the name of the pod or process whose CPU use is most above its usual one, or NULL.
 * Borrowed until the next second. */
const char *event_detector_contributor(const struct event_detector *detector);

/* Adds an event that others found, or replaces it. One with the number 0 gets the next one.
 * Errors: -ENOSPC there are too many. */
int event_detector_put(struct event_detector *detector, struct event *event) must_check;

/* Ends all events that go on. */
void event_detector_finish(struct event_detector *detector);

/* Returns the events that have begun or changed since event_detector_forget_changes(), each as it
 * is now. Borrowed until the next call. */
const struct event_list *event_detector_changes(const struct event_detector *detector);
void event_detector_forget_changes(struct event_detector *detector);

struct event_detector_stats event_detector_get_stats(const struct event_detector *detector);

#endif
