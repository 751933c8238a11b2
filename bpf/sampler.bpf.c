/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The sampler: what a CPU is doing when its timer fires.
 *
 * Attach point: one cpu-clock perf_event for each online CPU; runs in interrupt context on that
 * CPU, with the registers of whatever was interrupted.
 * Maps: scratch_of_cpu (the record is built there), samples (out), stats, filter_* (maps.bpf.h);
 * cgroup_slots.
 * Limits: MAX_KERNEL_FRAMES + MAX_USER_FRAMES frames.
 *
 * Order matters for cost: an idle CPU leaves after one comparison, a task of an excluded cgroup
 * after one look into a map, any other outside the target before any stack is read. */
#include "bpf/compat.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/opts.bpf.h"
#include "bpf/task.bpf.h"
#include "bpf/unwind.bpf.h"

#define YOUNG_NS 1000000000ULL /* age of a process */

/* Fills in all of the record but its stacks. */
static __always_inline void read_task(struct task_struct *task, struct sample_event *event)
{
	struct task_struct *leader = READ_KERNEL(task->group_leader);
	__u64 pid_tgid = bpf_get_current_pid_tgid();

	event->time_ns = bpf_ktime_get_ns();
	event->start_ns = READ_KERNEL(leader->start_boottime);
	event->cgroup_id = cgroup_id(task_cgroup(task));
	event->pid = pid_tgid >> 32;
	event->tid = (__u32)pid_tgid;
	event->cpu = bpf_get_smp_processor_id();
	bpf_get_current_comm(event->thread_comm, sizeof(event->thread_comm));
	bpf_core_read(event->process_comm, sizeof(event->process_comm), &leader->comm);
}

static __always_inline void read_kernel_stack(void *ctx, struct sample_event *event)
{
	long bytes;

	event->nr_kernel = 0;
	if (event->in_user)
		return;
	bytes = bpf_get_stack(ctx, event->frames, MAX_KERNEL_FRAMES * sizeof(__u64), 0);
	if (bytes > 0)
		event->nr_kernel = (__u16)(bytes / sizeof(__u64));
	else
		stat_add(STAT_KERNEL_STACK_FAILED);
}

/* Reads the registers that the task has in user space, or had when it entered the kernel. Threads
 * that the kernel made in the process (io_uring's workers) were never in user space. The registers
 * saved for them are leftovers of the thread that made them, and are not used. (The context's
 * registers are read in any case, because the verifier wants that through the context pointer.) */
static __always_inline enum unwind_result read_user_regs(struct bpf_perf_event_data *ctx,
							 struct task_struct *task,
							 struct scratch *scratch)
{
	struct unwind_state *state = &scratch->unwind;
	bpf_user_pt_regs_t *saved = &scratch->saved_regs;
	bool is_compat = regs_are_compat(&ctx->regs);
	const void *from;

	COPY_REGS(state->regs, &ctx->regs);
	state->ip = PT_REGS_IP(&ctx->regs);
	barrier();
	if (!scratch->event.in_user) {
		from = task_user_regs(task);
		if (bpf_probe_read_kernel(saved, sizeof(*saved), from) < 0 || !regs_are_user(saved))
			return UNWIND_NO_REGISTERS;
		COPY_REGS(state->regs, saved);
		state->ip = PT_REGS_IP(saved);
		is_compat = regs_are_compat(saved);
	}
	if (state->ip == 0 && state->regs[REG_SP] == 0)
		return UNWIND_NO_REGISTERS;
	return is_compat ? UNWIND_COMPAT : UNWIND_COMPLETE;
}

/* Returns whether a process is being made by execve(2), or taken down. Then its memory is gone,
 * or not the one that its registers belong to, and its stack has nothing but them. */
static __always_inline bool is_without_stack(const struct task_struct *task, unsigned int flags,
					     const struct sample_event *event)
{
	if (event->in_user || event->nr_user > 1)
		return false;
	if (flags & PF_EXITING)
		return true;
	return bpf_core_field_exists(struct task_struct, in_execve) &&
	       BPF_CORE_READ_BITFIELD_PROBED(task, in_execve);
}

