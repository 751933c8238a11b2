/* SPDX-License-Identifier: Apache-2.0 */
/* Events of the hardware and of the kernel. Each time that so many have come, there is a sample:
 * perf_event_open(2). Hardware events need a performance monitoring unit, which many virtual
 * machines lack. */
#ifndef CAPTURE_PERF_EVENTS_COUNTED_EVENT_H
#define CAPTURE_PERF_EVENTS_COUNTED_EVENT_H

#include "base/err.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

struct counted_event {
	const char *word; /* "hw:cycles", "sw:page-faults" */
	uint32_t type; /* enum perf_type_id */
	uint64_t config;
	uint64_t period; /* events that a sample stands for, unless the user says so */
};

/* Returns the event with that word, or NULL. Static. */
const struct counted_event *counted_event_find(const char *word);

/* Returns the event's name without what kind it is: "cycles". */
const char *counted_event_name(const struct counted_event *event);

/* The attributes of the event, of which each `period` takes a sample. */
struct perf_event_attr counted_event_attr(const struct counted_event *event, uint64_t period);

/* Returns 0 if this machine counts the event. Errors: -ENOENT it does not; and what
 * perf_event_open(2) says. */
int counted_event_try(const struct counted_event *event) must_check;

/* Returns whether the error of perf_event_open(2) means that the machine does not count the event.
 */
bool counted_event_is_lacking(int error);

#endif
