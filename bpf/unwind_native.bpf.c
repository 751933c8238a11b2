/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Unwinds user stacks by call frame information (CFI), code without it by frame pointers.
 *
 * Called by the sampler, on the registers in this CPU's scratch record. For each frame: the
 * range of the process that holds the address, the rule that holds at that place of the file,
 * and the step to the caller by that rule. Formats: shared/cfi.h; an introduction:
 * docs/unwinding.md.
 * Frames of language runtimes are put among them by runtime_*.bpf.c.
 * Maps: scratch_of_cpu, processes, tables, arena.
 * Limits: MAX_USER_FRAMES frames.
 *
 * Functions that are not static are verified one by one, and a loop that calls one costs the
 * verifier a few instructions a round. So the same program does on Linux 5.6 what otherwise
 * takes bpf_loop() (5.17) or tail calls. What they leave for each other is in the scratch
 * record.
 *
 * Nothing here trusts what it reads: user memory may say anything, and the verifier bounds the
 * rest. */
#include "bpf/arch.bpf.h"
#include "bpf/frames.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/step.bpf.h"
#include "bpf/unwind.bpf.h"
#include "bpf/user_memory.bpf.h"

/* Registers that rules follow from frame to frame. */
#define X(INDEX, REGISTER) | REGISTER_BIT(REGISTER)
enum { CALLEE_SAVED_REGISTERS = 0 SAVED_REGISTERS(X) };
#undef X

/* Steps to the code that a signal interrupted. */
static __always_inline int step_over_signal(struct unwind_state *state)
{
	__u64 address;
	int result;

	if (!find_signal_frame(state, &address))
		return UNWIND_LOST_REGISTER;
	if (bpf_probe_read_user(state->signal_frame, sizeof(state->signal_frame),
				(const void *)(address + SIGNAL_FRAME_REGS)) < 0)
		return UNWIND_UNREADABLE_STACK;
	for (int i = 0; i < NR_REGS; i++)
		state->regs[signal_frame_register(i) % NR_REGS] = state->signal_frame[i];
	result = return_to(state, state->signal_frame[NR_REGS], state->regs[REG_SP], ALL_REGISTERS);
	state->is_call = false;
	return result;
}

/* Code built with -fno-omit-frame-pointer keeps a linked list on its stack: the frame pointer
 * points to the caller's, and right above it is the return address. Code built without leaves
 * anything in that register, so the list must be aligned and go up, and a step from code that is
 * known must lead to code that is known. */
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
	result = return_to(state, frame[1], fp + sizeof(frame), KNOWN_BY_RECORD);
	if (result != GOES_ON)
		return result;
	state->regs[REG_FP] = frame[0];
	result = find_range();
	if (result == GOES_ON && !was_hole && state->range.is_hole)
		return UNWIND_BAD_FRAME_POINTER;
	return result;
}

/* Returns whether the return address is where a function begins, and not behind a call. Nobody
 * called that function: it is glibc's __start_context(), to which the function of makecontext(3)
 * returns, or its like in other coroutines. The rule that was looked up, one byte before, is
 * that of the padding between functions, or of another function. If it returns false, the rule
 * is that one again. */
__noinline int is_entered_by_return(void)
{
	struct scratch *scratch = get_scratch();

	if (!scratch || !scratch->unwind.is_call || scratch->unwind.range.slot == 0 ||
	    scratch->unwind.ip >= scratch->unwind.range_end)
		return false;
	struct unwind_state *state = &scratch->unwind;
	state->is_call = false;
	state->is_entered = find_rule_of_range() == GOES_ON &&
			    (is_first_rule(&state->rule) || state->rule.kind == CFA_END) &&
			    !may_be_call(read_code(state->ip - CALL_CODE_BYTES));
	if (state->is_entered)
		return true;
	state->is_call = true;
	(void)find_rule_of_range();
	return false;
}

/* Returns the same although the byte before has a rule: that of another function, which also
 * holds in the padding behind it. Then either a register is missing, or the rule ends there, or
 * it is also the rule of a first instruction, by which few calls are made. Calls that do not
 * return may look the same, so the code has to tell. */
