/* SPDX-License-Identifier: Apache-2.0 */
/* Everything the agent counts, by one list of names: nothing is lost without a number here. */
#ifndef COUNTERS_H
#define COUNTERS_H

#include "agent.h"
#include "otlp/exporter.h"

struct counters {
	struct agent_stats agent;
	struct exporter_stats exporter;
};

/* Appends "samples=123 ring_full=4 …": the counters that are not 0. */
void counters_format(const struct counters *counters, struct strbuf *out);

#endif
