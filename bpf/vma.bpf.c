/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Looks up an address in the mappings (VMAs) of the current task: a search tree in the kernel's
 * memory, by the mapping's addresses, of which there are two kinds:
 *
 *	maple tree	mm->mm_mt, from Linux 6.1 on: nodes of 256 bytes with 10 or 16 entries each
 *	rbtree		mm->mm_rb, before: the mappings are the nodes
 *
 * No lock is taken: other threads may change the tree while it is read, and this task itself may
 * have been interrupted in the middle of a change. So every step is bounded, every read may
 * fail, and nothing on the way counts: what is found must be a mapping of this very address
 * space that holds the address. That can be missed (VMA_BROKEN, VMA_NONE), and is found again by
 * the next sample.
 *
 * Maps: vma_walks.
 * Limits: MAX_MAPLE_LEVELS, MAX_RB_LEVELS. */
#include "bpf/maps.bpf.h"
#include "bpf/opts.bpf.h"
#include "bpf/vma.bpf.h"

#define VM_EXEC 0x00000004

/* include/linux/maple_tree.h, lib/maple_tree.c. An entry that leads to a node has the node's
 * type in it; nodes are aligned to their size. */
#define MAPLE_NODE_MASK 255ULL
#define MAPLE_NODE_TYPE(entry) ((__u32)((entry) >> 3) & 15)
#define MAPLE_IS_NODE(entry) (((entry)&3) == 2 && (entry) > 4096) /* of the root only */
#define MAPLE_MAX_PIVOTS 15

#define MAX_MAPLE_LEVELS 8 /* of at least 5 entries each, where there are 65530 mappings at most */
#define MAX_RB_LEVELS 40

/* The flag that inode.i_ctime_nsec has as well since 6.13, and room for another. */
#define NSEC_MASK 0x3fffffff

#define READ(to, place) (bpf_core_read(&(to), sizeof(to), &(place)) == 0)

enum search_result {
	SEARCH_FAILED,
	SEARCH_GOES_ON, /* walk->entry is a node's */
	SEARCH_ENDED, /* walk->entry is a mapping's, or 0 */
};

/* Words of pivots and slots, from the node's beginning. */
struct maple_layout {
	__u32 pivots;
	__u32 nr_pivots;
	__u32 slots;
};

static __always_inline struct maple_layout maple_layout_of(__u32 type)
{
	if (type == bpf_core_enum_value(enum maple_type, maple_arange_64))
		return (struct maple_layout){
			bpf_core_field_offset(struct maple_arange_64, pivot) / 8,
			bpf_core_field_size(struct maple_arange_64, pivot) / 8,
			bpf_core_field_offset(struct maple_arange_64, slot) / 8,
		};
	return (struct maple_layout){
		bpf_core_field_offset(struct maple_range_64, pivot) / 8,
		bpf_core_field_size(struct maple_range_64, pivot) / 8,
		bpf_core_field_offset(struct maple_range_64, slot) / 8,
	};
}

/* The entry of a node that holds the address: the first one whose pivot is not below it. A pivot
 * of 0 ends them. */
static __always_inline __u64 find_entry(const struct vma_walk *walk, __u32 type)
{
	struct maple_layout layout = maple_layout_of(type);
	__u32 i;

	for (i = 0; i < MAPLE_MAX_PIVOTS && i < layout.nr_pivots; i++) {
		__u64 pivot = walk->node[(layout.pivots + i) % MAPLE_NODE_WORDS];

		if (pivot >= walk->address || (pivot == 0 && i > 0))
			break;
	}
	return walk->node[(layout.slots + i) % MAPLE_NODE_WORDS];
}

/* Functions that nobody calls are verified all the same: those that read what a kernel does not
 * have say so first. */
static __always_inline bool has_maple_tree(void)
{
	return bpf_core_field_exists(struct mm_struct, mm_mt);
}

/* A step down the maple tree, from walk->entry. A node that was taken out of the tree is its own
 * parent. */
__noinline int search_maple_node(__u32 asker)
{
	struct vma_walk *walk = get_walk(asker);
	__u64 node;
	__u32 type;

	if (!has_maple_tree() || !walk)
		return SEARCH_FAILED;
	node = walk->entry & ~MAPLE_NODE_MASK;
	type = MAPLE_NODE_TYPE(walk->entry);
	if (bpf_probe_read_kernel(walk->node, sizeof(walk->node), (const void *)node) < 0)
		return SEARCH_FAILED;
	if ((walk->node[0] & ~MAPLE_NODE_MASK) == node)
		return SEARCH_FAILED;
	if (type == bpf_core_enum_value(enum maple_type, maple_range_64) ||
	    type == bpf_core_enum_value(enum maple_type, maple_arange_64)) {
		walk->entry = find_entry(walk, type);
		return SEARCH_GOES_ON;
	}
	if (type != bpf_core_enum_value(enum maple_type, maple_leaf_64))
		return SEARCH_FAILED;
	walk->entry = find_entry(walk, type);
	return SEARCH_ENDED;
}

static __always_inline int search_maple_tree(struct vma_walk *walk, __u32 asker)
{
	const struct mm_struct *mm = (const struct mm_struct *)walk->mm;
	int result = SEARCH_GOES_ON;

	if (!READ(walk->entry, mm->mm_mt.ma_root) || !MAPLE_IS_NODE(walk->entry))
		return SEARCH_FAILED;
	for (int i = 0; i < MAX_MAPLE_LEVELS && result == SEARCH_GOES_ON; i++)
		result = search_maple_node(asker);
	return result;
}

