/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/diff_side.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/strview.h"
#include "commands/commands.h"
#include "commands/kind_type.h"
#include "commands/record_query.h"
#include "profile/builder.h"
#include "profile/folded_reader.h"
#include "store/store_timeline.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#define FILE_MAX_BYTES ((size_t)512 << 20)
#define PPROF_MAX_BYTES ((size_t)256 << 20)
#define PROFILE_MAX_BYTES ((size_t)1 << 30)
#define EMPTY_MAX_BYTES ((size_t)1 << 16)
#define NAME_MAX_BYTES ((size_t)1 << 16)
#define MESSAGE_MAX_BYTES ((size_t)1 << 16)
#define DATE_LEN 10 /* "2026-11-24" */

static const char *const folded_extensions[] = { ".folded", ".txt" };
static const char *const pprof_extensions[] = { ".pb.gz", ".pprof", ".pb", ".gz" };

void diff_side_done(struct diff_side *side)
{
	strbuf_done(&side->name);
	pprof_profiles_done(&side->profiles);
}

static bool has_extension(const char *word, const char *const *extensions, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (strview_ends_with(strview_of(word, SIZE_MAX), extensions[i]))
			return true;
	return false;
}

static bool is_folded(const char *word)
{
	return has_extension(word, folded_extensions, array_len(folded_extensions));
}

bool diff_side_is_file(const char *word)
{
	return is_folded(word) ||
	       has_extension(word, pprof_extensions, array_len(pprof_extensions)) ||
	       (word[0] != '-' && access(word, F_OK) == 0);
}

static int read_file(struct diff_side *side, struct strbuf *message)
{
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(FILE_MAX_BYTES);

	int r = file_read_at(AT_FDCWD, side->word, &bytes);
	if (r < 0)
		return r;
	if (is_folded(side->word))
		return folded_read(strbuf_str(&bytes), bytes.len, PROFILE_MAX_BYTES,
				   &side->profiles.of[PROFILE_CPU], message);
	return pprof_read(strbuf_str(&bytes), bytes.len, PPROF_MAX_BYTES, &side->profiles, message);
}

static int open_file(struct diff_side *side, struct strbuf *messages)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);

	strbuf_append_str(&side->name, side->word);
	int r = read_file(side, &message);
	if (r == 0)
		return STATUS_OK;
	strbuf_appendf(messages, "%s: %s\n", side->word,
		       message.len > 0 ? strbuf_str(&message) : strerror(-r));
	return STATUS_FAILED;
}

/* Names a side "2026-11-24 14:05:00 to 14:07:00". The end has a day only if it is another one. */
static void name_range(struct diff_side *side)
{
	char first[RECORD_TIME_BYTES], end[RECORD_TIME_BYTES];

	strbuf_clear(&side->name);
	record_query_format_time(side->range.first_s, first);
	record_query_format_time(side->range.end_s, end);
	bool is_same_day = strncmp(first, end, DATE_LEN) == 0;
	strbuf_appendf(&side->name, "%s to %s", first, end + (is_same_day ? DATE_LEN + 1 : 0));
	for (size_t i = 0; i < side->selectors->nr; i++)
		strbuf_appendf(&side->name, ", %s", side->selectors->items[i]);
	if (*side->asked.name)
		strbuf_appendf(&side->name, ", %s", side->asked.name);
}

static void tell_of_nothing(const struct diff_side *side, struct strbuf *messages)
{
	strbuf_appendf(messages,
		       "%s: the record has no such samples from %s; flamelet ls lists what it "
		       "has\n",
		       side->role, strbuf_str(&side->name));
}

static void take(struct diff_side *side, const struct store_answer *answer)
{
	side->profiles.of[answer->profile->type] = answer->profile;
	/* What the record has of the range. */
	side->range.first_s = answer->profile->time_unix_ns / NSEC_PER_SEC;
	side->range.end_s = side->range.first_s + answer->profile->duration_ns / NSEC_PER_SEC;
	name_range(side);
	side->folded = answer->folded;
	side->nr_left_out = answer->nr_left_out;
	side->nr_lost = answer->nr_lost;
}

static int fail(int error, struct strbuf *messages)
{
	strbuf_appendf(messages, "cannot compare: %s\n", strerror(-error));
	return STATUS_FAILED;
}

/* Takes a profile without samples. Returns an exit status. */
static int take_empty(struct diff_side *side, enum profile_type type, uint64_t time_ns,
		      uint64_t duration_ns, uint64_t period, struct strbuf *messages)
{
	struct store_answer none = { 0 };
	struct builder *builder;

	int r = builder_new(EMPTY_MAX_BYTES, &builder);
	if (r < 0)
		return fail(r, messages);
	builder_set_type(builder, type);
	builder_set_time(builder, time_ns, duration_ns, period);
	none.profile = builder_seal(builder);
	take(side, &none);
	side->is_empty = true;
	return STATUS_OK;
}

/* Reads the side as an empty one if the agent ran in its time, and nothing used a CPU. Of other
 * types, nobody knows whether they were recorded then. */
