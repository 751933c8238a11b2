/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What samples of all kinds have in common: the record of the current task and its user stack. */
#ifndef BPF_SAMPLE_BPF_H
#define BPF_SAMPLE_BPF_H

#include "bpf/compat.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/opts.bpf.h"
#include "bpf/ring.bpf.h"
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

/* The task is in the kernel. */
static __always_inline void read_kernel_stack(void *ctx, struct sample_event *event)
{
	long bytes;

	event->nr_kernel = 0;
	bytes = bpf_get_stack(ctx, event->frames, MAX_KERNEL_FRAMES * sizeof(__u64), 0);
	if (bytes > 0)
		event->nr_kernel = (__u16)(bytes / sizeof(__u64));
	else
		stat_add(STAT_KERNEL_STACK_FAILED);
}

/* Reads the registers that a task in the kernel had when it entered it. Threads that the kernel
 * made in the process (io_uring's workers) were never in user space. The registers saved for them
 * are leftovers of the thread that made them, and are not used. */
static __always_inline enum unwind_result read_saved_regs(struct task_struct *task,
							  struct scratch *scratch)
{
	struct unwind_state *state = &scratch->unwind;
	bpf_user_pt_regs_t *saved = &scratch->saved_regs;
	const void *from = task_user_regs(task);

	if (bpf_probe_read_kernel(saved, sizeof(*saved), from) < 0 || !regs_are_user(saved))
		return UNWIND_NO_REGISTERS;
	COPY_REGS(state->regs, saved);
	state->ip = PT_REGS_IP(saved);
	return regs_are_compat(saved) ? UNWIND_COMPAT : UNWIND_COMPLETE;
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

/* Returns whether off_cpu_exit(), lock_end(), growth() or heap_alloc() was interrupted while it
 * uses this CPU's scratch record. */
static __always_inline bool unwinder_is_busy(void)
{
	const struct off_cpu_turn *turn;

	if (!off_cpu_has_exit && !lock_is_followed && !growth_is_followed && !heap_is_followed)
		return false;
	turn = get_turn();
	return turn && turn->is_unwinding;
}

/* Before the registers are read. */
static __always_inline void begin_user_stack(struct scratch *scratch, unsigned int flags)
{
	scratch->event.nr_user = 0;
	scratch->event.lacks_mapping_table = false;
	scratch->event.lacks_file = false;
	scratch->unwind.asks = false;
	scratch->unwind.is_young = bpf_ktime_get_boot_ns() - scratch->event.start_ns < YOUNG_NS;
	scratch->unwind.pid = scratch->event.pid;
	scratch->unwind.is_exiting = flags & PF_EXITING;
}

/* Unwinds the user stack by the registers of scratch->unwind. */
static __always_inline __u32 unwind_user_stack(const struct task_struct *task,
					       struct scratch *scratch, unsigned int flags)
{
	const struct unwind_state *state = &scratch->unwind;
	__u32 result;

	if (state->ip == 0 && state->regs[REG_SP] == 0)
		return UNWIND_NO_REGISTERS;
	result = (__u32)unwind_native();
	if (is_without_stack(task, flags, &scratch->event)) {
		scratch->event.nr_user = 0;
		return UNWIND_NO_STACK;
	}
	note_mapping_table(scratch, result);
	return result;
}

/* Reads the user stack of the current task, which is in the kernel. */
static __always_inline void read_saved_user_stack(struct task_struct *task, struct scratch *scratch)
{
	struct sample_event *event = &scratch->event;
	unsigned int flags = READ_KERNEL(task->flags);
	__u32 result = UNWIND_KERNEL_THREAD;

	event->in_user = false;
	begin_user_stack(scratch, flags);
	if (!(flags & PF_KTHREAD)) {
		result = read_saved_regs(task, scratch);
		if (result == UNWIND_COMPLETE)
			result = unwind_user_stack(task, scratch, flags);
	}
	event->unwind_result = result;
}

/* The same for both stacks. */
static __always_inline void read_stacks(void *ctx, struct task_struct *task,
					struct scratch *scratch)
{
	read_kernel_stack(ctx, &scratch->event);
	read_saved_user_stack(task, scratch);
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

/* Sends the record up to its last frame. The agent polls; only a process that it should look at now
 * wakes it. */
static __always_inline long output_event(struct sample_event *event, bool is_urgent)
{
	__u64 flags = is_urgent ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
	__u32 nr_frames = (__u32)event->nr_kernel + event->nr_user;
	__u64 bytes = offsetof(struct sample_event, frames) + nr_frames * sizeof(__u64);

	if (bytes > sizeof(*event))
		bytes = sizeof(*event);
	return output_record(event, bytes, flags);
}

#endif
