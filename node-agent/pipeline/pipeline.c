/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/pipeline.h"

#include "base/capabilities.h"
#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/log.h"
#include "base/queue.h"
#include "base/thread.h"
#include "pipeline/binder.h"
#include "pipeline/locate.h"
#include "pipeline/naming.h"
#include "pipeline/window.h"
#include "process/process_set.h"
#include "symbol/kernel_symbols.h"
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
	struct queue windows; /* reader to loader */
	struct kernel_symbols *kernel; /* this and the next: the loader's */
	struct namer namer;
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

/* Waits until every pod of the window has its names, but not past its grace time. */
static void await_identity(struct pipeline *pipeline, const struct window *window)
{
	uint64_t deadline = window->end_ns + IDENTITY_GRACE_NS;
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

static void finish_window(struct pipeline *pipeline, struct window *window)
{
	await_identity(pipeline, window);

	builder_set_room(window->builder, WINDOW_MAX_RESOURCE_BYTES);
	int r = add_resources(pipeline, window);
	if (r == 0)
		r = name_window(&pipeline->namer, window,
				window->end_ns + pipeline->opts.names_wait_ns);
	if (r < 0) {
		hand_over(pipeline, window, NULL);
		log_warn_errno(r, "a second of %llu samples could not be named, dropping it",
			       (unsigned long long)window->nr_samples);
		return;
	}
	builder_set_time(window->builder, clock_mono_to_real_ns(window->start_ns), WINDOW_NS,
			 pipeline->opts.period_ns);

	_cleanup_(profile_unrefp) struct profile *profile = builder_seal(take_ptr(window->builder));
	hand_over(pipeline, window, profile);
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
		_cleanup_(window_freep) struct window *window = next_window(pipeline);

		if (window) {
			finish_window(pipeline, window);
			__atomic_add_fetch(&pipeline->nr_windows_finished, 1, __ATOMIC_RELAXED);
		} else if (queue_is_closed(&pipeline->windows)) {
			return NULL;
		}
	}
}

/* Without kernel symbols kernel frames are named by address: worth a line, not a refusal. */
static int load_kernel_symbols(struct pipeline *pipeline)
{
	int error = 0;
	int r = kernel_symbols_new(pipeline->opts.proc_fd, clock_mono_ns(), &error,
				   &pipeline->kernel);

	if (r < 0)
		return r;
	if (error == -EPERM && !(capabilities_effective() & CAPABILITY(SYSLOG)))
		log_warn("CAP_SYSLOG is missing: kernel functions have no names; in a pod, SYSLOG "
			 "in capabilities.add");
	else if (error < 0)
		log_warn_errno(error, "/proc/kallsyms (see kernel.kptr_restrict) is of no use: "
				      "kernel functions have no names");
	return 0;
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
		.worker_program = opts->program,
		.demangle = opts->demangle,
		.wants_lines = opts->wants_lines,
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
	pthread_mutex_init(&pipeline->sink_lock, NULL);
	int r = process_table_new(opts->proc_fd, opts->max_processes, &pipeline->processes);
	if (r == 0 && opts->unwinder)
		binder_init(&pipeline->binder, opts->proc_fd, pipeline->processes, opts->unwinder);
	if (r == 0)
		r = open_symbols(pipeline);
	if (r == 0)
		r = identity_new(&opts->identity, &pipeline->identity);
	if (r == 0)
		r = load_kernel_symbols(pipeline);
	if (r == 0)
		take_inventory(pipeline);
	if (r == 0 && opts->capture) {
		cgroup_filter_init(&pipeline->filter, opts->capture, pipeline->identity,
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

static int add_comms(struct builder *builder, const struct sample_event *event,
		     struct profile_sample *sample)
{
	char comm[TASK_COMM_LEN + 1] = { 0 };

	memcpy(comm, event->process_comm, TASK_COMM_LEN);
	int r = builder_add_string(builder, comm, &sample->process_comm);
	if (r < 0)
		return r;
	memcpy(comm, event->thread_comm, TASK_COMM_LEN);
	return builder_add_string(builder, comm, &sample->thread_comm);
}

static int add_to_window(struct pipeline *pipeline, struct window *window,
			 const struct sample_event *event)
{
	struct locator locator = { pipeline->processes, pipeline->elfs, pipeline->jits, window,
				   event->cgroup_id };
	struct profile_sample sample = { .cgroup_id = event->cgroup_id,
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
	if (r < 0)
		return r;
	r = add_comms(window->builder, event, &sample);
	if (r < 0)
		return r;
	return builder_add_sample(window->builder, &sample);
}

void pipeline_add_sample(struct pipeline *pipeline, const struct sample_event *event)
{
	struct window *window = window_at(pipeline, event->time_ns);

	pipeline->nr_samples++;
	if (pipeline->opts.unwinder)
		binder_check_sample(&pipeline->binder, event);
	if (window && add_to_window(pipeline, window, event) == 0)
		window->nr_samples++;
	else
		count_lost(pipeline, 1);
	if (pipeline->opts.unwinder)
		binder_see_sample(&pipeline->binder, event);
}

void pipeline_learn_process(struct pipeline *pipeline, const struct sample_event *event)
{
	if (!pipeline->opts.unwinder || event->nr_user == 0)
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
}

void pipeline_add_event(struct pipeline *pipeline, const struct proc_event *event)
{
	if (event->kind == PROC_KERNEL_CODE)
		kernel_symbols_outdate(pipeline->kernel, event->time_ns);
	process_table_handle(pipeline->processes, event);
	if (pipeline->opts.unwinder)
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
	struct pod_watch *watch = pipeline->opts.identity.watch;

	cgroup_filter_update(&pipeline->filter);
	if (watch && cgroup_filter_is_waiting(&pipeline->filter, now_ns))
		pod_watch_poke(watch);
}

void pipeline_tick(struct pipeline *pipeline, uint64_t now_ns)
{
	if (pipeline->opts.unwinder)
		binder_flush(&pipeline->binder, now_ns);
	if (pipeline->opts.capture)
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
	if (!pipeline->loader_runs)
		return;
	close_window(pipeline);
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
