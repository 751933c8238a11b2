/* SPDX-License-Identifier: Apache-2.0 */
/* flamelet diff: compares two ranges or selections of the record, or two files, prints what changed
 * and draws it.
 *
 *	diff BEFORE AFTER			two words, each a range or a file
 *	diff RANGE				against the time before it: as long, but at least a minute
 *	diff RANGE --against SELECTOR		two selections of one range */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/minmax.h"
#include "base/text.h"
#include "commands/answer.h"
#include "commands/commands.h"
#include "commands/diff_output.h"
#include "commands/diff_report.h"
#include "commands/diff_side.h"
#include "commands/owner.h"
#include "commands/record_query.h"
#include "commands/record_target.h"
#include "commands/shown_profile.h"
#include "profile/diff.h"
#include "profile/diff_table.h"
#include "profile/output.h"

#include <inttypes.h>
#include <string.h>

#define OWNER_MAX_BYTES ((size_t)1 << 16)
#define MAX_NODES (1 << 20)
#define DEFAULT_COLUMNS 100
#define SHORTEST_BEFORE_S 60
#define FEW_SAMPLES 100

struct comparison {
	const struct options *options; /* borrowed */
	struct answer *answer; /* borrowed */
	/* Borrowed, or `own`, which is only opened if a side is a range of the record. */
	const struct store_reader *reader;
	struct store_reader own;
	struct diff_side before, after;
	struct diff diff;
	struct diff_table functions, owners;
};

static void comparison_done(struct comparison *comparison)
{
	store_reader_done(&comparison->own);
	diff_side_done(&comparison->before);
	diff_side_done(&comparison->after);
	diff_done(&comparison->diff);
	diff_table_done(&comparison->functions);
	diff_table_done(&comparison->owners);
}

static struct strbuf *messages_of(const struct comparison *comparison)
{
	return &comparison->answer->messages;
}

static int refuse(const struct comparison *comparison, const char *text)
{
	strbuf_appendf(messages_of(comparison), "%s; see flamelet diff --help\n", text);
	return STATUS_USAGE;
}

/* Samples of files have too few labels to be selected by. */
static int check_selection(const struct comparison *comparison)
{
	const struct diff_side *before = &comparison->before, *after = &comparison->after;

	if (!record_target_is_selecting(comparison->options))
		return STATUS_OK;
	if (before->is_file && after->is_file)
		return refuse(comparison,
			      "samples of files cannot be selected, only those of the record");
	if (before->is_file || after->is_file)
		strbuf_appendf(messages_of(comparison),
			       "%s: samples of files cannot be selected, so all of them are "
			       "compared with the selected ones of the record\n",
			       before->is_file ? before->word : after->word);
	return STATUS_OK;
}

/* Gives both sides their word. */
static int choose_words(struct comparison *comparison)
{
	const struct options *options = comparison->options;
	const struct string_list *words = &options->ranges;
	bool has_against = options->against.nr > 0;

	if (words->nr == 0)
		return refuse(comparison, "name what to compare: flamelet diff BEFORE AFTER");
	comparison->before.word = words->items[0];
	comparison->after.word = words->items[words->nr - 1];
	if (!comparison->reader) {
		comparison->before.is_file = diff_side_is_file(comparison->before.word);
		comparison->after.is_file = diff_side_is_file(comparison->after.word);
	}
	comparison->before.selectors = has_against ? &options->against : &options->label_selectors;
	comparison->after.selectors = &options->label_selectors;
	if (words->nr == 1 && comparison->after.is_file)
		return refuse(comparison, "name two files: flamelet diff BEFORE.pb.gz AFTER.pb.gz");
	if (has_against && (comparison->before.is_file || comparison->after.is_file))
		return refuse(comparison, "--against selects samples of the record, not of a file");
	return check_selection(comparison);
}

/* Returns the time before a range: as long, but at least a minute, so that there is enough to
 * compare with. */
static struct time_range time_before(struct time_range range)
{
	uint64_t length_s = max_u64(range.end_s - range.first_s, SHORTEST_BEFORE_S);

	return (struct time_range){ range.first_s - min_u64(length_s, range.first_s),
				    range.first_s };
}

static int find_range(struct comparison *comparison, struct diff_side *side)
{
	if (side->is_file)
		return STATUS_OK;
	int status = record_query_find_range(comparison->reader, side->word,
					     messages_of(comparison), &side->asked);
	if (status == STATUS_OK)
		side->range = side->asked.range;
	return status;
}

static bool are_same(const struct comparison *comparison)
{
	const struct diff_side *before = &comparison->before, *after = &comparison->after;

	if (before->is_file || after->is_file)
		return before->is_file && after->is_file && strcmp(before->word, after->word) == 0;
	return before->selectors == after->selectors &&
	       before->range.first_s == after->range.first_s &&
	       before->range.end_s == after->range.end_s;
}

