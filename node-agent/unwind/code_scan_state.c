/* SPDX-License-Identifier: Apache-2.0 */
/* A register that a function keeps for its caller is *saved* where it is first stored while it still has the
 * caller's value, and *changed* once it may have another one. Changed and not saved is lost. */
#include "unwind/code_scan_state.h"

#include <string.h>

#define WORD_BYTES 8
#define MAX_DEPTH (1 << 30)
#define FRAME_DEPTH (2 * WORD_BYTES) /* behind push %rbp; mov %rsp,%rbp */
#define SAVED_RBP 0 /* index of rbp in `saved` */

#define NONE (-1)

/* The index of a register in `saved`, or NONE. */
static int find_saved(uint8_t reg)
{
	switch (reg) {
	case X86_RBP:
		return SAVED_RBP;
	case X86_RBX:
		return 1;
	case X86_R12:
	case X86_R13:
	case X86_R14:
	case X86_R15:
		return reg - X86_R12 + 2;
	default:
		return NONE;
	}
}

struct scan_state scan_state_at_entry(void)
{
	struct scan_state state = { .depth = WORD_BYTES, .known = SCAN_HAS_DEPTH };

	memset(state.saved, CFI_NOT_SAVED, sizeof(state.saved));
	return state;
}

static void forget_all(struct scan_state *state)
{
	*state = (struct scan_state){ 0 };
}

static void forget_depth(struct scan_state *state)
{
	state->known &= (uint8_t)~SCAN_HAS_DEPTH;
	state->depth = 0;
	if (!state->known)
		forget_all(state);
}

static void forget_rbp(struct scan_state *state)
{
	state->known &= (uint8_t)~SCAN_HAS_RBP;
	state->rbp_depth = 0;
	if (!state->known)
		forget_all(state);
}

static void set_rbp_depth(struct scan_state *state, int64_t depth)
{
	if (depth < 0 || depth > MAX_DEPTH) {
		forget_rbp(state);
		return;
	}
	state->known |= SCAN_HAS_RBP;
	state->rbp_depth = (int32_t)depth;
}

/* What is above the stack pointer is nothing any more: a register that was not taken back is lost. */
static void drop_places(struct scan_state *state)
{
	for (size_t i = 0; i < NR_SAVED_REGS; i++)
		if (state->saved[i] != CFI_NOT_SAVED && state->changed >> i & 1 &&
		    -WORD_BYTES * state->saved[i] > state->depth)
			state->saved[i] = CFI_NOT_SAVED;
}

static void set_depth(struct scan_state *state, int64_t depth)
{
	bool goes_up = state->known & SCAN_HAS_DEPTH && depth < state->depth;

	if (depth < 0 || depth > MAX_DEPTH) {
		forget_depth(state);
		return;
	}
	state->known |= SCAN_HAS_DEPTH;
	state->depth = (int32_t)depth;
	if (goes_up)
		drop_places(state);
}

/* A register has another value from now on. */
static void change(struct scan_state *state, uint8_t reg)
{
	int i = find_saved(reg);

	if (reg == X86_RSP)
		forget_depth(state);
	if (reg == X86_RBP)
		forget_rbp(state);
	if (i != NONE && scan_state_is_known(state))
		state->changed |= (uint8_t)(1U << i);
}

static void change_all(struct scan_state *state, uint16_t registers)
{
	for (unsigned int reg = 0; reg < X86_NO_REGISTER; reg++)
		if (registers >> reg & 1)
			change(state, (uint8_t)reg);
}

/* The place at so many bytes below the CFA, as in `saved`; CFI_NOT_SAVED if that cannot be told there, or is the
 * return address. */
static int8_t place_at(int64_t below)
{
	if (below % WORD_BYTES != 0 || below <= WORD_BYTES || below >= -WORD_BYTES * CFI_NOT_SAVED)
		return CFI_NOT_SAVED;
	return (cfi_slot)(-below / WORD_BYTES);
}

