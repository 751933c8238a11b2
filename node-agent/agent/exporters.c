/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/exporters.h"

#include "agent/export_headers.h"
#include "agent/export_transport.h"
#include "agent/queue_dirs.h"
#include "base/log.h"
#include "base/own_dir.h"
#include "selfmon/metric_text.h"

#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ATTRIBUTES 25 /* Pyroscope takes 30, five of which it adds itself */
#define MAX_EXTRA 64
#define EXTRA_KEY_BYTES 256

#define NAME_BYTES 256
#define PATH_MAX_BYTES 4096
#define REFUSAL_MAX_BYTES 8192

static_assert(EXPORTERS_MAX == QUEUE_DIRS_MAX, "each exporter can have a queue");

struct exporters {
	struct exporter *of[EXPORTERS_MAX]; /* owned */
	char names[EXPORTERS_MAX][NAME_BYTES]; /* for metrics */
	struct queue_dirs queues; /* of the same destinations */
	size_t nr;
};

/* Options of the form "key=value", as attributes. */
struct extra {
	struct attribute items[MAX_EXTRA];
	char keys[MAX_EXTRA][EXTRA_KEY_BYTES];
	size_t nr;
};

static bool has_key(const struct extra *extra, const char *key)
{
	for (size_t i = 0; i < extra->nr; i++)
		if (strcmp(extra->keys[i], key) == 0)
			return true;
	return false;
}

/* Adds the attributes whose keys are not there yet. */
static void add_extra(const struct string_list *list, struct extra *extra)
{
	for (size_t i = 0; i < list->nr && extra->nr < MAX_EXTRA; i++) {
		const char *equals = strchr(list->items[i], '=');
		char *key = extra->keys[extra->nr];

		if (!equals)
			continue;
		snprintf(key, EXTRA_KEY_BYTES, "%.*s", (int)(equals - list->items[i]),
			 list->items[i]);
		if (!has_key(extra, key))
			extra->items[extra->nr++] = (struct attribute){ key, equals + 1 };
	}
}

static struct attribute_opts attribute_opts_of(const struct destination *options,
					       const struct extra *extra)
{
	return (struct attribute_opts){
		.preset = options->preset == OPTION_PRESET_PYROSCOPE ? ATTRIBUTES_PYROSCOPE
								     : ATTRIBUTES_STANDARD,
		.sample_attributes = options->sample_attributes,
		.excluded = (const char *const *)options->excluded_attributes.items,
		.nr_excluded = options->excluded_attributes.nr,
		.extra = extra->items,
		.nr_extra = extra->nr,
		.max_values = options->attribute_values_max,
		.max_attributes = MAX_ATTRIBUTES,
	};
}

static void tell_queue(const struct options *options, const char *reason, struct strbuf *message)
{
	strbuf_appendf(message, "--queue-dir %s: %s", options->queue_dir, reason);
}

static void explain(const struct destination *destination, const struct options *options, int error,
		    struct strbuf *message)
{
	if (error == -EBUSY)
		strbuf_appendf(message, "%s: another flamelet uses the queue in %s",
			       destination->endpoint, options->queue_dir);
	else if (error == -EINVAL)
		strbuf_appendf(message, "%s: the endpoint, a header or the tenant is invalid",
			       destination->endpoint);
	else if (options->queue_dir)
		tell_queue(options, strerror(-error), message);
	else
		strbuf_appendf(message, "%s: %s", destination->endpoint, strerror(-error));
}

/* Names a destination by its host; a number tells equal hosts apart. Returns whether the name has a
 * number. */
static bool make_name(const struct exporters *exporters, const char *endpoint,
		      char name[static NAME_BYTES])
{
	const char *host;
	int len = queue_dirs_find_host(endpoint, &host);
	size_t nr_equal = 0;

	for (size_t i = 0; i < exporters->nr; i++)
		nr_equal += strncmp(exporters->names[i], host, (size_t)len) == 0 &&
			    strchr("-", exporters->names[i][len]);
	if (nr_equal == 0)
		snprintf(name, NAME_BYTES, "%.*s", len, host);
	else
		snprintf(name, NAME_BYTES, "%.*s-%zu", len, host, nr_equal + 1);
	return nr_equal > 0;
}

static bool has_files(int parent_fd, const char *name)
{
	int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_closedir_ DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			return true;
	return false;
}

