/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Threads that do not run: what off_cpu.bpf.c and thread_sweep.bpf.c have in common. */
#ifndef BPF_OFF_CPU_BPF_H
#define BPF_OFF_CPU_BPF_H

#include "bpf/compat.bpf.h"
#include "bpf/maps.bpf.h"

/* include/linux/sched.h */
#define TASK_RUNNING 0x00000000
#define TASK_DEAD 0x00000080
#define TASK_NOLOAD 0x00000400 /* an idle thread of the kernel */
#define TASK_NEW 0x00000800 /* it has not run yet */

#define RUN_DELAY_UNKNOWN ((__u64)-1)

static __always_inline struct off_cpu_slot *slot_of(__u32 tid)
{
	__u32 index = tid & (OFF_CPU_SLOTS - 1);

	return bpf_map_lookup_elem(&off_cpu_slots, &index);
}

/* A thread that waits may be woken at the same time: then it may seem to run. */
static __always_inline __u32 read_state(struct task_struct *task)
{
	struct task_struct___before_5_14 *old = (void *)task;

	if (bpf_core_field_exists(task->__state))
		return READ_KERNEL(task->__state);
	return (__u32)READ_KERNEL(old->state);
}

/* Returns whether a thread that could run on and stops running has to, because its cgroup has used
 * up its CPU limit. Since Linux 6.18 the kernel marks each such thread; before, it took away the
 * run queue of the cgroup as a whole. */
static __always_inline bool is_throttled(struct task_struct *task)
{
	struct cfs_rq *queue;

	if (bpf_core_field_exists(task->throttled))
		return READ_KERNEL(task->throttled);
	if (!bpf_core_field_exists(task->se.cfs_rq) ||
	    !bpf_core_field_exists(struct cfs_rq, throttle_count))
		return false;
	queue = READ_KERNEL(task->se.cfs_rq);
	return READ_KERNEL(queue->throttle_count) > 0;
}

/* How often the thread has stopped running. */
static __always_inline __u64 count_switches(struct task_struct *task)
{
	return READ_KERNEL(task->nvcsw) + READ_KERNEL(task->nivcsw);
}

/* Returns how long a thread has waited in run queues in all, up to the last time that it got a CPU.
 * The kernel adds a wait to it between sched_switch and sched_exit_tp. */
static __always_inline __u64 read_run_delay(struct task_struct *task)
{
	if (!bpf_core_field_exists(task->sched_info.run_delay))
		return RUN_DELAY_UNKNOWN;
	return READ_KERNEL(task->sched_info.run_delay);
}

#endif
