/* SPDX-License-Identifier: Apache-2.0 */
/* Goes through the code in the order of addresses. The state behind an instruction follows from
 * it, unless it is the end of a path (ret, jmp). The state at the target of a jump follows from
 * the jump: in this pass from jumps before, in the next one also from jumps behind. Where
 * neither says anything, a function may begin. */
#include "unwind/code/code_scan_sweep.h"

#include "unwind/code/code_patterns.h"

#include <string.h>

#define PAGE_BYTES 4096

struct sweep {
	struct scan_map *map;
	const struct scan_range *range;
	const struct scan_sweep_opts *opts;
	size_t at; /* in the range */
	struct code_insn insn; /* there */
	struct scan_state state; /* before it; known only if `is_reached` */
	bool is_reached; /* the instruction before goes on here */
	bool is_behind_call; /* … if that call returns */
	bool is_padded; /* between it and here there is padding */
	bool is_lost; /* in this function nothing is believed any more */
	uint32_t has_constant; /* bit n: register n, which was set to constants[n] */
	uint64_t constants[CODE_NO_REGISTER];
	size_t guess; /* index of this function's beginning, if it was guessed; else SIZE_MAX */
	struct scan_state
		table; /* at this function's last indirect jump, which may lead anywhere in it */
	enum cfa_kind special; /* the rule, up to special_end */
	size_t special_end;
	struct cfi_rule rule; /* of the last row */
};

static uint64_t address_of(const struct sweep *sweep)
{
	return sweep->range->code.address + sweep->at;
}

static size_t index_of(const struct sweep *sweep)
{
	return sweep->range->first + sweep->at;
}

static size_t find_sigreturn(const struct sweep *sweep, size_t at)
{
	const struct scan_code *code = &sweep->range->code;

	return at < code->len ? code_find_sigreturn(code->bytes + at, code->len - at) : 0;
}

static bool is_first_call(const struct sweep *sweep)
{
	const struct scan_code *code = &sweep->range->code;
	size_t end = sweep->at + sweep->insn.len;

	return sweep->insn.op == CODE_CALL_INDIRECT &&
	       code_ends_thread(code->bytes + end, code->len - end);
}

static void begin_function(struct sweep *sweep)
{
	sweep->state = scan_state_at_entry();
	sweep->is_reached = true;
	sweep->is_lost = false;
	sweep->table = (struct scan_state){ 0 };
	sweep->has_constant = 0;
	sweep->guess = SIZE_MAX;
	sweep->special_end = 0;
	if (sweep->opts->entry != 0 && address_of(sweep) == sweep->opts->entry) {
		sweep->special = CFA_END;
		sweep->special_end = SIZE_MAX;
	}
}

static void lose(struct sweep *sweep)
{
	sweep->state = (struct scan_state){ 0 };
	sweep->is_lost = true;
}

/* Merges the state of jumps that lead here. A call behind which the state does not fit does not
 * return. */
static void meet(struct sweep *sweep, const struct scan_state *other)
{
	struct scan_state merged = sweep->state;
	bool is_new = !sweep->is_reached || !scan_state_is_known(&sweep->state);

	if (!is_new && scan_state_merge(&merged, other))
		sweep->state = merged;
	else if (is_new || sweep->is_behind_call)
		sweep->state = *other;
	else
		lose(sweep);
	sweep->is_reached = true;
	sweep->has_constant = 0;
}

/* Returns whether a jump table may lead anywhere behind it: in a function that has something on
 * the stack. */
static bool has_table(const struct sweep *sweep)
{
	const struct scan_state entry = scan_state_at_entry();

	return scan_state_is_known(&sweep->table) &&
	       memcmp(&sweep->table, &entry, sizeof(entry)) != 0;
}

/* The assumptions are wrong: more was taken off the stack than the function has there. If the
 * beginning of the function was guessed, the guess was wrong. */
static void refute(struct sweep *sweep)
{
	if (sweep->guess != SIZE_MAX) {
		sweep->map->marks[sweep->guess] |= SCAN_NO_START;
		sweep->map->has_news = true;
	}
	lose(sweep);
}

static enum code_start find_start(const struct sweep *sweep)
{
	enum code_place place = CODE_BEHIND_END;

	if (sweep->at == 0 && !sweep->is_reached)
		return CODE_POSSIBLE_START;
	if (sweep->is_reached)
		place = sweep->is_padded ? CODE_BEHIND_PADDED_CALL : CODE_BEHIND_CALL;
	return code_find_start(&sweep->insn, address_of(sweep), place);
}

/* Returns whether a function begins here, where no jump leads and which the instruction before
 * does not reach. */
