/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Unwinds user stacks by call frame information (CFI), code without it by frame pointers.
 *
 * Called by the sampler, on the registers in this CPU's scratch record. For each frame: the range of the
 * process that holds the address, the rule that holds at that place of the file, and the step to the caller
 * by that rule. Formats: shared/cfi.h; an introduction: docs/unwinding.md.
 * Maps: scratch_of_cpu, processes, tables, arena.
 * Limits: MAX_USER_FRAMES frames.
 *
 * Functions that are not static are verified one by one, and a loop that calls one costs the verifier a few
 * instructions a round. So the same program does on Linux 5.6 what otherwise takes bpf_loop() (5.17) or
 * tail calls. What they leave for each other is in the scratch record.
 *
 * Nothing here trusts what it reads: user memory may say anything, and the verifier bounds the rest. */
#include "bpf/arch.bpf.h"
#include "bpf/arena.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/unwind.bpf.h"

/* The stack goes on: no enum unwind_result. */
#define GOES_ON (-1)

#define MAX_SEARCH_STEPS 16 /* in CODE_LIST_MAX_RANGES ranges, or in the rows of a page */

#define CALLEE_SAVED_REGISTERS                                                                     \
	(REGISTER_BIT(REG_FP) | REGISTER_BIT(CFI_RBX) | REGISTER_BIT(CFI_R12) |                    \
	 REGISTER_BIT(CFI_R13) | REGISTER_BIT(CFI_R14) | REGISTER_BIT(CFI_R15))

static __always_inline struct scratch *get_scratch(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratch_of_cpu, &zero);
}

/* Where the frame's code is: a call may be a function's last instruction, so that its return address is in
 * the next one. */
static __always_inline __u64 code_address(const struct unwind_state *state)
{
	return state->ip - state->is_call;
}

/* Finds the first range that begins above the frame's address, as state->low. */
__noinline int search_ranges(void)
{
	struct scratch *scratch = get_scratch();
	struct unwind_state *state;
	__u64 address;

	if (!scratch)
		return UNWIND_BAD_TABLE;
	state = &scratch->unwind;
	address = code_address(state);
	state->low = 0;
	state->high = state->nr_ranges;
	for (int i = 0; i < MAX_SEARCH_STEPS && state->low < state->high; i++) {
		__u32 middle = (state->low + state->high) / 2;
		const __u64 *start = arena_at(state->list,
					      CODE_LIST_STARTS + middle * sizeof(__u64), 8);

		if (!start)
			return UNWIND_BAD_TABLE;
		if (*start <= address)
			state->low = middle + 1;
		else
			state->high = middle;
	}
	return GOES_ON;
}

/* Below the first range is a hole as well. */
static __always_inline int set_range(struct unwind_state *state)
{
	const struct code_range *range;
	const __u64 *start;

	state->range_start = 0;
	state->range_end = ~0ULL;
	state->range = (struct code_range){ .is_hole = 1 };
	if (state->low < state->nr_ranges) {
		start = arena_at(state->list, CODE_LIST_STARTS + state->low * sizeof(__u64), 8);
		if (!start)
			return UNWIND_BAD_TABLE;
		state->range_end = *start;
	}
	if (state->low == 0)
		return GOES_ON;
	start = arena_at(state->list, CODE_LIST_STARTS + (state->low - 1) * sizeof(__u64), 8);
	range = arena_at(state->list, state->ranges_offset + (state->low - 1) * sizeof(*range), 16);
	if (!start || !range)
		return UNWIND_BAD_TABLE;
	state->range_start = *start;
	state->range = *range;
	return GOES_ON;
}

/* Neighbouring frames are often in one file: the range of the last frame is tried first. */
static __always_inline int find_range(struct unwind_state *state)
{
	__u64 address = code_address(state);
	int result;

	if (address >= state->range_start && address < state->range_end)
		return GOES_ON;
	result = search_ranges();
	return result == GOES_ON ? set_range(state) : result;
}

/* Finds the first row of the table that begins above an offset of the file, as state->low. The rows of one
 * page have the same upper bits. */
