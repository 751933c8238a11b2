/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Kernel drift: one function for each thing that kernels do differently. */
#ifndef BPF_COMPAT_BPF_H
#define BPF_COMPAT_BPF_H

#include "bpf/arch.bpf.h"

/* The user registers of a task that is in the kernel: where it entered, at the top of its kernel stack.
 * bpf_task_pt_regs() is there since Linux 5.15 (kernel commit dd6e10fbd9fb). Returns NULL without it. */
static __always_inline const void *task_user_regs(void)
{
	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return NULL;
	return (const void *)bpf_task_pt_regs(bpf_get_current_task_btf());
}

#endif
