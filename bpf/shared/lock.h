/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The contract for waits for locks.
 *
 * RECORD_LOCK is sent when the current task, or an interrupt in it, has waited for a lock of the
 * kernel. Some waits are chosen, as in off_cpu.h: the probability is the share that the length of
 * the wait has of a threshold. Waits for locks of user space are blocks with WAIT_FLAG_LOCK
 * or WAIT_FLAG_MAYBE_LOCK. */
#ifndef BPF_SHARED_LOCK_H
#define BPF_SHARED_LOCK_H

/* The kind of a lock of the kernel: bits of sample_event.lock_flags. The kernel has the same ones
 * (include/trace/events/lock.h); none of them are set for a semaphore. */
#define LOCK_FLAG_SPIN 1
#define LOCK_FLAG_READ 2
#define LOCK_FLAG_WRITE 4
#define LOCK_FLAG_RT 8
#define LOCK_FLAG_PERCPU 16
#define LOCK_FLAG_MUTEX 32
#define LOCK_KERNEL_FLAGS 63
/* These say which lock it is. */
#define LOCK_IS_MMAP 64 /* mmap_lock of the task's memory */
#define LOCK_IS_SIGHAND 128 /* siglock of the task's process */

/* Tasks share a slot if the lowest bits of their ids are the same. If two of them wait for locks at
 * the same time, the wait that began first is not seen. */
#define LOCK_SLOTS (1 << 14)

/* Limits of the threshold, which the agent adapts to the number of chosen waits. Waits for spin
 * locks have a few microseconds. */
#define LOCK_MIN_THRESHOLD_NS (10 * 1000ULL)
#define LOCK_MAX_THRESHOLD_NS (10 * 1000 * 1000 * 1000ULL)

#endif
