/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/summary.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/printable.h"
#include "base/text.h"
#include "commands/copy_hint.h"
#include "commands/open_hint.h"
#include "commands/owner.h"
#include "profile/ranking.h"
#include "profile/waker_edge.h"
#include "profile/waker_frame.h"

#include <inttypes.h>
#include <string.h>

#define TOP_MAX 5
#define EDGES_MAX 10
#define WAIT_REASONS_MAX 4
#define GROWN_KINDS_MAX 3
#define WAIT_OWNERS_MAX 3
#define UNWIND_REASONS_MAX 32
#define LABEL_MAX_BYTES 16384
#define HEAD_COLUMNS 16 /* "CPU time of     " */
#define SHARE_COLUMNS 9 /* " 12.3 %  " */
#define DELAY_COLUMNS 40 /* "for a CPU       12.345 s, 100.0 % of it " */
#define NAME_COLUMNS_MIN 20
#define OUTPUT_MAX_BYTES 65536
#define MIB (1024.0 * 1024)

static bool is_of_allocations(enum profile_type type)
{
	return type == PROFILE_ALLOC_SPACE || type == PROFILE_ALLOC_OBJECTS ||
	       type == PROFILE_INUSE_SPACE || type == PROFILE_INUSE_OBJECTS;
}

/* The frame on top of growth is the kind of memory, that of an allocation is the allocator's. */
static bool has_tip(const struct profile *profile, const struct profile_stack *stack)
{
	return (profile->type == PROFILE_RSS_GROWTH || is_of_allocations(profile->type)) &&
	       stack->nr > 1;
}

/* Appends the function that ran when the sample was taken, or that waited. */
static void append_leaf(const struct profile *profile, const struct profile_sample *sample,
			struct strbuf *out)
{
	const struct profile_stack *stack = &profile->stacks[sample->stack];
	size_t depth = has_tip(profile, stack) ? 1 : waker_frame_depth(profile, sample->stack);

	if (stack->nr <= depth) {
		strbuf_append_str(out, "[no stack]");
		return;
	}

	uint32_t leaf = profile->stack_locations[stack->first + depth];
	strbuf_append_str(out, profile_location_name(profile, leaf));
	if (profile->locations[leaf].kind == FRAME_KERNEL)
		strbuf_append_str(out, " [kernel]");
}

/* Appends why the stack of a sample ends before its root, if it does. */
static void append_stop(const struct profile *profile, const struct profile_sample *sample,
			struct strbuf *out)
{
	const struct profile_stack *stack = &profile->stacks[sample->stack];

	if (stack->nr == 0)
		return;
	uint32_t root = profile->stack_locations[stack->first + stack->nr - 1];
	if (profile->locations[root].kind == FRAME_STOP)
		strbuf_append_str(out, profile_location_name(profile, root));
}

static void append_reason(const struct profile *profile, const struct profile_sample *sample,
			  struct strbuf *out)
{
	(void)profile;
	strbuf_append_str(out, wait_reason_word(sample->reason));
}

static void append_edge(const struct profile *profile, const struct profile_sample *sample,
			struct strbuf *out)
{
	waker_edge_append(profile, sample, " \xe2\x86\x92 ", out);
}

static void append_tip(const struct profile *profile, const struct profile_sample *sample,
		       struct strbuf *out)
{
	const struct profile_stack *stack = &profile->stacks[sample->stack];

	strbuf_append_str(out,
			  profile_location_name(profile, profile->stack_locations[stack->first]));
}

/* The frame below all others is the kind of interrupt. */
static void append_root(const struct profile *profile, const struct profile_sample *sample,
			struct strbuf *out)
{
	const struct profile_stack *stack = &profile->stacks[sample->stack];
	uint32_t root = profile->stack_locations[stack->first + stack->nr - 1];

	strbuf_append_str(out, profile_location_name(profile, root));
}

typedef void (*label_fn)(const struct profile *profile, const struct profile_sample *sample,
			 struct strbuf *out);

/* Sums the samples by label; samples without a label do not count. */
static int rank_samples(const struct profile *profile, label_fn append_label,
			struct ranking *ranking)
{
	_cleanup_(strbuf_done) struct strbuf label = strbuf_with_max(LABEL_MAX_BYTES);

