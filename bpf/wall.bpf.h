/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The time that each thread ran, and did not run, in all: shared/wall.h. */
#ifndef BPF_WALL_BPF_H
#define BPF_WALL_BPF_H

#include "bpf/compat.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/off_cpu.bpf.h"
#include "bpf/opts.bpf.h"
#include "bpf/shared/wall.h"
#include "bpf/task.bpf.h"

static __always_inline struct wall_slot *wall_slot_of(__u32 tid)
{
	__u32 index = tid & (OFF_CPU_SLOTS - 1);

	return bpf_map_lookup_elem(&wall_slots, &index);
}

static __always_inline __u64 later_of(__u64 a_ns, __u64 b_ns)
{
	return a_ns > b_ns ? a_ns : b_ns;
}

/* Returns since when the times of a thread count. */
static __always_inline __u64 wall_begin_ns(struct task_struct *task)
{
	return later_of(READ_KERNEL(task->start_time), wall_start_ns);
}

/* Returns the sum of a thread that does not have the slot: nothing, if nobody had it before, or if
 * the thread is younger than the sums and has stopped running once at most. */
static __always_inline __u64 first_off_ns(struct task_struct *task, const struct wall_slot *slot)
{
	bool is_young = READ_KERNEL(task->start_time) >= wall_start_ns;

	if (slot->start_ns != wall_start_ns)
		return 0;
	return is_young && count_switches(task) <= 1 ? 0 : WALL_UNKNOWN;
}

/* Adds the block that has ended now. */
static __always_inline void wall_add(struct task_struct *task, __u32 tid, __u64 begin_ns,
				     __u64 now_ns)
{
	struct wall_slot *slot = wall_is_told && wall_start_ns != 0 ? wall_slot_of(tid) : NULL;

	if (!slot)
		return;
	if (slot->tid != tid || slot->start_ns != wall_start_ns) {
		slot->off_ns = first_off_ns(task, slot);
		slot->tid = tid;
		slot->start_ns = wall_start_ns;
	}
	begin_ns = later_of(begin_ns, wall_start_ns);
	if (slot->off_ns != WALL_UNKNOWN && now_ns > begin_ns)
		slot->off_ns += now_ns - begin_ns;
}

/* A part of the sum is missing. */
static __always_inline void wall_forget(__u32 tid)
{
	struct wall_slot *slot = wall_is_told ? wall_slot_of(tid) : NULL;

	if (slot && slot->tid == tid)
		slot->off_ns = WALL_UNKNOWN;
}

/* Returns for how long a thread has not run, with the block that goes on, if there is one.
 * WALL_UNKNOWN. */
static __always_inline __u64 wall_off_ns(struct task_struct *task, const struct off_cpu_slot *block,
					 __u32 tid, __u64 now_ns)
{
	const struct wall_slot *slot = wall_slot_of(tid);
	bool has_slot = slot && slot->tid == tid && slot->start_ns == wall_start_ns;
	__u64 off_ns, begin_ns;

	if (!slot || (READ_KERNEL(task->flags) & PF_KTHREAD) ||
	    (block->tid != tid && (block->tid != 0 || read_state(task) != TASK_RUNNING)))
		return WALL_UNKNOWN;
	off_ns = has_slot ? slot->off_ns : first_off_ns(task, slot);
	if (off_ns == WALL_UNKNOWN || block->tid != tid || block->begin_ns == 0)
		return off_ns;
	begin_ns = later_of(block->begin_ns, wall_start_ns);
	return now_ns > begin_ns ? off_ns + now_ns - begin_ns : off_ns;
}

/* Fills in the record RECORD_TIMES, but for who the thread is. Returns whether it is to be sent. */
static __always_inline bool set_times(struct sample_event *event, struct task_struct *task,
				      const struct off_cpu_slot *block, __u32 tid)
{
	__u64 now_ns = bpf_ktime_get_ns(), begin_ns = wall_begin_ns(task), off_ns;

	if (!wall_is_told || wall_start_ns == 0 || now_ns < begin_ns + WALL_MIN_NS)
		return false;
	off_ns = wall_off_ns(task, block, tid, now_ns);
	if (off_ns > now_ns - begin_ns)
		return false;
	event->kind = RECORD_TIMES;
	event->time_ns = now_ns;
	event->length_ns = off_ns;
	event->ran_ns = now_ns - begin_ns - off_ns;
	event->wait_flags = 0;
	event->nr_kernel = 0;
	event->nr_user = 0;
	event->unwind_result = UNWIND_COMPLETE;
	return true;
}

#endif
