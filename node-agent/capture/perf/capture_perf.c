/* SPDX-License-Identifier: Apache-2.0 */
/* Samples without BPF. On each CPU a cpu-clock event writes, for each sample, the kernel's call
 * chain, the user registers and a copy of the top of the user stack into a ring. Another event
 * writes forks, execs, names and exits, as they happen, into a ring of its own, so that a flood
 * of them does not displace samples. All rings are read in the order of time, so that a sample
 * meets its task as it was:
 *
 *	rings of CPU 0 ─┐
 *	rings of CPU 1 ─┼▶ ring_merge ─▶ record ─┬▶ task ─▶ task_table, perf_targets
 *	      …        ─┘                        └▶ sample ─▶ wanted? ─▶ whose? ─▶ unwind ─▶ handle
 *
 * The kernel copies before anything is filtered, except for idle CPUs; unwanted samples are
 * dropped before they are unwound. */
#include "capture/perf/capture_perf.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "capture/perf/cpu_rings.h"
#include "capture/perf/perf_regs.h"
#include "capture/perf/perf_targets.h"
#include "capture/perf/task_table.h"
#include "capture/perf_events/perf_clock.h"
#include "capture/sample_source_ops.h"
#include "cgroup/cgroup_namespace.h"
#include "process/host_pids.h"
#include "unwind/local_unwinder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The longest time between a record's timestamp and its being written: a virtual CPU may be
 * descheduled in between. */
#define SETTLE_NS (20 * NSEC_PER_MSEC)

struct capture_perf {
	struct sample_source base;
	struct cpu_rings rings;
	struct perf_clock clock;
	struct cgroup_ids *cgroups; /* owned */
	struct cgroup_namespace cgroup_namespace;
	struct task_table *tasks; /* owned */
	struct perf_targets targets;
	bool include_idle;
	uint32_t cgroup_default; /* this and the next: see struct sample_source */
	uint64_t *cgroup_slots; /* owned */
	struct local_unwinder *unwinder; /* owned */
	const struct sample_consumer *consumer; /* during a poll */
	uint64_t nr_polled;
	uint64_t counts[STAT_NR]; /* by enum bpf_stat */
	uint64_t nr_bad_records;
	uint64_t nr_cgroups;
	uint64_t nr_throttled;
	struct sample_event event; /* the one that is being made */
};

static void count(struct capture_perf *capture, uint32_t stat)
{
	capture->counts[stat]++;
}

/* Returns whether samples of the task's cgroup are wanted; otherwise counts the sample. An assumed
 * cgroup is undecided, because the real one may be excluded. */
static bool cgroup_is_wanted(struct capture_perf *capture, const struct task *task)
{
	enum cgroup_verdict fallback = capture->cgroup_default;

	if (fallback == CGROUP_UNFILTERED)
		return true;
	enum cgroup_verdict verdict = cgroup_ids_verdict(capture->cgroups, task->cgroup,
							 &capture->base.verdicts, fallback);
	if (verdict == CGROUP_WANTED && task->cgroup_is_assumed)
		verdict = CGROUP_UNDECIDED;
	if (verdict == CGROUP_EXCLUDED)
		count(capture, STAT_EXCLUDED);
	else if (verdict != CGROUP_WANTED)
		count(capture, STAT_UNDECIDED);
	return verdict == CGROUP_WANTED;
}

static bool ids_are_wanted(struct capture_perf *capture, const struct perf_record *record)
{
	if (perf_targets_want_ids(&capture->targets, record->pid, record->tid))
		return true;
	count(capture, STAT_FILTERED);
	return false;
}

static bool names_are_wanted(struct capture_perf *capture)
{
	if (perf_targets_want_comms(&capture->targets, &capture->event))
		return true;
	count(capture, STAT_FILTERED);
	return false;
}

/* As describe_task(), for the idle thread of a CPU. It belongs to the kernel, is in the root
 * cgroup, and has no entry in /proc. */
static bool describe_idle(struct capture_perf *capture, const struct perf_record *record)
{
	struct sample_event *event = &capture->event;

	if (!capture->include_idle) {
		count(capture, STAT_IDLE);
		return false;
	}
	const struct task idle = { .cgroup = cgroup_ids_get(capture->cgroups, "/", 1) };
	if (!cgroup_is_wanted(capture, &idle) || !ids_are_wanted(capture, record))
		return false;
	snprintf(event->thread_comm, sizeof(event->thread_comm), "swapper/%u", record->cpu);
	memcpy(event->process_comm, event->thread_comm, sizeof(event->process_comm));
	event->cgroup_id = cgroup_ids_id(capture->cgroups, idle.cgroup);
	return names_are_wanted(capture);
}

