/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Finds the blocks that no record tells of: those of threads that have slept since the recording
 * began, or whose record was lost (shared/off_cpu.h).
 *
 * Attach point: an iterator over all threads, which the agent runs now and then; in the context of
 * the agent, with other CPUs at work. Only one of its threads runs it.
 * Maps: off_cpu_slots, sweep_scratch; filter_*, cgroup_slots; samples (out).
 *
 * A thread that wakes up meanwhile changes its slot itself (off_cpu.bpf.c). So the slot is taken
 * first; then the stack is read, which takes longer than it takes other CPUs to see the slot; and
 * the record is sent if the thread has not run until then. If it runs a moment later, the slot
 * does not have the block any more, which the agent checks when it gets the record. */
#include "bpf/compat.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/off_cpu.bpf.h"
#include "bpf/opts.bpf.h"
#include "bpf/run_delay.bpf.h"
#include "bpf/sample.bpf.h"
#include "bpf/thread_sweep.bpf.h"

/* Threads that could run will soon, and are seen then. */
static __always_inline bool is_asleep(struct task_struct *task)
{
	__u32 state = read_state(task);

	return state != TASK_RUNNING && !(state & (TASK_DEAD | TASK_NOLOAD | TASK_NEW)) &&
	       !READ_KERNEL(task->on_cpu);
}

/* Returns whether a block that was not chosen goes on for so long that it is chosen now: the last
 * time, if it would be when it ends. Where blocks are chosen at their beginning, others stand for
 * it. */
static __always_inline bool is_overdue(const struct off_cpu_slot *slot, __u64 now_ns)
{
	__u64 limit_ns = off_cpu_min_rest_ns == 0 ? off_cpu_threshold_ns : OFF_CPU_OVERDUE_NS;

	return off_cpu_has_exit && !slot->is_chosen && !slot->is_woken && !slot->was_preempted &&
	       now_ns > slot->begin_ns + limit_ns;
}

/* Returns when the block of a thread that sleeps began, as far as it is known; 0: it is known, or
 * another thread has the slot. */
static __always_inline __u64 begin_of(struct task_struct *task, const struct off_cpu_slot *slot,
				      __u32 tid, __u64 now_ns)
{
	if (slot->begin_ns != 0)
		return slot->tid == tid && is_overdue(slot, now_ns) ? slot->begin_ns : 0;
	if (slot->tid == 0 && READ_KERNEL(task->start_boottime) < off_cpu_start_boot_ns)
		return off_cpu_start_ns;
	return now_ns;
}

static __always_inline void take_slot(struct off_cpu_slot *slot, struct task_struct *task,
				      __u32 tid, __u64 begin_ns)
{
	slot->run_delay_ns = read_run_delay(task);
	if (slot->tid != tid) {
		slot->predicted_ns = 0;
		slot->told_ns = slot->run_delay_ns;
		slot->run_ns = 0;
	}
	slot->tid = tid;
	slot->begin_ns = begin_ns;
	slot->was_preempted = false;
	slot->was_throttled = false;
	slot->is_woken = false;
	slot->sequence++;
	slot->is_chosen = true;
}

/* Puts the registers in place of the user frames. */
static __always_inline __u32 add_registers(struct task_struct *task, struct sweep_scratch *scratch)
{
	struct sample_event *event = &scratch->event;
	bpf_user_pt_regs_t *saved = &scratch->saved_regs;
	__u32 first = event->nr_kernel;

	if (READ_KERNEL(task->flags) & PF_KTHREAD)
		return UNWIND_KERNEL_THREAD;
	if (bpf_probe_read_kernel(saved, sizeof(*saved), task_user_regs(task)) < 0 ||
	    !regs_are_user(saved))
		return UNWIND_NO_REGISTERS;
	if (regs_are_compat(saved))
		return UNWIND_COMPAT;
	if (first > MAX_KERNEL_FRAMES)
		return UNWIND_NO_REGISTERS;
	COPY_REGS(scratch->regs, saved);
	scratch->regs[NR_REGS] = PT_REGS_IP(saved);
	for (__u32 i = 0; i < SWEEP_REGS; i++)
		event->frames[first + i] = scratch->regs[i];
	event->nr_user = SWEEP_REGS;
	return UNWIND_NEW_PROCESS;
}

static __always_inline void read_stack(struct task_struct *task, struct sweep_scratch *scratch)
{
	struct sample_event *event = &scratch->event;
	long bytes = bpf_get_task_stack(task, event->frames, MAX_KERNEL_FRAMES * sizeof(__u64), 0);

	event->nr_kernel = bytes > 0 ? (__u16)(bytes / sizeof(__u64)) : 0;
	event->nr_user = 0;
	event->wait_flags = BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait) ? WAIT_FLAG_IO : 0;
	event->unwind_result = add_registers(task, scratch);
}

/* Returns whether the record was sent: the thread still sleeps. */
static __always_inline bool send_found(struct task_struct *task, struct sweep_scratch *scratch,
				       const struct off_cpu_slot *slot, __u64 begin_ns)
{
	struct sample_event *event = &scratch->event;
	__u64 nr_switches = count_switches(task);

	event->kind = RECORD_BLOCK_FOUND;
	event->time_ns = bpf_ktime_get_ns();
	event->length_ns = event->time_ns - begin_ns;
	event->probability = OFF_CPU_CERTAIN;
	event->sequence = slot->sequence;
	event->queued_ns = queued_of_next(slot);
	read_stack(task, scratch);
	if (!is_asleep(task) || count_switches(task) != nr_switches || !slot->is_chosen)
		return false;
	if (output_event(event, false) < 0) {
		stat_add(STAT_BLOCK_LOST);
		return false;
	}
	stat_add(STAT_BLOCK_SENT);
	return true;
}

SEC("iter/task")
int thread_sweep(struct task_iterator *ctx)
{
	struct task_struct *task = ctx->task;
	struct sweep_scratch *scratch;
	struct off_cpu_slot *slot;
	__u64 begin_ns, was_begin_ns, was_told_ns;
	__u32 zero = 0, tid, was_tid;

	if (!task || !is_asleep(task))
		return 0;
	tid = (__u32)READ_KERNEL(task->pid);
	slot = slot_of(tid);
	scratch = bpf_map_lookup_elem(&sweep_scratch, &zero);
	if (!slot || !scratch)
		return 0;
	begin_ns = begin_of(task, slot, tid, bpf_ktime_get_ns());
	if (begin_ns == 0 || !describe(task, &scratch->event))
		return 0;
	was_tid = slot->tid;
	was_begin_ns = slot->begin_ns;
	was_told_ns = slot->told_ns;
	take_slot(slot, task, tid, begin_ns);
	if (send_found(task, scratch, slot, begin_ns) || !slot->is_chosen)
		return 0;
	slot->is_chosen = false; /* it is tried again the next time */
	slot->begin_ns = was_begin_ns;
	slot->tid = was_tid;
	slot->told_ns = was_told_ns;
	return 0;
}
