/* SPDX-License-Identifier: Apache-2.0 */
/* A register that a function keeps for its caller is *saved* where it is first stored while it
 * still has the caller's value, and *changed* once it may have another one. Changed and not
 * saved is lost. */
#include "unwind/code/code_scan_state.h"

#include <string.h>

#define WORD_BYTES 8
#define MAX_DEPTH (1 << 30)
#define KEPT_FP 0 /* index in CODE_KEPT_REGISTERS */

#define NONE (-1)

/* The index of a register in `saved`, or NONE. */
static int find_kept(uint8_t reg)
{
	static const uint8_t kept[CODE_NR_KEPT] = { CODE_KEPT_REGISTERS };

	for (int i = 0; i < CODE_NR_KEPT; i++)
		if (kept[i] == reg)
			return i;
	return NONE;
}

struct scan_state scan_state_at_entry(void)
{
	struct scan_state state = { .depth = CODE_ENTRY_DEPTH, .known = SCAN_HAS_DEPTH };

	for (size_t i = 0; i < CODE_NR_KEPT; i++)
		state.saved[i] = CFI_NOT_SAVED;
	return state;
}

static void forget_all(struct scan_state *state)
{
	*state = (struct scan_state){ 0 };
}

/* `what` is SCAN_HAS_DEPTH or SCAN_HAS_FP. */
static void forget(struct scan_state *state, uint16_t what)
{
	state->known &= (uint16_t)~what;
	*(what == SCAN_HAS_DEPTH ? &state->depth : &state->fp_depth) = 0;
	if (!state->known)
		forget_all(state);
}

static void set_fp_depth(struct scan_state *state, int64_t depth)
{
	if (depth < 0 || depth > MAX_DEPTH) {
		forget(state, SCAN_HAS_FP);
		return;
	}
	state->known |= SCAN_HAS_FP;
	state->fp_depth = (int32_t)depth;
}

/* Forgets the places that are below the stack pointer now. A register that was changed and not
 * restored from there is lost. */
static void drop_places(struct scan_state *state)
{
	for (size_t i = 0; i < CODE_NR_KEPT; i++)
		if (state->saved[i] != CFI_NOT_SAVED && state->changed >> i & 1 &&
		    -WORD_BYTES * state->saved[i] > state->depth)
			state->saved[i] = CFI_NOT_SAVED;
}

