/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Shows record_vmas.c what the kernel's memory has of its own mappings. Run by
 * BPF_PROG_TEST_RUN; arguments: what is asked (record_vmas.h), and an address. */
#include "bpf/kernel.bpf.h"
#include "record_vmas.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct vma_record);
} found SEC(".maps");

#define READ(to, place) bpf_core_read(&(to), sizeof(to), &(place))

static __always_inline void read_root(struct vma_record *record)
{
	const struct task_struct *task = (const struct task_struct *)bpf_get_current_task();
	const struct mm_struct *mm = NULL;

	READ(mm, task->mm);
	if (bpf_core_field_exists(struct mm_struct, mm_mt)) {
		record->is_maple = 1;
		READ(record->words[0], mm->mm_mt.ma_root);
	} else {
		READ(record->words[0], mm->mm_rb.rb_node);
		record->words[1] = bpf_core_field_offset(struct vm_area_struct, vm_rb);
	}
}

static __always_inline void read_vma(struct vma_record *record, const struct vm_area_struct *vma)
{
	const struct inode *inode = NULL;
	const struct file *file = NULL;

	READ(record->words[VMA_START], vma->vm_start);
	READ(record->words[VMA_END], vma->vm_end);
	READ(record->words[VMA_FLAGS], vma->vm_flags);
	READ(record->words[VMA_PAGE], vma->vm_pgoff);
	record->words[VMA_LEFT] = record->words[VMA_RIGHT] = 0;
	if (bpf_core_field_exists(struct vm_area_struct, vm_rb)) {
		READ(record->words[VMA_LEFT], vma->vm_rb.rb_left);
		READ(record->words[VMA_RIGHT], vma->vm_rb.rb_right);
	}
	READ(file, vma->vm_file);
	record->words[VMA_INODE] = 0;
	if (!file)
		return;
	READ(inode, file->f_inode);
	READ(record->words[VMA_INODE], inode->i_ino);
}

SEC("raw_tp")
int record(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 zero = 0;
	struct vma_record *record = bpf_map_lookup_elem(&found, &zero);
	__u64 address = ctx->args[1];

	if (!record)
		return 1;
	switch (ctx->args[0]) {
	case RECORD_ROOT:
		read_root(record);
		break;
	case RECORD_NODE:
		return bpf_probe_read_kernel(record->words, sizeof(record->words),
					     (const void *)address) < 0;
	default:
		read_vma(record, (const struct vm_area_struct *)address);
	}
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
