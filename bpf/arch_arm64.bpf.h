/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The parts that are particular to arm64. Included by arch.bpf.h. */
#ifndef BPF_ARCH_ARM64_BPF_H
#define BPF_ARCH_ARM64_BPF_H

/* Of 48 bits. Kernels with 52 give a process addresses above only where it asks for one (mmap()
 * with a hint). */
#define USER_ADDRESS_MAX ((1ULL << 48) - 1)
#define CODE_ALIGNMENT 4

/* Processor state: arch/arm64/include/uapi/asm/ptrace.h. */
#define PSTATE_MODE 0xf /* 0: user space */
#define PSTATE_MODE32 0x10

/* Macros, because the type of a context's registers is not known where this is compiled for
 * another machine. */

#define regs_are_user(regs) (((regs)->pstate & PSTATE_MODE) == 0)

/* A 32-bit process. */
#define regs_are_compat(regs) (((regs)->pstate & PSTATE_MODE32) != 0)

/* A system call in progress. */
#define SYSCALL_OF(from) ((from)->regs[8])
#define SYSCALL_ARG_1(from) ((from)->regs[0])
#define SYSCALL_ARG_2(from) ((from)->regs[1])
#define SYSCALL_ARG_3(from) ((from)->regs[2])
#define SYSCALL_FUTEX 98

/* By DWARF number. Volatile, so that a context's registers are read one by one, through the
 * context pointer itself. */
#define COPY_REGS(to, from)                                                                        \
	do {                                                                                       \
		_Pragma("unroll") for (int i_ = 0; i_ < CFI_SP;                                    \
				       i_++)(to)[i_] = *(const volatile __u64 *)&(from)->regs[i_]; \
		(to)[CFI_SP] = (from)->sp;                                                         \
	} while (0)

/* Returns the address that a word of the stack or a register says a function returns to. A
 * signature (pointer authentication) is in the bits above those of addresses, but not in bit 55,
 * which tells the addresses of the kernel from those of user space. */
static __always_inline __u64 return_address_of(__u64 word)
{
	return word & (USER_ADDRESS_MAX | 1ULL << 55);
}

/* The slot at which the words of a stack begin that are read at once: nearly always the frame
 * record {fp, lr}, wherever it is in its frame. */
static __always_inline int window_start(const struct cfi_rule *rule)
{
	return rule->return_address + 1 - WINDOW_WORDS;
}

static __always_inline int window_index(const struct cfi_rule *rule, cfi_slot slot)
{
	return slot == rule->return_address;
}

/* Registers known after a step by frame pointer. regs[REG_SP] is then a lower bound of the stack
 * pointer. */
#define KNOWN_BY_RECORD REGISTER_BIT(REG_FP)

/* A rule that says where a frame record is says so of the frame pointer as well. */
static __always_inline bool has_record(const struct unwind_state *state)
{
	const struct cfi_rule *rule = &state->rule;
	cfi_slot slot = rule->saved[0];

	return rule->kind == CFA_REGISTER && rule->reg == REG_SP && slot != CFI_NOT_SAVED &&
	       slot != CFI_LOST && !(rule->flags & CFI_RETURN_IN_REGISTER) &&
	       rule->return_address == slot + 1;
}

/* A function of Go's that is to leave the stack has not done so while the frame record is where
 * it put it, right below the stack pointer. Its rule becomes that of other functions then, which
 * needs no more than the stack above. */
static __always_inline void settle_switch(struct unwind_state *state)
{
	struct cfi_rule *rule = &state->rule;
	__u32 needed = REGISTER_BIT(REG_FP) | REGISTER_BIT(REG_SP);

	if (rule->kind != CFA_STACK_SWITCH || rule->offset <= 0 ||
	    (state->known & needed) != needed || state->regs[REG_FP] + 8 != state->regs[REG_SP])
		return;
	rule->kind = CFA_REGISTER;
	rule->reg = REG_SP;
	rule->flags = CFI_SAVED_BELOW_SP;
	rule->return_address = (cfi_slot)(-rule->offset / 8);
	rule->saved[0] = (cfi_slot)(rule->return_address - 1);
}

/* The caller's stack pointer. glibc's _dl_runtime_resolve() is entered with its return address
 * pushed already, and counts its CFA from below that. */
static __always_inline __u64 caller_sp(const struct cfi_rule *rule, __u64 cfa)
{
	if (rule->flags & CFI_RETURN_IN_REGISTER || rule->return_address < 0)
		return cfa;
	return cfa + ((8 * (rule->return_address + 1) + 15) & ~15);
}

/* Returns whether the instruction in the lower half of `code` is a call: bl, blr, or blr to a
 * signed address. */
static __always_inline bool is_call_code(__u64 code)
{
	return (code & 0xfc000000) == 0x94000000 || (code & 0xfefff000) == 0xd63f0000;
}

