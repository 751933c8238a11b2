/* SPDX-License-Identifier: Apache-2.0 */
/* flamelet timeline: prints what a node did, second by second, from the local record. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "commands/answer.h"
#include "commands/commands.h"
#include "commands/kind_type.h"
#include "commands/label_check.h"
#include "commands/record_query.h"
#include "commands/timeline_text.h"
#include "store/store_timeline.h"

#include <string.h>

/* Words of --by that are no labels. */
static const struct {
	const char *word;
	enum timeline_what what;
	const char *unit;
} dimensions[] = {
	{ "vital", TIMELINE_VITALS, "" },
	{ "cpu", TIMELINE_CPUS, "samples" },
	{ "slot", TIMELINE_SLOTS, "samples" },
	{ "gpu", TIMELINE_GPUS, "%" },
	{ "gpu-memory", TIMELINE_GPU_MEMORY, "bytes" },
};

static const char *unit_of(enum profile_type type)
{
	const char *unit = profile_type_names(type)->values;

	return strcmp(unit, "nanoseconds") == 0 ? "ns" : unit;
}

/* Fills in what a line stands for. Returns the unit of the values. */
static const char *choose(const struct options *options, struct store_timeline_query *query)
{
	query->by = options->timeline_by;
	if (options->throttled) {
		query->what = TIMELINE_THROTTLED;
		return "ns";
	}
	if (options->gpu_use || options->gpu_use_memory) {
		query->what = options->gpu_use ? TIMELINE_GPU_USE : TIMELINE_GPU_USE_MEMORY;
		return options->gpu_use ? "%" : "bytes";
	}
	for (size_t i = 0; i < array_len(dimensions); i++) {
		if (strcmp(options->timeline_by, dimensions[i].word) != 0)
			continue;
		query->what = dimensions[i].what;
		query->by = NULL;
		return dimensions[i].unit;
	}
	return unit_of(query->type);
}

static int explain(int error, struct answer *answer)
{
	struct strbuf *messages = &answer->messages;

	switch (error) {
	case -ENOENT:
		strbuf_append_str(messages, "the record has nothing of that time; flamelet ls "
					    "lists what it has\n");
		return STATUS_NO_SAMPLES;
	case -ENOSPC:
		strbuf_append_str(messages,
				  "these are too many numbers: ask for a shorter range, a longer "
				  "--step, or a label with fewer values\n");
		return STATUS_USAGE;
	case -EOPNOTSUPP:
		strbuf_append_str(
			messages,
			"vitals, CPUs, slots and GPUs are those of whole hosts: a selector may "
			"only use the label host\n");
		return STATUS_USAGE;
	default:
		return answer_fail(answer, "cannot read the record", error);
	}
}

static int append(const struct options *options, const struct store_timeline *timeline,
		  const char *unit, struct answer *answer)
{
	if (options->json)
		timeline_text_append_json(timeline, unit, &answer->body);
	else
		timeline_text_append_csv(timeline, &answer->body);
	int r = strbuf_error(&answer->body);
	return r < 0 ? answer_fail(answer, "cannot write the timeline", r) : STATUS_OK;
}

/* If no sample has the label, the timeline would be one line without a name. */
static bool lacks_labels(const struct record_query *query,
			 const struct store_timeline_query *of_store, struct answer *answer)
{
	const struct label_check check = {
		.reader = query->reader,
		.range = query->asked.range,
		.selector = &query->selector,
		.words = &of_store->by,
		.nr_words = of_store->by ? 1 : 0,
	};

	return label_check_tell(&check, &answer->messages);
}

/* All else is of CPU time. */
static int check_kind(const struct options *options, const struct store_timeline_query *of_store,
		      struct answer *answer)
{
	if (of_store->type == PROFILE_CPU || of_store->what == TIMELINE_SAMPLES)
		return STATUS_OK;
	strbuf_appendf(
		&answer->messages,
		"--kind %s: such samples have no %s; use --by pod, --by reason or another label\n",
		kind_type_word(of_store->type),
		options->throttled			      ? "throttling"
		: options->gpu_use || options->gpu_use_memory ? "use of GPUs"
							      : options->timeline_by);
	return STATUS_USAGE;
}

/* The record has no parts of seconds. */
static int check_step(const struct options *options, struct answer *answer)
{
	if (options->step_ns % NSEC_PER_SEC == 0)
		return STATUS_OK;
	strbuf_append_str(&answer->messages,
			  "--step: a step has whole seconds, as the record has; parts of seconds "
			  "are shown by --by slot\n");
	return STATUS_USAGE;
}

int answer_timeline(const struct options *options, const struct store_reader *reader,
		    struct answer *answer)
{
	_cleanup_(record_query_done) struct record_query query = { 0 };
	_cleanup_(store_timeline_done) struct store_timeline timeline = { 0 };

	int status = check_step(options, answer);
	if (status == STATUS_OK)
		status = record_query_init(options, reader, &answer->messages, &query);
	if (status != STATUS_OK)
		return status;
	struct store_timeline_query of_store = {
		.range = query.asked.range,
		.selector = &query.selector,
		.type = query.type,
		.step_s = options->step_ns / NSEC_PER_SEC,
		.max_lines = options->max_lines,
	};
	const char *unit = choose(options, &of_store);
	status = check_kind(options, &of_store, answer);
	if (status != STATUS_OK)
		return status;
	if (lacks_labels(&query, &of_store, answer))
		return STATUS_USAGE;
	int r = store_timeline_read(query.reader, &of_store, &answer->messages, &timeline);
	return r < 0 ? explain(r, answer) : append(options, &timeline, unit, answer);
}

int cmd_timeline(const struct options *options)
{
	return answer_print(options, answer_timeline);
}
