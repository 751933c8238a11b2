/* SPDX-License-Identifier: Apache-2.0 */
/* One thread, two queues.
 *
 *	exporter_push() ─▶ windows ─▶ merge ─▶ labels ─▶ parts ─▶ queue ─▶ destination
 *	      │ full                 every interval, and when the     │
 *	      ▼                      period changes, or much has      ▼
 *	   dropped                   come together                 directory
 *
 * Profiles of each type are merged by themselves, and leave in requests of their own. The thread
 * does one thing at a time. Between any two requests it takes all new windows, so that with a slow
 * destination the delivery queue grows and not this one. */
#include "otlp/delivery/exporter.h"

#include "base/capabilities.h"
#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/locked.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/queue.h"
#include "base/thread.h"
#include "otlp/delivery/delivery_queue.h"
#include "otlp/encode/encode.h"
#include "otlp/encode/parts.h"
#include "otlp/transport/protocol.h"
#include "profile/builder.h"
#include "profile/merge.h"
#include "worker/worker_process.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define QUEUE_MAX_PROFILES 64
/* Of the merged profiles of all types together, in memory. */
#define MERGE_MAX_BYTES ((size_t)64 << 20)
#define MERGE_AIM_BYTES ((size_t)24 << 20) /* more goes out before the interval is over */
#define MEMORY_MAX_BYTES ((uint64_t)16 << 20) /* of waiting requests */
#define PART_MAX_SAMPLES 16000
#define PART_MAX_PROFILES 500 /* each process has one */
#define PART_MAX_SERIES 20 /* a Pyroscope before 2.2 stores them one after another */
#define PART_MAX_COST_BYTES ((size_t)1536 << 10)
#define PUSH_RETRY_NS (10 * NSEC_PER_MSEC)
#define HEARTBEAT_MAX_NS (60 * NSEC_PER_SEC) /* disks may be slow */

struct exporter {
	struct queue windows; /* of referenced profiles */
	pthread_t thread;
	bool is_running;
	uint64_t drain_deadline_ns; /* atomic; UINT64_MAX until the queue is closed */

	/* The thread's own. */
	uint64_t interval_ns;
	struct part_limits limits;
	const struct protocol *protocol; /* of the destination */
	bool drops_addresses;
	bool with_times;
	bool with_pprof;
	bool has_queue_dir;
	struct attribute_maker *attributes; /* owned */
	struct delivery_queue *queue; /* owned */
	/* Owned; of a profile of each type. NULL: nothing merged yet */
	struct builder *builders[PROFILE_NR_TYPES];
	uint64_t nr_lost[EXPORT_NR_DROPS]; /* here, not in the queue */

	uint64_t nr_pushed, nr_refused; /* atomic: samples, and those for which there was no room */
	pthread_mutex_t lock; /* of the following */
	struct exporter_stats stats; /* as of the thread's last step */
};

/* Joins the statistics of an exporter's parts. */
static struct exporter_stats join_stats(const struct delivery_queue_stats *queue,
					const struct spool_stats *spool,
					const struct attribute_maker_stats *attributes)
{
	return (struct exporter_stats){
		.nr_samples_restored = spool->nr_samples_restored,
		.nr_samples_sent = queue->nr_samples_sent,
		.nr_samples_dropped = {
			[EXPORT_DROP_REJECTED] = queue->nr_samples_rejected,
			[EXPORT_DROP_PARTIAL] = queue->nr_samples_partial,
			[EXPORT_DROP_TOO_LARGE] = queue->nr_samples_too_large,
			[EXPORT_DROP_GAVE_UP] = queue->nr_samples_gave_up,
			[EXPORT_DROP_EVICTED] = spool->nr_samples_evicted,
			[EXPORT_DROP_DAMAGED] = spool->nr_samples_damaged,
			[EXPORT_DROP_SHUTDOWN] = queue->nr_samples_shutdown,
		},
		.nr_samples_collapsed = attributes->nr_samples_collapsed,
		.nr_attributes_dropped = attributes->nr_attributes_dropped,
		.nr_queue_samples = spool->nr_samples,
		.nr_queue_requests = spool->nr_requests,
		.nr_queue_disk_bytes = spool->nr_disk_bytes,
		.nr_queue_memory_bytes = spool->nr_memory_bytes,
		.nr_queue_write_failures = spool->nr_write_failures,
		.nr_queue_files_damaged = spool->nr_files_damaged,
		.nr_requests = queue->nr_requests,
		.nr_request_failures = queue->nr_request_failures,
		.nr_retries = queue->nr_retries,
		.nr_bytes_sent = queue->nr_bytes,
		.worker = queue->worker,
	};
}

