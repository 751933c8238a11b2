/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Requests of record_vmas.c, and the answers of record_vmas.bpf.c. */
#ifndef TESTS_BPF_HOST_RECORD_VMAS_H
#define TESTS_BPF_HOST_RECORD_VMAS_H

#include <linux/types.h>

enum vma_question {
	RECORD_ROOT, /* words[0]; of an rbtree words[1] is where a node is in a mapping */
	RECORD_NODE, /* of a maple tree */
	RECORD_VMA, /* words by enum vma_word */
};

enum vma_word {
	VMA_START,
	VMA_END,
	VMA_FLAGS,
	VMA_PAGE,
	VMA_INODE,
	VMA_LEFT,
	VMA_RIGHT,
};

struct vma_record {
	__u64 words[32];
	__u64 is_maple;
};

#endif
