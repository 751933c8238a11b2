/* SPDX-License-Identifier: Apache-2.0 */
/* The values that rules of --trigger are about, of one second: one of the node, or one of each pod,
 * process, limit or CPU. */
#ifndef STORE_TRIGGER_VALUES_H
#define STORE_TRIGGER_VALUES_H

#include "store/event_detector.h"
#include "store/second.h"
#include "store/trigger_rule.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRIGGER_VALUES_MAX_CPUS 8192

struct trigger_value {
	const char *subject, *selector; /* borrowed; as in struct event */
	double value; /* in the unit of the measure */
};

typedef void (*trigger_value_visit)(const struct trigger_value *value, void *data);

/* What is known from one second to the next. Empty at first. */
struct trigger_values {
	double *cpus; /* owned; CPU time of each CPU; only memory, its content is of no second */
	size_t cap_cpus;
	uint64_t available_bytes; /* of memory, a second before */
	bool has_available;
};

void trigger_values_done(struct trigger_values *values);

/* Visits the values of a measure, in a second that was added to the detector just now. What is not
 * known is left out. */
void trigger_values_visit(struct trigger_values *values, const struct trigger_measure *measure,
			  const struct store_second *second, const struct event_detector *detector,
			  trigger_value_visit visit, void *data);

/* Ends a second, after all measures were visited. */
void trigger_values_end_second(struct trigger_values *values, const struct store_second *second);

#endif
