/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The part of the contract for unwinding (shared/cfi.h) that differs by architecture, for arm64.
 *
 * A call leaves the return address in lr; a function that calls saves it, mostly together with
 * fp at the bottom of its frame, which may be far below the CFA: so slots have 16 bits.
 *
 * The two are a *frame record*, and fp points to it while the function calls others. A record
 * may be anywhere in its frame. So a step by frame pointer does not tell the caller's stack
 * pointer; but a rule of the caller's with return_address == saved[fp] + 1 does, because its CFA
 * is fp - 8 * saved[fp] as well.
 *
 * A rule of kind CFA_STACK_SWITCH has as `offset` how large the frame is: the CFA is that far
 * above sp as long as the record is right below sp, where Go's code puts it. 0: not known. */
#ifndef BPF_SHARED_CFI_ARM64_H
#define BPF_SHARED_CFI_ARM64_H

#include <linux/types.h>

#define CFI_IS_ARM64 1

/* Registers have their DWARF numbers (DWARF for the Arm 64-bit Architecture, section 4.1). */
enum unwind_register {
	CFI_X0,
	CFI_X29 = 29,
	CFI_X30,
	CFI_SP,
	NR_REGS,
};

#define CFI_FP CFI_X29
#define CFI_LR CFI_X30

/* The callee-saved registers, in the order of cfi_rule.saved. X(INDEX, REGISTER) */
#define SAVED_REGISTERS(X) X(0, CFI_X29)
#define NR_SAVED_REGS 1

typedef __s16 cfi_slot;
#define CFI_NOT_SAVED (-32768) /* the register has the caller's value */
#define CFI_LOST 32767 /* the value cannot be recovered */

struct cfi_rule {
	__u8 kind; /* enum cfa_kind */
	__u8 reg; /* of the CFA */
	__u8 flags;
	__u8 pad;
	__s32 offset;
	__u16 arg;
	cfi_slot return_address; /* at CFA + 8 * this, unless CFI_RETURN_IN_REGISTER says lr */
	cfi_slot saved[NR_SAVED_REGS];
	__u16 pad2;
};

#endif
