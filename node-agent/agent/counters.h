/* SPDX-License-Identifier: Apache-2.0 */
/* The values of everything that the agent counts, as text for the log and for Prometheus.
 * counter_list.c names them, docs/operations.md explains them. */
#ifndef AGENT_COUNTERS_H
#define AGENT_COUNTERS_H

#include "agent/counter_list.h"
#include "base/strbuf.h"

/* Appends "samples=123 ring_full=4 …": the counters that are not 0. */
void counters_format(const struct counters *counters, struct strbuf *out);

/* Appends what became of the samples: "14,115 samples taken, 0 lost; 14,115 recorded; 14,100
 * delivered, 15 not". The record and destinations are left out if they were given none. */
void counters_append_brief(const struct counters *counters, struct strbuf *out);

/* Metrics for operating the agent, and metrics for finding a fault in it. */
enum counter_set { COUNTERS_OPERATION, COUNTERS_DEBUG };

/* Appends the families of a set as Prometheus reads them (selfmon/metric_text.h). */
void counters_expose(const struct counters *counters, enum counter_set set, struct strbuf *out);

#endif
