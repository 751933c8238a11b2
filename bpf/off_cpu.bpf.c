/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Times in which threads do not run: shared/off_cpu.h.
 *
 * Attach points: BTF tracepoint sched_switch(preempt, prev, next), in the context of the thread
 * that stops running, with its run queue locked and interrupts off: most blocks must cost little.
 * sched_exit_tp(is_switch), where it exists, in the context of the thread that runs again, with
 * interrupts on. And, if wakers are wanted, sched_waking(task), in the context of the thread that
 * wakes another one, or of an interrupt, with interrupts off.
 * Maps: off_cpu_slots, off_cpu_turns; for chosen blocks those of the sampler. */
#include "bpf/filter.bpf.h"
#include "bpf/futex.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/off_cpu.bpf.h"
#include "bpf/opts.bpf.h"
#include "bpf/run_delay.bpf.h"
#include "bpf/sample.bpf.h"
#include "bpf/threshold.bpf.h"
#include "bpf/wall.bpf.h"

/* Returns the probability with which a block is chosen at its beginning; 0: it is not. */
static __always_inline __u32 choose_at_begin(__u64 predicted_ns, bool is_first)
{
	__u32 share;

	if (is_first)
		return OFF_CPU_CERTAIN;
	if (off_cpu_has_exit)
		return predicted_ns >= OFF_CPU_LONG_NS && predicted_ns >= off_cpu_threshold_ns
			       ? OFF_CPU_CERTAIN
			       : 0;
	share = share_of_threshold(predicted_ns, off_cpu_threshold_ns);
	return share < OFF_CPU_MIN_PROBABILITY ? OFF_CPU_MIN_PROBABILITY : share;
}

static __always_inline void set_rival(struct sample_event *event, const char *rival_comm)
{
	if (rival_comm)
		__builtin_memcpy(event->rival_comm, rival_comm, TASK_COMM_LEN);
	else
		event->rival_comm[0] = '\0';
}

/* What a record says of its block, besides the stacks. */
struct block_facts {
	__u8 kind;
	bool was_preempted;
	bool was_throttled;
	__u64 time_ns;
	__u64 length_ns;
	__u32 probability;
	__u32 sequence;
	__u32 runnable_us;
	__u64 queued_ns; /* as in the record */
	const char *rival_comm;
};

/* The thread has the mark of a wait for a device until it has run on. */
static __always_inline __u8 read_wait_flags(struct task_struct *task,
					    const struct block_facts *facts)
{
	if (facts->was_throttled)
		return WAIT_FLAG_PREEMPTED | WAIT_FLAG_THROTTLED;
	if (facts->was_preempted)
		return WAIT_FLAG_PREEMPTED;
	return BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait) ? WAIT_FLAG_IO : 0;
}

/* Notes the lock of user space that the current task waits for, if it does. Returns whether the
 * block is wanted. */
static __always_inline bool note_lock(struct task_struct *task, struct scratch *scratch)
{
	struct sample_event *event = &scratch->event;
	__u8 flag = 0;

	if (!(event->wait_flags & WAIT_FLAG_PREEMPTED))
		flag = read_user_lock(task, scratch, &event->lock);
	event->wait_flags |= flag;
	return flag != 0 || !off_cpu_only_locks;
}

/* Fills in what a record says of the current task but its stacks. Returns whether it is wanted. */
__noinline int read_wanted(void)
{
	struct task_struct *task = current_task();
	struct scratch *scratch = get_scratch();

	if (!scratch || !cgroup_is_wanted(task))
		return false;
	read_task(task, &scratch->event);
	return sample_is_wanted(&scratch->event);
}

/* Sends a record with the stacks of the current task. Returns whether the task is wanted and the
 * record was sent. */
static __always_inline bool send_block(void *ctx, struct task_struct *task,
				       const struct block_facts *facts)
{
	struct scratch *scratch = get_scratch();
	struct sample_event *event;

	if (!scratch || !read_wanted())
		return false;
	event = &scratch->event;
	event->kind = facts->kind;
	event->time_ns = facts->time_ns;
	event->length_ns = facts->length_ns;
	event->probability = facts->probability;
	event->sequence = facts->sequence;
	event->runnable_us = facts->runnable_us;
	event->queued_ns = facts->queued_ns;
	set_rival(event, facts->rival_comm);
	event->wait_flags = read_wait_flags(task, facts);
	if (!note_lock(task, scratch))
		return false;
	read_stacks(ctx, task, scratch);
	if (output_event(event, scratch->unwind.asks || must_be_read_soon(scratch)) < 0) {
		stat_add(STAT_BLOCK_LOST);
		return false;
	}
	stat_add(STAT_BLOCK_SENT);
	return true;
}

