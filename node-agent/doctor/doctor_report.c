/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/doctor_report.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/json_text.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FINDINGS_MAX 64
#define DETAIL_MAX_BYTES 1024
#define NAME_COLUMNS 20
#define TEXT_COLUMNS_MAX 400

static const char *const level_names[] = {
	[FINDING_OK] = "ok",
	[FINDING_WARN] = "warn",
	[FINDING_FAIL] = "fail",
};

void doctor_report_done(struct doctor_report *report)
{
	arena_done(&report->arena);
	free(report->findings);
	*report = (struct doctor_report){ 0 };
}

static int append(struct doctor_report *report, struct finding finding)
{
	int r = array_grow(report->findings, report->cap_findings, report->nr_findings + 1,
			   FINDINGS_MAX);
	if (r < 0)
		return r;
	finding.detail = arena_strndup(&report->arena, finding.detail, strlen(finding.detail));
	finding.remedy = arena_strndup(&report->arena, finding.remedy, strlen(finding.remedy));
	if (!finding.detail || !finding.remedy)
		return -ENOMEM;
	report->findings[report->nr_findings++] = finding;
	return 0;
}

static void printf_like(3, 0)
	add(struct doctor_report *report, struct finding finding, const char *format, va_list args)
{
	char detail[DETAIL_MAX_BYTES];

	vsnprintf(detail, sizeof(detail), format, args);
	finding.detail = detail;
	int r = append(report, finding);
	if (r < 0 && report->error == 0)
		report->error = r;
}

void doctor_report_add(struct doctor_report *report, enum finding_level level, const char *name,
		       const char *remedy, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(report, (struct finding){ level, name, NULL, remedy ? remedy : "" }, format, args);
	va_end(args);
}

void doctor_report_ok(struct doctor_report *report, const char *name, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(report, (struct finding){ FINDING_OK, name, NULL, "" }, format, args);
	va_end(args);
}

size_t doctor_report_count(const struct doctor_report *report, enum finding_level level)
{
	size_t nr = 0;

	for (size_t i = 0; i < report->nr_findings; i++)
		nr += report->findings[i].level == level;
	return nr;
}

void doctor_report_append_text(const struct doctor_report *report, struct strbuf *out)
{
	for (size_t i = 0; i < report->nr_findings; i++) {
		const struct finding *finding = &report->findings[i];

		strbuf_appendf(out, "%-5s %-*s ", level_names[finding->level], NAME_COLUMNS,
			       finding->name);
		text_append_name(out, finding->detail, TEXT_COLUMNS_MAX, ELIDE_MIDDLE);
		strbuf_append_char(out, '\n');
		if (*finding->remedy) {
			strbuf_appendf(out, "%*s→ ", NAME_COLUMNS + 7, "");
			text_append_name(out, finding->remedy, TEXT_COLUMNS_MAX, ELIDE_MIDDLE);
			strbuf_append_char(out, '\n');
		}
	}
	strbuf_appendf(out, "failures: %zu, warnings: %zu\n",
		       doctor_report_count(report, FINDING_FAIL),
		       doctor_report_count(report, FINDING_WARN));
}

static void append_member(struct strbuf *out, const char *name, const char *value, const char *end)
{
	json_append_member(out, name, value);
	strbuf_append_str(out, end);
}

void doctor_report_append_json(const struct doctor_report *report, struct strbuf *out)
{
	bool is_ok = doctor_report_count(report, FINDING_FAIL) == 0;

	strbuf_appendf(out, "{\"ok\":%s,", is_ok ? "true" : "false");
	append_member(out, "version", FLAMELET_VERSION, ",\"checks\":[");
	for (size_t i = 0; i < report->nr_findings; i++) {
		const struct finding *finding = &report->findings[i];

		strbuf_append_str(out, i > 0 ? ",{" : "{");
		append_member(out, "name", finding->name, ",");
		append_member(out, "result", level_names[finding->level], ",");
		append_member(out, "detail", finding->detail, ",");
		append_member(out, "remedy", finding->remedy, "}");
	}
	strbuf_append_str(out, "]}\n");
}
