/* SPDX-License-Identifier: Apache-2.0 */
#include "commands/record_query.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strview.h"
#include "commands/commands.h"
#include "commands/denied.h"
#include "commands/event_rows.h"
#include "commands/kind_type.h"
#include "commands/label_check.h"
#include "commands/record_target.h"
#include "profile/builder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define MESSAGE_MAX_BYTES 65536
#define PROFILE_MAX_BYTES ((size_t)2 << 30)
#define IDLE_MAX_BYTES ((size_t)1 << 20)
#define DEFAULT_RANGE "-1h"
#define MAX_NAMED_HOSTS 3
#define HEAD_COLUMNS 16 /* as in the summary */

void record_query_warn(const struct strbuf *lines)
{
	struct strview rest = strview_of(strbuf_str(lines), SIZE_MAX), line;

	while (strview_next(&rest, '\n', &line))
		if (line.len > 0)
			fprintf(stderr, "flamelet: %.*s\n", (int)line.len, line.text);
}

/* Beyond the limit, allocations fail, and so does the command. Without one, a command in the
 * agent's container could exceed the limit of the container, and the kernel would end the agent,
 * too. */
static int limit_memory(uint64_t max_bytes)
{
	const struct rlimit limit = { max_bytes, max_bytes };

	return max_bytes > 0 && setrlimit(RLIMIT_DATA, &limit) < 0 ? -errno : 0;
}

static int fail(int error, struct strbuf *messages)
{
	strbuf_appendf(messages, "cannot read the record: %s%s\n", strerror(-error),
		       error == -ENOMEM ? "; ask for a shorter range, or raise --query-memory-max"
					: "");
	return STATUS_FAILED;
}

int record_query_open(const struct options *options, struct strbuf *messages,
		      struct store_reader *ret_reader)
{
	int r = limit_memory(options->query_memory_max);
	if (r == 0)
		r = store_reader_open((const char *const *)options->stores.items,
				      options->stores.nr, messages, ret_reader);
	if (r == -ENOENT && denied_tell(&options->stores, messages))
		return STATUS_FAILED;
	if (r != -ENOENT)
		return r < 0 ? fail(r, messages) : STATUS_OK;
	strbuf_append_str(messages, "there is no record: name one with --store, or have it written "
				    "by flamelet agent --store DIR, which begins 10 s after its "
				    "start\n");
	return STATUS_FAILED;
}

int record_query_range(const struct options *options, const struct store_reader *reader,
		       const char *fallback, struct strbuf *messages, struct asked_range *ret_asked)
{
	const char *word = options->ranges.nr > 0 ? options->ranges.items[0] : fallback;

	return record_query_find_range(reader, word, messages, ret_asked);
}

static int refuse(const struct strbuf *reason, int error, struct strbuf *messages)
{
	strbuf_appendf(messages, "%s\n", reason->len > 0 ? strbuf_str(reason) : strerror(-error));
	return error == -ENOMEM ? STATUS_FAILED : STATUS_USAGE;
}

void record_query_format_time(uint64_t time_s, char text[static RECORD_TIME_BYTES])
{
	time_t time = (time_t)time_s;
	struct tm local = { 0 };

	localtime_r(&time, &local);
	strftime(text, RECORD_TIME_BYTES, "%Y-%m-%d %H:%M:%S", &local);
}

/* Says which days a word without days was taken to mean. */
static void tell_days(const struct store_reader *reader, const char *word,
		      const struct time_range *range, struct strbuf *messages)
{
	char first[RECORD_TIME_BYTES], end[RECORD_TIME_BYTES], newest[RECORD_TIME_BYTES];

	record_query_format_time(range->first_s, first);
	record_query_format_time(range->end_s, end);
	record_query_format_time(store_reader_newest(reader), newest);
	strbuf_appendf(messages, "%s is taken as %s to %s; the record ends at %s\n", word, first,
		       end, newest);
}

int record_query_find_range(const struct store_reader *reader, const char *word,
			    struct strbuf *messages, struct asked_range *ret_asked)
{
	_cleanup_(strbuf_done) struct strbuf reason = strbuf_with_max(MESSAGE_MAX_BYTES);

