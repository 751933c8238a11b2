/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the events of records (store/store_reader.h), from all files and hosts.
 *
 *	event_reader_read(reader, range)	the events of a range
 *	event_reader_range(reader, "@e12")	a range that a user gave, perhaps as an event
 *
 * An event is in each file that was current while it went on: the newest version counts. */
#ifndef STORE_EVENT_READER_H
#define STORE_EVENT_READER_H

#include "base/err.h"
#include "base/strbuf.h"
#include "store/event.h"
#include "store/store_reader.h"

#include <stddef.h>

#define EVENT_NAME_BYTES 24
#define EVENT_ASKED_BYTES 64

/* An event and the machine that it is of. */
struct found_event {
	struct event event;
	const char *host; /* borrowed from the reader */
};

struct found_events {
	struct found_event *items; /* owned; by the time of their beginnings */
	size_t nr, cap;
	size_t nr_left_out; /* there was no room for them; the best ones were kept */
};

void found_events_done(struct found_events *events);

/* Finds all events that have seconds in a range. Files that cannot be read are left out with a
 * warning, a line each. Errors: -ENOMEM. */
int event_reader_read(const struct store_reader *reader, const struct time_range *range,
		      struct strbuf *warnings, struct found_events *ret_events) must_check;

/* Sorts events by their scores, the greatest first; those of Flamelet itself come last. */
void found_events_sort_by_score(struct found_events *events);

/* Keeps the first events by score, in the order of time and number. */
void found_events_keep_worst(struct found_events *events, size_t max);

/* Formats the name by which users refer to an event: "e12". */
void event_reader_name(const struct event *event, char name[static EVENT_NAME_BYTES]);

/* A range that a user asked for. */
struct asked_range {
	struct time_range range;
	bool is_other_day; /* as of time_range_parse() */
	/* If it was named by an event: "@e12" or "@e12-1m", whatever the user wrote; else "". */
	char name[EVENT_ASKED_BYTES];
	struct found_event found; /* that event */
};

/* Finds the range that a text means: one of store/time_range.h, or an event:
 *
 *	@e12		all seconds of the event
 *	@node-1/e12	the same, if several machines have an event of that name
 *	@worst @last	the first one by score, see above; the newest one
 *	@e12-1m		the minute before the event
 *
 * On failure `reterr_msg` says what is wrong. Errors: -EINVAL it is no range, -ERANGE it ends
 * before it begins, -ENOENT there is no such event, -ENOMEM. */
int event_reader_range(const struct store_reader *reader, const char *text,
		       struct strbuf *reterr_msg, struct asked_range *ret_asked) must_check;

#endif
