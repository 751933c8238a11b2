/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Everything that differs by architecture. */
#ifndef BPF_ARCH_BPF_H
#define BPF_ARCH_BPF_H

#include "bpf/kernel.bpf.h"

/* What an unwind of a user stack starts from. */
struct user_regs {
	__u64 ip;
	__u64 sp;
	__u64 fp;
};

#if defined(__TARGET_ARCH_x86)

/* User space ends below the hole of non-canonical addresses (57 bits with LA57). */
#define USER_ADDRESS_MAX ((1ULL << 56) - 1)

/* The requested privilege level in cs: 3 is user space. */
static __always_inline bool regs_are_user(const struct pt_regs *regs)
{
	return (regs->cs & 3) == 3;
}

#elif defined(__TARGET_ARCH_arm64)

#define USER_ADDRESS_MAX ((1ULL << 52) - 1)

/* PSTATE.M[3:0] is 0 at EL0t. */
static __always_inline bool regs_are_user(const struct user_pt_regs *regs)
{
	return (regs->pstate & 0xf) == 0;
}

#else
#error "this architecture is not supported"
#endif

#endif