/* Returns the time since the thread was woken, if that was seen. */
static __always_inline __u32 us_since_wake(const struct off_cpu_slot *slot, __u64 now_ns)
{
	if (!slot->is_woken)
		return 0;
	return (__u32)((now_ns - slot->woken_ns) / NSEC_PER_USEC);
}

/* Returns whether the record was sent. If it is lost, the agent sees in the slot that the block is
 * over. Of the facts, those of its end count. */
static __always_inline bool send_end(__u32 tid, const struct block_facts *facts)
{
	__u32 index = unwinder_is_busy();
	struct scratch *scratch = bpf_map_lookup_elem(&scratch_of_cpu, &index);
	struct sample_event *event;

	if (!scratch)
		return false;
	event = &scratch->event;
	event->kind = RECORD_BLOCK_END;
	event->time_ns = facts->time_ns;
	event->tid = tid;
	event->sequence = facts->sequence;
	event->runnable_us = facts->runnable_us;
	event->queued_ns = facts->queued_ns;
	set_rival(event, facts->rival_comm);
	event->nr_kernel = 0;
	event->nr_user = 0;
	event->unwind_result = UNWIND_COMPLETE;
	return output_event(event, false) >= 0;
}

/* Chooses a block by its length. Returns the probability; 0: it is not chosen. A multiplication
 * tells of nearly all that are not, and costs less than the division. */
static __always_inline __u32 choose_by_length(__u64 length_ns)
{
	__u64 random = bpf_get_prandom_u32(), threshold_ns = off_cpu_threshold_ns;
	__u32 probability;

	if (length_ns < off_cpu_min_ns || ((random >> 2) * threshold_ns) >> 30 > length_ns)
		return 0;
	probability = share_of_threshold(length_ns, threshold_ns);
	return random < probability ? probability : 0;
}

/* Notes a block that is over. What the thread, which runs next, knows of it cannot be read before
 * it does. Returns NULL if another thread's turn has not ended. */
static __always_inline struct off_cpu_turn *end_late(__u32 tid, __u64 begin_ns, __u64 now_ns)
{
	struct off_cpu_turn *turn = get_turn();

	if (!turn || turn->is_unwinding)
		return NULL;
	turn->tid = tid;
	turn->end_ns = now_ns;
	turn->length_ns = now_ns - begin_ns;
	turn->probability = 0;
	turn->was_preempted = false;
	turn->was_throttled = false;
	turn->was_begun = false;
	turn->sequence = 0;
	turn->runnable_us = 0;
	turn->run_delay_ns = RUN_DELAY_UNKNOWN;
	return turn;
}

static __always_inline struct off_cpu_turn *end_late_slot(const struct off_cpu_slot *slot,
							  __u32 tid, __u64 now_ns)
{
	struct off_cpu_turn *turn = end_late(tid, slot->begin_ns, now_ns);

	if (!turn)
		return NULL;
	turn->was_preempted = slot->was_preempted;
	turn->was_throttled = slot->was_throttled;
	turn->runnable_us = us_since_wake(slot, now_ns);
	turn->run_delay_ns = slot->run_delay_ns;
	return turn;
}

static __always_inline void end_unchosen(const struct off_cpu_slot *slot, __u32 tid, __u64 now_ns)
{
	__u32 probability = slot->is_woken ? slot->wake_probability
					   : choose_by_length(now_ns - slot->begin_ns);
	struct off_cpu_turn *turn;

	if (probability == 0)
		return;
	turn = end_late_slot(slot, tid, now_ns);
	if (!turn) {
		stat_add(STAT_BLOCK_LOST);
		return;
	}
	turn->probability = probability;
	if (slot->is_woken)
		turn->sequence = slot->sequence;
}

