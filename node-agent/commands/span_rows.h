/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of the files of records, as JSON. */
#ifndef COMMANDS_SPAN_ROWS_H
#define COMMANDS_SPAN_ROWS_H

#include "base/strbuf.h"
#include "store/store_reader.h"

#include <stdbool.h>

/* Returns the time of a file's samples; without any, that of its timeline; without both, 0. */
struct time_range span_time(const struct store_span *span);

/* Returns whether a file has something of a range. */
bool span_is_of(const struct store_span *span, const struct time_range *range);

/* Returns the time from the first to the last second of all files of a range; without any, 0. */
struct time_range span_rows_time(const struct store_reader *reader, const struct time_range *range);

/* Appends an array of objects with the files of a range. Failures are kept in `out`. */
void span_rows_append_json(const struct store_reader *reader, const struct time_range *range,
			   struct strbuf *out);

#endif
