/* SPDX-License-Identifier: Apache-2.0 */
/* One thread, one queue, one builder.
 *
 *	exporter_push() ─▶ queue ─▶ merge into the builder ─┬─▶ encode ─▶ send     every interval
 *	      │ full                   │ full               └─ and when the period changes
 *	      ▼                        ▼                       or a request gets too large
 *	   dropped                  dropped                               │ refused, unreachable
 *	                                                                  ▼
 *	                                                               failed
 *
 * Nothing is sent twice. A refusal would be repeated; a receiver that fails half-way may have stored part
 * of the request and would count it double; and the next interval brings a fresh picture anyway. */
#include "otlp/exporter.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/queue.h"
#include "base/thread.h"
#include "otlp/encode.h"
#include "otlp/labels.h"
#include "otlp/transport.h"
#include "profile/builder.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#define QUEUE_MAX_PROFILES 64
#define MERGE_MAX_BYTES (32u << 20)
#define REQUEST_MAX_BYTES (16u << 20) /* receivers take 20 MiB */
#define REQUEST_AIM_BYTES (12u << 20) /* in memory; a profile takes less on the wire */
#define LOG_INTERVAL_NS (60 * NSEC_PER_SEC)

struct exporter {
	struct queue queue; /* of referenced profiles */
	struct exporter_stats stats; /* atomic */
	pthread_t thread;
	bool is_running;
	uint64_t interval_ns;

	/* The thread's own. */
	struct transport *transport; /* owned */
	struct label_maker *labels; /* owned */
	struct builder *builder; /* owned; NULL: nothing merged yet */
	struct strbuf request;
	uint64_t next_log_ns;
	uint64_t nr_samples_unlogged; /* lost since the last line */
};

static void count(uint64_t *counter, uint64_t nr)
{
	__atomic_add_fetch(counter, nr, __ATOMIC_RELAXED);
}

/* Says at most once a minute what was lost since the last time. */
static void report_loss(struct exporter *exporter, uint64_t nr_samples, const char *reason)
{
	uint64_t now_ns = clock_mono_ns();

	exporter->nr_samples_unlogged += nr_samples;
	if (now_ns < exporter->next_log_ns)
		return;
	log_warn("otlp export: %s; %" PRIu64 " samples lost, going on", reason,
		 exporter->nr_samples_unlogged);
	exporter->nr_samples_unlogged = 0;
	exporter->next_log_ns = now_ns + LOG_INTERVAL_NS;
}

static const char *describe(int error)
{
	return error == -ENOSPC ? "more than fits in a request" : strerror(-error);
}

static void drop(struct exporter *exporter, uint64_t nr_samples, const char *reason)
{
	count(&exporter->stats.nr_samples_dropped, nr_samples);
	report_loss(exporter, nr_samples, reason);
}

static void fail(struct exporter *exporter, uint64_t nr_samples, const char *reason)
{
	count(&exporter->stats.nr_samples_failed, nr_samples);
	report_loss(exporter, nr_samples, reason);
}

static uint64_t count_profiles(const struct profile *profile)
{
	_cleanup_free_ bool *has_samples = calloc(profile->nr_resources, sizeof(*has_samples));
	uint64_t nr = 0;

	if (!has_samples)
		return 1;
	for (size_t i = 0; i < profile->nr_samples; i++)
		has_samples[profile->samples[i].resource] = true;
	for (size_t i = 0; i < profile->nr_resources; i++)
		nr += has_samples[i];
	return nr;
}

/* The answer counts profiles and does not tell which: each stands for an equal share of the samples. */
static uint64_t rejected_samples(const struct profile *profile, uint64_t nr_rejected_profiles)
{
	uint64_t total = profile_total(profile);
	uint64_t nr_profiles = count_profiles(profile);

	if (nr_rejected_profiles >= nr_profiles)
		return total;
	return (total * nr_rejected_profiles + nr_profiles - 1) / nr_profiles;
}

