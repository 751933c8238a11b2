/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_writer.h"

#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/locked.h"
#include "base/minmax.h"
#include "base/queue.h"
#include "base/thread.h"
#include "store/selector.h"
#include "store/stored_value.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE_MAX_PROFILES 64
#define HEARTBEAT_MAX_NS (60 * NSEC_PER_SEC) /* disks may be slow */
#define AFTER_SECOND_NS (50 * NSEC_PER_MSEC) /* then its vitals are read */

struct store_writer {
	struct queue profiles; /* referenced */
	struct vitals_thread *vitals; /* owned; NULL: none are read */
	struct gpu_thread *gpu; /* owned; NULL: none are read */
	struct recorder *recorder; /* owned; the thread's own */
	pthread_t thread;
	bool is_running;
	uint64_t nr_pushed, nr_refused; /* atomic */
	pthread_mutex_t lock; /* of the following */
	struct store_writer_stats stats;
};

static void publish(struct store_writer *writer)
{
	struct recorder_stats stats = recorder_get_stats(writer->recorder);

	LOCKED(&writer->lock);
	writer->stats.recorder = stats;
	writer->stats.cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void record_vitals(struct store_writer *writer)
{
	struct vitals_reading readings[VITALS_THREAD_MAX_READINGS];
	size_t nr = vitals_thread_take(writer->vitals, readings);

	for (size_t i = 0; i < nr; i++)
		recorder_add_vitals(writer->recorder, readings[i].second, &readings[i].vitals);
}

static void record_throttling(struct store_writer *writer)
{
	struct throttled_reading readings[VITALS_THREAD_MAX_THROTTLED];
	size_t nr = vitals_thread_take_throttled(writer->vitals, readings);

	for (size_t i = 0; i < nr; i++)
		recorder_add_throttling(writer->recorder, readings[i].second, readings[i].cgroup_id,
					readings[i].increase.throttled_ns,
					readings[i].increase.nr_throttled, readings[i].nr_seconds);
}

static void record_gpus(struct store_writer *writer)
{
	struct gpu_second *second;

	while ((second = gpu_thread_take(writer->gpu))) {
		recorder_add_gpus(writer->recorder, second);
		gpu_second_free(second);
	}
}

/* Follows the throttling of all cgroups that are sampled. */
static void see_cgroups(const struct store_second *second, void *data)
{
	const struct store_writer *writer = data;
	uint64_t last = 0;

	for (size_t i = 0; i < second->nr_series; i++) {
		const struct second_series *series = &second->series[i];

		for (size_t k = 0; k < series->nr_groups; k++) {
			uint64_t cgroup = label_cgroup(second->dict, series->groups[k].labels);

			if (cgroup != last)
				vitals_thread_see_cgroup(writer->vitals, cgroup);
			last = cgroup;
		}
	}
}

/* Returns when the thread looks for vitals at the latest, so that they are not noticed late. */
static uint64_t next_look_ns(void)
{
	uint64_t into_ns = (clock_real_ns() - AFTER_SECOND_NS) % NSEC_PER_SEC;

	return clock_mono_ns() + min_u64(HEARTBEAT_NAP_NS, NSEC_PER_SEC - into_ns);
}

static void *run(void *data)
{
	struct store_writer *writer = data;

	heartbeat_begin("store", HEARTBEAT_MAX_NS);
	do {
		struct profile *profile = queue_take(&writer->profiles, next_look_ns());

		heartbeat_beat();
		if (profile) {
			recorder_add(writer->recorder, profile);
			profile_unref(profile);
		} else if (queue_is_closed(&writer->profiles)) {
			break;
		}
		if (writer->vitals) {
			record_vitals(writer);
			record_throttling(writer);
		}
		if (writer->gpu)
			record_gpus(writer);
		recorder_tick(writer->recorder, clock_real_ns() / NSEC_PER_SEC);
		publish(writer);
	} while (true);
	recorder_finish(writer->recorder);
	publish(writer);
	return NULL;
}

static int start_vitals(struct store_writer *writer, const struct store_writer_opts *opts,
			struct recorder_opts *recorder)
{
	if (opts->proc_fd < 0)
		return 0;
	recorder->on_second = see_cgroups;
	recorder->on_second_data = writer;
	return vitals_thread_start(opts->proc_fd, opts->cgroup_root, &writer->vitals);
}

static int start_gpu(struct store_writer *writer, const struct store_writer_opts *opts,
		     struct strbuf *reterr_msg)
{
	const struct gpu_thread_opts gpu = {
		.program = opts->program,
		.library = opts->gpu_library,
		.proc_fd = opts->proc_fd,
		.cgroup_root = opts->cgroup_root,
	};

	if (!opts->gpu_library)
		return 0;
	int r = gpu_thread_start(&gpu, &writer->gpu);
	if (r < 0)
		strbuf_appendf(reterr_msg, "cannot follow GPUs: %s", strerror(-r));
	return r;
}

int store_writer_start(const struct store_writer_opts *opts, struct strbuf *reterr_msg,
		       struct store_writer **ret_writer)
{
	struct recorder_opts recorder = opts->recorder;
	_cleanup_(store_writer_stopp) struct store_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return -ENOMEM;
	pthread_mutex_init(&writer->lock, NULL);
	int r = queue_init(&writer->profiles, QUEUE_MAX_PROFILES);
	if (r == 0)
		r = start_vitals(writer, opts, &recorder);
	if (r == 0)
		r = start_gpu(writer, opts, reterr_msg);
	if (r == 0)
		r = recorder_new(&recorder, reterr_msg, &writer->recorder);
	if (r == 0)
		r = thread_start("store", 0, run, writer, &writer->thread);
	if (r < 0)
		return r;
	writer->is_running = true;
	*ret_writer = take_ptr(writer);
	return 0;
}

void store_writer_push(struct store_writer *writer, struct profile *profile)
{
	uint64_t nr = stored_nr_samples(profile);

	__atomic_add_fetch(&writer->nr_pushed, nr, __ATOMIC_RELAXED);
	if (queue_push(&writer->profiles, profile_ref(profile)) == 0)
		return;
	profile_unref(profile);
	__atomic_add_fetch(&writer->nr_refused, nr, __ATOMIC_RELAXED);
}

void store_writer_finish(struct store_writer *writer)
{
	if (!writer->is_running)
		return;
	queue_close(&writer->profiles);
	pthread_join(writer->thread, NULL);
	writer->is_running = false;
}

void store_writer_stop(struct store_writer *writer)
{
	if (!writer)
		return;
	store_writer_finish(writer);
	vitals_thread_stop(writer->vitals);
	gpu_thread_stop(writer->gpu);
	recorder_close(writer->recorder);
	queue_done(&writer->profiles);
	pthread_mutex_destroy(&writer->lock);
	free(writer);
}

struct store_writer_stats store_writer_get_stats(struct store_writer *writer)
{
	LOCKED(&writer->lock);
	struct store_writer_stats stats = writer->stats;

	if (writer->vitals)
		stats.vitals = vitals_thread_get_stats(writer->vitals);
	if (writer->gpu)
		stats.gpu = gpu_thread_get_stats(writer->gpu);

	stats.nr_samples_pushed = __atomic_load_n(&writer->nr_pushed, __ATOMIC_RELAXED);
	stats.nr_samples_refused = __atomic_load_n(&writer->nr_refused, __ATOMIC_RELAXED);
	return stats;
}