__noinline int search_rows(__u32 table, __u32 rows_offset, __u32 pc)
{
	struct scratch *scratch = get_scratch();
	struct unwind_state *state;

	if (!scratch)
		return UNWIND_BAD_TABLE;
	state = &scratch->unwind;
	for (int i = 0; i < MAX_SEARCH_STEPS && state->low < state->high; i++) {
		__u32 middle = (state->low + state->high) / 2;
		const __u32 *row = arena_at(table, rows_offset + middle * sizeof(*row), 4);

		if (!row)
			return UNWIND_BAD_TABLE;
		if (ROW_PC(*row) <= pc)
			state->low = middle + 1;
		else
			state->high = middle;
	}
	return GOES_ON;
}

static __always_inline __u32 nr_bits(__u32 bits)
{
	bits = bits - (bits >> 1 & 0x5555);
	bits = (bits & 0x3333) + (bits >> 2 & 0x3333);
	bits = (bits + (bits >> 4)) & 0x0f0f;
	return (bits + (bits >> 8)) & 0x1f;
}

/* Inside a run of pushes or pops the CFA is as far away as were passed. */
static __always_inline void apply_run(struct cfi_rule *rule, __u32 nr_bytes)
{
	__u32 passed;

	if (!(rule->flags & (CFI_RUN_UP | CFI_RUN_DOWN)))
		return;
	if (nr_bytes > CFI_MAX_RUN)
		nr_bytes = CFI_MAX_RUN;
	passed = 8 * nr_bits(rule->arg & ((2U << nr_bytes) - 1));
	rule->offset = (__s32)((__u32)rule->offset + (rule->flags & CFI_RUN_UP ? passed : -passed));
}

/* The rule of the row before state->low, which holds at `offset`. */
static __always_inline int set_rule(struct unwind_state *state, __u32 unit,
				    const struct row_table *table, __u32 offset)
{
	const struct cfi_rule *rule;
	const __u32 *row;

	if (state->low == 0)
		return GOES_ON;
	row = arena_at(unit, table->rows_offset + (state->low - 1) * sizeof(*row), 4);
	if (!row)
		return UNWIND_BAD_TABLE;
	rule = arena_at(unit, table->rules_offset + ROW_RULE(*row) * sizeof(*rule), 16);
	if (!rule)
		return UNWIND_BAD_TABLE;
	state->rule = *rule;
	apply_run(&state->rule, (offset - ROW_PC(*row)) & 0xffff);
	return GOES_ON;
}

static __always_inline int find_rule_in(struct unwind_state *state, __u32 unit)
{
	__u64 offset = code_address(state) - state->range.bias;
	const struct row_table *table = arena_at(unit, 0, 32);
	const __u32 *first, *end;
	__u64 page;

	if (!table)
		return UNWIND_BAD_TABLE;
	page = offset / ROW_PAGE_BYTES - table->first_page;
	if (page >= table->nr_pages)
		return GOES_ON;
	first = arena_at(unit, ROW_TABLE_PAGES + page * sizeof(*first), 4);
	end = arena_at(unit, ROW_TABLE_PAGES + (page + 1) * sizeof(*end), 4);
	if (!first || !end)
		return UNWIND_BAD_TABLE;
	state->low = *first;
	state->high = *end;
	if (search_rows(unit, table->rows_offset, offset & 0xffff) != GOES_ON)
		return UNWIND_BAD_TABLE;
	return set_rule(state, unit, table, offset);
}

/* Marks a table as needed now. Written only when it is news: all CPUs share the line. */
static __always_inline void mark_used(struct table_slot *slot)
{
	__u32 zero = 0;
	const struct table_slot *clock = bpf_map_lookup_elem(&tables, &zero);

	if (clock && slot->used != clock->used)
		slot->used = clock->used;
}

/* Code that is in no range may have been mapped since the list was made: the agent should look, once a list. */
static __always_inline void ask_for_news(struct unwind_state *state)
{
	struct code_list *list = (struct code_list *)arena_at(state->list, 0, 16);

	if (!list || list->is_asked)
		return;
	list->is_asked = 1;
	state->asks = true;
}

