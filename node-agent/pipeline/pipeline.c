/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/pipeline.h"

#include "base/capabilities.h"
#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/log.h"
#include "base/queue.h"
#include "base/thread.h"
#include "pipeline/binder.h"
#include "pipeline/held_windows.h"
#include "pipeline/locate.h"
#include "pipeline/symbolizer.h"
#include "pipeline/sampled_process.h"
#include "pipeline/window.h"
#include "process/process_set.h"
#include "symbol/kernel/kernel_symbols.h"
#include "worker/worker_process.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IDENTITY_RECHECK_NS (100 * NSEC_PER_MSEC)
#define SWEEP_INTERVAL_NS NSEC_PER_SEC
#define WAIT_STEP_NS (5 * NSEC_PER_MSEC)
#define HEARTBEAT_MAX_NS (60 * NSEC_PER_SEC)

/* Between windows the loader has files read; then it looks for the next window so often. */
#define READ_SLICE_NS (100 * NSEC_PER_MSEC)
#define READ_PAUSE_NS (10 * NSEC_PER_MSEC)
#define RELEASE_NS (50 * NSEC_PER_MSEC) /* in between, for windows that are held */
#define MAX_ROUNDS 4 /* of reading at the end: names can make room for each other for ever */

/* What JIT compilers' names may take of the memory for all. */
#define JIT_SHARE 4

struct pipeline {
	struct pipeline_opts opts;
	struct process_table *processes; /* this and the next: the reader's */
	struct binder binder;
	struct elf_cache *elfs; /* this and the next: shared */
	struct jit_cache *jits;
	struct debuginfod *debuginfod; /* the loader's; NULL: nobody is asked */
	int host_root_fd;
	struct identity *identity; /* shared */
	struct cgroup_filter filter; /* the reader's */
	struct window *window; /* being filled; NULL before the first sample */
	uint64_t next_sweep_ns; /* of the process table */
	uint64_t started_ns;
	struct queue windows; /* reader to loader */
	struct kernel_symbols *kernel; /* this and the next: the loader's */
	struct namer namer;
	struct held_windows held;
	uint64_t closed_ns; /* atomic: when pipeline_close() was called */
	pthread_t loader;
	bool loader_runs;
	uint64_t give_up_ns; /* atomic: from then on the loader waits for nothing */
	pthread_mutex_t sink_lock; /* held while the sink is called */
	bool is_abandoned; /* guarded by sink_lock: it is not called any more */
	uint64_t nr_samples_waiting; /* atomic: that the loader is not through with */
	uint64_t nr_samples;
	uint64_t nr_samples_lost; /* atomic */
	uint64_t nr_windows;
	uint64_t nr_windows_finished; /* atomic */
};

static void count_lost(struct pipeline *pipeline, uint64_t nr)
{
	__atomic_add_fetch(&pipeline->nr_samples_lost, nr, __ATOMIC_RELAXED);
}

static bool must_hurry(struct pipeline *pipeline)
{
	return clock_mono_ns() >= __atomic_load_n(&pipeline->give_up_ns, __ATOMIC_RELAXED);
}

/* The first window is not held up by a kubelet that has been silent for the grace time already. */
static uint64_t identity_deadline(const struct pipeline *pipeline, const struct window *window)
{
	uint64_t first_ns = pipeline->started_ns + IDENTITY_GRACE_NS;
	uint64_t deadline = window->end_ns + IDENTITY_GRACE_NS;

	return pipeline->nr_windows_finished == 0 && first_ns < deadline ? first_ns : deadline;
}

/* Waits until every pod of the window has its names, but not past its grace time. */
static void await_identity(struct pipeline *pipeline, const struct window *window)
{
	uint64_t deadline = identity_deadline(pipeline, window);
	size_t next = 0;

	while (next < window->nr_cgroups && clock_mono_ns() < deadline && !must_hurry(pipeline)) {
		heartbeat_beat();
		if (identity_is_final(pipeline->identity, window->cgroups[next])) {
			next++;
			continue;
		}
		struct timespec wake = clock_timespec(clock_mono_ns() + IDENTITY_RECHECK_NS);
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
	}
}

