/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The time of threads in run queues, which the kernel counts: what of it is in no record yet
 * (shared/off_cpu.h). */
#ifndef BPF_RUN_DELAY_BPF_H
#define BPF_RUN_DELAY_BPF_H

#include "bpf/off_cpu.bpf.h"
#include "bpf/opts.bpf.h"
#include "bpf/task.bpf.h"

#define NSEC_PER_USEC 1000

/* Returns what records have told of a thread that has not been seen before, and stops running now.
 * All of the time of a thread that has run once is new. */
static __always_inline __u64 first_told_ns(struct task_struct *task)
{
	return count_switches(task) == 1 ? 0 : QUEUED_UNKNOWN;
}

/* Returns whether records are sent of blocks of all lengths and reasons. Otherwise the time in run
 * queues between two records may be that of blocks nobody asked for. */
static __always_inline bool queue_is_told(void)
{
	return off_cpu_min_ns == 0 && !off_cpu_only_locks;
}

/* Returns how much of the thread's time in run queues no record tells of. QUEUED_UNKNOWN: it is
 * not known, or not told. */
static __always_inline __u64 untold_ns(const struct off_cpu_slot *slot, __u32 tid,
				       __u64 run_delay_ns)
{
	if (!queue_is_told() || run_delay_ns == RUN_DELAY_UNKNOWN || slot->tid != tid ||
	    slot->told_ns == QUEUED_UNKNOWN)
		return QUEUED_UNKNOWN;
	return run_delay_ns - slot->told_ns;
}

/* Returns the same of a record that leaves all of it to the thread's next one. */
static __always_inline __u64 queued_of_next(const struct off_cpu_slot *slot)
{
	return untold_ns(slot, slot->tid, slot->run_delay_ns) == QUEUED_UNKNOWN ? QUEUED_UNKNOWN
										: 0;
}

/* A record was sent that tells of the thread's time in run queues up to now. */
static __always_inline void note_told(struct off_cpu_slot *slot, __u32 tid, __u64 run_delay_ns)
{
	if (slot->tid == tid)
		slot->told_ns = run_delay_ns;
}

/* Returns when a thread was put into its run queue, CLOCK_MONOTONIC. The kernel counts by another
 * clock, which shows the same time span: that since another thread got this CPU. 0: not known. */
static __always_inline __u64 queued_since_ns(struct task_struct *task, struct task_struct *rival)
{
	__u32 rival_tid = (__u32)READ_KERNEL(rival->pid);
	const struct off_cpu_slot *slot = slot_of(rival_tid);
	__u64 last_queued_ns = READ_KERNEL(task->sched_info.last_queued);

	if (!slot || rival_tid == 0 || slot->tid != rival_tid || slot->run_ns == 0 ||
	    last_queued_ns == 0)
		return 0;
	return slot->run_ns + last_queued_ns - READ_KERNEL(rival->sched_info.last_arrival);
}

/* Returns for how long a thread that gets a CPU now, after a rival, was in run queues since its
 * block began. The kernel adds the last part of it to its sum a moment later. QUEUED_UNKNOWN. */
static __always_inline __u64 queued_at_switch_ns(struct task_struct *task,
						 struct task_struct *rival,
						 const struct off_cpu_slot *slot, __u64 now_ns)
{
	__u64 run_delay_ns = read_run_delay(task), since_ns;

	if (run_delay_ns == RUN_DELAY_UNKNOWN)
		return QUEUED_UNKNOWN;
	run_delay_ns -= slot->run_delay_ns;
	since_ns = queued_since_ns(task, rival);
	if (since_ns > slot->begin_ns && since_ns < now_ns)
		run_delay_ns += now_ns - since_ns;
	return run_delay_ns;
}

/* Fills in the record RECORD_QUEUED, but for who the thread is. */
static __always_inline void set_queued(struct sample_event *event, __u64 queued_ns,
				       __u32 probability)
{
	event->kind = RECORD_QUEUED;
	event->queued_ns = queued_ns;
	event->probability = probability;
	event->wait_flags = 0;
	event->nr_kernel = 0;
	event->nr_user = 0;
	event->unwind_result = UNWIND_COMPLETE;
}

#endif
