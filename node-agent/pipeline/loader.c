/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/loader.h"

#include "base/capabilities.h"
#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/log.h"
#include "base/queue.h"
#include "base/thread.h"
#include "pipeline/held_windows.h"
#include "pipeline/symbolizer.h"
#include "worker/worker_process.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define IDENTITY_RECHECK_NS (100 * NSEC_PER_MSEC)
#define WAIT_STEP_NS (5 * NSEC_PER_MSEC)
#define HEARTBEAT_MAX_NS (60 * NSEC_PER_SEC)

/* Between windows the loader has files read; then it looks for the next window so often. */
#define READ_SLICE_NS (100 * NSEC_PER_MSEC)
#define READ_PAUSE_NS (10 * NSEC_PER_MSEC)
#define RELEASE_NS (50 * NSEC_PER_MSEC) /* in between, for windows that are held */
#define MAX_ROUNDS 4 /* of reading at the end: names can make room for each other for ever */

struct loader {
	struct loader_opts opts;
	struct queue windows; /* from the reader */
	struct symbolizer symbolizer; /* this and the next: the thread's */
	struct held_windows held;
	uint64_t closed_ns; /* atomic: when loader_close() was called */
	uint64_t give_up_ns; /* atomic: from then on the thread waits for nothing */
	pthread_t thread;
	bool is_running;
	pthread_mutex_t sink_lock; /* held while the sink is called */
	bool is_abandoned; /* guarded by sink_lock: it is not called any more */
	/* Atomic. */
	uint64_t nr_samples_waiting; /* that the thread is not through with */
	uint64_t nr_samples_lost;
	uint64_t nr_windows_finished;
};

static void count_lost(struct loader *loader, uint64_t nr)
{
	__atomic_add_fetch(&loader->nr_samples_lost, nr, __ATOMIC_RELAXED);
}

static bool must_hurry(struct loader *loader)
{
	return clock_mono_ns() >= __atomic_load_n(&loader->give_up_ns, __ATOMIC_RELAXED);
}

/* The first window is not held up by a kubelet that has been silent for the grace time already. */
static uint64_t identity_deadline(const struct loader *loader, const struct window *window)
{
	uint64_t first_ns = loader->opts.started_ns + IDENTITY_GRACE_NS;
	uint64_t deadline = window->end_ns + IDENTITY_GRACE_NS;

	return loader->nr_windows_finished == 0 && first_ns < deadline ? first_ns : deadline;
}

/* Waits until every pod of the window has its names, but not past its grace time. */
static void await_identity(struct loader *loader, const struct window *window)
{
	uint64_t deadline = identity_deadline(loader, window);
	size_t next = 0;

	while (next < window->nr_cgroups && clock_mono_ns() < deadline && !must_hurry(loader)) {
		heartbeat_beat();
		if (identity_is_final(loader->opts.identity, window->cgroups[next])) {
			next++;
			continue;
		}
		struct timespec wake = clock_timespec(clock_mono_ns() + IDENTITY_RECHECK_NS);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
	}
}

static int add_resources(struct loader *loader, struct window *window)
{
	int r = 0;

	for (size_t i = 0; i < window->nr_cgroups && r == 0; i++)
		r = identity_add_resource(loader->opts.identity, window->cgroups[i],
					  window->builder);
	return r;
}

/* To the sink, or, without a profile, to the lost ones. What was abandoned is counted already. */
static void hand_over(struct loader *loader, const struct window *window, struct profile *profile)
{
	pthread_mutex_lock(&loader->sink_lock);
	__atomic_sub_fetch(&loader->nr_samples_waiting, window->nr_samples, __ATOMIC_RELAXED);
	if (!loader->is_abandoned && profile)
		loader->opts.sink(profile, loader->opts.sink_data);
	else if (!loader->is_abandoned)
		count_lost(loader, window->nr_samples);
	pthread_mutex_unlock(&loader->sink_lock);
}

/* Names and hands over a window of which the rest is there, or, with an error, drops it. */
static void finish_window(struct loader *loader, struct window *window, uint64_t until_ns,
			  int error)
{
	int r = error;

	if (r == 0 && loader->opts.last_names_wait_ns > 0) /* name_or_hold() has begun */
		r = symbolizer_name_window_rest(&loader->symbolizer, window);
	else if (r == 0)
		r = symbolizer_name_window(&loader->symbolizer, window, until_ns);
	if (r < 0) {
		hand_over(loader, window, NULL);
		log_warn_errno(r, "a second of %llu samples could not be named, dropping it",
			       (unsigned long long)window->nr_samples);
		return;
	}
	builder_set_time(window->builder, clock_mono_to_real_ns(window->start_ns),
			 window->end_ns - window->start_ns, loader->opts.period_ns);
	builder_date_samples(window->builder, window->start_ns);

	_cleanup_(profile_unrefp) struct profile *profile = builder_seal(take_ptr(window->builder));
	hand_over(loader, window, profile);
}

