/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/pipeline.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/minmax.h"
#include "capture/sample_source.h"
#include "pipeline/binder.h"
#include "pipeline/blocks.h"
#include "pipeline/locate.h"
#include "pipeline/sampled_process.h"
#include "pipeline/schedule_frames.h"
#include "pipeline/symbolizer.h"
#include "pipeline/symbolizer_thread.h"
#include "pipeline/wait_reasons.h"
#include "pipeline/wakers.h"
#include "pipeline/window_series.h"
#include "process/process_set.h"
#include "symbol/kernel/kernel_symbols.h"

#include <fcntl.h>
#include <stdlib.h>

#define SWEEP_INTERVAL_NS NSEC_PER_SEC
#define BLOCKS_LATE_NS (10 * NSEC_PER_MSEC) /* their ends may be on their way */
#define WAKER_MAX_NS (10 * NSEC_PER_SEC) /* from the wake-up to the end of the block */

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
	struct window_series cpu, off_cpu;
	struct blocks blocks; /* that have not ended */
	struct blocks wakers; /* of blocks whose end was not told yet */
	struct kernel_ranges schedule_frames, wait_reasons, interrupts;
	uint64_t blocks_start_ns; /* from then on their time counts, CLOCK_MONOTONIC */
	uint64_t next_sweep_ns; /* of the process table */
	uint64_t started_ns;
	struct kernel_symbols *kernel; /* the symbolizer's */
	struct symbolizer_thread *symbolizer;
	uint64_t nr_samples;
	uint64_t nr_samples_lost; /* by the reader */
	uint64_t nr_blocks_lost;
	uint64_t nr_windows;
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
		.period_ns = opts->period_ns,
		.names_wait_ns = opts->names_wait_ns,
		.slow_names_wait_ns = opts->slow_names_wait_ns,
		.last_names_wait_ns = opts->last_names_wait_ns,
		.sink = opts->sink,
		.sink_data = opts->sink_data,
	};

	return symbolizer_thread_start(&symbolizer, &pipeline->symbolizer);
}

int pipeline_start(const struct pipeline_opts *opts, struct pipeline **ret_pipeline)
{
	_cleanup_(pipeline_freep) struct pipeline *pipeline = calloc(1, sizeof(*pipeline));

	if (!pipeline)
		return -ENOMEM;
	pipeline->opts = *opts;
	pipeline->host_root_fd = -EBADF;
	pipeline->off_cpu.type = PROFILE_OFF_CPU;
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
	if (r == 0 && opts->off_cpu) {
		schedule_frames_init(&pipeline->schedule_frames, pipeline->kernel);
		wait_reasons_init(&pipeline->wait_reasons, pipeline->kernel);
		wakers_init(&pipeline->interrupts, pipeline->kernel);
	}
	if (r == 0) {
		cgroup_filter_init(&pipeline->filter, opts->source, pipeline->identity,
				   opts->identity.pods, opts->selection);
		cgroup_filter_update(&pipeline->filter);
	}
	if (r == 0)
		r = start_symbolizer(pipeline);
	if (r == 0)
		*ret_pipeline = take_ptr(pipeline);
	return r;
}

static void close_window(struct pipeline *pipeline, struct window_series *series)
{
	struct window *window = take_ptr(series->window);

	if (!window)
		return;
	pipeline->nr_windows++;
	series->last_end_ns = window->end_ns;
	symbolizer_thread_push(pipeline->symbolizer, window);
}

/* Returns the window of a sample. A sample that is a little late goes into the present one. */
static struct window *window_at(struct pipeline *pipeline, uint64_t time_ns)
{
	struct window_series *series = &pipeline->cpu;

	if (series->window && time_ns >= series->window->end_ns)
		close_window(pipeline, series);
	if (!series->window && window_series_open(series, time_ns) < 0)
		return NULL;
	return series->window;
}

static int locate_woken(struct locator *locator, const struct sample_event *event,
			const struct block *waker, uint32_t *ret_stack)
{
	char name[WAKER_NAME_BYTES];

	wakers_name(waker->waker, waker->event, name);
	return locate_woken_stack(locator, event, waker->event, name, ret_stack);
}

