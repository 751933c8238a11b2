/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of an instruction: x86_insn.c takes it apart by the tables of x86_tables.c, and
 * x86_effects.c says what it does. */
#ifndef UNWIND_CODE_X86_DECODER_H
#define UNWIND_CODE_X86_DECODER_H

#include "unwind/code/code_insn.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define X86_REX_W 8
#define X86_REX_R 4
#define X86_REX_X 2
#define X86_REX_B 1

/* Properties of an instruction that follow from its opcode alone. */
enum {
	X86_MODRM = 1 << 0, /* a ModRM byte, with SIB and displacement */
	X86_IMM8 = 1 << 1,
	X86_IMM16 = 1 << 2,
	X86_IMM32 = 1 << 3, /* 16 bits with an operand size prefix */
	X86_IMM64 = 1 << 4, /* 64 bits with REX.W, else as above */
	X86_REL32 = 1 << 5, /* 32 bits always */
	X86_OFFSET = 1 << 6, /* an address: 64 bits, 32 with an address size prefix */
	X86_BAD = 1 << 7, /* no instruction in 64-bit mode */
	X86_SET_REG = 1 << 8, /* changes the general register of ModRM.reg */
	X86_SET_RM = 1 << 9, /* … of ModRM.rm, if it is one */
	X86_SET_OPCODE = 1 << 10, /* … of the opcode's lower three bits */
	X86_SET_VVVV = 1 << 11, /* … of VEX.vvvv */
	/* registers are ah, ch, dh, bh where a REX prefix would make them spl, bpl, sil, dil */
	X86_BYTE = 1 << 12,
	X86_SET_RBX = 1 << 13, /* cpuid */
	X86_NO_MEMORY = 1 << 14, /* ModRM has two registers, whatever mod says */
};

enum x86_map {
	X86_MAP_ONE,
	X86_MAP_0F,
	X86_MAP_0F38,
	X86_MAP_0F3A,
};

/* By map and opcode. */
extern const uint16_t *const x86_legacy_flags[4];
extern const uint16_t *const x86_vex_flags[4]; /* X86_MAP_ONE: none */

enum x86_encoding { X86_LEGACY, X86_VEX, X86_EVEX };

struct x86_decoder {
	const uint8_t *code;
	size_t len;
	size_t at; /* next byte */
	bool is_cut; /* something was read from behind the end */
	bool has_66, has_67;
	bool has_rep; /* f2, f3, or what stands for them in VEX */
	bool has_rex;
	enum x86_encoding encoding;
	uint8_t rex; /* W, R, X, B; also those of VEX and EVEX */
	uint8_t vvvv;
	enum x86_map map;
	uint8_t opcode;
	uint16_t flags; /* X86_MODRM … */
	uint8_t mod, reg, rm; /* with the bits of REX */
	uint8_t base; /* of a memory operand without index, or CODE_NO_REGISTER */
	bool is_rip_relative;
	int32_t disp;
	int32_t imm;
};

/* Sets everything but the length. */
void x86_effects_find(const struct x86_decoder *decoder, struct code_insn *insn);

#endif
