/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/perf/perf_regs.h"

#include "base/err.h"

#include <asm/perf_regs.h>
#include <string.h>

#define IP NR_REGS /* not among the registers that have DWARF numbers */
#define BITS(first, last) (((UINT64_C(1) << ((last) - (first) + 1)) - 1) << (first))

/* Translation of the kernel's numbers of registers to those of DWARF. */
#if defined(__aarch64__)
#define WANTED BITS(PERF_REG_ARM64_X0, PERF_REG_ARM64_PC)
#define DWARF_NUMBER(number) (number) /* up to sp; then comes pc, as here */
#else
#define WANTED (BITS(PERF_REG_X86_AX, PERF_REG_X86_IP) | BITS(PERF_REG_X86_R8, PERF_REG_X86_R15))
#define DWARF_NUMBER(number) dwarf_numbers[number]

static const uint8_t dwarf_numbers[] = {
	[PERF_REG_X86_AX] = CFI_RAX,  [PERF_REG_X86_BX] = CFI_RBX,  [PERF_REG_X86_CX] = CFI_RCX,
	[PERF_REG_X86_DX] = CFI_RDX,  [PERF_REG_X86_SI] = CFI_RSI,  [PERF_REG_X86_DI] = CFI_RDI,
	[PERF_REG_X86_BP] = CFI_RBP,  [PERF_REG_X86_SP] = CFI_RSP,  [PERF_REG_X86_IP] = IP,
	[PERF_REG_X86_R8] = CFI_R8,   [PERF_REG_X86_R9] = CFI_R9,   [PERF_REG_X86_R10] = CFI_R10,
	[PERF_REG_X86_R11] = CFI_R11, [PERF_REG_X86_R12] = CFI_R12, [PERF_REG_X86_R13] = CFI_R13,
	[PERF_REG_X86_R14] = CFI_R14, [PERF_REG_X86_R15] = CFI_R15,
};
#endif

const uint64_t perf_regs_mask = WANTED;

void perf_regs_to_copy(const uint8_t *values, struct stack_copy *copy)
{
	for (uint64_t left = perf_regs_mask; left != 0; left &= left - 1) {
		unsigned int number = DWARF_NUMBER((unsigned int)__builtin_ctzll(left));
		uint64_t value;

		memcpy(&value, values, sizeof(value));
		values += sizeof(value);
		if (number == IP)
			copy->ip = value;
		else
			copy->regs[number] = value;
	}
}

#if defined(__aarch64__)
uint32_t perf_regs_missing(const struct stack_copy *copy, bool marks_missing)
{
	(void)copy, (void)marks_missing;
	return 0;
}
#else
static bool is_marked(uint64_t value)
{
	return value == UINT64_MAX;
}

/* One register may well be -1, but not all of them. From Linux 4.15 on rbp has its value. */
uint32_t perf_regs_missing(const struct stack_copy *copy, bool marks_missing)
{
	static const uint8_t kept[] = { CFI_RBX, CFI_R12, CFI_R13, CFI_R14, CFI_R15 };
	uint32_t missing = 0;

	for (size_t i = 0; i < array_len(kept); i++) {
		if (marks_missing && !is_marked(copy->regs[kept[i]]))
			return 0;
		missing |= UINT32_C(1) << kept[i];
	}
	if (!marks_missing || is_marked(copy->regs[CFI_RBP]))
		missing |= UINT32_C(1) << CFI_RBP;
	return missing;
}
#endif
