/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/symbolizer_thread.h"

#include "base/capabilities.h"
#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/locked.h"
#include "base/log.h"
#include "base/queue.h"
#include "base/thread.h"
#include "pipeline/held_windows.h"
#include "pipeline/lock_samples.h"
#include "pipeline/symbolizer.h"
#include "worker/worker_process.h"

#include <stdlib.h>
#include <unistd.h>

#define IDENTITY_RECHECK_NS (100 * NSEC_PER_MSEC)
#define WAIT_STEP_NS (5 * NSEC_PER_MSEC)
#define HEARTBEAT_MAX_NS (60 * NSEC_PER_SEC)

/* Between windows the thread has files read, and looks for the next window this often. */
#define READ_SLICE_NS (100 * NSEC_PER_MSEC)
#define READ_PAUSE_NS (10 * NSEC_PER_MSEC)
#define RELEASE_NS (50 * NSEC_PER_MSEC) /* in between, for windows that are held */
#define MAX_ROUNDS 4 /* of reading at the end: names can make room for each other for ever */

struct symbolizer_thread {
	struct symbolizer_thread_opts opts;
	struct queue windows; /* from the reader */
	struct symbolizer symbolizer; /* this and the next: the thread's */
	struct held_windows held;
	uint64_t closed_ns; /* atomic: when symbolizer_thread_close() was called */
	uint64_t give_up_ns; /* atomic: from then on the thread waits for nothing */
	pthread_t handle;
	bool is_running;
	pthread_mutex_t sink_lock; /* held while the sink is called */
	bool is_abandoned; /* guarded by sink_lock: it is not called any more */
	/* Atomic. */
	uint64_t nr_samples_waiting; /* handed in and not handed over yet */
	uint64_t nr_samples_lost;
	uint64_t nr_windows_finished;
	uint64_t nr_other_waits;
};

static void count_lost(struct symbolizer_thread *thread, uint64_t nr)
{
	__atomic_add_fetch(&thread->nr_samples_lost, nr, __ATOMIC_RELAXED);
}

static bool must_hurry(struct symbolizer_thread *thread)
{
	return clock_mono_ns() >= __atomic_load_n(&thread->give_up_ns, __ATOMIC_RELAXED);
}

/* A kubelet that has been silent for the grace time already does not delay the first window. */
static uint64_t identity_deadline(const struct symbolizer_thread *thread,
				  const struct window *window)
{
	uint64_t first_ns = thread->opts.started_ns + IDENTITY_GRACE_NS;
	uint64_t deadline = window->end_ns + IDENTITY_GRACE_NS;

	return thread->nr_windows_finished == 0 && first_ns < deadline ? first_ns : deadline;
}

/* Waits until every pod of the window has its names, but not past its grace time. */
static void await_identity(struct symbolizer_thread *thread, const struct window *window)
{
	uint64_t deadline = identity_deadline(thread, window);
	size_t next = 0;

	while (next < window->nr_cgroups && clock_mono_ns() < deadline && !must_hurry(thread)) {
		heartbeat_beat();
		if (identity_is_final(thread->opts.identity, window->cgroups[next])) {
			next++;
			continue;
		}
		struct timespec wake = clock_timespec(clock_mono_ns() + IDENTITY_RECHECK_NS);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
	}
}

static int add_resources(struct symbolizer_thread *thread, struct window *window)
{
	int r = 0;

	for (size_t i = 0; i < window->nr_cgroups && r == 0; i++)
		r = identity_add_resource(thread->opts.identity, window->cgroups[i],
					  window->builder);
	return r;
}

/* Hands a profile to the sink, or, without one, counts its samples as lost. Abandoned samples are
 * counted already. */
static void hand_over(struct symbolizer_thread *thread, const struct window *window,
		      struct profile *profile)
{
	LOCKED(&thread->sink_lock);

