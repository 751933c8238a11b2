/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/diff_report.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json_text.h"
#include "base/printable.h"
#include "base/text.h"
#include "commands/event_rows.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define FUNCTIONS_MAX 15 /* shown of those that grew, and of the others */
#define OWNERS_MAX 5
#define NAME_COLUMNS_MIN 20
#define HEAD_COLUMNS 8 /* "compare " */
#define SIZE_TEXT_MAX_BYTES 1024

/* A part of a table: the rows that grew, or those that shrank. */
struct section {
	const struct diff_report *report; /* borrowed */
	const struct diff_table *table; /* borrowed */
	const char *what, *which; /* the title: "functions", "that ran more" */
	bool grew;
	bool has_totals;
	size_t nr_max;
};

/* Returns the columns that are left for a name. */
static size_t columns_behind(const struct diff_report *report, size_t used)
{
	return report->columns > used + NAME_COLUMNS_MIN ? report->columns - used
							 : NAME_COLUMNS_MIN;
}

static bool has_cpus(const struct diff_report *report)
{
	return diff_cpus_per_count(report->diff->before) > 0 &&
	       diff_cpus_per_count(report->diff->after) > 0;
}

static double cpus_of(const struct profile *profile, uint64_t count)
{
	return diff_cpus_per_count(profile) * (double)count;
}

static double cpus_change(const struct diff *diff, struct diff_pair pair)
{
	return cpus_of(diff->after, pair.after) - cpus_of(diff->before, pair.before);
}

static void append_amount(const struct profile *profile, uint64_t total, struct strbuf *out)
{
	if (profile->type == PROFILE_OFF_CPU || profile->type == PROFILE_LOCK_DELAY) {
		strbuf_appendf(out, "%.1f s of waiting", (double)total / (double)NSEC_PER_SEC);
		return;
	}
	if (profile->type == PROFILE_WALL) {
		strbuf_appendf(out, "%.1f s of threads' time",
			       (double)total / (double)NSEC_PER_SEC);
		return;
	}
	text_append_count(out, total);
	strbuf_appendf(out, " %s", profile_type_names(profile->type)->values);
}

static int append_side(const struct diff_report *report, const char *role, const char *name,
		       const struct profile *profile, struct strbuf *out)
{
	_cleanup_(strbuf_done) struct strbuf size = strbuf_with_max(SIZE_TEXT_MAX_BYTES);
	uint64_t total = profile_total(profile);

	strbuf_append_str(&size, ": ");
	append_amount(profile, total, &size);
	if (profile->type == PROFILE_CPU && profile->period > 0)
		strbuf_appendf(&size, " at %.4g Hz",
			       (double)NSEC_PER_SEC / (double)profile->period);
	if (diff_cpus_per_count(profile) > 0)
		strbuf_appendf(&size, ", %.3f CPUs over %.0f s", cpus_of(profile, total),
			       (double)profile->duration_ns / (double)NSEC_PER_SEC);
	strbuf_appendf(out, "%-*s", HEAD_COLUMNS, role);
	text_append_name(out, name, columns_behind(report, HEAD_COLUMNS + size.len), ELIDE_MIDDLE);
	strbuf_appendf(out, "%s\n", strbuf_str(&size));
	return strbuf_error(&size);
}

/* Names the event, and how to select the samples of what it is about. */
static void append_event(const struct asked_range *event, struct strbuf *out)
{
	if (!event)
		return;
	strbuf_appendf(out, "%-*s", HEAD_COLUMNS, "event");
	event_rows_append_sentence(event, out);
	if (*event->found.event.selector) {
		strbuf_appendf(out, "\n%*sits samples alone: --select '", HEAD_COLUMNS, "");
		printable_append(out, event->found.event.selector);
		strbuf_append_char(out, '\'');
	}
	strbuf_append_char(out, '\n');
}

/* Returns the noise of a function with that share of both sides, in percentage points. */
static double noise_points(const struct diff *diff, double share)
{
	struct diff_pair totals = diff_totals(diff);
	const struct diff_pair pair = {
		.before = (uint64_t)((double)totals.before * share),
		.after = (uint64_t)((double)totals.after * share),
	};

	return totals.after > 0 ? 100 * diff_noise(diff, pair) / (double)totals.after : 0;
}

