/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Which lock of user space a thread waits for: what it asks the kernel for is in the registers that
 * it had in user space. */
#ifndef BPF_FUTEX_BPF_H
#define BPF_FUTEX_BPF_H

#include "bpf/compat.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/shared/off_cpu.h"

/* include/uapi/linux/futex.h */
#define FUTEX_WAIT 0
#define FUTEX_LOCK_PI 6
#define FUTEX_WAIT_BITSET 9
#define FUTEX_LOCK_PI2 13
#define FUTEX_OPERATION 127 /* the other bits are flags */

/* A thread that waits for a condition variable of musl sleeps at a word of its own stack: the
 * "barrier" of pthread_cond_timedwait(), behind two pointers and a word. Below it are the frames
 * down to the system call. */
#define MUSL_CONDITION_VALUE 2
#define MUSL_CONDITION_ALIGN 4 /* modulo 8; a mutex has 0 */
#define MUSL_FRAMES_BYTES 1024

static __always_inline bool is_condition_of_musl(bpf_user_pt_regs_t *regs)
{
	__u64 address = SYSCALL_ARG_1(regs);

	return (__u32)SYSCALL_ARG_3(regs) == MUSL_CONDITION_VALUE &&
	       (address & 7) == MUSL_CONDITION_ALIGN &&
	       address - PT_REGS_SP(regs) < MUSL_FRAMES_BYTES;
}

/* Returns whether a call of futex(2) waits for a lock: WAIT_FLAG_LOCK, WAIT_FLAG_MAYBE_LOCK or 0.
 * Idle threads wait for a word that is 0, those of Go's scheduler by FUTEX_WAIT, those in a
 * condition variable of glibc by FUTEX_WAIT_BITSET. The word of a lock that somebody has is not 0.
 * The operation FUTEX_WAIT_BITSET is also that of other condition variables. */
static __always_inline __u8 lock_flag_of(bpf_user_pt_regs_t *regs)
{
	__u32 operation = (__u32)SYSCALL_ARG_2(regs) & FUTEX_OPERATION;
	__u32 value = (__u32)SYSCALL_ARG_3(regs);

	if (operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2)
		return WAIT_FLAG_LOCK;
	if (value == 0)
		return 0;
	if (operation == FUTEX_WAIT)
		return is_condition_of_musl(regs) ? 0 : WAIT_FLAG_LOCK;
	return operation == FUTEX_WAIT_BITSET ? WAIT_FLAG_MAYBE_LOCK : 0;
}

/* Reads the lock that a task waits for, which has entered the kernel by a system call, and does not
 * run. Overwrites scratch->saved_regs. Returns as lock_flag_of(). */
static __always_inline __u8 read_user_lock(struct task_struct *task, struct scratch *scratch,
					   __u64 *ret_lock)
{
	bpf_user_pt_regs_t *regs = &scratch->saved_regs;

	if (READ_KERNEL(task->flags) & PF_KTHREAD ||
	    bpf_probe_read_kernel(regs, sizeof(*regs), task_user_regs(task)) < 0 ||
	    !regs_are_user(regs) || regs_are_compat(regs) || SYSCALL_OF(regs) != SYSCALL_FUTEX)
		return 0;
	*ret_lock = SYSCALL_ARG_1(regs);
	return lock_flag_of(regs);
}

#endif
