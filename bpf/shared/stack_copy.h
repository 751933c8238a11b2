/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The part of a thread's stack that the kernel copied for one sample, with the registers that go
 * with it: what is unwound where no BPF program can do it. */
#ifndef BPF_SHARED_STACK_COPY_H
#define BPF_SHARED_STACK_COPY_H

#include "bpf/shared/cfi.h"

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

struct stack_copy {
	__u64 regs[NR_REGS]; /* by DWARF number */
	__u32 missing; /* bits of those that the kernel does not tell */
	__u64 ip;
	__u64 address; /* of the first byte of the copy: the stack pointer */
	const __u8 *bytes; /* borrowed */
	size_t len;
	/* the stack may go on above the copy: as much was copied as there was room for */
	bool is_truncated;
	/* borrowed, not aligned: what the kernel found by frame pointers, ip first */
	const __u8 *chain;
	size_t nr_chain; /* addresses */
};

#endif
