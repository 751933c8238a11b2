/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Iterators over all threads, which the agent runs now and then: in the context of the agent, with
 * other CPUs at work. Only one of its threads runs them. */
#ifndef BPF_THREAD_SWEEP_BPF_H
#define BPF_THREAD_SWEEP_BPF_H

#include "bpf/compat.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/task.bpf.h"

/* What the kernel hands to an iterator over threads: include/linux/bpf.h. */
struct task_iterator {
	void *meta;
	struct task_struct *task; /* NULL: behind the last one */
};

/* Fills in who a thread is. Returns whether it is wanted. */
static __always_inline bool describe(struct task_struct *task, struct sample_event *event)
{
	struct task_struct *leader = READ_KERNEL(task->group_leader);

	if (cgroup_default != CGROUP_UNFILTERED && task_verdict(task) != CGROUP_WANTED)
		return false;
	event->pid = (__u32)READ_KERNEL(task->tgid);
	event->tid = (__u32)READ_KERNEL(task->pid);
	bpf_core_read(event->thread_comm, sizeof(event->thread_comm), &task->comm);
	bpf_core_read(event->process_comm, sizeof(event->process_comm), &leader->comm);
	if (!sample_is_wanted(event))
		return false;
	event->start_ns = READ_KERNEL(leader->start_boottime);
	event->cgroup_id = cgroup_id(task_cgroup(task));
	return true;
}

#endif