static void tell_overlap(const struct comparison *comparison)
{
	const struct diff_side *before = &comparison->before, *after = &comparison->after;
	uint64_t first_s = max_u64(before->range.first_s, after->range.first_s);
	uint64_t end_s = min_u64(before->range.end_s, after->range.end_s);

	if (before->is_file || after->is_file || before->selectors != after->selectors)
		return;
	if (first_s < end_s)
		strbuf_appendf(messages_of(comparison),
			       "the ranges have %" PRIu64 " seconds in common, which hides "
			       "changes\n",
			       end_s - first_s);
}

static int open_record(struct comparison *comparison)
{
	if (comparison->reader)
		return STATUS_OK;
	comparison->reader = &comparison->own;
	return record_query_open(comparison->options, messages_of(comparison), &comparison->own);
}

static int find_ranges(struct comparison *comparison)
{
	const struct options *options = comparison->options;
	struct diff_side *before = &comparison->before, *after = &comparison->after;

	if (before->is_file && after->is_file)
		return STATUS_OK;
	int status = open_record(comparison);
	if (status == STATUS_OK)
		status = find_range(comparison, after);
	if (status == STATUS_OK)
		status = find_range(comparison, before);
	if (status == STATUS_OK && options->ranges.nr == 1 && options->against.nr == 0) {
		before->range = time_before(after->range);
		before->asked = (struct asked_range){ 0 };
	}
	return status;
}

/* Standard output that gets folded text gets no table. */
static bool wants_report(const struct options *options)
{
	for (size_t i = 0; i < options->outputs.nr; i++)
		if (output_is_stdout(options->outputs.items[i]))
			return false;
	return !options->quiet;
}

/* Pictures, folded text and the viewer's data have no tables. */
static bool wants_tables(const struct options *options)
{
	const struct string_list *outputs = &options->outputs;

	if (wants_report(options))
		return true;
	for (size_t i = 0; i < outputs->nr; i++) {
		enum output_format format;
		int r = output_format_of(outputs->items[i], options->output_format, &format);

		if (r < 0 || format == OUTPUT_HTML || format == OUTPUT_CSV)
			return true;
	}
	return false;
}

static int read_side(const struct comparison *comparison, struct diff_side *side)
{
	const struct options *options = comparison->options;
	bool with_labels = wants_report(options) || shown_profile_wants_labels(options);

	return diff_side_read(side, options, comparison->reader, with_labels,
			      messages_of(comparison));
}

static int read_sides(struct comparison *comparison)
{
	int status = choose_words(comparison);
	if (status == STATUS_OK)
		status = find_ranges(comparison);
	if (status != STATUS_OK)
		return status;
	if (are_same(comparison))
		return refuse(comparison, "both sides are the same");
	tell_overlap(comparison);
	status = read_side(comparison, &comparison->before);
	return status == STATUS_OK ? read_side(comparison, &comparison->after) : status;
}

/* Says what a side lacks, and that it is too small. Returns an exit status. */
static int tell_of_side(const struct diff_side *side, const struct profile *profile,
			struct strbuf *messages)
{
	uint64_t total = profile_total(profile);

	if (total == 0 && !side->is_empty) {
		strbuf_appendf(messages, "%s: %s has no samples\n", side->role,
			       strbuf_str(&side->name));
		return STATUS_NO_SAMPLES;
	}
	if (side->is_empty) {
		strbuf_appendf(messages,
			       "%s: the record has no such samples from %s: this side is empty\n",
			       side->role, strbuf_str(&side->name));
		return STATUS_OK;
	}
	if (side->folded > 0)
		strbuf_appendf(messages,
			       "%s: the stacks of up to %.1f %% of the samples are not whole: "
			       "rare ones end in [folded]\n",
			       side->role, 100.0 * (double)side->folded / (double)total);
	if (side->nr_left_out > 0 && profile->type != PROFILE_CPU)
		strbuf_appendf(messages, "%s: some waits are left out: they are too many\n",
			       side->role);
	else if (side->nr_left_out > 0)
		strbuf_appendf(messages,
			       "%s: %" PRIu64 " samples are left out: they are too many\n",
			       side->role, side->nr_left_out);
	if (side->nr_lost > 0)
		strbuf_appendf(messages, "%s: %" PRIu64 " samples could not be recorded\n",
			       side->role, side->nr_lost);
	if (total < FEW_SAMPLES && profile->type == PROFILE_CPU)
		strbuf_appendf(messages,
			       "%s: only %" PRIu64 " samples: nothing but large changes can be "
			       "told from chance\n",
			       side->role, total);
	return STATUS_OK;
}

/* Two empty sides are no comparison. */
static int refuse_empty(const struct comparison *comparison)
{
	const struct diff_side *before = &comparison->before, *after = &comparison->after;

	strbuf_appendf(
		messages_of(comparison),
		"the record has no such samples from %s, nor from %s; flamelet ls lists what "
		"it has\n",
		strbuf_str(&before->name), strbuf_str(&after->name));
	return STATUS_NO_SAMPLES;
}

