/* SPDX-License-Identifier: Apache-2.0 */
#include "store/event_table.h"

#include "base/cleanup.h"
#include "store/store_sql.h"

#include <string.h>

#define MAX_SCORE 1e15

int event_table_put(struct store_file *file, const struct event *event)
{
	const struct sql_value values[] = {
		sql_number(event->number),  sql_number(event->first_s),
		sql_number(event->end_s),   sql_text(event_kind_name(event->kind)),
		sql_number(event->is_open), sql_real(event->score),
		sql_text(event->subject),   sql_text(event->selector),
		sql_text(event->text),
	};

	return sql_execute(file,
			   "INSERT OR REPLACE INTO event(number, first, end, kind, open, score,"
			   " subject, selector, text) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
			   values, array_len(values));
}

/* Returns whether the row is an event, of a kind that is known. */
static bool read_row(sqlite3_stmt *query, struct event *event)
{
	const char *kind = (const char *)sqlite3_column_text(query, 3);
	double score = sqlite3_column_double(query, 5);

	*event = (struct event){
		.number = sql_column_number(query, 0),
		.first_s = sql_column_number(query, 1),
		.end_s = sql_column_number(query, 2),
		.kind = kind ? event_kind_find(kind) : EVENT_NR_KINDS,
		.is_open = sqlite3_column_int(query, 4) != 0,
		.score = score >= 0 && score < MAX_SCORE ? score : 0,
	};
	sql_column_text(query, 6, event->subject, sizeof(event->subject));
	sql_column_text(query, 7, event->selector, sizeof(event->selector));
	sql_column_text(query, 8, event->text, sizeof(event->text));
	return event->kind < EVENT_NR_KINDS && event->first_s < event->end_s &&
	       event->end_s < INT64_MAX && event->number < INT64_MAX;
}

int event_table_read(struct store_file *file, uint64_t first_s, uint64_t end_s,
		     event_table_visit visit, void *context)
{
	_cleanup_(sql_finalizep) sqlite3_stmt *query = NULL;
	struct event event;

	if (file->version < SQL_VERSION_WITH_EVENTS)
		return 0;
	int r = sql_prepare(file,
			    "SELECT number, first, end, kind, open, score, subject, selector, text"
			    " FROM event WHERE end > ? AND first < ? ORDER BY number",
			    &query);
	if (r < 0)
		return r;
	sql_bind_number(query, 1, first_s);
	sql_bind_number(query, 2, end_s);
	while (r == 0 && (r = sql_next(file, query)) > 0)
		r = read_row(query, &event) ? visit(&event, context) : 0;
	return r;
}

int event_table_last(struct store_file *file, uint64_t *ret_number)
{
	uint64_t number = 0;
	int r = 0;

	if (file->version >= SQL_VERSION_WITH_EVENTS)
		r = sql_read_number(file, "SELECT max(number) FROM event", &number);
	if (r == 0)
		*ret_number = number < INT64_MAX ? number : 0;
	return r;
}
