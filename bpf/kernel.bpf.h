/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The kernel's types as far as Flamelet reads them: only the fields used, at whatever offset
 * they have in the running kernel (CO-RE). A generated vmlinux.h has 130 000 lines of which
 * these would be the ones. */
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

struct irqaction { /* include/linux/interrupt.h */
	void *handler;
	const char *name;
};

struct signal_struct {
	atomic_t live; /* threads that have not exited */
};

/* include/linux/mm_types.h, maple_tree.h, rbtree.h, fs.h: where code is mapped (vma.bpf.c). */
struct maple_tree {
	void *ma_root;
};

struct maple_range_64 {
	void *parent;
	unsigned long pivot[15];
	void *slot[16];
};

struct maple_arange_64 {
	void *parent;
	unsigned long pivot[9];
	void *slot[10];
};

struct rb_node {
	struct rb_node *rb_right;
	struct rb_node *rb_left;
};

struct rb_root {
	struct rb_node *rb_node;
};

typedef struct {
	long counter;
} atomic64_t;

typedef struct {
	void *vdso;
	__u64 ctx_id; /* x86-64 */
	atomic64_t id; /* arm64 */
} mm_context_t;

struct percpu_counter {
	__s64 count;
	__s32 *counters; /* of each CPU */
};

/* include/linux/bpf.h: a map. */
struct bpf_array {
	void *pptrs[0]; /* values of each CPU */
};

/* Up to 6.1. */
struct mm_rss_stat {
	atomic64_t count[4];
};

struct seqcount {
	unsigned int sequence;
};

/* Only their places. */
struct rw_semaphore {
};

typedef struct {
} spinlock_t;

struct sighand_struct {
	spinlock_t siglock;
};

struct mm_struct {
	__u64 vmacache_seqnum; /* up to 6.0 */
	int map_count;
	unsigned long exec_vm;
	struct maple_tree mm_mt; /* from 6.1 on */
	struct rb_root mm_rb; /* before */
	struct rw_semaphore mmap_lock; /* from 5.8 on */
	mm_context_t context;
	struct percpu_counter rss_stat[4]; /* from 6.2 on */
};

struct mm_struct___before_6_2 {
	struct mm_rss_stat rss_stat;
};

/* Counters of changes of mappings: from 6.4 on, and from 6.13 on. */
struct mm_struct___int {
	int mm_lock_seq;
};

struct mm_struct___seqcount {
	struct seqcount mm_lock_seq;
};

struct super_block {
	__u32 s_dev;
};

struct timespec64 {
	__s64 tv_sec;
	long tv_nsec;
};

struct inode {
	unsigned long i_ino;
	__u32 i_generation;
	struct super_block *i_sb;
	struct timespec64 i_ctime; /* up to 6.5 */
	struct timespec64 __i_ctime; /* up to 6.10 */
	__s64 i_ctime_sec; /* these two since then */
	__u32 i_ctime_nsec;
};

struct file {
	struct inode *f_inode;
};

struct vm_area_struct {
	unsigned long vm_start;
	unsigned long vm_end;
	struct mm_struct *vm_mm;
	unsigned long vm_flags;
	unsigned long vm_pgoff;
	struct file *vm_file;
	struct rb_node vm_rb; /* before 6.1 */
};

/* The thread pointer: arch/x86/include/asm/processor.h, arch/arm64/include/asm/processor.h. */
struct thread_struct {
	unsigned long fsbase; /* x86-64 */
	struct {
		unsigned long tp_value;
	} uw; /* arm64 */
};

struct sched_info {
	unsigned long long run_delay;
	unsigned long long last_arrival; /* when it got a CPU, by the scheduler's clock */
	unsigned long long last_queued; /* the same of its run queue; 0: it is in none */
};

/* kernel/sched/sched.h */
struct cfs_rq {
	int throttle_count; /* CONFIG_CFS_BANDWIDTH: of this one and those above it */
};

struct sched_entity {
	struct cfs_rq *cfs_rq; /* CONFIG_FAIR_GROUP_SCHED: in which it is, or was */
};

struct task_struct {
	struct thread_struct thread;
	struct mm_struct *mm;
	unsigned int __state;
	unsigned int in_execve : 1;
	unsigned int in_iowait : 1;
	unsigned int on_cpu; /* from 7 on, a byte: libbpf adapts unsigned numbers */
	unsigned long nvcsw; /* switches to other threads: it waits … */
	unsigned long nivcsw; /* … or is preempted */
	unsigned int flags;
	int pid;
	int tgid;
	char comm[16];
	__u64 start_time; /* CLOCK_MONOTONIC */
	__u64 start_boottime;
	struct task_struct *group_leader;
	struct css_set *cgroups;
	struct signal_struct *signal;
	struct sighand_struct *sighand;
	void *stack;
	struct sched_info sched_info; /* CONFIG_SCHED_INFO */
	struct sched_entity se;
	bool throttled; /* from 6.18 on; CONFIG_CFS_BANDWIDTH */
};

struct task_struct___before_5_14 {
	long state;
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

enum maple_type {
	maple_dense,
	maple_leaf_64,
	maple_range_64,
	maple_arange_64,
};

#endif
