/* SPDX-License-Identifier: Apache-2.0 */
/* One instruction: its length, and what it does to the stack and to general registers. Each
 * architecture has a decoder, and numbers of registers. */
#ifndef UNWIND_CODE_CODE_INSN_H
#define UNWIND_CODE_CODE_INSN_H

#include "base/err.h"
#include "bpf/shared/cfi.h"
#if CFI_IS_ARM64
#include "unwind/code/arm64_registers.h"
#else
#include "unwind/code/x86_registers.h"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Operations on whole registers of 64 bits, unless noted otherwise. */
enum code_op {
	CODE_OTHER, /* see `writes` */
	CODE_ADDRESS, /* reg = base + value */
	CODE_CONSTANT, /* reg = value */
	/* reg |= value: the other half of a constant, of which there is one half so far */
	CODE_CONSTANT_HIGH,
	CODE_PAGE, /* reg = the address of the instruction's page of 4096 bytes + value pages */
	CODE_ADD_REGISTER, /* reg += value * base; value is 1 or -1 */
	CODE_LOAD, /* reg = word at base + value, reg2 = the next word; base += step */
	CODE_STORE, /* the same the other way; also those of something else */
	CODE_LEAVE, /* of x86-64 */
	CODE_ENTER, /* likewise; with `value` bytes, and no nesting */
	CODE_RETURN,
	CODE_TRAP, /* nothing goes on behind it */
	CODE_BRANCH, /* conditional; value: from the instruction's end */
	CODE_JUMP, /* value: as above */
	CODE_JUMP_INDIRECT,
	/* value: as above, but for what is right behind it: that is no call of a function */
	CODE_CALL,
	CODE_CALL_INDIRECT,
	CODE_ADDRESS_OF_CODE, /* reg = the instruction's end + value; told of x86-64 only */
};

struct code_insn {
	uint8_t len;
	uint8_t op; /* enum code_op */
	/* this one and the next two: CODE_NO_REGISTER is none, or what is not so simple */
	uint8_t reg;
	uint8_t reg2;
	uint8_t base;
	bool is_padding; /* it may fill what is between functions */
	bool is_landing_pad; /* what is called by address begins with it; told of arm64 only */
	int32_t value;
	int32_t step;
	/* bit n: changes register n, in any width; a base by its step is not told */
	uint32_t writes;
};

static inline void code_insn_set(struct code_insn *insn, enum code_op op, int32_t value)
{
	insn->op = op;
	insn->value = value;
}

/* Decodes the instruction at `code`, of which there are `len` bytes. Errors: -EBADMSG it is none
 * of 64-bit code, or is truncated. */
int code_insn_decode(const uint8_t *code, size_t len, struct code_insn *ret_insn) must_check;

#endif
