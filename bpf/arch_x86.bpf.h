/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The parts that are particular to x86-64. Included by arch.bpf.h. */
#ifndef BPF_ARCH_X86_BPF_H
#define BPF_ARCH_X86_BPF_H

/* User space ends below the hole of non-canonical addresses (57 bits with LA57). */
#define USER_ADDRESS_MAX ((1ULL << 56) - 1)
#define CODE_ALIGNMENT 1

/* Segment selectors of user code: arch/x86/include/asm/segment.h. */
#define USER32_CS 0x23

/* Macros, because the type of a context's registers is not known where this is compiled for
 * another machine. */

/* The requested privilege level in cs: 3 is user space. */
#define regs_are_user(regs) (((regs)->cs & 3) == 3)

/* A 32-bit process on a 64-bit kernel. */
#define regs_are_compat(regs) ((regs)->cs == USER32_CS)

/* A system call in progress. */
#define SYSCALL_OF(regs) ((regs)->orig_rax)
#define SYSCALL_ARG_1(regs) ((regs)->rdi)
#define SYSCALL_ARG_2(regs) ((regs)->rsi)
#define SYSCALL_ARG_3(regs) ((regs)->rdx)
#define SYSCALL_FUTEX 202

/* By DWARF number; a context's registers are read through the context pointer itself. */
#define COPY_REGS(to, from)                                                                        \
	do {                                                                                       \
		(to)[CFI_RAX] = (from)->rax;                                                       \
		(to)[CFI_RDX] = (from)->rdx;                                                       \
		(to)[CFI_RCX] = (from)->rcx;                                                       \
		(to)[CFI_RBX] = (from)->rbx;                                                       \
		(to)[CFI_RSI] = (from)->rsi;                                                       \
		(to)[CFI_RDI] = (from)->rdi;                                                       \
		(to)[CFI_RBP] = (from)->rbp;                                                       \
		(to)[CFI_RSP] = (from)->rsp;                                                       \
		(to)[CFI_R8] = (from)->r8;                                                         \
		(to)[CFI_R9] = (from)->r9;                                                         \
		(to)[CFI_R10] = (from)->r10;                                                       \
		(to)[CFI_R11] = (from)->r11;                                                       \
		(to)[CFI_R12] = (from)->r12;                                                       \
		(to)[CFI_R13] = (from)->r13;                                                       \
		(to)[CFI_R14] = (from)->r14;                                                       \
		(to)[CFI_R15] = (from)->r15;                                                       \
	} while (0)

/* Returns the address that a word of the stack or a register says a function returns to. */
static __always_inline __u64 return_address_of(__u64 word)
{
	return word;
}

/* The slot at which the words of a stack begin that are read at once: those right below the CFA. */
static __always_inline int window_start(const struct cfi_rule *rule)
{
	(void)rule;
	return -WINDOW_WORDS;
}

static __always_inline int window_index(const struct cfi_rule *rule, cfi_slot slot)
{
	(void)rule;
	return (__u8)slot % WINDOW_WORDS;
}

/* Number of bytes of code before a return address that are read to see if they are a call. */
#define CALL_CODE_BYTES 8

/* Returns whether such bytes may end with a call: call rel32, or call *r/m64 in any of its
 * lengths. */
static __always_inline bool may_be_call(__u64 code)
{
	if ((code >> 24 & 0xff) == 0xe8)
		return true;
	for (int bytes = 2; bytes <= 7; bytes++)
		if ((code >> (64 - 8 * bytes) & 0x38ff) == 0x10ff)
			return true;
	return false;
}

/* Returns whether a rule is that of a function's first instruction. */
static __always_inline bool is_first_rule(const struct cfi_rule *rule)
{
	return rule->kind == CFA_REGISTER && rule->reg == CFI_RSP && rule->offset == 8;
}

/* Registers known after a step by frame pointer: the frame begins with the frame record. */
#define KNOWN_BY_RECORD (REGISTER_BIT(REG_FP) | REGISTER_BIT(REG_SP))

/* So the stack pointer is always known. */
static __always_inline int find_cfa_by_record(struct unwind_state *state, __u64 *ret_cfa)
{
	(void)state, (void)ret_cfa;
	return UNWIND_LOST_REGISTER;
}

/* The frame pointer leads on before and behind. */
static __always_inline void settle_switch(struct unwind_state *state)
{
	(void)state;
}

static __always_inline __u64 caller_sp(const struct cfi_rule *rule, __u64 cfa)
{
	(void)rule;
	return cfa;
}

static __always_inline bool step_by_link_register(struct unwind_state *state)
{
	(void)state;
	return false;
}

/* The registers that a signal interrupted are in the ucontext at the stack pointer: rt_sigframe
 * in arch/x86/include/asm/sigframe.h, sigcontext in arch/x86/include/uapi/asm/sigcontext.h. The
 * instruction pointer follows. */
#define SIGNAL_FRAME_REGS 40

static __always_inline unsigned int signal_frame_register(unsigned int index)
{
	static const __u8 order[NR_REGS] = {
		CFI_R8,	 CFI_R9,  CFI_R10, CFI_R11, CFI_R12, CFI_R13, CFI_R14, CFI_R15,
		CFI_RDI, CFI_RSI, CFI_RBP, CFI_RBX, CFI_RDX, CFI_RAX, CFI_RCX, CFI_RSP,
	};

	return order[index];
}

static __always_inline bool find_signal_frame(const struct unwind_state *state, __u64 *ret_address)
{
	*ret_address = state->regs[REG_SP];
	return true;
}

/* Returns whether the first bytes of code are those that end a signal handler: mov
 * $__NR_rt_sigreturn, %rax (or %eax); syscall. */
static __always_inline bool is_sigreturn(__u64 code)
{
	return code == 0x0f0000000fc0c748 || (code & 0xffffffffffffff) == 0x050f0000000fb8;
}

/* Always false: code that ends a thread is recognized by the code around it. */
static __always_inline bool is_exit(__u64 code)
{
	(void)code;
	return false;
}

/* Returns whether the code around a return address hands the result of a function straight to
 * the function that ends the thread: call *%reg or *(%reg); mov %eax, %edi (or %rax, %rdi);
 * call, or the system call exit. C libraries without CFI call main(), start routines and
 * functions of clone() in this way: in musl these three are the only places of that kind. `code`
 * begins 2 bytes before the return address. */
static __always_inline bool is_first_call(__u64 code)
{
	__u64 after = code >> 16;
	__u8 operand = (code >> 8) & 0xf8;

	if ((code & 0xff) != 0xff || (operand != 0xd0 && operand != 0x10))
		return false;
	return (after & 0xffffff) == 0xe8c789 || (after & 0xffffffff) == 0xe8c78948 ||
	       (after & 0xffffffffff) == 0xb0c031c789;
}

#endif
