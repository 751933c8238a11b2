/* SPDX-License-Identifier: Apache-2.0 */
/* Forms found in 2400 files of a Linux distribution: `reg + offset` and `*(reg + offset) +
 * addend` (stacks that are realigned, OpenSSL's assembly, signal frames), and that of procedure
 * linkage tables:
 *
 *	breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus
 *
 * rsp + 8, and 8 more from byte 11 of each 16-byte entry on, where it has pushed its index. */
#include "unwind/cfi/dwarf_value.h"

#define MAX_STACK 8
#define PLT_ENTRY_MASK 15

enum dwarf_operation {
	DW_OP_deref = 0x06,
	DW_OP_const1u = 0x08,
	DW_OP_const1s = 0x09,
	DW_OP_const2u = 0x0a,
	DW_OP_const2s = 0x0b,
	DW_OP_const4u = 0x0c,
	DW_OP_const4s = 0x0d,
	DW_OP_const8u = 0x0e,
	DW_OP_const8s = 0x0f,
	DW_OP_constu = 0x10,
	DW_OP_consts = 0x11,
	DW_OP_drop = 0x13,
	DW_OP_and = 0x1a,
	DW_OP_minus = 0x1c,
	DW_OP_mul = 0x1e,
	DW_OP_plus = 0x22,
	DW_OP_plus_uconst = 0x23,
	DW_OP_shl = 0x24,
	DW_OP_ge = 0x2a,
	DW_OP_lit0 = 0x30,
	DW_OP_lit31 = 0x4f,
	DW_OP_breg0 = 0x70,
	DW_OP_breg31 = 0x8f,
	DW_OP_bregx = 0x92,
	DW_OP_nop = 0x96,
};

struct value_stack {
	struct dwarf_value values[MAX_STACK];
	unsigned int nr_values;
	struct dwarf_cursor cursor;
};

static const struct dwarf_value unknown = { .kind = DWARF_VALUE_UNKNOWN };

static struct dwarf_value constant(uint64_t number)
{
	return (struct dwarf_value){ .kind = DWARF_VALUE_CONSTANT, .offset = (int64_t)number };
}

/* Registers above 31 are of no use here. */
static struct dwarf_value based_on(uint64_t reg, int64_t offset)
{
	if (reg > 31)
		return unknown;
	return (struct dwarf_value){
		.kind = DWARF_VALUE_REGISTER,
		.reg = (uint8_t)reg,
		.offset = offset,
	};
}

static int64_t wrapping_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static struct dwarf_value add_constant(struct dwarf_value value, int64_t number)
{
	switch (value.kind) {
	case DWARF_VALUE_CONSTANT:
	case DWARF_VALUE_REGISTER:
	case DWARF_VALUE_PLT:
		value.offset = wrapping_add(value.offset, number);
		return value;
	case DWARF_VALUE_MEMORY:
		value.addend = wrapping_add(value.addend, number);
		return value;
	default:
		return unknown;
	}
}

static struct dwarf_value add(struct dwarf_value a, struct dwarf_value b)
{
	if (b.kind == DWARF_VALUE_CONSTANT)
		return add_constant(a, b.offset);
	if (a.kind == DWARF_VALUE_CONSTANT)
		return add_constant(b, a.offset);
	if (a.kind == DWARF_VALUE_IP_PAST_8 && b.kind == DWARF_VALUE_REGISTER) {
		b.kind = DWARF_VALUE_PLT;
		b.addend = a.addend;
		return b;
	}
	if (b.kind == DWARF_VALUE_IP_PAST_8 && a.kind == DWARF_VALUE_REGISTER)
		return add(b, a);
	return unknown;
}

static struct dwarf_value mask(struct dwarf_value a, int64_t number)
{
	if (a.kind != DWARF_VALUE_REGISTER || a.reg != DWARF_REG_PC || a.offset != 0 ||
	    number != PLT_ENTRY_MASK)
		return unknown;
	return (struct dwarf_value){ .kind = DWARF_VALUE_IP_LOW };
}

static struct dwarf_value compare(struct dwarf_value a, int64_t number)
{
	if (a.kind != DWARF_VALUE_IP_LOW || number < 0 || number > PLT_ENTRY_MASK)
		return unknown;
	return (struct dwarf_value){ .kind = DWARF_VALUE_IP_PAST, .addend = number };
}

static struct dwarf_value multiply(struct dwarf_value a, bool is_by_8)
{
	if (a.kind != DWARF_VALUE_IP_PAST || !is_by_8)
		return unknown;
	a.kind = DWARF_VALUE_IP_PAST_8;
	return a;
}

