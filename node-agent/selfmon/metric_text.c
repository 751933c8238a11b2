/* SPDX-License-Identifier: Apache-2.0 */
#include "selfmon/metric_text.h"

#include "base/clock.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <string.h>

/* A newline and the characters of `special` go behind a backslash; bytes that are not UTF-8 are replaced. */
static void append_escaped(struct strbuf *out, const char *text, const char *special)
{
	while (*text) {
		size_t len = utf8_char_len(text);

		if (len == 0)
			strbuf_append_str(out, UTF8_REPLACEMENT);
		else if (*text == '\n')
			strbuf_append_str(out, "\\n");
		else if (strchr(special, *text))
			strbuf_appendf(out, "\\%c", *text);
		else
			strbuf_append(out, text, len);
		text += len > 0 ? len : 1;
	}
}

void metric_text_head(struct strbuf *out, const char *family, enum metric_type type,
		      const char *help)
{
	strbuf_appendf(out, "# HELP %s ", family);
	append_escaped(out, help, "\\");
	strbuf_appendf(out, "\n# TYPE %s %s\n", family,
		       type == METRIC_COUNTER ? "counter" : "gauge");
}

static void append_series(struct strbuf *out, const struct metric_series *series)
{
	strbuf_append_str(out, series->family);
	if (!series->label)
		return;
	strbuf_appendf(out, "{%s=\"", series->label);
	append_escaped(out, series->label_value, "\\\"");
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
