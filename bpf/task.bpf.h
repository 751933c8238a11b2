/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Facts about the current task. */
#ifndef BPF_TASK_BPF_H
#define BPF_TASK_BPF_H

#include "bpf/compat.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/opts.bpf.h"

/* The cgroup that identifies the task: its place in the v2 hierarchy, or, on hosts where that
 * tells nothing, in the memory or cpu controller's. */
static __always_inline struct cgroup *task_cgroup(struct task_struct *task)
{
	struct css_set *set = READ_KERNEL(task->cgroups);
	struct cgroup_subsys_state **states, *state;
	__u32 subsys;

	if (!cgroup_is_v1)
		return READ_KERNEL(set->dfl_cgrp);
	if (cgroup_is_cpu || !bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id))
		subsys = bpf_core_enum_value(enum cgroup_subsys_id, cpu_cgrp_id);
	else
		subsys = bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id);
	states = set->subsys;
	state = READ_KERNEL(states[subsys]);
	return READ_KERNEL(state->cgroup);
}

/* The number user space knows it by: the inode of its directory. */
static __always_inline __u64 cgroup_id(struct cgroup *cgroup)
{
	struct kernfs_node *node = READ_KERNEL(cgroup->kn);

	return READ_KERNEL(node->id);
}

#endif