/* Names what can be named of a window. Returns 1 when it is held for the rest, and *window is NULL;
 * 0 when it is not. */
static int name_or_hold(struct loader *loader, struct window **window, uint64_t until_ns)
{
	size_t nr_left = 0;

	if (loader->opts.last_names_wait_ns == 0)
		return 0;
	int r = symbolizer_name_window_partly(&loader->symbolizer, *window, until_ns, &nr_left);
	if (r < 0 || nr_left == 0)
		return r;
	return held_windows_add(&loader->held, window) == 0;
}

static void handle_window(struct loader *loader, struct window *taken)
{
	_cleanup_(window_freep) struct window *window = taken;
	uint64_t until_ns = window->end_ns + loader->opts.names_wait_ns;

	await_identity(loader, window);
	builder_set_room(window->builder, WINDOW_MAX_RESOURCE_BYTES);
	int r = add_resources(loader, window);
	if (r == 0)
		r = name_or_hold(loader, &window, until_ns);
	if (r <= 0)
		finish_window(loader, window, until_ns, r);
}

/* Until when the names of a held window are waited for: once a stop is asked for, no longer than
 * those of any window. */
static uint64_t get_held_end_ns(const struct loader *loader, const struct window *window)
{
	uint64_t give_up_ns = __atomic_load_n(&loader->give_up_ns, __ATOMIC_RELAXED);
	uint64_t closed_ns = __atomic_load_n(&loader->closed_ns, __ATOMIC_RELAXED);
	uint64_t waited_ns = window->end_ns + loader->opts.names_wait_ns;

	if (give_up_ns != UINT64_MAX)
		return waited_ns < give_up_ns ? waited_ns : give_up_ns;
	return closed_ns > 0 ? closed_ns + loader->opts.last_names_wait_ns : UINT64_MAX;
}

/* Hands over the windows that lack no names, or whose names are not waited for any more; what it
 * does not come to up to a time is the first the next time. With `is_end` all are handed over. */
static void release_held(struct loader *loader, uint64_t until_ns, bool is_end)
{
	for (size_t nr = loader->held.nr; nr > 0 && clock_mono_ns() < until_ns; nr--) {
		const struct window *first = held_windows_find(&loader->held);

		heartbeat_beat();
		if (!is_end && clock_mono_ns() < get_held_end_ns(loader, first) &&
		    symbolizer_ask(&loader->symbolizer, first) > 0) {
			held_windows_rotate(&loader->held);
			continue;
		}
		_cleanup_(window_freep) struct window *window = held_windows_take(&loader->held);
		finish_window(loader, window, 0, 0);
	}
}

/* Nothing more comes: there is time for what could not be named in passing. */
static void finish_held(struct loader *loader)
{
	unsigned int nr_rounds = 0;

	while (loader->held.nr > 0) {
		release_held(loader, UINT64_MAX, nr_rounds > MAX_ROUNDS);
		(void)jit_cache_work(loader->opts.jits);
		nr_rounds += elf_cache_wait(loader->opts.elfs, clock_mono_ns() + READ_SLICE_NS);
	}
}

/* The next window, for which work on files is interrupted; NULL when there is none yet. */
static struct window *next_window(struct loader *loader)
{
	bool is_reading = jit_cache_work(loader->opts.jits);
	bool is_idle = queue_is_closed(&loader->windows) ||
		       (elf_cache_wait(loader->opts.elfs, clock_mono_ns() + READ_SLICE_NS) &&
			!is_reading);
	uint64_t wait_ns = is_idle ? NSEC_PER_SEC : READ_PAUSE_NS;

	return queue_take(&loader->windows, clock_mono_ns() + wait_ns);
}

static void *loader_main(void *data)
{
	struct loader *loader = data;

	heartbeat_begin("loader", HEARTBEAT_MAX_NS);
	for (;;) {
		heartbeat_beat();
		struct window *window = next_window(loader);

		if (window) {
			handle_window(loader, window);
			__atomic_add_fetch(&loader->nr_windows_finished, 1, __ATOMIC_RELAXED);
		} else if (queue_is_closed(&loader->windows)) {
			break;
		}
		release_held(loader, clock_mono_ns() + RELEASE_NS, false);
	}
	finish_held(loader);
	return NULL;
}

