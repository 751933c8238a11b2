/* SPDX-License-Identifier: Apache-2.0 */
/* A timeline of the record as text, for scripts. */
#ifndef COMMANDS_TIMELINE_TEXT_H
#define COMMANDS_TIMELINE_TEXT_H

#include "base/strbuf.h"
#include "store/store_timeline.h"

/* Appends CSV (RFC 4180): a header, then a line for each step: its time (Unix), the seconds of
 * which something is known, and a value for each line of the timeline. In a gap, the values are
 * empty. Failures are kept in `out`. */
void timeline_text_append_csv(const struct store_timeline *timeline, struct strbuf *out);

/* Appends one JSON object. `unit` is that of the values: "samples", "ns"; "": each line has its
 * own. In a gap, the values are null. Failures are kept in `out`. */
void timeline_text_append_json(const struct store_timeline *timeline, const char *unit,
			       struct strbuf *out);

#endif
