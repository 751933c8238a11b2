/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_timeline.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/minmax.h"
#include "store/seconds.h"
#include "store/timeline_source.h"

#include <stdlib.h>
#include <string.h>

void store_timeline_done(struct store_timeline *timeline)
{
	for (size_t i = 0; i < timeline->nr_lines; i++) {
		free(timeline->lines[i].name);
		free(timeline->lines[i].values);
		free(timeline->lines[i].is_known);
	}
	free(timeline->lines);
	free(timeline->nr_seconds);
	*timeline = (struct store_timeline){ 0 };
}

/* Returns the range of a file that a query asks for. The kernel's numbers are newer than the
 * samples: without these, the newest seconds would look idle. */
static struct time_range range_of(const struct store_span *span,
				  const struct store_timeline_query *query)
{
	struct time_range range = { span->first_s, span->end_s };

	if (span->timeline_end_s == 0)
		return range;
	uint64_t end_s = span->timeline_end_s;
	if (query->what != TIMELINE_VITALS)
		end_s -= min_u64(SECONDS_LATE_S, end_s);
	if (range.end_s == 0)
		return (struct time_range){ span->timeline_first_s, end_s };
	range.first_s = min_u64(range.first_s, span->timeline_first_s);
	range.end_s = max_u64(range.end_s, end_s);
	return range;
}

static bool overlap(const struct time_range *one, const struct time_range *other)
{
	return one->end_s > other->first_s && one->first_s < other->end_s;
}

/* Narrows a range to what the files have. Returns whether that is anything. */
static bool narrow(const struct store_reader *reader, const struct store_timeline_query *query,
		   struct time_range *range)
{
	uint64_t first_s = UINT64_MAX, end_s = 0;

	for (size_t i = 0; i < reader->nr_spans; i++) {
		struct time_range one = range_of(&reader->spans[i], query);

		if (!overlap(&one, range))
			continue;
		first_s = min_u64(first_s, one.first_s);
		end_s = max_u64(end_s, one.end_s);
	}
	range->first_s = max_u64(range->first_s, first_s);
	range->end_s = min_u64(range->end_s, end_s);
	return range->first_s < range->end_s;
}

static void warn(struct strbuf *warnings, const struct store_span *span, int error)
{
	strbuf_appendf(warnings, "%s: a part of it is left out: %s\n", span->path,
		       error == -EBADMSG ? "it is damaged" : strerror(-error));
}

/* Returns the number of spans from one on that are of the same host. */
static size_t nr_spans_of_host(const struct store_reader *reader, size_t first)
{
	size_t i = first;

	while (i < reader->nr_spans &&
	       strcmp(reader->spans[i].host, reader->spans[first].host) == 0)
		i++;
	return i - first;
}

/* Spans are ordered by host. */
static int read_spans(const struct store_reader *reader, struct timeline_source *source,
		      struct strbuf *warnings, struct store_timeline *timeline)
{
	for (size_t i = 0; i < reader->nr_spans; i++) {
		const struct store_span *span = &reader->spans[i];
		bool is_last = i + 1 == reader->nr_spans ||
			       strcmp(span->host, reader->spans[i + 1].host) != 0;
		struct time_range range = range_of(span, source->query);

		if (i == 0 || strcmp(span->host, reader->spans[i - 1].host) != 0)
			timeline_source_begin_host(source, span, nr_spans_of_host(reader, i));
		int r = overlap(&range, &source->range) ? timeline_source_read(source, span) : 0;

		if (r == -ENOMEM || r == -ENOSPC)
			return r;
		if (r < 0)
			warn(warnings, span, r);
		if (is_last && timeline_source_end_host(source, timeline->nr_seconds))
			timeline->nr_hosts++;
	}
	return 0;
}

/* Removes the vitals that no file has. */
static void remove_unseen(struct timeline_source *source)
{
	size_t nr_kept = 0;

	for (size_t i = 0; i < source->lines.nr; i++) {
		struct timeline_line *line = &source->lines.items[i];

		if (source->vitals_seen & UINT32_C(1) << i) {
			source->lines.items[nr_kept++] = *line;
			continue;
		}
		free(line->name);
		free(line->values);
		free(line->is_known);
	}
	source->lines.nr = nr_kept;
}

static int order_lines(struct timeline_source *source)
{
	const struct store_timeline_query *query = source->query;

	switch (query->what) {
	case TIMELINE_VITALS:
		remove_unseen(source);
		return 0;
	case TIMELINE_CPUS:
	case TIMELINE_GPUS:
	case TIMELINE_GPU_MEMORY:
		timeline_lines_sort_by_number(&source->lines);
		return 0;
	case TIMELINE_SLOTS:
		return 0;
	default:
		timeline_lines_sort_by_total(&source->lines);
		return query->max_lines > 0 ? timeline_lines_limit(&source->lines, query->max_lines)
					    : 0;
	}
}

static void take_lines(struct timeline_source *source, struct store_timeline *timeline)
{
	timeline->lines = take_ptr(source->lines.items);
	timeline->nr_lines = source->lines.nr;
	source->lines.nr = 0;
	timeline->period = source->unit.ns;
}

static bool can_select(const struct store_timeline_query *query)
{
	return query->what == TIMELINE_SAMPLES || query->what == TIMELINE_THROTTLED ||
	       query->what == TIMELINE_GPU_USE || query->what == TIMELINE_GPU_USE_MEMORY ||
	       selector_is_of_hosts(query->selector);
}

static int read_all(const struct store_reader *reader, struct timeline_source *source,
		    struct strbuf *warnings, struct store_timeline *timeline)
{
	timeline->nr_seconds = calloc(timeline->nr_steps, sizeof(*timeline->nr_seconds));
	if (!timeline->nr_seconds)
		return -ENOMEM;
	int r = read_spans(reader, source, warnings, timeline);
	if (r == 0 && timeline->nr_hosts == 0)
		r = -ENOENT;
	if (r == 0)
		r = timeline_source_finish(source);
	if (r == 0)
		r = order_lines(source);
	if (r == 0)
		take_lines(source, timeline);
	return r;
}

int store_timeline_read(const struct store_reader *reader, const struct store_timeline_query *query,
			struct strbuf *warnings, struct store_timeline *ret_timeline)
{
	_cleanup_(store_timeline_done) struct store_timeline timeline = { 0 };
	_cleanup_(timeline_source_done) struct timeline_source source = { 0 };
	struct time_range range = query->range;

	if (!can_select(query))
		return -EOPNOTSUPP;
	if (!narrow(reader, query, &range))
		return -ENOENT;
	timeline.step_s = query->step_s > 0 ? query->step_s : range.end_s - range.first_s;
	timeline.first_s = query->step_s > 0 ? range.first_s / timeline.step_s * timeline.step_s
					     : range.first_s;
	timeline.nr_steps = (range.end_s - timeline.first_s - 1) / timeline.step_s + 1;
	int r = timeline_source_init(&source, query, &range, &timeline);
	if (r == 0)
		r = read_all(reader, &source, warnings, &timeline);
	if (r < 0)
		return r;
	*ret_timeline = timeline;
	timeline = (struct store_timeline){ 0 };
	return 0;
}