/* For /proc/kallsyms, for debug files, and for a program that only its owner may run, when root is
 * not the owner. */
static uint64_t needed_capabilities(const struct loader *loader)
{
	const char *program = loader->opts.program;

	return CAPABILITY(SYSLOG) | CAPABILITY(DAC_READ_SEARCH) |
	       capabilities_for_file(program ? program : WORKER_PROCESS_OWN_PROGRAM, X_OK);
}

int loader_start(const struct loader_opts *opts, struct loader **ret_loader)
{
	_cleanup_(loader_freep) struct loader *loader = calloc(1, sizeof(*loader));

	if (!loader)
		return -ENOMEM;
	loader->opts = *opts;
	loader->give_up_ns = UINT64_MAX;
	pthread_mutex_init(&loader->sink_lock, NULL);
	loader->symbolizer = (struct symbolizer){
		.elfs = opts->elfs,
		.jits = opts->jits,
		.kernel = opts->kernel,
		.give_up_ns = &loader->give_up_ns,
		.slow_wait_ns = opts->slow_names_wait_ns,
	};
	int r = queue_init(&loader->windows, LOADER_MAX_WINDOWS);
	if (r == 0)
		r = thread_start("loader", needed_capabilities(loader), loader_main, loader,
				 &loader->thread);
	if (r < 0)
		return r;
	loader->is_running = true;
	*ret_loader = take_ptr(loader);
	return 0;
}

void loader_push(struct loader *loader, struct window *window)
{
	__atomic_add_fetch(&loader->nr_samples_waiting, window->nr_samples, __ATOMIC_RELAXED);
	if (queue_push(&loader->windows, window) == 0)
		return;
	__atomic_sub_fetch(&loader->nr_samples_waiting, window->nr_samples, __ATOMIC_RELAXED);
	count_lost(loader, window->nr_samples);
	log_warn("the loader is %d seconds behind, dropping a second of samples",
		 LOADER_MAX_WINDOWS);
	window_free(window);
}

bool loader_is_running(const struct loader *loader)
{
	return loader->is_running;
}

void loader_close(struct loader *loader)
{
	if (!queue_is_closed(&loader->windows))
		__atomic_store_n(&loader->closed_ns, clock_mono_ns(), __ATOMIC_RELAXED);
	queue_close(&loader->windows);
}

void loader_give_up(struct loader *loader, uint64_t when_ns)
{
	__atomic_store_n(&loader->give_up_ns, when_ns, __ATOMIC_RELAXED);
}

bool loader_wait(struct loader *loader, uint64_t until_ns)
{
	const struct timespec step = clock_timespec(WAIT_STEP_NS);

	while (loader->is_running && pthread_tryjoin_np(loader->thread, NULL) != 0) {
		if (clock_mono_ns() >= until_ns)
			return false;
		nanosleep(&step, NULL);
	}
	loader->is_running = false;
	return true;
}

uint64_t loader_abandon(struct loader *loader)
{
	uint64_t nr_lost = 0;

	pthread_mutex_lock(&loader->sink_lock);
	if (!loader->is_abandoned)
		nr_lost = __atomic_load_n(&loader->nr_samples_waiting, __ATOMIC_RELAXED);
	loader->is_abandoned = true;
	pthread_mutex_unlock(&loader->sink_lock);
	count_lost(loader, nr_lost);
	return nr_lost;
}

void loader_free(struct loader *loader)
{
	if (!loader)
		return;
	if (loader->is_running) {
		loader_close(loader);
		(void)loader_wait(loader, UINT64_MAX);
	}
	queue_done(&loader->windows);
	held_windows_done(&loader->held);
	pthread_mutex_destroy(&loader->sink_lock);
	free(loader);
}

struct loader_stats loader_get_stats(const struct loader *loader)
{
	const struct symbolizer *symbolizer = &loader->symbolizer;

	return (struct loader_stats){
		.nr_samples_lost = __atomic_load_n(&loader->nr_samples_lost, __ATOMIC_RELAXED),
		.nr_windows_finished = __atomic_load_n(&loader->nr_windows_finished,
						       __ATOMIC_RELAXED),
		.nr_frames_named = __atomic_load_n(&symbolizer->nr_named, __ATOMIC_RELAXED),
		.nr_frames_unnamed = __atomic_load_n(&symbolizer->nr_unnamed, __ATOMIC_RELAXED),
	};
}
