/* SPDX-License-Identifier: Apache-2.0 */
/* One x86-64 instruction: how long it is, and what it does to the stack and to general registers. The rest of it is
 * of no interest here. Instruction Set Reference: Intel SDM volume 2, chapter 2 and appendix A. */
#ifndef UNWIND_X86_INSN_H
#define UNWIND_X86_INSN_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define X86_MAX_INSN_BYTES 15

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
	X86_NO_REGISTER, /* none, or what is not so simple */
};

/* Whole registers of 64 bits only, unless it says otherwise. */
enum x86_op {
	X86_OTHER, /* see `writes` */
	X86_NOP,
	X86_PUSH, /* reg, or X86_NO_REGISTER: something else; rsp -= value */
	X86_POP, /* as above; rsp += value */
	X86_ADD, /* reg += value; subtraction as well */
	X86_LEA, /* reg = base + value */
	X86_MOVE, /* reg = base */
	X86_LOAD, /* reg = word at base + value */
	X86_STORE, /* word at base + value = reg */
	X86_LEAVE,
	X86_ENTER, /* with `value` bytes, and no nesting */
	X86_RETURN,
	X86_TRAP, /* hlt, ud2, int3: nothing goes on behind it */
	X86_BRANCH, /* conditional; value: from the instruction's end */
	X86_JUMP, /* value: as above */
	X86_JUMP_INDIRECT,
	X86_CALL, /* value: as above */
	X86_CALL_INDIRECT,
	X86_LEA_CODE, /* reg = the instruction's end + value */
};

struct x86_insn {
	uint8_t len;
	uint8_t op; /* enum x86_op */
	uint8_t reg;
	uint8_t base;
	uint16_t
		writes; /* bit n: changes register n, in any width; rsp by push and pop is not told */
	int32_t value;
};

/* The instruction at `code`, of which there are `len` bytes. Errors: -EBADMSG it is none in 64-bit mode, or is
 * cut off. */
int x86_insn_decode(const uint8_t *code, size_t len, struct x86_insn *ret_insn) must_check;

#endif
