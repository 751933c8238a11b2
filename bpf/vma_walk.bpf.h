/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The record of a search in the mappings of the current task (vma.bpf.h), which is too large for
 * the stack. */
#ifndef BPF_VMA_WALK_BPF_H
#define BPF_VMA_WALK_BPF_H

#include "bpf/shared/cfi.h"

/* Each asker has a record of its own on each CPU, since the sampler interrupts the agent. */
enum vma_asker {
	VMA_FOR_SAMPLE,
	VMA_FOR_AGENT,
	NR_VMA_ASKERS,
};

#define MAPLE_NODE_WORDS 32

/* A walk through a process's mappings: the input, the position, and the result. */
struct vma_walk {
	__u64 address; /* in */
	__u64 mm; /* whose mappings they are */
	__u64 entry; /* of the tree, to be looked at next; in the end a mapping's */
	__u64 node[MAPLE_NODE_WORDS]; /* the one that is being looked at */

	/* Out: of VMA_FILE, VMA_VDSO and VMA_ANONYMOUS. */
	__u64 start;
	__u64 end;
	__u64 file_offset; /* of `start` */
	struct file_key key; /* of VMA_FILE; of VMA_VDSO all zero */
};

#endif