static int add_resources(struct pipeline *pipeline, struct window *window)
{
	int r = 0;

	for (size_t i = 0; i < window->nr_cgroups && r == 0; i++)
		r = identity_add_resource(pipeline->identity, window->cgroups[i], window->builder);
	return r;
}

/* To the sink, or, without a profile, to the lost ones. What was abandoned is counted already. */
static void hand_over(struct pipeline *pipeline, const struct window *window,
		      struct profile *profile)
{
	pthread_mutex_lock(&pipeline->sink_lock);
	__atomic_sub_fetch(&pipeline->nr_samples_waiting, window->nr_samples, __ATOMIC_RELAXED);
	if (!pipeline->is_abandoned && profile)
		pipeline->opts.sink(profile, pipeline->opts.sink_data);
	else if (!pipeline->is_abandoned)
		count_lost(pipeline, window->nr_samples);
	pthread_mutex_unlock(&pipeline->sink_lock);
}

/* Names and hands over a window of which the rest is there, or, with an error, drops it. */
static void finish_window(struct pipeline *pipeline, struct window *window, uint64_t until_ns,
			  int error)
{
	int r = error;

	if (r == 0 && pipeline->opts.last_names_wait_ns > 0) /* name_or_hold() has begun */
		r = name_window_rest(&pipeline->namer, window);
	else if (r == 0)
		r = name_window(&pipeline->namer, window, until_ns);
	if (r < 0) {
		hand_over(pipeline, window, NULL);
		log_warn_errno(r, "a second of %llu samples could not be named, dropping it",
			       (unsigned long long)window->nr_samples);
		return;
	}
	builder_set_time(window->builder, clock_mono_to_real_ns(window->start_ns),
			 window->end_ns - window->start_ns, pipeline->opts.period_ns);
	builder_date_samples(window->builder, window->start_ns);

	_cleanup_(profile_unrefp) struct profile *profile = builder_seal(take_ptr(window->builder));
	hand_over(pipeline, window, profile);
}

/* Names what can be named of a window. Returns 1 when it is held for the rest, and *window is NULL; 0 when it is not. */
static int name_or_hold(struct pipeline *pipeline, struct window **window, uint64_t until_ns)
{
	size_t nr_left = 0;

	if (pipeline->opts.last_names_wait_ns == 0)
		return 0;
	int r = name_window_partly(&pipeline->namer, *window, until_ns, &nr_left);
	if (r < 0 || nr_left == 0)
		return r;
	return held_windows_add(&pipeline->held, window) == 0;
}

static void handle_window(struct pipeline *pipeline, struct window *taken)
{
	_cleanup_(window_freep) struct window *window = taken;
	uint64_t until_ns = window->end_ns + pipeline->opts.names_wait_ns;

	await_identity(pipeline, window);
	builder_set_room(window->builder, WINDOW_MAX_RESOURCE_BYTES);
	int r = add_resources(pipeline, window);
	if (r == 0)
		r = name_or_hold(pipeline, &window, until_ns);
	if (r <= 0)
		finish_window(pipeline, window, until_ns, r);
}

/* Until when the names of a held window are waited for: once a stop is asked for, no longer than those of any window. */
static uint64_t get_held_end_ns(const struct pipeline *pipeline, const struct window *window)
{
	uint64_t give_up_ns = __atomic_load_n(&pipeline->give_up_ns, __ATOMIC_RELAXED);
	uint64_t closed_ns = __atomic_load_n(&pipeline->closed_ns, __ATOMIC_RELAXED);
	uint64_t waited_ns = window->end_ns + pipeline->opts.names_wait_ns;

	if (give_up_ns != UINT64_MAX)
		return waited_ns < give_up_ns ? waited_ns : give_up_ns;
	return closed_ns > 0 ? closed_ns + pipeline->opts.last_names_wait_ns : UINT64_MAX;
}

