/* SPDX-License-Identifier: Apache-2.0 */
/* The registers and the size of instructions of arm64 (Arm Architecture Reference Manual, DDI 0487,
 * chapter C4). */
#ifndef UNWIND_CODE_ARM64_REGISTERS_H
#define UNWIND_CODE_ARM64_REGISTERS_H

#define CODE_MIN_INSN_BYTES 4
#define CODE_MAX_INSN_BYTES 4

/* General registers as instructions number them. 31 is sp here; where it is the register that is
 * always 0 it is CODE_NO_REGISTER. */
enum arm64_register {
	ARM64_X0,
	ARM64_X29 = 29,
	ARM64_X30,
	ARM64_SP,
	CODE_NO_REGISTER,
};

#define CODE_SP ARM64_SP
#define CODE_FP ARM64_X29
#define CODE_LR ARM64_X30

/* Registers that functions keep for their callers: those of cfi_rule.saved, and the return
 * address. */
#define CODE_KEPT_REGISTERS ARM64_X29, ARM64_X30
#define CODE_NR_KEPT 2

/* CFA - sp at a function's first instruction. */
#define CODE_ENTRY_DEPTH 0

#endif
