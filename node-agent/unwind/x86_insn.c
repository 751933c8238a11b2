/* SPDX-License-Identifier: Apache-2.0 */
/* In two steps. First the parts, one after the other:
 *
 *	legacy prefixes   REX or VEX or EVEX   opcode   ModRM   SIB   displacement   immediate
 *
 * where the opcode's flags (x86_tables.h) tell which of the last four there are. Then, for the opcodes that matter
 * to a stack, what they do. */
#include "unwind/x86_insn.h"

#include "unwind/x86_tables.h"

#include <stdbool.h>
#include <string.h>

#define REX_W 8
#define REX_R 4
#define REX_X 2
#define REX_B 1

#define SIB_FOLLOWS 4 /* ModRM.rm */
#define NO_BASE 5 /* ModRM.rm or SIB.base, when mod is 0 */
#define NO_INDEX 4 /* SIB.index */
#define WORD_BYTES 8

enum encoding { LEGACY, VEX, EVEX };

struct decoder {
	const uint8_t *code;
	size_t len;
	size_t at; /* next byte */
	bool is_cut; /* something was read from behind the end */
	bool has_66, has_67;
	bool has_rep; /* f2, f3, or what stands for them in VEX */
	bool has_rex;
	enum encoding encoding;
	uint8_t rex; /* W, R, X, B; also those of VEX and EVEX */
	uint8_t vvvv;
	enum x86_map map;
	uint8_t opcode;
	uint16_t flags; /* X86_MODRM … */
	uint8_t mod, reg, rm; /* with the bits of REX */
	uint8_t base; /* of a memory operand without index, or X86_NO_REGISTER */
	bool is_rip_relative;
	int32_t disp;
	int32_t imm;
};

static uint8_t next_byte(struct decoder *decoder)
{
	if (decoder->at >= decoder->len) {
		decoder->is_cut = true;
		return 0;
	}
	return decoder->code[decoder->at++];
}

static int32_t next_number(struct decoder *decoder, size_t nr_bytes)
{
	uint32_t value = 0;

	for (size_t i = 0; i < nr_bytes; i++)
		value |= (uint32_t)next_byte(decoder) << 8 * i;
	if (nr_bytes == 1)
		return (int8_t)value;
	return nr_bytes == 2 ? (int16_t)value : (int32_t)value;
}

static bool take_legacy_prefix(struct decoder *decoder, uint8_t byte)
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
static uint8_t take_prefixes(struct decoder *decoder)
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
static void take_legacy_opcode(struct decoder *decoder, uint8_t byte)
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
static void set_vex(struct decoder *decoder, uint8_t rxb, uint8_t wvvvv)
{
	decoder->rex = (uint8_t)(~rxb >> 5 & 7) | (wvvvv & 0x80 ? REX_W : 0);
	decoder->vvvv = ~wvvvv >> 3 & 15;
	decoder->has_rep = wvvvv & 2;
}

