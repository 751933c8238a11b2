/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event_reader.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/parse.h"
#include "store/event_table.h"
#include "store/store_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_EVENTS 20000
#define NAME_LETTER 'e'
/* An open event that was not updated for this long before the end of the record is over: the agent
 * was killed. */
#define STALE_S 60
#define TEXT_BYTES 512

void found_events_done(struct found_events *events)
{
	free(events->items);
	*events = (struct found_events){ 0 };
}

void event_reader_name(const struct event *event, char name[static EVENT_NAME_BYTES])
{
	snprintf(name, EVENT_NAME_BYTES, "%c%" PRIu64, NAME_LETTER, event->number);
}

/* Collecting. */

struct collection {
	struct found_events *events; /* borrowed */
	const char *host; /* borrowed; of the current file */
};

static int compare_numbers(uint64_t one, uint64_t other)
{
	return (one > other) - (one < other);
}

/* By host and number; of the versions of an event, the newest one first. */
static int compare_identity(const void *a, const void *b)
{
	const struct found_event *one = a, *other = b;
	int order = strcmp(one->host, other->host);

	if (order == 0)
		order = compare_numbers(one->event.number, other->event.number);
	if (order == 0)
		order = compare_numbers(one->event.first_s, other->event.first_s);
	if (order == 0)
		order = compare_numbers(other->event.end_s, one->event.end_s);
	return order ? order : one->event.is_open - other->event.is_open;
}

static int compare_time(const void *a, const void *b)
{
	const struct found_event *one = a, *other = b;
	int order = compare_numbers(one->event.first_s, other->event.first_s);

	return order ? order : compare_identity(a, b);
}

static bool is_own(const struct found_event *found)
{
	return strcmp(found->event.subject, EVENT_OWN_SUBJECT) == 0;
}

static int compare_score(const void *a, const void *b)
{
	const struct found_event *one = a, *other = b;

	if (is_own(one) != is_own(other))
		return is_own(one) ? 1 : -1;
	if (one->event.score > other->event.score)
		return -1;
	return one->event.score < other->event.score ? 1 : compare_time(a, b);
}

static void sort(struct found_events *events, int (*compare)(const void *, const void *))
{
	if (events->nr > 1)
		qsort(events->items, events->nr, sizeof(*events->items), compare);
}

void found_events_sort_by_score(struct found_events *events)
{
	sort(events, compare_score);
}

void found_events_keep_worst(struct found_events *events, size_t max)
{
	sort(events, compare_score);
	if (events->nr > max) {
		events->nr_left_out += events->nr - max;
		events->nr = max;
	}
	sort(events, compare_time);
}

static bool is_same(const struct found_event *one, const struct found_event *other)
{
	return one->event.number == other->event.number &&
	       one->event.first_s == other->event.first_s && strcmp(one->host, other->host) == 0;
}

static void remove_old_versions(struct found_events *events)
{
	size_t nr = 0;

	sort(events, compare_identity);
	for (size_t i = 0; i < events->nr; i++) {
		if (nr == 0 || !is_same(&events->items[i], &events->items[nr - 1]))
			events->items[nr++] = events->items[i];
	}
	events->nr = nr;
}

/* Makes room: the worse half goes. */
static void leave_out(struct found_events *events)
{
	remove_old_versions(events);
	sort(events, compare_score);
	if (events->nr > MAX_EVENTS / 2) {
		events->nr_left_out += events->nr - MAX_EVENTS / 2;
		events->nr = MAX_EVENTS / 2;
	}
}

static int collect(const struct event *event, void *context)
{
	const struct collection *collection = context;
	struct found_events *events = collection->events;

	if (events->nr == MAX_EVENTS)
		leave_out(events);
	int r = array_grow(events->items, events->cap, events->nr + 1, MAX_EVENTS);
	if (r < 0)
		return r;
	events->items[events->nr++] = (struct found_event){ *event, collection->host };
	return 0;
}

static int read_span(const struct store_span *span, const struct time_range *range,
		     struct found_events *events)
{
	_cleanup_(store_file_closep) struct store_file *file = NULL;
	struct collection collection = { events, span->host };

	int r = store_file_open(span->path, &file);
	if (r < 0)
		return r;
	return event_table_read(file, range->first_s, range->end_s, collect, &collection);
}

/* Returns the end of what the record has of a machine. */
static uint64_t end_of(const struct store_reader *reader, const char *host)
{
	uint64_t end_s = 0;

	for (size_t i = 0; i < reader->nr_spans; i++)
		if (reader->spans[i].end_s > end_s && strcmp(reader->spans[i].host, host) == 0)
			end_s = reader->spans[i].end_s;
	return end_s;
}

static void close_stale(const struct store_reader *reader, struct found_events *events)
{
	for (size_t i = 0; i < events->nr; i++) {
		struct event *event = &events->items[i].event;

		if (event->is_open)
			event->is_open = event->end_s + STALE_S >=
					 end_of(reader, events->items[i].host);
	}
}

int event_reader_read(const struct store_reader *reader, const struct time_range *range,
		      struct strbuf *warnings, struct found_events *ret_events)
{
	struct found_events events = { 0 };
	int r = 0;

	/* An event may be in a file that has no samples of its time. */
	for (size_t i = 0; i < reader->nr_spans && r != -ENOMEM; i++) {
		const struct store_span *span = &reader->spans[i];

		r = read_span(span, range, &events);
		if (r < 0 && r != -ENOMEM)
			strbuf_appendf(warnings, "%s: events are left out: %s\n", span->path,
				       strerror(-r));
	}
	if (r == -ENOMEM) {
		found_events_done(&events);
		return r;
	}
	remove_old_versions(&events);
	close_stale(reader, &events);
	sort(&events, compare_time);
	*ret_events = events;
	return 0;
}