/* A time without any samples has the period of the other side. */
static void lend_period(struct profile *profile, const struct profile *other)
{
	if (profile->nr_samples == 0 && profile->period == 0)
		profile->period = other->period;
}

static int compare(struct comparison *comparison)
{
	struct profile *before, *after;
	enum profile_type type;

	if (comparison->before.is_empty && comparison->after.is_empty)
		return refuse_empty(comparison);
	int status = diff_side_choose_type(&comparison->before, &comparison->after,
					   messages_of(comparison), &type);
	if (status != STATUS_OK)
		return status;
	before = comparison->before.profiles.of[type];
	after = comparison->after.profiles.of[type];
	lend_period(before, after);
	lend_period(after, before);
	status = tell_of_side(&comparison->before, before, messages_of(comparison));
	if (status == STATUS_OK)
		status = tell_of_side(&comparison->after, after, messages_of(comparison));
	if (status != STATUS_OK)
		return status;
	int r = diff_init(&comparison->diff, before, after, comparison->options->is_absolute,
			  MAX_NODES);
	return r < 0 ? answer_fail(comparison->answer, "cannot compare", r) : STATUS_OK;
}

/* Adds the samples of a profile to the rows of their owners. */
static int add_owners(struct diff_table *owners, const struct profile *profile, bool is_after)
{
	_cleanup_(strbuf_done) struct strbuf name = strbuf_with_max(OWNER_MAX_BYTES);
	uint32_t row;
	int r = 0;

	for (size_t i = 0; r == 0 && i < profile->nr_samples; i++) {
		uint64_t count = profile->samples[i].count;

		strbuf_clear(&name);
		owner_append(profile, &profile->samples[i], &name);
		r = diff_table_get(owners, strbuf_str(&name), FLAME_LABEL, &row);
		if (r < 0)
			return r;
		struct diff_pair *pair = &owners->rows[row].self;
		*(is_after ? &pair->after : &pair->before) += count;
		owners->rows[row].total = *pair;
	}
	return r;
}

static int make_tables(struct comparison *comparison)
{
	const struct diff *diff = &comparison->diff;

	int r = diff_table_init(&comparison->functions);
	if (r == 0)
		r = diff_table_init(&comparison->owners);
	if (r == 0)
		r = diff_table_add_functions(&comparison->functions, diff);
	if (r == 0)
		r = add_owners(&comparison->owners, diff->before, false);
	if (r == 0)
		r = add_owners(&comparison->owners, diff->after, true);
	if (r < 0)
		return answer_fail(comparison->answer, "cannot compare", r);
	diff_table_sort(&comparison->functions, diff);
	diff_table_sort(&comparison->owners, diff);
	return STATUS_OK;
}

/* Returns the event that is compared with another time; NULL: there is none. */
static const struct asked_range *event_of(const struct comparison *comparison)
{
	const struct diff_side *before = &comparison->before, *after = &comparison->after;

	if (*after->asked.name)
		return &after->asked;
	return *before->asked.name ? &before->asked : NULL;
}

static int append_report(const struct comparison *comparison)
{
	struct strbuf *body = &comparison->answer->body;
	const struct diff_report report = {
		.diff = &comparison->diff,
		.functions = &comparison->functions,
		.owners = &comparison->owners,
		.before = strbuf_str(&comparison->before.name),
		.after = strbuf_str(&comparison->after.name),
		.event = event_of(comparison),
		.columns = text_terminal_columns(STDOUT_FILENO, DEFAULT_COLUMNS),
	};

	int r = comparison->options->json ? diff_report_append_json(&report, body)
					  : diff_report_append(&report, body);
	return r < 0 ? answer_fail(comparison->answer, "cannot write the table", r) : STATUS_OK;
}

static int write_files(const struct comparison *comparison)
{
	const struct diff_output output = {
		.options = comparison->options,
		.before = &comparison->before,
		.after = &comparison->after,
		.diff = &comparison->diff,
		.functions = &comparison->functions,
		.owners = &comparison->owners,
		.reader = comparison->reader,
	};

	return diff_output_write(&output, comparison->answer);
}

int answer_diff(const struct options *options, const struct store_reader *reader,
		struct answer *answer)
{
	_cleanup_(comparison_done) struct comparison comparison = {
		.options = options,
		.answer = answer,
		.reader = reader,
		.before.role = "before",
		.after.role = "after",
	};

	int status = read_sides(&comparison);
	if (status == STATUS_OK)
		status = compare(&comparison);
	if (status == STATUS_OK && wants_tables(options))
		status = make_tables(&comparison);
	if (status == STATUS_OK)
		status = write_files(&comparison);
	if (status == STATUS_OK && wants_report(options))
		status = append_report(&comparison);
	return status;
}

int cmd_diff(const struct options *options)
{
	return answer_print(options, answer_diff);
}
