/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Everything that differs by architecture. */
#ifndef BPF_ARCH_BPF_H
#define BPF_ARCH_BPF_H

#include "bpf/kernel.bpf.h"
#include "bpf/shared/cfi.h"

#define USER_ADDRESS_MIN 4096

#if defined(__TARGET_ARCH_x86)

/* User space ends below the hole of non-canonical addresses (57 bits with LA57). */
#define USER_ADDRESS_MAX ((1ULL << 56) - 1)

#define REG_FP CFI_RBP
#define REG_SP CFI_RSP

/* Segment selectors of user code: arch/x86/include/asm/segment.h. */
#define USER32_CS 0x23

/* The requested privilege level in cs: 3 is user space. */
static __always_inline bool regs_are_user(const struct pt_regs *regs)
{
	return (regs->cs & 3) == 3;
}

/* A 32-bit process on a 64-bit kernel. */
static __always_inline bool regs_are_compat(const struct pt_regs *regs)
{
	return regs->cs == USER32_CS;
}

/* By DWARF number. A macro, so that a context's registers are read through the context pointer itself. */
#define COPY_REGS(to, from)                                                                        \
	do {                                                                                       \
		(to)[CFI_RAX] = (from)->rax;                                                       \
		(to)[CFI_RDX] = (from)->rdx;                                                       \
		(to)[CFI_RCX] = (from)->rcx;                                                       \
		(to)[CFI_RBX] = (from)->rbx;                                                       \
		(to)[CFI_RSI] = (from)->rsi;                                                       \
		(to)[CFI_RDI] = (from)->rdi;                                                       \
		(to)[CFI_RBP] = (from)->rbp;                                                       \
		(to)[CFI_RSP] = (from)->rsp;                                                       \
		(to)[CFI_R8] = (from)->r8;                                                         \
		(to)[CFI_R9] = (from)->r9;                                                         \
		(to)[CFI_R10] = (from)->r10;                                                       \
		(to)[CFI_R11] = (from)->r11;                                                       \
		(to)[CFI_R12] = (from)->r12;                                                       \
		(to)[CFI_R13] = (from)->r13;                                                       \
		(to)[CFI_R14] = (from)->r14;                                                       \
		(to)[CFI_R15] = (from)->r15;                                                       \
	} while (0)

/* What a signal interrupted is in the ucontext at the stack pointer: rt_sigframe in
 * arch/x86/include/asm/sigframe.h, sigcontext in arch/x86/include/uapi/asm/sigcontext.h. The instruction
 * pointer follows. */
#define SIGNAL_FRAME_REGS 40
#define SIGNAL_FRAME_ORDER                                                                         \
	CFI_R8, CFI_R9, CFI_R10, CFI_R11, CFI_R12, CFI_R13, CFI_R14, CFI_R15, CFI_RDI, CFI_RSI,    \
		CFI_RBP, CFI_RBX, CFI_RDX, CFI_RAX, CFI_RCX, CFI_RSP

/* Whether the first bytes of code are those that end a signal handler: mov $__NR_rt_sigreturn, %rax (or
 * %eax); syscall. */
static __always_inline bool is_sigreturn(__u64 code)
{
	return code == 0x0f0000000fc0c748 || (code & 0xffffffffffffff) == 0x050f0000000fb8;
}

/* Whether the code around a return address hands what a function returned straight to the function that ends
 * the thread: call *%reg or *(%reg); mov %eax, %edi (or %rax, %rdi); call, or the system call exit. So
 * call main(), start routines and clone()'s functions those C libraries that have no CFI: in musl these
 * three are the only places of that kind. `code` begins 2 bytes before the return address. */
static __always_inline bool is_first_call(__u64 code)
{
	__u64 after = code >> 16;
	__u8 operand = (code >> 8) & 0xf8;

	if ((code & 0xff) != 0xff || (operand != 0xd0 && operand != 0x10))
		return false;
	return (after & 0xffffff) == 0xe8c789 || (after & 0xffffffff) == 0xe8c78948 ||
	       (after & 0xffffffffff) == 0xb0c031c789;
}

#elif defined(__TARGET_ARCH_arm64)
#error "unwinding on arm64 is not written yet"
#else
#error "this architecture is not supported"
#endif

static __always_inline bool is_code_address(__u64 address)
{
	return address >= USER_ADDRESS_MIN && address <= USER_ADDRESS_MAX;
}

#endif
