/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/counters.h"

#include "agent/counter_list.h"
#include "base/clock.h"
#include "base/text.h"
#include "capture/capture_stats.h"

#include <inttypes.h>
#include <string.h>

#define BUILD_INFO "flamelet_build_info"

static uint64_t value_of(const struct counters *counters, const struct counter *counter)
{
	return *(const uint64_t *)(const void *)((const char *)counters + counter->offset);
}

void counters_format(const struct counters *counters, struct strbuf *out)
{
	const char *separator = "";

	for (size_t i = 0; i < counter_list_len; i++) {
		uint64_t value = value_of(counters, &counter_list[i]);

		if (value == 0 || !counter_list[i].name)
			continue;
		strbuf_appendf(out, "%s%s=%" PRIu64, separator, counter_list[i].name, value);
		separator = " ";
	}
}

static void append_fate(const char *verb, uint64_t nr, uint64_t nr_not, struct strbuf *out)
{
	strbuf_append_str(out, "; ");
	text_append_count(out, nr);
	strbuf_appendf(out, " %s", verb);
	if (nr_not == 0)
		return;
	strbuf_append_str(out, ", ");
	text_append_count(out, nr_not);
	strbuf_append_str(out, " not");
}

void counters_append_brief(const struct counters *counters, struct strbuf *out)
{
	const struct store_writer_stats *store = &counters->store;
	const struct exporter_stats *exporter = &counters->exporter;
	uint64_t nr_undelivered = 0;

	for (size_t i = 0; i < array_len(exporter->nr_samples_dropped); i++)
		nr_undelivered += exporter->nr_samples_dropped[i];
	text_append_count(out, counters->agent.pipeline.nr_samples);
	strbuf_append_str(out, " samples taken, ");
	text_append_count(out, agent_stats_lost(&counters->agent));
	strbuf_append_str(out, " lost");
	if (store->nr_samples_pushed > 0)
		append_fate("recorded", store->recorder.nr_samples_written,
			    store->nr_samples_refused + store->recorder.nr_samples_dropped, out);
	if (exporter->nr_samples_pushed > 0)
		append_fate("delivered", exporter->nr_samples_sent, nr_undelivered, out);
}

/* Shows the name of the backend as the label's value. */
static void expose_backend(struct strbuf *out, const struct metric_series *series, uint64_t value)
{
	struct metric_series named = *series;

	named.label_value = capture_backend_name((enum capture_backend)value);
	metric_text_count(out, &named, 1);
}

static void expose_value(struct strbuf *out, const struct metric_series *series,
			 enum counter_unit unit, uint64_t value)
{
	switch (unit) {
	case COUNTER_PLAIN:
		metric_text_count(out, series, value);
		break;
	case COUNTER_NS:
		metric_text_ns(out, series, value);
		break;
	case COUNTER_BACKEND:
		expose_backend(out, series, value);
		break;
	case COUNTER_MONO_NS:
		metric_text_ns(out, series, value > 0 ? clock_mono_to_real_ns(value) : 0);
		break;
	}
}

static void expose_build(struct strbuf *out)
{
	const struct metric_series series = { BUILD_INFO, "version", FLAMELET_VERSION };

	metric_text_head(out, BUILD_INFO, METRIC_GAUGE,
			 "Version of the agent; the value is always 1.");
	metric_text_count(out, &series, 1);
}

void counters_expose(const struct counters *counters, enum counter_set set, struct strbuf *out)
{
	struct metric_series series = { 0 };
	enum counter_set family_set = set;

	if (set == COUNTERS_OPERATION)
		expose_build(out);
	for (size_t i = 0; i < counter_list_len; i++) {
		const struct counter *counter = &counter_list[i];

		if (counter->family)
			family_set = counter->is_debug ? COUNTERS_DEBUG : COUNTERS_OPERATION;
		if (family_set != set)
			continue;
		if (counter->family) {
			if (!series.family || strcmp(counter->family, series.family) != 0)
				metric_text_head(out, counter->family, counter->type,
						 counter->help);
			series.family = counter->family;
			series.label = counter->label;
		}
		series.label_value = counter->label_value;
		expose_value(out, &series, counter->unit, value_of(counters, counter));
	}
}
