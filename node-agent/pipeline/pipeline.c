/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/pipeline.h"

#include "base/clock.h"
#include "base/log.h"
#include "capture/sample_source.h"
#include "pipeline/allocations.h"
#include "pipeline/binder.h"
#include "pipeline/grown_memory.h"
#include "pipeline/interrupts.h"
#include "pipeline/lock_waits.h"
#include "pipeline/symbolizer.h"
#include "pipeline/symbolizer_thread.h"
#include "pipeline/waits.h"
#include "pipeline/window_filler.h"
#include "pipeline/window_series.h"
#include "process/process_set.h"
#include "symbol/kernel/kernel_symbols.h"

#include <fcntl.h>
#include <stdlib.h>

#define SWEEP_INTERVAL_NS NSEC_PER_SEC
#define LOCKS_LATE_NS (20 * NSEC_PER_MSEC) /* more than waits_tick() comes late */

/* JIT compilers' names may take 1/JIT_SHARE of the memory for all names. */
#define JIT_SHARE 4

/* The limit of the names of frames of language runtimes. */
#define RUNTIME_SHARE 4

struct pipeline {
	struct pipeline_opts opts;
	struct process_table *processes; /* this and the next: the reader's */
	struct binder binder;
	struct elf_cache *elfs; /* this and the next: shared */
	struct jit_cache *jits;
	struct runtimes *runtimes; /* shared; NULL: none are wanted */
	struct debuginfod *debuginfod; /* the symbolizer's; NULL: nobody is asked */
	int host_root_fd;
	struct identity *identity; /* shared */
	struct cgroup_filter filter; /* the reader's */
	struct window_filler filler;
	struct window_series sampled[PROFILE_NR_TYPES]; /* of all types but that of waits */
	struct waits waits;
	struct lock_waits lock_waits;
	struct allocations allocations;
	struct interrupts interrupts;
	uint64_t next_sweep_ns; /* of the process table */
	uint64_t started_ns;
	struct kernel_symbols *kernel; /* the symbolizer's */
	struct symbolizer_thread *symbolizer;
};

/* Containers that are unknown now are looked up when they are sampled, if they are still there
 * then. */
static void take_inventory(struct pipeline *pipeline)
{
	int r = identity_learn_all(pipeline->identity);

	if (r < 0)
		log_debug_errno(r, "cannot list all cgroups");
}

/* Opens the host's root directory, which differs from ours in a pod. If that of process 1 cannot be
 * opened, we may still be on the host. Without a root directory no separate debug file is found,
 * but the pipeline starts. */
