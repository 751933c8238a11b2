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
#define FUTEX_LOCK_PI2 13
#define FUTEX_OPERATION 127 /* the other bits are flags */

/* Returns whether a system call waits for a lock. Condition variables, semaphores and joins wait by
 * FUTEX_WAIT_BITSET. Idle threads of Go's scheduler wait by FUTEX_WAIT for a word that is 0; that
 * of a lock that somebody has is not. */
static __always_inline bool is_lock_wait(__u32 operation, __u32 value)
{
	operation &= FUTEX_OPERATION;
	return (operation == FUTEX_WAIT && value != 0) || operation == FUTEX_LOCK_PI ||
	       operation == FUTEX_LOCK_PI2;
}

/* Reads the lock that a task waits for, which has entered the kernel by a system call, and does not
 * run. Overwrites scratch->saved_regs. Returns whether it waits for one. */
static __always_inline bool read_user_lock(struct task_struct *task, struct scratch *scratch,
					   __u64 *ret_lock)
{
	bpf_user_pt_regs_t *regs = &scratch->saved_regs;

	if (READ_KERNEL(task->flags) & PF_KTHREAD ||
	    bpf_probe_read_kernel(regs, sizeof(*regs), task_user_regs(task)) < 0 ||
	    !regs_are_user(regs) || regs_are_compat(regs) || SYSCALL_OF(regs) != SYSCALL_FUTEX ||
	    !is_lock_wait((__u32)SYSCALL_ARG_2(regs), (__u32)SYSCALL_ARG_3(regs)))
		return false;
	*ret_lock = SYSCALL_ARG_1(regs);
	return true;
}

#endif
