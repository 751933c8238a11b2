/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Tells of the time in run queues that no record of a block tells of (shared/off_cpu.h).
 *
 * Attach points: raw tracepoint sched_process_exit(task), in the context of the thread, whose stack
 * tells nothing any more; it may run on for a moment. And an iterator over all threads
 * (thread_sweep.bpf.h).
 * Maps: off_cpu_slots, sweep_scratch; filter_*, cgroup_slots; samples (out). */
#include "bpf/run_delay.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/sample.bpf.h"
#include "bpf/thread_sweep.bpf.h"
#include "bpf/threshold.bpf.h"

/* Returns as untold_ns(), also of a thread that has not stopped running before. */
static __always_inline __u64 last_untold_ns(struct task_struct *task,
					    const struct off_cpu_slot *slot, __u32 tid,
					    __u64 run_delay_ns)
{
	if (slot->tid != tid && count_switches(task) == 0)
		return queue_is_told() ? run_delay_ns : QUEUED_UNKNOWN;
	return untold_ns(slot, tid, run_delay_ns);
}

SEC("raw_tp/sched_process_exit")
int run_delay_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = current_task();
	__u32 tid = (__u32)READ_KERNEL(task->pid), probability;
	struct off_cpu_slot *slot = slot_of(tid);
	__u64 run_delay_ns = read_run_delay(task), queued_ns;
	__u64 header[EVENT_HEADER_BYTES / sizeof(__u64)] = { 0 };
	struct sample_event *event = (void *)header;

	(void)ctx;
	if (!slot)
		return 0;
	queued_ns = last_untold_ns(task, slot, tid, run_delay_ns);
	if (queued_ns == 0 || queued_ns == QUEUED_UNKNOWN)
		return 0;
	note_told(slot, tid, run_delay_ns);
	probability = share_of_threshold(queued_ns, OFF_CPU_MIN_REST_NS);
	if (bpf_get_prandom_u32() >= probability || !cgroup_is_wanted(task))
		return 0;
	read_task(task, event);
	if (!sample_is_wanted(event))
		return 0;
	set_queued(event, queued_ns, probability);
	if (output_record(event, EVENT_HEADER_BYTES, BPF_RB_NO_WAKEUP) < 0)
		stat_add(STAT_BLOCK_LOST);
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
static __always_inline void tell_rest(struct sweep_scratch *scratch, struct off_cpu_slot *slot,
				      __u64 queued_ns)
{
	struct sample_event *event = &scratch->event;

	slot->told_ns += queued_ns;
	event->time_ns = bpf_ktime_get_ns();
	set_queued(event, queued_ns, OFF_CPU_CERTAIN);
	if (output_event(event, false) >= 0)
		return;
	slot->told_ns -= queued_ns;
	stat_add(STAT_BLOCK_LOST);
}

SEC("iter/task")
int run_delay_sweep(struct task_iterator *ctx)
{
	struct task_struct *task = ctx->task;
	struct sweep_scratch *scratch;
	struct off_cpu_slot *slot;
	__u32 zero = 0, tid;
	__u64 queued_ns;

	if (!task)
		return 0;
	tid = (__u32)READ_KERNEL(task->pid);
	slot = slot_of(tid);
	scratch = bpf_map_lookup_elem(&sweep_scratch, &zero);
	if (!slot || !scratch)
		return 0;
	queued_ns = rest_of(task, slot, tid);
	if (queued_ns != 0 && describe(task, &scratch->event))
		tell_rest(scratch, slot, queued_ns);
	return 0;
}
