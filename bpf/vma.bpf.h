/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Looks up an address in the mappings of the current task, see vma.bpf.c. */
#ifndef BPF_VMA_BPF_H
#define BPF_VMA_BPF_H

#include "bpf/vma_walk.bpf.h"

enum vma_kind {
	VMA_NONE, /* nothing is mapped there, or no code */
	VMA_FILE,
	VMA_VDSO,
	VMA_ANONYMOUS, /* code without a file */
	VMA_BROKEN, /* it could not be told: the mappings change, or are gone */
};

/* Finds the mapping of walk->address in the current task's; `may_be_data` also takes one that is
 * not executable. Returns an enum vma_kind. A function of its own to the verifier. */
int find_vma(__u32 asker, __u32 may_be_data);

#endif