__noinline int is_between_functions(int is_lost)
{
	struct scratch *scratch = get_scratch();
	bool is_first;

	if (!scratch)
		return false;
	struct unwind_state *state = &scratch->unwind;
	is_first = is_first_rule(&state->rule);
	if (!state->is_call || !(is_first || is_lost || state->is_end_of_row))
		return false;
	if ((is_first || !is_lost) && read_code(state->ip - CALL_CODE_BYTES) == 0)
		return false;
	return is_entered_by_return();
}

/* Checks a step by the rule of a first instruction from a return address, `ip`, whose code
 * cannot be read, as in copies of stacks. If the caller is in no mapping, there was no call. */
static __always_inline int doubt_caller(struct unwind_state *state, __u64 ip, int result)
{
	__u64 caller = state->ip;

	if (result == GOES_ON && (find_range() != GOES_ON || !state->range.is_hole))
		return result;
	state->ip = ip;
	(void)find_range();
	if (is_entered_by_return())
		return UNWIND_COMPLETE;
	state->ip = caller;
	return result;
}

static __always_inline int step_by_frame_pointer(struct unwind_state *state, bool may_switch)
{
	bool is_call = state->is_call;
	__u64 ip = state->ip;
	__u64 code = is_call ? read_code(ip) : 0;
	int result;

	if (is_sigreturn(code))
		return step_over_signal(state);
	if (is_exit(code))
		return UNWIND_COMPLETE;
	if (step_by_link_register(state))
		return GOES_ON;
	if (is_entered_by_return())
		return UNWIND_COMPLETE;
	result = follow_frame_pointer(state, may_switch);
	if (result != GOES_ON && is_call && is_first_call(read_code(ip - 2)))
		return UNWIND_COMPLETE;
	return result;
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

static __always_inline int find_cfa(struct unwind_state *state, __u64 *ret_cfa)
{
	const struct cfi_rule *rule = &state->rule;
	__u32 needed = needed_registers(rule);
	__u64 cfa = state->regs[rule->reg % NR_REGS] + rule->offset;

	if ((state->known & needed) != needed)
		return find_cfa_by_record(state, ret_cfa);
	if (rule->kind == CFA_DEREF) {
		if (!read_word(cfa, &cfa))
			return UNWIND_UNREADABLE_STACK;
		cfa += (__s16)rule->arg;
	} else if (rule->kind == CFA_PLT && (state->ip & 15) >= rule->arg) {
		cfa += 8;
	}
	*ret_cfa = cfa;
	return GOES_ON;
}

/* The word at 8 * slot from the CFA, or (base != cfa) from somewhere else: out of the window if
 * it is there. */
static __always_inline bool read_slot(const struct unwind_state *state, __u64 cfa, __u64 base,
				      cfi_slot slot, __u64 *ret_word)
{
	const struct cfi_rule *rule = &state->rule;

	if (!state->is_window_cut && base == cfa && slot >= window_start(rule) &&
	    slot < window_start(rule) + WINDOW_WORDS) {
		*ret_word = state->window[window_index(rule, slot)];
		return true;
	}
	return read_word(base + 8LL * slot, ret_word);
}

/* Returns whether rbp points to the function's own frame. Behind the last pop of an epilogue rbp
 * is the caller's again, and so are the other registers, although GCC's rules still say that
 * they are saved. */
static __always_inline bool is_own_frame(const struct unwind_state *state, __u64 cfa)
{
	return state->regs[REG_FP] >= state->regs[REG_SP] && state->regs[REG_FP] < cfa;
}

/* Returns whether a place is not used yet, or no more. (The flag is tested for arm64 only,
 * because no rule of x86-64 has it.) */
static __always_inline bool is_below_sp(const struct unwind_state *state, __u64 place)
{
	return !(CFI_IS_ARM64 && state->rule.flags & CFI_SAVED_BELOW_SP) &&
	       place < state->regs[REG_SP];
}

/* Gives the callee-saved registers their values in the caller; returns those that are known
 * then. */
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
		    (slot != CFI_LOST && (is_restored || is_below_sp(state, base + 8LL * slot))))
			continue;
		known &= ~REGISTER_BIT(reg);
		if (slot == CFI_LOST || !read_slot(state, cfa, base, slot, &word))
			continue;
		state->regs[reg % NR_REGS] = word;
		known |= REGISTER_BIT(reg);
	}
	return known;
}