	int r = event_reader_range(reader, word, &reason, ret_asked);
	if (r < 0) {
		int status = refuse(&reason, r, messages);

		return r == -ENOENT ? STATUS_NO_SAMPLES : status; /* there is no such event */
	}
	if (ret_asked->is_other_day)
		tell_days(reader, word, &ret_asked->range, messages);
	return STATUS_OK;
}

static int select_all(const struct options *options, const struct string_list *selectors,
		      struct selector *selector, struct strbuf *message)
{
	const char *option = selectors == &options->against ? "--against" : "--select";
	int r = record_target_select(options, selector, message);

	for (size_t i = 0; r == 0 && i < selectors->nr; i++) {
		_cleanup_(strbuf_done) struct strbuf reason = strbuf_with_max(MESSAGE_MAX_BYTES);

		r = selector_add(selector, selectors->items[i], &reason);
		if (reason.len > 0)
			strbuf_appendf(message, "%s %s", option, reason.data);
	}
	return r;
}

int record_query_select_by(const struct options *options, const struct string_list *selectors,
			   struct strbuf *messages, struct selector *ret_selector)
{
	_cleanup_(strbuf_done) struct strbuf reason = strbuf_with_max(MESSAGE_MAX_BYTES);
	struct selector selector = { 0 };

	int r = select_all(options, selectors, &selector, &reason);
	if (r == 0) {
		*ret_selector = selector;
		return STATUS_OK;
	}
	selector_done(&selector);
	return refuse(&reason, r, messages);
}

static bool has_samples_in(const struct store_span *span, const struct time_range *range)
{
	return span->first_s < range->end_s && span->end_s > range->first_s;
}

bool record_query_append_hosts(const struct store_reader *reader, const struct time_range *range,
			       struct strbuf *out)
{
	const char *last = "";
	size_t nr = 0;

	for (size_t i = 0; i < reader->nr_spans; i++) {
		const struct store_span *span = &reader->spans[i];

		if (!has_samples_in(span, range) || strcmp(span->host, last) == 0)
			continue;
		last = span->host;
		if (nr++ < MAX_NAMED_HOSTS)
			strbuf_appendf(out, "%s%s", nr > 1 ? ", " : "", last);
	}
	if (nr > MAX_NAMED_HOSTS)
		strbuf_appendf(out, " and %zu more", nr - MAX_NAMED_HOSTS);
	return nr > 0;
}

void record_query_append_times(const struct profile *profile, struct strbuf *out)
{
	char first[RECORD_TIME_BYTES], last[RECORD_TIME_BYTES];

	record_query_format_time(profile->time_unix_ns / NSEC_PER_SEC, first);
	record_query_format_time((profile->time_unix_ns + profile->duration_ns) / NSEC_PER_SEC,
				 last);
	strbuf_appendf(out, "%s to %s", first, last);
}

void record_query_append_range(const struct record_query *query, const struct profile *profile,
			       struct strbuf *out)
{
	strbuf_appendf(out, "%-*s", HEAD_COLUMNS, "range");
	record_query_append_times(profile, out);
	strbuf_append_str(out, ", ");
	record_query_append_hosts(query->reader, &query->asked.range, out);
	strbuf_append_char(out, '\n');
	if (!*query->asked.name)
		return;
	strbuf_appendf(out, "%-*s", HEAD_COLUMNS, "event");
	event_rows_append_sentence(&query->asked, out);
	strbuf_append_char(out, '\n');
}

static void tell_nothing(const struct time_range *range, struct strbuf *messages)
{
	char first[RECORD_TIME_BYTES], end[RECORD_TIME_BYTES];

	record_query_format_time(range->first_s, first);
	record_query_format_time(range->end_s, end);
	strbuf_append_str(messages, "the record has no such samples");
	if (range->first_s > 0)
		strbuf_appendf(messages, " from %s", first);
	strbuf_appendf(messages, " to %s; flamelet ls lists what it has\n", end);
}