static void append_measure(const struct diff *diff, struct strbuf *out)
{
	static const char *const measures[] = {
		[DIFF_SHARES] = "shares of each side's total; --absolute compares amounts",
		[DIFF_RATES] = "amounts per second",
		[DIFF_SUMS] = "amounts, as the duration of a side is not known",
	};

	strbuf_appendf(out, "%-*s%s\n", HEAD_COLUMNS, "compare", measures[diff->measure]);
	if (diff->has_noise)
		strbuf_appendf(out,
			       "%-*schanges below %.2f points at a share of 1 %%, or %.2f at 50 "
			       "%%\n",
			       HEAD_COLUMNS, "noise", noise_points(diff, 0.01),
			       noise_points(diff, 0.5));
}

static void append_share(struct strbuf *out, uint64_t count, uint64_t total)
{
	strbuf_appendf(out, " %5.1f %%", total > 0 ? 100 * (double)count / (double)total : 0);
}

static void append_name(const struct diff_report *report, const struct diff_row *row,
			size_t columns, struct strbuf *out)
{
	const char *kernel = row->kind == FLAME_KERNEL ? " [kernel]" : "";

	text_append_name(out, row->name, columns_behind(report, columns + strlen(kernel)),
			 ELIDE_MIDDLE);
	strbuf_append_str(out, kernel);
}

static void append_row(const struct section *section, const struct diff_row *row,
		       struct strbuf *out)
{
	const struct diff *diff = section->report->diff;
	struct diff_pair totals = diff_totals(diff);
	size_t start = out->len;
	const char *mark = "";

	if (row->self.before == 0)
		mark = row->total.before == 0 ? "new" : "";
	if (row->self.after == 0)
		mark = row->total.after == 0 ? "gone" : mark;
	append_share(out, row->self.before, totals.before);
	append_share(out, row->self.after, totals.after);
	strbuf_appendf(out, " %+7.1f", diff_points(diff, row->self));
	if (has_cpus(section->report))
		strbuf_appendf(out, " %+8.3f", cpus_change(diff, row->self));
	if (section->has_totals) {
		append_share(out, row->total.before, totals.before);
		append_share(out, row->total.after, totals.after);
	}
	strbuf_appendf(out, "  %-4s  ", mark);
	append_name(section->report, row, out->len - start, out);
	strbuf_append_char(out, '\n');
}

static void append_head(const struct section *section, struct strbuf *out)
{
	const char *cpus = has_cpus(section->report) ? "     CPUs" : "";

	strbuf_appendf(out, "\n%s %s\n", section->what, section->which);
	if (section->has_totals)
		strbuf_appendf(out, " ----- self ----%*s ---- total ----\n", 8 + (int)strlen(cpus),
			       "");
	strbuf_appendf(out, " %7s %7s %7s%s", "before", "after", "points", cpus);
	if (section->has_totals)
		strbuf_appendf(out, " %7s %7s", "before", "after");
	strbuf_append_char(out, '\n');
}

/* Returns whether the row belongs to a section. Rows are sorted from growth to decline. */
static bool belongs(const struct section *section, const struct diff_row *row)
{
	const struct diff *diff = section->report->diff;
	double change = diff_change(diff, row->self);

	return (section->grew ? change > 0 : change < 0) && !diff_is_noise(diff, row->self);
}

/* Appends the first rows of a section and the number of others. Returns the number of all. */
static size_t append_section(const struct section *section, struct strbuf *out)
{
	const struct diff_table *table = section->table;
	size_t nr = 0;

	for (size_t i = 0; i < table->nr_rows; i++) {
		size_t at = section->grew ? i : table->nr_rows - 1 - i;

		if (!belongs(section, &table->rows[at]))
			continue;
		if (nr == 0)
			append_head(section, out);
		if (nr++ < section->nr_max)
			append_row(section, &table->rows[at], out);
	}
	if (nr > section->nr_max)
		strbuf_appendf(out, "%zu more; --json has all\n", nr - section->nr_max);
	return nr;
}

static size_t count_noise(const struct diff_report *report)
{
	size_t nr = 0;

	for (size_t i = 0; i < report->functions->nr_rows; i++) {
		struct diff_pair self = report->functions->rows[i].self;

		nr += fabs(diff_change(report->diff, self)) > 0 &&
		      diff_is_noise(report->diff, self);
	}
	return nr;
}