/* Operations on the upper two values; apart from sums, b is always a constant in what is known. */
static struct dwarf_value combine(uint8_t operation, struct dwarf_value a, struct dwarf_value b)
{
	if (operation == DW_OP_plus)
		return add(a, b);
	if (b.kind != DWARF_VALUE_CONSTANT)
		return unknown;
	switch (operation) {
	case DW_OP_minus:
		return add_constant(a, (int64_t) - (uint64_t)b.offset);
	case DW_OP_and:
		return mask(a, b.offset);
	case DW_OP_ge:
		return compare(a, b.offset);
	case DW_OP_shl:
		return multiply(a, b.offset == 3);
	default:
		return multiply(a, b.offset == 8);
	}
}

static struct dwarf_value dereference(struct dwarf_value a)
{
	if (a.kind != DWARF_VALUE_REGISTER)
		return unknown;
	a.kind = DWARF_VALUE_MEMORY;
	return a;
}

static struct dwarf_value pop(struct value_stack *stack)
{
	return stack->nr_values > 0 ? stack->values[--stack->nr_values] : unknown;
}

static bool push(struct value_stack *stack, struct dwarf_value value)
{
	if (stack->nr_values == MAX_STACK || value.kind == DWARF_VALUE_UNKNOWN)
		return false;
	stack->values[stack->nr_values++] = value;
	return true;
}

static struct dwarf_value read_constant(uint8_t operation, struct dwarf_cursor *cursor)
{
	switch (operation) {
	case DW_OP_const1u:
		return constant(dwarf_cursor_u8(cursor));
	case DW_OP_const1s:
		return constant((uint64_t)(int8_t)dwarf_cursor_u8(cursor));
	case DW_OP_const2u:
		return constant(dwarf_cursor_pointer_value(cursor, DW_EH_PE_udata2));
	case DW_OP_const2s:
		return constant(dwarf_cursor_pointer_value(cursor, DW_EH_PE_sdata2));
	case DW_OP_const4u:
		return constant(dwarf_cursor_pointer_value(cursor, DW_EH_PE_udata4));
	case DW_OP_const4s:
		return constant(dwarf_cursor_pointer_value(cursor, DW_EH_PE_sdata4));
	case DW_OP_const8u:
	case DW_OP_const8s:
		return constant(dwarf_cursor_fixed(cursor, 8));
	case DW_OP_constu:
		return constant(dwarf_cursor_uleb(cursor));
	case DW_OP_consts:
		return constant((uint64_t)dwarf_cursor_sleb(cursor));
	default:
		return unknown;
	}
}

static struct dwarf_value run_unary(struct value_stack *stack, uint8_t operation)
{
	struct dwarf_cursor *cursor = &stack->cursor;
	uint64_t reg;

	switch (operation) {
	case DW_OP_deref:
		return dereference(pop(stack));
	case DW_OP_plus_uconst:
		return add_constant(pop(stack), (int64_t)dwarf_cursor_uleb(cursor));
	case DW_OP_nop:
		return pop(stack);
	case DW_OP_bregx:
		reg = dwarf_cursor_uleb(cursor);
		return based_on(reg, dwarf_cursor_sleb(cursor));
	default:
		return read_constant(operation, cursor);
	}
}

static struct dwarf_value run_operation(struct value_stack *stack, uint8_t operation)
{
	struct dwarf_value upper;

	if (operation >= DW_OP_lit0 && operation <= DW_OP_lit31)
		return constant(operation - DW_OP_lit0);
	if (operation >= DW_OP_breg0 && operation <= DW_OP_breg31)
		return based_on(operation - DW_OP_breg0, dwarf_cursor_sleb(&stack->cursor));
	switch (operation) {
	case DW_OP_plus:
	case DW_OP_minus:
	case DW_OP_and:
	case DW_OP_ge:
	case DW_OP_shl:
	case DW_OP_mul:
		upper = pop(stack);
		return combine(operation, pop(stack), upper);
	default:
		return run_unary(stack, operation);
	}
}

struct dwarf_value dwarf_value_of(struct dwarf_cursor expression, bool has_cfa)
{
	struct value_stack stack = { .cursor = expression };

	if (has_cfa)
		stack.values[stack.nr_values++] = (struct dwarf_value){
			.kind = DWARF_VALUE_REGISTER,
			.reg = DWARF_REG_CFA,
		};
	while (stack.cursor.pos < stack.cursor.end) {
		uint8_t operation = dwarf_cursor_u8(&stack.cursor);

		if (operation == DW_OP_drop)
			pop(&stack);
		else if (!push(&stack, run_operation(&stack, operation)))
			return unknown;
	}
	return stack.cursor.is_bad ? unknown : pop(&stack);
}
