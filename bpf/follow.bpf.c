/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Keeps the pid filter true while its processes fork: a child of a wanted process is wanted.
 *
 * Attach point: raw tracepoint sched_process_fork(parent, child), in the parent's context,
 * before the child runs. Attached only when a command is profiled (`record -- CMD`).
 * Maps: filter_pids. When it is full, further children are not followed. */
#include "bpf/kernel.bpf.h"
#include "bpf/maps.bpf.h"

SEC("raw_tp/sched_process_fork")
int follow_fork(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *child = (struct task_struct *)ctx->args[1];
	__u32 parent_pid = bpf_get_current_pid_tgid() >> 32;
	__u32 child_pid = BPF_CORE_READ(child, tgid);
	__u8 wanted = 1;

	if (child_pid != parent_pid && bpf_map_lookup_elem(&filter_pids, &parent_pid))
		bpf_map_update_elem(&filter_pids, &child_pid, &wanted, BPF_ANY);
	return 0;
}