/* Fills in the sample's task; returns whether the sample is wanted. Reads /proc only as far as
 * that needs. */
static bool describe_task(struct capture_perf *capture, const struct perf_record *record)
{
	struct sample_event *event = &capture->event;
	const struct task *task = task_table_get(capture->tasks, event->pid, event->tid,
						 event->time_ns);

	if (!task) {
		count(capture, STAT_NO_SCRATCH);
		return false;
	}
	if (!cgroup_is_wanted(capture, task) || !ids_are_wanted(capture, record))
		return false;
	event->cgroup_id = cgroup_ids_id(capture->cgroups, task->cgroup);
	memcpy(event->thread_comm, task->comm, sizeof(event->thread_comm));
	if (task->is_kernel_thread)
		event->unwind_result = UNWIND_KERNEL_THREAD;
	if (event->pid != event->tid)
		task = task_table_get(capture->tasks, event->pid, event->pid, event->time_ns);
	if (task) {
		event->start_ns = task->start_ns;
		memcpy(event->process_comm, task->comm, sizeof(event->process_comm));
	}
	return names_are_wanted(capture);
}

static void add_kernel_frames(struct capture_perf *capture, const struct perf_record *record)
{
	struct sample_event *event = &capture->event;

	if (event->in_user)
		return;
	event->nr_kernel = (uint16_t)perf_record_kernel_frames(record, event->frames,
							       MAX_KERNEL_FRAMES);
	if (event->nr_kernel == 0)
		count(capture, STAT_KERNEL_STACK_FAILED);
}

/* Returns whether there is a stack to unwind; otherwise sets the result. */
static bool read_user_regs(struct capture_perf *capture, const struct perf_record *record,
			   struct stack_copy *ret_copy)
{
	struct sample_event *event = &capture->event;
	struct stack_copy copy = { .bytes = record->stack, .len = record->stack_bytes };

	if (event->unwind_result == UNWIND_KERNEL_THREAD)
		return false;
	event->unwind_result = UNWIND_NO_REGISTERS;
	if (record->abi == PERF_SAMPLE_REGS_ABI_NONE)
		return false;
	perf_regs_to_copy(record->regs, &copy);
	if (!record->in_user) /* the marks came before use_clockid, with Linux 3.19 */
		copy.missing = perf_regs_missing(&copy, capture->rings.samples.attr.use_clockid);
	copy.address = copy.regs[CFI_SP];
	copy.is_truncated = record->stack_room > 0 && record->stack_bytes == record->stack_room;
	copy.nr_chain = perf_record_user_chain(record, &copy.chain);
	if (copy.ip == 0 && copy.address == 0)
		return false;
	event->unwind_result = UNWIND_COMPAT;
	if (record->abi == PERF_SAMPLE_REGS_ABI_32)
		return false;
	event->unwind_result = UNWIND_NEW_PROCESS;
	*ret_copy = copy;
	return true;
}

/* Unwinds as BPF does, with the process as it was then. A process that is not known yet is bound
 * first, so that its first stack is whole. */
static void unwind(struct capture_perf *capture, const struct stack_copy *copy)
{
	const struct sample_consumer *consumer = capture->consumer;
	struct sample_event *event = &capture->event;

	if (!local_unwinder_unwind(capture->unwinder, copy, event))
		return;
	consumer->meet_process(event, copy->ip, consumer->data);
	(void)local_unwinder_unwind(capture->unwinder, copy, event);
}

static void hand_out(struct capture_perf *capture, const struct perf_record *record)
{
	const struct sample_consumer *consumer = capture->consumer;
	const struct sample_event *event = &capture->event;
	struct stack_copy copy;

	consumer->catch_up(event->time_ns, consumer->data);
	add_kernel_frames(capture, record);
	if (read_user_regs(capture, record, &copy))
		unwind(capture, &copy);
	count(capture, STAT_UNWIND_FIRST + event->unwind_result);
	count(capture, STAT_SENT);
	consumer->handle(event, consumer->data);
}

static void handle_sample(struct capture_perf *capture, const struct perf_record *record)
{
	struct sample_event *event = &capture->event;

	/* A task that has been reaped already has the pid -1. */
	if (record->pid > INT32_MAX || record->tid > INT32_MAX) {
		count(capture, STAT_FILTERED);
		return;
	}
	memset(event, 0, offsetof(struct sample_event, frames));
	event->time_ns = record->time_ns;
	event->pid = record->pid;
	event->tid = record->tid;
	event->cpu = record->cpu;
	event->in_user = record->in_user;
	if (capture->cgroup_default == CGROUP_UNFILTERED && !ids_are_wanted(capture, record))
		return;
	bool is_wanted = event->tid == 0 ? describe_idle(capture, record)
					 : describe_task(capture, record);
	if (is_wanted)
		hand_out(capture, record);
}