static void tell_losses(const struct store_answer *answer, struct strbuf *messages)
{
	uint64_t total = profile_total(answer->profile);

	if (answer->folded > 0)
		strbuf_appendf(messages,
			       "the stacks of up to %.1f %% of these samples are not whole: rare "
			       "ones end in [folded], to keep the record small\n",
			       100.0 * (double)answer->folded / (double)total);
	if (answer->nr_left_out > 0 && answer->profile->type != PROFILE_CPU)
		strbuf_append_str(messages, "some waits are left out: they are too many; ask for a "
					    "shorter range\n");
	else if (answer->nr_left_out > 0)
		strbuf_appendf(messages,
			       "%" PRIu64 " samples are left out: they are too many; ask for a "
			       "shorter range\n",
			       answer->nr_left_out);
}

int record_query_read(const struct store_reader *reader, const struct store_query *query,
		      struct strbuf *messages, struct store_answer *ret_answer)
{
	int r = store_reader_merge(reader, query, messages, ret_answer);
	const struct label_check check = {
		.reader = reader,
		.range = query->range,
		.selector = query->selector,
		.tells_all = r == -ENOENT,
	};

	label_check_tell(&check, messages);
	if (r == -ENOENT)
		return STATUS_NO_SAMPLES;
	return r < 0 ? fail(r, messages) : STATUS_OK;
}

int record_query_merge(const struct record_query *query, bool with_labels, struct strbuf *messages,
		       struct store_answer *ret_answer)
{
	const struct store_query of_store = {
		.range = query->asked.range,
		.selector = &query->selector,
		.type = query->type,
		.with_labels = with_labels,
		.max_bytes = PROFILE_MAX_BYTES,
	};

	int status = record_query_read(query->reader, &of_store, messages, ret_answer);
	if (status == STATUS_NO_SAMPLES)
		tell_nothing(&query->asked.range, messages);
	else if (status == STATUS_OK)
		tell_losses(ret_answer, messages);
	return status;
}

/* What is to be said of the record is said of the CPU time. */
int record_query_waits(const struct record_query *query, struct store_answer *ret_waits)
{
	_cleanup_(strbuf_done) struct strbuf messages = strbuf_with_max(MESSAGE_MAX_BYTES);
	const struct store_query of_store = {
		.range = query->asked.range,
		.selector = &query->selector,
		.type = PROFILE_OFF_CPU,
		.with_labels = true,
		.max_bytes = PROFILE_MAX_BYTES,
	};

	int status = record_query_read(query->reader, &of_store, &messages, ret_waits);
	return status == STATUS_NO_SAMPLES ? STATUS_OK : status;
}

static int make_idle(const struct profile *waits, struct strbuf *messages,
		     struct profile **ret_profile)
{
	struct builder *builder;

	int r = builder_new(IDLE_MAX_BYTES, &builder);
	if (r < 0)
		return fail(r, messages);
	builder_set_time(builder, waits->time_unix_ns, waits->duration_ns, NSEC_PER_SEC);
	*ret_profile = builder_seal(builder);
	return STATUS_OK;
}

int record_query_both(const struct record_query *query, const struct store_answer *waits,
		      struct strbuf *messages, struct store_answer *ret_answer)
{
	size_t nr_bytes = messages->len;

	int status = record_query_merge(query, /* with_labels= */ true, messages, ret_answer);
	if (status != STATUS_NO_SAMPLES || !waits->profile)
		return status;
	strbuf_truncate(messages, nr_bytes);
	return make_idle(waits->profile, messages, &ret_answer->profile);
}

void record_query_done(struct record_query *query)
{
	store_reader_done(&query->own);
	selector_done(&query->selector);
}

int record_query_init(const struct options *options, const struct store_reader *reader,
		      struct strbuf *messages, struct record_query *query)
{
	query->reader = reader ? reader : &query->own;
	query->type = kind_type_of(options->asked_kind);
	int status = record_query_select_by(options, &options->label_selectors, messages,
					    &query->selector);
	if (status == STATUS_OK && !reader)
		status = record_query_open(options, messages, &query->own);
	return status == STATUS_OK ? record_query_range(options, query->reader, DEFAULT_RANGE,
							messages, &query->asked)
				   : status;
}