	int r = ranking_init(ranking);
	for (size_t i = 0; r == 0 && i < profile->nr_samples; i++) {
		strbuf_clear(&label);
		append_label(profile, &profile->samples[i], &label);
		if (label.len > 0)
			r = ranking_add(ranking, strbuf_str(&label), profile->samples[i].count);
	}
	return r;
}

/* Returns the columns that are left for a name. */
static size_t columns_behind(const struct summary *summary, size_t used)
{
	return summary->columns > used + NAME_COLUMNS_MIN ? summary->columns - used
							  : NAME_COLUMNS_MIN;
}

/* Appends the first lines of a ranking, with the heading in front of the first one. Returns the
 * number of lines. */
static int append_ranking(const struct summary *summary, const char *head, label_fn append_label,
			  size_t nr_max, struct strbuf *out)
{
	_cleanup_(ranking_done) struct ranking ranking = { 0 };
	struct rank ranks[EDGES_MAX];
	size_t columns = columns_behind(summary, HEAD_COLUMNS + SHARE_COLUMNS);

	int r = rank_samples(summary->profile, append_label, &ranking);
	if (r < 0)
		return r;

	size_t nr = ranking_top(&ranking, nr_max, ranks);
	for (size_t i = 0; i < nr; i++) {
		strbuf_appendf(out, "%-*s", HEAD_COLUMNS, i == 0 ? head : "");
		text_append_share(out, ranks[i].count, profile_total(summary->profile));
		strbuf_append_str(out, "  ");
		text_append_name(out, ranks[i].label, columns, ELIDE_MIDDLE);
		strbuf_append_char(out, '\n');
	}
	return (int)nr;
}

/* Appends the share of truncated stacks if it is 1 % or more, with the most frequent reason.
 * Returns the number of lines. */
static int append_truncated_stacks(const struct summary *summary, struct strbuf *out)
{
	_cleanup_(ranking_done) struct ranking ranking = { 0 };
	uint64_t total = profile_total(summary->profile), nr_truncated = 0;
	struct rank ranks[UNWIND_REASONS_MAX];

	int r = rank_samples(summary->profile, append_stop, &ranking);
	if (r < 0)
		return r;
	size_t nr = ranking_top(&ranking, array_len(ranks), ranks);
	for (size_t i = 0; i < nr; i++)
		nr_truncated += ranks[i].count;
	if (nr == 0 || nr_truncated * 100 < total)
		return 0;
	strbuf_appendf(out, "%-*s", HEAD_COLUMNS, "truncated");
	text_append_share(out, nr_truncated, total);
	strbuf_appendf(out, "  of stacks, %sbecause of %s\n", nr > 1 ? "mostly " : "",
		       ranks[0].label);
	return 1;
}

static void append_total(const struct profile *profile, uint64_t total, struct strbuf *out)
{
	double seconds = (double)total / (double)NSEC_PER_SEC;

	if (profile->type == PROFILE_OFF_CPU) {
		strbuf_appendf(out, "threads waited for %.1f s", seconds);
		return;
	}
	if (profile->type == PROFILE_WALL) {
		strbuf_appendf(out, "threads ran and waited for %.1f s", seconds);
		return;
	}
	if (profile->type == PROFILE_LOCK_DELAY) {
		strbuf_appendf(out, "threads waited for locks for %.3f s", seconds);
		return;
	}
	if (profile->type == PROFILE_RSS_GROWTH) {
		strbuf_appendf(out, "resident memory grew by %.1f MiB", (double)total / MIB);
		return;
	}
	if (profile->type == PROFILE_ALLOC_SPACE || profile->type == PROFILE_INUSE_SPACE) {
		strbuf_appendf(out, "%.1f MiB %s", (double)total / MIB,
			       profile->type == PROFILE_ALLOC_SPACE ? "allocated" : "in use");
		return;
	}
	if (is_of_allocations(profile->type)) {
		text_append_count(out, total);
		strbuf_append_str(out, profile->type == PROFILE_ALLOC_OBJECTS ? " objects allocated"
									      : " objects in use");
		return;
	}
	if (profile->type == PROFILE_IRQ) {
		strbuf_appendf(out, "interrupts took %.3f s", seconds);
		return;
	}
	text_append_count(out, total);
	strbuf_appendf(out, " %s", profile_type_names(profile->type)->values);
	if (profile->type == PROFILE_CPU)
		strbuf_appendf(out, " = %.1f s of CPU time",
			       (double)total * (double)profile->period / (double)NSEC_PER_SEC);
}

