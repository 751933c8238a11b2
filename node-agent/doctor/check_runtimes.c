/* SPDX-License-Identifier: Apache-2.0 */
/* Reports the language runtimes of this host's processes, and those whose frames have no names. */
#include "base/strbuf.h"
#include "doctor/doctor.h"
#include "doctor/runtime_survey.h"

#include <string.h>

#define NAME "language runtimes"
#define TEXT_MAX_BYTES 4096
#define REMEDY "see docs/runtimes.md for the versions that are known"

static const char *const kind_names[RUNTIME_NR_KINDS] = {
	[RUNTIME_CPYTHON] = "CPython",
	[RUNTIME_HOTSPOT] = "HotSpot",
	[RUNTIME_V8] = "V8",
};

/* Appends text such as "CPython 3.11.2 in 4 processes". */
static void append_group(struct strbuf *out, const struct runtime_group *group)
{
	uint32_t version = group->version;

	strbuf_append_str(out, kind_names[group->kind]);
	if (version != 0)
		strbuf_appendf(out, " %u.%u.%u", version >> 24, version >> 16 & 0xff,
			       version >> 8 & 0xff);
	strbuf_appendf(out, " in %zu process%s", group->nr_processes,
		       group->nr_processes == 1 ? "" : "es");
	if (group->reason[0] != '\0')
		strbuf_appendf(out, " (%s)", group->reason);
}

/* Appends the groups with that state. */
static void append_groups(struct strbuf *out, const struct runtime_survey *survey,
			  enum runtime_state state)
{
	for (size_t i = 0; i < survey->nr_groups; i++) {
		if (survey->groups[i].state != state)
			continue;
		if (out->len > 0)
			strbuf_append_str(out, ", ");
		append_group(out, &survey->groups[i]);
	}
}

static void report_survey(const struct runtime_survey *survey, struct doctor_report *report)
{
	_cleanup_(strbuf_done) struct strbuf named = strbuf_with_max(TEXT_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf pending = strbuf_with_max(TEXT_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf lost = strbuf_with_max(TEXT_MAX_BYTES);

	append_groups(&named, survey, RUNTIME_READY);
	append_groups(&pending, survey, RUNTIME_PENDING);
	append_groups(&lost, survey, RUNTIME_UNSUPPORTED);
	if (named.len > 0)
		doctor_report_ok(report, NAME, "frames by name: %s", strbuf_str(&named));
	if (pending.len > 0)
		doctor_report_ok(report, NAME, "not started yet: %s", strbuf_str(&pending));
	if (lost.len > 0)
		doctor_report_add(report, FINDING_WARN, NAME, REMEDY, "only native frames: %s",
				  strbuf_str(&lost));
	if (survey->nr_groups == 0)
		doctor_report_ok(report, NAME, "no process has one at present");
}

void check_runtimes(const struct doctor_host *host, struct doctor_report *report)
{
	uint32_t kinds = host->options->runtimes << RUNTIME_CPYTHON;
	struct runtime_survey survey;

	if (kinds == 0) {
		doctor_report_ok(report, NAME, "not looked for (--runtimes none)");
		return;
	}
	int r = runtime_survey_take(host->proc_dir, kinds, &survey);
	if (r < 0)
		doctor_report_add(report, FINDING_WARN, NAME,
				  "frames of language runtimes have no names",
				  "cannot look for them: %s", strerror(-r));
	else
		report_survey(&survey, report);
}
