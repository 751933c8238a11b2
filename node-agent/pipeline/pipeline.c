/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/pipeline.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/queue.h"
#include "base/thread.h"
#include "pipeline/binder.h"
#include "pipeline/locate.h"
#include "pipeline/naming.h"
#include "pipeline/window.h"
#include "symbol/kallsyms.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define IDENTITY_RECHECK_NS (100 * NSEC_PER_MSEC)
#define SWEEP_INTERVAL_NS NSEC_PER_SEC

/* The loader reads files for a window for so long after the window's end; what is left over it reads when
 * it has nothing else to do, which is while it is not so late. */
#define READ_FILES_NS (10 * NSEC_PER_SEC)
#define READ_LEFT_OVER_NS (5 * NSEC_PER_SEC)

struct pipeline {
	struct pipeline_opts opts;
	struct process_table *processes; /* this and the next: the reader's */
	struct binder binder;
	struct elf_cache *elfs; /* shared */
	struct identity *identity; /* shared */
	struct window *window; /* being filled; NULL before the first sample */
	uint64_t next_sweep_ns; /* of the process table */
	struct queue windows; /* reader to loader */
	struct kallsyms *kallsyms; /* this and the next: the loader's */
	struct namer namer;
	pthread_t loader;
	bool loader_runs;
	uint64_t nr_samples;
	uint64_t nr_samples_lost; /* atomic */
	uint64_t nr_windows;
};

static void count_lost(struct pipeline *pipeline, uint64_t nr)
{
	__atomic_add_fetch(&pipeline->nr_samples_lost, nr, __ATOMIC_RELAXED);
}

