/* SPDX-License-Identifier: Apache-2.0 */
/* Which registers an instruction changes; and, for the opcodes that matter to a stack, what they do. */
#include "unwind/x86_decoder.h"

#define WORD_BYTES 8

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

static bool is_for(const struct exception *exception, const struct x86_decoder *decoder)
{
	return exception->is_vex == (decoder->encoding != X86_LEGACY) &&
	       exception->map == decoder->map && decoder->opcode >= exception->first &&
	       decoder->opcode <= exception->last;
}

static bool changes_registers(const struct x86_decoder *decoder)
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

static uint16_t register_bit(const struct x86_decoder *decoder, uint8_t reg)
{
	bool is_high_byte = decoder->flags & X86_BYTE && !decoder->has_rex && reg >= 4;

	return (uint16_t)(1U << (is_high_byte ? reg - 4 : reg));
}

static uint8_t opcode_register(const struct x86_decoder *decoder)
{
	return (decoder->opcode & 7) | (decoder->rex & X86_REX_B ? 8 : 0);
}

static uint16_t find_writes(const struct x86_decoder *decoder)
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

static int32_t pushed_bytes(const struct x86_decoder *decoder)
{
	return decoder->has_66 ? 2 : WORD_BYTES;
}

static void on_push(const struct x86_decoder *decoder, struct x86_insn *insn)
{
	set(insn, X86_PUSH, pushed_bytes(decoder));
	if (decoder->map == X86_MAP_ONE && decoder->opcode < 0x58 && !decoder->has_66)
		insn->reg = opcode_register(decoder);
}

static void on_pop(const struct x86_decoder *decoder, struct x86_insn *insn)
{
	set(insn, X86_POP, pushed_bytes(decoder));
	if (decoder->map == X86_MAP_ONE && decoder->opcode < 0x60)
		insn->reg = opcode_register(decoder);
	else if (decoder->opcode == 0x8f && decoder->mod == 3)
		insn->reg = decoder->rm;
}

static void on_arithmetic(const struct x86_decoder *decoder, struct x86_insn *insn)
{
	uint8_t operation = decoder->reg & 7;

	if (decoder->mod != 3 || !(decoder->rex & X86_REX_W) ||
	    (operation != 0 && operation != 5) || decoder->imm == INT32_MIN)
		return;
	set(insn, X86_ADD, operation == 0 ? decoder->imm : -decoder->imm);
	insn->reg = decoder->rm;
}

static void on_move(const struct x86_decoder *decoder, struct x86_insn *insn)
{
	bool to_rm = decoder->opcode == 0x89;

	if (!(decoder->rex & X86_REX_W))
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

static void on_lea(const struct x86_decoder *decoder, struct x86_insn *insn)
{
	if (!(decoder->rex & X86_REX_W) ||
	    (!decoder->is_rip_relative && decoder->base == X86_NO_REGISTER))
		return;
	set(insn, decoder->is_rip_relative ? X86_LEA_CODE : X86_LEA, decoder->disp);
	insn->reg = decoder->reg;
	insn->base = decoder->base;
}

static void on_group_ff(const struct x86_decoder *decoder, struct x86_insn *insn)
{
	static const uint8_t ops[8] = {
		[2] = X86_CALL_INDIRECT, [3] = X86_CALL_INDIRECT, [4] = X86_JUMP_INDIRECT,
		[5] = X86_JUMP_INDIRECT, [6] = X86_PUSH,
	};
	uint8_t op = ops[decoder->reg & 7];

	set(insn, op, op == X86_PUSH ? pushed_bytes(decoder) : 0);
}

/* Nested procedures, which no compiler makes, are left to be unknown. */
static void on_enter(const struct x86_decoder *decoder, struct x86_insn *insn)
{
	if (decoder->code[decoder->at - 1] == 0)
		set(insn, X86_ENTER, (uint16_t)decoder->imm);
	insn->writes |= 1U << X86_RSP | 1U << X86_RBP;
}

static void on_leave(const struct x86_decoder *decoder, struct x86_insn *insn)
{
	(void)decoder;
	set(insn, X86_LEAVE, 0);
	insn->writes |= 1U << X86_RSP | 1U << X86_RBP;
}

static void on_branch(const struct x86_decoder *decoder, struct x86_insn *insn)
{
	set(insn, X86_BRANCH, decoder->imm);
}

static void on_jump(const struct x86_decoder *decoder, struct x86_insn *insn)
{
	set(insn, X86_JUMP, decoder->imm);
}

static void on_call(const struct x86_decoder *decoder, struct x86_insn *insn)
{
	set(insn, X86_CALL, decoder->imm);
}

static void on_return(const struct x86_decoder *decoder, struct x86_insn *insn)
{
	(void)decoder;
	set(insn, X86_RETURN, 0);
}

static void on_trap(const struct x86_decoder *decoder, struct x86_insn *insn)
{
	(void)decoder;
	set(insn, X86_TRAP, 0);
}

/* `pause` waits and `xchg %r8,%rax` does something: those are no padding. */
static void on_nop(const struct x86_decoder *decoder, struct x86_insn *insn)
{
	if (!decoder->has_rep && !(decoder->map == X86_MAP_ONE && decoder->rex & X86_REX_B))
		set(insn, X86_NOP, 0);
}

typedef void on_opcode(const struct x86_decoder *decoder, struct x86_insn *insn);

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

static on_opcode *find_handler(const struct x86_decoder *decoder)
{
	if (decoder->encoding != X86_LEGACY)
		return NULL;
	if (decoder->map == X86_MAP_ONE)
		return on_one_byte[decoder->opcode];
	return decoder->map == X86_MAP_0F ? on_0f[decoder->opcode] : NULL;
}

void x86_effects_find(const struct x86_decoder *decoder, struct x86_insn *insn)
{
	on_opcode *handler = find_handler(decoder);

	insn->reg = X86_NO_REGISTER;
	insn->base = X86_NO_REGISTER;
	insn->writes = find_writes(decoder);
	if (handler)
		handler(decoder, insn);
}
