/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/timeline_text.h"

#include "base/cleanup.h"
#include "base/printable.h"
#include "vitals/vitals.h"

#include <inttypes.h>
#include <string.h>

#define NAME_MAX_BYTES 65536

static uint64_t time_of(const struct store_timeline *timeline, size_t step)
{
	return timeline->first_s + step * timeline->step_s;
}

/* Quotes a cell if it needs it. */
static void append_cell(struct strbuf *out, const char *text)
{
	_cleanup_(strbuf_done) struct strbuf cell = strbuf_with_max(NAME_MAX_BYTES);

	printable_append(&cell, text);
	const char *c = strbuf_str(&cell);
	if (!strpbrk(c, ",\"")) {
		strbuf_append_str(out, c);
		return;
	}
	strbuf_append_char(out, '"');
	for (; *c; c++) {
		if (*c == '"')
			strbuf_append_char(out, '"');
		strbuf_append_char(out, *c);
	}
	strbuf_append_char(out, '"');
}

static bool is_known(const struct store_timeline *timeline, const struct timeline_line *line,
		     size_t step)
{
	return timeline->nr_seconds[step] > 0 && (!line->is_known || line->is_known[step]);
}

void timeline_text_append_csv(const struct store_timeline *timeline, struct strbuf *out)
{
	strbuf_append_str(out, "time,seconds");
	for (size_t i = 0; i < timeline->nr_lines; i++) {
		strbuf_append_char(out, ',');
		append_cell(out, timeline->lines[i].name);
	}
	strbuf_append_char(out, '\n');
	for (size_t step = 0; step < timeline->nr_steps; step++) {
		strbuf_appendf(out, "%" PRIu64 ",%" PRIu32, time_of(timeline, step),
			       timeline->nr_seconds[step]);
		for (size_t i = 0; i < timeline->nr_lines; i++) {
			strbuf_append_char(out, ',');
			if (is_known(timeline, &timeline->lines[i], step))
				strbuf_appendf(out, "%" PRIu64, timeline->lines[i].values[step]);
		}
		strbuf_append_char(out, '\n');
	}
}

static void append_json_line(const struct store_timeline *timeline,
			     const struct timeline_line *line, bool has_unit, struct strbuf *out)
{
	enum vital vital = vital_find(line->name);

	strbuf_append_str(out, "{\"name\":\"");
	printable_append_quoted(out, line->name, "\"\\");
	strbuf_append_char(out, '"');
	if (!has_unit && vital < VITAL_NR)
		strbuf_appendf(out, ",\"unit\":\"%s\"", vital_unit_name(vital_info(vital)->unit));
	if (has_unit)
		strbuf_appendf(out, ",\"total\":%" PRIu64, line->total);
	strbuf_appendf(out, ",\"is_rest\":%s,\"values\":[", line->is_rest ? "true" : "false");
	for (size_t step = 0; step < timeline->nr_steps; step++) {
		strbuf_append_str(out, step ? "," : "");
		if (!is_known(timeline, line, step))
			strbuf_append_str(out, "null");
		else
			strbuf_appendf(out, "%" PRIu64, line->values[step]);
	}
	strbuf_append_str(out, "]}");
}

void timeline_text_append_json(const struct store_timeline *timeline, const char *unit,
			       struct strbuf *out)
{
	strbuf_appendf(out,
		       "{\"first\":%" PRIu64 ",\"step\":%" PRIu64 ",\"hosts\":%zu,\"unit\":\"%s\""
		       ",\"period_ns\":%" PRIu64 ",\"seconds\":[",
		       timeline->first_s, timeline->step_s, timeline->nr_hosts, unit,
		       timeline->period);
	for (size_t step = 0; step < timeline->nr_steps; step++)
		strbuf_appendf(out, "%s%" PRIu32, step ? "," : "", timeline->nr_seconds[step]);
	strbuf_append_str(out, "],\"lines\":[");
	for (size_t i = 0; i < timeline->nr_lines; i++) {
		strbuf_append_str(out, i ? "," : "");
		append_json_line(timeline, &timeline->lines[i], unit[0] != '\0', out);
	}
	strbuf_append_str(out, "]}\n");
}
