/* SPDX-License-Identifier: Apache-2.0 */
/* Everything the agent counts, by one list of names (counter_list.c): nothing is lost without a number here. The list is
 * written for the log and for Prometheus; docs/operations.md explains it. */
#ifndef AGENT_COUNTERS_H
#define AGENT_COUNTERS_H

#include "agent/agent.h"
#include "otlp/delivery/exporter.h"
#include "agent/reload.h"
#include "agent/self_stats.h"

/* Nothing but uint64_t, however deep. */
struct counters {
	struct agent_stats agent;
	struct exporter_stats exporter;
	struct reload_stats reload;
	struct self_stats self;
};

/* Appends "samples=123 ring_full=4 …": the counters that are not 0. */
void counters_format(const struct counters *counters, struct strbuf *out);

/* Families for those who operate the agent, and those that help to find a fault in it. */
enum counter_set { COUNTERS_OPERATION, COUNTERS_DEBUG };

/* Appends the families of a set as Prometheus reads them (selfmon/metric_text.h). */
void counters_expose(const struct counters *counters, enum counter_set set, struct strbuf *out);

#endif