static struct exporter_stats collect_stats(struct exporter *exporter)
{
	const struct delivery_queue_stats queue = delivery_queue_get_stats(exporter->queue);
	const struct spool_stats spool = delivery_queue_get_spool_stats(exporter->queue);
	const struct attribute_maker_stats attributes = attribute_maker_get_stats(
		exporter->attributes);
	struct exporter_stats stats = join_stats(&queue, &spool, &attributes);

	for (size_t i = 0; i < EXPORT_NR_DROPS; i++)
		stats.nr_samples_dropped[i] += exporter->nr_lost[i];
	stats.cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	return stats;
}

static void publish(struct exporter *exporter)
{
	struct exporter_stats stats = collect_stats(exporter);

	LOCKED(&exporter->lock);
	exporter->stats = stats;
}

static void lose(struct exporter *exporter, enum export_drop why, uint64_t nr_samples)
{
	exporter->nr_lost[why] += nr_samples;
	if (nr_samples > 0)
		log_warn("export to %s: %" PRIu64 " samples lost (%s); continuing",
			 delivery_queue_destination(exporter->queue), nr_samples,
			 export_drop_name(why));
}

/* Adds requests for all parts to the queue. Returns their number of samples. */
static uint64_t ship_parts(struct exporter *exporter, struct parts *parts)
{
	struct encode_result part;
	uint64_t nr_shipped = 0;

	while (parts_next(parts, &part) > 0) {
		const struct spool_item item = {
			.nr_samples = part.nr_taken,
			.time_unix_ns = parts->job.profile->time_unix_ns,
			.nr_profiles = (uint32_t)part.nr_profiles,
			.cost_bytes = (uint32_t)part.cost_bytes,
		};

		heartbeat_beat();
		delivery_queue_add(exporter->queue, &item, parts->body.data, parts->body.len);
		nr_shipped += part.nr_taken;
	}
	return nr_shipped;
}

static uint64_t ship_with_attributes(struct exporter *exporter, const struct encode_job *job)
{
	_cleanup_(parts_done) struct parts parts = { 0 };
	struct part_limits limits = exporter->limits;

	limits.max_bytes = delivery_queue_limit(exporter->queue, limits.max_bytes);
	if (parts_init(&parts, job, &limits, exporter->protocol->encode) < 0)
		return 0;
	return ship_parts(exporter, &parts);
}

static void ship(struct exporter *exporter, const struct profile *profile)
{
	_cleanup_(export_attributes_done) struct export_attributes attributes = { 0 };
	const struct encode_job job = {
		.profile = profile,
		.attributes = &attributes,
		.drops_addresses = exporter->drops_addresses,
		.with_times = exporter->with_times,
		.with_pprof = exporter->with_pprof,
	};
	uint64_t nr_shipped = 0;

	if (attribute_maker_make(exporter->attributes, profile, clock_mono_ns(), &attributes) == 0)
		nr_shipped = ship_with_attributes(exporter, &job);
	lose(exporter, EXPORT_DROP_ENCODE, profile_nr_taken(profile) - nr_shipped);
}

/* Ships the merged profile of a type. */
static void flush_type(struct exporter *exporter, enum profile_type type)
{
	_cleanup_(profile_unrefp) struct profile *profile = NULL;

	if (!exporter->builders[type])
		return;
	profile = builder_seal(take_ptr(exporter->builders[type]));
	ship(exporter, profile);
}

