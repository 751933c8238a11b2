/* SPDX-License-Identifier: Apache-2.0 */
#include "exporters.h"

#include "base/fileio.h"
#include "base/hash.h"
#include "base/log.h"
#include "cli/export_headers.h"
#include "cli/export_protocol.h"
#include "selfmon/metric_text.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LABELS 25 /* Pyroscope takes 30, five of which it adds itself */
#define MAX_EXTRA 64
#define EXTRA_KEY_BYTES 256

#define NAME_BYTES 256
#define HOST_MAX 200 /* bytes of it in the name of a directory */
#define PATH_MAX_BYTES 4096
#define KEY_MAX_BYTES ((size_t)1 << 20)

struct exporters {
	struct exporter *of[EXPORTERS_MAX]; /* owned */
	char names[EXPORTERS_MAX][NAME_BYTES]; /* for metrics */
	char queues[EXPORTERS_MAX][NAME_BYTES]; /* directories in --queue-dir */
	size_t nr;
};

/* "key=value" of the options as attributes. */
struct extra {
	struct attribute items[MAX_EXTRA];
	char keys[MAX_EXTRA][EXTRA_KEY_BYTES];
	size_t nr;
};

static void read_extra(const struct options *options, struct extra *extra)
{
	const struct string_list *list = &options->resource_attributes;

	for (size_t i = 0; i < list->nr && extra->nr < MAX_EXTRA; i++) {
		const char *equals = strchr(list->items[i], '=');
		char *key = extra->keys[extra->nr];

		if (!equals)
			continue;
		snprintf(key, EXTRA_KEY_BYTES, "%.*s", (int)(equals - list->items[i]),
			 list->items[i]);
		extra->items[extra->nr++] = (struct attribute){ key, equals + 1 };
	}
}

static struct transport_opts transport_opts_of(const struct export_options *options)
{
	return (struct transport_opts){
		.protocol = export_protocol(options),
		.endpoint = options->endpoint,
		.endpoint_is_full = options->endpoint_is_full,
		.headers = (const char *const *)options->headers.items,
		.nr_headers = options->headers.nr,
		.tenant = options->tenant,
		.header_file = options->header_file,
		.token_file = options->token_file,
		.ca_file = options->ca_file,
		.client_cert_file = options->client_cert_file,
		.client_key_file = options->client_key_file,
		.verify = options->verify,
		.compress = options->compress &&
			    options->exporter == OPTION_EXPORTER_OTLP, /* a push is gzip inside */
		.timeout_ns = options->timeout_ns,
	};
}

static struct label_opts label_opts_of(const struct export_options *options,
				       const struct extra *extra)
{
	return (struct label_opts){
		.preset = options->preset == OPTION_PRESET_PYROSCOPE ? LABELS_PYROSCOPE
								     : LABELS_STANDARD,
		.sample_attributes = options->sample_attributes,
		.excluded = (const char *const *)options->excluded_attributes.items,
		.nr_excluded = options->excluded_attributes.nr,
		.extra = extra->items,
		.nr_extra = extra->nr,
		.max_values = options->attribute_values_max,
		.max_labels = MAX_LABELS,
	};
}

static void explain(const struct export_options *export, const struct options *options, int error,
		    struct strbuf *message)
{
	if (error == -EBUSY)
		strbuf_appendf(message, "%s: another flamelet uses the queue in %s",
			       export->endpoint, options->queue_dir);
	else if (error == -EINVAL)
		strbuf_appendf(message, "%s: the endpoint, a header or the tenant cannot be used",
			       export->endpoint);
	else if (options->queue_dir)
		strbuf_appendf(message, "--queue-dir %s: %s", options->queue_dir, strerror(-error));
	else
		strbuf_appendf(message, "%s: %s", export->endpoint, strerror(-error));
}

/* "receiver:4317" of an endpoint, without what may be secret; returns its length. */
static int find_host(const char *endpoint, const char **ret_host)
{
	const char *scheme_end = strstr(endpoint, "://");

	*ret_host = scheme_end ? scheme_end + strlen("://") : endpoint;
	return (int)strcspn(*ret_host, "/?#");
}

/* A number tells equal ones apart. */
static void make_name(const struct exporters *exporters, const char *endpoint,
		      char name[static NAME_BYTES])
{
	const char *host;
	int len = find_host(endpoint, &host);
	size_t nr_equal = 0;

	for (size_t i = 0; i < exporters->nr; i++)
		nr_equal += strncmp(exporters->names[i], host, (size_t)len) == 0 &&
			    strchr("-", exporters->names[i][len]);
	if (nr_equal == 0)
		snprintf(name, NAME_BYTES, "%.*s", len, host);
	else
		snprintf(name, NAME_BYTES, "%.*s-%zu", len, host, nr_equal + 1);
}

/* How many use that directory, or one of its name and a number. */
static size_t nr_users(const struct exporters *exporters, const char *queue)
{
	size_t nr = 0;

	for (size_t i = 0; i < exporters->nr; i++)
		nr += strncmp(exporters->queues[i], queue, strlen(queue)) == 0;
	return nr;
}