static void append_totals(const struct summary *summary, struct strbuf *out)
{
	const struct profile *profile = summary->profile;
	uint64_t total = profile_total(profile);

	append_total(profile, total, out);
	if (profile_type_is_snapshot(profile->type))
		strbuf_append_str(out, " at the end");
	else
		strbuf_appendf(out, " in %.1f s",
			       (double)summary->elapsed_ns / (double)NSEC_PER_SEC);
	if (summary->nr_cpus > 0 && !profile_type_is_snapshot(profile->type))
		strbuf_appendf(out, " on %" PRIu32 " CPUs", summary->nr_cpus);
	strbuf_append_str(out, "; lost samples: ");
	text_append_count(out, summary->nr_lost);
	if (summary->nr_lost > 0 && profile->type == PROFILE_CPU)
		strbuf_appendf(out, " (%.1f %%)",
			       100.0 * (double)summary->nr_lost /
				       (double)(total + summary->nr_lost));
	strbuf_append_char(out, '\n');
}

/* Appends why perf took the samples, if it did, truncated to the terminal's width. Returns the
 * number of lines. */
static size_t append_backend(const struct summary *summary, struct strbuf *out)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(OUTPUT_MAX_BYTES);

	if (!summary->perf_reason)
		return 0;
	strbuf_appendf(&text, "perf (%s)", summary->perf_reason);
	strbuf_appendf(out, "%-*s", HEAD_COLUMNS, "captured by");
	text_append_name(out, strbuf_str(&text), columns_behind(summary, HEAD_COLUMNS),
			 ELIDE_MIDDLE);
	strbuf_append_char(out, '\n');
	return 1;
}

/* Appends the files on one line. Returns whether there are any. */
static bool append_files(const struct summary *summary, struct strbuf *out)
{
	bool has_files = false;

	for (size_t i = 0; i < summary->nr_files; i++) {
		if (strcmp(summary->files[i], "-") == 0)
			continue;
		if (has_files)
			strbuf_append_str(out, "  ");
		else
			strbuf_appendf(out, "%-*s", HEAD_COLUMNS, "written");
		printable_append(out, summary->files[i]);
		has_files = true;
	}
	if (has_files)
		strbuf_append_char(out, '\n');
	return has_files;
}

/* Appends the command that copies the files over ssh. Returns whether there is one. */
static bool append_copy_hint(const struct summary *summary, struct strbuf *out)
{
	_cleanup_(strbuf_done) struct strbuf hint = strbuf_with_max(OUTPUT_MAX_BYTES);

	if (!summary->ssh_connection ||
	    copy_hint_append(summary->ssh_connection, summary->user, summary->files,
			     summary->nr_files, &hint) < 0)
		return false;
	strbuf_appendf(out, "%-*s%s", HEAD_COLUMNS, "to fetch", strbuf_str(&hint));
	return true;
}

/* Appends how to open the page or picture. Returns whether there is one. */
static bool append_open_hint(const struct summary *summary, bool is_fetched, struct strbuf *out)
{
	_cleanup_(strbuf_done) struct strbuf hint = strbuf_with_max(OUTPUT_MAX_BYTES);

	if (open_hint_append(summary->files, summary->nr_files, is_fetched, &hint) < 0)
		return false;
	strbuf_appendf(out, "%-*s%s", HEAD_COLUMNS, "to open", strbuf_str(&hint));
	return true;
}

/* Appends the files, and what the user does with them. Returns the number of lines. */
static size_t append_tail(const struct summary *summary, struct strbuf *out)
{
	if (!append_files(summary, out))
		return 0;
	bool is_fetched = append_copy_hint(summary, out);
	return 1 + is_fetched + append_open_hint(summary, is_fetched, out);
}