static void flush(struct exporter *exporter)
{
	for (enum profile_type type = 0; type < PROFILE_NR_TYPES; type++)
		flush_type(exporter, type);
}

/* Returns the memory of what is merged. */
static size_t merged_bytes(const struct exporter *exporter)
{
	size_t bytes = 0;

	for (enum profile_type type = 0; type < PROFILE_NR_TYPES; type++)
		if (exporter->builders[type])
			bytes += builder_bytes(exporter->builders[type]);
	return bytes;
}

/* Ships what the profile cannot or should not be merged with. */
static void flush_unlike(struct exporter *exporter, const struct profile *profile)
{
	const struct builder *builder = exporter->builders[profile->type];

	if (merged_bytes(exporter) + profile->nr_bytes > MERGE_AIM_BYTES)
		flush(exporter);
	else if (builder && (builder_peek(builder)->period != profile->period ||
			     profile_type_is_snapshot(profile->type)))
		flush_type(exporter, profile->type);
}

/* Another destination may use timestamps; here they would only separate equal samples. Values are
 * never sent with timestamps. */
static int begin_merge(struct exporter *exporter, enum profile_type type)
{
	int r = builder_new(MERGE_MAX_BYTES, &exporter->builders[type]);

	if (r == 0 && (!exporter->with_times || type != PROFILE_CPU))
		builder_drop_times(exporter->builders[type]);
	return r;
}

static void merge(struct exporter *exporter, const struct profile *profile)
{
	struct builder **builder = &exporter->builders[profile->type];
	uint64_t nr_lost = profile_nr_taken(profile);
	int r = 0;

	flush_unlike(exporter, profile);
	if (!*builder)
		r = begin_merge(exporter, profile->type);
	if (r == 0) {
		builder_set_room(*builder, MERGE_MAX_BYTES - merged_bytes(exporter));
		r = merge_profile(*builder, profile, &nr_lost);
	}
	lose(exporter, EXPORT_DROP_WINDOW, r < 0 ? nr_lost : 0);
}

static void take_window(struct exporter *exporter, const struct profile *profile)
{
	if (exporter->interval_ns > 0)
		merge(exporter, profile);
	else
		ship(exporter, profile);
}

static uint64_t next_flush_ns(const struct exporter *exporter)
{
	return exporter->interval_ns > 0 ? clock_mono_ns() + exporter->interval_ns : UINT64_MAX;
}

/* Takes all windows, and waits for the first one. Returns whether there was one. Several windows
 * may arrive during one delivery. */
static bool take_windows(struct exporter *exporter, uint64_t wake_ns)
{
	size_t nr = 0;

	for (; nr < QUEUE_MAX_PROFILES; nr++) {
		_cleanup_(profile_unrefp) struct profile *profile = queue_take(
			&exporter->windows, nr == 0 ? wake_ns : 0);

		if (!profile)
			break;
		take_window(exporter, profile);
	}
	return nr > 0;
}

/* Works until there are no more windows; drain() delivers the rest until the deadline. The first
 * window is sent at once, as a user who has just installed the agent waits for it. */
static void work(struct exporter *exporter)
{
	uint64_t flush_ns = next_flush_ns(exporter);
	bool is_first = true, is_last = false;

	for (;;) {
		uint64_t wake_ns = min_u64(flush_ns, delivery_queue_next_ns(exporter->queue));

		wake_ns = min_u64(wake_ns, clock_mono_ns() + HEARTBEAT_NAP_NS);
		heartbeat_beat();
		bool has_taken = take_windows(exporter, wake_ns);
		if (!has_taken && is_last)
			break;
		if (has_taken && is_first) {
			flush_ns = 0;
			is_first = false;
		}
		/* Windows that were pushed before the queue was closed are still taken. */
		is_last = queue_is_closed(&exporter->windows);
		if (clock_mono_ns() >= flush_ns) {
			flush(exporter);
			flush_ns = next_flush_ns(exporter);
		}
		publish(exporter); /* a delivery may take long */
		if (!is_last && clock_mono_ns() >= delivery_queue_next_ns(exporter->queue)) {
			delivery_queue_deliver(exporter->queue);
			publish(exporter);
		}
	}
	flush(exporter);
}

