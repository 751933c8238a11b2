/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that the agent counts, with a row for each number: nothing is lost without a number
 * here. To count something more, add a row. */
#ifndef AGENT_COUNTER_LIST_H
#define AGENT_COUNTER_LIST_H

#include "agent/agent.h"
#include "agent/boost.h"
#include "agent/reload.h"
#include "agent/self_stats.h"
#include "agent/webhook.h"
#include "otlp/delivery/exporter.h"
#include "selfmon/metric_text.h"
#include "store/store_writer.h"

#include <stdbool.h>
#include <stddef.h>

/* All members, also those of members, are uint64_t. */
struct counters {
	struct agent_stats agent;
	struct exporter_stats exporter;
	struct store_writer_stats store;
	struct webhook_stats webhook;
	struct boost_stats boost;
	struct reload_stats reload;
	struct self_stats self;
};

enum counter_unit {
	COUNTER_PLAIN, /* things, bytes */
	COUNTER_NS, /* a length of time, or a Unix time */
	COUNTER_BACKEND, /* an enum capture_backend, shown as a label */
	COUNTER_MONO_NS, /* a time of CLOCK_MONOTONIC, shown as Unix time; 0: never */
};

/* Rows of a family stand together. */
struct counter {
	const char *name; /* in the log; NULL: not there */
	size_t offset; /* of a uint64_t in struct counters */
	const char
		*family; /* for Prometheus; NULL: this and the next three are as in the row above */
	const char *help;
	const char *label; /* NULL: none */
	enum metric_type type;
	const char *label_value;
	bool is_debug; /* of the family: shown on /metrics/debug alone */
	enum counter_unit unit;
};

extern const struct counter counter_list[];
extern const size_t counter_list_len;

#endif
