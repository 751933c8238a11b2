/* SPDX-License-Identifier: Apache-2.0 */
/* Rules have one base for the places of registers: the CFA, or the frame pointer. Most code
 * saves below the CFA. Code for x86-64 that aligns its stack does not know at compile time how
 * far below, so GCC gives such places as expressions on rbp, and keeps the CFA in memory:
 *
 *	CFA = *(rbp - 40), rbp at rbp + 0, r15 at rbp - 8, r14 at rbp - 16 …
 *
 * Where the CFA is rbp + 16, say, both are the same thing. */
#include "unwind/cfi/cfi_state.h"

#define SLOT_BYTES 8
#define MIN_SLOT (CFI_NOT_SAVED + 1)
#define MAX_SLOT (CFI_LOST - 1)

/* The interrupted stack pointer in a signal frame on x86-64:
 * ucontext.uc_mcontext.gregs[CFI_RSP], with the ucontext at rsp when the handler has returned. */
#define SIGNAL_FRAME_SP 160

int cfi_column_of(uint64_t reg)
{
	static const int8_t columns[] = {
#define X(INDEX, REGISTER) [REGISTER] = INDEX + 1,
		SAVED_REGISTERS(X)
#undef X
			[CFI_SP] = CFI_COLUMN_SP + 1,
		[DWARF_REG_RA] = CFI_COLUMN_RA + 1,
	};

	return reg < sizeof(columns) ? columns[reg] - 1 : -1;
}

static struct cfi_place make_place(enum cfi_place_kind kind, uint8_t reg, int64_t offset)
{
	if (offset != (int32_t)offset)
		return (struct cfi_place){ .kind = CFI_PLACE_OTHER };
	return (struct cfi_place){ .kind = (uint8_t)kind, .reg = reg, .offset = (int32_t)offset };
}

struct cfi_place cfi_place_from_cfa(enum cfi_place_kind kind, int64_t offset)
{
	return make_place(kind, 0, offset);
}

struct cfi_place cfi_place_at(const struct dwarf_value *address)
{
	if (address->kind != DWARF_VALUE_REGISTER)
		return (struct cfi_place){ .kind = CFI_PLACE_OTHER };
	if (address->reg == DWARF_REG_CFA)
		return make_place(CFI_PLACE_AT_CFA, 0, address->offset);
	return make_place(CFI_PLACE_AT_REGISTER, address->reg, address->offset);
}

static struct dwarf_value get_cfa(const struct cfi_state *state)
{
	if (state->has_cfa_expression)
		return state->cfa_expression;
	if (state->cfa_register >= NR_REGS)
		return (struct dwarf_value){ .kind = DWARF_VALUE_UNKNOWN };
	return (struct dwarf_value){
		.kind = DWARF_VALUE_REGISTER,
		.reg = (uint8_t)state->cfa_register,
		.offset = state->cfa_offset,
	};
}

/* CFA = *(rsp + 160) of a frame that is marked as a signal frame. The mark alone says no more
 * than that it was not a call that led there, and is also on other hand-written code. On arm64
 * CFA = fp, in the vDSO of Linux before 5.8; no newer one has CFI for it. */
static bool is_signal_cfa(const struct dwarf_value *cfa)
{
	if (CFI_IS_ARM64)
		return cfa->kind == DWARF_VALUE_REGISTER && cfa->reg == CFI_FP && cfa->offset == 0;
	return cfa->kind == DWARF_VALUE_MEMORY && cfa->reg == CFI_SP &&
	       cfa->offset == SIGNAL_FRAME_SP && cfa->addend == 0;
}

static bool set_cfa(const struct dwarf_value *cfa, struct cfi_rule *rule)
{
	if (cfa->reg >= NR_REGS || cfa->offset != (int32_t)cfa->offset)
		return false;
	rule->reg = cfa->reg;
	rule->offset = (int32_t)cfa->offset;
	rule->arg = (uint16_t)cfa->addend;
	switch (cfa->kind) {
	case DWARF_VALUE_REGISTER:
		rule->kind = CFA_REGISTER;
		return true;
	case DWARF_VALUE_MEMORY:
		rule->kind = CFA_DEREF;
		return cfa->addend == (int16_t)cfa->addend;
	case DWARF_VALUE_PLT:
		rule->kind = CFA_PLT;
		return true;
	default:
		return false;
	}
}

/* Returns the place of a column, relative to the CFA if possible. */
static struct cfi_place get_place(const struct cfi_state *state, enum cfi_column column,
				  const struct cfi_rule *rule)
{
	struct cfi_place place = state->places[column];

	if (place.kind == CFI_PLACE_AT_REGISTER && rule->kind == CFA_REGISTER &&
	    place.reg == rule->reg)
		return make_place(CFI_PLACE_AT_CFA, 0, (int64_t)place.offset - rule->offset);
	return place;
}

