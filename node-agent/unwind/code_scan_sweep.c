/* SPDX-License-Identifier: Apache-2.0 */
/* Goes through the code as it lies there, not as it runs. What is behind an instruction follows from it, unless
 * nothing goes on behind it (ret, jmp); and what jumps lead to follows from them, in this pass from those before, in
 * the next one from those behind as well. Where neither says anything, a function may begin. */
#include "unwind/code_scan_sweep.h"

#include <string.h>

#define WORD_BYTES 8
#define FUNCTION_ALIGNMENT 16
#define NOP 0x90

struct sweep {
	struct scan_map *map;
	const struct scan_range *range;
	const struct scan_sweep_opts *opts;
	size_t at; /* in the range */
	struct x86_insn insn; /* there */
	struct scan_state state; /* before it; known only if `is_reached` */
	bool is_reached; /* the instruction before goes on here */
	bool is_behind_call; /* … if that call returns */
	bool is_padded; /* between it and here there is padding */
	bool is_lost; /* in this function nothing is believed any more */
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

static bool has_bytes(const struct sweep *sweep, size_t at, const char *bytes, size_t len)
{
	return at <= sweep->range->code.len && len <= sweep->range->code.len - at &&
	       memcmp(sweep->range->code.bytes + at, bytes, len) == 0;
}

struct code_pattern {
	const char *bytes;
	size_t len;
};

static size_t find_pattern(const struct sweep *sweep, size_t at,
			   const struct code_pattern *patterns)
{
	for (; patterns->bytes; patterns++)
		if (has_bytes(sweep, at, patterns->bytes, patterns->len))
			return patterns->len;
	return 0;
}

/* What ends a signal handler: mov $__NR_rt_sigreturn, %rax (or %eax); syscall. Returns how many bytes it has. */
static size_t find_sigreturn(const struct sweep *sweep, size_t at)
{
	static const struct code_pattern patterns[] = {
		{ "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9 },
		{ "\xb8\x0f\0\0\0\x0f\x05", 7 },
		{ NULL, 0 },
	};

	return find_pattern(sweep, at, patterns);
}

/* A function's result handed straight to the function that ends the thread: mov %eax,%edi or %rax,%rdi; call, or the
 * system call exit. So C libraries call main(), start routines and clone()'s functions. */
static bool is_first_call(const struct sweep *sweep)
{
	static const struct code_pattern patterns[] = {
		{ "\x89\xc7\xe8", 3 },
		{ "\x48\x89\xc7\xe8", 4 },
		{ "\x89\xc7\x31\xc0\xb0\x3c\x0f\x05", 8 },
		{ NULL, 0 },
	};

	return sweep->insn.op == X86_CALL_INDIRECT &&
	       find_pattern(sweep, sweep->at + sweep->insn.len, patterns) > 0;
}

static void begin_function(struct sweep *sweep)
{
	sweep->state = scan_state_at_entry();
	sweep->is_reached = true;
	sweep->is_lost = false;
	sweep->table = (struct scan_state){ 0 };
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

/* Jumps lead here. A call that did not fit to them does not return. */
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
}

/* Whether a jump table may lead to anywhere behind it: in a function that has something on the stack. */
static bool has_table(const struct sweep *sweep)
{
	const struct scan_state entry = scan_state_at_entry();

	return scan_state_is_known(&sweep->table) &&
	       memcmp(&sweep->table, &entry, sizeof(entry)) != 0;
}

static void begin_guessed_function(struct sweep *sweep)
{
	begin_function(sweep);
	sweep->guess = index_of(sweep);
}

/* No code can follow from what is believed: more was taken off the stack than the function has there. If the
 * function's beginning was guessed, the guess was wrong. */
static void refute(struct sweep *sweep)
{
	if (sweep->guess != SIZE_MAX) {
		sweep->map->marks[sweep->guess] |= SCAN_NO_START;
		sweep->map->has_news = true;
	}
	lose(sweep);
}

/* Whether a function begins where no jump leads and which the instruction before does not reach. */
static bool is_guessed_start(const struct sweep *sweep)
{
	uint8_t mark = sweep->map->marks[index_of(sweep)];

	if (mark & (SCAN_LIKELY_START | SCAN_NO_START))
		return !(mark & SCAN_NO_START);
	if (!sweep->opts->guesses_starts || has_table(sweep))
		return false;
	if (sweep->is_reached)
		return sweep->is_padded && address_of(sweep) % FUNCTION_ALIGNMENT == 0;
	return sweep->at == 0 || address_of(sweep) % FUNCTION_ALIGNMENT == 0;
}

static bool is_padding(const struct sweep *sweep)
{
	return sweep->insn.op == X86_NOP || sweep->range->code.bytes[sweep->at] == 0xcc;
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
	} else if (!is_padding(sweep) && (!sweep->is_reached || sweep->is_behind_call) &&
		   is_guessed_start(sweep)) {
		begin_guessed_function(sweep);
	} else if (!is_padding(sweep) && !sweep->is_reached && !sweep->is_lost) {
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
	return scan_state_rule(!sweep->is_reached && is_padding(sweep) ? &entry : &sweep->state);
}

/* A handler returns to the first byte of what ends it, as if the byte before had called that. If that byte belongs
 * to another function, the unwinder looks at the code. */
static int add_rows(struct sweep *sweep)
{
	size_t end = sweep->at + sweep->insn.len;
	bool is_before_sigreturn = find_sigreturn(sweep, end) > 0;
	struct cfi_rule before = { .kind = is_padding(sweep) ? CFA_SIGNAL : CFA_NONE };

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

/* Whether the bytes here are surely instructions: what leads here was, and so is a program's entry. */
static bool is_surely_code(const struct sweep *sweep)
{
	return scan_state_is_known(&sweep->state) || sweep->at < sweep->special_end;
}

/* A call of what is right behind it is there for what it pushes. */
static void follow_call(struct sweep *sweep)
{
	const struct x86_insn push = { .op = X86_PUSH,
				       .reg = X86_NO_REGISTER,
				       .value = WORD_BYTES };

	if (sweep->insn.value == 0)
		scan_state_apply(&sweep->state, &push);
	else if (is_surely_code(sweep))
		scan_map_mark(sweep->map, target_of(sweep), SCAN_START);
}

/* Where nothing is left but the return address, or not even that. */
static bool is_possible(const struct sweep *sweep)
{
	const struct scan_state *state = &sweep->state;

	if (!(state->known & SCAN_HAS_DEPTH))
		return true;
	if (sweep->insn.op == X86_RETURN)
		return state->depth == WORD_BYTES;
	return state->depth >= WORD_BYTES ||
	       (sweep->insn.op != X86_BRANCH && sweep->insn.op != X86_JUMP);
}

static int leave(struct sweep *sweep)
{
	const struct scan_state *state = &sweep->state;

	if (!is_possible(sweep))
		refute(sweep);
	switch (sweep->insn.op) {
	case X86_BRANCH:
		/* To the middle of a function, also where it is not known how its stack is. */
		if (!scan_state_is_known(state) && !sweep->is_lost)
			scan_map_mark(sweep->map, target_of(sweep), SCAN_NO_START);
		return scan_map_jump(sweep->map, index_of(sweep), target_of(sweep), state);
	case X86_JUMP:
		return scan_map_jump(sweep->map, index_of(sweep), target_of(sweep), state);
	case X86_JUMP_INDIRECT:
		sweep->table = *state;
		return 0;
	case X86_CALL:
		follow_call(sweep);
		return 0;
	case X86_LEA_CODE:
		if (is_surely_code(sweep))
			scan_map_mark(sweep->map, target_of(sweep), SCAN_LIKELY_START);
		break;
	default:
		break;
	}
	scan_state_apply(&sweep->state, &sweep->insn);
	return 0;
}

static bool goes_on(const struct sweep *sweep)
{
	switch (sweep->insn.op) {
	case X86_RETURN:
	case X86_TRAP:
	case X86_JUMP:
	case X86_JUMP_INDIRECT:
		return false;
	default:
		return sweep->is_reached;
	}
}

static void go_on(struct sweep *sweep)
{
	bool is_call = sweep->insn.op == X86_CALL || sweep->insn.op == X86_CALL_INDIRECT;
	bool is_pad = is_padding(sweep);

	sweep->is_behind_call = is_call || (is_pad && sweep->is_behind_call);
	sweep->is_padded = is_pad;
	sweep->is_reached = goes_on(sweep);
	if (!sweep->is_reached)
		sweep->state = (struct scan_state){ 0 };
	sweep->at += sweep->insn.len;
}

/* What is no instruction, or one with a function's beginning in it, is one byte of nothing. */
static bool decode(struct sweep *sweep)
{
	const struct scan_code *code = &sweep->range->code;
	int r = x86_insn_decode(code->bytes + sweep->at, code->len - sweep->at, &sweep->insn);

	for (size_t i = 1; r == 0 && i < sweep->insn.len; i++)
		if (sweep->map->marks[index_of(sweep) + i] & SCAN_START)
			r = -EBADMSG;
	if (r < 0)
		sweep->insn = (struct x86_insn){ .len = 1, .reg = X86_NO_REGISTER };
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
	struct sweep sweep = { .map = map, .range = range, .opts = opts, .guess = SIZE_MAX };
	int r = 0;

	while (r == 0 && sweep.at < range->code.len)
		r = step(&sweep);
	return r;
}
