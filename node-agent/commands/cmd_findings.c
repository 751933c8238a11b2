/* SPDX-License-Identifier: Apache-2.0 */
/* flamelet findings: names known causes of CPU time and of waits in a range of the record or in a
 * pprof file. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/text.h"
#include "commands/answer.h"
#include "commands/commands.h"
#include "commands/diff_side.h"
#include "commands/event_rows.h"
#include "commands/finding_slices.h"
#include "commands/record_query.h"
#include "commands/record_target.h"
#include "findings/findings.h"
#include "findings/findings_text.h"
#include "profile/pprof_reader.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#define MESSAGE_MAX_BYTES 65536
#define FILE_MAX_BYTES ((size_t)512 << 20)
#define PPROF_MAX_BYTES ((size_t)256 << 20)
#define DEFAULT_COLUMNS 100
#define EVENTS_SHOWN 10

/* The events of a range; of a file, and of a selection of samples, there are none. */
struct range_events {
	bool are_known;
	struct found_events found;
};

static void range_events_done(struct range_events *events)
{
	found_events_done(&events->found);
}

static int range_events_read(const struct options *options, const struct record_query *query,
			     struct strbuf *messages, struct range_events *ret_events)
{
	if (!query || record_target_is_selecting(options))
		return 0;
	ret_events->are_known = true;
	return event_reader_read(query->reader, &query->asked.range, messages, &ret_events->found);
}

static void append_events(struct range_events *events, unsigned int columns, struct strbuf *body)
{
	if (!events->are_known)
		return;
	strbuf_append_char(body, '\n');
	if (events->found.nr == 0)
		strbuf_append_str(body, "no events in this range\n");
	event_rows_append(&events->found, EVENTS_SHOWN, false, columns, body);
}

/* What is printed; all is borrowed. */
struct report {
	const struct profile *profile;
	const struct record_query *query; /* NULL: of a file */
	const struct findings *findings;
	const struct findings *of_waits; /* of an empty table if waits are not known */
	const struct finding_slices *slices;
	struct range_events *events;
};

static void append_text(const struct report *report, struct strbuf *body)
{
	const struct finding_slices *slices = report->slices;
	unsigned int columns = text_terminal_columns(STDOUT_FILENO, DEFAULT_COLUMNS);

	if (report->query) {
		record_query_append_range(report->query, report->profile, body);
		strbuf_append_char(body, '\n');
	}
	if (report->findings->nr > 0 || (slices->nr == 0 && report->of_waits->nr == 0))
		findings_append_text(report->findings, columns, body);
	for (size_t i = 0; i < slices->nr; i++) {
		strbuf_append_str(body, report->findings->nr > 0 || i > 0 ? "\n" : "");
		findings_append_text(&slices->items[i].findings, columns, body);
	}
	if (report->of_waits->nr > 0) {
		strbuf_append_str(body, report->findings->nr > 0 || slices->nr > 0 ? "\n" : "");
		findings_append_text(report->of_waits, columns, body);
	}
	append_events(report->events, columns, body);
}

static void append_json(const struct report *report, struct strbuf *body)
{
	const struct profile *profile = report->profile;
	const struct finding_slices *slices = report->slices;

	findings_append_json_first(report->findings, body);
	for (size_t i = 0; i < slices->nr; i++)
		findings_append_json_more(&slices->items[i].findings, body);
	findings_append_json_more(report->of_waits, body);
	strbuf_append_char(body, ']');
	if (report->query)
		strbuf_appendf(body, ",\"first\":%" PRIu64 ",\"end\":%" PRIu64,
			       profile->time_unix_ns / NSEC_PER_SEC,
			       (profile->time_unix_ns + profile->duration_ns) / NSEC_PER_SEC);
	if (report->events->are_known) {
		strbuf_append_str(body, ",\"events\":");
		event_rows_append_json(&report->events->found, body);
	}
	strbuf_append_str(body, "}\n");
}

/* `query` is NULL for a file, which has no parts; `waits` is NULL if they are not known. */
static int append_findings(const struct options *options, const struct profile *profile,
			   const struct profile *waits, const struct record_query *query,
			   struct answer *answer)
{
	_cleanup_(findings_done) struct findings findings = { 0 }, of_waits = { 0 };
	_cleanup_(finding_slices_done) struct finding_slices slices = { 0 };
	_cleanup_(range_events_done) struct range_events events = { 0 };
	const struct report report = { profile, query, &findings, &of_waits, &slices, &events };

	int r = findings_init(&findings, profile);
	if (r == 0 && waits)
		r = findings_init_waits(&of_waits, waits, profile);
	if (r == 0 && query && profile->type == PROFILE_CPU)
		r = finding_slices_read(query, &findings, &slices);
	if (r == 0)
		r = range_events_read(options, query, &answer->messages, &events);
	if (r == 0 && options->json)
		append_json(&report, &answer->body);
	else if (r == 0)
		append_text(&report, &answer->body);
	if (r == 0)
		r = strbuf_error(&answer->body);
	return r < 0 ? answer_fail(answer, "cannot print the findings", r) : STATUS_OK;
}

static int find_in_file(const struct options *options, const char *path, struct answer *answer)
{
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(FILE_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(pprof_profiles_done) struct pprof_profiles profiles = { 0 };

	int r = file_read_at(AT_FDCWD, path, &bytes);
	if (r == 0)
		r = pprof_read(bytes.data, bytes.len, PPROF_MAX_BYTES, &profiles, &message);
	const struct profile *cpu = profiles.of[PROFILE_CPU], *waits = profiles.of[PROFILE_OFF_CPU];
	if (r == 0 && !cpu && !waits) {
		strbuf_append_str(&message, "it is not a profile of CPU time or of waits");
		r = -ENOENT;
	}
	if (r == 0)
		return append_findings(options, cpu ? cpu : waits, cpu ? waits : NULL, NULL,
				       answer);
	strbuf_appendf(&answer->messages, "%s: %s\n", path,
		       message.len > 0 ? strbuf_str(&message) : strerror(-r));
	return STATUS_FAILED;
}

static int find_in_record(const struct options *options, const struct store_reader *reader,
			  struct answer *answer)
{
	_cleanup_(record_query_done) struct record_query query = { 0 };
	_cleanup_(store_answer_done) struct store_answer samples = { 0 }, waits = { 0 };

	int status = record_query_init(options, reader, &answer->messages, &query);
	if (status == STATUS_OK)
		status = record_query_waits(&query, &waits);
	if (status == STATUS_OK)
		status = record_query_both(&query, &waits, &answer->messages, &samples);
	return status == STATUS_OK
		       ? append_findings(options, samples.profile, waits.profile, &query, answer)
		       : status;
}

int answer_findings(const struct options *options, const struct store_reader *reader,
		    struct answer *answer)
{
	const char *word = options->ranges.nr > 0 ? options->ranges.items[0] : NULL;

	if (reader || !word || !diff_side_is_file(word))
		return find_in_record(options, reader, answer);
	if (record_target_is_selecting(options)) {
		strbuf_appendf(&answer->messages,
			       "%s: samples of files cannot be selected, only those of the "
			       "record\n",
			       word);
		return STATUS_USAGE;
	}
	return find_in_file(options, word, answer);
}

int cmd_findings(const struct options *options)
{
	return answer_print(options, answer_findings);
}