static void take_answer(struct exporter *exporter, const struct profile *profile,
			const struct delivery *delivery)
{
	uint64_t nr_rejected = delivery->nr_rejected_profiles
				       ? rejected_samples(profile, delivery->nr_rejected_profiles)
				       : 0;

	count(&exporter->stats.nr_samples_sent, profile_total(profile) - nr_rejected);
	if (nr_rejected > 0 || delivery->message[0])
		fail(exporter, nr_rejected,
		     delivery->message[0] ? delivery->message : "rejected by the receiver");
}

static void send_profile(struct exporter *exporter, const struct profile *profile)
{
	struct delivery delivery;

	transport_send(exporter->transport, exporter->request.data, exporter->request.len,
		       &delivery);
	count(&exporter->stats.nr_requests, 1);
	count(&exporter->stats.nr_bytes_sent, delivery.nr_bytes);
	if (delivery.verdict != DELIVERY_DONE) {
		count(&exporter->stats.nr_request_failures, 1);
		fail(exporter, profile_total(profile), delivery.message);
		return;
	}
	take_answer(exporter, profile, &delivery);
}

static int encode(struct exporter *exporter, const struct profile *profile)
{
	_cleanup_(labels_done) struct labels labels = { 0 };
	_cleanup_free_ uint32_t *samples = calloc(profile->nr_samples + 1, sizeof(*samples));
	struct encode_result result;

	if (!samples)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->nr_samples; i++)
		samples[i] = i;
	int r = label_maker_make(exporter->labels, profile, clock_mono_ns(), &labels);
	if (r < 0)
		return r;
	const struct encode_job job = {
		.profile = profile,
		.labels = &labels,
		.samples = samples,
		.nr_samples = profile->nr_samples,
	};
	return otlp_encode(&job, &exporter->request, &result);
}

/* Encodes and sends what has been merged. */
static void flush(struct exporter *exporter)
{
	_cleanup_(profile_unrefp) struct profile *profile = NULL;

	if (!exporter->builder)
		return;
	profile = builder_seal(take_ptr(exporter->builder));
	strbuf_clear(&exporter->request);
	int r = encode(exporter, profile);
	if (r < 0)
		fail(exporter, profile_total(profile), describe(r));
	else if (exporter->request.len > 0)
		send_profile(exporter, profile);
}

static bool has_other_period(const struct builder *builder, const struct profile *profile)
{
	uint64_t period = builder_peek(builder)->period;

	return period != 0 && period != profile->period;
}

/* Whether both together may be more than a request takes: then all of it would be refused. */
static bool is_too_much(const struct builder *builder, const struct profile *profile)
{
	return builder_bytes(builder) + profile->nr_bytes > REQUEST_AIM_BYTES;
}

static void merge(struct exporter *exporter, const struct profile *profile)
{
	uint64_t nr_lost = 0;
	int r = 0;

	if (exporter->builder && (has_other_period(exporter->builder, profile) ||
				  is_too_much(exporter->builder, profile)))
		flush(exporter);
	if (!exporter->builder)
		r = builder_new(MERGE_MAX_BYTES, &exporter->builder);
	if (r < 0) {
		drop(exporter, profile_total(profile), describe(r));
		return;
	}

	r = builder_merge(exporter->builder, profile, &nr_lost);
	if (r < 0)
		drop(exporter, nr_lost, describe(r));
}

static void note_cpu_time(struct exporter *exporter)
{
	__atomic_store_n(&exporter->stats.cpu_ns, clock_read_ns(CLOCK_THREAD_CPUTIME_ID),
			 __ATOMIC_RELAXED);
}

static void *run(void *ctx)
{
	struct exporter *exporter = ctx;
	uint64_t deadline_ns = clock_mono_ns() + exporter->interval_ns;

	for (;;) {
		/* Asked first: what is pushed before the queue is closed is still taken. */
		bool is_last = queue_is_closed(&exporter->queue);
		_cleanup_(profile_unrefp) struct profile *profile = queue_take(&exporter->queue,
									       deadline_ns);

		if (profile)
			merge(exporter, profile);
		else if (is_last)
			break;
		if (!is_last && clock_mono_ns() >= deadline_ns) {
			flush(exporter);
			deadline_ns = clock_mono_ns() + exporter->interval_ns;
		}
		note_cpu_time(exporter);
	}
	flush(exporter);
	note_cpu_time(exporter);
	return NULL;
}