/* The same as runnable_us() before the thread runs. */
static __always_inline __u32 runnable_us_at_switch(struct task_struct *task,
						   struct task_struct *rival,
						   const struct off_cpu_slot *slot, __u64 now_ns)
{
	__u64 queued_ns = queued_at_switch_ns(task, rival, slot, now_ns);

	if (slot->was_preempted)
		return 0;
	return queued_ns == QUEUED_UNKNOWN ? us_since_wake(slot, now_ns)
					   : (__u32)(queued_ns / NSEC_PER_USEC);
}

static __always_inline void end_chosen(struct task_struct *task, struct task_struct *rival,
				       const struct off_cpu_slot *slot, __u32 tid, __u64 now_ns)
{
	struct off_cpu_turn *turn = off_cpu_has_exit ? end_late_slot(slot, tid, now_ns) : NULL;

	if (!turn) {
		const struct block_facts facts = {
			.time_ns = now_ns,
			.sequence = slot->sequence,
			.runnable_us = runnable_us_at_switch(task, rival, slot, now_ns),
			.queued_ns = queued_of_next(slot),
		};

		(void)send_end(tid, &facts);
		return;
	}
	turn->was_begun = true;
	turn->sequence = slot->sequence;
}

static __always_inline void end_known(struct task_struct *task, struct task_struct *rival,
				      struct off_cpu_slot *slot, __u32 tid, __u64 now_ns)
{
	__u64 length_ns = now_ns - slot->begin_ns;

	wall_add(task, tid, slot->begin_ns, now_ns);
	if (slot->is_chosen)
		end_chosen(task, rival, slot, tid, now_ns);
	else if (off_cpu_has_exit)
		end_unchosen(slot, tid, now_ns);
	if (length_ns > OFF_CPU_MAX_THRESHOLD_NS)
		length_ns = OFF_CPU_MAX_THRESHOLD_NS;
	slot->predicted_ns = slot->predicted_ns - slot->predicted_ns / 4 + length_ns / 4;
	slot->begin_ns = 0;
	slot->run_ns = now_ns;
	slot->is_chosen = false;
}

/* The same for a thread that has waited since the programs began. */
static __always_inline void end_unknown(struct task_struct *task, __u32 tid, __u64 now_ns)
{
	__u32 probability = choose_by_length(now_ns - off_cpu_start_ns);
	struct off_cpu_turn *turn = probability > 0 ? end_late(tid, off_cpu_start_ns, now_ns)
						    : NULL;

	wall_add(task, tid, off_cpu_start_ns, now_ns);
	if (turn)
		turn->probability = probability;
}

/* A thread that is older than the programs and was not seen yet has waited since then. One that
 * never ran has waited since it was made. */
static __always_inline void end_block(struct task_struct *task, struct task_struct *rival,
				      __u32 tid, __u64 now_ns)
{
	struct off_cpu_slot *slot = slot_of(tid);

	if (!slot)
		return;
	if (slot->tid == tid && slot->begin_ns != 0)
		end_known(task, rival, slot, tid, now_ns);
	else if (off_cpu_has_exit && slot->tid == 0 && off_cpu_start_ns != 0 &&
		 READ_KERNEL(task->start_boottime) < off_cpu_start_boot_ns)
		end_unknown(task, tid, now_ns);
	else if (wall_is_told && count_switches(task) == 0)
		wall_add(task, tid, READ_KERNEL(task->start_time), now_ns);
}

/* Counts a block of the current thread, which was not seen to run again (turn_is_mine()). The agent
 * finds by itself the blocks that were chosen when they began. */
static __always_inline void count_unended(const struct off_cpu_slot *slot, __u64 now_ns)
{
	if (slot->begin_ns == 0)
		return;
	wall_forget(slot->tid);
	if (slot->is_chosen || !off_cpu_has_exit)
		return;
	if (choose_by_length(now_ns - slot->begin_ns) > 0 && read_wanted())
		stat_add(STAT_BLOCK_LOST);
}

