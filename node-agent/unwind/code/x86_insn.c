/* SPDX-License-Identifier: Apache-2.0 */
/* In two steps. First the parts, one after the other:
 *
 *	legacy prefixes   REX or VEX or EVEX   opcode   ModRM   SIB   displacement   immediate
 *
 * where the opcode's flags (x86_tables.c) tell which of the last four there are. Then what they
 * mean (x86_effects.c). */
#include "unwind/code/code_insn.h"

#include "unwind/code/x86_decoder.h"

#define SIB_FOLLOWS 4 /* ModRM.rm */
#define NO_BASE 5 /* ModRM.rm or SIB.base, when mod is 0 */
#define NO_INDEX 4 /* SIB.index */

static uint8_t next_byte(struct x86_decoder *decoder)
{
	if (decoder->at >= decoder->len) {
		decoder->is_cut = true;
		return 0;
	}
	return decoder->code[decoder->at++];
}

static int32_t next_number(struct x86_decoder *decoder, size_t nr_bytes)
{
	uint32_t value = 0;

	for (size_t i = 0; i < nr_bytes; i++)
		value |= (uint32_t)next_byte(decoder) << 8 * i;
	if (nr_bytes == 1)
		return (int8_t)value;
	return nr_bytes == 2 ? (int16_t)value : (int32_t)value;
}

static bool take_legacy_prefix(struct x86_decoder *decoder, uint8_t byte)
{
	switch (byte) {
	case 0x66:
		decoder->has_66 = true;
		return true;
	case 0x67:
		decoder->has_67 = true;
		return true;
	case 0xf2:
	case 0xf3:
		decoder->has_rep = true;
		return true;
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0x64:
	case 0x65:
	case 0xf0:
		return true;
	default:
		return false;
	}
}

/* A REX prefix counts only right before the opcode. Returns the first byte behind all prefixes. */
static uint8_t take_prefixes(struct x86_decoder *decoder)
{
	for (;;) {
		uint8_t byte = next_byte(decoder);

		if (decoder->is_cut)
			return 0;
		if (take_legacy_prefix(decoder, byte)) {
			decoder->has_rex = false;
			decoder->rex = 0;
		} else if ((byte & 0xf0) == 0x40) {
			decoder->has_rex = true;
			decoder->rex = byte & 0xf;
		} else {
			return byte;
		}
	}
}

/* 0f, 0f 38, 0f 3a, or none of them. */
static void take_legacy_opcode(struct x86_decoder *decoder, uint8_t byte)
{
	decoder->opcode = byte;
	if (byte != 0x0f)
		return;
	decoder->map = X86_MAP_0F;
	decoder->opcode = next_byte(decoder);
	if (decoder->opcode != 0x38 && decoder->opcode != 0x3a)
		return;
	decoder->map = decoder->opcode == 0x38 ? X86_MAP_0F38 : X86_MAP_0F3A;
	decoder->opcode = next_byte(decoder);
}

/* R, X and B are inverted; so is vvvv, behind W. */
static void set_vex(struct x86_decoder *decoder, uint8_t rxb, uint8_t wvvvv)
{
	decoder->rex = (uint8_t)(~rxb >> 5 & 7) | (wvvvv & 0x80 ? X86_REX_W : 0);
	decoder->vvvv = ~wvvvv >> 3 & 15;
	decoder->has_rep = wvvvv & 2;
}

static int take_vex(struct x86_decoder *decoder, uint8_t byte)
{
	uint8_t first = next_byte(decoder);
	uint8_t map = X86_MAP_0F;

	decoder->encoding = X86_VEX;
	if (byte == 0xc5) {
		set_vex(decoder, first | 0x60, first & 0x7f);
	} else {
		map = first & 0x1f;
		set_vex(decoder, first, next_byte(decoder));
	}
	decoder->opcode = next_byte(decoder);
	if (map < X86_MAP_0F || map > X86_MAP_0F3A)
		return -EBADMSG;
	decoder->map = map;
	return 0;
}

/* Maps 5 and 6 are those of AVX512-FP16, which are like 0f and 0f 38. Immediates follow map 0f's
 * shuffles and compares, not map 5's. */
static int take_evex(struct x86_decoder *decoder)
{
	static const uint8_t maps[8] = { 0, X86_MAP_0F,	  X86_MAP_0F38, X86_MAP_0F3A,
					 0, X86_MAP_0F38, X86_MAP_0F38, 0 };
	uint8_t first = next_byte(decoder);
	uint8_t second = next_byte(decoder);

	(void)next_byte(decoder);
	decoder->encoding = X86_EVEX;
	set_vex(decoder, first, second);
	decoder->opcode = next_byte(decoder);
	decoder->map = maps[first & 7];
	/* Two bits are fixed: one 0, one 1. */
	return decoder->map == X86_MAP_ONE || first & 8 || !(second & 4) ? -EBADMSG : 0;
}

/* With prefixes that these encodings have inside they are invalid. */
static int take_opcode(struct x86_decoder *decoder, uint8_t byte)
{
	int r = 0;

	if (byte != 0xc4 && byte != 0xc5 && byte != 0x62) {
		take_legacy_opcode(decoder, byte);
		decoder->flags = x86_legacy_flags[decoder->map][decoder->opcode];
		return decoder->flags & X86_BAD ? -EBADMSG : 0;
	}
	if (decoder->has_66 || decoder->has_rep || decoder->has_rex)
		return -EBADMSG;
	r = byte == 0x62 ? take_evex(decoder) : take_vex(decoder, byte);
	if (r == 0)
		decoder->flags = x86_vex_flags[decoder->map][decoder->opcode];
	return r;
}

