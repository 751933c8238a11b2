/* SPDX-License-Identifier: Apache-2.0 */
/* flamelet record: samples for a while, then writes files and prints where the CPU time went. */
#include "agent/agent.h"
#include "agent/capture_choice.h"
#include "agent/child.h"
#include "agent/signals.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/heartbeat.h"
#include "base/output_file.h"
#include "base/strview.h"
#include "base/text.h"
#include "commands/commands.h"
#include "commands/describe.h"
#include "commands/progress.h"
#include "commands/shown_profile.h"
#include "commands/summary.h"
#include "findings/findings_text.h"
#include "privilege/privileges.h"
#include "profile/merge.h"
#include "profile/output.h"
#include "profile/thread_times.h"
#include "profile/viewer_page.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define MESSAGE_MAX_BYTES 4096
#define SUMMARY_MAX_BYTES 65536
#define DEFAULT_COLUMNS 100
#define RECORD_MAX_BYTES ((size_t)1 << 30)
#define READER_MAX_NS (30 * NSEC_PER_SEC)
#define LAST_WINDOWS_NS (5500 * NSEC_PER_MSEC) /* of SIGNALS_END_NS: the rest is for writing */
#define LOSS "the recording is lost unless it is already written"
#define PROGRESS_TURNS 3 /* polls between two drawings of the progress line */

struct recording {
	const struct options *options; /* borrowed */
	struct string_list outputs; /* borrowed from options, or only default_output */
	char *default_output;
	char *target; /* owned; "the whole machine" */
	struct child child;
	struct builder *builder; /* owned; used by the symbolizer thread until agent_stop() */
	/* Owned; the same for the number of waits for locks; `builder` has their time */
	struct builder *contentions;
	uint64_t nr_unmerged; /* samples dropped because of RECORD_MAX_BYTES */
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t duration_ns;
	uint32_t nr_cpus;
};

static void recording_done(struct recording *recording)
{
	child_done(&recording->child);
	builder_free(recording->builder);
	builder_free(recording->contentions);
	free(recording->default_output);
	free(recording->target);
}

static void take_profile(struct profile *profile, void *data)
{
	struct recording *recording = data;
	bool is_number = profile->type == PROFILE_LOCK_CONTENTIONS;
	struct builder *builder = is_number ? recording->contentions : recording->builder;
	uint64_t nr_lost = 0;

	if (merge_profile(builder, profile, &nr_lost) < 0)
		recording->nr_unmerged += nr_lost;
}

/* Names the file if there is no -o: flamelet-HOST-20261121T093015Z.html. The extension is that of
 * --format, or .svg if pages would lack the viewer. */
static int name_default_output(struct recording *recording)
{
	enum output_format format = viewer_page_is_built() ? OUTPUT_HTML : OUTPUT_SVG;
	char when[32];
	struct utsname host;
	struct tm utc;
	time_t now = time(NULL);

	if (recording->options->output_format) {
		int r = output_format_of("-", recording->options->output_format, &format);
		if (r < 0)
			return r;
	}
	uname(&host);
	gmtime_r(&now, &utc);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &utc);
	if (asprintf(&recording->default_output, "flamelet-%s-%s%s", host.nodename, when,
		     output_extension_of(format)) < 0)
		return -ENOMEM;
	recording->outputs = (struct string_list){ .items = &recording->default_output, .nr = 1 };
	return 0;
}

static void tell_unwritable(const char *path, int error, struct strbuf *message)
{
	strbuf_appendf(message, "cannot write %s: ", path);
	output_file_explain(path, error, message);
}

static int prepare(struct recording *recording, struct strbuf *message)
{
	const struct options *options = recording->options;
	_cleanup_(strbuf_done) struct strbuf target = strbuf_with_max(MESSAGE_MAX_BYTES);

	describe_target(options, &target);
	recording->target = strdup(strbuf_str(&target));
	recording->outputs = options->outputs;
	int r = recording->target ? privileges_check(backend_set_wanted(options), message)
				  : -ENOMEM;
	if (r == 0 && options->outputs.nr == 0)
		r = name_default_output(recording);
	for (size_t i = 0; r == 0 && i < recording->outputs.nr; i++) { /* before sampling */
		r = output_check(recording->outputs.items[i]);
		if (r < 0)
			tell_unwritable(recording->outputs.items[i], r, message);
	}
	if (r == 0)
		r = builder_new(RECORD_MAX_BYTES, &recording->builder);
	if (r == 0)
		r = builder_new(RECORD_MAX_BYTES, &recording->contentions);
	return r;
}

