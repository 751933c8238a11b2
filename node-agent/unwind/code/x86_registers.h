/* SPDX-License-Identifier: Apache-2.0 */
/* The registers and the size of instructions of x86-64 (Intel SDM volume 2, Instruction Set
 * Reference, chapter 2 and appendix A). */
#ifndef UNWIND_CODE_X86_REGISTERS_H
#define UNWIND_CODE_X86_REGISTERS_H

#define CODE_MIN_INSN_BYTES 1
#define CODE_MAX_INSN_BYTES 15

/* General registers as instructions number them; r8 to r15 follow. */
enum x86_register {
	X86_RAX,
	X86_RCX,
	X86_RDX,
	X86_RBX,
	X86_RSP,
	X86_RBP,
	X86_RSI,
	X86_RDI,
	X86_R12 = 12,
	X86_R13,
	X86_R14,
	X86_R15,
	CODE_NO_REGISTER,
};

#define CODE_SP X86_RSP
#define CODE_FP X86_RBP

/* Registers that functions keep for their callers, in the order of cfi_rule.saved. */
#define CODE_KEPT_REGISTERS X86_RBP, X86_RBX, X86_R12, X86_R13, X86_R14, X86_R15
#define CODE_NR_KEPT 6

/* CFA - sp at a function's first instruction: the return address. */
#define CODE_ENTRY_DEPTH 8

#endif
