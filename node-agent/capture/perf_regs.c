/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/perf_regs.h"

#include "base/err.h"

#include <asm/perf_regs.h>
#include <string.h>

#define IP NR_REGS /* beside the registers that have DWARF numbers */

/* By the kernel's number, in ascending order: what it is called here. */
struct perf_reg {
	uint8_t number;
	uint8_t dwarf;
};

#if defined(__aarch64__)
/* The same numbers, x30 being lr and 31 sp. */
#define REGS(X)                                                                                    \
	X(0, 0)                                                                                    \
	X(1, 1)                                                                                    \
	X(2, 2)                                                                                    \
	X(3, 3)                                                                                    \
	X(4, 4) X(5, 5) X(6, 6) X(7, 7) X(8, 8) X(9, 9) X(10, 10) X(11, 11) X(12, 12) X(13, 13)    \
		X(14, 14) X(15, 15) X(16, 16) X(17, 17) X(18, 18) X(19, 19) X(20, 20) X(21, 21)    \
			X(22, 22) X(23, 23) X(24, 24) X(25, 25) X(26, 26) X(27, 27) X(28, 28)      \
				X(29, 29) X(PERF_REG_ARM64_LR, CFI_LR)                             \
					X(PERF_REG_ARM64_SP, CFI_SP) X(PERF_REG_ARM64_PC, IP)
#else
#define REGS(X)                                                                                    \
	X(PERF_REG_X86_AX, CFI_RAX)                                                                \
	X(PERF_REG_X86_BX, CFI_RBX)                                                                \
	X(PERF_REG_X86_CX, CFI_RCX)                                                                \
	X(PERF_REG_X86_DX, CFI_RDX)                                                                \
	X(PERF_REG_X86_SI, CFI_RSI) X(PERF_REG_X86_DI, CFI_RDI) X(PERF_REG_X86_BP, CFI_RBP)        \
		X(PERF_REG_X86_SP, CFI_RSP) X(PERF_REG_X86_IP, IP) X(PERF_REG_X86_R8, CFI_R8)      \
			X(PERF_REG_X86_R9, CFI_R9) X(PERF_REG_X86_R10, CFI_R10)                    \
				X(PERF_REG_X86_R11, CFI_R11) X(PERF_REG_X86_R12, CFI_R12)          \
					X(PERF_REG_X86_R13, CFI_R13) X(PERF_REG_X86_R14, CFI_R14)  \
						X(PERF_REG_X86_R15, CFI_R15)
#endif

#define BIT_OF(number, dwarf) | UINT64_C(1) << (number)
const uint64_t perf_regs_mask = 0 REGS(BIT_OF);

#define ROW_OF(number, dwarf) { number, dwarf },
static const struct perf_reg regs[] = { REGS(ROW_OF) };
const size_t perf_regs_nr = array_len(regs);

void perf_regs_to_copy(const uint8_t *values, struct stack_copy *copy)
{
	for (size_t i = 0; i < array_len(regs); i++) {
		uint64_t value;

		memcpy(&value, values + i * sizeof(value), sizeof(value));
		if (regs[i].dwarf == IP)
			copy->ip = value;
		else
			copy->regs[regs[i].dwarf] = value;
	}
}