/* Returns whether a profile goes to standard output. The command's output then goes to stderr. */
static bool writes_to_stdout(const struct recording *recording)
{
	for (size_t i = 0; i < recording->outputs.nr; i++)
		if (output_is_stdout(recording->outputs.items[i]))
			return true;
	return false;
}

/* Starts the command, which waits for sampling to begin, and makes it the target. */
static int start_command(struct recording *recording, struct agent *agent, struct strbuf *message)
{
	if (recording->options->command.nr == 0)
		return 0;
	int r = child_start(recording->options->command.items, writes_to_stdout(recording),
			    recording->options->heap_library, &recording->child);
	if (r == 0)
		r = agent_add_pid(agent, (uint32_t)recording->child.pid);
	if (r < 0)
		strbuf_appendf(message, "cannot start %s", recording->options->command.items[0]);
	return r;
}

/* Returns whether all processes of -p have exited. */
static bool targets_are_gone(const struct options *options)
{
	for (size_t i = 0; i < options->pids.nr; i++)
		if (kill((pid_t)options->pids.items[i], 0) == 0 || errno != ESRCH)
			return false;
	return options->pids.nr > 0;
}

static bool is_over(struct recording *recording, uint64_t deadline_ns)
{
	return clock_mono_ns() >= deadline_ns || signals_stop_requested() ||
	       child_has_exited(&recording->child) || targets_are_gone(recording->options);
}

static void show_progress(const struct recording *recording, struct agent *agent,
			  const struct progress *progress, bool is_saving)
{
	struct agent_stats stats;

	agent_get_stats(agent, &stats);
	progress_update(progress, &(struct progress_state){
					  .elapsed_ns = clock_mono_ns() - recording->start_ns,
					  .nr_samples = stats.pipeline.nr_samples,
					  .nr_lost = agent_stats_lost(&stats),
					  .is_saving = is_saving,
				  });
}

static void sample_until(struct recording *recording, struct agent *agent,
			 const struct progress *progress, uint64_t deadline_ns)
{
	for (unsigned int turn = 0; !is_over(recording, deadline_ns); turn++) {
		agent_poll(agent, deadline_ns);
		if (progress->mode == PROGRESS_LIVE && turn % PROGRESS_TURNS == 0)
			show_progress(recording, agent, progress, false);
	}
	recording->duration_ns = clock_mono_ns() - recording->start_ns;
	show_progress(recording, agent, progress, true);
	int r = agent_stop(agent, LAST_WINDOWS_NS);
	(void)r; /* the summary shows what was lost; the rest is written */
	progress_done(progress);
}

static int sample(struct recording *recording, struct agent *agent, struct strbuf *message)
{
	const struct options *options = recording->options;
	uint64_t deadline_ns = UINT64_MAX;
	struct progress progress;

	int r = start_command(recording, agent, message);
	if (r == 0)
		r = agent_require_target(agent, message);
	if (r == 0)
		r = agent_start(agent, message);
	if (r < 0)
		return r;

	progress_init(&progress, options->quiet);
	progress.target = recording->target;
	progress.duration_ns = options->duration_ns;
	progress.nr_cpus = recording->nr_cpus = agent_nr_cpus(agent);
	if (options->command.nr == 0)
		agent_warm_up(agent);
	progress_start(&progress);
	recording->start_ns = clock_mono_ns();
	if (options->duration_ns > 0)
		deadline_ns = recording->start_ns + options->duration_ns;
	r = child_release(&recording->child);
	if (r < 0)
		return r;
	heartbeat_begin("reader", READER_MAX_NS);
	sample_until(recording, agent, &progress, deadline_ns);
	heartbeat_end();
	return 0;
}

/* Describes the origin of a picture: target, time and frequency in the title; host, kernel and
 * version below. */
static void describe_origin(const struct recording *recording, struct strbuf *title,
			    struct strbuf *subtitle)
{
	struct utsname host;

	uname(&host);
	strbuf_appendf(title, "%s, %.1f s ", recording->target,
		       (double)recording->duration_ns / 1e9);
	if (options_want_kind(recording->options, OPTION_KIND_CPU))
		strbuf_appendf(title, "at %u Hz", recording->options->frequency_hz);
	else if (options_want_kind(recording->options, OPTION_KIND_LOCK))
		strbuf_append_str(title, "waiting for locks");
	else if (options_want_kind(recording->options, OPTION_KIND_WALL))
		strbuf_append_str(title, "on and off the CPU");
	else if (options_want_kind(recording->options, OPTION_KIND_GROWTH))
		strbuf_append_str(title, "of growth of resident memory");
	else if (options_want_event(recording->options))
		strbuf_appendf(title, "by %s",
			       counted_event_name(capture_choice_event(recording->options)));
	else if (options_want_kind(recording->options, OPTION_KIND_ALLOC))
		strbuf_append_str(title, "of allocations");
	else if (options_want_kind(recording->options, OPTION_KIND_HEAP))
		strbuf_append_str(title, "of allocations, those in use at the end");
	else if (options_want_kind(recording->options, OPTION_KIND_IRQ))
		strbuf_append_str(title, "in interrupts");
	else
		strbuf_append_str(title, "off the CPU");
	strbuf_appendf(subtitle, "%s, Linux %s, flamelet %s", host.nodename, host.release,
		       FLAMELET_VERSION);
}

