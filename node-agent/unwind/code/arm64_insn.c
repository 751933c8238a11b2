/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes by groups, as the manual has them: bits 28 to 25 first (C4.1). Only encodings in no
 * group are refused; within a group, encodings that are not allocated are taken for their
 * neighbours. A store to memory that is not addressed by sp or fp does nothing here, and vector
 * registers hold nothing for callers. */
#include "unwind/code/code_insn.h"

#define INSN_BYTES 4
#define ZERO_REGISTER 31

#define NOP 0xd503201f
#define BTI_C 0xd503245f
#define PACIASP 0xd503233f
#define PACIBSP 0xd503237f

static uint32_t bits(uint32_t code, unsigned int low, unsigned int nr)
{
	return code >> low & ((1U << nr) - 1);
}

static int32_t signed_bits(uint32_t code, unsigned int low, unsigned int nr)
{
	uint32_t sign = 1U << (nr - 1);

	return (int32_t)((bits(code, low, nr) ^ sign) - sign);
}

static bool is(uint32_t code, uint32_t mask, uint32_t value)
{
	return (code & mask) == value;
}

/* A register where 31 is the one that is always 0. */
static uint8_t general(uint32_t number)
{
	return number == ZERO_REGISTER ? CODE_NO_REGISTER : (uint8_t)number;
}

static void write_to(struct code_insn *insn, uint8_t reg)
{
	if (reg != CODE_NO_REGISTER)
		insn->writes |= 1U << reg;
}

/* The registers of most instructions: Rd or Rt, and Rn. */
static uint32_t rd(uint32_t code)
{
	return bits(code, 0, 5);
}

static uint32_t rn(uint32_t code)
{
	return bits(code, 5, 5);
}

/* add, sub. Those that set flags have no sp to write. */
static void on_add_immediate(uint32_t code, struct code_insn *insn)
{
	int32_t value = (int32_t)bits(code, 10, 12) << (bits(code, 22, 1) ? 12 : 0);
	bool sets_flags = bits(code, 29, 1);
	uint8_t reg = sets_flags ? general(rd(code)) : (uint8_t)rd(code);

	write_to(insn, reg);
	if (!bits(code, 31, 1) || reg == CODE_NO_REGISTER)
		return;
	code_insn_set(insn, CODE_ADDRESS, bits(code, 30, 1) ? -value : value);
	insn->reg = reg;
	insn->base = (uint8_t)rn(code);
}

/* movz, movn, movk. Constants are of interest that may be the size of a frame. */
static void on_move_wide(uint32_t code, struct code_insn *insn)
{
	uint32_t shift = 16 * bits(code, 21, 2), value = bits(code, 5, 16);
	bool is_zeroed = bits(code, 29, 2) == 2, is_kept = bits(code, 29, 2) == 3;

	write_to(insn, general(rd(code)));
	if (rd(code) == ZERO_REGISTER)
		return;
	if (is_zeroed && shift == 0)
		code_insn_set(insn, CODE_CONSTANT, (int32_t)value);
	else if (is_kept && shift == 16 && value <= INT16_MAX)
		code_insn_set(insn, CODE_CONSTANT_HIGH, (int32_t)(value << shift));
	else
		return;
	insn->reg = general(rd(code));
}

/* adrp, and adr, which is for jump tables. */
static void on_code_address(uint32_t code, struct code_insn *insn)
{
	bool is_page = bits(code, 31, 1);

	write_to(insn, general(rd(code)));
	if (!is_page || rd(code) == ZERO_REGISTER)
		return;
	code_insn_set(insn, CODE_PAGE, signed_bits(code, 5, 19) * 4 + (int32_t)bits(code, 29, 2));
	insn->reg = (uint8_t)rd(code);
}

