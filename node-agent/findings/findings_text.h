/* SPDX-License-Identifier: Apache-2.0 */
/* Prints findings, for people and for scripts. */
#ifndef FINDINGS_FINDINGS_TEXT_H
#define FINDINGS_FINDINGS_TEXT_H

#include "base/strbuf.h"
#include "findings/findings.h"

#include <stddef.h>

/* Appends each finding with its evidence, or a line that says what was looked at. `columns` is the
 * width of the terminal. */
void findings_append_text(const struct findings *findings, unsigned int columns,
			  struct strbuf *out);

/* Appends a line for each of the largest findings, `max` at most. Nothing without findings. */
void findings_append_brief(const struct findings *findings, size_t max, unsigned int columns,
			   struct strbuf *out);

/* Appends a line for each of the three largest findings in a profile, which is as findings_init()
 * takes it. Errors: -ENOSPC, -ENOMEM. */
int findings_append_largest(const struct profile *profile, unsigned int columns, struct strbuf *out)
	must_check;

/* Appends one JSON object, as docs/findings.md describes it. */
void findings_append_json(const struct findings *findings, struct strbuf *out);

/* The same in steps: `more` are findings of parts of the time. The list and the object remain open:
 * the caller appends "]", perhaps more members, and "}". */
void findings_append_json_first(const struct findings *findings, struct strbuf *out);
void findings_append_json_more(const struct findings *more, struct strbuf *out);

#endif
