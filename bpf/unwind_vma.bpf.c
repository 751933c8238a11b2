/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Finds the range of a frame where no mapping table has it: in the task's own mappings, and by
 * what they say of the file, in `files`. So a process is unwound before the agent knows it, if
 * its files are known from others. And compares ranges of tables with them, once after each
 * change.
 *
 * Called by unwind_lookup.bpf.c, on this CPU's scratch record.
 * Maps: scratch_of_cpu, vma_walks, files.
 * Limits: MAX_WALKS for each stack. */
#include "bpf/maps.bpf.h"
#include "bpf/unwind.bpf.h"
#include "bpf/vma.bpf.h"

#define READ(to, place) bpf_core_read(&(to), sizeof(to), &(place))

#define MAX_WALKS 128 /* of 0.3 us each */

static __always_inline void set_range_of_task(struct unwind_state *state,
					      const struct vma_walk *walk)
{
	state->range_start = walk->start;
	state->range_end = walk->end;
	state->range = (struct mapping_range){ .bias = walk->start - walk->file_offset };
	state->origin = RANGE_OF_TASK;
}

/* A range of its own, so that the next address is looked up again. What a table does not have is
 * a hole in it. */
static __always_inline void set_unknown(struct unwind_state *state, int kind)
{
	bool is_hole = state->mapping_table != 0 || kind == VMA_NONE;

	state->range_start = code_address(state);
	state->range_end = state->range_start + 1;
	state->range = (struct mapping_range){ .is_hole = is_hole };
	state->origin = is_hole ? RANGE_OF_TASK : RANGE_UNKNOWN;
	state->lacks_file = kind == VMA_FILE;
}

__noinline int find_range_of_task(void)
{
	struct scratch *scratch = get_scratch();
	struct vma_walk *walk = get_walk(VMA_FOR_SAMPLE);
	const __u32 *slot;
	int kind;

	if (!scratch || !walk)
		return UNWIND_BAD_TABLE;
	struct unwind_state *state = &scratch->unwind;
	if (state->nr_walks >= MAX_WALKS) {
		set_unknown(state, VMA_BROKEN);
		return GOES_ON;
	}
	state->nr_walks++;
	walk->address = code_address(state);
	kind = find_vma(VMA_FOR_SAMPLE, false);
	if (kind == VMA_NONE || kind == VMA_BROKEN) {
		set_unknown(state, kind);
		return GOES_ON;
	}
	set_range_of_task(state, walk);
	if (kind == VMA_ANONYMOUS)
		return GOES_ON;
	slot = bpf_map_lookup_elem(&files, &walk->key);
	if (slot)
		state->range.slot = *slot;
	else
		set_unknown(state, kind);
	return GOES_ON;
}

/* Returns a number that changes with the mappings. Between 6.0 and 6.4 the kernel counts no
 * changes: then it is made from the number and size of the mappings. */
static __always_inline __u32 count_changes(const struct mm_struct *mm)
{
	const struct mm_struct___seqcount *mm_seqcount = (const void *)mm;
	const struct mm_struct___int *mm_int = (const void *)mm;
	__u64 nr_code_pages = 0, nr_unmapped = 0;
	__u32 nr = 0;

	if (bpf_core_field_exists(struct mm_struct___seqcount, mm_lock_seq.sequence)) {
		READ(nr, mm_seqcount->mm_lock_seq.sequence);
	} else if (bpf_core_field_exists(struct mm_struct___int, mm_lock_seq)) {
		READ(nr, mm_int->mm_lock_seq);
	} else if (bpf_core_field_exists(struct mm_struct, vmacache_seqnum)) {
		READ(nr_unmapped, mm->vmacache_seqnum);
		nr = (__u32)nr_unmapped;
	} else {
		READ(nr_code_pages, mm->exec_vm);
		READ(nr, mm->map_count);
		nr += (__u32)nr_code_pages << 12;
	}
	return nr;
}

/* Lists are shared by processes: the number is the address space's own as well. */
__noinline int find_mappings(void)
{
	const struct task_struct *task = (const struct task_struct *)bpf_get_current_task();
	struct scratch *scratch = get_scratch();
	__u64 mm = 0;

	if (!scratch)
		return UNWIND_BAD_TABLE;
	READ(mm, task->mm);
	if (mm)
		scratch->unwind.mappings = mm << 26 | 1ULL << 32 | count_changes((const void *)mm);
	return GOES_ON;
}

/* A file may have two slots, as one that was seen by two names: then these have one table. */
static __always_inline bool have_same_table(__u32 slot, __u32 other)
{
	const struct table_slot *table, *other_table;

	if (slot == other)
		return true;
	table = bpf_map_lookup_elem(&tables, &slot);
	other_table = bpf_map_lookup_elem(&tables, &other);
	return table && other_table && table->unit == other_table->unit;
}

/* Returns whether the table agrees with the mapping that was found. It does if the file is not
 * known. */
static __always_inline bool is_as_in_table(const struct unwind_state *state,
					   const struct vma_walk *walk, int kind)
{
	const __u32 *slot;

	if (kind == VMA_BROKEN)
		return true;
	if (kind != VMA_FILE && kind != VMA_VDSO)
		return false;
	slot = bpf_map_lookup_elem(&files, &walk->key);
	return !slot || (have_same_table(*slot, state->range.slot) &&
			 walk->start - walk->file_offset == state->range.bias);
}

__noinline int check_range(void)
{
	struct scratch *scratch = get_scratch();
	struct vma_walk *walk = get_walk(VMA_FOR_SAMPLE);
	struct mapping_range *range;

	if (!scratch || !walk)
		return UNWIND_BAD_TABLE;
	struct unwind_state *state = &scratch->unwind;
	if (state->nr_walks >= MAX_WALKS)
		return GOES_ON;
	state->nr_walks++;
	walk->address = code_address(state);
	if (!is_as_in_table(state, walk, find_vma(VMA_FOR_SAMPLE, false))) {
		state->range.is_hole = 1;
		return GOES_ON;
	}
	range = (struct mapping_range *)arena_at(
		state->mapping_table, state->ranges_offset + (state->low - 1) * sizeof(*range), 32);
	if (range)
		range->checked_by = state->mappings;
	return GOES_ON;
}