static int on_immediate(uint32_t code, struct code_insn *insn)
{
	bool is_flags_of_and = bits(code, 29, 2) == 3;

	switch (bits(code, 23, 3)) {
	case 2:
		on_add_immediate(code, insn);
		return 0;
	case 3: /* with tags */
		write_to(insn, (uint8_t)rd(code));
		return 0;
	case 4: /* and, orr, eor, ands */
		write_to(insn, is_flags_of_and ? general(rd(code)) : (uint8_t)rd(code));
		return 0;
	case 5:
		if (bits(code, 29, 2) == 1)
			return -EBADMSG;
		on_move_wide(code, insn);
		return 0;
	case 0:
	case 1:
		on_code_address(code, insn);
		return 0;
	default: /* bit fields */
		write_to(insn, general(rd(code)));
		return 0;
	}
}

static void on_jump(struct code_insn *insn, enum code_op op, int32_t distance)
{
	code_insn_set(insn, op, distance * INSN_BYTES - INSN_BYTES);
}

/* A call of the next instruction finds out its address; it is no call of a function. */
static void on_call(uint32_t code, struct code_insn *insn)
{
	write_to(insn, ARM64_X30);
	if (signed_bits(code, 0, 26) != 1)
		on_jump(insn, CODE_CALL, signed_bits(code, 0, 26));
}

/* br, blr, ret, and those that check a signature first. A jump by x16 or x17 leads to another
 * function. */
static int on_jump_to_register(uint32_t code, struct code_insn *insn)
{
	static const uint8_t ops[8] = {
		CODE_JUMP_INDIRECT, CODE_CALL_INDIRECT, CODE_RETURN, CODE_OTHER, CODE_RETURN,
	};
	uint32_t operation = bits(code, 21, 3);

	if (ops[operation] == CODE_OTHER || bits(code, 16, 5) != 31)
		return -EBADMSG;
	code_insn_set(insn, ops[operation], 0);
	if (insn->op == CODE_CALL_INDIRECT)
		write_to(insn, ARM64_X30);
	else if (insn->op == CODE_JUMP_INDIRECT && (rn(code) == 16 || rn(code) == 17))
		insn->op = CODE_TRAP;
	return 0;
}

/* svc and its like, brk, hlt; or what has to do with the processor's state, of which only mrs
 * writes a register. */
static void on_system(uint32_t code, struct code_insn *insn)
{
	bool is_exception = !bits(code, 24, 1), is_read = bits(code, 21, 1);
	uint32_t operation = bits(code, 21, 3);

	if (is_exception && operation != 0)
		code_insn_set(insn, CODE_TRAP, 0);
	else if (!is_exception && is_read)
		write_to(insn, general(rd(code)));
	insn->is_padding = code == NOP;
	insn->is_landing_pad = code == BTI_C || code == PACIASP || code == PACIBSP;
}

static int on_branch(uint32_t code, struct code_insn *insn)
{
	if (is(code, 0xfc000000, 0x14000000))
		on_jump(insn, CODE_JUMP, signed_bits(code, 0, 26));
	else if (is(code, 0xfc000000, 0x94000000))
		on_call(code, insn);
	else if (is(code, 0x7e000000, 0x34000000) || is(code, 0xff000000, 0x54000000))
		on_jump(insn, CODE_BRANCH, signed_bits(code, 5, 19)); /* cbz, cbnz; b.cond */
	else if (is(code, 0x7e000000, 0x36000000))
		on_jump(insn, CODE_BRANCH, signed_bits(code, 5, 14)); /* tbz, tbnz */
	else if (is(code, 0xfe000000, 0xd6000000))
		return on_jump_to_register(code, insn);
	else if (is(code, 0xfe000000, 0xd4000000))
		on_system(code, insn);
	else
		return -EBADMSG;
	return 0;
}

/* A load or store at an offset from a base, which moves before (pre-index) or afterwards
 * (post-index). */
static void on_access(uint32_t code, int32_t offset, struct code_insn *insn)
{
	bool is_post = bits(code, 10, 2) == 1, is_pre = bits(code, 10, 2) == 3;

	insn->base = (uint8_t)rn(code);
	insn->value = is_post ? 0 : offset;
	insn->step = is_post || is_pre ? offset : 0;
}