/* Finds the rule of the frame; CFA_NONE where there is none. */
__noinline int find_rule(void)
{
	struct scratch *scratch = get_scratch();
	struct unwind_state *state;
	struct table_slot *slot;
	__u32 unit;
	int result;

	if (!scratch)
		return UNWIND_BAD_TABLE;
	state = &scratch->unwind;
	result = find_range(state);
	if (result != GOES_ON)
		return result;
	state->rule = (struct cfi_rule){ .kind = CFA_NONE };
	if (state->range.is_hole)
		ask_for_news(state);
	if (state->range.slot == 0)
		return GOES_ON;
	slot = bpf_map_lookup_elem(&tables, &state->range.slot);
	if (!slot)
		return UNWIND_BAD_TABLE;
	mark_used(slot);
	unit = slot->unit;
	if (unit == TABLE_NOT_LOADED)
		return UNWIND_NOT_LOADED;
	if (unit == TABLE_WITHOUT_CFI)
		return GOES_ON;
	return find_rule_in(state, unit);
}

/* Where the caller goes on. */
static __always_inline int return_to(struct unwind_state *state, __u64 address, __u64 sp,
				     __u32 known)
{
	if (address == 0)
		return UNWIND_COMPLETE;
	if (!is_code_address(address))
		return UNWIND_BAD_RETURN_ADDRESS;
	state->ip = address;
	state->regs[REG_SP] = sp;
	state->known = known | REGISTER_BIT(REG_SP);
	state->is_call = true;
	return GOES_ON;
}

/* To what a signal interrupted. */
static __always_inline int step_over_signal(struct unwind_state *state)
{
	static const __u8 order[NR_REGS] = { SIGNAL_FRAME_ORDER };
	int result;

	if (bpf_probe_read_user(state->signal_frame, sizeof(state->signal_frame),
				(const void *)(state->regs[REG_SP] + SIGNAL_FRAME_REGS)) < 0)
		return UNWIND_UNREADABLE_STACK;
	for (int i = 0; i < NR_REGS; i++)
		state->regs[order[i] % NR_REGS] = state->signal_frame[i];
	result = return_to(state, state->signal_frame[NR_REGS], state->regs[REG_SP], ALL_REGISTERS);
	state->is_call = false;
	return result;
}

/* Of a C library without CFI only the code itself tells what it is. */
static __always_inline __u64 read_code(__u64 address)
{
	__u64 code = 0;

	(void)bpf_probe_read_user(&code, sizeof(code), (const void *)address);
	return code;
}

/* Code built with -fno-omit-frame-pointer keeps a linked list on its stack: the frame pointer points to the caller's,
 * and right above it is the return address. Code built without leaves anything in that register, so the list
 * must be aligned and go up, and a step from code that is known must lead to code that is known. */
static __always_inline int follow_frame_pointer(struct unwind_state *state, bool may_switch)
{
	bool was_hole = state->range.is_hole;
	__u64 fp = state->regs[REG_FP];
	__u64 frame[2];
	int result;

	if (!(state->known & REGISTER_BIT(REG_FP)))
		return UNWIND_LOST_REGISTER;
	if (fp == 0)
		return UNWIND_COMPLETE;
	if (fp & 7 || fp > USER_ADDRESS_MAX || (!may_switch && fp < state->regs[REG_SP]))
		return UNWIND_BAD_FRAME_POINTER;
	if (bpf_probe_read_user(frame, sizeof(frame), (const void *)fp) < 0)
		return UNWIND_UNREADABLE_STACK;
	result = return_to(state, frame[1], fp + sizeof(frame), REGISTER_BIT(REG_FP));
	if (result != GOES_ON)
		return result;
	state->regs[REG_FP] = frame[0];
	result = find_range(state);
	if (result == GOES_ON && !was_hole && state->range.is_hole)
		return UNWIND_BAD_FRAME_POINTER;
	return result;
}

static __always_inline int step_by_frame_pointer(struct unwind_state *state, bool may_switch)
{
	bool is_call = state->is_call;
	__u64 ip = state->ip;
	int result;

	if (is_call && is_sigreturn(read_code(ip)))
		return step_over_signal(state);
	result = follow_frame_pointer(state, may_switch);
	if (result != GOES_ON && is_call && is_first_call(read_code(ip - 2)))
		return UNWIND_COMPLETE;
	return result;
}

static __always_inline bool find_cfa(const struct unwind_state *state, const struct cfi_rule *rule,
				     __u64 *ret_cfa)
{
	__u64 cfa = state->regs[rule->reg % NR_REGS] + rule->offset;

	if (rule->kind == CFA_DEREF) {
		if (bpf_probe_read_user(&cfa, sizeof(cfa), (const void *)cfa) < 0)
			return false;
		cfa += (__s16)rule->arg;
	} else if (rule->kind == CFA_PLT && (state->ip & 15) >= rule->arg) {
		cfa += 8;
	}
	*ret_cfa = cfa;
	return true;
}

