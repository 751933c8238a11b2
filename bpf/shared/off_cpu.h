/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The contract for times in which threads do not run.
 *
 * A thread's block begins when it stops running and ends when it runs again. The kernel side
 * chooses some blocks, with a probability that is sent along: time / probability estimates the time
 * of all blocks. Records of the ring buffer:
 *
 *	RECORD_BLOCK_BEGIN   with the stack, when a block was chosen at its beginning
 *	RECORD_BLOCK_END     without a stack, when the thread runs again
 *	RECORD_BLOCK_LATE    with the stack, when a block was chosen at its end
 *	RECORD_BLOCK_FOUND   with the kernel's part of the stack and the registers of user space, when
 *	                     a thread was found asleep whose block no record tells of: instead of
 *	                     RECORD_BLOCK_BEGIN
 *	RECORD_WAKER         with the stack of the thread that wakes the one whose block was chosen,
 *	                     if wakers are wanted; before the record of the block's end
 *	RECORD_QUEUED        without a stack, for the time in run queues that no other record tells of
 *
 * At its end the length of a block is known: its probability is the length's share of a threshold,
 * so that each chosen block stands for the threshold, or for its own longer time. Then only the
 * first block of a thread, and those of threads that wait for longer than the threshold, are chosen
 * at their beginning, for certain, so that the agent sees blocks that have not ended. If wakers are
 * wanted, the others are chosen when the thread is woken, by their length until then.
 *
 * Kernels without the tracepoint sched_exit_tp (before about Linux 6.15) cannot read the stack at a
 * block's end. There, all are chosen at their beginning, with a probability by the lengths of the
 * thread's blocks before. The estimate is right on average whether these predict anything or not,
 * because the choice does not depend on the length; but rare long blocks of threads with many short
 * ones make it vary.
 *
 * The time in run queues need not be estimated, because the kernel counts it for each thread
 * (sched_info.run_delay). Each record of a block tells by how much that number has grown since the
 * last record of the thread (sample_event.queued_ns): at the end of the block, or at its beginning
 * where its end cannot be read. So what the records of a thread tell adds up to what the kernel
 * counts. For the time that no block's record tells of, RECORD_QUEUED is sent: when all threads are
 * visited, for those with OFF_CPU_MIN_REST_NS or more of it, and at the last visit for all; and
 * when a thread exits, with a probability by its length if it is shorter than that. */
#ifndef BPF_SHARED_OFF_CPU_H
#define BPF_SHARED_OFF_CPU_H

#include "bpf/shared/cfi.h"

#include <linux/types.h>

/* Words of RECORD_BLOCK_FOUND in place of user frames, if it has any: the registers by DWARF
 * number, and the instruction pointer. */
#define SWEEP_REGS (NR_REGS + 1)

/* What the kernel knew of a thread when it stopped running: bits of sample_event.wait_flags. */
#define WAIT_FLAG_PREEMPTED 1 /* it could have run on */
#define WAIT_FLAG_IO 2 /* it waits for a device */
#define WAIT_FLAG_LOCK 4 /* it waits for a lock of user space (sample_event.lock) */
#define WAIT_FLAG_THROTTLED 8 /* it could have run on, had its cgroup not used up its limit */
/* It waits for a lock of user space, or for something else: its functions tell. */
#define WAIT_FLAG_MAYBE_LOCK 16

/* Threads share a slot if the lowest bits of their ids are the same. If two of them wait at the
 * same time, the block that began first is cut off. */
#define OFF_CPU_SLOTS (1 << 16)

/* In place of the time in run queues: see sample_event.queued_ns. */
#define QUEUED_UNKNOWN ((__u64)-1)

/* Time in run queues for which a record of its own is sent for certain. The agent sets the limit to
 * 0 for the last visit to all threads, when records end. */
#define OFF_CPU_MIN_REST_NS (1000 * 1000ULL)

/* Probabilities are shares of this. */
#define OFF_CPU_CERTAIN 0xffffffffU
#define OFF_CPU_MIN_PROBABILITY (OFF_CPU_CERTAIN / 256) /* at a beginning */

/* Threads whose blocks are this long, and reach the threshold, are seen while they wait. */
#define OFF_CPU_LONG_NS (100 * 1000 * 1000ULL)

/* A block that was not chosen when it began is chosen once it is this long. */
#define OFF_CPU_OVERDUE_NS (1000 * 1000 * 1000ULL)

/* Limits of the threshold. The agent raises it if many blocks are chosen, and lowers it if few
 * are. */
#define OFF_CPU_MIN_THRESHOLD_NS (1000 * 1000ULL)
#define OFF_CPU_MAX_THRESHOLD_NS (10 * 1000 * 1000 * 1000ULL)

/* What is known of the thread that used a slot last. Written by the CPU on which the thread begins
 * or ends a block, or where it is found asleep; the agent reads it. */
struct off_cpu_slot {
	__u64 begin_ns; /* CLOCK_MONOTONIC; 0: the thread runs */
	__u64 run_ns; /* when it got a CPU at last; 0: not known */
	__u64 predicted_ns; /* length of its next block */
	__u32 tid;
	__u32 sequence; /* of the block that was chosen last, as in its records */
	__u8 is_chosen; /* the present block is */
	__u8 was_throttled; /* when it began; then it was preempted as well */
	__u8 was_preempted; /* when it began */
	__u8 is_woken; /* the waker was seen */
	__u32 wake_probability; /* with which the block was chosen then; 0: it was not */
	__u64 woken_ns; /* when it was */
	__u64 run_delay_ns; /* its time in run queues in all, up to the beginning of the block … */
	__u64 told_ns; /* … and as far as records have told of it; QUEUED_UNKNOWN */
};

#endif