/* Adds a sample. Of a block, `waker` is who ended it; NULL: not known. */
static int add_to_window(struct pipeline *pipeline, struct window *window,
			 const struct sample_event *event, const struct block *block,
			 const struct block *waker, uint64_t count)
{
	struct locator locator = {
		.processes = pipeline->processes,
		.elfs = pipeline->elfs,
		.jits = pipeline->jits,
		.runtimes = &pipeline->binder.runtimes,
		.window = window,
		.owner = event->cgroup_id,
	};
	struct profile_sample sample = { .cgroup_id = event->cgroup_id,
					 .time_ns = pipeline->opts.keeps_times ? event->time_ns : 0,
					 .pid = event->pid,
					 .tid = event->tid,
					 .cpu = event->kind == RECORD_TIMER ? event->cpu
									    : PROFILE_CPU_UNKNOWN,
					 .reason = block ? block->reason : REASON_NONE,
					 .count = count };

	int r = window_add_cgroup(window, event->cgroup_id);
	if (r < 0)
		return r;
	if (r > 0)
		identity_see(pipeline->identity, event->cgroup_id);
	r = waker ? locate_woken(&locator, event, waker, &sample.stack)
		  : locate_stack(&locator, event, &sample.stack);
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
	if (window && add_to_window(pipeline, window, event, NULL, NULL, 1) == 0) {
		window_count_time(window, event->time_ns);
		window->nr_samples++;
	} else {
		pipeline->nr_samples_lost++;
	}
	binder_see_sample(&pipeline->binder, event);
}

/* Adds the time of a block up to `until_ns` to the window. */
static void count_block(struct pipeline *pipeline, struct block *block, const struct block *waker,
			uint64_t until_ns)
{
	struct window *window = pipeline->off_cpu.window;
	uint64_t weight_ns;

	block->counted_ns = max_u64(block->counted_ns, pipeline->blocks_start_ns);
	weight_ns = block_weight(block, until_ns);
	block->counted_ns = max_u64(block->counted_ns, until_ns);
	if (weight_ns == 0 || pipeline->opts.hidden_reasons & 1U << block->reason)
		return;
	block->event->time_ns = until_ns;
	pipeline->nr_samples++;
	if (add_to_window(pipeline, window, block->event, block, waker, weight_ns) == 0)
		window->nr_samples++;
	else
		pipeline->nr_samples_lost++;
}

/* Returns whether the source has not known a block for two windows. So its end was lost, and not
 * only on its way when the source was asked. */
static bool is_over(const struct pipeline *pipeline, struct block *block)
{
	bool was_doubted = block->is_doubted;

	block->is_doubted = !sample_source_has_block(pipeline->opts.source, block->event->tid,
						     block->event->sequence);
	return was_doubted && block->is_doubted;
}

/* Returns whether the block has become long enough to count. */
static bool is_long(const struct pipeline *pipeline, const struct block *block, uint64_t until_ns)
{
	return until_ns >= block->begin_ns + pipeline->opts.min_block_ns;
}

/* Counts the blocks that go on at the end of the window, all of them if it is the last one. */
static void count_blocks(struct pipeline *pipeline, bool is_last)
{
	uint64_t end_ns = pipeline->off_cpu.window->end_ns;

	for (size_t i = 0; i < pipeline->blocks.nr;) {
		struct block *block = &pipeline->blocks.rows[i];

		if (is_over(pipeline, block)) {
			pipeline->nr_blocks_lost++;
			blocks_remove(&pipeline->blocks, block);
			continue;
		}
		if ((is_last || block_is_due(block, end_ns)) && is_long(pipeline, block, end_ns))
			count_block(pipeline, block, NULL, end_ns);
		i++;
	}
}

/* Forgets those who ended blocks whose end is not told any more. */
static void forget_wakers(struct pipeline *pipeline, uint64_t now_ns)
{
	for (size_t i = 0; i < pipeline->wakers.nr;)
		if (pipeline->wakers.rows[i].begin_ns + WAKER_MAX_NS < now_ns)
			blocks_remove(&pipeline->wakers, &pipeline->wakers.rows[i]);
		else
			i++;
}

/* Closes the windows that are over at a time. Each second has one, as some thread always waits. */
static void advance_blocks(struct pipeline *pipeline, uint64_t time_ns)
{
	struct window_series *series = &pipeline->off_cpu;

	while (series->window && time_ns >= series->window->end_ns) {
		count_blocks(pipeline, false);
		forget_wakers(pipeline, series->window->end_ns);
		close_window(pipeline, series);
		if (window_series_open(series, series->last_end_ns) < 0)
			return;
	}
}

void pipeline_start_blocks(struct pipeline *pipeline, uint64_t now_ns)
{
	struct window_series *series = &pipeline->off_cpu;

	window_free(take_ptr(series->window));
	series->last_end_ns = 0;
	pipeline->blocks_start_ns = now_ns;
	if (window_series_open(series, now_ns) < 0)
		pipeline->nr_blocks_lost += pipeline->blocks.nr;
}

