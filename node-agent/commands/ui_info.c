/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/ui_info.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json_text.h"
#include "base/strview.h"
#include "commands/commands.h"
#include "commands/event_rows.h"
#include "commands/pin_text.h"
#include "commands/record_query.h"
#include "commands/span_rows.h"
#include "store/event_reader.h"
#include "store/pin_dir.h"

#include <inttypes.h>
#include <string.h>

#define LINE_MAX_BYTES 65536

/* The messages so far, as an array of sentences. */
static void append_warnings(struct answer *answer)
{
	struct strview rest = strview_of(strbuf_str(&answer->messages), SIZE_MAX), line;
	struct strbuf *out = &answer->body;
	const char *separator = "";

	strbuf_append_str(out, ",\"warnings\":[");
	while (strview_next(&rest, '\n', &line)) {
		_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(LINE_MAX_BYTES);

		if (line.len == 0)
			continue;
		strbuf_append(&text, line.text, line.len);
		strbuf_append_str(out, separator);
		json_append_text(out, strbuf_str(&text));
		separator = ",";
	}
	strbuf_append_str(out, "]}\n");
}

/* Spans are ordered by host. */
static void append_hosts(const struct store_reader *reader, struct strbuf *out)
{
	const char *last = NULL;

	strbuf_append_str(out, ",\"hosts\":[");
	for (size_t i = 0; i < reader->nr_spans; i++) {
		const char *host = reader->spans[i].host;

		if (last && strcmp(host, last) == 0)
			continue;
		strbuf_append_str(out, last ? "," : "");
		json_append_text(out, host);
		last = host;
	}
	strbuf_append_char(out, ']');
}

static void append_times(const struct store_reader *reader, struct strbuf *out)
{
	const struct time_range all = { 0, UINT64_MAX };
	const struct time_range time = span_rows_time(reader, &all);

	strbuf_appendf(out,
		       ",\"now\":%" PRIu64 ",\"first\":%" PRIu64 ",\"end\":%" PRIu64
		       ",\"newest\":%" PRIu64,
		       clock_real_ns() / NSEC_PER_SEC, time.first_s, time.end_s,
		       store_reader_newest(reader));
}

static void append_types(const struct store_reader *reader, struct strbuf *out)
{
	const char *separator = "";

	strbuf_append_str(out, ",\"types\":[");
	for (enum profile_type type = 0; type < PROFILE_NR_TYPES; type++) {
		uint64_t sum = 0;

		for (size_t i = 0; i < reader->nr_spans; i++)
			sum += reader->spans[i].nr_samples[type];
		if (sum == 0)
			continue;
		strbuf_append_str(out, separator);
		json_append_text(out, profile_type_word(type));
		separator = ",";
	}
	strbuf_append_char(out, ']');
}

void ui_info_append(const struct store_reader *reader, struct answer *answer)
{
	const struct time_range all = { 0, UINT64_MAX };
	struct strbuf *out = &answer->body;

	strbuf_append_str(out, "{\"version\":\"" FLAMELET_VERSION "\"");
	append_times(reader, out);
	append_hosts(reader, out);
	append_types(reader, out);
	strbuf_append_str(out, ",\"files\":");
	span_rows_append_json(reader, &all, out);
	append_warnings(answer);
}

static void append_pins(const struct options *options, const struct time_range *range,
			struct answer *answer)
{
	_cleanup_(pin_list_done) struct pin_list pins = { 0 };

	pin_text_collect(&options->stores, range, &answer->messages, &pins);
	strbuf_append_str(&answer->body, ",\"pins\":");
	pin_text_append_json(&pins, &answer->body);
}

int ui_info_append_events(const struct options *options, const struct options *question,
			  const struct store_reader *reader, struct answer *answer)
{
	_cleanup_(found_events_done) struct found_events events = { 0 };
	struct asked_range asked;

	int status = record_query_range(question, reader, "all", &answer->messages, &asked);
	if (status != STATUS_OK)
		return status;
	int r = event_reader_read(reader, &asked.range, &answer->messages, &events);
	if (r < 0)
		return answer_fail(answer, "cannot read the events", r);
	strbuf_append_str(&answer->body, "{\"events\":");
	event_rows_append_json(&events, &answer->body);
	append_pins(options, &asked.range, answer);
	append_warnings(answer);
	return STATUS_OK;
}
