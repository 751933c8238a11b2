/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Keeps the bindings of processes true between two looks of the agent: a child has its parent's
 * code until it maps something, a process that calls exec has none of what it had, and one that
 * is gone has nothing.
 *
 * Attach points: raw tracepoints sched_process_fork(parent, child), in the parent's context,
 * before the child runs; sched_process_exec(task, …), when the new program is mapped and has not
 * run yet; sched_process_exit(task).
 * Maps: processes. */
#include "bpf/kernel.bpf.h"
#include "bpf/maps.bpf.h"

SEC("raw_tp/sched_process_fork")
int process_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *child = (struct task_struct *)ctx->args[1];
	__u32 parent_pid = bpf_get_current_pid_tgid() >> 32;
	__u32 child_pid = BPF_CORE_READ(child, tgid);
	const __u64 *parents;
	__u64 binding;

	if (child_pid == parent_pid)
		return 0;
	parents = bpf_map_lookup_elem(&processes, &parent_pid);
	binding = parents ? *parents : 0;
	if (MAPPING_BINDING_ID(binding) != 0)
		bpf_map_update_elem(&processes, &child_pid, &binding, BPF_ANY);
	return 0;
}

SEC("raw_tp/sched_process_exec")
int process_exec(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;

	(void)ctx;
	bpf_map_delete_elem(&processes, &pid);
	return 0;
}

/* The last thread of a process takes its binding along. */
SEC("raw_tp/sched_process_exit")
int process_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx->args[0];
	__u32 pid = bpf_get_current_pid_tgid() >> 32;

	if (BPF_CORE_READ(task, signal, live.counter) <= 0)
		bpf_map_delete_elem(&processes, &pid);
	return 0;
}
