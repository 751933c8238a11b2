/* SPDX-License-Identifier: Apache-2.0 */
/* The names of registers as readelf(1) has them, by DWARF number. */
#ifndef TESTS_ROWS_REGISTERS_H
#define TESTS_ROWS_REGISTERS_H

#include "bpf/shared/cfi.h"

static const char *const registers[NR_REGS] = {
#if CFI_IS_ARM64
	"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",	 "x7",	"x8",  "x9",  "x10",
	"x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
	"x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",
#else
	[CFI_RAX] = "rax", [CFI_RDX] = "rdx", [CFI_RCX] = "rcx", [CFI_RBX] = "rbx",
	[CFI_RSI] = "rsi", [CFI_RDI] = "rdi", [CFI_RBP] = "rbp", [CFI_RSP] = "rsp",
	[CFI_R8] = "r8",   [CFI_R9] = "r9",   [CFI_R10] = "r10", [CFI_R11] = "r11",
	[CFI_R12] = "r12", [CFI_R13] = "r13", [CFI_R14] = "r14", [CFI_R15] = "r15",
#endif
};

#endif
