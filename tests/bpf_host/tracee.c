/* SPDX-License-Identifier: Apache-2.0 */
#include "tracee.h"

#include <elf.h>
#include <err.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>

static void transfer(int request, pid_t tid, struct user_regs_struct *regs)
{
	struct iovec bytes = { regs, sizeof(*regs) };

	if (ptrace(request, tid, NT_PRSTATUS, &bytes) < 0)
		err(1, "the registers of a thread");
}

static uint64_t code_at(pid_t tid, uint64_t address)
{
	return (uint64_t)ptrace(PTRACE_PEEKTEXT, tid, (void *)address, NULL);
}

#if defined(__aarch64__)

#define BREAKPOINT 0xd4200000 /* brk #0: stops before it */

void tracee_read_registers(pid_t tid, struct tracee_registers *registers)
{
	struct iovec pointer = { &registers->thread_pointer, sizeof(registers->thread_pointer) };
	struct user_regs_struct regs;

	transfer(PTRACE_GETREGSET, tid, &regs);
	memcpy(registers->by_number, regs.regs, sizeof(regs.regs));
	registers->by_number[CFI_SP] = regs.sp;
	registers->ip = regs.pc;
	if (ptrace(PTRACE_GETREGSET, tid, NT_ARM_TLS, &pointer) < 0)
		err(1, "the thread pointer of a thread");
}

bool tracee_is_before_trap(pid_t tid, const struct tracee_registers *registers)
{
	return (uint32_t)code_at(tid, registers->ip) == BREAKPOINT;
}

bool tracee_skip_trap(pid_t tid, struct tracee_registers *registers)
{
	struct user_regs_struct regs;

	if (!tracee_is_before_trap(tid, registers))
		return false;
	transfer(PTRACE_GETREGSET, tid, &regs);
	regs.pc += sizeof(uint32_t);
	transfer(PTRACE_SETREGSET, tid, &regs);
	registers->ip = regs.pc;
	return true;
}

uint64_t tracee_argument(const struct tracee_registers *registers, unsigned int index)
{
	return registers->by_number[index];
}

#else

#define BREAKPOINT 0xcc /* int3: stops behind it */

void tracee_read_registers(pid_t tid, struct tracee_registers *registers)
{
	struct user_regs_struct regs;

	transfer(PTRACE_GETREGSET, tid, &regs);
	const uint64_t by_number[NR_REGS] = { regs.rax, regs.rdx, regs.rcx, regs.rbx,
					      regs.rsi, regs.rdi, regs.rbp, regs.rsp,
					      regs.r8,	regs.r9,  regs.r10, regs.r11,
					      regs.r12, regs.r13, regs.r14, regs.r15 };
	memcpy(registers->by_number, by_number, sizeof(by_number));
	registers->ip = regs.rip;
	registers->thread_pointer = regs.fs_base;
}

bool tracee_is_before_trap(pid_t tid, const struct tracee_registers *registers)
{
	return (uint8_t)code_at(tid, registers->ip) == BREAKPOINT;
}

bool tracee_skip_trap(pid_t tid, struct tracee_registers *registers)
{
	return (uint8_t)code_at(tid, registers->ip - 1) == BREAKPOINT;
}

uint64_t tracee_argument(const struct tracee_registers *registers, unsigned int index)
{
	static const unsigned int numbers[] = { CFI_RAX, CFI_RCX, CFI_RDX };

	return registers->by_number[numbers[index]];
}

#endif