static cfi_slot slot_of(struct cfi_place place)
{
	int32_t slot = place.offset / SLOT_BYTES;

	if (place.offset % SLOT_BYTES != 0 || slot < MIN_SLOT || slot > MAX_SLOT)
		return CFI_LOST;
	return (cfi_slot)slot;
}

/* Returns the slot of a register that is saved relative to `base` (CFI_PLACE_AT_CFA, or
 * CFI_PLACE_AT_REGISTER for the frame pointer). Registers saved elsewhere are lost. */
static cfi_slot saved_slot(struct cfi_place place, enum cfi_place_kind base)
{
	if (place.kind <= CFI_PLACE_SAME)
		return CFI_NOT_SAVED;
	if (place.kind != base || (base == CFI_PLACE_AT_REGISTER && place.reg != CFI_FP))
		return CFI_LOST;
	return slot_of(place);
}

/* Returns the number of registers that are lost. */
static int set_slots(const struct cfi_state *state, enum cfi_place_kind base, struct cfi_rule *rule)
{
	int nr_lost = 0;

	for (int i = 0; i < NR_SAVED_REGS; i++) {
		rule->saved[i] = saved_slot(get_place(state, i, rule), base);
		nr_lost += rule->saved[i] == CFI_LOST;
	}
	return nr_lost;
}

/* Compares two bases. The better one keeps the frame pointer, by which nearly every caller finds
 * or saves its frame; else it is the one that loses fewer registers. */
static bool is_better(const struct cfi_rule *a, int nr_lost_a, const struct cfi_rule *b,
		      int nr_lost_b)
{
	bool has_fp_a = a->saved[CFI_COLUMN_FP] != CFI_LOST;
	bool has_fp_b = b->saved[CFI_COLUMN_FP] != CFI_LOST;

	return has_fp_a != has_fp_b ? has_fp_a : nr_lost_a < nr_lost_b;
}

/* Returns whether no register is lost. */
static bool set_saved(const struct cfi_state *state, struct cfi_rule *rule)
{
	int nr_lost = set_slots(state, CFI_PLACE_AT_CFA, rule);

	if (nr_lost == 0)
		return true;

	struct cfi_rule at_fp = *rule;
	int nr_lost_at_fp = set_slots(state, CFI_PLACE_AT_REGISTER, &at_fp);
	if (!is_better(&at_fp, nr_lost_at_fp, rule, nr_lost))
		return false;
	*rule = at_fp;
	rule->flags |= CFI_SAVED_AT_RBP;
	return nr_lost_at_fp == 0;
}

/* Returns the place of the return address. If its column is that of a register, it is in that
 * register until it is saved. */
static struct cfi_place get_return_place(const struct cfi_state *state, const struct cfi_rule *rule)
{
	struct cfi_place place = get_place(state, CFI_COLUMN_RA, rule);

	if (place.kind <= CFI_PLACE_SAME && DWARF_REG_RA < NR_REGS)
		return (struct cfi_place){ .kind = CFI_PLACE_IN_REGISTER, .reg = DWARF_REG_RA };
	return place;
}

static bool set_return_address(const struct cfi_state *state, struct cfi_rule *rule)
{
	struct cfi_place place = get_return_place(state, rule);

	if (place.kind == CFI_PLACE_IN_REGISTER && rule->kind == CFA_REGISTER) {
		rule->flags |= CFI_RETURN_IN_REGISTER;
		rule->arg = place.reg;
		return true;
	}
	if (place.kind != CFI_PLACE_AT_CFA)
		return false;
	rule->return_address = slot_of(place);
	return rule->return_address != CFI_LOST;
}

/* Returns whether the stack pointer of the caller is the CFA, as it is by definition. */
static bool has_usual_sp(const struct cfi_state *state)
{
	const struct cfi_place *sp = &state->places[CFI_COLUMN_SP];

	return sp->kind == CFI_PLACE_UNSET || (sp->kind == CFI_PLACE_CFA_VALUE && sp->offset == 0);
}

bool cfi_state_make_rule(const struct cfi_state *state, bool is_signal_frame,
			 struct cfi_rule *ret_rule)
{
	struct dwarf_value cfa = get_cfa(state);
	struct cfi_rule rule = { 0 };

	if (state->places[CFI_COLUMN_RA].kind == CFI_PLACE_UNDEFINED) {
		*ret_rule = (struct cfi_rule){ .kind = CFA_END };
		return true;
	}
	if (is_signal_frame && is_signal_cfa(&cfa)) {
		*ret_rule = (struct cfi_rule){ .kind = CFA_SIGNAL };
		return true;
	}
	if (!set_cfa(&cfa, &rule) || !has_usual_sp(state) || !set_return_address(state, &rule)) {
		*ret_rule = (struct cfi_rule){ .kind = CFA_UNSUPPORTED };
		return false;
	}

	bool is_all = set_saved(state, &rule);
	*ret_rule = rule;
	return is_all;
}
