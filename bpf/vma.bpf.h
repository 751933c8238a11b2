/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Looking up an address in the mappings of the current task. How it is done: vma.bpf.c. */
#ifndef BPF_VMA_BPF_H
#define BPF_VMA_BPF_H

#include "bpf/shared/cfi.h"

/* Who looks: each has a record of its own on each CPU, since the sampler interrupts the agent. */
enum vma_asker {
	VMA_FOR_SAMPLE,
	VMA_FOR_AGENT,
	NR_VMA_ASKERS,
};

enum vma_kind {
	VMA_NONE, /* nothing is mapped there, or no code */
	VMA_FILE,
	VMA_VDSO,
	VMA_ANONYMOUS, /* code without a file */
	VMA_BROKEN, /* it could not be told: the mappings change, or are gone */
};

#define MAPLE_NODE_WORDS 32

/* A walk through a process's mappings: what is asked, where it is, and what it found. */
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

/* Finds the mapping of walk->address in the current task's; `may_be_data` also takes one that is not executable. Returns an
 * enum vma_kind. A function of its own to the verifier. */
int find_vma(__u32 asker, __u32 may_be_data);

#endif
