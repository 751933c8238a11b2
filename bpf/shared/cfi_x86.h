/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The part of the contract for unwinding (shared/cfi.h) that differs by architecture, for
 * x86-64. */
#ifndef BPF_SHARED_CFI_X86_H
#define BPF_SHARED_CFI_X86_H

#include <linux/types.h>

#define CFI_IS_ARM64 0

/* Registers have their DWARF numbers (x86-64 psABI 3.6.2). */
enum unwind_register {
	CFI_RAX,
	CFI_RDX,
	CFI_RCX,
	CFI_RBX,
	CFI_RSI,
	CFI_RDI,
	CFI_RBP,
	CFI_RSP,
	CFI_R8,
	CFI_R9,
	CFI_R10,
	CFI_R11,
	CFI_R12,
	CFI_R13,
	CFI_R14,
	CFI_R15,
	NR_REGS,
};

#define CFI_FP CFI_RBP
#define CFI_SP CFI_RSP

/* The callee-saved registers, in the order of cfi_rule.saved. X(INDEX, REGISTER) */
#define SAVED_REGISTERS(X)                                                                         \
	X(0, CFI_RBP) X(1, CFI_RBX) X(2, CFI_R12) X(3, CFI_R13) X(4, CFI_R14) X(5, CFI_R15)
#define NR_SAVED_REGS 6

typedef __s8 cfi_slot;
#define CFI_NOT_SAVED (-128) /* the register has the caller's value */
#define CFI_LOST 127 /* the value cannot be recovered */

struct cfi_rule {
	__u8 kind; /* enum cfa_kind */
	__u8 reg; /* of the CFA */
	__u8 flags;
	cfi_slot return_address; /* at CFA + 8 * this; -1 but for hand-written code */
	__s32 offset;
	__u16 arg;
	cfi_slot saved[NR_SAVED_REGS];
};

#endif
