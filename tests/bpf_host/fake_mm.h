/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's memory around the mappings of the task that is sampled, for fake_bpf.h: trees of
 * both kinds, made by hand or recorded. fake_bpf_reset() takes it all away. */
#ifndef TESTS_BPF_HOST_FAKE_MM_H
#define TESTS_BPF_HOST_FAKE_MM_H

#include "bpf/vma.bpf.h"

#include <stddef.h>
#include <stdint.h>

#define FAKE_PAGE 4096ULL
#define FAKE_EXEC 4 /* VM_EXEC */
#define FAKE_VDSO 0x7ffff7fc0000ULL /* where the task's is */

enum fake_tree {
	FAKE_MAPLE,
	FAKE_RBTREE,
};

/* Forms of an inode's change time, in the order of the kernel's history. */
enum fake_times {
	FAKE_I_CTIME,
	FAKE_UNDERSCORE_CTIME,
	FAKE_CTIME_SEC,
};

struct fake_vma {
	uint64_t start;
	uint64_t end;
	uint64_t flags;
	uint64_t page; /* of the file */
	uint64_t inode; /* 0: no file */
};

/* A task with an address space; `root` is the tree's root entry, or the root's mapping. */
void fake_mm_set(enum fake_tree kind, uint64_t root);
/* Sets the number of changes of its mappings. */
void fake_mm_set_changes(uint32_t nr);
/* A task with this thread pointer, and no address space. */
void fake_mm_set_thread(uint64_t thread_pointer);
void fake_mm_set_times(enum fake_times times);

/* A node of a maple tree, and entries that lead to one. */
void fake_mm_add_node(uint64_t address, const uint64_t words[static MAPLE_NODE_WORDS]);
uint64_t fake_maple_leaf(uint64_t address);
uint64_t fake_maple_range(uint64_t address);
uint64_t fake_maple_arange(uint64_t address);

/* A mapping of the task, or (`is_foreign`) of another; `left` and `right` are mappings, in an
 * rbtree. */
void fake_mm_add_vma(uint64_t address, const struct fake_vma *vma, uint64_t left, uint64_t right);
void fake_mm_add_foreign_vma(uint64_t address, const struct fake_vma *vma);

/* Returns the key by which mappings know the file of an inode. */
struct file_key fake_file_key(uint64_t inode);

/* Reads a recording of record_vmas.c. */
struct fake_recording {
	struct fake_vma *vmas; /* owned */
	size_t nr_vmas;
};
int fake_mm_load(const char *path, struct fake_recording *ret_recording);

#endif
