/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Tells of the time in run queues that no record of a block tells of (shared/off_cpu.h), and of the
 * time that each thread ran, and did not run, in all (shared/wall.h).
 *
 * Attach points: raw tracepoint sched_process_exit(task), in the context of the thread, whose stack
 * tells nothing any more; it may run on for a moment. And an iterator over all threads
 * (thread_sweep.bpf.h).
 * Maps: off_cpu_slots, wall_slots, sweep_scratch; filter_*, cgroup_slots; samples (out). */
#include "bpf/run_delay.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/sample.bpf.h"
#include "bpf/thread_sweep.bpf.h"
#include "bpf/threshold.bpf.h"
#include "bpf/wall.bpf.h"

/* Returns as untold_ns(), also of a thread that has not stopped running before. */
static __always_inline __u64 last_untold_ns(struct task_struct *task,
					    const struct off_cpu_slot *slot, __u32 tid,
					    __u64 run_delay_ns)
{
	if (slot->tid != tid && count_switches(task) == 0)
		return queue_is_told() ? run_delay_ns : QUEUED_UNKNOWN;
	return untold_ns(slot, tid, run_delay_ns);
}

static __always_inline void send_header(struct sample_event *event)
{
	if (output_record(event, EVENT_HEADER_BYTES, BPF_RB_NO_WAKEUP) < 0)
		stat_add(STAT_BLOCK_LOST);
}

/* Decides whether a record has the rest of the current thread's time in run queues. Returns the
 * probability with which it was chosen; 0: it was not. */
static __always_inline __u32 choose_last(__u64 queued_ns)
{
	__u32 probability;

	if (queued_ns == 0 || queued_ns == QUEUED_UNKNOWN)
		return 0;
	probability = share_of_threshold(queued_ns, OFF_CPU_MIN_REST_NS);
	return bpf_get_prandom_u32() < probability ? probability : 0;
}

SEC("raw_tp/sched_process_exit")
int run_delay_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = current_task();
	__u32 tid = (__u32)READ_KERNEL(task->pid), probability;
	struct off_cpu_slot *slot = slot_of(tid);
	__u64 run_delay_ns, queued_ns;
	__u64 header[EVENT_HEADER_BYTES / sizeof(__u64)] = { 0 };
	struct sample_event *event = (void *)header;

	(void)ctx;
	if (!slot || !cgroup_is_wanted(task))
		return 0;
	read_task(task, event);
	if (!sample_is_wanted(event))
		return 0;
	run_delay_ns = read_run_delay(task);
	queued_ns = last_untold_ns(task, slot, tid, run_delay_ns);
	note_told(slot, tid, run_delay_ns);
	probability = choose_last(queued_ns);
	if (probability > 0) {
		set_queued(event, queued_ns, probability);
		send_header(event);
	}
	if (set_times(event, task, slot, tid))
		send_header(event);
	return 0;
}

/* Returns how much of a thread's time in run queues is to be told; 0: nothing, or not yet. */
static __always_inline __u64 rest_of(struct task_struct *task, const struct off_cpu_slot *slot,
				     __u32 tid)
{
	__u64 queued_ns = untold_ns(slot, tid, read_run_delay(task));

	return queued_ns != QUEUED_UNKNOWN && queued_ns >= off_cpu_min_rest_ns ? queued_ns : 0;
}

/* If the thread sends a record at the same time, both may tell of it: so it is noted before, and
 * not after. */
static __always_inline void tell_rest(struct sample_event *event, struct off_cpu_slot *slot,
				      __u64 queued_ns)
{
	slot->told_ns += queued_ns;
	event->time_ns = bpf_ktime_get_ns();
	set_queued(event, queued_ns, OFF_CPU_CERTAIN);
	if (output_event(event, false) >= 0)
		return;
	slot->told_ns -= queued_ns;
	stat_add(STAT_BLOCK_LOST);
}

/* Tells of a thread's time in all, when records end. */
static __always_inline void tell_times(struct task_struct *task, struct sample_event *event,
				       const struct off_cpu_slot *slot, __u32 tid)
{
	if (off_cpu_min_rest_ns == 0 && set_times(event, task, slot, tid) &&
	    output_event(event, false) < 0)
		stat_add(STAT_BLOCK_LOST);
}

SEC("iter/task")
int run_delay_sweep(struct task_iterator *ctx)
{
	struct task_struct *task = ctx->task;
	struct sweep_scratch *scratch;
	struct off_cpu_slot *slot;
	struct sample_event *event;
	__u32 zero = 0, tid;

	if (!task)
		return 0;
	tid = (__u32)READ_KERNEL(task->pid);
	slot = slot_of(tid);
	scratch = bpf_map_lookup_elem(&sweep_scratch, &zero);
	if (!slot || !scratch)
		return 0;
	event = &scratch->event;
	event->queued_ns = rest_of(task, slot, tid);
	if ((event->queued_ns == 0 && !wall_is_told) || !describe(task, event))
		return 0;
	if (event->queued_ns != 0)
		tell_rest(event, slot, event->queued_ns);
	tell_times(task, event, slot, tid);
	return 0;
}