static bool is_guessed_start(const struct sweep *sweep)
{
	uint8_t mark = sweep->map->marks[index_of(sweep)];
	enum code_start start = find_start(sweep);

	if (mark & (SCAN_LIKELY_START | SCAN_NO_START))
		return !(mark & SCAN_NO_START);
	if (start == CODE_POSSIBLE_START)
		return sweep->opts->guesses_starts && !has_table(sweep);
	return start == CODE_LIKELY_START;
}

/* Finds out what is known at the instruction. */
static void arrive(struct sweep *sweep)
{
	size_t index = index_of(sweep);
	struct scan_state other;
	bool is_conflict;

	if (sweep->map->marks[index] & SCAN_START) {
		begin_function(sweep);
		return;
	}
	if (scan_map_get(sweep->map, index, &other, &is_conflict)) {
		if (!sweep->is_lost)
			meet(sweep, &other);
		return;
	}
	if (is_conflict) {
		lose(sweep);
		sweep->is_reached = true;
	} else if (!sweep->insn.is_padding && (!sweep->is_reached || sweep->is_behind_call) &&
		   is_guessed_start(sweep)) {
		begin_function(sweep);
		sweep->guess = index;
	} else if (!sweep->insn.is_padding && !sweep->is_reached && !sweep->is_lost) {
		sweep->state = sweep->table;
		sweep->is_reached = true;
	}
}

static int add_row(struct sweep *sweep, size_t at, struct cfi_rule rule)
{
	if (memcmp(&rule, &sweep->rule, sizeof(rule)) == 0)
		return 0;
	sweep->rule = rule;
	return row_builder_add(sweep->opts->builder, sweep->range->code.address + at, &rule);
}

static struct cfi_rule find_rule(const struct sweep *sweep)
{
	struct scan_state entry = scan_state_at_entry();

	if (sweep->at < sweep->special_end)
		return (struct cfi_rule){ .kind = (uint8_t)sweep->special };
	return scan_state_rule(!sweep->is_reached && sweep->insn.is_padding ? &entry
									    : &sweep->state);
}

/* A handler returns to the first byte of the code that ends it, as if the byte before had called
 * it. If that byte belongs to another function, the unwinder looks at the code. */
static int add_rows(struct sweep *sweep)
{
	size_t end = sweep->at + sweep->insn.len;
	bool is_before_sigreturn = find_sigreturn(sweep, end) > 0;
	struct cfi_rule before = { .kind = sweep->insn.is_padding ? CFA_SIGNAL : CFA_NONE };

	int r = add_row(sweep, sweep->at, find_rule(sweep));
	return r < 0 || !is_before_sigreturn ? r : add_row(sweep, end - 1, before);
}

static void find_special(struct sweep *sweep)
{
	size_t nr_signal = find_sigreturn(sweep, sweep->at);

	if (sweep->special_end > sweep->at)
		return;
	if (nr_signal > 0) {
		sweep->special = CFA_SIGNAL;
		sweep->special_end = sweep->at + nr_signal;
	} else if (is_first_call(sweep)) {
		sweep->special = CFA_END;
		sweep->special_end = sweep->at + sweep->insn.len;
	}
}

static uint64_t target_of(const struct sweep *sweep)
{
	return address_of(sweep) + sweep->insn.len + (uint64_t)(int64_t)sweep->insn.value;
}

/* Returns whether the bytes here are surely instructions: the code that leads here was, or this
 * is the entry of a program. */
static bool is_surely_code(const struct sweep *sweep)
{
	return scan_state_is_known(&sweep->state) || sweep->at < sweep->special_end;
}

static void set_constant(struct sweep *sweep, uint64_t value)
{
	sweep->has_constant |= 1U << sweep->insn.reg;
	sweep->constants[sweep->insn.reg] = value;
}

/* On arm64 the size of a large frame is put into a register first, and the address of a function
 * in two steps. */
static void follow_constants(struct sweep *sweep)
{
	struct code_insn *insn = &sweep->insn;
	uint64_t base = insn->base < CODE_NO_REGISTER ? sweep->constants[insn->base] : 0;
	uint32_t known = sweep->has_constant;

	sweep->has_constant &= ~insn->writes;
	if (insn->op == CODE_CONSTANT) {
		set_constant(sweep, (uint32_t)insn->value);
	} else if (insn->op == CODE_CONSTANT_HIGH && known >> insn->reg & 1) {
		set_constant(sweep, sweep->constants[insn->reg] | (uint32_t)insn->value);
	} else if (insn->op == CODE_PAGE) {
		set_constant(sweep, (address_of(sweep) & ~(uint64_t)(PAGE_BYTES - 1)) +
					    (uint64_t)(int64_t)insn->value * PAGE_BYTES);
	} else if (insn->op == CODE_ADDRESS && known >> insn->base & 1 && is_surely_code(sweep)) {
		scan_map_mark(sweep->map, base + (uint64_t)(int64_t)insn->value, SCAN_LIKELY_START);
	} else if (insn->op == CODE_ADD_REGISTER && known >> insn->base & 1 && base <= INT32_MAX) {
		insn->op = CODE_ADDRESS;
		insn->value *= (int32_t)base;
		insn->base = insn->reg;
	}
}