static int write_output(const struct recording *recording, const struct output_content *content,
			const char *path, const struct caption *info)
{
	enum output_format format;

	int r = output_format_of(path, recording->options->output_format, &format);
	return r < 0 ? r : output_write(content, path, format, info);
}

/* Names the target in pprof files, where the whole machine has always been "whole machine". */
static const char *subject_of(const struct recording *recording)
{
	struct strview target = strview_of(recording->target, SIZE_MAX);

	return strview_without_prefix(target, "the ").text;
}

/* Makes the view of the number of waits for locks; NULL if there are none. */
static int show_contentions(struct recording *recording, struct profile **ret_shown)
{
	_cleanup_(strbuf_done) struct strbuf note = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(profile_unrefp) struct profile *profile = builder_seal(
		take_ptr(recording->contentions));

	if (profile->nr_samples == 0)
		return 0;
	return shown_profile_make(recording->options, profile, &note, ret_shown);
}

static int write_outputs(struct recording *recording, struct profile *profile)
{
	_cleanup_(strbuf_done) struct strbuf note = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(profile_unrefp) struct profile *shown = NULL, *contentions = NULL;
	_cleanup_(strbuf_done) struct strbuf title = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf subtitle = strbuf_with_max(MESSAGE_MAX_BYTES);

	const struct view view = shown_profile_view(recording->options);
	int result = shown_profile_make(recording->options, profile, &note, &shown);
	if (result == 0)
		result = show_contentions(recording, &contentions);
	if (result < 0) {
		fprintf(stderr, "flamelet: cannot make the view: %s\n", strerror(-result));
		return result;
	}
	describe_origin(recording, &title, &subtitle);
	const struct caption info = {
		.subject = subject_of(recording),
		.title = strbuf_str(&title),
		.subtitle = strbuf_str(&subtitle),
		.note = note.len > 0 ? note.data : NULL,
	};
	const struct output_content content = {
		.profile = profile, .shown = shown, .view = &view, .contentions = contentions
	};
	for (size_t i = 0; i < recording->outputs.nr; i++) {
		const char *path = recording->outputs.items[i];

		int r = write_output(recording, &content, path, &info);
		if (r < 0) {
			_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(
				MESSAGE_MAX_BYTES);

			tell_unwritable(path, r, &message);
			fprintf(stderr, "flamelet: %s\n", strbuf_str(&message));
			result = r;
		}
	}
	return result;
}

/* Reports a command that is still running when sampling ends. Only the user may end it. */
static void tell_of_command(struct recording *recording)
{
	if (recording->child.pid > 0 && !child_has_exited(&recording->child))
		fprintf(stderr, "flamelet: the command was left running, pid %d\n",
			recording->child.pid);
}

static void tell_of_nothing(const struct recording *recording, uint64_t nr_lost)
{
	if (nr_lost > 0)
		fprintf(stderr,
			"flamelet: no samples: all %llu were lost because flamelet could "
			"not keep up; lower --frequency\n",
			(unsigned long long)nr_lost);
	else if (options_want_kind(recording->options, OPTION_KIND_OFF_CPU))
		fprintf(stderr, "flamelet: no samples: no thread of %s waited\n",
			recording->target);
	else if (options_want_kind(recording->options, OPTION_KIND_WALL))
		fprintf(stderr, "flamelet: no samples: %s has no threads that ran or waited\n",
			recording->target);
	else if (options_want_kind(recording->options, OPTION_KIND_LOCK))
		fprintf(stderr,
			"flamelet: no samples: no thread of %s waited for a lock; try a longer "
			"-d\n",
			recording->target);
	else if (options_want_kind(recording->options, OPTION_KIND_GROWTH))
		fprintf(stderr,
			"flamelet: no samples: the memory of %s grew by less than about 1 MB; try "
			"a longer -d\n",
			recording->target);
	else if (options_want_event(recording->options))
		fprintf(stderr,
			"flamelet: no samples: fewer than %llu events in %s on each CPU; try a "
			"lower --event-period or a longer -d\n",
			(unsigned long long)capture_choice_event_period(recording->options),
			recording->target);
	else if (options_want_kind(recording->options, OPTION_KIND_HEAP))
		fprintf(stderr,
			"flamelet: no samples: all that %s allocated is freed again, or no process "
			"told of allocations; does it have libflamelet-heap.so (docs/memory.md)?\n",
			recording->target);
	else if (options_want_kind(recording->options, OPTION_KIND_ALLOC))
		fprintf(stderr,
			"flamelet: no samples: no process of %s told of allocations; choose one "
			"by -p, or give it libflamelet-heap.so (docs/memory.md)\n",
			recording->target);
	else if (options_want_kind(recording->options, OPTION_KIND_IRQ))
		fprintf(stderr, "flamelet: no samples: no interrupt came\n");
	else
		fprintf(stderr,
			"flamelet: no samples: %s used less CPU time than one sampling interval; "
			"try a higher -F or a longer -d\n",
			recording->target);
}

