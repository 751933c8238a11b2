/* SPDX-License-Identifier: Apache-2.0 */
/* flamelet export: sends recorded pprof files to the destinations of the agent, one file after the
 * other, and reports what happened to all samples. */
#include "agent/exporters.h"
#include "agent/signals.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/text.h"
#include "commands/commands.h"
#include "profile/pprof_reader.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MESSAGE_MAX_BYTES 4096
#define FILE_MAX_BYTES ((size_t)512 << 20)
#define PPROF_MAX_BYTES ((size_t)256 << 20)
#define POLL_NS (5 * NSEC_PER_MSEC)

struct replay {
	const struct options *options; /* borrowed */
	struct exporters *exporters; /* borrowed */
	uint64_t deadline_ns;
	bool has_failed; /* a file could not be read */
};

static bool is_settled(struct exporters *exporters)
{
	struct exporter_stats stats = exporters_get_stats(exporters);

	return stats.nr_samples_pushed + stats.nr_samples_restored ==
	       stats.nr_samples_sent + exporter_stats_dropped(&stats);
}

/* Waits until everything that was pushed is delivered or dropped, or the time is over. This keeps a
 * long list of files from filling the memory. */
static void wait_until_settled(const struct replay *replay)
{
	const struct timespec pause = clock_timespec(POLL_NS);

	while (!is_settled(replay->exporters) && clock_mono_ns() < replay->deadline_ns &&
	       !signals_stop_requested())
		nanosleep(&pause, NULL);
}

static void push_profiles(const struct replay *replay, struct pprof_profiles *profiles)
{
	for (size_t i = 0; i < PROFILE_NR_TYPES && !signals_stop_requested(); i++) {
		struct profile *profile = profiles->of[i];

		if (!profile)
			continue;
		if (replay->options->at_now) /* the profile is not shared yet */
			profile->time_unix_ns = clock_real_ns() - profile->duration_ns;
		exporters_push_wait(replay->exporters, profile);
		wait_until_settled(replay);
	}
}

static int read_profiles(const char *path, struct pprof_profiles *profiles, struct strbuf *message)
{
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(FILE_MAX_BYTES);

	int r = file_read_at(AT_FDCWD, path, &bytes);
	return r < 0 ? r : pprof_read(bytes.data, bytes.len, PPROF_MAX_BYTES, profiles, message);
}

static void send_file(struct replay *replay, const char *path)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(pprof_profiles_done) struct pprof_profiles profiles = { 0 };

	int r = read_profiles(path, &profiles, &message);
	if (r < 0) {
		replay->has_failed = true;
		fprintf(stderr, "flamelet: %s: %s; not sent\n", path,
			message.len > 0 ? strbuf_str(&message) : strerror(-r));
		return;
	}
	if (profiles.nr_types_unknown > 0)
		fprintf(stderr, "flamelet: %s: dropped %zu value types that OTLP has no name for\n",
			path, profiles.nr_types_unknown);
	push_profiles(replay, &profiles);
}

static void print_json(const struct exporter_stats *stats)
{
	printf("{\"pushed\":%" PRIu64 ",\"restored\":%" PRIu64 ",\"sent\":%" PRIu64
	       ",\"queued\":%" PRIu64 ",\"dropped\":{",
	       stats->nr_samples_pushed, stats->nr_samples_restored, stats->nr_samples_sent,
	       stats->nr_queue_samples);
	for (enum export_drop drop = 0; drop < EXPORT_NR_DROPS; drop++)
		printf("%s\"%s\":%" PRIu64, drop ? "," : "", export_drop_name(drop),
		       stats->nr_samples_dropped[drop]);
	printf("},\"requests\":%" PRIu64 ",\"request_failures\":%" PRIu64 ",\"retries\":%" PRIu64
	       ",\"bytes\":%" PRIu64 "}\n",
	       stats->nr_requests, stats->nr_request_failures, stats->nr_retries,
	       stats->nr_bytes_sent);
}

static void print_count(const char *what, uint64_t count)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MESSAGE_MAX_BYTES);

	text_append_count(&text, count);
	printf("%-10s %s samples", what, strbuf_str(&text));
}

static void print_text(const struct exporter_stats *stats)
{
	print_count("sent", stats->nr_samples_sent);
	printf(", %.1f KB; requests: %" PRIu64 ", including retries: %" PRIu64 "\n",
	       (double)stats->nr_bytes_sent / 1e3, stats->nr_requests, stats->nr_retries);
	for (enum export_drop drop = 0; drop < EXPORT_NR_DROPS; drop++) {
		if (stats->nr_samples_dropped[drop] == 0)
			continue;
		print_count("dropped", stats->nr_samples_dropped[drop]);
		printf(" (%s)\n", export_drop_name(drop));
	}
	if (stats->nr_queue_samples > 0) {
		print_count("waiting", stats->nr_queue_samples);
		puts(" in --queue-dir, for the next run");
	}
}

static int report(const struct replay *replay)
{
	struct exporter_stats stats = exporters_get_stats(replay->exporters);

	if (replay->options->json)
		print_json(&stats);
	else
		print_text(&stats);
	if (replay->has_failed || fflush(stdout) != 0)
		return STATUS_FAILED;
	return stats.nr_samples_sent == stats.nr_samples_pushed + stats.nr_samples_restored
		       ? STATUS_OK
		       : STATUS_FAILED;
}

int cmd_export(const struct options *options)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(exporters_stopp) struct exporters *exporters = NULL;

	if (options->nr_destinations == 0) {
		fputs("flamelet: no destination configured: set --otlp-endpoint URL\n", stderr);
		return STATUS_USAGE;
	}
	int r = signals_setup(EXPORTERS_LOSS, STATUS_FAILED);
	if (r == 0)
		r = exporters_start(options, 0, &message, &exporters);
	if (r < 0) {
		fprintf(stderr, "flamelet: %s\n", message.len > 0 ? message.data : strerror(-r));
		signals_done(STATUS_FAILED);
		return STATUS_FAILED;
	}

	struct replay replay = {
		.options = options,
		.exporters = exporters,
		.deadline_ns = clock_mono_ns() + options->wait_ns,
	};
	for (size_t i = 0; i < options->files.nr && !signals_stop_requested(); i++)
		send_file(&replay, options->files.items[i]);
	wait_until_settled(&replay);
	exporters_finish(exporters, 0);
	int status = report(&replay);
	signals_done(status);
	return status;
}