/* By the receiver, and by whom it takes us for: what was made for one account does not go to another. */
static int name_queue(const struct exporters *exporters, const struct export_options *export,
		      char queue[static NAME_BYTES])
{
	_cleanup_(strbuf_done) struct strbuf key = strbuf_with_max(KEY_MAX_BYTES);
	const char *host;
	int len = find_host(export->endpoint, &host);
	uint64_t hash[2];

	strbuf_appendf(&key, "%d %s %s %s", export->exporter == OPTION_EXPORTER_PYROSCOPE,
		       export->endpoint, export->tenant ? export->tenant : "",
		       export->token_file ? export->token_file : "");
	for (size_t i = 0; i < export->headers.nr; i++)
		strbuf_appendf(&key, "\n%s", export->headers.items[i]);
	if (export->header_file) /* by its name: what it says may be renewed */
		strbuf_appendf(&key, "\n%s", export->header_file);
	hash_128(strbuf_str(&key), key.len, hash);
	int nr_written = snprintf(queue, NAME_BYTES, "%.*s-%08x", len > HOST_MAX ? HOST_MAX : len,
				  host, (uint32_t)hash[0]);
	size_t nr_equal = nr_users(exporters, queue);
	if (nr_equal > 0)
		snprintf(queue + nr_written, NAME_BYTES - (size_t)nr_written, "-%zu", nr_equal + 1);
	return strbuf_error(&key);
}

static int make_queue_dir(const char *parent, const char *queue, struct strbuf *path)
{
	strbuf_appendf(path, "%s/%s", parent, queue);
	return strbuf_error(path) < 0 ? strbuf_error(path) : dir_make_all(parent);
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

/* Of receivers that had another URL, or are not wanted any more: what waits there, waits for ever. */
static void warn_of_orphans(const struct exporters *exporters, const char *parent)
{
	_cleanup_closedir_ DIR *dir = opendir(parent);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && nr_users(exporters, entry->d_name) == 0 &&
		    has_files(dirfd(dir), entry->d_name))
			log_warn("--queue-dir %s: %s belongs to no receiver of today, what waits "
				 "in it "
				 "is not sent: name its receiver again, or remove it",
				 parent, entry->d_name);
}

static int check_header_file(const struct export_options *export, struct strbuf *reterr_msg)
{
	_cleanup_(header_list_done) struct header_list headers = { 0 };

	return export_read_header_file(export, &headers, reterr_msg);
}

static int start_one(struct exporters *exporters, const struct options *options,
		     const struct export_options *export, struct exporter_opts *opts,
		     struct strbuf *reterr_msg)
{
	_cleanup_(strbuf_done) struct strbuf queue_dir = strbuf_with_max(PATH_MAX_BYTES);
	char name[NAME_BYTES], queue[NAME_BYTES];

	make_name(exporters, export->endpoint, name);
	opts->transport = transport_opts_of(export);
	opts->with_pprof = export->original_payload;
	opts->max_request_bytes = export->request_max;
	int r = check_header_file(export, reterr_msg);
	if (r < 0)
		return r;
	r = name_queue(exporters, export, queue);
	if (r == 0 && options->queue_dir) {
		r = make_queue_dir(options->queue_dir, queue, &queue_dir);
		opts->queue_dir = strbuf_str(&queue_dir);
	}
	if (r == 0)
		r = exporter_start(opts, &exporters->of[exporters->nr]);
	if (r < 0) {
		explain(export, options, r, reterr_msg);
		return r;
	}
	memcpy(exporters->names[exporters->nr], name, sizeof(name));
	memcpy(exporters->queues[exporters->nr++], queue, sizeof(queue));
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
	int r = 0;

	if (!exporters || !extra)
		return -ENOMEM;
	read_extra(options, extra);
	if (options->export.endpoint) {
		opts.labels = label_opts_of(&options->export, extra);
		r = start_one(exporters, options, &options->export, &opts, reterr_msg);
	}
	for (size_t i = 0; r == 0 && i < options->nr_others; i++) {
		opts.labels = label_opts_of(&options->others[i], extra);
		r = start_one(exporters, options, &options->others[i], &opts, reterr_msg);
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

/* Nothing but uint64_t. */
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

/* What is shown of each receiver; the sums say the rest. */
enum shown { SHOWN_SENT, SHOWN_DROPPED, SHOWN_QUEUED, SHOWN_FAILURES, NR_SHOWN };

static const struct {
	const char *family;
	const char *help;
	enum metric_type type;
} families[NR_SHOWN] = {
	[SHOWN_SENT] = { "flamelet_export_destination_samples_sent_total",
			 "Samples that this receiver has taken.", METRIC_COUNTER },
	[SHOWN_DROPPED] = { "flamelet_export_destination_samples_dropped_total",
			    "Samples that this receiver will not have.", METRIC_COUNTER },
	[SHOWN_QUEUED] = { "flamelet_export_destination_queue_samples",
			   "Samples that wait for this receiver.", METRIC_GAUGE },
	[SHOWN_FAILURES] = { "flamelet_export_destination_request_failures_total",
			     "Requests to this receiver that failed or were refused.",
			     METRIC_COUNTER },
};

static uint64_t value_of(const struct exporter_stats *stats, enum shown shown)
{
	switch (shown) {
	case SHOWN_SENT:
		return stats->nr_samples_sent;
	case SHOWN_DROPPED:
		return exporter_stats_dropped(stats);
	case SHOWN_QUEUED:
		return stats->nr_queue_samples;
	case SHOWN_FAILURES:
	case NR_SHOWN:
		break;
	}
	return stats->nr_request_failures;
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
