/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/diff_caption.h"

#include "base/minmax.h"
#include "base/strview.h"
#include "commands/record_query.h"

#include <stdbool.h>
#include <string.h>

#define ARROW " \xe2\x86\x92 "
#define DOT " \xc2\xb7 "
#define DATE_LEN 10 /* "2026-11-24" */

static bool have_same_range(const struct diff_side *before, const struct diff_side *after)
{
	return !before->is_file && !after->is_file &&
	       before->range.first_s == after->range.first_s &&
	       before->range.end_s == after->range.end_s;
}

static void append_selectors(const struct diff_side *side, struct strbuf *text)
{
	if (side->selectors->nr == 0)
		strbuf_append_str(text, "all");
	for (size_t i = 0; i < side->selectors->nr; i++)
		strbuf_appendf(text, "%s%s", i > 0 ? ", " : "", side->selectors->items[i]);
}

static void append_short(const struct diff_side *side, bool by_selector, struct strbuf *text)
{
	char first[RECORD_TIME_BYTES], end[RECORD_TIME_BYTES];

	if (side->is_file) {
		struct strview name = strview_behind_last(strview_of(side->word, SIZE_MAX), '/');

		strbuf_append(text, name.text, name.len);
	} else if (by_selector) {
		append_selectors(side, text);
	} else {
		record_query_format_time(side->range.first_s, first);
		record_query_format_time(side->range.end_s, end);
		strbuf_appendf(text, "%s%s%s..%s", side->asked.name, *side->asked.name ? " " : "",
			       first + DATE_LEN + 1, end + DATE_LEN + 1);
	}
}

const char *diff_caption_title(const struct diff_side *before, const struct diff_side *after,
			       struct strbuf *text)
{
	bool by_selector = have_same_range(before, after);

	append_short(before, by_selector, text);
	strbuf_append_str(text, ARROW);
	append_short(after, by_selector, text);
	return strbuf_str(text);
}

/* Appends the machines whose record is compared. */
static void append_hosts(const struct diff_side *before, const struct diff_side *after,
			 const struct store_reader *reader, struct strbuf *text)
{
	const struct time_range range = { min_u64(before->range.first_s, after->range.first_s),
					  max_u64(before->range.end_s, after->range.end_s) };
	const struct time_range *own = before->is_file ? &after->range : &before->range;
	bool has_file = before->is_file || after->is_file;

	if ((before->is_file && after->is_file) || !reader)
		return;
	if (record_query_append_hosts(reader, has_file ? own : &range, text))
		strbuf_append_str(text, DOT);
}

/* Appends what the event of a side is about, and the selector of its samples. */
static void append_event(const struct diff_side *side, struct strbuf *text)
{
	const struct event *event = &side->asked.found.event;

	if (!*side->asked.name)
		return;
	strbuf_appendf(text, "%s: %s", side->asked.name, event->subject);
	if (*event->selector)
		strbuf_appendf(text, " %s", event->selector);
	strbuf_append_str(text, DOT);
}

/* Appends the day of the record; both, if they are different. */
static void append_days(const struct diff_side *before, const struct diff_side *after,
			struct strbuf *text)
{
	char first[RECORD_TIME_BYTES], last[RECORD_TIME_BYTES];

	if (before->is_file || after->is_file)
		return;
	record_query_format_time(before->range.first_s, first);
	record_query_format_time(after->range.first_s, last);
	strbuf_append(text, first, DATE_LEN);
	if (strncmp(first, last, DATE_LEN) != 0)
		strbuf_appendf(text, ARROW "%.*s", DATE_LEN, last);
	strbuf_append_str(text, DOT);
}

const char *diff_caption_subtitle(const struct diff_side *before, const struct diff_side *after,
				  const struct store_reader *reader, const struct diff *diff,
				  struct strbuf *text)
{
	static const char *const measures[] = {
		[DIFF_SHARES] = "shares are compared",
		[DIFF_RATES] = "amounts per second are compared",
		[DIFF_SUMS] = "amounts are compared",
	};
	struct diff_pair totals = diff_totals(diff);
	double cpus_before = diff_cpus_per_count(diff->before) * (double)totals.before;
	double cpus_after = diff_cpus_per_count(diff->after) * (double)totals.after;

	append_hosts(before, after, reader, text);
	append_event(before, text);
	append_event(after, text);
	append_days(before, after, text);
	if (!after->is_file && after->selectors->nr > 0 && !have_same_range(before, after)) {
		append_selectors(after, text);
		strbuf_append_str(text, DOT);
	}
	if (cpus_before > 0 && cpus_after > 0)
		strbuf_appendf(text, "%.3f" ARROW "%.3f CPUs" DOT, cpus_before, cpus_after);
	strbuf_appendf(text, "%s" DOT "flamelet " FLAMELET_VERSION, measures[diff->measure]);
	return strbuf_str(text);
}
