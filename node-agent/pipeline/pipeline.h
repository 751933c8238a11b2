/* SPDX-License-Identifier: Apache-2.0 */
/* From samples to finished profiles, one a second.
 *
 *	reader thread                      symbolizer thread
 *	sample ─▶ process, mapping,   ──▶  wait for pod names (at most IDENTITY_GRACE_NS)
 *	          location, window  queue  names, resources, seal ──▶ sink
 *
 * The reader never waits for a file to be parsed or a kubelet to answer. When the
 * symbolizer falls more than SYMBOLIZER_MAX_WINDOWS behind (symbolizer_thread.h), whole
 * windows are dropped and counted. */
#ifndef PIPELINE_PIPELINE_H
#define PIPELINE_PIPELINE_H

#include "base/cleanup.h"
#include "base/err.h"
#include "bpf/shared/events.h"
#include "pipeline/cgroup_filter.h"
#include "pipeline/identity.h"
#include "process/proc_event.h"
#include "process/process_table.h"
#include "profile/profile.h"
#include "runtime/client/runtimes.h"
#include "symbol/elf_cache.h"
#include "symbol/jit/jit_cache.h"
#include "unwind/unwind_tables.h"

#include <stddef.h>
#include <stdint.h>

struct pipeline;

struct pipeline_opts {
	int proc_fd; /* borrowed */
	size_t symbol_memory_max;
	struct memory_pool *pool; /* borrowed; for names and for reading large files; NULL: none */
	uint64_t names_wait_ns; /* wait for a window's names, after its end */
	uint64_t slow_names_wait_ns; /* the same for files that take long, see symbolizer.h */
	/* A window that lacks names after these times is held until its names are known, but not
	 * longer than this time after pipeline_close(). Profiles may then come out of order.
	 * 0: no window is held. */
	uint64_t last_names_wait_ns;
	const char *program; /* borrowed; of the symbol worker, see worker/worker_client.h */
	bool wants_lines; /* inlined functions and source lines */
	const char *cache_dir; /* borrowed for the call; this and the next: elf_cache.h */
	unsigned int lines_permille;
	enum demangle_style demangle;
	const char *debug_dir; /* borrowed; of separate debug files, absolute */
	const struct debuginfod_opts *debuginfod; /* borrowed for the call; NULL: not used */
	uint32_t runtime_kinds; /* frames by name: 1 << enum runtime_kind (bpf/shared/runtime.h) */
	size_t max_processes;
	struct unwind_tables *tables; /* borrowed */
	struct sample_source *source; /* borrowed; gets the verdicts on cgroups */
	const struct selection *selection; /* borrowed until pipeline_select() */
	uint64_t period_ns; /* CPU time that a sample stands for, until pipeline_set_period() */
	/* Of the samples of pipeline_add_sample(), and what each of them counts; 0: itself. */
	enum profile_type sample_type;
	uint64_t sample_value;
	bool cpu; /* profiles of CPU time are wanted */
	bool interrupts; /* and of time in interrupts */
	bool off_cpu; /* there will be blocks */
	bool wall; /* and samples of CPU time in the same profiles */
	bool locks; /* there will be waits for locks */
	bool counts_contentions; /* not only the time of these */
	bool counts_alloc_bytes, counts_alloc_objects; /* of what was allocated, these are wanted */
	bool counts_bytes_in_use, counts_objects_in_use; /* and these of what is in use */
	uint64_t in_use_report_ns; /* between two reports of that; 0: one, at the end */
	uint32_t hidden_reasons; /* 1 << enum wait_reason: blocks that do not count */
	uint64_t min_block_ns; /* shorter ones do not */
	bool shows_rivals; /* who had the CPU for which a thread waited */
	bool keeps_times; /* keep the time of each sample, so that samples are not merged */
	struct identity_opts identity;
	/* Takes each finished profile, on the symbolizer thread; the reference stays the
	 * pipeline's. */
	void (*sink)(struct profile *profile, void *data);
	void *sink_data;
};

struct pipeline_stats {
	uint64_t nr_samples; /* handed in; of blocks their parts in each window */
	uint64_t nr_samples_lost; /* windows dropped or full, no memory */
	uint64_t nr_blocks_lost; /* no memory, or their ends were lost */
	uint64_t nr_other_waits; /* left out of profiles of locks (lock_samples.h) */
	uint64_t nr_allocations_lost; /* in use, but not counted: no memory or room */
	uint64_t nr_allocations_in_use; /* that are known now */
	uint64_t nr_in_use_bytes; /* of memory for these */
	uint64_t nr_windows; /* handed to the symbolizer */
	/* Windows that delay no others any more; the symbolizer may still hold some. */
	uint64_t nr_windows_finished;
	uint64_t nr_frames_named;
	uint64_t nr_frames_unnamed;
	struct process_table_stats processes;
	struct elf_cache_stats elfs;
	struct jit_stats jits;
	struct runtimes_stats runtimes;
	struct identity_stats identity;
	struct cgroup_filter_stats filter;
};

