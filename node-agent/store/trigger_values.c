/* SPDX-License-Identifier: Apache-2.0 */
#include "store/trigger_values.h"

#include "base/array.h"
#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODE "node"
#define CPU_NAME_BYTES 32

void trigger_values_done(struct trigger_values *values)
{
	free(values->cpus);
	*values = (struct trigger_values){ 0 };
}

/* A visit of the detector's values that is passed on. */
struct relay {
	trigger_value_visit visit;
	void *data;
};

static void pass(const struct relay *relay, const char *subject, const char *selector, double value)
{
	const struct trigger_value passed = { subject, selector, value };

	relay->visit(&passed, relay->data);
}

static void pass_level(const struct event_value *value, void *data)
{
	pass(data, value->subject, value->selector, value->value);
}

/* Someone who usually does nothing can grow by any factor, so what is above the usual value must
 * also be as much as an event needs. */
static void pass_surge(const struct event_value *value, void *data)
{
	double excess = value->value - value->usual;
	bool is_surge = value->is_known && excess >= value->floor;
	double usual = fmax(value->usual, value->floor / 100);

	pass(data, value->subject, value->selector, is_surge ? value->value / usual : 0);
}

static double in_seconds(const struct vitals *vitals, enum vital vital)
{
	return (double)vitals->values[vital] / (double)NSEC_PER_SEC;
}

static void pass_node_share(const struct relay *relay, const struct vitals *vitals)
{
	double busy = in_seconds(vitals, VITAL_USER) + in_seconds(vitals, VITAL_SYSTEM) +
		      in_seconds(vitals, VITAL_IRQ) + in_seconds(vitals, VITAL_SOFTIRQ);
	double all = busy + in_seconds(vitals, VITAL_STEAL) + in_seconds(vitals, VITAL_IDLE) +
		     in_seconds(vitals, VITAL_IOWAIT);

	if (vitals_has(vitals, VITAL_USER) && all > 0)
		pass(relay, NODE, "", busy / all);
}

static void pass_vital(const struct relay *relay, const struct vitals *vitals, enum vital vital)
{
	if (vitals_has(vitals, vital))
		pass(relay, NODE, "",
		     vital_info(vital)->unit == VITAL_NS ? in_seconds(vitals, vital)
							 : (double)vitals->values[vital]);
}

static void pass_memory_growth(const struct trigger_values *values, const struct relay *relay,
			       const struct vitals *vitals)
{
	if (vitals_has(vitals, VITAL_MEMORY_AVAILABLE) && values->has_available)
		pass(relay, NODE, "",
		     (double)values->available_bytes -
			     (double)vitals->values[VITAL_MEMORY_AVAILABLE]);
}

static size_t count_cpus(const struct store_second *second)
{
	size_t nr = 0;

	for (size_t i = 0; i < second->nr_series; i++)
		for (size_t k = 0; k < second->series[i].nr_cpus; k++)
			if (second->series[i].cpus[k].cpu >= nr)
				nr = second->series[i].cpus[k].cpu + (size_t)1;
	return nr;
}

static void add_cpus(double *cpus, const struct second_series *series)
{
	double period_s = (double)series->period / (double)NSEC_PER_SEC;

	for (size_t i = 0; series->type == PROFILE_CPU && i < series->nr_cpus; i++)
		cpus[series->cpus[i].cpu] += (double)series->cpus[i].value * period_s;
}

/* Without memory, the CPUs of this second are not known. */
static void pass_cpus(struct trigger_values *values, const struct relay *relay,
		      const struct store_second *second)
{
	size_t nr = count_cpus(second);
	char name[CPU_NAME_BYTES];

	if (array_grow(values->cpus, values->cap_cpus, nr, TRIGGER_VALUES_MAX_CPUS) < 0 || nr == 0)
		return;
	memset(values->cpus, 0, nr * sizeof(*values->cpus));
	for (size_t i = 0; i < second->nr_series; i++)
		add_cpus(values->cpus, &second->series[i]);
	for (size_t i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "CPU %zu", i);
		pass(relay, name, "", values->cpus[i]);
	}
}

void trigger_values_visit(struct trigger_values *values, const struct trigger_measure *measure,
			  const struct store_second *second, const struct event_detector *detector,
			  trigger_value_visit visit, void *data)
{
	struct relay relay = { visit, data };

	switch (measure->source) {
	case TRIGGER_SUBJECTS:
		event_detector_visit(detector, measure->kind, pass_level, &relay);
		break;
	case TRIGGER_SURGE:
		event_detector_visit(detector, measure->kind, pass_surge, &relay);
		break;
	case TRIGGER_NODE_SHARE:
		pass_node_share(&relay, &second->vitals);
		break;
	case TRIGGER_CPU:
		pass_cpus(values, &relay, second);
		break;
	case TRIGGER_VITAL:
		pass_vital(&relay, &second->vitals, measure->vital);
		break;
	case TRIGGER_MEMORY_GROWTH:
		pass_memory_growth(values, &relay, &second->vitals);
		break;
	}
}

void trigger_values_end_second(struct trigger_values *values, const struct store_second *second)
{
	values->has_available = vitals_has(&second->vitals, VITAL_MEMORY_AVAILABLE);
	values->available_bytes = second->vitals.values[VITAL_MEMORY_AVAILABLE];
}