/* Stacks of tiny functions may begin within the window. Its last word is the return address. */
static __always_inline bool read_window(struct unwind_state *state, __u64 cfa)
{
	__u64 start = cfa + 8LL * window_start(&state->rule);
	__u64 *window = state->window;

	state->is_window_cut = false;
	if (bpf_probe_read_user(window, sizeof(state->window), (const void *)start) == 0)
		return true;
	state->is_window_cut = true;
	return read_word(start + 8 * (WINDOW_WORDS - 1), &window[WINDOW_WORDS - 1]);
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

/* A frame holds at least its return address, unless that is in a register. */
static __always_inline bool is_ascending(const struct unwind_state *state, __u64 sp)
{
	if (state->rule.flags & CFI_RETURN_IN_REGISTER)
		return sp >= state->regs[REG_SP];
	return sp > state->regs[REG_SP];
}

static __always_inline int step_by_cfi(struct unwind_state *state)
{
	__u64 cfa = 0, sp, return_address, ip = state->ip;
	int result = find_cfa(state, &cfa);

	if (is_between_functions(result == UNWIND_LOST_REGISTER))
		return UNWIND_COMPLETE;
	if (result != GOES_ON)
		return result;
	sp = caller_sp(&state->rule, cfa);
	if (!is_ascending(state, sp))
		return UNWIND_NOT_ASCENDING;
	if (!find_return_address(state, cfa, &return_address))
		return UNWIND_UNREADABLE_STACK;
	state->was_call = state->is_call;
	result = return_to(state, return_address, sp,
			   restore_registers(state, cfa) | REGISTER_BIT(REG_SP));
	if (state->was_call && is_first_rule(&state->rule))
		return doubt_caller(state, ip, result);
	return result;
}

/* From a frame to its caller's. */
__noinline int step(void)
{
	struct scratch *scratch = get_scratch();

	if (!scratch)
		return UNWIND_BAD_TABLE;
	struct unwind_state *state = &scratch->unwind;
	settle_switch(state);
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

/* The last frame is that of a function which nobody called. */
static __always_inline void mark_entered(struct sample_event *event)
{
	__u32 index = (__u32)event->nr_kernel + event->nr_user - 1;

	if (index < MAX_FRAMES)
		event->frames[index] |= FRAME_ENTERED;
}

/* Without a table the task's own mappings are looked at. An empty entry says that the process
 * was sampled: for which the agent has a table. A task that exits may be the last one of its
 * process: then the entry would stay for ever, for process_exit() is over. */
static __always_inline void note_process(struct unwind_state *state)
{
	__u64 none = MAPPING_BINDING_NONE;

	if (!state->is_exiting)
		bpf_map_update_elem(&processes, &state->pid, &none, BPF_ANY);
}

/* Finds the descriptors of runtimes behind a mapping table. */
static __always_inline void find_descriptors(struct unwind_state *state,
					     const struct mapping_table *table)
{
	__u32 offset = table->runtimes_offset, nr = table->nr_runtimes;

	for (__u32 i = 0; i < RUNTIME_MAX_OF_PROCESS; i++) {
		const __u64 *head;

		if (i >= nr)
			break;
		head = arena_at(state->mapping_table, offset, 8);
		if (head)
			state->descriptors[(__u8)*head % RUNTIME_NR_KINDS] = offset;
		offset += sizeof(struct runtime_descriptor);
	}
}

static __always_inline void find_mapping_table(struct unwind_state *state)
{
	const __u64 *binding = bpf_map_lookup_elem(&processes, &state->pid);
	__u64 value = binding ? *binding : MAPPING_BINDING_NONE;
	const struct mapping_table *table = NULL;

	state->mapping_table = 0;
	state->mapping_table_id = 0;
	state->mappings = 0;
	state->was_asked = value == MAPPING_BINDING_ASKED;
	if (MAPPING_BINDING_ID(value) != 0)
		table = arena_at(MAPPING_BINDING_UNIT(value), 0, 32);
	if (table && table->id == MAPPING_BINDING_ID(value)) {
		state->mapping_table = MAPPING_BINDING_UNIT(value);
		state->mapping_table_id = table->id;
		state->nr_ranges = table->nr_ranges;
		state->ranges_offset = table->ranges_offset;
		find_descriptors(state, table);
		(void)find_mappings();
	} else if (!binding || MAPPING_BINDING_ID(value) != 0) {
		note_process(state);
	}
}

static __always_inline void begin(struct unwind_state *state)
{
	state->known = ALL_REGISTERS & ~state->missing;
	state->is_call = false;
	state->is_entered = false;
	state->asks = false;
	state->nr_copies = 0;
	state->lacks_file = false;
	state->nr_frames = 0;
	state->nr_native = 0;
	state->nr_walks = 0;
	state->range_start = 0;
	state->range_end = 0;
	for (int i = 0; i < RUNTIME_NR_KINDS; i++)
		state->descriptors[i] = 0;
	state->python = PYTHON_NOT_MET;
}

/* Begins with the Python frames of the thread at the first native frame of a process that is known
 * to have Python, or else in a file that is. */
static __always_inline void meet_python(struct unwind_state *state)
{
	__u32 descriptor = state->descriptors[RUNTIME_CPYTHON];
	const __u64 *head;

	if (state->python != PYTHON_NOT_MET)
		return;
	if (descriptor != 0) {
		head = arena_at(state->mapping_table, descriptor, 8);
		state->python_slot = head ? RUNTIME_SLOT(*head) : 0;
		python_begin(state->mapping_table,
			     descriptor + offsetof(struct runtime_descriptor, layout));
	} else if (state->file_layout != 0) {
		state->python_slot = state->range.slot;
		python_begin(state->file_layout, 0);
	}
}

/* From a frame to its caller's. If the frame is that of an interpreter's loop, the frames that it
 * interprets take its place. */
static __always_inline int step_over_runtime(struct unwind_state *state)
{
	__u64 sp, offset = 0;
	int result;

	if (state->descriptors[RUNTIME_V8] != 0) {
		result = v8_step();
		if (result != RUNTIME_ELSEWHERE)
			return result;
	}
	meet_python(state);
	if (state->python != PYTHON_FOLLOWED)
		return step();
	sp = state->regs[REG_SP];
	if (state->range.slot != 0 && state->range.slot == state->python_slot)
		offset = code_address(state) - state->range.bias;
	result = step();
	python_splice(sp, offset);
	return result;
}

/* From a frame to its caller's, if the frame is in code that a runtime made. */
static __always_inline int step_in_runtime(const struct unwind_state *state)
{
	return state->descriptors[RUNTIME_HOTSPOT] != 0 ? hotspot_step() : RUNTIME_ELSEWHERE;
}

/* A function of its own, so that a round of the loop below is a few instructions to the
 * verifier. */
__noinline int unwind_frame(void)
{
	struct scratch *scratch = get_scratch();
	int result;

	if (!scratch)
		return UNWIND_BAD_TABLE;
	result = step_in_runtime(&scratch->unwind);
	if (result == RUNTIME_ELSEWHERE) {
		result = find_rule();
		if (result == GOES_ON)
			result = step_over_runtime(&scratch->unwind);
	}
	if (scratch->unwind.python == PYTHON_TOO_DEEP) {
		python_cut();
		return UNWIND_TOO_DEEP;
	}
	if (result == GOES_ON && !push_frame(scratch))
		return UNWIND_TOO_DEEP;
	if (scratch->unwind.is_entered)
		mark_entered(&scratch->event);
	return result;
}

__noinline int unwind_native(void)
{
	struct scratch *scratch = get_scratch();
	int result = GOES_ON;

	if (!scratch)
		return UNWIND_BAD_TABLE;
	begin(&scratch->unwind);
	push_frame(scratch);
	find_mapping_table(&scratch->unwind);
	for (int i = 0; i < MAX_USER_FRAMES && result == GOES_ON; i++)
		result = unwind_frame();
	/* The agent looks at the last address of stacks that lack a file or its table. */
	if (scratch->unwind.python == PYTHON_FOLLOWED && result != UNWIND_NOT_LOADED &&
	    result != UNWIND_NEW_PROCESS)
		python_end(result == UNWIND_COMPLETE);
	return result;
}