static void update_targets(struct perf_targets *targets, const struct perf_record *record)
{
	if (record->type == PERF_RECORD_FORK)
		perf_targets_fork(targets, record->parent_pid, record->pid, record->time_ns);
	else if (record->type == PERF_RECORD_EXIT && record->pid == record->tid)
		perf_targets_exit(targets, record->pid);
	else if (record->type == PERF_RECORD_COMM && record->is_exec)
		perf_targets_exec(targets, record->pid);
}

/* Lost samples leave the task table true; lost records of tasks do not. */
static void handle_loss(struct capture_perf *capture, const struct perf_record *record)
{
	uint64_t nr_lost = capture->rings.tasks.nr_lost;

	ring_merge_count_lost(&capture->rings.merge, record->nr_lost);
	if (capture->rings.tasks.nr_lost > nr_lost)
		task_table_handle(capture->tasks, record);
}

static void handle_record(struct capture_perf *capture, const void *bytes, size_t len)
{
	struct perf_record record;

	capture->nr_polled++;
	if (perf_record_parse(bytes, len, &capture->rings.samples.attr, &record) < 0) {
		capture->nr_bad_records++;
		return;
	}
	record.time_ns = perf_clock_to_mono_ns(&capture->clock, record.time_ns);
	if (record.type == PERF_RECORD_SAMPLE) {
		handle_sample(capture, &record);
		return;
	}
	if (record.type == PERF_RECORD_LOST) {
		handle_loss(capture, &record);
		return;
	}
	if (record.type == PERF_RECORD_THROTTLE)
		capture->nr_throttled++;
	update_targets(&capture->targets, &record);
	task_table_handle(capture->tasks, &record);
}

/* The time up to which records are complete, by perf's clock. Without a timer no more records
 * come. */
static uint64_t settled_ns(const struct capture_perf *capture, uint64_t now_ns)
{
	if (cpu_timers_count(capture->base.timers) == 0)
		return UINT64_MAX;
	return now_ns - SETTLE_NS - (uint64_t)capture->clock.offset_ns;
}

static uint64_t poll_samples(struct sample_source *base, const struct sample_consumer *consumer)
{
	struct capture_perf *capture = (struct capture_perf *)base;
	uint64_t now_ns = clock_mono_ns();
	const void *record;
	size_t len;

	capture->consumer = consumer;
	capture->nr_polled = 0;
	perf_clock_update(&capture->clock);
	uint64_t until_ns = settled_ns(capture, now_ns);
	task_table_begin(capture->tasks, now_ns);
	ring_merge_begin(&capture->rings.merge);
	while (ring_merge_next(&capture->rings.merge, until_ns, &record, &len))
		handle_record(capture, record, len);
	return capture->nr_polled;
}

static void poll_cgroups(struct sample_source *base,
			 void (*handle)(const struct cgroup_event *event, void *data), void *data)
{
	struct capture_perf *capture = (struct capture_perf *)base;
	struct cgroup_event event;

	while (cgroup_ids_next_birth(capture->cgroups, &event)) {
		capture->nr_cgroups++;
		handle(&event, data);
	}
}

static void follow_process(struct sample_source *base, const struct proc_event *event)
{
	local_unwinder_follow(((struct capture_perf *)base)->unwinder, event);
}

static void lose_events(struct sample_source *base)
{
	local_unwinder_lose_events(((struct capture_perf *)base)->unwinder);
}

static int get_wake_fd(const struct sample_source *base)
{
	return ((const struct capture_perf *)base)->rings.wake_fd;
}

static int add_pid(struct sample_source *base, uint32_t pid)
{
	struct perf_targets *targets = &((struct capture_perf *)base)->targets;

	targets->asked_ns = clock_mono_ns();
	return perf_targets_add_pid(targets, pid);
}

static void get_stats(const struct sample_source *base, struct capture_stats *stats)
{
	const struct capture_perf *capture = (const struct capture_perf *)base;
	struct task_table_stats tasks = task_table_get_stats(capture->tasks);

	memcpy(stats->bpf, capture->counts, sizeof(stats->bpf));
	stats->bpf[STAT_RING_FULL] = capture->rings.samples.nr_lost;
	stats->nr_bad_records = capture->nr_bad_records + capture->rings.merge.nr_bad;
	stats->nr_cgroups = capture->nr_cgroups;
	stats->nr_throttled = capture->nr_throttled;
	stats->nr_task_records_lost = capture->rings.tasks.nr_lost;
	stats->nr_targets_refused = capture->targets.nr_refused;
	stats->nr_tasks = tasks.nr_tasks;
	stats->nr_task_reads = tasks.nr_reads;
	stats->nr_tasks_outside = tasks.nr_outside;
	stats->ring_bytes = capture->rings.samples.size.bytes;
	stats->ring_bytes_wanted = capture->rings.wanted_bytes;
}

