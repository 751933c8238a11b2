/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/span_rows.h"

#include "base/json_text.h"
#include "base/minmax.h"

#include <inttypes.h>

struct time_range span_time(const struct store_span *span)
{
	if (span->end_s > 0)
		return (struct time_range){ span->first_s, span->end_s };
	return (struct time_range){ span->timeline_first_s, span->timeline_end_s };
}

/* A file without any time is part of a range without a beginning. */
bool span_is_of(const struct store_span *span, const struct time_range *range)
{
	const struct time_range time = span_time(span);

	if (time.end_s == 0)
		return range->first_s == 0;
	return time.end_s > range->first_s && time.first_s < range->end_s;
}

struct time_range span_rows_time(const struct store_reader *reader, const struct time_range *range)
{
	struct time_range all = { UINT64_MAX, 0 };

	for (size_t i = 0; i < reader->nr_spans; i++) {
		const struct time_range time = span_time(&reader->spans[i]);

		if (time.end_s == 0 || !span_is_of(&reader->spans[i], range))
			continue;
		all.first_s = min_u64(all.first_s, time.first_s);
		all.end_s = max_u64(all.end_s, time.end_s);
	}
	return all.end_s > 0 ? all : (struct time_range){ 0 };
}

/* Appends the sums of all types that are not CPU time, in the units of these types. */
static void append_json_totals(const struct store_span *span, struct strbuf *out)
{
	const char *separator = "";

	strbuf_append_str(out, ",\"totals\":{");
	for (enum profile_type type = PROFILE_CPU + 1; type < PROFILE_NR_TYPES; type++) {
		if (span->nr_samples[type] == 0)
			continue;
		strbuf_append_str(out, separator);
		json_append_text(out, profile_type_word(type));
		strbuf_appendf(out, ":%" PRIu64, span->nr_samples[type]);
		separator = ",";
	}
	strbuf_append_char(out, '}');
}

static void append_json_span(const struct store_span *span, struct strbuf *out)
{
	const struct time_range time = span_time(span);

	strbuf_append_char(out, '{');
	json_append_member(out, "path", span->path);
	strbuf_append_char(out, ',');
	json_append_member(out, "host", span->host);
	strbuf_appendf(out,
		       ",\"first\":%" PRIu64 ",\"end\":%" PRIu64 ",\"bytes\":%" PRIu64
		       ",\"samples\":%" PRIu64 ",\"folded\":%" PRIu64 ",\"min_count\":%" PRIu64
		       ",\"lost\":%" PRIu64 ",\"pinned\":%s",
		       time.first_s, time.end_s, span->bytes, span->nr_samples[PROFILE_CPU],
		       span->folded[PROFILE_CPU], span->min_count, span->nr_lost,
		       span->is_pinned ? "true" : "false");
	append_json_totals(span, out);
	strbuf_append_char(out, '}');
}

void span_rows_append_json(const struct store_reader *reader, const struct time_range *range,
			   struct strbuf *out)
{
	const char *separator = "[";

	for (size_t i = 0; i < reader->nr_spans; i++) {
		if (!span_is_of(&reader->spans[i], range))
			continue;
		strbuf_append_str(out, separator);
		append_json_span(&reader->spans[i], out);
		separator = ",";
	}
	strbuf_append_str(out, separator[0] == '[' ? "[]" : "]");
}