/* The word at 8 * slot from the CFA, or (base != cfa) from somewhere else: out of the window if it is there. */
static __always_inline bool read_slot(const struct unwind_state *state, __u64 cfa, __u64 base,
				      cfi_slot slot, __u64 *ret_word)
{
	if (base == cfa && slot < 0 && slot >= -WINDOW_WORDS) {
		*ret_word = state->window[(__u8)slot % WINDOW_WORDS];
		return true;
	}
	return bpf_probe_read_user(ret_word, sizeof(*ret_word),
				   (const void *)(base + 8LL * slot)) == 0;
}

/* Whether the function's own frame is where rbp points to. Behind the last pop of an epilogue rbp is the caller's
 * again, and so are the other registers, though GCC's rules go on to say that they are saved. */
static __always_inline bool is_own_frame(const struct unwind_state *state, __u64 cfa)
{
	return state->regs[REG_FP] >= state->regs[REG_SP] && state->regs[REG_FP] < cfa;
}

/* Gives the callee-saved registers their values in the caller; returns those that are known then. */
static __always_inline __u32 restore_registers(struct unwind_state *state, __u64 cfa)
{
	static const __u8 registers[] = {
#define X(INDEX, REGISTER) REGISTER,
		SAVED_REGISTERS(X)
#undef X
	};
	bool is_at_rbp = state->rule.flags & CFI_SAVED_AT_RBP;
	bool is_restored = is_at_rbp && !is_own_frame(state, cfa);
	__u64 base = is_at_rbp ? state->regs[REG_FP] : cfa;
	__u32 known = state->known & CALLEE_SAVED_REGISTERS;

	for (int i = 0; i < NR_SAVED_REGS; i++) {
		cfi_slot slot = state->rule.saved[i];
		__u8 reg = registers[i];
		__u64 word;

		if (slot == CFI_NOT_SAVED ||
		    (slot != CFI_LOST && (is_restored || base + 8LL * slot < state->regs[REG_SP])))
			continue;
		known &= ~REGISTER_BIT(reg);
		if (slot == CFI_LOST || !read_slot(state, cfa, base, slot, &word))
			continue;
		state->regs[reg % NR_REGS] = word;
		known |= REGISTER_BIT(reg);
	}
	return known;
}

/* Stacks of tiny functions may begin within the window. */
static __always_inline bool read_window(struct unwind_state *state, __u64 cfa)
{
	__u64 *window = state->window;

	if (bpf_probe_read_user(window, sizeof(state->window),
				(const void *)(cfa - sizeof(state->window))) == 0)
		return true;
	for (int i = 0; i < WINDOW_WORDS; i++)
		if (bpf_probe_read_user(&window[i], sizeof(*window),
					(const void *)(cfa - 8 * (WINDOW_WORDS - i))) < 0)
			window[i] = 0;
	return bpf_probe_read_user(&window[WINDOW_WORDS - 1], sizeof(*window),
				   (const void *)(cfa - 8)) == 0;
}

static __always_inline bool find_return_address(struct unwind_state *state, __u64 cfa,
						__u64 *ret_address)
{
	const struct cfi_rule *rule = &state->rule;
	bool has_window = read_window(state, cfa);

	if (rule->flags & CFI_RETURN_IN_REGISTER) {
		*ret_address = state->regs[rule->arg % NR_REGS];
		return true;
	}
	return has_window && read_slot(state, cfa, cfa, rule->return_address, ret_address);
}

/* Registers without which nothing can be said of the caller. */
static __always_inline __u32 needed_registers(const struct cfi_rule *rule)
{
	__u32 needed = REGISTER_BIT(rule->reg % NR_REGS);

	if (rule->flags & CFI_SAVED_AT_RBP)
		needed |= REGISTER_BIT(REG_FP);
	if (rule->flags & CFI_RETURN_IN_REGISTER)
		needed |= REGISTER_BIT(rule->arg % NR_REGS);
	return needed;
}

/* A frame holds at least its return address, unless that is in a register. */
static __always_inline bool is_ascending(const struct unwind_state *state, __u64 cfa)
{
	if (state->rule.flags & CFI_RETURN_IN_REGISTER)
		return cfa >= state->regs[REG_SP];
	return cfa > state->regs[REG_SP];
}