/* stp, ldp. */
static void on_pair(uint32_t code, struct code_insn *insn)
{
	uint32_t size = bits(code, 30, 2), mode = bits(code, 23, 2);
	bool is_vector = bits(code, 26, 1), is_load = bits(code, 22, 1);
	bool is_tagged = size == 1 && !is_vector && !is_load; /* stgp */
	unsigned int scale = is_vector ? size + 2 : 2 + (size >> 1) + 2U * is_tagged;
	int32_t offset = signed_bits(code, 15, 7) * (1 << scale);
	uint8_t first = general(rd(code)), second = general(bits(code, 10, 5));

	code_insn_set(insn, is_load ? CODE_LOAD : CODE_STORE, mode == 1 ? 0 : offset);
	insn->base = (uint8_t)rn(code);
	insn->step = mode == 1 || mode == 3 ? offset : 0;
	if (is_vector)
		return;
	if (is_load) {
		write_to(insn, first);
		write_to(insn, second);
	}
	if (size == 2) {
		insn->reg = first;
		insn->reg2 = second;
	}
}

/* str, ldr of all sizes. */
static void on_single(uint32_t code, struct code_insn *insn)
{
	uint32_t size = bits(code, 30, 2), operation = bits(code, 22, 2);
	bool is_vector = bits(code, 26, 1), is_scaled = bits(code, 24, 1);
	bool is_prefetch = size == 3 && operation == 2 && !is_vector;
	bool is_load = is_vector ? operation & 1 : operation != 0 && !is_prefetch;
	bool has_other_offset = !is_scaled && bits(code, 21, 1);
	uint8_t reg = general(rd(code));

	if (is_load && !is_vector)
		write_to(insn, reg);
	if (is_prefetch || has_other_offset)
		return;
	code_insn_set(insn, is_load ? CODE_LOAD : CODE_STORE, 0);
	if (is_scaled) {
		unsigned int scale = is_vector && operation > 1 ? size + 4 : size;

		insn->base = (uint8_t)rn(code);
		insn->value = (int32_t)(bits(code, 10, 12) << scale);
	} else {
		on_access(code, signed_bits(code, 12, 9), insn);
	}
	if (size == 3 && !is_vector)
		insn->reg = reg;
}

/* Atomic operations: they write back what was there. Also loads with a signed address, which
 * move their base. */
static void on_atomic(uint32_t code, struct code_insn *insn)
{
	bool is_signed = bits(code, 10, 1);

	write_to(insn, general(rd(code)));
	if (is_signed && bits(code, 11, 1))
		write_to(insn, (uint8_t)rn(code));
}

/* Exclusive and ordered accesses; accesses of many vector registers. Unused registers are 31. */
static void on_exclusive(uint32_t code, struct code_insn *insn)
{
	if (bits(code, 26, 1)) {
		if (bits(code, 23, 1))
			write_to(insn, (uint8_t)rn(code));
		return;
	}
	write_to(insn, general(bits(code, 16, 5)));
	if (!bits(code, 22, 1))
		return;
	write_to(insn, general(rd(code)));
	write_to(insn, general(bits(code, 10, 5)));
}

/* Loads from code; tags, with a base that moves by 16 bytes a step; ordered ones; copying of
 * memory. */
static void on_literal(uint32_t code, struct code_insn *insn)
{
	bool is_literal = !bits(code, 24, 1), is_vector = bits(code, 26, 1);
	bool is_tag = !is_literal && bits(code, 30, 2) == 3 && bits(code, 21, 1);

	if (is_vector || (is_literal && bits(code, 30, 2) == 3))
		return;
	if (is_tag) {
		code_insn_set(insn, CODE_STORE, 0);
		on_access(code, signed_bits(code, 12, 9) * 16, insn);
	} else {
		write_to(insn, general(rd(code)));
	}
}