	__atomic_sub_fetch(&thread->nr_samples_waiting, window->nr_samples, __ATOMIC_RELAXED);
	if (!thread->is_abandoned && profile)
		thread->opts.sink(profile, thread->opts.sink_data);
	else if (!thread->is_abandoned)
		count_lost(thread, window->nr_samples);
}

/* Returns the period of a window's profile; 0: it has none. Only samples of CPU time stand for
 * something else than their values. */
static uint64_t period_of(const struct window *window)
{
	enum profile_type type = builder_peek(window->builder)->type;

	if (type == PROFILE_CPU)
		return window->period_ns;
	return *profile_type_names(type)->period_type ? 1 : 0;
}

/* Leaves only waits for locks in a profile of them. */
static int settle_locks(struct symbolizer_thread *thread, struct profile *profile)
{
	uint64_t nr_removed = 0;

	if (profile->type != PROFILE_LOCK_DELAY && profile->type != PROFILE_LOCK_CONTENTIONS)
		return 0;
	int r = lock_samples_settle(profile, &nr_removed);
	__atomic_add_fetch(&thread->nr_other_waits, nr_removed, __ATOMIC_RELAXED);
	return r;
}

/* Hands over no profile after an error. */
static void drop(struct symbolizer_thread *thread, const struct window *window, int error)
{
	hand_over(thread, window, NULL);
	log_warn_errno(error, "dropped a window of %llu samples: symbolization failed",
		       (unsigned long long)window->nr_samples);
}

/* Names and hands over a window, or drops it if there was an error. */
static void finish_window(struct symbolizer_thread *thread, struct window *window,
			  uint64_t until_ns, int error)
{
	int r = error;

	if (r == 0 && thread->opts.last_names_wait_ns > 0) /* name_or_hold() has begun */
		r = symbolizer_name_window_rest(&thread->symbolizer, window);
	else if (r == 0)
		r = symbolizer_name_window(&thread->symbolizer, window, until_ns);
	if (r < 0) {
		drop(thread, window, r);
		return;
	}
	builder_set_time(window->builder, window->start_unix_ns, window->end_ns - window->start_ns,
			 period_of(window));
	builder_date_samples(window->builder, window->start_ns);

	_cleanup_(profile_unrefp) struct profile *profile = builder_seal(take_ptr(window->builder));
	r = settle_locks(thread, profile);
	if (r < 0)
		drop(thread, window, r);
	else
		hand_over(thread, window, profile);
}

/* Names what can be named of a window. Returns 1 when it is held for the rest, and *window is NULL;
 * 0 when it is not. */
static int name_or_hold(struct symbolizer_thread *thread, struct window **window, uint64_t until_ns)
{
	size_t nr_left = 0;

	if (thread->opts.last_names_wait_ns == 0)
		return 0;
	int r = symbolizer_name_window_partly(&thread->symbolizer, *window, until_ns, &nr_left);
	if (r < 0 || nr_left == 0)
		return r;
	return held_windows_add(&thread->held, window) == 0;
}

static void handle_window(struct symbolizer_thread *thread, struct window *taken)
{
	_cleanup_(window_freep) struct window *window = taken;
	uint64_t until_ns = window->end_ns + thread->opts.names_wait_ns;

	await_identity(thread, window);
	builder_set_room(window->builder, WINDOW_MAX_RESOURCE_BYTES);
	int r = add_resources(thread, window);
	if (r == 0)
		r = name_or_hold(thread, &window, until_ns);
	if (r <= 0)
		finish_window(thread, window, until_ns, r);
}

/* Returns the end of the wait for a held window's names. Once a stop is asked for, they are not
 * waited for longer than those of other windows. */
static uint64_t get_held_end_ns(const struct symbolizer_thread *thread, const struct window *window)
{
	uint64_t give_up_ns = __atomic_load_n(&thread->give_up_ns, __ATOMIC_RELAXED);
	uint64_t closed_ns = __atomic_load_n(&thread->closed_ns, __ATOMIC_RELAXED);
	uint64_t waited_ns = window->end_ns + thread->opts.names_wait_ns;

	if (give_up_ns != UINT64_MAX)
		return waited_ns < give_up_ns ? waited_ns : give_up_ns;
	return closed_ns > 0 ? closed_ns + thread->opts.last_names_wait_ns : UINT64_MAX;
}

