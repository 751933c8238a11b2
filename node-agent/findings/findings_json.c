/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/findings_text.h"

#include "base/json_text.h"
#include "profile/waker_frame.h"

#include <inttypes.h>
#include <stdbool.h>

static void append_key(const char *key, struct strbuf *out)
{
	strbuf_appendf(out, "\"%s\":", key);
}

static void append_parts(const char *key, const struct finding_parts *parts, struct strbuf *out)
{
	strbuf_append_char(out, ',');
	append_key(key, out);
	strbuf_append_char(out, '[');
	for (size_t i = 0; i < parts->nr; i++) {
		strbuf_append_str(out, i > 0 ? ",{\"name\":" : "{\"name\":");
		json_append_text(out, parts->items[i].name);
		strbuf_appendf(out, ",\"samples\":%" PRIu64 ",\"of\":%" PRIu64 "}",
			       parts->items[i].count, parts->items[i].of);
	}
	strbuf_append_char(out, ']');
}

static void append_steps(const struct finding_rule *rule, struct strbuf *out)
{
	strbuf_append_str(out, ",\"next\":[");
	for (size_t i = 0; i < FINDING_STEPS_MAX && rule->steps[i]; i++) {
		strbuf_append_str(out, i > 0 ? "," : "");
		json_append_text(out, rule->steps[i]);
	}
	strbuf_append_char(out, ']');
}

/* Appends the most frequent stack, the leaf first. */
static void append_stack(const struct profile *profile, uint32_t id, struct strbuf *out)
{
	const struct profile_stack *stack = &profile->stacks[id];
	size_t nr_frames = 0;

	strbuf_append_str(out, ",\"stack\":[");
	for (size_t i = waker_frame_depth(profile, id); i < stack->nr; i++) {
		const struct profile_location *location =
			&profile->locations[profile->stack_locations[stack->first + i]];
		const struct profile_line *lines = profile_location_lines(profile, location);

		for (size_t j = 0; j < location->nr_lines; j++) {
			strbuf_append_str(out, nr_frames++ > 0 ? "," : "");
			json_append_text(
				out, profile_string(profile,
						    profile->functions[lines[j].function].name));
		}
	}
	strbuf_append_char(out, ']');
}

static void append_time(const char *key, const struct finding_time *time, struct strbuf *out)
{
	if (time->end_s == 0)
		return;
	strbuf_append_char(out, ',');
	append_key(key, out);
	strbuf_appendf(out, "{\"first\":%" PRIu64 ",\"end\":%" PRIu64 ",\"share\":%.4f}",
		       time->first_s, time->end_s, time->share);
}

static void append_finding(const struct findings *findings, const struct finding *finding,
			   struct strbuf *out)
{
	bool is_wait = findings->profile->type == PROFILE_OFF_CPU;

	strbuf_append_str(out, "{\"id\":");
	json_append_text(out, finding->rule->id);
	strbuf_append_str(out, ",\"title\":");
	json_append_text(out, finding->title);
	strbuf_appendf(out,
		       ",\"kind\":\"%s\",\"samples\":%" PRIu64 ",\"of\":%" PRIu64
		       ",\"share\":%.4f,\"%s\":%.3f,\"interrupts\":%" PRIu64,
		       is_wait ? "offcpu" : "cpu", finding->count, finding->of,
		       finding->of > 0 ? (double)finding->count / (double)finding->of : 0,
		       is_wait ? "threads" : "cpus", finding->cpus, finding->nr_interrupts);
	append_time("only", &finding->only, out);
	append_time("worst", &finding->worst, out);
	append_parts("callers", &finding->callers, out);
	append_parts("programs", &finding->programs, out);
	append_parts("starters", &finding->starters, out);
	append_parts("wakers", &finding->wakers, out);
	append_stack(findings->profile, finding->stack, out);
	append_steps(finding->rule, out);
	strbuf_appendf(out, ",\"more\":\"docs/findings.md#%s\"}", finding->rule->id);
}

static void append_ids(enum profile_type type, struct strbuf *out)
{
	const struct finding_table table = finding_table_of(type);

	for (size_t i = 0; i < table.nr; i++) {
		strbuf_append_str(out, i > 0 ? "," : "");
		json_append_text(out, table.rules[i].id);
	}
}

void findings_append_json_first(const struct findings *findings, struct strbuf *out)
{
	strbuf_appendf(out, "{\"samples\":%" PRIu64 ",\"rules\":[", findings->total);
	append_ids(PROFILE_CPU, out);
	strbuf_append_char(out, ',');
	append_ids(PROFILE_OFF_CPU, out);
	strbuf_append_str(out, "],\"findings\":[");
	findings_append_json_more(findings, out);
}

void findings_append_json_more(const struct findings *more, struct strbuf *out)
{
	for (size_t i = 0; i < more->nr; i++) {
		bool is_first = out->len > 0 && out->data[out->len - 1] == '[';

		strbuf_append_str(out, is_first ? "" : ",");
		append_finding(more, &more->items[i], out);
	}
}

void findings_append_json(const struct findings *findings, struct strbuf *out)
{
	findings_append_json_first(findings, out);
	strbuf_append_str(out, "]}\n");
}
