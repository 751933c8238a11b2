/* SPDX-License-Identifier: Apache-2.0 */
/* flamelet query: merges the samples of a range of the record, writes files of them, and prints
 * where the CPU time went. */
#include "base/cleanup.h"
#include "base/output_file.h"
#include "base/text.h"
#include "commands/answer.h"
#include "commands/commands.h"
#include "commands/label_check.h"
#include "commands/record_query.h"
#include "commands/record_target.h"
#include "commands/shown_profile.h"
#include "commands/summary.h"
#include "profile/output.h"

#include <string.h>

#define MESSAGE_MAX_BYTES 65536
#define DEFAULT_COLUMNS 100

/* Standard output that gets a profile gets no summary. */
static bool wants_summary(const struct options *options)
{
	for (size_t i = 0; i < options->outputs.nr; i++)
		if (output_is_stdout(options->outputs.items[i]))
			return false;
	return !options->quiet;
}

/* What is written, and its caption; the texts are owned by the caller. */
struct view_file {
	const struct options *options;
	struct output_content content;
	struct caption caption;
};

static int write_file(const struct view_file *file, const char *path, struct answer *answer)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);
	enum output_format format;

	int r = output_format_of(path, file->options->output_format, &format);
	if (r == 0 && output_is_stdout(path))
		r = output_encode(&file->content, format, &file->caption, &answer->body);
	else if (r == 0)
		r = output_write(&file->content, path, format, &file->caption);
	if (r == 0)
		return STATUS_OK;
	output_file_explain(path, r, &message);
	strbuf_appendf(&answer->messages, "cannot write %s: %s\n", path, strbuf_str(&message));
	return STATUS_FAILED;
}

static void append_title(const struct options *options, const struct record_query *query,
			 const struct profile *profile, struct strbuf *title)
{
	record_query_append_times(profile, title);
	for (size_t i = 0; i < options->label_selectors.nr; i++)
		strbuf_appendf(title, ", %s", options->label_selectors.items[i]);
	if (*query->asked.name)
		strbuf_appendf(title, ", %s %s", query->asked.name,
			       query->asked.found.event.subject);
}

static void append_subtitle(const struct record_query *query, struct strbuf *subtitle)
{
	strbuf_append_str(subtitle, "record of ");
	if (record_query_append_hosts(query->reader, &query->asked.range, subtitle))
		strbuf_append_str(subtitle, ", ");
	else
		strbuf_clear(subtitle);
	strbuf_append_str(subtitle, "flamelet " FLAMELET_VERSION);
}

static int write_files(struct view_file *file, const struct record_query *query,
		       const struct strbuf *note, struct answer *answer)
{
	_cleanup_(strbuf_done) struct strbuf title = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf subtitle = strbuf_with_max(MESSAGE_MAX_BYTES);
	const struct string_list *outputs = &file->options->outputs;
	int status = STATUS_OK;

	append_title(file->options, query, file->content.profile, &title);
	append_subtitle(query, &subtitle);
	file->caption = (struct caption){ .title = strbuf_str(&title),
					  .subtitle = strbuf_str(&subtitle),
					  .note = note->len > 0 ? note->data : NULL };
	for (size_t i = 0; i < outputs->nr; i++) {
		int one = write_file(file, outputs->items[i], answer);

		status = status == STATUS_OK ? one : status;
	}
	return status;
}

/* Writes the files of the view that is asked for. */
static int write_view(const struct options *options, const struct record_query *query,
		      const struct store_answer *samples, struct answer *answer)
{
	_cleanup_(strbuf_done) struct strbuf note = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf view_note = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(profile_unrefp) struct profile *shown = NULL;
	const struct view view = shown_profile_view(options);

	if (options->outputs.nr == 0)
		return STATUS_OK;
	if (samples->folded > 0)
		strbuf_appendf(&note,
			       "Up to %.1f %% of the stacks are not whole: rare ones end in "
			       "[folded].",
			       100.0 * (double)samples->folded /
				       (double)profile_total(samples->profile));
	strbuf_append_str(&view_note, strbuf_str(&note));
	int r = shown_profile_make(options, samples->profile, &view_note, &shown);
	if (r < 0)
		return answer_fail(answer, "cannot make the view", r);
	struct view_file file = {
		.options = options,
		.content = { .profile = samples->profile,
			     .shown = shown,
			     .view = &view,
			     .note = note.len > 0 ? note.data : NULL },
	};
	return write_files(&file, query, &view_note, answer);
}

static int append_summary(const struct options *options, const struct record_query *query,
			  const struct store_answer *samples, struct answer *answer)
{
	const struct summary summary = {
		.profile = samples->profile,
		.nr_lost = samples->nr_lost,
		.elapsed_ns = samples->profile->duration_ns,
		.files = options->outputs.items,
		.nr_files = options->outputs.nr,
		.columns = text_terminal_columns(STDOUT_FILENO, DEFAULT_COLUMNS),
	};

	record_query_append_range(query, samples->profile, &answer->body);
	int r = summary_append(&summary, &answer->body);
	return r < 0 ? answer_fail(answer, "cannot write the summary", r) : STATUS_OK;
}

/* Samples cannot be grouped by a label that none has. */
static void tell_groups(const struct options *options, const struct record_query *query,
			struct answer *answer)
{
	const struct label_check check = {
		.reader = query->reader,
		.range = query->asked.range,
		.words = (const char *const *)options->groups.items,
		.nr_words = options->groups.nr,
	};

	label_check_tell(&check, &answer->messages);
}

static void tell_hint(const struct options *options, struct answer *answer)
{
	const char *hint = record_target_hint(options);

	if (hint)
		strbuf_appendf(&answer->messages, "%s\n", hint);
}

int answer_query(const struct options *options, const struct store_reader *reader,
		 struct answer *answer)
{
	_cleanup_(record_query_done) struct record_query query = { 0 };
	_cleanup_(store_answer_done) struct store_answer samples = { 0 };
	bool with_labels = wants_summary(options) || shown_profile_wants_labels(options);

	int status = record_query_init(options, reader, &answer->messages, &query);
	if (status == STATUS_OK)
		status = record_query_merge(&query, with_labels, &answer->messages, &samples);
	if (status == STATUS_NO_SAMPLES)
		tell_hint(options, answer);
	if (status == STATUS_OK) {
		tell_groups(options, &query, answer);
		status = write_view(options, &query, &samples, answer);
	}
	if (status != STATUS_OK || !wants_summary(options))
		return status;
	return append_summary(options, &query, &samples, answer);
}

int cmd_query(const struct options *options)
{
	return answer_print(options, answer_query);
}
