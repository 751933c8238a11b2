/* SPDX-License-Identifier: Apache-2.0 */
/* flamelet export: sends recorded pprof files, one after the other, or a range of a local record to
 * the destinations of the agent, and reports what happened to all samples. */
#include "agent/exporters.h"
#include "agent/signals.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/text.h"
#include "commands/commands.h"
#include "commands/export_rest.h"
#include "commands/record_query.h"
#include "profile/pprof_reader.h"
#include "store/store_slices.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MESSAGE_MAX_BYTES 4096
#define FILE_MAX_BYTES ((size_t)512 << 20)
#define PPROF_MAX_BYTES ((size_t)256 << 20)
#define SLICE_MAX_BYTES ((size_t)256 << 20)
#define MAX_PENDING 50000 /* samples of a record that wait for being delivered */
#define POLL_NS (5 * NSEC_PER_MSEC)
#define REST_MAX_BYTES ((size_t)1 << 20)
#define LOSS "undelivered profiles are still in the files or the record"

struct replay {
	const struct options *options; /* borrowed */
	struct exporters *exporters; /* borrowed */
	uint64_t deadline_ns;
	bool has_failed; /* something could not be read */
	struct export_rest rest; /* begins with what is not known to be settled */
	bool is_in_order; /* the record is of one host, so its parts come in the order of time */
	uint64_t unread_s; /* of a record in order, the second behind what was pushed */
};

static uint64_t count_pending(struct exporters *exporters)
{
	struct exporter_stats stats = exporters_get_stats(exporters);

	return stats.nr_samples_pushed + stats.nr_samples_restored - stats.nr_samples_sent -
	       exporter_stats_dropped(&stats);
}

/* Waits until everything that was pushed is delivered or dropped, or the time is over. This keeps
 * what is read from filling the memory. Returns whether it is so. */
static bool wait_until_settled(const struct replay *replay)
{
	const struct timespec pause = clock_timespec(POLL_NS);

	while (count_pending(replay->exporters) > 0) {
		if (clock_mono_ns() >= replay->deadline_ns || signals_stop_requested())
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
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
		(void)wait_until_settled(replay);
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

/* Sends a part of a record. A destination has --wait for each. */
static int send_slice(struct profile *profile, void *data)
{
	struct replay *replay = data;

	if (replay->is_in_order) {
		if (count_pending(replay->exporters) == 0)
			replay->rest.range.first_s = profile->time_unix_ns / NSEC_PER_SEC;
		replay->unread_s = (profile->time_unix_ns + profile->duration_ns) / NSEC_PER_SEC;
	}
	exporters_push_wait(replay->exporters, profile);
	if (count_pending(replay->exporters) <= MAX_PENDING)
		return 0;
	replay->deadline_ns = clock_mono_ns() + replay->options->wait_ns;
	if (wait_until_settled(replay))
		return 0;
	replay->rest.has_unread = true;
	return -ECANCELED;
}

static void send_slices(struct replay *replay, const struct store_reader *reader,
			const struct store_slicing *slicing)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_MAX_BYTES);
	uint64_t left_out = 0;

	int r = store_slices_visit(reader, slicing, &warnings, &left_out);
	replay->has_failed = r < 0 || warnings.len > 0 || left_out > 0;
	record_query_warn(&warnings);
	if (r == -ENOMEM)
		fprintf(stderr, "flamelet: cannot read the record: %s\n", strerror(-r));
	if (left_out > 0)
		fprintf(stderr,
			"flamelet: %" PRIu64 " samples are not sent: there are too many in a "
			"profile; use a shorter --export-interval\n",
			left_out);
}

/* A record is sent host by host. With several hosts, what is left does not begin at one second. */
static bool has_one_host(const struct store_reader *reader)
{
	return strcmp(reader->spans[0].host, reader->spans[reader->nr_spans - 1].host) == 0;
}