static int take_vex(struct decoder *decoder, uint8_t byte)
{
	uint8_t first = next_byte(decoder);
	uint8_t map = X86_MAP_0F;

	decoder->encoding = VEX;
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

/* Maps 5 and 6 are those of AVX512-FP16, which are like 0f and 0f 38. Immediates follow map 0f's shuffles and
 * compares, not map 5's. */
static int take_evex(struct decoder *decoder)
{
	static const uint8_t maps[8] = { 0, X86_MAP_0F,	  X86_MAP_0F38, X86_MAP_0F3A,
					 0, X86_MAP_0F38, X86_MAP_0F38, 0 };
	uint8_t first = next_byte(decoder);
	uint8_t second = next_byte(decoder);

	(void)next_byte(decoder);
	decoder->encoding = EVEX;
	set_vex(decoder, first, second);
	decoder->opcode = next_byte(decoder);
	decoder->map = maps[first & 7];
	/* Two bits are fixed: one 0, one 1. */
	return decoder->map == X86_MAP_ONE || first & 8 || !(second & 4) ? -EBADMSG : 0;
}

/* With prefixes that these encodings have inside they are invalid. */
static int take_opcode(struct decoder *decoder, uint8_t byte)
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
static bool take_sib(struct decoder *decoder)
{
	uint8_t sib = next_byte(decoder);
	uint8_t index = (sib >> 3 & 7) | (decoder->rex & REX_X ? 8 : 0);
	uint8_t base = (sib & 7) | (decoder->rex & REX_B ? 8 : 0);
	bool has_base = (sib & 7) != NO_BASE || decoder->mod != 0;

	if (has_base && index == NO_INDEX)
		decoder->base = base;
	return has_base;
}

static void take_memory(struct decoder *decoder, uint8_t rm)
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

static void take_modrm(struct decoder *decoder)
{
	uint8_t byte = next_byte(decoder);

	decoder->mod = byte >> 6;
	decoder->reg = (byte >> 3 & 7) | (decoder->rex & REX_R ? 8 : 0);
	decoder->rm = (byte & 7) | (decoder->rex & REX_B ? 8 : 0);
	if (decoder->flags & X86_NO_MEMORY)
		decoder->mod = 3;
	if (decoder->mod != 3)
		take_memory(decoder, byte & 7);
}

/* `test` is the one instruction of its group that has an immediate; extrq and insertq have two, which their
 * prefixes tell. */
static void correct_immediate(struct decoder *decoder)
{
	if (decoder->encoding != LEGACY)
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
static void take_immediate(struct decoder *decoder)
{
	uint16_t flags = decoder->flags;
	size_t word = decoder->has_66 && !(decoder->rex & REX_W) ? 2 : 4;

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
	if ((flags & X86_IMM64 && decoder->rex & REX_W) || (flags & X86_OFFSET && !decoder->has_67))
		(void)next_number(decoder, 4);
}

/* Of some opcodes only a few instructions change a register. */
static const struct exception {
	bool is_vex;
	uint8_t map;
	uint8_t first, last; /* opcodes */
	uint8_t regs; /* bit n: those with this number in ModRM.reg do */
	bool needs_rep, needs_no_rep;
} exceptions[] = {
	{ .map = X86_MAP_ONE, .first = 0x80, .last = 0x83, .regs = 0x7f }, /* not cmp */
	{ .map = X86_MAP_ONE, .first = 0xf6, .last = 0xf7, .regs = 0x0c }, /* not, neg */
	{ .map = X86_MAP_ONE, .first = 0xfe, .last = 0xff, .regs = 0x03 }, /* inc, dec */
	{ .map = X86_MAP_0F, .first = 0x00, .last = 0x00, .regs = 0x03 }, /* sldt, str */
	{ .map = X86_MAP_0F, .first = 0x01, .last = 0x01, .regs = 0x10 }, /* smsw */
	{ .map = X86_MAP_0F, .first = 0x2c, .last = 0x2d, .regs = 0xff, .needs_rep = true },
	{ .map = X86_MAP_0F, .first = 0x7e, .last = 0x7e, .regs = 0xff, .needs_no_rep = true },
	{ .map = X86_MAP_0F, .first = 0xae, .last = 0xae, .regs = 0x03 }, /* rdfsbase, rdgsbase */
	{ .map = X86_MAP_0F, .first = 0xba, .last = 0xba, .regs = 0xe0 }, /* not bt */
	{ .map = X86_MAP_0F, .first = 0xc7, .last = 0xc7, .regs = 0xc0 }, /* rdrand, rdseed */
	{ true, X86_MAP_0F, .first = 0x2c, .last = 0x2d, .regs = 0xff, .needs_rep = true },
	{ true, X86_MAP_0F, .first = 0x78, .last = 0x79, .regs = 0xff, .needs_rep = true },
	{ true, X86_MAP_0F, .first = 0x7e, .last = 0x7e, .regs = 0xff, .needs_no_rep = true },
};

static bool is_for(const struct exception *exception, const struct decoder *decoder)
{
	return exception->is_vex == (decoder->encoding != LEGACY) &&
	       exception->map == decoder->map && decoder->opcode >= exception->first &&
	       decoder->opcode <= exception->last;
}

static bool changes_registers(const struct decoder *decoder)
{
	for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++) {
		const struct exception *exception = &exceptions[i];

		if (is_for(exception, decoder))
			return exception->regs >> (decoder->reg & 7) & 1 &&
			       (!exception->needs_rep || decoder->has_rep) &&
			       (!exception->needs_no_rep || !decoder->has_rep);
	}
	return true;
}

static uint16_t register_bit(const struct decoder *decoder, uint8_t reg)
{
	bool is_high_byte = decoder->flags & X86_BYTE && !decoder->has_rex && reg >= 4;

	return (uint16_t)(1U << (is_high_byte ? reg - 4 : reg));
}

static uint8_t opcode_register(const struct decoder *decoder)
{
	return (decoder->opcode & 7) | (decoder->rex & REX_B ? 8 : 0);
}

static uint16_t find_writes(const struct decoder *decoder)
{
	uint16_t flags = decoder->flags, writes = 0;

	if (!changes_registers(decoder))
		return 0;
	if (flags & X86_SET_REG)
		writes |= register_bit(decoder, decoder->reg);
	if (flags & X86_SET_RM && decoder->mod == 3)
		writes |= register_bit(decoder, decoder->rm);
	if (flags & X86_SET_OPCODE)
		writes |= register_bit(decoder, opcode_register(decoder));
	if (flags & X86_SET_VVVV)
		writes |= (uint16_t)(1U << decoder->vvvv);
	if (flags & X86_SET_RBX)
		writes |= 1U << X86_RBX;
	return writes;
}

static void set(struct x86_insn *insn, enum x86_op op, int32_t value)
{
	insn->op = op;
	insn->value = value;
}

static int32_t pushed_bytes(const struct decoder *decoder)
{
	return decoder->has_66 ? 2 : WORD_BYTES;
}

static void on_push(const struct decoder *decoder, struct x86_insn *insn)
{
	set(insn, X86_PUSH, pushed_bytes(decoder));
	if (decoder->map == X86_MAP_ONE && decoder->opcode < 0x58 && !decoder->has_66)
		insn->reg = opcode_register(decoder);
}

static void on_pop(const struct decoder *decoder, struct x86_insn *insn)
{
	set(insn, X86_POP, pushed_bytes(decoder));
	if (decoder->map == X86_MAP_ONE && decoder->opcode < 0x60)
		insn->reg = opcode_register(decoder);
	else if (decoder->opcode == 0x8f && decoder->mod == 3)
		insn->reg = decoder->rm;
}

static void on_arithmetic(const struct decoder *decoder, struct x86_insn *insn)
{
	uint8_t operation = decoder->reg & 7;

	if (decoder->mod != 3 || !(decoder->rex & REX_W) || (operation != 0 && operation != 5) ||
	    decoder->imm == INT32_MIN)
		return;
	set(insn, X86_ADD, operation == 0 ? decoder->imm : -decoder->imm);
	insn->reg = decoder->rm;
}

static void on_move(const struct decoder *decoder, struct x86_insn *insn)
{
	bool to_rm = decoder->opcode == 0x89;

	if (!(decoder->rex & REX_W))
		return;
	if (decoder->mod != 3) {
		set(insn, to_rm ? X86_STORE : X86_LOAD, decoder->disp);
		insn->reg = decoder->reg;
		insn->base = decoder->base;
		return;
	}
	set(insn, X86_MOVE, 0);
	insn->reg = to_rm ? decoder->rm : decoder->reg;
	insn->base = to_rm ? decoder->reg : decoder->rm;
}

static void on_lea(const struct decoder *decoder, struct x86_insn *insn)
{
	if (!(decoder->rex & REX_W) ||
	    (!decoder->is_rip_relative && decoder->base == X86_NO_REGISTER))
		return;
	set(insn, decoder->is_rip_relative ? X86_LEA_CODE : X86_LEA, decoder->disp);
	insn->reg = decoder->reg;
	insn->base = decoder->base;
}

static void on_group_ff(const struct decoder *decoder, struct x86_insn *insn)
{
	static const uint8_t ops[8] = {
		[2] = X86_CALL_INDIRECT, [3] = X86_CALL_INDIRECT, [4] = X86_JUMP_INDIRECT,
		[5] = X86_JUMP_INDIRECT, [6] = X86_PUSH,
	};
	uint8_t op = ops[decoder->reg & 7];

	set(insn, op, op == X86_PUSH ? pushed_bytes(decoder) : 0);
}

/* Nested procedures, which no compiler makes, are left to be unknown. */
static void on_enter(const struct decoder *decoder, struct x86_insn *insn)
{
	if (decoder->code[decoder->at - 1] == 0)
		set(insn, X86_ENTER, (uint16_t)decoder->imm);
	insn->writes |= 1U << X86_RSP | 1U << X86_RBP;
}

static void on_leave(const struct decoder *decoder, struct x86_insn *insn)
{
	(void)decoder;
	set(insn, X86_LEAVE, 0);
	insn->writes |= 1U << X86_RSP | 1U << X86_RBP;
}

static void on_branch(const struct decoder *decoder, struct x86_insn *insn)
{
	set(insn, X86_BRANCH, decoder->imm);
}

static void on_jump(const struct decoder *decoder, struct x86_insn *insn)
{
	set(insn, X86_JUMP, decoder->imm);
}

static void on_call(const struct decoder *decoder, struct x86_insn *insn)
{
	set(insn, X86_CALL, decoder->imm);
}

static void on_return(const struct decoder *decoder, struct x86_insn *insn)
{
	(void)decoder;
	set(insn, X86_RETURN, 0);
}

static void on_trap(const struct decoder *decoder, struct x86_insn *insn)
{
	(void)decoder;
	set(insn, X86_TRAP, 0);
}

/* `pause` waits and `xchg %r8,%rax` does something: those are no padding. */
static void on_nop(const struct decoder *decoder, struct x86_insn *insn)
{
	if (!decoder->has_rep && !(decoder->map == X86_MAP_ONE && decoder->rex & REX_B))
		set(insn, X86_NOP, 0);
}

typedef void on_opcode(const struct decoder *decoder, struct x86_insn *insn);

static on_opcode *const on_one_byte[256] = {
	[0x50 ... 0x57] = on_push,
	[0x58 ... 0x5f] = on_pop,
	[0x68] = on_push,
	[0x6a] = on_push,
	[0x70 ... 0x7f] = on_branch,
	[0x81] = on_arithmetic,
	[0x83] = on_arithmetic,
	[0x89] = on_move,
	[0x8b] = on_move,
	[0x8d] = on_lea,
	[0x8f] = on_pop,
	[0x90] = on_nop,
	[0x9c] = on_push,
	[0x9d] = on_pop,
	[0xc2 ... 0xc3] = on_return,
	[0xc8] = on_enter,
	[0xc9] = on_leave,
	[0xca ... 0xcb] = on_return,
	[0xcc] = on_trap,
	[0xcf] = on_return,
	[0xe0 ... 0xe3] = on_branch,
	[0xe8] = on_call,
	[0xe9] = on_jump,
	[0xeb] = on_jump,
	[0xf4] = on_trap,
	[0xff] = on_group_ff,
};

static on_opcode *const on_0f[256] = {
	[0x0b] = on_trap, [0x1f] = on_nop,  [0x80 ... 0x8f] = on_branch,
	[0xa0] = on_push, [0xa1] = on_pop,  [0xa8] = on_push,
	[0xa9] = on_pop,  [0xb9] = on_trap, [0xff] = on_trap,
};

static on_opcode *find_handler(const struct decoder *decoder)
{
	if (decoder->encoding != LEGACY)
		return NULL;
	if (decoder->map == X86_MAP_ONE)
		return on_one_byte[decoder->opcode];
	return decoder->map == X86_MAP_0F ? on_0f[decoder->opcode] : NULL;
}

/* Extensions of the opcode in ModRM.reg that are no instructions. */
static bool is_bad_group(const struct decoder *decoder)
{
	uint8_t reg = decoder->reg & 7;

	if (decoder->encoding != LEGACY || decoder->map != X86_MAP_ONE)
		return false;
	return (decoder->opcode == 0xfe && reg > 1) || (decoder->opcode == 0xff && reg == 7) ||
	       (decoder->opcode == 0x8f && reg != 0) ||
	       (decoder->opcode == 0x8d && decoder->mod == 3);
}

int x86_insn_decode(const uint8_t *code, size_t len, struct x86_insn *ret_insn)
{
	struct decoder decoder = {
		.code = code,
		.len = len < X86_MAX_INSN_BYTES ? len : X86_MAX_INSN_BYTES,
		.base = X86_NO_REGISTER,
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

	struct x86_insn insn = {
		.len = (uint8_t)decoder.at,
		.reg = X86_NO_REGISTER,
		.base = X86_NO_REGISTER,
		.writes = find_writes(&decoder),
	};
	on_opcode *handler = find_handler(&decoder);
	if (handler)
		handler(&decoder, &insn);
	*ret_insn = insn;
	return 0;
}
