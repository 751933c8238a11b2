/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The kernel's types as far as Flamelet reads them: only the fields used, at whatever offset they have in
 * the running kernel (CO-RE). A generated vmlinux.h has 130 000 lines of which these would be the ones. */
#ifndef BPF_KERNEL_BPF_H
#define BPF_KERNEL_BPF_H

#include <stdbool.h>

#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <linux/types.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

/* include/linux/sched.h */
#define PF_EXITING 0x00000004
#define PF_KTHREAD 0x00200000

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct kernfs_node {
	__u64 id;
};

struct cgroup;

struct cgroup_subsys_state {
	struct cgroup *cgroup;
	struct cgroup_subsys_state *parent;
};

struct cgroup_root {
	int hierarchy_id;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
	struct cgroup_root *root;
};

struct css_set {
	struct cgroup_subsys_state *subsys[1]; /* as many as enum cgroup_subsys_id has */
	struct cgroup *dfl_cgrp;
};

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live; /* threads that have not exited */
};

struct task_struct {
	unsigned int flags;
	int pid;
	int tgid;
	char comm[16];
	__u64 start_boottime;
	struct task_struct *group_leader;
	struct css_set *cgroups;
	struct signal_struct *signal;
	void *stack;
};

/* Only its size. User space knows the first part of it by the same name, or by another. */
struct pt_regs___kernel {
};

#pragma clang attribute pop

/* Values differ by kernel configuration: always through bpf_core_enum_value(). */
enum cgroup_subsys_id {
	cpu_cgrp_id,
	memory_cgrp_id,
};

#endif
