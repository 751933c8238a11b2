/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Facts about the current task. */
#ifndef BPF_TASK_BPF_H
#define BPF_TASK_BPF_H

#include "bpf/kernel.bpf.h"
#include "bpf/opts.bpf.h"

/* The cgroup that identifies the task: its place in the v2 hierarchy, or, on hosts where that tells nothing, in the
 * memory or cpu controller's. */
static __always_inline struct cgroup *task_cgroup(struct task_struct *task)
{
	struct css_set *set = task->cgroups;
	__u32 subsys;

	if (!cgroup_is_v1)
		return set->dfl_cgrp;
	if (cgroup_is_cpu || !bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id))
		subsys = bpf_core_enum_value(enum cgroup_subsys_id, cpu_cgrp_id);
	else
		subsys = bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id);
	return ((struct cgroup_subsys_state **)set->subsys)[subsys]->cgroup;
}

/* The number user space knows it by: the inode of its directory. */
static __always_inline __u64 task_cgroup_id(struct task_struct *task)
{
	return task_cgroup(task)->kn->id;
}

#endif