/* Notes how a process without a mapping table was unwound. */
static __always_inline void note_mapping_table(struct scratch *scratch, __u32 result)
{
	struct sample_event *event = &scratch->event;

	event->lacks_mapping_table = scratch->unwind.mapping_table == 0;
	event->lacks_file = result == UNWIND_NEW_PROCESS && scratch->unwind.lacks_file;
	if (!event->lacks_mapping_table)
		return;
	if (result != UNWIND_NEW_PROCESS)
		stat_add(STAT_UNLISTED_KNOWN);
	else
		stat_add(event->lacks_file ? STAT_UNLISTED_FILE : STAT_UNLISTED_BROKEN);
}

static __always_inline __u32 read_user_stack(struct bpf_perf_event_data *ctx,
					     struct task_struct *task, struct scratch *scratch)
{
	unsigned int flags = READ_KERNEL(task->flags);
	enum unwind_result result;

	scratch->event.nr_user = 0;
	scratch->event.lacks_mapping_table = false;
	scratch->event.lacks_file = false;
	scratch->unwind.asks = false;
	scratch->unwind.is_young = bpf_ktime_get_boot_ns() - scratch->event.start_ns < YOUNG_NS;
	scratch->unwind.pid = scratch->event.pid;
	scratch->unwind.is_exiting = flags & PF_EXITING;
	if (flags & PF_KTHREAD)
		return UNWIND_KERNEL_THREAD;
	result = read_user_regs(ctx, task, scratch);
	if (result != UNWIND_COMPLETE)
		return result;
	result = (__u32)unwind_native();
	if (is_without_stack(task, flags, &scratch->event)) {
		scratch->event.nr_user = 0;
		return UNWIND_NO_STACK;
	}
	note_mapping_table(scratch, result);
	return result;
}

/* Returns whether the agent should look at a runtime now: a young process may end before the agent
 * polls again. What names frames of Python was copied, so only a Python that cannot be read by what
 * is known of its file is worth a look. The state of the unwinder is that of this stack if it has
 * frames. */
static __always_inline bool must_be_read_soon(const struct scratch *scratch)
{
	const struct unwind_state *state = &scratch->unwind;

	return state->is_young && scratch->event.nr_user > 0 &&
	       (state->python == PYTHON_UNREADABLE || state->descriptors[RUNTIME_HOTSPOT] != 0 ||
		state->descriptors[RUNTIME_V8] != 0);
}

/* The agent polls; only a process that it should look at now wakes it. */
static __always_inline void send(struct sample_event *event, bool is_urgent)
{
	__u64 flags = is_urgent ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
	__u32 nr_frames = (__u32)event->nr_kernel + event->nr_user;
	__u64 bytes = offsetof(struct sample_event, frames) + nr_frames * sizeof(__u64);

	if (bytes > sizeof(*event))
		bytes = sizeof(*event);
	if (bpf_ringbuf_output(&samples, event, bytes, flags) < 0)
		stat_add(STAT_RING_FULL);
	else
		stat_add(STAT_SENT);
}

SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = current_task();
	struct sample_event *event;
	struct scratch *scratch;
	__u32 zero = 0;
	__u32 result;

	if (!include_idle && READ_KERNEL(task->pid) == 0) {
		stat_add(STAT_IDLE);
		return 0;
	}
	if (!cgroup_is_wanted(task))
		return 0;
	scratch = bpf_map_lookup_elem(&scratch_of_cpu, &zero);
	if (!scratch) {
		stat_add(STAT_NO_SCRATCH);
		return 0;
	}
	event = &scratch->event;
	read_task(task, event);
	if (!sample_is_wanted(event)) {
		stat_add(STAT_FILTERED);
		return 0;
	}
	event->in_user = regs_are_user(&ctx->regs);
	read_kernel_stack(ctx, event);
	result = read_user_stack(ctx, task, scratch);
	event->unwind_result = result;
	stat_add(STAT_UNWIND_FIRST + result);
	send(event, scratch->unwind.asks || must_be_read_soon(scratch));
	return pass_to_perf;
}