/* Warns of queues whose destination was removed or has another URL now. Nothing sends the requests
 * in them. */
static void warn_of_orphans(const struct exporters *exporters, const char *parent)
{
	_cleanup_closedir_ DIR *dir = opendir(parent);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' &&
		    !queue_dirs_include(&exporters->queues, entry->d_name) &&
		    has_files(dirfd(dir), entry->d_name))
			log_warn("--queue-dir %s: %s has requests for a destination that is no "
				 "longer configured; they will not be sent: configure the "
				 "destination again, or delete the directory",
				 parent, entry->d_name);
}

static int check_header_file(const struct destination *destination, struct strbuf *reterr_msg)
{
	_cleanup_(header_list_done) struct header_list headers = { 0 };

	return export_read_header_file(destination, &headers, reterr_msg);
}

/* Makes --queue-dir when it is missing. No other user may be able to replace files in it. */
static int prepare_queues(const struct options *options, struct strbuf *reterr_msg)
{
	_cleanup_(strbuf_done) struct strbuf refusal = strbuf_with_max(REFUSAL_MAX_BYTES);
	_cleanup_close_ int fd = -EBADF;

	if (!options->queue_dir)
		return 0;
	int r = own_dir_open(options->queue_dir, OWN_DIR_FOR_DIRECTORIES, OWN_DIR_MAKE_ALL,
			     &refusal, &fd);
	if (r < 0)
		tell_queue(options, strbuf_str(&refusal), reterr_msg);
	return r;
}

/* Names the directory of the next destination's queue; the exporter makes it. */
static int find_queue(struct exporters *exporters, const struct options *options,
		      const struct destination *destination, struct strbuf *path,
		      struct strbuf *reterr_msg)
{
	_cleanup_(strbuf_done) struct strbuf refusal = strbuf_with_max(REFUSAL_MAX_BYTES);
	struct queue_dirs *queues = &exporters->queues;

	int r = queue_dirs_add(queues, destination);
	if (r < 0 || !options->queue_dir)
		return r;
	r = queue_dirs_check(options->queue_dir, queues->names[queues->nr - 1], path, &refusal);
	if (refusal.len > 0)
		tell_queue(options, strbuf_str(&refusal), reterr_msg);
	return r;
}

static int start_one(struct exporters *exporters, const struct options *options,
		     const struct destination *destination, const struct exporter_opts *common,
		     struct strbuf *reterr_msg)
{
	_cleanup_(strbuf_done) struct strbuf queue_dir = strbuf_with_max(PATH_MAX_BYTES);
	struct exporter_opts opts = *common;
	char name[NAME_BYTES];

	/* The first destination of a host and port needs no name: its URL identifies it. */
	opts.name = make_name(exporters, destination->endpoint, name) ? name : NULL;
	opts.transport = export_transport_opts(destination);
	opts.with_times = destination->timestamps;
	opts.with_pprof = destination->original_payload;
	opts.max_request_bytes = destination->request_max;
	int r = check_header_file(destination, reterr_msg);
	if (r < 0)
		return r;
	r = find_queue(exporters, options, destination, &queue_dir, reterr_msg);
	opts.queue_dir = options->queue_dir ? strbuf_str(&queue_dir) : NULL;
	if (r == 0)
		r = exporter_start(&opts, &exporters->of[exporters->nr]);
	if (r < 0) {
		if (reterr_msg->len == 0)
			explain(destination, options, r, reterr_msg);
		return r;
	}
	memcpy(exporters->names[exporters->nr++], name, sizeof(name));
	return 0;
}

int exporters_start(const struct options *options, uint64_t interval_ns, struct strbuf *reterr_msg,
		    struct exporters **ret_exporters)
{
	_cleanup_(exporters_stopp) struct exporters *exporters = calloc(1, sizeof(*exporters));
	_cleanup_free_ struct extra *extra = calloc(1, sizeof(*extra));
	struct exporter_opts opts = {
		.interval_ns = interval_ns,
		.max_queue_bytes = options->queue_max,
	};

	if (!exporters || !extra)
		return -ENOMEM;
	int r = prepare_queues(options, reterr_msg);
	for (size_t i = 0; r == 0 && i < options->nr_destinations; i++) {
		const struct destination *destination = &options->destinations[i];

		/* The destination's own attributes come before those for all. */
		extra->nr = 0;
		add_extra(&destination->resource_attributes, extra);
		add_extra(&options->resource_attributes, extra);
		opts.attributes = attribute_opts_of(destination, extra);
		r = start_one(exporters, options, destination, &opts, reterr_msg);
	}
	if (r < 0)
		return r;
	if (options->queue_dir)
		warn_of_orphans(exporters, options->queue_dir);
	*ret_exporters = take_ptr(exporters);
	return 0;
}

