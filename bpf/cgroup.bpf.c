/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Tells the agent each cgroup at its birth, with its path: a container that lives for a moment
 * has a name before it has a sample, and whether it is sampled at all is decided before it runs.
 *
 * Attach points: raw tracepoints cgroup_mkdir(cgroup, path) and cgroup_rmdir(cgroup, path)
 * (include/trace/events/cgroup.h), in the context of the task that makes or removes the
 * directory, with preemption off.
 * Maps: cgroup_scratch, cgroup_events (out), stats. */
#include "bpf/kernel.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/opts.bpf.h"

static __always_inline void send_event(struct bpf_raw_tracepoint_args *ctx, __u32 kind)
{
	const struct cgroup *cgroup = (const struct cgroup *)ctx->args[0];
	const char *path = (const char *)ctx->args[1];
	struct cgroup_event *event;
	__u32 zero = 0;
	long bytes;

	/* Every directory of a v1 hierarchy has its event too. */
	if ((__u32)BPF_CORE_READ(cgroup, root, hierarchy_id) != cgroup_hierarchy)
		return;
	event = bpf_map_lookup_elem(&cgroup_scratch, &zero);
	if (!event)
		return;
	bytes = bpf_probe_read_kernel_str(event->path, sizeof(event->path), path);
	if (bytes <= 0 || bytes > CGROUP_PATH_MAX)
		return;
	event->time_ns = bpf_ktime_get_ns();
	event->id = BPF_CORE_READ(cgroup, kn, id);
	event->kind = kind;
	event->path_bytes = (__u32)bytes;
	if (bpf_ringbuf_output(&cgroup_events, event,
			       offsetof(struct cgroup_event, path) + (__u64)bytes,
			       BPF_RB_NO_WAKEUP) < 0)
		stat_add(STAT_CGROUP_EVENT_LOST);
}

SEC("raw_tp/cgroup_mkdir")
int cgroup_born(struct bpf_raw_tracepoint_args *ctx)
{
	send_event(ctx, CGROUP_BORN);
	return 0;
}

SEC("raw_tp/cgroup_rmdir")
int cgroup_died(struct bpf_raw_tracepoint_args *ctx)
{
	send_event(ctx, CGROUP_DIED);
	return 0;
}
