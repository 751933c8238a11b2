/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a comparison as text for a terminal, and as JSON for scripts. */
#ifndef COMMANDS_DIFF_REPORT_H
#define COMMANDS_DIFF_REPORT_H

#include "base/err.h"
#include "base/strbuf.h"
#include "profile/diff.h"
#include "profile/diff_table.h"
#include "store/event_reader.h"

/* The input; all members are borrowed. */
struct diff_report {
	const struct diff *diff;
	const struct diff_table *functions; /* sorted */
	const struct diff_table *owners; /* sorted; pods, services and processes */
	const char *before, *after; /* names of the two sides */
	const struct asked_range *event; /* that a side is named by; NULL: none */
	unsigned int columns; /* of the terminal */
};

/* Appends the largest changes. Errors: -ENOSPC, -ENOMEM. */
int diff_report_append(const struct diff_report *report, struct strbuf *out) must_check;

/* Appends all changes as one JSON object on a line. Errors: as above. */
int diff_report_append_json(const struct diff_report *report, struct strbuf *out) must_check;

#endif