static __always_inline void begin_block(void *ctx, struct task_struct *task, bool is_preempted,
					__u64 now_ns)
{
	__u32 state = read_state(task), tid = (__u32)READ_KERNEL(task->pid), probability;
	struct off_cpu_slot *slot = slot_of(tid);
	bool is_first;

	if (!slot)
		return;
	is_first = slot->tid != tid;
	if (is_first) {
		slot->predicted_ns = 0;
		slot->told_ns = first_told_ns(task);
		slot->run_ns = 0;
	} else {
		count_unended(slot, now_ns);
	}
	slot->is_chosen = false;
	slot->begin_ns = 0;
	slot->tid = state & TASK_DEAD ? 0 : tid;
	if (state & (TASK_DEAD | TASK_NOLOAD))
		return;
	slot->begin_ns = now_ns;
	slot->run_delay_ns = read_run_delay(task);
	slot->was_preempted = is_preempted || state == TASK_RUNNING;
	slot->was_throttled = slot->was_preempted && is_throttled(task);
	slot->is_woken = false;
	probability = choose_at_begin(slot->predicted_ns, is_first);
	if (probability == 0 || bpf_get_prandom_u32() > probability)
		return;
	if (unwinder_is_busy()) { /* newer kernels may preempt it */
		stat_add(STAT_BLOCK_LOST);
		return;
	}
	slot->sequence++;
	const struct block_facts facts = {
		.kind = RECORD_BLOCK_BEGIN,
		.was_preempted = slot->was_preempted,
		.was_throttled = slot->was_throttled,
		.time_ns = now_ns,
		.probability = probability,
		.sequence = slot->sequence,
		.queued_ns = off_cpu_has_exit ? queued_of_next(slot)
					      : untold_ns(slot, tid, slot->run_delay_ns),
	};
	slot->is_chosen = send_block(ctx, task, &facts);
	if (slot->is_chosen && !off_cpu_has_exit)
		note_told(slot, tid, slot->run_delay_ns);
}

/* Notes who had the CPU until the present turn, which is that of a thread whose block was chosen.
 * The idle task has no rival: then the CPU was free. */