static int print_summary(const struct summary *summary)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(SUMMARY_MAX_BYTES);

	int r = summary_append(summary, &text);
	if (r == 0)
		r = findings_append_largest(summary->profile, summary->columns, &text);
	if (r == 0)
		r = summary_append_wakers(summary, &text);
	if (r == 0)
		r = fd_write_all(STDOUT_FILENO, text.data, text.len);
	if (r < 0)
		fprintf(stderr, "flamelet: cannot write the summary: %s\n", strerror(-r));
	return r < 0 ? STATUS_FAILED : STATUS_OK;
}

static uint64_t period_of(const struct options *options)
{
	if (options_want_kind(options, OPTION_KIND_CPU))
		return NSEC_PER_SEC / options->frequency_hz;
	if (options_want_event(options))
		return capture_choice_event_period(options);
	/* Values are bytes, or objects. */
	return options_want_kind(options, OPTION_KIND_GROWTH) ||
	       options_want_kind(options, OPTION_KIND_ALLOC) ||
	       options_want_kind(options, OPTION_KIND_HEAP);
}

static int finish(struct recording *recording, struct agent *agent)
{
	struct agent_stats stats;

	agent_get_stats(agent, &stats);
	tell_of_command(recording);
	builder_set_time(recording->builder, clock_mono_to_real_ns(recording->start_ns),
			 recording->duration_ns, period_of(recording->options));
	_cleanup_(profile_unrefp) struct profile *profile = builder_seal(
		take_ptr(recording->builder));
	if (options_want_kind(recording->options, OPTION_KIND_WALL) &&
	    thread_times_apply(profile) < 0)
		return STATUS_FAILED;
	if (child_was_not_found(&recording->child))
		return STATUS_FAILED;
	uint64_t nr_lost = agent_stats_lost(&stats) + recording->nr_unmerged;
	if (profile_total(profile) == 0) {
		tell_of_nothing(recording, nr_lost);
		return STATUS_NO_SAMPLES;
	}
	const struct summary summary = {
		.profile = profile,
		.nr_lost = nr_lost,
		.elapsed_ns = recording->duration_ns,
		.nr_cpus = recording->nr_cpus,
		.perf_reason = agent_perf_reason(agent),
		.files = recording->outputs.items,
		.nr_files = recording->outputs.nr,
		.ssh_connection = getenv("SSH_CONNECTION"),
		.user = getenv("SUDO_USER") ? getenv("SUDO_USER") : getenv("USER"),
		.columns = text_terminal_columns(STDOUT_FILENO, DEFAULT_COLUMNS),
	};

	if (write_outputs(recording, profile) < 0)
		return STATUS_FAILED;
	if (recording->options->quiet || writes_to_stdout(recording))
		return STATUS_OK;
	return print_summary(&summary);
}

int cmd_record(const struct options *options)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(recording_done) struct recording recording = { .options = options,
								 .child = CHILD_NONE };
	_cleanup_(agent_freep) struct agent *agent = NULL;

	int r = signals_setup(LOSS, STATUS_FAILED);
	if (r == 0)
		r = prepare(&recording, &message);
	if (r == 0)
		r = agent_new(options, take_profile, &recording, &message, &agent);
	if (r == 0)
		r = sample(&recording, agent, &message);
	if (r < 0)
		fprintf(stderr, "flamelet: %s\n", message.len > 0 ? message.data : strerror(-r));
	int status = r < 0 ? STATUS_FAILED : finish(&recording, agent);
	signals_done(status);
	return status;
}
