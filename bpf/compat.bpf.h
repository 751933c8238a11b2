/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Kernel drift: one place for each thing that kernels do differently. What the running kernel
 * offers decides, not its version: libbpf replaces the questions by their answers (CO-RE), and
 * the verifier drops what is behind a "no". */
#ifndef BPF_COMPAT_BPF_H
#define BPF_COMPAT_BPF_H

#include "bpf/arch.bpf.h"
#include "bpf/opts.bpf.h"

/* Returns whether pointers to objects of the kernel have a type, so that programs read through
 * them as C does. The first of them comes from bpf_get_current_task_btf(), since Linux 5.11
 * (kernel commit 3ca1032ab7ab). */
static __always_inline bool has_typed_pointers(void)
{
	return bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf);
}

static __always_inline struct task_struct *current_task(void)
{
	if (has_typed_pointers())
		return bpf_get_current_task_btf();
	return (struct task_struct *)bpf_get_current_task();
}

/* The value of task->pid and the like: a load, or a helper's call. The barriers keep the
 * compiler from making one load of both, which would cost those that have types a few
 * instructions. */
#define READ_KERNEL(place)                                                                         \
	({                                                                                         \
		typeof(place) value_;                                                              \
		if (has_typed_pointers()) {                                                        \
			value_ = (place);                                                          \
		} else {                                                                           \
			barrier();                                                                 \
			bpf_probe_read_kernel(&value_, sizeof(value_), &(place));                  \
			barrier_var(value_);                                                       \
		}                                                                                  \
		value_;                                                                            \
	})

/* The user registers of a task that is in the kernel: where it entered, at the top of its kernel
 * stack. bpf_task_pt_regs() is there since Linux 5.15 (kernel commit dd6e10fbd9fb). */
static __always_inline const void *task_user_regs(struct task_struct *task)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return (const void *)bpf_task_pt_regs(task);
	return (const char *)READ_KERNEL(task->stack) + thread_size -
	       bpf_core_type_size(struct pt_regs___kernel);
}

#endif
