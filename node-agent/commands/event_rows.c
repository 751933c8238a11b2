/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/event_rows.h"

#include "base/minmax.h"
#include "base/printable.h"
#include "base/strview.h"
#include "base/text.h"
#include "commands/record_query.h"

#include <inttypes.h>

#define NAME_COLUMNS 7
#define LENGTH_COLUMNS 6
#define SCORE_COLUMNS 6
#define MIN_TEXT_COLUMNS 30
#define LINE_BYTES 8192

/* Appends words in lines of that width, the second and following ones after as many blanks. */
static void append_wrapped(const char *text, size_t indent, size_t columns, struct strbuf *out)
{
	struct strview rest = strview_of(text, SIZE_MAX), word;
	size_t used = 0;

	while (strview_next(&rest, ' ', &word)) {
		if (word.len == 0)
			continue;
		if (used > 0 && used + 1 + word.len > columns) {
			strbuf_appendf(out, "\n%*s", (int)indent, "");
			used = 0;
		}
		strbuf_appendf(out, "%s%.*s", used > 0 ? " " : "", (int)word.len, word.text);
		used += word.len + (used > 0);
	}
	strbuf_append_char(out, '\n');
}

static void append_row(const struct found_event *found, bool with_host, size_t columns,
		       struct strbuf *out)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(LINE_BYTES);
	const struct event *event = &found->event;
	char name[EVENT_NAME_BYTES], first[RECORD_TIME_BYTES];
	size_t before = out->len;

	event_reader_name(event, name);
	record_query_format_time(event->first_s, first);
	strbuf_appendf(out, "@%-*s %-19s %*" PRIu64 " s %*.1f  ", NAME_COLUMNS - 1, name, first,
		       LENGTH_COLUMNS - 2, event->end_s - event->first_s, SCORE_COLUMNS,
		       event->score);
	size_t indent = out->len - before;
	if (with_host) {
		printable_append(&text, found->host);
		strbuf_append_str(&text, ": ");
	}
	printable_append(&text, event->text);
	if (event->is_open)
		strbuf_append_str(&text, " (goes on)");
	strbuf_fail(out, strbuf_error(&text));
	append_wrapped(strbuf_str(&text), indent,
		       max_u64(columns > indent ? columns - indent : 0, MIN_TEXT_COLUMNS), out);
}

void event_rows_append(struct found_events *events, size_t max, bool with_host, size_t columns,
		       struct strbuf *out)
{
	size_t nr_all = events->nr + events->nr_left_out;

	found_events_keep_worst(events, max);
	if (events->nr == 0)
		return;
	strbuf_appendf(out, "%-*s %-19s %*s %*s  what\n", NAME_COLUMNS, "event", "from",
		       LENGTH_COLUMNS, "length", SCORE_COLUMNS, "score");
	for (size_t i = 0; i < events->nr; i++)
		append_row(&events->items[i], with_host, columns, out);
	if (events->nr_left_out > 0)
		strbuf_appendf(out,
			       "The %zu worst of %zu events; flamelet ls --events %zu lists all. A "
			       "range, such as -1h, lists those of that time.\n",
			       events->nr, nr_all, nr_all);
}

void event_rows_append_sentence(const struct asked_range *asked, struct strbuf *out)
{
	strbuf_appendf(out, "%s: ", asked->name);
	printable_append(out, asked->found.event.text);
}

static void append_json_text(const char *key, const char *text, struct strbuf *out)
{
	strbuf_appendf(out, ",\"%s\":\"", key);
	printable_append_quoted(out, text, "\"\\");
	strbuf_append_char(out, '"');
}

void event_rows_append_json_event(const struct found_event *found, struct strbuf *out)
{
	const struct event *event = &found->event;
	char name[EVENT_NAME_BYTES];

	event_reader_name(event, name);
	strbuf_appendf(out,
		       "{\"id\":\"%s\",\"kind\":\"%s\",\"first\":%" PRIu64 ",\"end\":%" PRIu64
		       ",\"open\":%s,\"score\":%.3f",
		       name, event_kind_name(event->kind), event->first_s, event->end_s,
		       event->is_open ? "true" : "false", event->score);
	append_json_text("host", found->host, out);
	append_json_text("subject", event->subject, out);
	append_json_text("selector", event->selector, out);
	append_json_text("text", event->text, out);
	strbuf_append_char(out, '}');
}

void event_rows_append_json(const struct found_events *events, struct strbuf *out)
{
	strbuf_append_char(out, '[');
	for (size_t i = 0; i < events->nr; i++) {
		if (i > 0)
			strbuf_append_char(out, ',');
		event_rows_append_json_event(&events->items[i], out);
	}
	strbuf_append_char(out, ']');
}