/* A step down the rbtree: walk->entry is a node in a mapping, and then one of its children or
 * the mapping. */
__noinline int search_rb_node(__u32 asker)
{
	struct vma_walk *walk = get_walk(asker);
	const struct vm_area_struct *vma;
	__u64 start, end;

	if (has_maple_tree() || !walk)
		return SEARCH_FAILED;
	vma = (const void *)(walk->entry - bpf_core_field_offset(struct vm_area_struct, vm_rb));
	if (!READ(start, vma->vm_start) || !READ(end, vma->vm_end))
		return SEARCH_FAILED;
	if (walk->address < start)
		return READ(walk->entry, vma->vm_rb.rb_left) ? SEARCH_GOES_ON : SEARCH_FAILED;
	if (walk->address >= end)
		return READ(walk->entry, vma->vm_rb.rb_right) ? SEARCH_GOES_ON : SEARCH_FAILED;
	walk->entry = (__u64)vma;
	return SEARCH_ENDED;
}

static __always_inline int search_rb_tree(struct vma_walk *walk, __u32 asker)
{
	const struct mm_struct *mm = (const struct mm_struct *)walk->mm;
	int result = SEARCH_GOES_ON;

	if (!READ(walk->entry, mm->mm_rb.rb_node))
		return SEARCH_FAILED;
	for (int i = 0; i < MAX_RB_LEVELS && result == SEARCH_GOES_ON; i++)
		result = walk->entry == 0 ? SEARCH_ENDED : search_rb_node(asker);
	return result;
}

static __always_inline bool read_change_time(const struct inode *inode, struct file_key *key)
{
	struct timespec64 time;

	if (bpf_core_field_exists(struct inode, i_ctime_sec)) {
		if (!READ(key->ctime_s, inode->i_ctime_sec) ||
		    !READ(key->ctime_ns, inode->i_ctime_nsec))
			return false;
		key->ctime_ns &= NSEC_MASK;
		return true;
	}
	if (bpf_core_field_exists(struct inode, __i_ctime)) {
		if (!READ(time, inode->__i_ctime))
			return false;
	} else if (!READ(time, inode->i_ctime)) {
		return false;
	}
	key->ctime_s = time.tv_sec;
	key->ctime_ns = (__u32)time.tv_nsec & NSEC_MASK;
	return true;
}

/* Pointers are read as numbers. */
static __always_inline int read_file(struct vma_walk *walk, const struct file *file)
{
	const struct inode *inode;
	__u64 inode_at, super_at;

	if (!READ(inode_at, file->f_inode))
		return VMA_BROKEN;
	inode = (const struct inode *)inode_at;
	if (!READ(super_at, inode->i_sb) || !READ(walk->key.inode, inode->i_ino) ||
	    !READ(walk->key.generation, inode->i_generation) ||
	    !READ(walk->key.device, ((const struct super_block *)super_at)->s_dev) ||
	    !read_change_time(inode, &walk->key))
		return VMA_BROKEN;
	return VMA_FILE;
}

static __always_inline int read_anonymous(const struct vma_walk *walk)
{
	const struct mm_struct *mm = (const struct mm_struct *)walk->mm;
	__u64 vdso = 0;

	if (bpf_core_field_exists(struct mm_struct, context.vdso) && READ(vdso, mm->context.vdso) &&
	    vdso == walk->start)
		return VMA_VDSO;
	return VMA_ANONYMOUS;
}

/* Reads the mapping at walk->entry, if it is the one that was looked for. */
static __always_inline int read_vma(struct vma_walk *walk, __u32 may_be_data)
{
	const struct vm_area_struct *vma = (const void *)walk->entry;
	__u64 mm, flags, page, file;

	if (!READ(mm, vma->vm_mm) || !READ(walk->start, vma->vm_start) ||
	    !READ(walk->end, vma->vm_end) || !READ(flags, vma->vm_flags) ||
	    !READ(page, vma->vm_pgoff) || !READ(file, vma->vm_file))
		return VMA_BROKEN;
	if (mm != walk->mm || walk->address < walk->start || walk->address >= walk->end)
		return VMA_BROKEN;
	if (!may_be_data && !(flags & VM_EXEC))
		return VMA_NONE;
	walk->key = (struct file_key){ 0 };
	walk->file_offset = file ? page * page_bytes : 0;
	return file ? read_file(walk, (const struct file *)file) : read_anonymous(walk);
}

__noinline int find_vma(__u32 asker, __u32 may_be_data)
{
	const struct task_struct *task = (const struct task_struct *)bpf_get_current_task();
	struct vma_walk *walk = get_walk(asker);
	int result;

	if (!walk || !READ(walk->mm, task->mm) || walk->mm == 0)
		return VMA_BROKEN;
	if (has_maple_tree())
		result = search_maple_tree(walk, asker);
	else
		result = search_rb_tree(walk, asker);
	if (result != SEARCH_ENDED)
		return VMA_BROKEN;
	return walk->entry == 0 ? VMA_NONE : read_vma(walk, may_be_data);
}
