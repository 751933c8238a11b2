/* SPDX-License-Identifier: Apache-2.0 */
#include "selfmon/metric_text.h"

#include "base/clock.h"
#include "base/printable.h"

#include <inttypes.h>

void metric_text_head(struct strbuf *out, const char *family, enum metric_type type,
		      const char *help)
{
	strbuf_appendf(out, "# HELP %s ", family);
	printable_append_quoted(out, help, "\\");
	strbuf_appendf(out, "\n# TYPE %s %s\n", family,
		       type == METRIC_COUNTER ? "counter" : "gauge");
}

static void append_series(struct strbuf *out, const struct metric_series *series)
{
	strbuf_append_str(out, series->family);
	if (!series->label)
		return;
	strbuf_appendf(out, "{%s=\"", series->label);
	printable_append_quoted(out, series->label_value, "\\\"");
	strbuf_append_str(out, "\"}");
}

void metric_text_count(struct strbuf *out, const struct metric_series *series, uint64_t value)
{
	append_series(out, series);
	strbuf_appendf(out, " %" PRIu64 "\n", value);
}

void metric_text_ns(struct strbuf *out, const struct metric_series *series, uint64_t value_ns)
{
	append_series(out, series);
	strbuf_appendf(out, " %" PRIu64 ".%09" PRIu64 "\n", value_ns / NSEC_PER_SEC,
		       value_ns % NSEC_PER_SEC);
}
