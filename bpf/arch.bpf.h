/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Everything that differs by architecture, under the same names for each: the registers of a
 * sample, and the form of stacks and code. */
#ifndef BPF_ARCH_BPF_H
#define BPF_ARCH_BPF_H

#include "bpf/kernel.bpf.h"
#include "bpf/unwind.bpf.h"

#define USER_ADDRESS_MIN 4096

#define REG_FP CFI_FP
#define REG_SP CFI_SP

/* Reads 8 bytes of code; 0 if it cannot. Only the code tells the functions of a C library
 * without CFI apart. */
static __always_inline __u64 read_code(__u64 address)
{
	__u64 code = 0;

	(void)bpf_probe_read_user(&code, sizeof(code), (const void *)address);
	return code;
}

#if CFI_IS_ARM64
#include "bpf/arch_arm64.bpf.h"
#else
#include "bpf/arch_x86.bpf.h"
#endif

static __always_inline bool is_code_address(__u64 address)
{
	return address >= USER_ADDRESS_MIN && address <= USER_ADDRESS_MAX &&
	       address % CODE_ALIGNMENT == 0;
}

#endif