/* Hands over the windows that lack no names, or whose names are not waited for any more; what it does not come to up to a
 * time is the first the next time. With `is_end` all are handed over. */
static void release_held(struct pipeline *pipeline, uint64_t until_ns, bool is_end)
{
	for (size_t nr = pipeline->held.nr; nr > 0 && clock_mono_ns() < until_ns; nr--) {
		const struct window *first = held_windows_find(&pipeline->held);

		heartbeat_beat();
		if (!is_end && clock_mono_ns() < get_held_end_ns(pipeline, first) &&
		    naming_ask(&pipeline->namer, first) > 0) {
			held_windows_rotate(&pipeline->held);
			continue;
		}
		_cleanup_(window_freep) struct window *window = held_windows_take(&pipeline->held);
		finish_window(pipeline, window, 0, 0);
	}
}

/* Nothing more comes: there is time for what could not be named in passing. */
static void finish_held(struct pipeline *pipeline)
{
	unsigned int nr_rounds = 0;

	while (pipeline->held.nr > 0) {
		release_held(pipeline, UINT64_MAX, nr_rounds > MAX_ROUNDS);
		(void)jit_cache_work(pipeline->jits);
		nr_rounds += elf_cache_wait(pipeline->elfs, clock_mono_ns() + READ_SLICE_NS);
	}
}

/* The next window, for which work on files is interrupted; NULL when there is none yet. */
static struct window *next_window(struct pipeline *pipeline)
{
	bool is_reading = jit_cache_work(pipeline->jits);
	bool is_idle = queue_is_closed(&pipeline->windows) ||
		       (elf_cache_wait(pipeline->elfs, clock_mono_ns() + READ_SLICE_NS) &&
			!is_reading);
	uint64_t wait_ns = is_idle ? NSEC_PER_SEC : READ_PAUSE_NS;

	return queue_take(&pipeline->windows, clock_mono_ns() + wait_ns);
}

static void *loader_main(void *data)
{
	struct pipeline *pipeline = data;

	heartbeat_begin("loader", HEARTBEAT_MAX_NS);
	for (;;) {
		heartbeat_beat();
		struct window *window = next_window(pipeline);

		if (window) {
			handle_window(pipeline, window);
			__atomic_add_fetch(&pipeline->nr_windows_finished, 1, __ATOMIC_RELAXED);
		} else if (queue_is_closed(&pipeline->windows)) {
			break;
		}
		release_held(pipeline, clock_mono_ns() + RELEASE_NS, false);
	}
	finish_held(pipeline);
	return NULL;
}

/* Containers that are unknown now are looked up when they are sampled, if they are still there then. */
static void take_inventory(struct pipeline *pipeline)
{
	int r = identity_learn_all(pipeline->identity);

	if (r < 0)
		log_debug_errno(r, "cannot list all cgroups that exist");
}

/* The host's root directory, which is not ours in a pod. Where that of process 1 cannot be opened, we may still be
 * on the host. Without any no separate debug file is found, which is no reason not to start. */
