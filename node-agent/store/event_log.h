/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the events of a record while it is written, and writes them. Events are numbered through
 * all files of a directory. */
#ifndef STORE_EVENT_LOG_H
#define STORE_EVENT_LOG_H

#include "base/err.h"
#include "store/event_detector.h"
#include "store/store_file.h"

struct event_log {
	struct event_detector *detector; /* owned */
};

/* Continues the numbers of the events in the files of a directory. event_log_done() is needed after
 * a failure, too. Errors: -ENOMEM. */
int event_log_init(struct event_log *log, const char *dir) must_check;
void event_log_done(struct event_log *log);

/* Adds a second, later than the last one. */
void event_log_add(struct event_log *log, const struct store_second *second);

/* Ends all events. Allowed after a failure of event_log_init(). */
void event_log_finish(struct event_log *log);

/* Writes the events that have changed, within a transaction. Once it is committed,
 * event_log_settle() must follow. Errors: those of store/store_file.h. */
int event_log_write(const struct event_log *log, struct store_file *file) must_check;
void event_log_settle(struct event_log *log);

#endif