/* Displacement without base register: SIB.base 5 with mod 0. */
static bool take_sib(struct x86_decoder *decoder)
{
	uint8_t sib = next_byte(decoder);
	uint8_t index = (sib >> 3 & 7) | (decoder->rex & X86_REX_X ? 8 : 0);
	uint8_t base = (sib & 7) | (decoder->rex & X86_REX_B ? 8 : 0);
	bool has_base = (sib & 7) != NO_BASE || decoder->mod != 0;

	if (has_base && index == NO_INDEX)
		decoder->base = base;
	return has_base;
}

static void take_memory(struct x86_decoder *decoder, uint8_t rm)
{
	bool has_base = true;

	if (rm == SIB_FOLLOWS) {
		has_base = take_sib(decoder);
	} else if (rm == NO_BASE && decoder->mod == 0) {
		decoder->is_rip_relative = true;
		has_base = false;
	} else {
		decoder->base = decoder->rm;
	}
	if (decoder->mod == 1)
		decoder->disp = next_number(decoder, 1);
	else if (decoder->mod == 2 || !has_base)
		decoder->disp = next_number(decoder, 4);
}

static void take_modrm(struct x86_decoder *decoder)
{
	uint8_t byte = next_byte(decoder);

	decoder->mod = byte >> 6;
	decoder->reg = (byte >> 3 & 7) | (decoder->rex & X86_REX_R ? 8 : 0);
	decoder->rm = (byte & 7) | (decoder->rex & X86_REX_B ? 8 : 0);
	if (decoder->flags & X86_NO_MEMORY)
		decoder->mod = 3;
	if (decoder->mod != 3)
		take_memory(decoder, byte & 7);
}

/* `test` is the one instruction of its group that has an immediate; extrq and insertq have two,
 * which their prefixes tell. */
static void correct_immediate(struct x86_decoder *decoder)
{
	if (decoder->encoding != X86_LEGACY)
		return;
	if (decoder->map == X86_MAP_0F && decoder->opcode == 0x78 &&
	    (decoder->has_66 || decoder->has_rep))
		decoder->flags = X86_MODRM | X86_IMM16;
	if (decoder->map != X86_MAP_ONE || (decoder->reg & 7) > 1)
		return;
	if (decoder->opcode == 0xf6)
		decoder->flags = X86_MODRM | X86_IMM8;
	if (decoder->opcode == 0xf7)
		decoder->flags = X86_MODRM | X86_IMM32;
}

/* The second one of `enter` is its last byte; the upper half of 64 bits is of no interest. */
static void take_immediate(struct x86_decoder *decoder)
{
	uint16_t flags = decoder->flags;
	size_t word = decoder->has_66 && !(decoder->rex & X86_REX_W) ? 2 : 4;

	if (flags & X86_IMM8 && !(flags & X86_IMM16))
		decoder->imm = next_number(decoder, 1);
	if (flags & X86_IMM16)
		decoder->imm = next_number(decoder, 2);
	if (flags & X86_IMM8 && flags & X86_IMM16)
		(void)next_number(decoder, 1);
	if (flags & (X86_IMM32 | X86_IMM64))
		decoder->imm = next_number(decoder, word);
	if (flags & X86_REL32)
		decoder->imm = next_number(decoder, 4);
	if (flags & X86_OFFSET)
		(void)next_number(decoder, 4);
	if ((flags & X86_IMM64 && decoder->rex & X86_REX_W) ||
	    (flags & X86_OFFSET && !decoder->has_67))
		(void)next_number(decoder, 4);
}

/* Extensions of the opcode in ModRM.reg that are no instructions. */
static bool is_bad_group(const struct x86_decoder *decoder)
{
	uint8_t reg = decoder->reg & 7;

	if (decoder->encoding != X86_LEGACY || decoder->map != X86_MAP_ONE)
		return false;
	return (decoder->opcode == 0xfe && reg > 1) || (decoder->opcode == 0xff && reg == 7) ||
	       (decoder->opcode == 0x8f && reg != 0) ||
	       (decoder->opcode == 0x8d && decoder->mod == 3);
}

int code_insn_decode(const uint8_t *code, size_t len, struct code_insn *ret_insn)
{
	struct x86_decoder decoder = {
		.code = code,
		.len = len < CODE_MAX_INSN_BYTES ? len : CODE_MAX_INSN_BYTES,
		.base = CODE_NO_REGISTER,
	};
	int r = take_opcode(&decoder, take_prefixes(&decoder));

	if (r < 0)
		return r;
	if (decoder.flags & X86_MODRM) {
		take_modrm(&decoder);
		correct_immediate(&decoder);
	}
	take_immediate(&decoder);
	if (decoder.is_cut || is_bad_group(&decoder))
		return -EBADMSG;

	struct code_insn insn = { .len = (uint8_t)decoder.at };

	x86_effects_find(&decoder, &insn);
	*ret_insn = insn;
	return 0;
}