static int on_memory(uint32_t code, struct code_insn *insn)
{
	bool has_other_offset = !bits(code, 24, 1) && bits(code, 21, 1);

	switch (bits(code, 28, 2)) {
	case 0:
		on_exclusive(code, insn);
		return 0;
	case 1:
		on_literal(code, insn);
		return 0;
	case 2:
		on_pair(code, insn);
		return 0;
	default:
		if (has_other_offset && bits(code, 10, 2) != 2 && !bits(code, 26, 1))
			on_atomic(code, insn);
		else
			on_single(code, insn);
		return 0;
	}
}

/* add or sub of sp and a register, as it is. */
static void on_add_register(uint32_t code, struct code_insn *insn)
{
	write_to(insn, ARM64_SP);
	if (rn(code) != ARM64_SP || bits(code, 10, 6) != 0x18 || bits(code, 16, 5) == ZERO_REGISTER)
		return;
	code_insn_set(insn, CODE_ADD_REGISTER, bits(code, 30, 1) ? -1 : 1);
	insn->reg = ARM64_SP;
	insn->base = (uint8_t)bits(code, 16, 5);
}

/* Signing leaves the address that a register has as it is. */
static int on_register(uint32_t code, struct code_insn *insn)
{
	bool is_signing = is(code, 0xffff0000, 0xdac10000);

	if (rd(code) == ARM64_SP && is(code, 0xbfe00000, 0x8b200000))
		on_add_register(code, insn);
	else if (!is_signing)
		write_to(insn, general(rd(code)));
	return 0;
}

/* Vector instructions. Conversions to numbers, and moves of elements, write general registers. */
static int on_vector(uint32_t code, struct code_insn *insn)
{
	bool is_conversion = is(code, 0x5f20fc00, 0x1e200000) || is(code, 0x5f200000, 0x1e000000);
	bool is_from_general = bits(code, 17, 2) == 1 || bits(code, 16, 3) == 7;
	bool is_element = is(code, 0xbfe0fc00, 0x0e003c00) || is(code, 0xbfe0fc00, 0x0e002c00);

	if ((is_conversion && !is_from_general) || is_element)
		write_to(insn, general(rd(code)));
	return 0;
}

/* Frames of scalable vectors: addvl, addpl. */
static int on_scalable(uint32_t code, struct code_insn *insn)
{
	if (is(code, 0xffa0f800, 0x04205000))
		write_to(insn, (uint8_t)rd(code));
	return 0;
}

/* Reserved encodings: udf, which is an instruction that traps, and matrices. */
static int on_reserved(uint32_t code, struct code_insn *insn)
{
	bool is_udf = code <= UINT16_MAX, is_matrix = bits(code, 31, 1);

	if (is_udf)
		code_insn_set(insn, CODE_TRAP, 0);
	insn->is_padding = code == 0;
	return is_udf || is_matrix ? 0 : -EBADMSG;
}

int code_insn_decode(const uint8_t *bytes, size_t len, struct code_insn *ret_insn)
{
	static int (*const groups[16])(uint32_t, struct code_insn *) = {
		on_reserved, NULL,	  on_scalable,	NULL,	      on_memory, on_register,
		on_memory,   on_vector,	  on_immediate, on_immediate, on_branch, on_branch,
		on_memory,   on_register, on_memory,	on_vector,
	};
	struct code_insn insn = {
		.len = INSN_BYTES,
		.reg = CODE_NO_REGISTER,
		.reg2 = CODE_NO_REGISTER,
		.base = CODE_NO_REGISTER,
	};
	uint32_t code = 0;

	if (len < INSN_BYTES)
		return -EBADMSG;
	for (unsigned int i = 0; i < INSN_BYTES; i++)
		code |= (uint32_t)bytes[i] << 8 * i;

	int (*decode)(uint32_t, struct code_insn *) = groups[bits(code, 25, 4)];
	int r = decode ? decode(code, &insn) : -EBADMSG;
	if (r == 0)
		*ret_insn = insn;
	return r;
}