static void set_depth(struct scan_state *state, int64_t depth)
{
	bool goes_up = state->known & SCAN_HAS_DEPTH && depth < state->depth;

	if (depth < 0 || depth > MAX_DEPTH) {
		forget(state, SCAN_HAS_DEPTH);
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
	int i = find_kept(reg);

	if (reg == CODE_SP)
		forget(state, SCAN_HAS_DEPTH);
	if (reg == CODE_FP)
		forget(state, SCAN_HAS_FP);
	if (i != NONE && scan_state_is_known(state))
		state->changed |= (uint16_t)(1U << i);
}

static void change_all(struct scan_state *state, uint32_t registers)
{
	for (; registers != 0; registers &= registers - 1)
		change(state, (uint8_t)__builtin_ctz(registers));
}

/* Returns the place at so many bytes below the CFA, as in `saved`; CFI_NOT_SAVED if it is too
 * far away or is the return address. */
static int16_t place_at(int64_t below)
{
	if (below % WORD_BYTES != 0 || below <= CODE_ENTRY_DEPTH ||
	    below >= -WORD_BYTES * CFI_NOT_SAVED)
		return CFI_NOT_SAVED;
	return (int16_t)(-below / WORD_BYTES);
}

/* Writes a word, from a register or another source: what was saved in its place is gone. */
static void write_word(struct scan_state *state, int64_t below, uint8_t reg)
{
	int16_t place = place_at(below);
	int own = find_kept(reg);

	if (place == CFI_NOT_SAVED)
		return;
	for (int i = 0; i < CODE_NR_KEPT; i++)
		if (state->saved[i] == place && (i != own || state->changed >> i & 1))
			state->saved[i] = CFI_NOT_SAVED;
	if (own != NONE && !(state->changed >> own & 1) && state->saved[own] == CFI_NOT_SAVED)
		state->saved[own] = place;
}

/* A word is read back into a register. */
static void read_word(struct scan_state *state, int64_t below, uint8_t reg)
{
	int own = find_kept(reg);
	int16_t place = place_at(below);

	change(state, reg);
	if (own == NONE || place == CFI_NOT_SAVED || state->saved[own] != place)
		return;
	state->changed &= (uint16_t) ~(1U << own);
	state->saved[own] = CFI_NOT_SAVED;
}

/* Finds how far below the CFA the operand is. Returns false if that is not known. */
static bool find_operand(const struct scan_state *state, const struct code_insn *insn,
			 int64_t *ret_below)
{
	if (insn->base == CODE_SP && state->known & SCAN_HAS_DEPTH)
		*ret_below = (int64_t)state->depth - insn->value;
	else if (insn->base == CODE_FP && state->known & SCAN_HAS_FP)
		*ret_below = (int64_t)state->fp_depth - insn->value;
	else
		return false;
	return true;
}

/* sp or fp becomes an address in the frame. */
static void on_address(struct scan_state *state, const struct code_insn *insn)
{
	int64_t below;
	bool is_in_frame = find_operand(state, insn, &below);

	if (is_in_frame && insn->reg == CODE_SP) {
		set_depth(state, below);
		return;
	}
	if (is_in_frame && insn->reg == CODE_FP) {
		state->changed |= 1U << KEPT_FP;
		set_fp_depth(state, below);
		return;
	}
	change(state, insn->reg);
}

static void move_base(struct scan_state *state, const struct code_insn *insn)
{
	const struct code_insn move = { .reg = insn->base,
					.base = insn->base,
					.value = insn->step };

	if (insn->step != 0)
		on_address(state, &move);
}

static void on_load(struct scan_state *state, const struct code_insn *insn)
{
	int64_t below;
	bool is_in_frame = find_operand(state, insn, &below);

	change_all(state, insn->writes);
	if (is_in_frame) {
		read_word(state, below, insn->reg);
		read_word(state, below - WORD_BYTES, insn->reg2);
	}
	move_base(state, insn);
}

static void on_store(struct scan_state *state, const struct code_insn *insn)
{
	int64_t below;

	if (find_operand(state, insn, &below)) {
		write_word(state, below, insn->reg);
		if (insn->reg2 != CODE_NO_REGISTER)
			write_word(state, below - WORD_BYTES, insn->reg2);
	}
	move_base(state, insn);
}

static void on_leave(struct scan_state *state, const struct code_insn *insn)
{
	int64_t depth = state->fp_depth;

	(void)insn;
	if (!(state->known & SCAN_HAS_FP)) {
		forget_all(state);
		return;
	}
	set_depth(state, depth);
	read_word(state, depth, CODE_FP);
	set_depth(state, depth - WORD_BYTES);
}

static void on_enter(struct scan_state *state, const struct code_insn *insn)
{
	if (!(state->known & SCAN_HAS_DEPTH)) {
		change(state, CODE_FP);
		return;
	}
	state->depth += WORD_BYTES;
	write_word(state, state->depth, CODE_FP);
	change(state, CODE_FP);
	set_fp_depth(state, state->depth);
	set_depth(state, (int64_t)state->depth + insn->value);
}

void scan_state_apply(struct scan_state *state, const struct code_insn *insn)
{
	static void (*const handlers[])(struct scan_state *, const struct code_insn *) = {
		[CODE_ADDRESS] = on_address, [CODE_LOAD] = on_load,   [CODE_STORE] = on_store,
		[CODE_LEAVE] = on_leave,     [CODE_ENTER] = on_enter,
	};
	size_t nr = sizeof(handlers) / sizeof(handlers[0]);

	if (!scan_state_is_known(state))
		return;
	if (insn->op < nr && handlers[insn->op])
		handlers[insn->op](state, insn);
	else
		change_all(state, insn->writes);
}

/* Merges registers: one that both paths left alone is unchanged; one that both saved at the same
 * place is saved there. */
static void merge_registers(struct scan_state *state, const struct scan_state *other)
{
	for (size_t i = 0; i < CODE_NR_KEPT; i++)
		if (state->saved[i] != other->saved[i])
			state->saved[i] = CFI_NOT_SAVED;
	state->changed |= other->changed;
}

bool scan_state_merge(struct scan_state *state, const struct scan_state *other)
{
	uint16_t common = state->known & other->known;

	if (common & SCAN_HAS_FP && state->fp_depth != other->fp_depth)
		return false;
	if (common & SCAN_HAS_DEPTH && state->depth != other->depth) {
		if (!(common & SCAN_HAS_FP))
			return false;
		common &= (uint16_t)~SCAN_HAS_DEPTH;
	}
	if (common == 0)
		return false;
	merge_registers(state, other);
	if (!(common & SCAN_HAS_DEPTH))
		forget(state, SCAN_HAS_DEPTH);
	if ((state->known | other->known) & SCAN_HAS_FP && !(common & SCAN_HAS_FP)) {
		forget(state, SCAN_HAS_FP);
		state->changed |= 1U << KEPT_FP;
	}
	return true;
}