static int open_host_root(const struct pipeline *pipeline)
{
	int fd = openat(pipeline->opts.proc_fd, "1/root", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 ? fd : open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int start_runtimes(struct pipeline *pipeline, size_t max_bytes)
{
	const struct runtimes_opts opts = {
		.proc_fd = pipeline->opts.proc_fd,
		.kinds = pipeline->opts.runtime_kinds,
		.max_bytes = max_bytes,
		.worker_program = pipeline->opts.program,
	};

	if (opts.kinds == 0)
		return 0;
	int r = runtimes_new(&opts, &pipeline->runtimes);
	if (r == 0)
		binder_use_runtimes(&pipeline->binder, pipeline->runtimes);
	return r;
}

static int open_symbols(struct pipeline *pipeline)
{
	const struct pipeline_opts *opts = &pipeline->opts;
	size_t jit_bytes = opts->symbol_memory_max / JIT_SHARE;
	size_t runtime_bytes = opts->runtime_kinds ? opts->symbol_memory_max / RUNTIME_SHARE : 0;
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
	if (r == 0)
		r = start_runtimes(pipeline, runtime_bytes);
	if (r < 0)
		return r;
	const struct elf_cache_opts elfs = {
		.proc_fd = opts->proc_fd,
		.max_bytes = opts->symbol_memory_max - jit_bytes - runtime_bytes,
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

static int start_symbolizer(struct pipeline *pipeline)
{
	const struct pipeline_opts *opts = &pipeline->opts;
	const struct symbolizer_thread_opts symbolizer = {
		.identity = pipeline->identity,
		.elfs = pipeline->elfs,
		.jits = pipeline->jits,
		.runtimes = pipeline->runtimes,
		.kernel = pipeline->kernel,
		.program = opts->program,
		.started_ns = pipeline->started_ns,
		.names_wait_ns = opts->names_wait_ns,
		.slow_names_wait_ns = opts->slow_names_wait_ns,
		.last_names_wait_ns = opts->last_names_wait_ns,
		.sink = opts->sink,
		.sink_data = opts->sink_data,
	};

	return symbolizer_thread_start(&symbolizer, &pipeline->symbolizer);
}

static void init_filler(struct pipeline *pipeline)
{
	pipeline->filler = (struct window_filler){
		.processes = pipeline->processes,
		.elfs = pipeline->elfs,
		.jits = pipeline->jits,
		.runtimes = &pipeline->binder.runtimes,
		.identity = pipeline->identity,
		.symbolizer = pipeline->symbolizer,
		.keeps_times = pipeline->opts.keeps_times,
	};
}

static void init_series(struct pipeline *pipeline)
{
	for (size_t type = 0; type < PROFILE_NR_TYPES; type++)
		pipeline->sampled[type].type = (enum profile_type)type;
	pipeline->sampled[PROFILE_CPU].period_ns = pipeline->opts.period_ns;
	pipeline->waits = (struct waits){
		.source = pipeline->opts.source,
		.filler = &pipeline->filler,
		.hidden_reasons = pipeline->opts.hidden_reasons,
		.min_block_ns = pipeline->opts.min_block_ns,
		.period_ns = pipeline->opts.period_ns,
		.shows_rivals = pipeline->opts.shows_rivals,
		.series.type = pipeline->opts.wall ? PROFILE_WALL : PROFILE_OFF_CPU,
	};
	if (pipeline->opts.locks) {
		pipeline->waits.locks = &pipeline->lock_waits;
		pipeline->waits.are_only_locks = !pipeline->opts.off_cpu;
	}
	if (pipeline->opts.off_cpu || pipeline->opts.locks)
		waits_learn_kernel(&pipeline->waits, pipeline->kernel);
}

static void init_allocations(struct pipeline *pipeline)
{
	const struct pipeline_opts *opts = &pipeline->opts;
	struct window_series *series = pipeline->sampled;

	pipeline->allocations = (struct allocations){
		.filler = &pipeline->filler,
		.bytes = opts->counts_alloc_bytes ? &series[PROFILE_ALLOC_SPACE] : NULL,
		.objects = opts->counts_alloc_objects ? &series[PROFILE_ALLOC_OBJECTS] : NULL,
		.bytes_in_use = opts->counts_bytes_in_use ? &series[PROFILE_INUSE_SPACE] : NULL,
		.objects_in_use = opts->counts_objects_in_use ? &series[PROFILE_INUSE_OBJECTS]
							      : NULL,
		.report_ns = opts->in_use_report_ns,
		.proc_fd = opts->proc_fd,
	};
}

static void init_locks(struct pipeline *pipeline)
{
	struct lock_waits *waits = &pipeline->lock_waits;

	waits->filler = &pipeline->filler;
	waits->delay = &pipeline->sampled[PROFILE_LOCK_DELAY];
	if (pipeline->opts.counts_contentions)
		waits->contentions = &pipeline->sampled[PROFILE_LOCK_CONTENTIONS];
	lock_places_init(&waits->places, pipeline->opts.proc_fd);
	if (pipeline->opts.locks)
		lock_waits_learn_kernel(waits, pipeline->kernel, pipeline->opts.proc_fd);
}

static void init_interrupts(struct pipeline *pipeline)
{
	if (!pipeline->opts.interrupts)
		return;
	pipeline->interrupts.source = pipeline->opts.source;
	pipeline->interrupts.filler = &pipeline->filler;
	pipeline->interrupts.series = &pipeline->sampled[PROFILE_IRQ];
	if (pipeline->opts.cpu)
		pipeline->interrupts.cpu_series = &pipeline->sampled[PROFILE_CPU];
	interrupts_learn_kernel(&pipeline->interrupts, pipeline->kernel);
}

int pipeline_start(const struct pipeline_opts *opts, struct pipeline **ret_pipeline)
{
	_cleanup_(pipeline_freep) struct pipeline *pipeline = calloc(1, sizeof(*pipeline));

	if (!pipeline)
		return -ENOMEM;
	pipeline->opts = *opts;
	pipeline->host_root_fd = -EBADF;
	pipeline->started_ns = clock_mono_ns();
	int r = process_table_new(opts->proc_fd, opts->max_processes, &pipeline->processes);
	if (r == 0)
		binder_init(&pipeline->binder, opts->proc_fd, pipeline->processes, opts->tables);
	if (r == 0)
		r = open_symbols(pipeline);
	if (r == 0)
		r = identity_new(&opts->identity, &pipeline->identity);
	if (r == 0)
		r = symbolizer_load_kernel(opts->proc_fd, &pipeline->kernel);
	if (r == 0)
		take_inventory(pipeline);
	if (r == 0) {
		init_series(pipeline);
		init_locks(pipeline);
		init_allocations(pipeline);
		init_interrupts(pipeline);
	}
	if (r == 0) {
		cgroup_filter_init(&pipeline->filter, opts->source, pipeline->identity,
				   opts->identity.pods, opts->selection);
		cgroup_filter_update(&pipeline->filter);
	}
	if (r == 0)
		r = start_symbolizer(pipeline);
	if (r == 0)
		init_filler(pipeline);
	if (r == 0)
		*ret_pipeline = take_ptr(pipeline);
	return r;
}

static void add(struct pipeline *pipeline, enum profile_type type,
		const struct window_sample *sample)
{
	const struct sample_event *event = sample->event;
	struct window *window = window_filler_window(&pipeline->filler, &pipeline->sampled[type],
						     event->time_ns);

	binder_check_sample(&pipeline->binder, event);
	if (window_filler_add(&pipeline->filler, window, sample) == 0)
		window_count_time(window, event->time_ns);
	binder_see_sample(&pipeline->binder, event);
}

void pipeline_add_growth(struct pipeline *pipeline, const struct sample_event *event)
{
	const struct window_sample sample = {
		.event = event,
		.cause = grown_memory_name(event->grown_memory),
		.count = event->grown_bytes,
	};

	add(pipeline, PROFILE_RSS_GROWTH, &sample);
}

void pipeline_add_alloc(struct pipeline *pipeline, const struct sample_event *event)
{
	if (event->kind == RECORD_FREE) {
		allocations_free(&pipeline->allocations, event);
		return;
	}
	binder_check_sample(&pipeline->binder, event);
	allocations_add(&pipeline->allocations, event);
	binder_see_sample(&pipeline->binder, event);
}

void pipeline_add_sample(struct pipeline *pipeline, const struct sample_event *event)
{
	const struct window_sample sample = {
		.event = event,
		.count = pipeline->opts.sample_value ? pipeline->opts.sample_value : 1,
	};

	if (interrupts_take_sample(&pipeline->interrupts, event))
		return;
	add(pipeline, pipeline->opts.sample_type, &sample);
}

void pipeline_add_running(struct pipeline *pipeline, const struct sample_event *event)
{
	binder_check_sample(&pipeline->binder, event);
	waits_add_running(&pipeline->waits, event);
	binder_see_sample(&pipeline->binder, event);
}

void pipeline_add_lock(struct pipeline *pipeline, const struct sample_event *event)
{
	binder_check_sample(&pipeline->binder, event);
	lock_waits_add(&pipeline->lock_waits, event);
	binder_see_sample(&pipeline->binder, event);
}

void pipeline_add_interrupt(struct pipeline *pipeline, const struct sample_event *event)
{
	if (pipeline->interrupts.source)
		interrupts_add(&pipeline->interrupts, event);
}

void pipeline_start_interrupts(struct pipeline *pipeline, uint64_t now_ns)
{
	interrupts_start(&pipeline->interrupts, now_ns);
}

void pipeline_start_blocks(struct pipeline *pipeline, uint64_t now_ns)
{
	waits_start(&pipeline->waits, now_ns);
}

void pipeline_begin_block(struct pipeline *pipeline, const struct sample_event *event)
{
	binder_check_sample(&pipeline->binder, event);
	waits_begin(&pipeline->waits, event);
	binder_see_sample(&pipeline->binder, event);
}

void pipeline_add_waker(struct pipeline *pipeline, const struct sample_event *event)
{
	binder_check_sample(&pipeline->binder, event);
	waits_add_waker(&pipeline->waits, event);
	binder_see_sample(&pipeline->binder, event);
}

void pipeline_end_block(struct pipeline *pipeline, const struct sample_event *event)
{
	waits_end(&pipeline->waits, event);
}

void pipeline_add_block(struct pipeline *pipeline, const struct sample_event *event)
{
	binder_check_sample(&pipeline->binder, event);
	waits_begin(&pipeline->waits, event);
	waits_end(&pipeline->waits, event);
	binder_see_sample(&pipeline->binder, event);
}

void pipeline_add_queued(struct pipeline *pipeline, const struct sample_event *event)
{
	waits_add_queued(&pipeline->waits, event);
}

void pipeline_add_times(struct pipeline *pipeline, const struct sample_event *event)
{
	waits_add_times(&pipeline->waits, event);
}

void pipeline_add_copy(struct pipeline *pipeline, const struct code_copy *copy)
{
	if (pipeline->runtimes)
		runtimes_add_copy(pipeline->runtimes, copy, clock_mono_ns());
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
	for (size_t type = 0; type < PROFILE_NR_TYPES; type++) /* mappings may be read again now */
		if (pipeline->sampled[type].window)
			window_forget_locations(pipeline->sampled[type].window);
	if (pipeline->waits.series.window)
		window_forget_locations(pipeline->waits.series.window);
}

void pipeline_add_event(struct pipeline *pipeline, const struct proc_event *event)
{
	if (event->kind == PROC_KERNEL_CODE)
		kernel_symbols_outdate(pipeline->kernel, event->time_ns);
	allocations_follow(&pipeline->allocations, event);
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

void pipeline_set_period(struct pipeline *pipeline, uint64_t from_ns, uint64_t period_ns)
{
	window_series_set_period(&pipeline->sampled[PROFILE_CPU], from_ns, period_ns);
}

/* Closes the windows that are over. Windows of locks are closed a little later, because the windows
 * of waits add samples to them when they are closed. */
static void close_windows(struct pipeline *pipeline, uint64_t now_ns)
{
	for (size_t type = 0; type < PROFILE_NR_TYPES; type++) {
		struct window_series *series = &pipeline->sampled[type];
		bool is_of_locks = type == PROFILE_LOCK_DELAY || type == PROFILE_LOCK_CONTENTIONS;
		uint64_t late_ns = is_of_locks ? LOCKS_LATE_NS : 0;

		if (series->window && now_ns >= series->window->end_ns + late_ns)
			window_filler_close(&pipeline->filler, series);
	}
}

void pipeline_tick(struct pipeline *pipeline, uint64_t now_ns)
{
	binder_flush(&pipeline->binder, now_ns);
	if (pipeline->runtimes)
		runtimes_flush(pipeline->runtimes, now_ns);
	cgroup_filter_update(&pipeline->filter);
	if (cgroup_filter_is_waiting(&pipeline->filter, now_ns))
		identity_ask_for_undecided(pipeline->identity);
	waits_tick(&pipeline->waits, now_ns);
	interrupts_tick(&pipeline->interrupts, now_ns);
	allocations_tick(&pipeline->allocations, now_ns);
	close_windows(pipeline, now_ns);
	if (now_ns < pipeline->next_sweep_ns)
		return;
	pipeline->next_sweep_ns = now_ns + SWEEP_INTERVAL_NS;
	process_table_sweep(pipeline->processes, now_ns);
	identity_tidy(pipeline->identity, now_ns);
}

uint64_t pipeline_next_tick_ns(const struct pipeline *pipeline, uint64_t now_ns)
{
	return runtime_binder_next_ns(&pipeline->binder.runtimes, now_ns);
}

void pipeline_close(struct pipeline *pipeline)
{
	uint64_t now_ns = clock_mono_ns();

	if (!pipeline->symbolizer || !symbolizer_thread_is_running(pipeline->symbolizer))
		return;
	waits_close(&pipeline->waits, now_ns);
	allocations_close(&pipeline->allocations, now_ns);
	interrupts_close(&pipeline->interrupts, now_ns);
	for (size_t type = 0; type < PROFILE_NR_TYPES; type++) {
		window_series_end(&pipeline->sampled[type], now_ns);
		window_filler_close(&pipeline->filler, &pipeline->sampled[type]);
	}
	symbolizer_thread_close(pipeline->symbolizer);
}

void pipeline_give_up(struct pipeline *pipeline, uint64_t when_ns)
{
	symbolizer_thread_give_up(pipeline->symbolizer, when_ns);
}

bool pipeline_wait(struct pipeline *pipeline, uint64_t until_ns)
{
	return symbolizer_thread_wait(pipeline->symbolizer, until_ns);
}

uint64_t pipeline_abandon(struct pipeline *pipeline)
{
	return symbolizer_thread_abandon(pipeline->symbolizer);
}

void pipeline_free(struct pipeline *pipeline)
{
	if (!pipeline)
		return;
	pipeline_close(pipeline);
	symbolizer_thread_free(pipeline->symbolizer);
	for (size_t type = 0; type < PROFILE_NR_TYPES; type++)
		window_free(pipeline->sampled[type].window);
	waits_done(&pipeline->waits);
	lock_waits_done(&pipeline->lock_waits);
	allocations_done(&pipeline->allocations);
	interrupts_done(&pipeline->interrupts);
	kernel_symbols_free(pipeline->kernel);
	identity_free(pipeline->identity);
	elf_cache_free(pipeline->elfs);
	jit_cache_free(pipeline->jits);
	debuginfod_free(pipeline->debuginfod);
	cleanup_closep(&pipeline->host_root_fd);
	process_table_free(pipeline->processes);
	binder_done(&pipeline->binder);
	runtimes_free(pipeline->runtimes);
	free(pipeline);
}

struct pipeline_stats pipeline_get_stats(struct pipeline *pipeline)
{
	const struct symbolizer_thread_stats symbolizer = symbolizer_thread_get_stats(
		pipeline->symbolizer);

	struct pipeline_stats stats = {
		.nr_samples = pipeline->filler.nr_samples,
		.nr_samples_lost = pipeline->filler.nr_samples_lost + symbolizer.nr_samples_lost,
		.nr_blocks_lost = pipeline->waits.nr_blocks_lost,
		.nr_other_waits = symbolizer.nr_other_waits,
		.nr_allocations_lost = pipeline->allocations.nr_lost,
		.nr_allocations_in_use = pipeline->allocations.live.nr_live,
		.nr_in_use_bytes = pipeline->allocations.live.nr_memory_bytes,
		.nr_windows = pipeline->filler.nr_windows,
		.nr_windows_finished = symbolizer.nr_windows_finished,
		.nr_frames_named = symbolizer.nr_frames_named,
		.nr_frames_unnamed = symbolizer.nr_frames_unnamed,
		.processes = process_table_get_stats(pipeline->processes),
		.elfs = elf_cache_get_stats(pipeline->elfs),
		.jits = jit_cache_get_stats(pipeline->jits),
		.identity = identity_get_stats(pipeline->identity),
		.filter = pipeline->filter.stats,
	};

	if (pipeline->runtimes)
		stats.runtimes = runtimes_get_stats(pipeline->runtimes);
	return stats;
}
