/* SPDX-License-Identifier: Apache-2.0 */
/* flamelet ls: lists the files of records, what they lack, the events, and the pins. */
#include "base/cleanup.h"
#include "base/text.h"
#include "commands/answer.h"
#include "commands/commands.h"
#include "commands/event_rows.h"
#include "commands/kind_type.h"
#include "commands/pin_text.h"
#include "commands/record_query.h"
#include "commands/span_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNT_COLUMNS 13
#define DEFAULT_COLUMNS 100
#define EVENTLESS_S 70 /* an agent has no event in its first minute, which begins a bit later */

static void append_stacks(const struct store_span *span, struct strbuf *out)
{
	if (span->end_s == 0)
		strbuf_append_str(out, "no samples");
	else if (span->min_count <= 1)
		strbuf_append_str(out, "whole");
	else
		strbuf_appendf(out, "%.1f %% folded (below %" PRIu64 " samples a minute)",
			       100.0 * (double)span->folded[PROFILE_CPU] /
				       (double)(span->nr_samples[PROFILE_CPU] + 1),
			       span->min_count);
}

static void append_count(struct strbuf *out, uint64_t count)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(COUNT_COLUMNS * 4);

	text_append_count(&text, count);
	strbuf_appendf(out, "%*s", COUNT_COLUMNS, strbuf_str(&text));
}

/* Appends the kinds of samples that the file has besides those of CPU time. */
static void append_kinds(const struct store_span *span, struct strbuf *out)
{
	const char *separator = "; with ";

	for (enum profile_type type = PROFILE_CPU + 1; type < PROFILE_NR_TYPES; type++) {
		const char *word = kind_type_word(type);

		if (span->nr_samples[type] == 0 || !word)
			continue;
		strbuf_appendf(out, "%s%s", separator, word);
		separator = ", ";
	}
}

static void append_span(const struct store_span *span, struct strbuf *out)
{
	const struct time_range time = span_time(span);
	char first[RECORD_TIME_BYTES] = "-", end[RECORD_TIME_BYTES] = "-";

	if (time.end_s > 0) {
		record_query_format_time(time.first_s, first);
		record_query_format_time(time.end_s, end);
	}
	strbuf_appendf(out, "%-19s  %-19s ", first, end);
	append_count(out, span->nr_samples[PROFILE_CPU]);
	strbuf_appendf(out, "  %6.1f MB  ", (double)span->bytes / 1e6);
	append_stacks(span, out);
	append_kinds(span, out);
	if (span->is_pinned)
		strbuf_append_str(out, "; pinned ranges");
	if (span->nr_lost > 0)
		strbuf_appendf(out, "; %" PRIu64 " samples lost", span->nr_lost);
	strbuf_append_char(out, '\n');
}

static void append_text(const struct store_reader *reader, const struct time_range *range,
			struct strbuf *out)
{
	const char *host = NULL;

	for (size_t i = 0; i < reader->nr_spans; i++) {
		const struct store_span *span = &reader->spans[i];

		if (!span_is_of(span, range))
			continue;
		if (!host || strcmp(host, span->host) != 0) {
			host = span->host;
			strbuf_appendf(out, "%srecord of %s\n%-19s  %-19s %*s  %9s  stacks\n",
				       out->len > 0 ? "\n" : "", host, "from", "to", COUNT_COLUMNS,
				       "samples", "size");
		}
		append_span(span, out);
	}
}

/* What is listed; all is borrowed. */
struct listing {
	const struct store_reader *reader;
	struct time_range range; /* of the files */
	struct found_events *events;
	const struct pin_list *pins;
};

static void append_json(const struct listing *listing, struct strbuf *out)
{
	strbuf_append_str(out, "{\"files\":");
	span_rows_append_json(listing->reader, &listing->range, out);
	strbuf_append_str(out, ",\"events\":");
	event_rows_append_json(listing->events, out);
	strbuf_append_str(out, ",\"pins\":");
	pin_text_append_json(listing->pins, out);
	strbuf_append_str(out, "}\n");
}