void pipeline_begin_block(struct pipeline *pipeline, const struct sample_event *event)
{
	size_t nr_skipped = schedule_frames_count(&pipeline->schedule_frames, event->frames,
						  event->nr_kernel);

	enum wait_reason reason = wait_reasons_of(&pipeline->wait_reasons, event, nr_skipped);

	advance_blocks(pipeline, event->time_ns);
	binder_check_sample(&pipeline->binder, event);
	if (blocks_begin(&pipeline->blocks, event, nr_skipped, reason) < 0)
		pipeline->nr_blocks_lost++;
	binder_see_sample(&pipeline->binder, event);
}

/* Counts the last part of a block, which a record ended. At its end the thread waited for a CPU
 * only, if it is known when it was woken. */
static void finish_block(struct pipeline *pipeline, struct block *block,
			 const struct sample_event *end)
{
	uint64_t runnable_ns = min_u64(end->runnable_us * NSEC_PER_USEC, end->time_ns);
	struct block *waker = blocks_find(&pipeline->wakers, end->tid, end->sequence);

	if (pipeline->off_cpu.window && is_long(pipeline, block, end->time_ns)) {
		count_block(pipeline, block, waker, end->time_ns - runnable_ns);
		block->reason = REASON_RUN_QUEUE;
		count_block(pipeline, block, waker, end->time_ns);
	}
	blocks_remove(&pipeline->blocks, block);
	if (waker)
		blocks_remove(&pipeline->wakers, waker);
}

void pipeline_add_waker(struct pipeline *pipeline, const struct sample_event *event)
{
	size_t nr_skipped = schedule_frames_count_waking(&pipeline->schedule_frames, event->frames,
							 event->nr_kernel);

	advance_blocks(pipeline, event->time_ns);
	binder_check_sample(&pipeline->binder, event);
	if (blocks_begin(&pipeline->wakers, event, nr_skipped, REASON_NONE) == 0) {
		struct block *waker = blocks_find(&pipeline->wakers, event->woken_tid,
						  event->sequence);

		waker->waker = wakers_cut(&pipeline->interrupts, waker->event);
	} else {
		pipeline->nr_blocks_lost++;
	}
	binder_see_sample(&pipeline->binder, event);
}

void pipeline_end_block(struct pipeline *pipeline, const struct sample_event *event)
{
	advance_blocks(pipeline, event->time_ns);

	struct block *block = blocks_find(&pipeline->blocks, event->tid, event->sequence);
	if (!block)
		return;
	finish_block(pipeline, block, event);
}

void pipeline_add_block(struct pipeline *pipeline, const struct sample_event *event)
{
	pipeline_begin_block(pipeline, event);

	struct block *block = blocks_find(&pipeline->blocks, event->tid, event->sequence);
	if (!block)
		return;
	finish_block(pipeline, block, event);
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
	if (pipeline->cpu.window) /* mappings may be read again now */
		window_forget_locations(pipeline->cpu.window);
	if (pipeline->off_cpu.window)
		window_forget_locations(pipeline->off_cpu.window);
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

void pipeline_tick(struct pipeline *pipeline, uint64_t now_ns)
{
	binder_flush(&pipeline->binder, now_ns);
	if (pipeline->runtimes)
		runtimes_flush(pipeline->runtimes);
	cgroup_filter_update(&pipeline->filter);
	if (cgroup_filter_is_waiting(&pipeline->filter, now_ns))
		identity_ask_for_undecided(pipeline->identity);
	if (pipeline->cpu.window && now_ns >= pipeline->cpu.window->end_ns)
		close_window(pipeline, &pipeline->cpu);
	advance_blocks(pipeline, now_ns - BLOCKS_LATE_NS);
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
	window_series_end(&pipeline->cpu, now_ns);
	close_window(pipeline, &pipeline->cpu);
	advance_blocks(pipeline, now_ns);
	window_series_end(&pipeline->off_cpu, now_ns);
	if (pipeline->off_cpu.window)
		count_blocks(pipeline, true);
	close_window(pipeline, &pipeline->off_cpu);
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
	window_free(pipeline->cpu.window);
	window_free(pipeline->off_cpu.window);
	blocks_done(&pipeline->blocks);
	blocks_done(&pipeline->wakers);
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
		.nr_samples = pipeline->nr_samples,
		.nr_samples_lost = pipeline->nr_samples_lost + symbolizer.nr_samples_lost,
		.nr_blocks_lost = pipeline->nr_blocks_lost,
		.nr_windows = pipeline->nr_windows,
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
