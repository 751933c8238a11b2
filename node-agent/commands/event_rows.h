/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of the events of records, for people and as JSON. */
#ifndef COMMANDS_EVENT_ROWS_H
#define COMMANDS_EVENT_ROWS_H

#include "base/strbuf.h"
#include "store/event_reader.h"

#include <stdbool.h>
#include <stddef.h>

/* Appends a table of the worst events, at most `max`, in the order of time, within so many columns.
 * `with_host`: the events are of several machines. The others are removed from `events`. Failures
 * are kept in `out`. */
void event_rows_append(struct found_events *events, size_t max, bool with_host, size_t columns,
		       struct strbuf *out);

/* Appends "@e12: Pod shop/web-1 used up to …", of the event by which a range was named. */
void event_rows_append_sentence(const struct asked_range *asked, struct strbuf *out);

/* Appends an object of that event. */
void event_rows_append_json_event(const struct found_event *found, struct strbuf *out);

/* Appends an array of objects with all events. */
void event_rows_append_json(const struct found_events *events, struct strbuf *out);

#endif