/* A word is written, from a register or from elsewhere: what was saved there is gone. */
static void write_word(struct scan_state *state, int64_t below, uint8_t reg)
{
	int8_t place = place_at(below);
	int own = find_saved(reg);

	if (place == CFI_NOT_SAVED)
		return;
	for (int i = 0; i < NR_SAVED_REGS; i++)
		if (state->saved[i] == place && (i != own || state->changed >> i & 1))
			state->saved[i] = CFI_NOT_SAVED;
	if (own != NONE && !(state->changed >> own & 1) && state->saved[own] == CFI_NOT_SAVED)
		state->saved[own] = place;
}

/* A word is read back into a register. */
static void read_word(struct scan_state *state, int64_t below, uint8_t reg)
{
	int own = find_saved(reg);
	int8_t place = place_at(below);

	change(state, reg);
	if (own == NONE || place == CFI_NOT_SAVED || state->saved[own] != place)
		return;
	state->changed &= (uint8_t) ~(1U << own);
	state->saved[own] = CFI_NOT_SAVED;
}

/* How far below the CFA the operand is. */
static bool find_operand(const struct scan_state *state, const struct x86_insn *insn,
			 int64_t *ret_below)
{
	if (insn->base == X86_RSP && state->known & SCAN_HAS_DEPTH)
		*ret_below = (int64_t)state->depth - insn->value;
	else if (insn->base == X86_RBP && state->known & SCAN_HAS_RBP)
		*ret_below = (int64_t)state->rbp_depth - insn->value;
	else
		return false;
	return true;
}

static void on_other(struct scan_state *state, const struct x86_insn *insn)
{
	change_all(state, insn->writes);
}

static void on_push(struct scan_state *state, const struct x86_insn *insn)
{
	if (!(state->known & SCAN_HAS_DEPTH))
		return;
	set_depth(state, (int64_t)state->depth + insn->value);
	if (state->known & SCAN_HAS_DEPTH)
		write_word(state, state->depth, insn->reg);
}

static void on_pop(struct scan_state *state, const struct x86_insn *insn)
{
	int64_t depth = state->depth;

	if (insn->reg == X86_RSP || !(state->known & SCAN_HAS_DEPTH)) {
		change_all(state, insn->writes);
		return;
	}
	if (insn->value == WORD_BYTES)
		read_word(state, depth, insn->reg);
	else
		change_all(state, insn->writes);
	set_depth(state, depth - insn->value);
}

static void on_add(struct scan_state *state, const struct x86_insn *insn)
{
	if (insn->reg == X86_RSP && state->known & SCAN_HAS_DEPTH)
		set_depth(state, (int64_t)state->depth - insn->value);
	else if (insn->reg == X86_RBP && state->known & SCAN_HAS_RBP)
		set_rbp_depth(state, (int64_t)state->rbp_depth - insn->value);
	else
		change(state, insn->reg);
}

/* rsp or rbp becomes an address in the frame: `mov` and `lea`. */
static void on_address(struct scan_state *state, const struct x86_insn *insn)
{
	int64_t below;
	bool is_in_frame = find_operand(state, insn, &below);

	if (is_in_frame && insn->reg == X86_RSP) {
		set_depth(state, below);
		return;
	}
	if (is_in_frame && insn->reg == X86_RBP) {
		state->changed |= 1U << SAVED_RBP;
		set_rbp_depth(state, below);
		return;
	}
	change(state, insn->reg);
}

static void on_load(struct scan_state *state, const struct x86_insn *insn)
{
	int64_t below;

	if (find_operand(state, insn, &below))
		read_word(state, below, insn->reg);
	else
		change(state, insn->reg);
}

static void on_store(struct scan_state *state, const struct x86_insn *insn)
{
	int64_t below;

	if (find_operand(state, insn, &below))
		write_word(state, below, insn->reg);
}