static __always_inline void note_rival(struct task_struct *rival, __u32 tid)
{
	struct off_cpu_turn *turn = get_turn();
	struct task_struct *leader;

	if (!turn || turn->tid != tid || turn->is_unwinding)
		return;
	turn->rival_comm[0] = '\0';
	if (READ_KERNEL(rival->pid) == 0)
		return;
	leader = READ_KERNEL(rival->group_leader);
	bpf_core_read(turn->rival_comm, TASK_COMM_LEN, &leader->comm);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(off_cpu_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u64 now_ns = bpf_ktime_get_ns();
	__u32 next_tid = (__u32)READ_KERNEL(next->pid);

	if (next_tid != 0) {
		end_block(next, prev, next_tid, now_ns);
		if (off_cpu_has_exit)
			note_rival(prev, next_tid);
	}
	if (READ_KERNEL(prev->pid) != 0)
		begin_block(ctx, prev, preempt, now_ns);
	return 0;
}

/* Returns for how long the current task, which was not preempted, waited for a CPU. */
static __always_inline __u32 runnable_us(const struct off_cpu_turn *turn, __u64 run_delay_ns)
{
	if (turn->was_preempted)
		return 0;
	if (turn->run_delay_ns == RUN_DELAY_UNKNOWN || run_delay_ns == RUN_DELAY_UNKNOWN)
		return turn->runnable_us;
	return (__u32)((run_delay_ns - turn->run_delay_ns) / NSEC_PER_USEC);
}

/* Sends the record of the end of the current task's block. Returns whether it was sent. */
static __always_inline bool send_turn(void *ctx, struct task_struct *task,
				      struct off_cpu_turn *turn, __u64 queued_ns)
{
	const struct block_facts facts = {
		.kind = RECORD_BLOCK_LATE,
		.was_preempted = turn->was_preempted,
		.was_throttled = turn->was_throttled,
		.time_ns = turn->end_ns,
		.length_ns = turn->length_ns,
		.probability = turn->probability,
		.sequence = turn->sequence,
		.runnable_us = turn->runnable_us,
		.queued_ns = queued_ns,
		.rival_comm = turn->rival_comm,
	};
	bool is_sent;

	if (turn->was_begun)
		return send_end((__u32)READ_KERNEL(task->pid), &facts);
	turn->is_unwinding = true;
	is_sent = send_block(ctx, task, &facts);
	turn->is_unwinding = false;
	return is_sent;
}

/* Returns whether the current task's block is over and is to be told of. Some kernels hide threads
 * of their own from every tracer. If such a thread gave up the CPU, no switch to the current task
 * was seen, and the turn is that of the hidden thread. */
static __always_inline bool turn_is_mine(struct off_cpu_turn *turn, struct task_struct *task,
					 __u32 tid)
{
	if (tid == 0 || turn->is_unwinding)
		return false;
	if (turn->tid != tid) {
		turn->tid = 0;
		turn->rival_comm[0] = '\0';
		end_block(task, task, tid, bpf_ktime_get_ns());
	}
	return turn->tid == tid;
}

SEC("tp_btf/sched_exit_tp")
int off_cpu_exit(void *ctx)
{
	struct task_struct *task = current_task();
	__u32 tid = (__u32)READ_KERNEL(task->pid);
	struct off_cpu_turn *turn = get_turn();
	struct off_cpu_slot *slot;
	__u64 run_delay_ns;
	bool is_mine;

	if (!turn || turn->tid == 0)
		return 0;
	is_mine = turn_is_mine(turn, task, tid);
	turn->tid = 0;
	slot = slot_of(tid);
	if (!is_mine || !slot)
		return 0;
	run_delay_ns = read_run_delay(task);
	turn->runnable_us = runnable_us(turn, run_delay_ns);
	barrier(); /* or the compiler copies what follows, for threads that were preempted */
	if (send_turn(ctx, task, turn, untold_ns(slot, tid, run_delay_ns)))
		note_told(slot, tid, run_delay_ns);
	return 0;
}

/* Whether a block is wanted depends on the thread that waits. */
static __always_inline bool sleeper_is_wanted(struct task_struct *task, struct scratch *scratch)
{
	struct task_struct *leader = READ_KERNEL(task->group_leader);
	struct sample_event *event = &scratch->event;

	if (!cgroup_is_wanted(task) ||
	    (off_cpu_only_locks && !read_user_lock(task, scratch, &event->lock)))
		return false;
	event->pid = (__u32)READ_KERNEL(task->tgid);
	event->tid = (__u32)READ_KERNEL(task->pid);
	bpf_core_read(event->thread_comm, sizeof(event->thread_comm), &task->comm);
	bpf_core_read(event->process_comm, sizeof(event->process_comm), &leader->comm);
	return sample_is_wanted(event);
}

/* Sends the stacks of the current task, which wakes another one. */
static __always_inline void send_waker(void *ctx, struct task_struct *woken, __u32 sequence,
				       __u64 now_ns)
{
	struct scratch *scratch = get_scratch();
	struct task_struct *task = current_task();
	struct sample_event *event;

	if (!scratch || !sleeper_is_wanted(woken, scratch))
		return;
	event = &scratch->event;
	event->woken_tid = event->tid;
	read_task(task, event);
	event->kind = RECORD_WAKER;
	event->time_ns = now_ns;
	event->sequence = sequence;
	read_stacks(ctx, task, scratch);
	if (output_event(event, scratch->unwind.asks || must_be_read_soon(scratch)) < 0)
		stat_add(STAT_BLOCK_LOST);
}

/* Returns whether the block was chosen, or is now. */
static __always_inline bool choose_at_wake(struct off_cpu_slot *slot, __u64 now_ns)
{
	if (slot->is_chosen)
		return true;
	if (!off_cpu_has_exit)
		return false;
	slot->wake_probability = choose_by_length(now_ns - slot->begin_ns);
	if (slot->wake_probability == 0)
		return false;
	slot->sequence++;
	return true;
}

SEC("tp_btf/sched_waking")
int BPF_PROG(off_cpu_waking, struct task_struct *task)
{
	__u32 tid = (__u32)READ_KERNEL(task->pid);
	struct off_cpu_slot *slot = slot_of(tid);
	__u64 now_ns;

	if (!slot || slot->tid != tid || slot->begin_ns == 0 || slot->was_preempted ||
	    slot->is_woken)
		return 0;
	now_ns = bpf_ktime_get_ns();
	slot->is_woken = true;
	slot->woken_ns = now_ns;
	if (choose_at_wake(slot, now_ns) && !unwinder_is_busy())
		send_waker(ctx, task, slot->sequence, now_ns);
	return 0;
}