void exporters_stop(struct exporters *exporters)
{
	if (!exporters)
		return;
	exporters_finish(exporters, 0);
	for (size_t i = 0; i < exporters->nr; i++)
		exporter_stop(exporters->of[i]);
	free(exporters);
}

void exporters_push(struct exporters *exporters, struct profile *profile)
{
	for (size_t i = 0; i < exporters->nr; i++)
		exporter_push(exporters->of[i], profile);
}

void exporters_push_wait(struct exporters *exporters, struct profile *profile)
{
	for (size_t i = 0; i < exporters->nr; i++)
		exporter_push_wait(exporters->of[i], profile);
}

void exporters_finish(struct exporters *exporters, uint64_t deadline_ns)
{
	for (size_t i = 0; i < exporters->nr; i++)
		exporter_close(exporters->of[i], deadline_ns);
	for (size_t i = 0; i < exporters->nr; i++)
		exporter_join(exporters->of[i]);
}

size_t exporters_nr(const struct exporters *exporters)
{
	return exporters->nr;
}

/* Adds member by member: the statistics are nothing but uint64_t. */
static void add(struct exporter_stats *sum, const struct exporter_stats *stats)
{
	uint64_t from[sizeof(*stats) / sizeof(uint64_t)], to[array_len(from)];

	memcpy(from, stats, sizeof(from));
	memcpy(to, sum, sizeof(to));
	for (size_t i = 0; i < array_len(from); i++)
		to[i] += from[i];
	memcpy(sum, to, sizeof(to));
}

struct exporter_stats exporters_get_stats(struct exporters *exporters)
{
	struct exporter_stats sum = { 0 };

	for (size_t i = 0; i < exporters->nr; i++) {
		struct exporter_stats one = exporter_get_stats(exporters->of[i]);

		add(&sum, &one);
	}
	return sum;
}

/* The metrics of each destination. Everything else is shown as a sum only. */
enum shown { SHOWN_SENT, SHOWN_DROPPED, SHOWN_QUEUED, SHOWN_FAILURES, NR_SHOWN };

static const struct {
	const char *family;
	const char *help;
	enum metric_type type;
} families[NR_SHOWN] = {
	[SHOWN_SENT] = { "flamelet_export_destination_samples_sent_total",
			 "Samples that this destination accepted.", METRIC_COUNTER },
	[SHOWN_DROPPED] = { "flamelet_export_destination_samples_dropped_total",
			    "Samples that were dropped before delivery to this destination.",
			    METRIC_COUNTER },
	[SHOWN_QUEUED] = { "flamelet_export_destination_queue_samples",
			   "Samples that wait for delivery to this destination.", METRIC_GAUGE },
	[SHOWN_FAILURES] = { "flamelet_export_destination_request_failures_total",
			     "Requests to this destination that failed or were rejected.",
			     METRIC_COUNTER },
};

static uint64_t value_of(const struct exporter_stats *stats, enum shown shown)
{
	const uint64_t values[NR_SHOWN] = {
		[SHOWN_SENT] = stats->nr_samples_sent,
		[SHOWN_DROPPED] = exporter_stats_dropped(stats),
		[SHOWN_QUEUED] = stats->nr_queue_samples,
		[SHOWN_FAILURES] = stats->nr_request_failures,
	};

	return values[shown];
}

void exporters_expose(struct exporters *exporters, struct strbuf *out)
{
	struct exporter_stats stats[EXPORTERS_MAX];

	for (size_t i = 0; i < exporters->nr; i++)
		stats[i] = exporter_get_stats(exporters->of[i]);
	for (enum shown shown = 0; shown < NR_SHOWN && exporters->nr > 1; shown++) {
		metric_text_head(out, families[shown].family, families[shown].type,
				 families[shown].help);
		for (size_t i = 0; i < exporters->nr; i++) {
			const struct metric_series series = { families[shown].family, "destination",
							      exporters->names[i] };

			metric_text_count(out, &series, value_of(&stats[i], shown));
		}
	}
}