static void on_leave(struct scan_state *state, const struct x86_insn *insn)
{
	int64_t depth = state->rbp_depth;

	(void)insn;
	if (!(state->known & SCAN_HAS_RBP)) {
		forget_all(state);
		return;
	}
	set_depth(state, depth);
	read_word(state, depth, X86_RBP);
	set_depth(state, depth - WORD_BYTES);
}

static void on_enter(struct scan_state *state, const struct x86_insn *insn)
{
	if (!(state->known & SCAN_HAS_DEPTH)) {
		change(state, X86_RBP);
		return;
	}
	state->depth += WORD_BYTES;
	write_word(state, state->depth, X86_RBP);
	change(state, X86_RBP);
	set_rbp_depth(state, state->depth);
	set_depth(state, (int64_t)state->depth + insn->value);
}

void scan_state_apply(struct scan_state *state, const struct x86_insn *insn)
{
	static void (*const handlers[])(struct scan_state *, const struct x86_insn *) = {
		[X86_PUSH] = on_push,	[X86_POP] = on_pop,	 [X86_ADD] = on_add,
		[X86_LEA] = on_address, [X86_MOVE] = on_address, [X86_LOAD] = on_load,
		[X86_STORE] = on_store, [X86_LEAVE] = on_leave,	 [X86_ENTER] = on_enter,
	};
	size_t nr = sizeof(handlers) / sizeof(handlers[0]);

	if (!scan_state_is_known(state))
		return;
	if (insn->op < nr && handlers[insn->op])
		handlers[insn->op](state, insn);
	else
		on_other(state, insn);
}

/* A register that both ways left alone is; one that both saved at the same place is there. */
static void merge_registers(struct scan_state *state, const struct scan_state *other)
{
	for (size_t i = 0; i < NR_SAVED_REGS; i++)
		if (state->saved[i] != other->saved[i])
			state->saved[i] = CFI_NOT_SAVED;
	state->changed |= other->changed;
}

bool scan_state_merge(struct scan_state *state, const struct scan_state *other)
{
	uint8_t common = state->known & other->known;

	if (common & SCAN_HAS_RBP && state->rbp_depth != other->rbp_depth)
		return false;
	if (common & SCAN_HAS_DEPTH && state->depth != other->depth) {
		if (!(common & SCAN_HAS_RBP))
			return false;
		common &= (uint8_t)~SCAN_HAS_DEPTH;
	}
	if (common == 0)
		return false;
	merge_registers(state, other);
	if (!(common & SCAN_HAS_DEPTH))
		forget_depth(state);
	if ((state->known | other->known) & SCAN_HAS_RBP && !(common & SCAN_HAS_RBP)) {
		forget_rbp(state);
		state->changed |= 1U << SAVED_RBP;
	}
	return true;
}

/* By rbp where it is a frame pointer like any other, as compilers' CFI has it; else by rsp if that will do. */
static bool is_by_rbp(const struct scan_state *state)
{
	if (!(state->known & SCAN_HAS_RBP))
		return false;
	return !(state->known & SCAN_HAS_DEPTH) ||
	       (state->rbp_depth == FRAME_DEPTH &&
		state->saved[SAVED_RBP] == -FRAME_DEPTH / WORD_BYTES);
}

struct cfi_rule scan_state_rule(const struct scan_state *state)
{
	bool is_rbp = is_by_rbp(state);
	struct cfi_rule rule = {
		.kind = CFA_REGISTER,
		.reg = is_rbp ? CFI_RBP : CFI_RSP,
		.return_address = -1,
		.offset = is_rbp ? state->rbp_depth : state->depth,
	};

	if (!scan_state_is_known(state) || rule.offset < WORD_BYTES)
		return (struct cfi_rule){ .kind = CFA_NONE };
	for (size_t i = 0; i < NR_SAVED_REGS; i++) {
		rule.saved[i] = state->saved[i];
		if (state->saved[i] == CFI_NOT_SAVED && state->changed >> i & 1)
			rule.saved[i] = CFI_LOST;
	}
	return rule;
}