/* Requests on disk for a destination that is down can wait for the next start. */
static bool is_pointless(const struct exporter *exporter)
{
	return exporter->has_queue_dir && delivery_queue_is_failing(exporter->queue);
}

static void sleep_until(uint64_t wake_ns)
{
	for (uint64_t now_ns = clock_mono_ns(); now_ns < wake_ns; now_ns = clock_mono_ns()) {
		struct timespec wake = clock_timespec(min_u64(wake_ns, now_ns + HEARTBEAT_NAP_NS));

		heartbeat_beat();
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
	}
}

/* Delivers until nothing is left or the time is over. */
static void drain(struct exporter *exporter)
{
	uint64_t deadline_ns = __atomic_load_n(&exporter->drain_deadline_ns, __ATOMIC_RELAXED);

	delivery_queue_save(
		exporter->queue); /* whoever has asked for the end may not wait for it */
	for (;;) {
		/* A request that may be sent at once has a time in the past, which does not count
		 * as before the deadline. */
		uint64_t next_ns = max_u64(delivery_queue_next_ns(exporter->queue),
					   clock_mono_ns());

		if (next_ns >= deadline_ns || is_pointless(exporter))
			break;
		sleep_until(next_ns);
		delivery_queue_deliver(exporter->queue);
		publish(exporter);
	}
	delivery_queue_close_down(exporter->queue);
}

static void *run(void *ctx)
{
	struct exporter *exporter = ctx;

	heartbeat_begin("exporter", HEARTBEAT_MAX_NS);
	work(exporter);
	drain(exporter);
	publish(exporter);
	return NULL;
}

static void exporter_free(struct exporter *exporter)
{
	if (!exporter)
		return;
	queue_done(&exporter->windows);
	delivery_queue_free(exporter->queue);
	attribute_maker_free(exporter->attributes);
	for (enum profile_type type = 0; type < PROFILE_NR_TYPES; type++)
		builder_free(exporter->builders[type]);
	pthread_mutex_destroy(&exporter->lock);
	free(exporter);
}
DEFINE_FREEP(struct exporter, exporter_free)

static int open_queue(struct exporter *exporter, const struct exporter_opts *opts)
{
	/* A profile from a file is complete in memory, however long sending takes. */
	bool is_replay = opts->interval_ns == 0;
	struct delivery_queue_opts queue = {
		.transport = opts->transport,
		.name = opts->name,
		.is_replay = is_replay,
		.spool = {
			.dir = opts->queue_dir,
			.max_bytes = opts->queue_dir || is_replay ? opts->max_queue_bytes
								  : MEMORY_MAX_BYTES,
			.max_memory_bytes = MEMORY_MAX_BYTES,
			.format = exporter->protocol->body_format,
		},
	};

	queue.transport.give_up_ns = &exporter->drain_deadline_ns;
	queue.transport.compress = opts->transport.compress && !exporter->protocol->is_gzip_inside;
	return delivery_queue_new(&queue, &exporter->queue);
}