/* Names. */

/* Parses "e12" and "node-1/e12". Returns whether an event has that name. */
static bool is_named(const struct found_event *found, const char *name)
{
	const char *slash = strrchr(name, '/');
	char own[EVENT_NAME_BYTES];

	event_reader_name(&found->event, own);
	if (slash && (strlen(found->host) != (size_t)(slash - name) ||
		      strncmp(found->host, name, (size_t)(slash - name)) != 0))
		return false;
	return strcmp(own, slash ? slash + 1 : name) == 0;
}

static const struct found_event *find_best(const struct found_events *events,
					   int (*compare)(const void *, const void *))
{
	const struct found_event *best = NULL;

	for (size_t i = 0; i < events->nr; i++)
		if (!best || compare(&events->items[i], best) < 0)
			best = &events->items[i];
	return best;
}

static int find_named(const struct found_events *events, const char *name,
		      struct strbuf *reterr_msg, const struct found_event **ret_found)
{
	const struct found_event *found = NULL;

	for (size_t i = 0; i < events->nr; i++) {
		const struct found_event *candidate = &events->items[i];

		if (!is_named(candidate, name))
			continue;
		if (found && strcmp(found->host, candidate->host) != 0) {
			strbuf_appendf(reterr_msg,
				       "several machines have an event %s: write @%s/%s or @%s/%s",
				       name, found->host, name, candidate->host, name);
			return -EINVAL;
		}
		found = candidate;
	}
	if (!found)
		strbuf_appendf(reterr_msg,
			       "the record has no event %s; flamelet ls lists the events", name);
	*ret_found = found;
	return found ? 0 : -ENOENT;
}

static int find_event(const struct found_events *events, const char *name,
		      struct strbuf *reterr_msg, const struct found_event **ret_found)
{
	bool is_worst = strcmp(name, "worst") == 0, is_last = strcmp(name, "last") == 0;

	if (!is_worst && !is_last)
		return find_named(events, name, reterr_msg, ret_found);
	if (events->nr == 0) {
		strbuf_append_str(reterr_msg, "the record has no events");
		return -ENOENT;
	}
	*ret_found = is_worst ? find_best(events, compare_score) : &events->items[events->nr - 1];
	return 0;
}

/* Splits "e12-1m" in place. A machine's name may have hyphens as well. */
static int split(char *name, uint64_t *ret_before_s)
{
	char *slash = strrchr(name, '/'), *hyphen = strchr(slash ? slash : name, '-');
	uint64_t ns;

	*ret_before_s = 0;
	if (!hyphen)
		return 0;
	*hyphen = '\0';
	if (parse_duration_ns(hyphen + 1, &ns) < 0 || ns < NSEC_PER_SEC)
		return -EINVAL;
	*ret_before_s = ns / NSEC_PER_SEC;
	return 0;
}

static struct time_range range_of(const struct event *event, uint64_t before_s)
{
	if (before_s == 0)
		return (struct time_range){ event->first_s, event->end_s };
	return (struct time_range){ event->first_s > before_s ? event->first_s - before_s : 0,
				    event->first_s };
}

static int explain(const char *text, int error, struct strbuf *reterr_msg)
{
	if (error == -ERANGE)
		strbuf_appendf(reterr_msg, "the range \"%s\" ends before it begins", text);
	else
		strbuf_appendf(
			reterr_msg,
			"\"%s\" is not a range of time; examples: -10m, 14:05..14:07, 14:05+30s, "
			"2026-11-24T14:05:00Z, @e12, @worst, all",
			text);
	return error;
}

/* Fills in what an event's name means; `suffix` is what follows the name: "-1m" or nothing. */
static int ask_for_event(const struct store_reader *reader, char *name, const char *suffix,
			 uint64_t before_s, struct strbuf *reterr_msg,
			 struct asked_range *ret_asked)
{
	_cleanup_(found_events_done) struct found_events events = { 0 };
	/* What cannot be read of events is not what the user asked for. */
	_cleanup_(strbuf_done) struct strbuf warnings = { 0 };
	const struct time_range all = { 0, UINT64_MAX };
	const struct found_event *found;
	char event[EVENT_NAME_BYTES];

	int r = event_reader_read(reader, &all, &warnings, &events);
	if (r < 0)
		return r;
	r = find_event(&events, name, reterr_msg, &found);
	if (r < 0)
		return r;
	*ret_asked = (struct asked_range){ .range = range_of(&found->event, before_s),
					   .found = *found };
	event_reader_name(&found->event, event);
	snprintf(ret_asked->name, sizeof(ret_asked->name), "@%s%s", event, suffix);
	return 0;
}

static int ask_for_time(const struct store_reader *reader, const char *text,
			struct strbuf *reterr_msg, struct asked_range *ret_asked)
{
	struct asked_range asked = { 0 };

	int r = time_range_parse(text, store_reader_newest(reader), &asked.range,
				 &asked.is_other_day);
	if (r < 0)
		return explain(text, r, reterr_msg);
	*ret_asked = asked;
	return 0;
}

int event_reader_range(const struct store_reader *reader, const char *text,
		       struct strbuf *reterr_msg, struct asked_range *ret_asked)
{
	char name[TEXT_BYTES];
	uint64_t before_s;

	if (text[0] != '@')
		return ask_for_time(reader, text, reterr_msg, ret_asked);
	if (snprintf(name, sizeof(name), "%s", text + 1) >= (int)sizeof(name) ||
	    split(name, &before_s) < 0)
		return explain(text, -EINVAL, reterr_msg);
	return ask_for_event(reader, name, text + 1 + strlen(name), before_s, reterr_msg,
			     ret_asked);
}