/* Hands over the windows that lack no names, or whose names are not waited for any more.
 * At `until_ns` it stops, and the next call goes on with the next window. With `is_end`
 * it hands over all of them. */
static void release_held(struct symbolizer_thread *thread, uint64_t until_ns, bool is_end)
{
	for (size_t nr = thread->held.nr; nr > 0 && clock_mono_ns() < until_ns; nr--) {
		const struct window *first = held_windows_find(&thread->held);

		heartbeat_beat();
		if (!is_end && clock_mono_ns() < get_held_end_ns(thread, first) &&
		    symbolizer_ask(&thread->symbolizer, first) > 0) {
			held_windows_rotate(&thread->held);
			continue;
		}
		_cleanup_(window_freep) struct window *window = held_windows_take(&thread->held);
		finish_window(thread, window, 0, 0);
	}
}

/* Finishes the held windows after the last one has come: now there is time for their names. */
static void finish_held(struct symbolizer_thread *thread)
{
	unsigned int nr_rounds = 0;

	while (thread->held.nr > 0) {
		release_held(thread, UINT64_MAX, nr_rounds > MAX_ROUNDS);
		(void)jit_cache_work(thread->opts.jits);
		nr_rounds += elf_cache_wait(thread->opts.elfs, clock_mono_ns() + READ_SLICE_NS);
	}
}

/* Returns the next window, for which work on files is interrupted; NULL if there is none yet. */
static struct window *next_window(struct symbolizer_thread *thread)
{
	bool is_reading = jit_cache_work(thread->opts.jits);
	bool is_idle = queue_is_closed(&thread->windows) ||
		       (elf_cache_wait(thread->opts.elfs, clock_mono_ns() + READ_SLICE_NS) &&
			!is_reading);
	uint64_t wait_ns = is_idle ? NSEC_PER_SEC : READ_PAUSE_NS;

	return queue_take(&thread->windows, clock_mono_ns() + wait_ns);
}

static void *symbolizer_thread_main(void *data)
{
	struct symbolizer_thread *thread = data;

	heartbeat_begin("symbolizer", HEARTBEAT_MAX_NS);
	for (;;) {
		heartbeat_beat();
		struct window *window = next_window(thread);

		if (window) {
			handle_window(thread, window);
			__atomic_add_fetch(&thread->nr_windows_finished, 1, __ATOMIC_RELAXED);
		} else if (queue_is_closed(&thread->windows)) {
			break;
		}
		release_held(thread, clock_mono_ns() + RELEASE_NS, false);
	}
	finish_held(thread);
	return NULL;
}

/* The thread reads /proc/kallsyms and debug files, and may have to start a program that only its
 * owner may run when root is not the owner. */
static uint64_t needed_capabilities(const struct symbolizer_thread *thread)
{
	const char *program = thread->opts.program;

	return CAPABILITY(SYSLOG) | CAPABILITY(DAC_READ_SEARCH) |
	       capabilities_for_file(program ? program : WORKER_PROCESS_OWN_PROGRAM, X_OK);
}

int symbolizer_thread_start(const struct symbolizer_thread_opts *opts,
			    struct symbolizer_thread **ret_thread)
{
	_cleanup_(symbolizer_thread_freep) struct symbolizer_thread *thread = calloc(
		1, sizeof(*thread));