static void exporter_free(struct exporter *exporter)
{
	if (!exporter)
		return;
	queue_done(&exporter->queue);
	transport_free(exporter->transport);
	label_maker_free(exporter->labels);
	builder_free(exporter->builder);
	strbuf_done(&exporter->request);
	free(exporter);
}
DEFINE_FREEP(struct exporter, exporter_free)

int exporter_start(const struct exporter_opts *opts, struct exporter **ret_exporter)
{
	_cleanup_(exporter_freep) struct exporter *exporter = calloc(1, sizeof(*exporter));
	const struct transport_opts transport_opts = {
		.protocol = TRANSPORT_OTLP_HTTP,
		.endpoint = opts->endpoint,
		.endpoint_is_full = opts->endpoint_is_full,
		.headers = opts->headers,
		.nr_headers = opts->nr_headers,
		.ca_file = opts->ca_file,
		.compress = true,
		.timeout_ns = opts->timeout_ns,
	};

	if (!exporter)
		return -ENOMEM;
	exporter->interval_ns = opts->interval_ns;
	exporter->request = strbuf_with_max(REQUEST_MAX_BYTES);
	int r = queue_init(&exporter->queue, QUEUE_MAX_PROFILES);
	if (r == 0)
		r = transport_new(&transport_opts, &exporter->transport);
	if (r == 0)
		r = label_maker_new(
			&(struct label_opts){ .sample_attributes = SAMPLE_ATTRIBUTES_DEFAULT },
			&exporter->labels);
	if (r == 0)
		r = thread_start("exporter", run, exporter, &exporter->thread);
	if (r < 0)
		return r;
	exporter->is_running = true;
	*ret_exporter = take_ptr(exporter);
	return 0;
}

void exporter_push(struct exporter *exporter, struct profile *profile)
{
	uint64_t nr_samples = profile_total(profile);

	count(&exporter->stats.nr_samples_pushed, nr_samples);
	if (queue_push(&exporter->queue, profile_ref(profile)) < 0) {
		profile_unref(profile);
		count(&exporter->stats.nr_samples_dropped, nr_samples);
	}
}

void exporter_drain(struct exporter *exporter)
{
	if (!exporter->is_running)
		return;
	queue_close(&exporter->queue);
	pthread_join(exporter->thread, NULL);
	exporter->is_running = false;
}

void exporter_stop(struct exporter *exporter)
{
	if (!exporter)
		return;
	exporter_drain(exporter);
	exporter_free(exporter);
}

struct exporter_stats exporter_get_stats(struct exporter *exporter)
{
	const struct exporter_stats *stats = &exporter->stats;

	return (struct exporter_stats){
		.nr_samples_pushed = __atomic_load_n(&stats->nr_samples_pushed, __ATOMIC_RELAXED),
		.nr_samples_sent = __atomic_load_n(&stats->nr_samples_sent, __ATOMIC_RELAXED),
		.nr_samples_failed = __atomic_load_n(&stats->nr_samples_failed, __ATOMIC_RELAXED),
		.nr_samples_dropped = __atomic_load_n(&stats->nr_samples_dropped, __ATOMIC_RELAXED),
		.nr_requests = __atomic_load_n(&stats->nr_requests, __ATOMIC_RELAXED),
		.nr_request_failures = __atomic_load_n(&stats->nr_request_failures,
						       __ATOMIC_RELAXED),
		.nr_bytes_sent = __atomic_load_n(&stats->nr_bytes_sent, __ATOMIC_RELAXED),
		.cpu_ns = __atomic_load_n(&stats->cpu_ns, __ATOMIC_RELAXED),
	};
}