int diff_report_append(const struct diff_report *report, struct strbuf *out)
{
	bool are_shares = report->diff->measure == DIFF_SHARES;
	const char *more = are_shares ? "with a larger share" : "that ran more";
	const char *less = are_shares ? "with a smaller share" : "that ran less";
	const struct section sections[] = {
		{ report, report->functions, "functions", more, true, true, FUNCTIONS_MAX },
		{ report, report->functions, "functions", less, false, true, FUNCTIONS_MAX },
		{ report, report->owners, "pods and processes", more, true, false, OWNERS_MAX },
		{ report, report->owners, "pods and processes", less, false, false, OWNERS_MAX },
	};
	size_t nr = 0;

	int r = append_side(report, "before", report->before, report->diff->before, out);
	if (r == 0)
		r = append_side(report, "after", report->after, report->diff->after, out);
	if (r < 0)
		return r;
	append_event(report->event, out);
	append_measure(report->diff, out);
	for (size_t i = 0; i < array_len(sections); i++)
		nr += append_section(&sections[i], out);
	if (nr == 0)
		strbuf_appendf(
			out,
			"\nno function, pod or process changed by more than sampling noise%s\n",
			are_shares ? " in its share; --absolute compares amounts" : "");
	size_t nr_noise = count_noise(report);
	if (nr_noise > 0)
		strbuf_appendf(out, "\nnot shown: %zu functions whose change may be noise\n",
			       nr_noise);
	return strbuf_error(out);
}

static void append_json_side(struct strbuf *out, const char *key, const char *name,
			     const struct profile *profile)
{
	uint64_t total = profile_total(profile);

	strbuf_appendf(out, "\"%s\":{", key);
	json_append_member(out, "name", name);
	strbuf_appendf(out,
		       ",\"time_unix_ns\":%" PRIu64 ",\"duration_ns\":%" PRIu64
		       ",\"period_ns\":%" PRIu64 ",\"total\":%" PRIu64,
		       profile->time_unix_ns, profile->duration_ns, profile->period, total);
	if (diff_cpus_per_count(profile) > 0)
		strbuf_appendf(out, ",\"cpus\":%.6f", cpus_of(profile, total));
	strbuf_append_str(out, "},");
}

static void append_json_pair(struct strbuf *out, const struct diff_report *report, const char *key,
			     struct diff_pair pair)
{
	const struct diff *diff = report->diff;

	strbuf_appendf(out,
		       ",\"%s\":{\"before\":%" PRIu64 ",\"after\":%" PRIu64
		       ",\"points\":%.4f,\"noise\":%s",
		       key, pair.before, pair.after, diff_points(diff, pair),
		       diff->has_noise && diff_is_noise(diff, pair) ? "true" : "false");
	if (has_cpus(report))
		strbuf_appendf(out, ",\"cpus\":%.6f", cpus_change(diff, pair));
	strbuf_append_char(out, '}');
}

static void append_json_rows(struct strbuf *out, const struct diff_report *report, const char *key,
			     const struct diff_table *table, bool are_functions)
{
	strbuf_appendf(out, "\"%s\":[", key);
	for (size_t i = 0; i < table->nr_rows; i++) {
		const struct diff_row *row = &table->rows[i];

		strbuf_append_str(out, i > 0 ? ",{" : "{");
		json_append_member(out, "name", row->name);
		if (are_functions)
			strbuf_appendf(out, ",\"kernel\":%s",
				       row->kind == FLAME_KERNEL ? "true" : "false");
		if (are_functions)
			append_json_pair(out, report, "self", row->self);
		append_json_pair(out, report, "total", row->total);
		strbuf_append_char(out, '}');
	}
	strbuf_append_char(out, ']');
}

int diff_report_append_json(const struct diff_report *report, struct strbuf *out)
{
	static const char *const measures[] = {
		[DIFF_SHARES] = "shares",
		[DIFF_RATES] = "rates",
		[DIFF_SUMS] = "sums",
	};

	strbuf_append_char(out, '{');
	append_json_side(out, "before", report->before, report->diff->before);
	append_json_side(out, "after", report->after, report->diff->after);
	if (report->event) {
		strbuf_append_str(out, "\"event\":");
		event_rows_append_json_event(&report->event->found, out);
		strbuf_append_char(out, ',');
	}
	json_append_member(out, "values", profile_type_names(report->diff->after->type)->values);
	strbuf_appendf(out, ",\"compares\":\"%s\",", measures[report->diff->measure]);
	append_json_rows(out, report, "functions", report->functions, true);
	strbuf_append_char(out, ',');
	append_json_rows(out, report, "owners", report->owners, false);
	strbuf_append_str(out, "}\n");
	return strbuf_error(out);
}