/* Waits until every pod of the window has its names, but not past its grace time. */
static void await_identity(struct pipeline *pipeline, const struct window *window)
{
	uint64_t deadline = window->end_ns + IDENTITY_GRACE_NS;
	size_t next = 0;

	while (next < window->nr_cgroups && clock_mono_ns() < deadline) {
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
	for (size_t i = 0; i < window->nr_cgroups; i++) {
		uint32_t resource;

		int r = identity_add_resource(pipeline->identity, window->cgroups[i],
					      window->builder, &resource);
		if (r < 0)
			return r;
		builder_set_resource(window->builder, window->cgroups[i], resource);
	}
	return 0;
}

static void finish_window(struct pipeline *pipeline, struct window *window)
{
	await_identity(pipeline, window);
	elf_cache_set_deadline(pipeline->elfs, window->end_ns + READ_FILES_NS);

	builder_set_room(window->builder, WINDOW_MAX_RESOURCE_BYTES);
	int r = add_resources(pipeline, window);
	if (r == 0)
		r = name_window(&pipeline->namer, window);
	if (r < 0) {
		count_lost(pipeline, window->nr_samples);
		log_warn_errno(r, "a second of %llu samples could not be named, dropping it",
			       (unsigned long long)window->nr_samples);
		return;
	}
	builder_set_time(window->builder, clock_mono_to_real_ns(window->start_ns), WINDOW_NS,
			 pipeline->opts.period_ns);

	_cleanup_(profile_unrefp) struct profile *profile = builder_seal(take_ptr(window->builder));
	pipeline->opts.sink(profile, pipeline->opts.sink_data);
}

static void read_left_over(struct pipeline *pipeline, const struct window *window)
{
	elf_cache_set_deadline(pipeline->elfs, window->end_ns + READ_LEFT_OVER_NS);
	while (!queue_is_closed(&pipeline->windows) && elf_cache_read_next(pipeline->elfs))
		;
}

static void *loader_main(void *data)
{
	struct pipeline *pipeline = data;

	for (;;) {
		_cleanup_(window_freep) struct window *window = queue_take(
			&pipeline->windows, clock_mono_ns() + NSEC_PER_SEC);

		if (window) {
			finish_window(pipeline, window);
			read_left_over(pipeline, window);
		} else if (queue_is_closed(&pipeline->windows)) {
			return NULL;
		}
	}
}

/* Without kernel symbols kernel frames are named by address: worth a line, not a refusal. */
static int load_kallsyms(struct pipeline *pipeline)
{
	int r = kallsyms_load(pipeline->opts.proc_fd, "kallsyms", &pipeline->kallsyms);

	if (r < 0)
		log_warn_errno(r, "cannot read kernel symbols (CAP_SYSLOG, kernel.kptr_restrict): "
				  "kernel functions are shown as addresses");
	return r == -ENOMEM ? r : 0;
}

/* Containers that are unknown now are looked up when they are sampled, if they are still there then. */
static void take_inventory(struct pipeline *pipeline)
{
	int r = identity_learn_all(pipeline->identity);

	if (r < 0)
		log_debug_errno(r, "cannot list all cgroups that exist");
}

static int start_loader(struct pipeline *pipeline)
{
	int r = queue_init(&pipeline->windows, QUEUE_WINDOWS);
	if (r < 0)
		return r;
	pipeline->namer = (struct namer){ .elfs = pipeline->elfs, .kallsyms = pipeline->kallsyms };
	r = thread_start("loader", loader_main, pipeline, &pipeline->loader);
	pipeline->loader_runs = r == 0;
	return r;
}

int pipeline_start(const struct pipeline_opts *opts, struct pipeline **ret_pipeline)
{
	_cleanup_(pipeline_freep) struct pipeline *pipeline = calloc(1, sizeof(*pipeline));

	if (!pipeline)
		return -ENOMEM;
	pipeline->opts = *opts;
	int r = process_table_new(opts->proc_fd, opts->max_processes, &pipeline->processes);
	if (r == 0 && opts->unwinder)
		binder_init(&pipeline->binder, opts->proc_fd, pipeline->processes, opts->unwinder);
	if (r == 0)
		r = elf_cache_new(opts->proc_fd, opts->symbol_memory_max, &pipeline->elfs);
	if (r == 0)
		r = identity_new(&opts->identity, &pipeline->identity);
	if (r == 0)
		r = load_kallsyms(pipeline);
	if (r == 0)
		take_inventory(pipeline);
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
	if (queue_push(&pipeline->windows, window) < 0) {
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
	struct locator locator = { pipeline->processes, pipeline->elfs, window };
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

void pipeline_lose_events(struct pipeline *pipeline, uint64_t time_ns)
{
	process_table_lose_events(pipeline->processes, time_ns);
}

void pipeline_add_event(struct pipeline *pipeline, const struct proc_event *event)
{
	process_table_handle(pipeline->processes, event);
	if (pipeline->opts.unwinder)
		binder_see_event(&pipeline->binder, event);
}

void pipeline_tick(struct pipeline *pipeline, uint64_t now_ns)
{
	if (pipeline->opts.unwinder)
		binder_flush(&pipeline->binder, now_ns);
	if (pipeline->window && now_ns >= pipeline->window->end_ns)
		close_window(pipeline);
	if (now_ns < pipeline->next_sweep_ns)
		return;
	pipeline->next_sweep_ns = now_ns + SWEEP_INTERVAL_NS;
	process_table_sweep(pipeline->processes, now_ns);
}

void pipeline_drain(struct pipeline *pipeline)
{
	if (!pipeline->loader_runs)
		return;
	close_window(pipeline);
	queue_close(&pipeline->windows);
	pthread_join(pipeline->loader, NULL);
	pipeline->loader_runs = false;
}

void pipeline_free(struct pipeline *pipeline)
{
	if (!pipeline)
		return;
	pipeline_drain(pipeline);
	queue_done(&pipeline->windows);
	window_free(pipeline->window);
	kallsyms_free(pipeline->kallsyms);
	identity_free(pipeline->identity);
	elf_cache_free(pipeline->elfs);
	process_table_free(pipeline->processes);
	binder_done(&pipeline->binder);
	free(pipeline);
}

struct pipeline_stats pipeline_get_stats(struct pipeline *pipeline)
{
	return (struct pipeline_stats){
		.nr_samples = pipeline->nr_samples,
		.nr_samples_lost = __atomic_load_n(&pipeline->nr_samples_lost, __ATOMIC_RELAXED),
		.nr_windows = pipeline->nr_windows,
		.nr_frames_named = __atomic_load_n(&pipeline->namer.nr_named, __ATOMIC_RELAXED),
		.nr_kallsyms_bad_lines = pipeline->kallsyms
						 ? kallsyms_nr_bad_lines(pipeline->kallsyms)
						 : 0,
		.nr_frames_unnamed = __atomic_load_n(&pipeline->namer.nr_unnamed, __ATOMIC_RELAXED),
		.processes = process_table_get_stats(pipeline->processes),
		.elfs = elf_cache_get_stats(pipeline->elfs),
		.identity = identity_get_stats(pipeline->identity),
	};
}
