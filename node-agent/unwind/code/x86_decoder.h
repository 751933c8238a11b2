/* SPDX-License-Identifier: Apache-2.0 */
/* An instruction's parts, on the way from x86_insn.c to x86_effects.c. */
#ifndef UNWIND_CODE_X86_DECODER_H
#define UNWIND_CODE_X86_DECODER_H

#include "unwind/code/code_insn.h"
#include "unwind/code/x86_tables.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define X86_REX_W 8
#define X86_REX_R 4
#define X86_REX_X 2
#define X86_REX_B 1

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