static int open_host_root(const struct pipeline *pipeline)
{
	int fd = openat(pipeline->opts.proc_fd, "1/root", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 ? fd : open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int open_symbols(struct pipeline *pipeline)
{
	const struct pipeline_opts *opts = &pipeline->opts;
	size_t jit_bytes = opts->symbol_memory_max / JIT_SHARE;
	int r = 0;

	pipeline->host_root_fd = open_host_root(pipeline);
	const struct jit_cache_opts jits = {
		.proc_fd = opts->proc_fd,
		.max_bytes = jit_bytes,
		.worker_program = opts->program,
	};
	if (opts->debuginfod)
		r = debuginfod_new(opts->debuginfod, &pipeline->debuginfod);
	if (r == 0)
		r = jit_cache_new(&jits, &pipeline->jits);
	if (r < 0)
		return r;
	const struct elf_cache_opts elfs = {
		.proc_fd = opts->proc_fd,
		.max_bytes = opts->symbol_memory_max - jit_bytes,
		.pool = opts->pool,
		.worker_program = opts->program,
		.demangle = opts->demangle,
		.wants_lines = opts->wants_lines,
		.cache_dir = opts->cache_dir,
		.lines_permille = opts->lines_permille,
		.debug_files = { .host_root_fd = pipeline->host_root_fd,
				 .debug_dir = opts->debug_dir },
		.debuginfod = pipeline->debuginfod,
	};
	return elf_cache_new(&elfs, &pipeline->elfs);
}

/* For /proc/kallsyms, for debug files, and for a program that only its owner may run, when root is not the owner. */
static uint64_t needed_capabilities(const struct pipeline *pipeline)
{
	const char *program = pipeline->opts.program;

	return CAPABILITY(SYSLOG) | CAPABILITY(DAC_READ_SEARCH) |
	       capabilities_for_file(program ? program : WORKER_PROCESS_OWN_PROGRAM, X_OK);
}

static int start_loader(struct pipeline *pipeline)
{
	int r = queue_init(&pipeline->windows, QUEUE_WINDOWS);
	if (r < 0)
		return r;
	pipeline->namer = (struct namer){
		.elfs = pipeline->elfs,
		.jits = pipeline->jits,
		.kernel = pipeline->kernel,
		.give_up_ns = &pipeline->give_up_ns,
		.slow_wait_ns = pipeline->opts.slow_names_wait_ns,
	};
	r = thread_start("loader", needed_capabilities(pipeline), loader_main, pipeline,
			 &pipeline->loader);
	pipeline->loader_runs = r == 0;
	return r;
}

int pipeline_start(const struct pipeline_opts *opts, struct pipeline **ret_pipeline)
{
	_cleanup_(pipeline_freep) struct pipeline *pipeline = calloc(1, sizeof(*pipeline));

	if (!pipeline)
		return -ENOMEM;
	pipeline->opts = *opts;
	pipeline->host_root_fd = -EBADF;
	pipeline->give_up_ns = UINT64_MAX;
	pipeline->started_ns = clock_mono_ns();
	pthread_mutex_init(&pipeline->sink_lock, NULL);
	int r = process_table_new(opts->proc_fd, opts->max_processes, &pipeline->processes);
	if (r == 0)
		binder_init(&pipeline->binder, opts->proc_fd, pipeline->processes, opts->tables);
	if (r == 0)
		r = open_symbols(pipeline);
	if (r == 0)
		r = identity_new(&opts->identity, &pipeline->identity);
	if (r == 0)
		r = naming_load_kernel(opts->proc_fd, &pipeline->kernel);
	if (r == 0)
		take_inventory(pipeline);
	if (r == 0) {
		cgroup_filter_init(&pipeline->filter, opts->source, pipeline->identity,
				   opts->identity.pods, opts->selection);
		cgroup_filter_update(&pipeline->filter);
	}
	if (r == 0)
		r = start_loader(pipeline);
	if (r == 0)
		*ret_pipeline = take_ptr(pipeline);
	return r;
}

static void close_window(struct pipeline *pipeline)
{
	struct window *window = take_ptr(pipeline->window);

	if (!window)
		return;
	pipeline->nr_windows++;
	__atomic_add_fetch(&pipeline->nr_samples_waiting, window->nr_samples, __ATOMIC_RELAXED);
	if (queue_push(&pipeline->windows, window) < 0) {
		__atomic_sub_fetch(&pipeline->nr_samples_waiting, window->nr_samples,
				   __ATOMIC_RELAXED);
		count_lost(pipeline, window->nr_samples);
		log_warn("the loader is %d seconds behind, dropping a second of samples",
			 QUEUE_WINDOWS);
		window_free(window);
	}
}

/* The window of a sample; those that are a little late go into the present one. */
static struct window *window_at(struct pipeline *pipeline, uint64_t time_ns)
{
	if (pipeline->window && time_ns >= pipeline->window->end_ns)
		close_window(pipeline);
	if (!pipeline->window && window_new(time_ns, &pipeline->window) < 0)
		return NULL;
	return pipeline->window;
}

static int add_to_window(struct pipeline *pipeline, struct window *window,
			 const struct sample_event *event)
{
	struct locator locator = {
		.processes = pipeline->processes,
		.elfs = pipeline->elfs,
		.jits = pipeline->jits,
		.window = window,
		.owner = event->cgroup_id,
	};
	struct profile_sample sample = { .cgroup_id = event->cgroup_id,
					 .time_ns = pipeline->opts.keeps_times ? event->time_ns : 0,
					 .pid = event->pid,
					 .tid = event->tid,
					 .cpu = event->cpu,
					 .count = 1 };

	int r = window_add_cgroup(window, event->cgroup_id);
	if (r < 0)
		return r;
	if (r > 0)
		identity_see(pipeline->identity, event->cgroup_id);
	r = locate_stack(&locator, event, &sample.stack);
	if (r == 0)
		r = sampled_process_add(&locator, event, &sample);
	if (r < 0)
		return r;
	return builder_add_sample(window->builder, &sample);
}

void pipeline_add_sample(struct pipeline *pipeline, const struct sample_event *event)
{
	struct window *window = window_at(pipeline, event->time_ns);

	pipeline->nr_samples++;
	binder_check_sample(&pipeline->binder, event);
	if (window && add_to_window(pipeline, window, event) == 0)
		window->nr_samples++;
	else
		count_lost(pipeline, 1);
	binder_see_sample(&pipeline->binder, event);
}

void pipeline_learn_process(struct pipeline *pipeline, const struct sample_event *event)
{
	if (event->nr_user == 0)
		return;
	(void)process_table_get(pipeline->processes, event->pid, event->start_ns, event->time_ns);
	binder_see_sample(&pipeline->binder, event);
}

void pipeline_meet_process(struct pipeline *pipeline, const struct sample_event *event, uint64_t ip)
{
	size_t nr_frames = (size_t)event->nr_kernel + event->nr_user;
	uint64_t address = event->nr_user > 0 ? FRAME_ADDRESS(event->frames[nr_frames - 1]) : ip;
	struct process *process = process_table_get(pipeline->processes, event->pid,
						    event->start_ns, event->time_ns);

	if (!process)
		return;
	(void)process_find_mapping(pipeline->processes, process, address, event->time_ns);
	process->cgroup_id = event->cgroup_id;
	binder_bind(&pipeline->binder, process, event->time_ns);
}

void pipeline_lose_events(struct pipeline *pipeline, uint64_t time_ns)
{
	process_table_lose_events(pipeline->processes, time_ns);
	if (pipeline->window)
		window_forget_locations(pipeline->window); /* mappings may be read again now */
}

void pipeline_add_event(struct pipeline *pipeline, const struct proc_event *event)
{
	if (event->kind == PROC_KERNEL_CODE)
		kernel_symbols_outdate(pipeline->kernel, event->time_ns);
	process_table_handle(pipeline->processes, event);
	binder_see_event(&pipeline->binder, event);
}

void pipeline_follow_cgroup(struct pipeline *pipeline, const struct cgroup_event *event)
{
	identity_follow(pipeline->identity, event);
}

void pipeline_select(struct pipeline *pipeline, const struct selection *selection)
{
	cgroup_filter_select(&pipeline->filter, selection);
	cgroup_filter_update(&pipeline->filter);
}

static void update_filter(struct pipeline *pipeline, uint64_t now_ns)
{
	cgroup_filter_update(&pipeline->filter);
	if (cgroup_filter_is_waiting(&pipeline->filter, now_ns))
		identity_ask_for_undecided(pipeline->identity);
}

void pipeline_tick(struct pipeline *pipeline, uint64_t now_ns)
{
	binder_flush(&pipeline->binder, now_ns);
	update_filter(pipeline, now_ns);
	if (pipeline->window && now_ns >= pipeline->window->end_ns)
		close_window(pipeline);
	if (now_ns < pipeline->next_sweep_ns)
		return;
	pipeline->next_sweep_ns = now_ns + SWEEP_INTERVAL_NS;
	process_table_sweep(pipeline->processes, now_ns);
	identity_tidy(pipeline->identity, now_ns);
}

void pipeline_close(struct pipeline *pipeline)
{
	uint64_t now_ns = clock_mono_ns();
	struct window *window = pipeline->window;

	if (!pipeline->loader_runs)
		return;
	/* Its second is not over: nobody samples what is left of it. */
	if (window && now_ns > window->start_ns && now_ns < window->end_ns)
		window->end_ns = now_ns;
	close_window(pipeline);
	if (!queue_is_closed(&pipeline->windows))
		__atomic_store_n(&pipeline->closed_ns, clock_mono_ns(), __ATOMIC_RELAXED);
	queue_close(&pipeline->windows);
}

void pipeline_give_up(struct pipeline *pipeline, uint64_t when_ns)
{
	__atomic_store_n(&pipeline->give_up_ns, when_ns, __ATOMIC_RELAXED);
}

bool pipeline_wait(struct pipeline *pipeline, uint64_t until_ns)
{
	const struct timespec step = clock_timespec(WAIT_STEP_NS);

	while (pipeline->loader_runs && pthread_tryjoin_np(pipeline->loader, NULL) != 0) {
		if (clock_mono_ns() >= until_ns)
			return false;
		nanosleep(&step, NULL);
	}
	pipeline->loader_runs = false;
	return true;
}

uint64_t pipeline_abandon(struct pipeline *pipeline)
{
	uint64_t nr_lost = 0;

	pthread_mutex_lock(&pipeline->sink_lock);
	if (!pipeline->is_abandoned)
		nr_lost = __atomic_load_n(&pipeline->nr_samples_waiting, __ATOMIC_RELAXED);
	pipeline->is_abandoned = true;
	pthread_mutex_unlock(&pipeline->sink_lock);
	count_lost(pipeline, nr_lost);
	return nr_lost;
}

void pipeline_drain(struct pipeline *pipeline)
{
	pipeline_close(pipeline);
	(void)pipeline_wait(pipeline, UINT64_MAX);
}

void pipeline_free(struct pipeline *pipeline)
{
	if (!pipeline)
		return;
	pipeline_drain(pipeline);
	queue_done(&pipeline->windows);
	held_windows_done(&pipeline->held);
	window_free(pipeline->window);
	kernel_symbols_free(pipeline->kernel);
	identity_free(pipeline->identity);
	elf_cache_free(pipeline->elfs);
	jit_cache_free(pipeline->jits);
	debuginfod_free(pipeline->debuginfod);
	cleanup_closep(&pipeline->host_root_fd);
	process_table_free(pipeline->processes);
	binder_done(&pipeline->binder);
	pthread_mutex_destroy(&pipeline->sink_lock);
	free(pipeline);
}

struct pipeline_stats pipeline_get_stats(struct pipeline *pipeline)
{
	return (struct pipeline_stats){
		.nr_samples = pipeline->nr_samples,
		.nr_samples_lost = __atomic_load_n(&pipeline->nr_samples_lost, __ATOMIC_RELAXED),
		.nr_windows = pipeline->nr_windows,
		.nr_windows_finished = __atomic_load_n(&pipeline->nr_windows_finished,
						       __ATOMIC_RELAXED),
		.nr_frames_named = __atomic_load_n(&pipeline->namer.nr_named, __ATOMIC_RELAXED),
		.nr_frames_unnamed = __atomic_load_n(&pipeline->namer.nr_unnamed, __ATOMIC_RELAXED),
		.processes = process_table_get_stats(pipeline->processes),
		.elfs = elf_cache_get_stats(pipeline->elfs),
		.jits = jit_cache_get_stats(pipeline->jits),
		.identity = identity_get_stats(pipeline->identity),
		.filter = pipeline->filter.stats,
	};
}