static int take_idle_time(struct diff_side *side, const struct store_reader *reader,
			  const struct store_query *query, struct strbuf *messages)
{
	_cleanup_(store_timeline_done) struct store_timeline timeline = { 0 };
	const struct store_timeline_query vitals = {
		.range = query->range,
		.what = TIMELINE_VITALS,
		.selector = query->selector,
	};

	int r = -ENOENT;
	if (query->type == PROFILE_CPU)
		r = store_timeline_read(reader, &vitals, messages, &timeline);
	if (r < 0 && r != -ENOENT)
		return fail(r, messages);
	if (r < 0 || timeline.nr_seconds[0] == 0) {
		tell_of_nothing(side, messages);
		return STATUS_NO_SAMPLES;
	}
	return take_empty(side, query->type, timeline.first_s * NSEC_PER_SEC,
			  timeline.step_s * NSEC_PER_SEC, 0, messages);
}

/* Reads the side as an empty one, if the record knows its time. */
static int take_none(struct diff_side *side, const struct store_reader *reader,
		     const struct store_query *query, struct strbuf *messages)
{
	_cleanup_(store_answer_done) struct store_answer whole = { 0 };
	const struct selector all = { 0 };
	struct store_query of_all = *query;

	of_all.selector = &all;
	of_all.with_labels = false;
	int status = record_query_read(reader, &of_all, messages, &whole);
	if (status == STATUS_NO_SAMPLES)
		return take_idle_time(side, reader, &of_all, messages);
	if (status != STATUS_OK)
		return status;
	return take_empty(side, whole.profile->type, whole.profile->time_unix_ns,
			  whole.profile->duration_ns, whole.profile->period, messages);
}

static int query(struct diff_side *side, const struct options *options,
		 const struct store_reader *reader, const struct selector *selector,
		 bool with_labels, struct strbuf *messages)
{
	const struct store_query query = {
		.range = side->range,
		.selector = selector,
		.type = kind_type_of(options->asked_kind),
		.with_labels = with_labels,
		.max_bytes = PROFILE_MAX_BYTES,
	};
	struct store_answer answer;

	int status = record_query_read(reader, &query, messages, &answer);
	if (status == STATUS_OK)
		take(side, &answer);
	return status == STATUS_NO_SAMPLES ? take_none(side, reader, &query, messages) : status;
}

static int open_range(struct diff_side *side, const struct options *options,
		      const struct store_reader *reader, bool with_labels, struct strbuf *messages)
{
	_cleanup_(selector_done) struct selector selector = { 0 };

	name_range(side);
	int status = record_query_select_by(options, side->selectors, messages, &selector);
	return status == STATUS_OK ? query(side, options, reader, &selector, with_labels, messages)
				   : status;
}

int diff_side_read(struct diff_side *side, const struct options *options,
		   const struct store_reader *reader, bool with_labels, struct strbuf *messages)
{
	side->name = strbuf_with_max(NAME_MAX_BYTES);
	return side->is_file ? open_file(side, messages)
			     : open_range(side, options, reader, with_labels, messages);
}

static void append_types(const struct diff_side *side, struct strbuf *out)
{
	const char *separator = "";

	strbuf_appendf(out, "%s has ", strbuf_str(&side->name));
	for (enum profile_type type = 0; type < PROFILE_NR_TYPES; type++) {
		if (!side->profiles.of[type])
			continue;
		strbuf_appendf(out, "%s%s", separator, profile_type_names(type)->sample_type);
		separator = ", ";
	}
}

static int refuse_types(const struct diff_side *before, const struct diff_side *after,
			struct strbuf *messages)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MESSAGE_MAX_BYTES);

	append_types(before, &text);
	strbuf_append_str(&text, "; ");
	append_types(after, &text);
	strbuf_appendf(messages, "nothing to compare: %s\n", strbuf_str(&text));
	return STATUS_USAGE;
}

int diff_side_choose_type(const struct diff_side *before, const struct diff_side *after,
			  struct strbuf *messages, enum profile_type *ret_type)
{
	static const enum profile_type types[] = {
		PROFILE_CPU,	       PROFILE_OFF_CPU,
		PROFILE_WALL,	       PROFILE_INUSE_SPACE,
		PROFILE_ALLOC_SPACE,   PROFILE_RSS_GROWTH,
		PROFILE_LOCK_DELAY,    PROFILE_LOCK_CONTENTIONS,
		PROFILE_INUSE_OBJECTS, PROFILE_ALLOC_OBJECTS,
		PROFILE_IRQ,	       PROFILE_CYCLES,
		PROFILE_INSTRUCTIONS,  PROFILE_CACHE_MISSES,
		PROFILE_BRANCH_MISSES, PROFILE_PAGE_FAULTS,
		PROFILE_MAJOR_FAULTS,  PROFILE_CONTEXT_SWITCHES,
		PROFILE_MIGRATIONS,
	};

	static_assert(array_len(types) == PROFILE_NR_TYPES, "every type can be compared");
	for (size_t i = 0; i < array_len(types); i++) {
		if (before->profiles.of[types[i]] && after->profiles.of[types[i]]) {
			*ret_type = types[i];
			return STATUS_OK;
		}
	}
	return refuse_types(before, after, messages);
}