static int leave(struct sweep *sweep)
{
	const struct scan_state *state = &sweep->state;

	if (!scan_state_allows(state, &sweep->insn))
		refute(sweep);
	switch (sweep->insn.op) {
	case CODE_BRANCH:
		/* It leads to the middle of a function, also if the state of the stack is not
		 * known. */
		if (!scan_state_is_known(state) && !sweep->is_lost)
			scan_map_mark(sweep->map, target_of(sweep), SCAN_NO_START);
		return scan_map_jump(sweep->map, index_of(sweep), target_of(sweep), state);
	case CODE_JUMP:
		return scan_map_jump(sweep->map, index_of(sweep), target_of(sweep), state);
	case CODE_JUMP_INDIRECT:
		sweep->table = *state;
		return 0;
	case CODE_CALL:
		if (is_surely_code(sweep))
			scan_map_mark(sweep->map, target_of(sweep), SCAN_START);
		break;
	case CODE_ADDRESS_OF_CODE:
		if (is_surely_code(sweep))
			scan_map_mark(sweep->map, target_of(sweep), SCAN_LIKELY_START);
		break;
	default:
		break;
	}
	follow_constants(sweep);
	scan_state_apply(&sweep->state, &sweep->insn);
	return 0;
}

static bool goes_on(const struct sweep *sweep)
{
	switch (sweep->insn.op) {
	case CODE_RETURN:
	case CODE_TRAP:
	case CODE_JUMP:
	case CODE_JUMP_INDIRECT:
		return false;
	default:
		return sweep->is_reached;
	}
}

static void go_on(struct sweep *sweep)
{
	bool is_call = sweep->insn.op == CODE_CALL || sweep->insn.op == CODE_CALL_INDIRECT;
	bool is_pad = sweep->insn.is_padding;

	sweep->is_behind_call = is_call || (is_pad && sweep->is_behind_call);
	sweep->is_padded = is_pad;
	sweep->is_reached = goes_on(sweep);
	if (!sweep->is_reached)
		sweep->state = (struct scan_state){ 0 };
	if (!sweep->is_reached || is_call)
		sweep->has_constant = 0;
	sweep->at += sweep->insn.len;
}

/* Returns how many bytes to skip that are no instruction. */
static uint8_t no_insn_bytes(const struct sweep *sweep)
{
	size_t left = sweep->range->code.len - sweep->at;
	uint64_t misaligned = address_of(sweep) % CODE_MIN_INSN_BYTES;
	size_t len = CODE_MIN_INSN_BYTES - misaligned;

	return (uint8_t)(len < left ? len : left);
}

/* Decodes the instruction. Bytes that are no instruction, or one with the beginning of a
 * function inside, become a few bytes without meaning. */
static bool decode(struct sweep *sweep)
{
	const struct scan_code *code = &sweep->range->code;
	int r = -EBADMSG;

	if (address_of(sweep) % CODE_MIN_INSN_BYTES == 0)
		r = code_insn_decode(code->bytes + sweep->at, code->len - sweep->at, &sweep->insn);
	for (size_t i = 1; r == 0 && i < sweep->insn.len; i++)
		if (sweep->map->marks[index_of(sweep) + i] & SCAN_START)
			r = -EBADMSG;
	if (r < 0)
		sweep->insn = (struct code_insn){ .len = no_insn_bytes(sweep) };
	return r == 0;
}

static int step(struct sweep *sweep)
{
	bool is_insn = decode(sweep);
	int r = 0;

	if (is_insn)
		arrive(sweep);
	else
		lose(sweep);
	find_special(sweep);
	if (sweep->opts->builder)
		r = add_rows(sweep);
	if (r == 0)
		r = leave(sweep);
	go_on(sweep);
	return r;
}

int scan_sweep(struct scan_map *map, const struct scan_range *range,
	       const struct scan_sweep_opts *opts)
{
	struct sweep sweep = {
		.map = map,
		.range = range,
		.opts = opts,
		.guess = SIZE_MAX,
	};
	int r = 0;

	while (r == 0 && sweep.at < range->code.len)
		r = step(&sweep);
	return r;
}
