/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Whether a sample is wanted, decided before anything is unwound. Kinds of targets narrow each other
 * (pid and comm), several of a kind widen it (pid 1 or pid 2). */
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

static __always_inline bool cgroup_is_wanted(struct task_struct *task)
{
	struct cgroup *cgroup = task_cgroup(task);

	for (int i = 0; i < CGROUP_MAX_DEPTH && cgroup; i++) {
		__u64 id = BPF_CORE_READ(cgroup, kn, id);

		if (bpf_map_lookup_elem(&filter_cgroups, &id))
			return true;
		cgroup = BPF_CORE_READ(cgroup, self.parent, cgroup);
	}
	return false;
}

static __always_inline bool sample_is_wanted(struct task_struct *task,
					     const struct sample_event *event)
{
	if (filter_by_pid && !bpf_map_lookup_elem(&filter_pids, &event->pid))
		return false;
	if (filter_by_tid && !bpf_map_lookup_elem(&filter_tids, &event->tid))
		return false;
	if (filter_by_comm && !comm_is_wanted(event))
		return false;
	if (filter_by_cgroup && !cgroup_is_wanted(task))
		return false;
	return true;
}

#endif
