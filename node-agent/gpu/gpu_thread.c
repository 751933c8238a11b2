/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/gpu_thread.h"

#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/locked.h"
#include "base/log.h"
#include "base/printable.h"
#include "base/thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define HEARTBEAT_MAX_NS (60 * NSEC_PER_SEC)
#define AFTER_SECOND_NS NSEC_PER_MSEC
#define MESSAGE_MAX_BYTES 2048

struct gpu_thread {
	struct gpu_client *client; /* owned; this and what follows: the thread's own */
	struct gpu_owners owners;
	bool is_failing; /* and the log says so */
	uint64_t failing_devices; /* the same, by device: bit of its index */
	uint64_t nr_unknown;
	pthread_t thread;
	bool is_running;
	uint64_t give_up_ns; /* atomic; UINT64_MAX until the thread is to stop */
	pthread_mutex_t lock; /* of the following */
	pthread_cond_t wake;
	struct gpu_second *seconds[GPU_THREAD_MAX_SECONDS]; /* owned, the oldest first */
	size_t nr_seconds;
	struct gpu_thread_stats stats;
};

void gpu_second_free(struct gpu_second *second)
{
	if (!second)
		return;
	free(second->reading);
	free(second);
}

/* Logs once when the readings begin to fail, and once when they work again. */
static void note_result(struct gpu_thread *thread, int r)
{
	_cleanup_(strbuf_done) struct strbuf why = strbuf_with_max(MESSAGE_MAX_BYTES);
	bool is_failing = r < 0;

	if (r == -EAGAIN || r == -ECANCELED)
		return;
	printable_append(&why, r == -ENOMEM ? strerror(-r) : gpu_client_problem(thread->client));
	if (is_failing && !thread->is_failing)
		log_warn("cannot read GPUs: %s; retrying, the record has a gap meanwhile",
			 strbuf_str(&why));
	else if (!is_failing && thread->is_failing)
		log_info("GPUs are read again");
	thread->is_failing = is_failing;
}

static void note_devices(struct gpu_thread *thread, const struct gpu_reading *reading)
{
	for (size_t i = 0; i < reading->nr_devices; i++) {
		uint64_t bit = UINT64_C(1) << i;
		bool is_failing = reading->devices[i].error != 0;

		if (is_failing && !(thread->failing_devices & bit))
			log_warn("GPU %zu: NVML reports error %u; the record has a gap meanwhile",
				 i, reading->devices[i].error);
		thread->failing_devices &= ~bit;
		thread->failing_devices |= is_failing ? bit : 0;
	}
}

/* With the lock. */
static void remove_first(struct gpu_thread *thread)
{
	thread->nr_seconds--;
	for (size_t i = 0; i < thread->nr_seconds; i++)
		thread->seconds[i] = thread->seconds[i + 1];
}

/* Without room the oldest one is dropped. */
static void add_second(struct gpu_thread *thread, struct gpu_second *second)
{
	LOCKED(&thread->lock);
	if (thread->nr_seconds == GPU_THREAD_MAX_SECONDS) {
		gpu_second_free(thread->seconds[0]);
		remove_first(thread);
		thread->stats.nr_missed++;
	}
	thread->seconds[thread->nr_seconds++] = second;
	thread->stats.nr_devices = second->reading->nr_devices;
}

/* Reads the GPUs at the end of a second. If that takes long, the numbers are those of the end. */
static int read_second(struct gpu_thread *thread)
{
	_cleanup_(gpu_second_freep) struct gpu_second *second = calloc(1, sizeof(*second));

	if (!second)
		return -ENOMEM;
	int r = gpu_client_read(thread->client, &thread->give_up_ns, &second->reading);
	if (r < 0)
		return r;
	second->second = clock_real_ns() / NSEC_PER_SEC - 1;
	note_devices(thread, second->reading);
	second->nr_uses = gpu_owners_sum(&thread->owners, second->reading, second->uses,
					 &thread->nr_unknown);
	add_second(thread, take_ptr(second));
	return 0;
}

static void publish(struct gpu_thread *thread)
{
	struct gpu_client_stats stats = gpu_client_get_stats(thread->client);

	LOCKED(&thread->lock);
	thread->stats.client = stats;
	thread->stats.nr_unknown = thread->nr_unknown;
}

static bool is_stopping(const struct gpu_thread *thread)
{
	return __atomic_load_n(&thread->give_up_ns, __ATOMIC_RELAXED) == 0;
}

/* Waits until a second of Unix time is over. Returns whether the thread goes on. */
static bool wait_second(struct gpu_thread *thread)
{
	uint64_t until_ns = clock_second_end_ns() + AFTER_SECOND_NS;
	struct timespec until = clock_timespec(until_ns);

	LOCKED(&thread->lock);
	while (!is_stopping(thread) && clock_mono_ns() < until_ns)
		pthread_cond_timedwait(&thread->wake, &thread->lock, &until);
	return !is_stopping(thread);
}

static void *run(void *data)
{
	struct gpu_thread *thread = data;

	heartbeat_begin("gpu", HEARTBEAT_MAX_NS);
	while (wait_second(thread)) {
		heartbeat_beat();
		note_result(thread, read_second(thread));
		publish(thread);
	}
	return NULL;
}

int gpu_thread_start(const struct gpu_thread_opts *opts, struct gpu_thread **ret_thread)
{
	_cleanup_(gpu_thread_stopp) struct gpu_thread *thread = calloc(1, sizeof(*thread));

	if (!thread)
		return -ENOMEM;
	pthread_mutex_init(&thread->lock, NULL);
	thread_init_cond(&thread->wake);
	thread->give_up_ns = UINT64_MAX;
	int r = gpu_owners_init(&thread->owners, opts->proc_fd, opts->cgroup_root);
	if (r == 0)
		r = gpu_client_new(opts->program, opts->library, &thread->client);
	if (r == 0)
		r = thread_start("gpu", 0, run, thread, &thread->thread);
	if (r < 0)
		return r;
	thread->is_running = true;
	*ret_thread = take_ptr(thread);
	return 0;
}

static void ask_to_stop(struct gpu_thread *thread)
{
	__atomic_store_n(&thread->give_up_ns, 0, __ATOMIC_RELAXED);
	LOCKED(&thread->lock);
	pthread_cond_signal(&thread->wake);
}

void gpu_thread_stop(struct gpu_thread *thread)
{
	if (!thread)
		return;
	if (thread->is_running) {
		ask_to_stop(thread);
		pthread_join(thread->thread, NULL);
	}
	gpu_client_free(thread->client);
	gpu_owners_done(&thread->owners);
	while (thread->nr_seconds > 0)
		gpu_second_free(thread->seconds[--thread->nr_seconds]);
	pthread_cond_destroy(&thread->wake);
	pthread_mutex_destroy(&thread->lock);
	free(thread);
}

struct gpu_second *gpu_thread_take(struct gpu_thread *thread)
{
	LOCKED(&thread->lock);
	if (thread->nr_seconds == 0)
		return NULL;
	struct gpu_second *second = thread->seconds[0];
	remove_first(thread);
	return second;
}

struct gpu_thread_stats gpu_thread_get_stats(struct gpu_thread *thread)
{
	LOCKED(&thread->lock);
	return thread->stats;
}
