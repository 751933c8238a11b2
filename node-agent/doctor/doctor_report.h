/* SPDX-License-Identifier: Apache-2.0 */
/* The doctor's findings: one line for each check, as text for people or JSON for scripts. */
#ifndef DOCTOR_DOCTOR_REPORT_H
#define DOCTOR_DOCTOR_REPORT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"

#include <stddef.h>

enum finding_level {
	FINDING_OK,
	FINDING_WARN, /* profiling works, with a loss that `detail` names */
	FINDING_FAIL, /* profiling or sending does not work */
};

struct finding {
	enum finding_level level;
	const char *name; /* static */
	const char *detail;
	const char *remedy; /* "" when there is nothing to do */
};

struct doctor_report {
	struct arena arena; /* the texts */
	struct finding *findings; /* owned */
	size_t nr_findings, cap_findings;
	int error; /* of the first finding that could not be added, or 0 */
};

/* Frees all findings. */
void doctor_report_done(struct doctor_report *report);

/* Adds a finding; `remedy` may be NULL. */
void doctor_report_add(struct doctor_report *report, enum finding_level level, const char *name,
		       const char *remedy, const char *format, ...) printf_like(5, 6);

/* Adds a finding of the level FINDING_OK. */
void doctor_report_ok(struct doctor_report *report, const char *name, const char *format, ...)
	printf_like(3, 4);

/* Returns the number of findings of a level. */
size_t doctor_report_count(const struct doctor_report *report, enum finding_level level);

/* Appends lines such as "ok    kernel   6.1.0", with each remedy below its finding. */
void doctor_report_append_text(const struct doctor_report *report, struct strbuf *out);

/* Appends
 * {"ok":…,"version":…,"checks":[{"name":…,"result":"ok|warn|fail","detail":…,"remedy":…},…]}. */
void doctor_report_append_json(const struct doctor_report *report, struct strbuf *out);

#endif
