/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/findings_text.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "profile/waker_frame.h"

#include <stdbool.h>
#include <string.h>

#define HEAD_COLUMNS 15 /* "   for example " */
#define BRIEF_COLUMNS 16 /* as the summary of a recording */
#define COLUMNS_MIN 40
#define FUNCTION_COLUMNS 60
#define FUNCTION_MAX_BYTES 4096
#define STACK_RUNS_MAX 12
#define LARGEST 3
#define DOCUMENT "docs/findings.md"

static double percent(uint64_t part, uint64_t whole)
{
	return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void append_head(const char *head, struct strbuf *out)
{
	strbuf_appendf(out, "   %-*s", HEAD_COLUMNS - 3, head);
}

static void append_time(uint64_t time_ns, struct strbuf *out)
{
	strbuf_appendf(out, "%.2f s", (double)time_ns / (double)NSEC_PER_SEC);
}

static void append_wait(const struct finding *finding, struct strbuf *out)
{
	append_head(finding->rule->of_delay ? "delayed" : "blocked", out);
	append_time(finding->count, out);
	strbuf_append_str(out, " of ");
	append_time(finding->of, out);
	if (finding->cpus > 0)
		strbuf_appendf(out, "; %.2f threads on average", finding->cpus);
	strbuf_append_char(out, '\n');
}

static void append_samples(const struct finding *finding, struct strbuf *out)
{
	append_head("samples", out);
	text_append_count(out, finding->count);
	strbuf_append_str(out, " of ");
	text_append_count(out, finding->of);
	if (finding->cpus > 0)
		strbuf_appendf(out, "; %.2f CPUs on average", finding->cpus);
	strbuf_append_char(out, '\n');
}

/* Appends the functions or programs of a finding, each with its share of the samples. */
static void append_parts(const char *head, const struct finding *finding,
			 const struct finding_parts *parts, uint64_t nr_interrupts,
			 struct strbuf *out)
{
	if (parts->nr == 0 && nr_interrupts == 0)
		return;
	append_head(head, out);
	for (size_t i = 0; i < parts->nr; i++)
		strbuf_appendf(out, "%s%s %.0f %%", i > 0 ? ", " : "", parts->items[i].name,
			       percent(parts->items[i].count, finding->count));
	if (nr_interrupts > 0)
		strbuf_appendf(out, "%s[interrupts] %.0f %%", parts->nr > 0 ? ", " : "",
			       percent(nr_interrupts, finding->count));
	strbuf_append_char(out, '\n');
}

/* A line that is continued in the next one where the terminal ends. */
struct wrapped {
	struct strbuf *out;
	size_t columns, used;
};

static void append_word(struct wrapped *line, const char *word)
{
	size_t columns = text_columns(word);

	if (line->used + 1 + columns > line->columns && line->used > HEAD_COLUMNS) {
		strbuf_appendf(line->out, "\n%*s", HEAD_COLUMNS, "");
		line->used = HEAD_COLUMNS;
	}
	strbuf_appendf(line->out, "%s%s", line->used > HEAD_COLUMNS ? " " : "", word);
	line->used += columns + (line->used > HEAD_COLUMNS);
}

/* Functions of one name that called each other. */
struct run {
	const char *name; /* borrowed; NULL: none yet */
	size_t nr;
};

static void append_run(const struct run *run, bool is_first, struct wrapped *line)
{
	_cleanup_(strbuf_done) struct strbuf word = strbuf_with_max(FUNCTION_MAX_BYTES);

	strbuf_append_str(&word, is_first ? "" : "< ");
	text_append_name(&word, run->name, FUNCTION_COLUMNS, ELIDE_MIDDLE);
	if (run->nr > 1)
		strbuf_appendf(&word, " ×%zu", run->nr);
	append_word(line, strbuf_str(&word));
}

/* Adds a function to a run of the same name, or ends the run and begins the next one. */
static void add_function(struct run *run, const char *name, size_t *nr_runs, struct wrapped *line)
{
	if (run->name && strcmp(run->name, name) == 0) {
		run->nr++;
		return;
	}
	if (run->name)
		append_run(run, (*nr_runs)++ == 0, line);
	*run = (struct run){ name, 1 };
}

/* Appends the first functions of the most frequent stack, the leaf first. */
static void append_stack(const struct findings *findings, const struct finding *finding,
			 size_t columns, struct strbuf *out)
{
	const struct profile *profile = findings->profile;
	const struct profile_stack *stack = &profile->stacks[finding->stack];
	struct wrapped line = { .out = out, .columns = columns, .used = HEAD_COLUMNS };
	struct run run = { 0 };
	size_t nr_runs = 0;

	if (finding->stack_count == 0)
		return;
	append_head("for example", out);
	for (size_t i = waker_frame_depth(profile, finding->stack);
	     i < stack->nr && nr_runs < STACK_RUNS_MAX; i++) {
		const struct profile_location *location =
			&profile->locations[profile->stack_locations[stack->first + i]];
		const struct profile_line *lines = profile_location_lines(profile, location);

		for (size_t j = 0; j < location->nr_lines; j++)
			add_function(
				&run,
				profile_string(profile, profile->functions[lines[j].function].name),
				&nr_runs, &line);
	}
	if (nr_runs >= STACK_RUNS_MAX)
		append_word(&line, "< …");
	else if (run.name)
		append_run(&run, nr_runs == 0, &line);
	strbuf_append_char(out, '\n');
}

/* Appends the part of the time that the finding is of, or the one in which it was at its worst. */
static void append_times(const struct finding *finding, struct strbuf *out)
{
	if (finding->only.end_s > 0) {
		append_head("only", out);
		strbuf_appendf(out, "%s\n", finding->only.text);
	}
	if (finding->worst.end_s > 0) {
		append_head("worst", out);
		strbuf_appendf(out, "%s: %.1f %%\n", finding->worst.text,
			       100 * finding->worst.share);
	}
}

static void append_finding(const struct findings *findings, const struct finding *finding,
			   size_t columns, struct strbuf *out)
{
	strbuf_appendf(out, "%s\n", finding->title);
	append_times(finding, out);
	if (findings->profile->type == PROFILE_OFF_CPU)
		append_wait(finding, out);
	else
		append_samples(finding, out);
	append_parts("called by", finding, &finding->callers, 0, out);
	append_parts("time of", finding, &finding->programs, finding->nr_interrupts, out);
	append_parts("started by", finding, &finding->starters, 0, out);
	append_parts("woken by", finding, &finding->wakers, 0, out);
	append_stack(findings, finding, columns, out);
	for (size_t i = 0; i < FINDING_STEPS_MAX && finding->rule->steps[i]; i++) {
		append_head(i == 0 ? "next" : "", out);
		strbuf_appendf(out, "%s\n", finding->rule->steps[i]);
	}
	append_head("more", out);
	strbuf_appendf(out, "%s#%s\n", DOCUMENT, finding->rule->id);
}

void findings_append_text(const struct findings *findings, unsigned int columns, struct strbuf *out)
{
	for (size_t i = 0; i < findings->nr; i++) {
		strbuf_append_str(out, i > 0 ? "\n" : "");
		append_finding(findings, &findings->items[i],
			       columns > COLUMNS_MIN ? columns : COLUMNS_MIN, out);
	}
	if (findings->nr > 0)
		return;
	strbuf_append_str(out, "no findings: none of the ");
	text_append_count(out, finding_table_of(findings->profile->type).nr);
	strbuf_append_str(out, " rules matches these ");
	if (findings->profile->type == PROFILE_OFF_CPU) {
		append_time(findings->total, out);
		strbuf_append_str(out, " of blocked time");
	} else {
		text_append_count(out, findings->total);
		strbuf_append_str(out, " samples");
	}
	strbuf_append_str(out, "; " DOCUMENT " lists the rules\n");
}

void findings_append_brief(const struct findings *findings, size_t max, unsigned int columns,
			   struct strbuf *out)
{
	size_t width = columns > BRIEF_COLUMNS + COLUMNS_MIN ? columns - BRIEF_COLUMNS
							     : COLUMNS_MIN;

	for (size_t i = 0; i < findings->nr && i < max; i++) {
		strbuf_appendf(out, "%-*s", BRIEF_COLUMNS, i == 0 ? "findings" : "");
		text_append_name(out, findings->items[i].title, width, ELIDE_MIDDLE);
		strbuf_append_char(out, '\n');
	}
}

int findings_append_largest(const struct profile *profile, unsigned int columns, struct strbuf *out)
{
	_cleanup_(findings_done) struct findings findings = { 0 };

	int r = findings_init(&findings, profile);
	if (r < 0)
		return r;
	findings_append_brief(&findings, LARGEST, columns, out);
	return strbuf_error(out);
}