	if (!thread)
		return -ENOMEM;
	thread->opts = *opts;
	thread->give_up_ns = UINT64_MAX;
	pthread_mutex_init(&thread->sink_lock, NULL);
	thread->symbolizer = (struct symbolizer){
		.elfs = opts->elfs,
		.jits = opts->jits,
		.runtimes = opts->runtimes,
		.kernel = opts->kernel,
		.give_up_ns = &thread->give_up_ns,
		.slow_wait_ns = opts->slow_names_wait_ns,
	};
	int r = queue_init(&thread->windows, SYMBOLIZER_MAX_WINDOWS);
	if (r == 0)
		r = thread_start("symbolizer", needed_capabilities(thread), symbolizer_thread_main,
				 thread, &thread->handle);
	if (r < 0)
		return r;
	thread->is_running = true;
	*ret_thread = take_ptr(thread);
	return 0;
}

void symbolizer_thread_push(struct symbolizer_thread *thread, struct window *window)
{
	__atomic_add_fetch(&thread->nr_samples_waiting, window->nr_samples, __ATOMIC_RELAXED);
	if (queue_push(&thread->windows, window) == 0)
		return;
	__atomic_sub_fetch(&thread->nr_samples_waiting, window->nr_samples, __ATOMIC_RELAXED);
	count_lost(thread, window->nr_samples);
	log_warn("symbolization is %d windows behind; dropped 1 s of samples",
		 SYMBOLIZER_MAX_WINDOWS);
	window_free(window);
}

bool symbolizer_thread_is_running(const struct symbolizer_thread *thread)
{
	return thread->is_running;
}

void symbolizer_thread_close(struct symbolizer_thread *thread)
{
	if (!queue_is_closed(&thread->windows))
		__atomic_store_n(&thread->closed_ns, clock_mono_ns(), __ATOMIC_RELAXED);
	queue_close(&thread->windows);
}

void symbolizer_thread_give_up(struct symbolizer_thread *thread, uint64_t when_ns)
{
	__atomic_store_n(&thread->give_up_ns, when_ns, __ATOMIC_RELAXED);
}

bool symbolizer_thread_wait(struct symbolizer_thread *thread, uint64_t until_ns)
{
	const struct timespec step = clock_timespec(WAIT_STEP_NS);

	while (thread->is_running && pthread_tryjoin_np(thread->handle, NULL) != 0) {
		if (clock_mono_ns() >= until_ns)
			return false;
		nanosleep(&step, NULL);
	}
	thread->is_running = false;
	return true;
}

uint64_t symbolizer_thread_abandon(struct symbolizer_thread *thread)
{
	uint64_t nr_lost = 0;

	pthread_mutex_lock(&thread->sink_lock);
	if (!thread->is_abandoned)
		nr_lost = __atomic_load_n(&thread->nr_samples_waiting, __ATOMIC_RELAXED);
	thread->is_abandoned = true;
	pthread_mutex_unlock(&thread->sink_lock);
	count_lost(thread, nr_lost);
	return nr_lost;
}

void symbolizer_thread_free(struct symbolizer_thread *thread)
{
	if (!thread)
		return;
	if (thread->is_running) {
		symbolizer_thread_close(thread);
		(void)symbolizer_thread_wait(thread, UINT64_MAX);
	}
	queue_done(&thread->windows);
	held_windows_done(&thread->held);
	pthread_mutex_destroy(&thread->sink_lock);
	free(thread);
}

struct symbolizer_thread_stats symbolizer_thread_get_stats(const struct symbolizer_thread *thread)
{
	const struct symbolizer *symbolizer = &thread->symbolizer;

	return (struct symbolizer_thread_stats){
		.nr_samples_lost = __atomic_load_n(&thread->nr_samples_lost, __ATOMIC_RELAXED),
		.nr_windows_finished = __atomic_load_n(&thread->nr_windows_finished,
						       __ATOMIC_RELAXED),
		.nr_other_waits = __atomic_load_n(&thread->nr_other_waits, __ATOMIC_RELAXED),
		.nr_frames_named = __atomic_load_n(&symbolizer->nr_named, __ATOMIC_RELAXED),
		.nr_frames_unnamed = __atomic_load_n(&symbolizer->nr_unnamed, __ATOMIC_RELAXED),
	};
}