/* Sends the range of the record that the first word names. Returns an exit status. */
static int send_record(struct replay *replay)
{
	_cleanup_(record_query_done) struct record_query query = { 0 };
	_cleanup_(strbuf_done) struct strbuf messages = strbuf_with_max(MESSAGE_MAX_BYTES);
	struct options options = *replay->options; /* owns nothing */

	options.ranges = options.files;
	int status = record_query_init(&options, NULL, &messages, &query);

	record_query_warn(&messages);
	if (status == STATUS_OK) {
		const struct store_slicing slicing = {
			.range = query.asked.range,
			.selector = &query.selector,
			.slice_s = options.export_interval_ns / NSEC_PER_SEC,
			.with_times = options_want_times(&options),
			.max_bytes = SLICE_MAX_BYTES,
			.visit = send_slice,
			.data = replay,
		};

		replay->rest.range = query.asked.range;
		replay->unread_s = query.asked.range.first_s;
		replay->is_in_order = has_one_host(query.reader);
		send_slices(replay, query.reader, &slicing);
	}
	replay->deadline_ns = clock_mono_ns() + (replay->rest.has_unread ? 0 : options.wait_ns);
	return status;
}

static void send_files(struct replay *replay)
{
	const struct string_list *files = &replay->options->files;

	for (size_t i = 0; i < files->nr && !signals_stop_requested(); i++) {
		if (count_pending(replay->exporters) == 0)
			replay->rest.first_file = i;
		send_file(replay, files->items[i]);
	}
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

static void print_text(const struct options *options, const struct exporter_stats *stats)
{
	uint64_t nr_unsent = stats->nr_samples_dropped[EXPORT_DROP_SHUTDOWN];

	print_count("sent", stats->nr_samples_sent);
	printf(", %.1f KB; requests: %" PRIu64 ", including retries: %" PRIu64 "\n",
	       (double)stats->nr_bytes_sent / 1e3, stats->nr_requests, stats->nr_retries);
	for (enum export_drop drop = 0; drop < EXPORT_NR_DROPS; drop++) {
		if (stats->nr_samples_dropped[drop] == 0 || drop == EXPORT_DROP_SHUTDOWN)
			continue;
		print_count("dropped", stats->nr_samples_dropped[drop]);
		printf(" (%s)\n", export_drop_name(drop));
	}
	if (nr_unsent > 0) {
		print_count("unsent", nr_unsent);
		printf(", still in the %s\n", options->stores.nr > 0 ? "record" : "files");
	}
	if (stats->nr_queue_samples > 0) {
		print_count("waiting", stats->nr_queue_samples);
		puts(" in --queue-dir, for the next run");
	}
}

/* Says what is left, and how to send it. Only what is not in --queue-dir is left. */
static void tell_rest(const struct replay *replay, const struct exporter_stats *stats)
{
	_cleanup_(strbuf_done) struct strbuf lines = strbuf_with_max(REST_MAX_BYTES);
	struct export_rest rest = replay->rest;

	rest.nr_samples = stats->nr_samples_dropped[EXPORT_DROP_SHUTDOWN];
	rest.has_unread = rest.has_unread && replay->unread_s < rest.range.end_s;
	rest.was_stopped = signals_stop_requested();
	if (rest.nr_samples == 0)
		rest.range.first_s = replay->unread_s;
	if (rest.nr_samples == 0 && !rest.has_unread)
		return;
	export_rest_append(&rest, replay->options, &lines);
	record_query_warn(&lines);
}

static int report(const struct replay *replay)
{
	struct exporter_stats stats = exporters_get_stats(replay->exporters);

	tell_rest(replay, &stats);
	if (replay->options->json)
		print_json(&stats);
	else
		print_text(replay->options, &stats);
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
	int r = signals_setup(LOSS, STATUS_FAILED);
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
	int status = STATUS_OK;
	if (options->stores.nr > 0)
		status = send_record(&replay);
	else
		send_files(&replay);
	(void)wait_until_settled(&replay);
	exporters_finish(exporters, 0);
	if (status == STATUS_OK)
		status = report(&replay);
	signals_done(status);
	return status;
}