/* Number of bytes of code before a return address that are read to see if they are a call. */
#define CALL_CODE_BYTES 4

static __always_inline bool may_be_call(__u64 code)
{
	return is_call_code(code);
}

/* Returns whether a rule is that of a function's first instruction: the return address is in lr. */
static __always_inline bool is_first_rule(const struct cfi_rule *rule)
{
	return rule->flags & CFI_RETURN_IN_REGISTER;
}

/* The CFA where its register is not known; GOES_ON or an enum unwind_result. */
static __always_inline int find_cfa_by_record(struct unwind_state *state, __u64 *ret_cfa)
{
	if (!state->is_call || !(state->known & REGISTER_BIT(REG_FP)) || !has_record(state))
		return UNWIND_LOST_REGISTER;
	*ret_cfa = state->regs[REG_FP] - 8LL * state->rule.saved[0];
	return GOES_ON;
}

/* Returns whether the frame pointer points to a record with this return address. */
static __always_inline bool is_in_record(const struct unwind_state *state, __u64 address)
{
	__u64 lr = 0;

	(void)bpf_probe_read_user(&lr, sizeof(lr), (const void *)(state->regs[REG_FP] + 8));
	return return_address_of(lr) == address;
}

static __always_inline bool has_no_cfi(const struct cfi_rule *rule)
{
	return rule->kind == CFA_NONE || rule->kind == CFA_STACK_SWITCH;
}

/* A function without CFI that calls no other needs no frame record: its return address is in lr
 * alone. In one that does call, lr is what the last call left there, an address in the function
 * itself. So lr is believed where it leads behind a call in other code: in another mapping, or
 * in code with CFI, unless there is a record that says the same. Whether there is a call cannot
 * be seen where no code is read; then it has to lead into a mapping at least. How much of the
 * stack the function uses is not known. */
static __always_inline bool step_by_link_register(struct unwind_state *state)
{
	__u64 lr = return_address_of(state->regs[CFI_LR]);
	__u64 range_start = state->range_start, ip = state->ip;
	__u64 code;

	if (!(state->known & REGISTER_BIT(CFI_LR)) || is_in_record(state, lr))
		return false;
	code = read_code(lr - 4);
	if (lr % CODE_ALIGNMENT != 0 || (code != 0 && !is_call_code(code)))
		return false;
	state->ip = lr;
	state->is_call = true;
	(void)find_rule();
	if ((state->range_start == range_start && has_no_cfi(&state->rule)) ||
	    (code == 0 && state->range.is_hole)) {
		state->ip = ip;
		state->is_call = false;
		(void)find_range();
		return false;
	}
	state->known &= REGISTER_BIT(REG_FP);
	return true;
}

/* The registers that a signal interrupted are in the ucontext at the stack pointer: rt_sigframe
 * in arch/arm64/kernel/signal.c, sigcontext in arch/arm64/include/uapi/asm/sigcontext.h. The
 * instruction pointer follows. */
#define SIGNAL_FRAME_REGS 312

static __always_inline unsigned int signal_frame_register(unsigned int index)
{
	return index;
}

/* Of its usual size; there are larger ones for large vector registers. */
#define SIGNAL_FRAME_BYTES 4688

/* Behind it is a frame record {fp, lr} of what was interrupted, to which the handler's own
 * record points. */
static __always_inline bool find_signal_frame(const struct unwind_state *state, __u64 *ret_address)
{
	__u64 fp = state->regs[REG_FP], address = fp - SIGNAL_FRAME_BYTES;
	__u64 record[2], saved[2];

	if (state->known & REGISTER_BIT(REG_SP)) {
		*ret_address = state->regs[REG_SP];
		return true;
	}
	if (!(state->known & REGISTER_BIT(REG_FP)) ||
	    bpf_probe_read_user(record, sizeof(record), (const void *)fp) < 0 ||
	    bpf_probe_read_user(saved, sizeof(saved),
				(const void *)(address + SIGNAL_FRAME_REGS + 8 * CFI_FP)) < 0 ||
	    record[0] != saved[0] || record[1] != saved[1])
		return false;
	*ret_address = address;
	return true;
}

#define CODE_SVC 0xd4000001ULL /* svc #0 */

/* Returns whether the first bytes of code are those that end a signal handler: mov x8,
 * #__NR_rt_sigreturn; svc. */
static __always_inline bool is_sigreturn(__u64 code)
{
	return code == (CODE_SVC << 32 | 0xd2801168);
}

/* … those that end a thread: mov x8, #__NR_exit; svc. So goes on clone() in musl. Its frame
 * pointer may be that of the thread that called it. */
static __always_inline bool is_exit(__u64 code)
{
	return code == (CODE_SVC << 32 | 0xd2800ba8);
}

/* Code without CFI keeps frame records, and in the first of them the frame pointer is 0. */
static __always_inline bool is_first_call(__u64 code)
{
	(void)code;
	return false;
}

#endif