static __always_inline int step_by_cfi(struct unwind_state *state)
{
	const struct cfi_rule *rule = &state->rule;
	__u32 needed = needed_registers(rule);
	__u64 cfa, return_address;

	if ((state->known & needed) != needed)
		return UNWIND_LOST_REGISTER;
	if (!find_cfa(state, rule, &cfa))
		return UNWIND_UNREADABLE_STACK;
	if (!is_ascending(state, cfa))
		return UNWIND_NOT_ASCENDING;
	if (!find_return_address(state, cfa, &return_address))
		return UNWIND_UNREADABLE_STACK;
	return return_to(state, return_address, cfa, restore_registers(state, cfa));
}

/* From a frame to its caller's. */
__noinline int step(void)
{
	struct scratch *scratch = get_scratch();
	struct unwind_state *state;

	if (!scratch)
		return UNWIND_BAD_TABLE;
	state = &scratch->unwind;
	switch (state->rule.kind) {
	case CFA_NONE:
		return step_by_frame_pointer(state, false);
	case CFA_STACK_SWITCH:
		return step_by_frame_pointer(state, true);
	case CFA_SIGNAL:
		return step_over_signal(state);
	case CFA_END:
		return UNWIND_COMPLETE;
	case CFA_REGISTER:
	case CFA_DEREF:
	case CFA_PLT:
		return step_by_cfi(state);
	default:
		return UNWIND_UNSUPPORTED_RULE;
	}
}

static __always_inline bool push_frame(struct scratch *scratch)
{
	struct sample_event *event = &scratch->event;
	__u32 index = (__u32)event->nr_kernel + event->nr_user;

	if (event->nr_user >= MAX_USER_FRAMES || index >= MAX_FRAMES)
		return false;
	event->frames[index] = scratch->unwind.ip;
	if (event->nr_user > 0 && !scratch->unwind.is_call)
		event->frames[index] |= FRAME_INTERRUPTED;
	event->nr_user++;
	return true;
}

/* Asks for a code list: an empty entry keeps further samples from asking again. A task that exits may be the
 * last one of its process: then the entry would stay for ever, for process_exit() is over. */
static __always_inline int ask_for_list(struct unwind_state *state)
{
	__u64 asked = 0;

	if (state->is_exiting)
		return UNWIND_UNREADABLE_STACK;
	state->asks = bpf_map_update_elem(&processes, &state->pid, &asked, BPF_ANY) == 0;
	return UNWIND_NEW_PROCESS;
}

static __always_inline int find_list(struct unwind_state *state)
{
	const __u64 *binding = bpf_map_lookup_elem(&processes, &state->pid);
	const struct code_list *list;
	__u64 value;

	if (!binding)
		return ask_for_list(state);
	value = *binding;
	if (value == 0)
		return UNWIND_NEW_PROCESS;
	list = arena_at(CODE_BINDING_UNIT(value), 0, 16);
	if (!list || list->id != CODE_BINDING_ID(value))
		return ask_for_list(state);
	state->list = CODE_BINDING_UNIT(value);
	state->nr_ranges = list->nr_ranges;
	state->ranges_offset = list->ranges_offset;
	return GOES_ON;
}

static __always_inline void begin(struct unwind_state *state)
{
	state->known = ALL_REGISTERS;
	state->is_call = false;
	state->asks = false;
	state->range_start = 0;
	state->range_end = 0;
}

/* A function of its own, so that a round of the loop below is a few instructions to the verifier. */
__noinline int unwind_frame(void)
{
	struct scratch *scratch = get_scratch();
	int result = find_rule();

	if (result == GOES_ON)
		result = step();
	if (result == GOES_ON && scratch && !push_frame(scratch))
		return UNWIND_TOO_DEEP;
	return result;
}

__noinline int unwind_native(void)
{
	struct scratch *scratch = get_scratch();
	int result;

	if (!scratch)
		return UNWIND_BAD_TABLE;
	begin(&scratch->unwind);
	push_frame(scratch);
	result = find_list(&scratch->unwind);
	for (int i = 0; i < MAX_USER_FRAMES && result == GOES_ON; i++)
		result = unwind_frame();
	return result;
}