static void append_delayed(const struct profile *profile, const struct profile_sample *sample,
			   struct strbuf *out)
{
	if (wait_reason_is_queued(sample->reason))
		owner_append(profile, sample, out);
}

/* Appends how long threads waited for a CPU, and whose did most of it. Returns the number of
 * lines. */
static int append_delay(const struct summary *summary, struct strbuf *out)
{
	_cleanup_(ranking_done) struct ranking ranking = { 0 };
	const struct profile *profile = summary->profile;
	uint64_t total_ns = 0;
	struct rank most;

	int r = rank_samples(profile, append_delayed, &ranking);
	if (r < 0 || ranking_top(&ranking, 1, &most) == 0)
		return r;
	for (size_t i = 0; i < profile->nr_samples; i++)
		total_ns += wait_reason_is_queued(profile->samples[i].reason)
				    ? profile->samples[i].count
				    : 0;
	strbuf_appendf(out, "%-*s%.3f s, %.1f %% of it ", HEAD_COLUMNS, "for a CPU",
		       (double)total_ns / (double)NSEC_PER_SEC,
		       100.0 * (double)most.count / (double)total_ns);
	text_append_name(out, most.label, columns_behind(summary, DELAY_COLUMNS), ELIDE_MIDDLE);
	strbuf_append_char(out, '\n');
	return 1;
}

/* Appends why threads waited, or what memory grew. Returns the number of lines. */
static int append_causes(const struct summary *summary, struct strbuf *out)
{
	const char *head = summary->profile->type == PROFILE_WALL ? "time" : "waited for";

	if (summary->profile->type == PROFILE_IRQ)
		return append_ranking(summary, "interrupts", append_root, TOP_MAX, out);
	if (summary->profile->type == PROFILE_RSS_GROWTH)
		return append_ranking(summary, "memory", append_tip, GROWN_KINDS_MAX, out);
	int nr_reasons = append_ranking(summary, head, append_reason, WAIT_REASONS_MAX, out);
	int nr = nr_reasons < 0 ? nr_reasons : append_delay(summary, out);
	return nr < 0 ? nr : nr_reasons + nr;
}

/* Appends whose the samples are, and their causes. Returns the number of lines. */
static int append_owners(const struct summary *summary, struct strbuf *out)
{
	if (summary->profile->type == PROFILE_CPU)
		return append_ranking(summary, "top processes", owner_append, TOP_MAX, out);

	int nr_owners = summary->profile->type == PROFILE_IRQ
				? 0 /* of nobody */
				: append_ranking(summary, "owned by", owner_append, WAIT_OWNERS_MAX,
						 out);
	int nr = nr_owners < 0 ? nr_owners : append_causes(summary, out);
	return nr < 0 ? nr : nr_owners + nr;
}

int summary_append(const struct summary *summary, struct strbuf *out)
{
	_cleanup_(strbuf_done) struct strbuf tail = strbuf_with_max(OUTPUT_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf truncated = strbuf_with_max(OUTPUT_MAX_BYTES);
	size_t nr_left = SUMMARY_LINES_MAX - 1 - append_tail(summary, &tail);

	append_totals(summary, out);
	nr_left -= append_backend(summary, out);
	int r = append_owners(summary, out);
	if (r < 0)
		return r;
	nr_left -= (size_t)r;
	r = append_truncated_stacks(summary, &truncated);
	if (r < 0)
		return r;
	nr_left -= (size_t)r;
	r = append_ranking(summary, "top functions", append_leaf,
			   nr_left < TOP_MAX ? nr_left : TOP_MAX, out);
	if (r < 0)
		return r;
	strbuf_append(out, strbuf_str(&truncated), truncated.len);
	strbuf_append(out, strbuf_str(&tail), tail.len);
	return strbuf_error(&tail) < 0 ? strbuf_error(&tail) : strbuf_error(out);
}

int summary_append_wakers(const struct summary *summary, struct strbuf *out)
{
	int r = append_ranking(summary, "woken by", append_edge, EDGES_MAX, out);

	return r < 0 ? r : strbuf_error(out);
}
