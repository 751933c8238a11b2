/* SPDX-License-Identifier: Apache-2.0 */
/* The table of events in a file of the record. Errors are those of store/store_file.h. */
#ifndef STORE_EVENT_TABLE_H
#define STORE_EVENT_TABLE_H

#include "store/event.h"
#include "store/store_file.h"

#include <stdint.h>

/* Adds an event, or replaces the one with its number. */
int event_table_put(struct store_file *file, const struct event *event) must_check;

/* Visits the events that have seconds in the range, by their numbers. Events of unknown kinds are
 * left out. Texts are whatever the file has: any bytes, perhaps truncated. A visitor's error ends
 * the reading and is returned. */
typedef int (*event_table_visit)(const struct event *event, void *context);
int event_table_read(struct store_file *file, uint64_t first_s, uint64_t end_s,
		     event_table_visit visit, void *context) must_check;

/* Finds the greatest number of an event, or 0. */
int event_table_last(struct store_file *file, uint64_t *ret_number) must_check;

#endif
