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

/* Condition variables, semaphores and joins wait by FUTEX_WAIT_BITSET. */
static __always_inline bool is_lock_operation(__u32 operation)
{
	operation &= FUTEX_OPERATION;
	return operation == FUTEX_WAIT || operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2;
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
	    !is_lock_operation((__u32)SYSCALL_ARG_2(regs)))
		return false;
	*ret_lock = SYSCALL_ARG_1(regs);
	return true;
}

#endif