static int init(struct exporter *exporter, const struct exporter_opts *opts)
{
	pthread_mutex_init(&exporter->lock, NULL);
	exporter->drain_deadline_ns = UINT64_MAX;
	exporter->interval_ns = opts->interval_ns;
	exporter->drops_addresses = opts->attributes.preset == ATTRIBUTES_PYROSCOPE;
	exporter->with_times = opts->with_times;
	exporter->with_pprof = opts->with_pprof;
	exporter->has_queue_dir = opts->queue_dir;
	exporter->protocol = protocol_get(opts->transport.protocol);
	exporter->limits = (struct part_limits){
		.max_bytes = opts->max_request_bytes,
		.max_cost_bytes = PART_MAX_COST_BYTES,
		.max_samples = PART_MAX_SAMPLES,
		.max_profiles = opts->attributes.preset == ATTRIBUTES_PYROSCOPE ? PART_MAX_SERIES
										: PART_MAX_PROFILES,
	};
	int r = queue_init(&exporter->windows, QUEUE_MAX_PROFILES);
	if (r == 0)
		r = attribute_maker_new(&opts->attributes, &exporter->attributes);
	if (r == 0)
		r = open_queue(exporter, opts);
	return r;
}

int exporter_start(const struct exporter_opts *opts, struct exporter **ret_exporter)
{
	_cleanup_(exporter_freep) struct exporter *exporter = calloc(1, sizeof(*exporter));

	if (!exporter)
		return -ENOMEM;
	int r = init(exporter, opts);
	if (r < 0)
		return r;
	publish(exporter);
	exporter->stats.cpu_ns = 0; /* was the calling thread's time */
	/* Tokens and keys, which are read again, may belong to other users, and so may the program,
	 * which the transport worker runs. */
	uint64_t needed = CAPABILITY(DAC_READ_SEARCH) |
			  capabilities_for_file(WORKER_PROCESS_OWN_PROGRAM, X_OK);
	r = thread_start("exporter", needed, run, exporter, &exporter->thread);
	if (r < 0)
		return r;
	exporter->is_running = true;
	*ret_exporter = take_ptr(exporter);
	return 0;
}

static void count(uint64_t *counter, uint64_t nr)
{
	__atomic_add_fetch(counter, nr, __ATOMIC_RELAXED);
}

/* Pushes a new reference to the profile. */
static int try_push(struct exporter *exporter, struct profile *profile)
{
	int r = queue_push(&exporter->windows, profile_ref(profile));

	if (r < 0)
		profile_unref(profile);
	return r;
}

void exporter_push(struct exporter *exporter, struct profile *profile)
{
	uint64_t nr_samples = profile_nr_taken(profile);

	count(&exporter->nr_pushed, nr_samples);
	if (try_push(exporter, profile) < 0)
		count(&exporter->nr_refused, nr_samples);
}

void exporter_push_wait(struct exporter *exporter, struct profile *profile)
{
	const struct timespec pause = clock_timespec(PUSH_RETRY_NS);
	uint64_t nr_samples = profile_nr_taken(profile);
	int r;

	count(&exporter->nr_pushed, nr_samples);
	while ((r = try_push(exporter, profile)) == -ENOSPC)
		nanosleep(&pause, NULL);
	if (r < 0)
		count(&exporter->nr_refused, nr_samples);
}

void exporter_close(struct exporter *exporter, uint64_t deadline_ns)
{
	if (queue_is_closed(&exporter->windows))
		return;
	__atomic_store_n(&exporter->drain_deadline_ns, deadline_ns, __ATOMIC_RELAXED);
	queue_close(&exporter->windows);
}

void exporter_join(struct exporter *exporter)
{
	if (exporter->is_running)
		pthread_join(exporter->thread, NULL);
	exporter->is_running = false;
}

void exporter_stop(struct exporter *exporter)
{
	if (!exporter)
		return;
	exporter_close(exporter, 0);
	exporter_join(exporter);
	exporter_free(exporter);
}

struct exporter_stats exporter_get_stats(struct exporter *exporter)
{
	pthread_mutex_lock(&exporter->lock);
	struct exporter_stats stats = exporter->stats;
	pthread_mutex_unlock(&exporter->lock);

	/* Read last, as sent samples were pushed before. */
	stats.nr_samples_pushed = __atomic_load_n(&exporter->nr_pushed, __ATOMIC_RELAXED);
	stats.nr_samples_dropped[EXPORT_DROP_WINDOW] += __atomic_load_n(&exporter->nr_refused,
									__ATOMIC_RELAXED);
	return stats;
}