/* Reads kallsyms and starts the symbolizer. Errors: -ENOMEM, -EAGAIN. */
int pipeline_start(const struct pipeline_opts *opts, struct pipeline **ret_pipeline) must_check;

/* The reader's calls, all with CLOCK_MONOTONIC times. Events and samples come in time order. */
void pipeline_lose_events(struct pipeline *pipeline,
			  uint64_t time_ns); /* some before this are missing */
void pipeline_add_event(struct pipeline *pipeline, const struct proc_event *event);
void pipeline_add_sample(struct pipeline *pipeline, const struct sample_event *sample);
/* The same for samples of CPU time in profiles that have them beside waits. */
void pipeline_add_running(struct pipeline *pipeline, const struct sample_event *event);
/* The same for waits for locks of the kernel (bpf/shared/lock.h). */
void pipeline_add_lock(struct pipeline *pipeline, const struct sample_event *event);
/* The same for a record RECORD_GROWTH. The kind of memory is on top of its stack. */
void pipeline_add_growth(struct pipeline *pipeline, const struct sample_event *event);
/* The same for the records RECORD_ALLOC and RECORD_FREE. */
void pipeline_add_alloc(struct pipeline *pipeline, const struct sample_event *event);
/* The same for a record RECORD_INTERRUPT, if interrupts are wanted. It is CPU time as well. */
void pipeline_add_interrupt(struct pipeline *pipeline, const struct sample_event *event);
/* Time in interrupts counts from now on. */
void pipeline_start_interrupts(struct pipeline *pipeline, uint64_t now_ns);
/* The same for the records of blocks (bpf/shared/off_cpu.h). Blocks may begin before
 * pipeline_start_blocks(). From then on their time is counted, and what was counted before and is
 * in no finished profile is forgotten. */
void pipeline_start_blocks(struct pipeline *pipeline, uint64_t now_ns);
void pipeline_begin_block(struct pipeline *pipeline, const struct sample_event *event);
void pipeline_end_block(struct pipeline *pipeline, const struct sample_event *event);
void pipeline_add_block(struct pipeline *pipeline, const struct sample_event *event);
void pipeline_add_queued(struct pipeline *pipeline, const struct sample_event *event);
/* The same of a record RECORD_TIMES (bpf/shared/wall.h). */
void pipeline_add_times(struct pipeline *pipeline, const struct sample_event *event);
void pipeline_add_waker(struct pipeline *pipeline, const struct sample_event *event);
/* Keeps a copy of a code object for samples that come after it. */
void pipeline_add_copy(struct pipeline *pipeline, const struct code_copy *copy);
/* Learns of a busy process from a sample that is not put into a profile. */
void pipeline_learn_process(struct pipeline *pipeline, const struct sample_event *sample);
/* The unwinder does not know this process, or not the code that a stack led to, which is the last
 * of the event's frames, else `ip`: the process is looked up and bound at once. */
void pipeline_meet_process(struct pipeline *pipeline, const struct sample_event *event,
			   uint64_t ip);
void pipeline_follow_cgroup(struct pipeline *pipeline, const struct cgroup_event *event);

/* Samples of CPU time that are taken from a time on (CLOCK_MONOTONIC) stand for another period. It
 * is not before that of the last call. */
void pipeline_set_period(struct pipeline *pipeline, uint64_t from_ns, uint64_t period_ns);

/* Replaces the selection; the new one is borrowed until the next one or the end. */
void pipeline_select(struct pipeline *pipeline, const struct selection *selection);
void pipeline_tick(struct pipeline *pipeline, uint64_t now_ns);

/* Returns when the next tick is needed, if it is needed soon; else UINT64_MAX. */
uint64_t pipeline_next_tick_ns(const struct pipeline *pipeline, uint64_t now_ns);

/* Ends the input: the symbolizer ends after the last window. */
void pipeline_close(struct pipeline *pipeline);

/* From a time on (CLOCK_MONOTONIC) the symbolizer waits for no names, of pods or functions, and
 * finishes windows with the names that it has. */
void pipeline_give_up(struct pipeline *pipeline, uint64_t when_ns);

/* After pipeline_close(): waits for the symbolizer up to a time. Returns whether the last profiles
 * have reached the sink; true when there is no symbolizer thread. Stats stay valid. */
bool pipeline_wait(struct pipeline *pipeline, uint64_t until_ns);

/* Gives up a symbolizer thread that does not end: the sink is not called any more, and the samples
 * that it would have got are lost. Returns their number. Waits while the sink is being called. */
uint64_t pipeline_abandon(struct pipeline *pipeline);

/* Finishes what was handed in, without a limit of time. NULL is fine. */
void pipeline_free(struct pipeline *pipeline);
DEFINE_FREEP(struct pipeline, pipeline_free)

/* For the reader. */
struct pipeline_stats pipeline_get_stats(struct pipeline *pipeline);

#endif
