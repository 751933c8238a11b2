/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the registers that an instruction changes and, for the opcodes that matter to a stack,
 * what they do. */
#include "unwind/code/x86_decoder.h"

#define WORD_BYTES 8
#define INT3 0xcc

/* Opcodes of which only a few instructions change a register. */
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

static int32_t pushed_bytes(const struct x86_decoder *decoder)
{
	return decoder->has_66 ? 2 : WORD_BYTES;
}

/* Something is pushed to the stack or popped from it, and the stack pointer moves. */
static void set_stack(struct code_insn *insn, enum code_op op, int32_t value, int32_t step)
{
	code_insn_set(insn, op, value);
	insn->base = X86_RSP;
	insn->step = step;
}

static void on_push(const struct x86_decoder *decoder, struct code_insn *insn)
{
	int32_t bytes = pushed_bytes(decoder);

	set_stack(insn, CODE_STORE, -bytes, -bytes);
	if (decoder->map == X86_MAP_ONE && decoder->opcode < 0x58 && !decoder->has_66)
		insn->reg = opcode_register(decoder);
}

static void on_pop(const struct x86_decoder *decoder, struct code_insn *insn)
{
	set_stack(insn, CODE_LOAD, 0, pushed_bytes(decoder));
	if (decoder->has_66)
		return;
	if (decoder->map == X86_MAP_ONE && decoder->opcode < 0x60)
		insn->reg = opcode_register(decoder);
	else if (decoder->opcode == 0x8f && decoder->mod == 3)
		insn->reg = decoder->rm;
}

static void on_arithmetic(const struct x86_decoder *decoder, struct code_insn *insn)
{
	uint8_t operation = decoder->reg & 7;

	if (decoder->mod != 3 || !(decoder->rex & X86_REX_W) ||
	    (operation != 0 && operation != 5) || decoder->imm == INT32_MIN)
		return;
	code_insn_set(insn, CODE_ADDRESS, operation == 0 ? decoder->imm : -decoder->imm);
	insn->reg = decoder->rm;
	insn->base = decoder->rm;
}

static void on_move(const struct x86_decoder *decoder, struct code_insn *insn)
{
	bool to_rm = decoder->opcode == 0x89;

	if (!(decoder->rex & X86_REX_W))
		return;
	if (decoder->mod != 3) {
		code_insn_set(insn, to_rm ? CODE_STORE : CODE_LOAD, decoder->disp);
		insn->reg = decoder->reg;
		insn->base = decoder->base;
		return;
	}
	code_insn_set(insn, CODE_ADDRESS, 0);
	insn->reg = to_rm ? decoder->rm : decoder->reg;
	insn->base = to_rm ? decoder->reg : decoder->rm;
}

static void on_lea(const struct x86_decoder *decoder, struct code_insn *insn)
{
	if (!(decoder->rex & X86_REX_W) ||
	    (!decoder->is_rip_relative && decoder->base == CODE_NO_REGISTER))
		return;
	code_insn_set(insn, decoder->is_rip_relative ? CODE_ADDRESS_OF_CODE : CODE_ADDRESS,
		      decoder->disp);
	insn->reg = decoder->reg;
	insn->base = decoder->base;
}

static void on_group_ff(const struct x86_decoder *decoder, struct code_insn *insn)
{
	static const uint8_t ops[8] = {
		[2] = CODE_CALL_INDIRECT,
		[3] = CODE_CALL_INDIRECT,
		[4] = CODE_JUMP_INDIRECT,
		[5] = CODE_JUMP_INDIRECT,
	};
	uint8_t operation = decoder->reg & 7;

	if (operation == 6)
		on_push(decoder, insn);
	else
		code_insn_set(insn, ops[operation], 0);
}

/* Nested procedures, which no compiler makes, stay unknown. */
static void on_enter(const struct x86_decoder *decoder, struct code_insn *insn)
{
	if (decoder->code[decoder->at - 1] == 0)
		code_insn_set(insn, CODE_ENTER, (uint16_t)decoder->imm);
	insn->writes |= 1U << X86_RSP | 1U << X86_RBP;
}

static void on_leave(const struct x86_decoder *decoder, struct code_insn *insn)
{
	(void)decoder;
	code_insn_set(insn, CODE_LEAVE, 0);
	insn->writes |= 1U << X86_RSP | 1U << X86_RBP;
}

static void on_branch(const struct x86_decoder *decoder, struct code_insn *insn)
{
	code_insn_set(insn, CODE_BRANCH, decoder->imm);
}

static void on_jump(const struct x86_decoder *decoder, struct code_insn *insn)
{
	code_insn_set(insn, CODE_JUMP, decoder->imm);
}

static void on_call(const struct x86_decoder *decoder, struct code_insn *insn)
{
	/* A call of the next instruction pushes its address; it is no call of a function. */
	if (decoder->imm == 0)
		set_stack(insn, CODE_STORE, -WORD_BYTES, -WORD_BYTES);
	else
		code_insn_set(insn, CODE_CALL, decoder->imm);
}

static void on_return(const struct x86_decoder *decoder, struct code_insn *insn)
{
	(void)decoder;
	code_insn_set(insn, CODE_RETURN, 0);
}

static void on_trap(const struct x86_decoder *decoder, struct code_insn *insn)
{
	code_insn_set(insn, CODE_TRAP, 0);
	insn->is_padding = decoder->code[0] == INT3;
}

/* `pause` waits and `xchg %r8,%rax` does something: those are no padding. */
static void on_nop(const struct x86_decoder *decoder, struct code_insn *insn)
{
	if (!decoder->has_rep && !(decoder->map == X86_MAP_ONE && decoder->rex & X86_REX_B))
		insn->is_padding = true;
}

typedef void on_opcode(const struct x86_decoder *decoder, struct code_insn *insn);

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

void x86_effects_find(const struct x86_decoder *decoder, struct code_insn *insn)
{
	on_opcode *handler = find_handler(decoder);

	insn->reg = CODE_NO_REGISTER;
	insn->reg2 = CODE_NO_REGISTER;
	insn->base = CODE_NO_REGISTER;
	insn->writes = find_writes(decoder);
	if (handler)
		handler(decoder, insn);
}