static void close_perf(struct sample_source *base)
{
	struct capture_perf *capture = (struct capture_perf *)base;

	cpu_rings_done(&capture->rings);
	perf_clock_close(&capture->clock);
	perf_targets_done(&capture->targets);
	task_table_free(capture->tasks);
	cgroup_ids_free(capture->cgroups);
	cgroup_namespace_done(&capture->cgroup_namespace);
	local_unwinder_free(capture->unwinder);
	unwind_memory_free(base->unwind_memory);
	free(capture->cgroup_slots);
	free(capture);
}

static const struct sample_source_ops ops = {
	.backend = CAPTURE_PERF,
	.profile_label = "perf",
	.close = close_perf,
	.poll = poll_samples,
	.poll_cgroups = poll_cgroups,
	.follow_process = follow_process,
	.lose_events = lose_events,
	.get_wake_fd = get_wake_fd,
	.add_pid = add_pid,
	.get_stats = get_stats,
};

/* If our cgroup namespace cannot be found out, tasks have no cgroup, which is counted. */
static int set_up_tasks(struct capture_perf *capture, const struct capture_opts *opts)
{
	int r = cgroup_ids_new(opts->cgroup_fs, &capture->cgroups);
	if (r == 0 && opts->cgroup_fs)
		r = cgroup_namespace_find(opts->cgroup_fs, opts->proc_fd, opts->cgroup_hierarchy,
					  &capture->cgroup_namespace);
	if (r == -ENOMEM)
		return r;
	const struct task_table_opts tasks = {
		.proc_fd = opts->proc_fd,
		.cgroups = capture->cgroups,
		.cgroup_namespace = &capture->cgroup_namespace,
		.cgroup_hierarchy = opts->cgroup_hierarchy,
		.marks_execs = capture->rings.tasks.attr.comm_exec,
	};
	return task_table_new(&tasks, &capture->tasks);
}

static int set_up_unwinder(struct capture_perf *capture, const struct capture_opts *opts,
			   struct strbuf *reterr_msg)
{
	struct sample_source *base = &capture->base;

	int r = unwind_memory_local_new(opts->unwind_memory_max, &base->unwind_memory);
	if (r == 0)
		r = local_unwinder_new(base->unwind_memory, &capture->unwinder);
	if (r < 0) {
		strbuf_appendf(reterr_msg, "cannot start the unwinder: %s", strerror(-r));
		return r;
	}
	base->unwind_memory->pool = opts->pool;
	return 0;
}

static int set_up(struct capture_perf *capture, const struct capture_opts *opts)
{
	const struct cpu_timer_kind kind = { cpu_rings_open, cpu_rings_close, &capture->rings };

	capture->cgroup_slots = calloc(CGROUP_SLOTS, sizeof(*capture->cgroup_slots));
	if (!capture->cgroup_slots)
		return -ENOMEM;
	capture->base.verdicts.slots = capture->cgroup_slots;
	int r = cpu_rings_try(&capture->rings);
	if (r == 0)
		r = perf_clock_open(&capture->clock, &capture->rings.samples.attr);
	if (r == 0)
		r = set_up_tasks(capture, opts);
	if (r == 0)
		r = perf_targets_init(&capture->targets, opts);
	return r < 0 ? r : cpu_timers_new(&kind, opts->cpus, &capture->base.timers);
}

int capture_perf_open(const struct capture_opts *opts, struct strbuf *reterr_msg,
		      struct sample_source **ret_source)
{
	/* In another namespace perf's records give all processes that we cannot see the pid 0,
	 * as idle CPUs have. */
	if (!host_pids_are_ours(opts->proc_fd)) {
		strbuf_append_str(reterr_msg,
				  "--capture=perf needs the host's PID namespace; in a pod, set "
				  "hostPID: true; with docker run, --pid=host");
		return -EOPNOTSUPP;
	}

	struct capture_perf *capture = calloc(1, sizeof(*capture));
	if (!capture)
		return -ENOMEM;
	_cleanup_(sample_source_closep) struct sample_source *base = &capture->base;
	base->ops = &ops;
	base->cgroup_default = &capture->cgroup_default;
	cpu_rings_init(&capture->rings, opts);
	capture->include_idle = opts->include_idle;

	int r = set_up(capture, opts);
	if (r == -ENOSPC)
		strbuf_append_str(reterr_msg, "too many processes are selected");
	if (r == 0)
		r = set_up_unwinder(capture, opts, reterr_msg);
	if (r == 0)
		*ret_source = take_ptr(base);
	return r;
}
