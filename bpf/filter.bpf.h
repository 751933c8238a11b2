/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Decides whether a sample is wanted, before anything is unwound. Kinds of targets narrow each
 * other (pid and comm), several of a kind widen it (pid 1 or pid 2). */
#ifndef BPF_FILTER_BPF_H
#define BPF_FILTER_BPF_H

#include "bpf/maps.bpf.h"
#include "bpf/task.bpf.h"

#define CGROUP_MAX_DEPTH 24 /* kubepods, QoS class, pod, container: 4; the rest is for nesting */

/* The names in sample_event are read before this is called. */
static __always_inline bool comm_is_wanted(const struct sample_event *event)
{
	return bpf_map_lookup_elem(&filter_comms, event->thread_comm) ||
	       bpf_map_lookup_elem(&filter_comms, event->process_comm);
}

/* Returns the verdict of the cgroup itself; CGROUP_UNFILTERED if it has none. */
static __always_inline __u32 own_verdict(__u64 id)
{
	__u32 first = cgroup_first_slot(id);

	for (__u32 i = 0; i < CGROUP_MAX_PROBES; i++) {
		__u64 slot = cgroup_slots[(first + i) & (CGROUP_SLOTS - 1)];

		if (slot >> 2 == id)
			return slot & 3;
		if (slot == 0)
			break;
	}
	return CGROUP_UNFILTERED;
}

/* Returns the verdict of the nearest cgroup that has one, from the task's cgroup upwards. Pods and
 * containers have verdicts of their own, so one lookup decides for most samples. The search has a
 * maximum depth. Deeper cgroups are undecided, so that nobody escapes an exclusion by nesting. */
static __always_inline __u32 task_verdict(struct task_struct *task)
{
	struct cgroup *cgroup = task_cgroup(task);

	for (int i = 0; i < CGROUP_MAX_DEPTH; i++) {
		__u32 verdict = own_verdict(cgroup_id(cgroup));
		struct cgroup_subsys_state *parent;

		if (verdict != CGROUP_UNFILTERED)
			return verdict;
		parent = READ_KERNEL(cgroup->self.parent);
		if (!parent)
			return cgroup_default;
		cgroup = READ_KERNEL(parent->cgroup);
	}
	return CGROUP_UNDECIDED;
}

/* Counts the sample when it is not wanted. */
static __always_inline bool cgroup_is_wanted(struct task_struct *task)
{
	__u32 verdict;

	if (cgroup_default == CGROUP_UNFILTERED)
		return true;
	verdict = task_verdict(task);
	if (verdict == CGROUP_EXCLUDED)
		stat_add(STAT_EXCLUDED);
	else if (verdict == CGROUP_UNDECIDED)
		stat_add(STAT_UNDECIDED);
	return verdict == CGROUP_WANTED;
}

static __always_inline bool sample_is_wanted(const struct sample_event *event)
{
	if (filter_by_pid && !bpf_map_lookup_elem(&filter_pids, &event->pid))
		return false;
	if (filter_by_tid && !bpf_map_lookup_elem(&filter_tids, &event->tid))
		return false;
	if (filter_by_comm && !comm_is_wanted(event))
		return false;
	return true;
}

#endif