/* Files that are newer than all samples are part of a range that reaches the newest one. */
static struct time_range widen(const struct store_reader *reader, struct time_range range)
{
	if (range.end_s > store_reader_newest(reader))
		range.end_s = UINT64_MAX;
	return range;
}

static bool has_many_hosts(const struct store_reader *reader)
{
	return strcmp(reader->spans[0].host, reader->spans[reader->nr_spans - 1].host) != 0;
}

static void append_events(const struct options *options, const struct listing *listing,
			  struct strbuf *out)
{
	const struct time_range time = span_rows_time(listing->reader, &listing->range);

	strbuf_append_str(out, out->len > 0 ? "\n" : "");
	if (listing->events->nr > 0)
		event_rows_append(listing->events, options->max_events,
				  has_many_hosts(listing->reader),
				  text_terminal_columns(STDOUT_FILENO, DEFAULT_COLUMNS), out);
	else if (time.end_s - time.first_s < EVENTLESS_S)
		strbuf_append_str(out,
				  "no events yet: an agent reports none in its first minute\n");
	else
		strbuf_append_str(out, "no events: no second was unusual\n");
}

static void append_pins(const struct options *options, const struct listing *listing,
			struct strbuf *out)
{
	uint64_t bytes = 0;

	if (listing->pins->nr == 0)
		return;
	for (size_t i = 0; i < options->stores.nr; i++)
		bytes += pin_dir_bytes(options->stores.items[i]);
	strbuf_append_char(out, '\n');
	pin_text_append(listing->pins, bytes, out);
}

static void append(const struct options *options, const struct listing *listing, struct strbuf *out)
{
	if (options->json) {
		append_json(listing, out);
		return;
	}
	append_text(listing->reader, &listing->range, out);
	append_events(options, listing, out);
	append_pins(options, listing, out);
}

/* Returns whether there is a file or a pin to list. Scripts get an empty list. */
static bool has_any(const struct listing *listing)
{
	for (size_t i = 0; i < listing->reader->nr_spans; i++)
		if (span_is_of(&listing->reader->spans[i], &listing->range))
			return true;
	return listing->pins->nr > 0;
}

static int list(const struct options *options, const struct store_reader *reader,
		struct answer *answer)
{
	_cleanup_(found_events_done) struct found_events events = { 0 };
	_cleanup_(pin_list_done) struct pin_list pins = { 0 };
	struct asked_range asked;

	int status = record_query_range(options, reader, "all", &answer->messages, &asked);
	if (status != STATUS_OK)
		return status;
	int r = event_reader_read(reader, &asked.range, &answer->messages, &events);
	if (r < 0)
		return answer_fail(answer, "cannot read the events", r);
	pin_text_collect(&options->stores, &asked.range, &answer->messages, &pins);
	const struct listing listing = { reader, widen(reader, asked.range), &events, &pins };
	if (!options->json && !has_any(&listing)) {
		strbuf_append_str(&answer->messages,
				  "the record has nothing of that time; flamelet "
				  "ls without a range lists all that it has\n");
		return STATUS_NO_SAMPLES;
	}
	append(options, &listing, &answer->body);
	r = strbuf_error(&answer->body);
	return r < 0 ? answer_fail(answer, "cannot write the list", r) : STATUS_OK;
}

int answer_ls(const struct options *options, const struct store_reader *reader,
	      struct answer *answer)
{
	_cleanup_(store_reader_done) struct store_reader own = { 0 };
	int status = STATUS_OK;

	if (!reader)
		status = record_query_open(options, &answer->messages, &own);
	return status == STATUS_OK ? list(options, reader ? reader : &own, answer) : status;
}

int cmd_ls(const struct options *options)
{
	return answer_print(options, answer_ls);
}
