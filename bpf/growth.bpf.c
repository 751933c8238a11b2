/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Who makes resident memory grow: shared/growth.h.
 *
 * Attach point: BTF tracepoint rss_stat(mm, member), behind each change of a count of resident
 * pages; mostly in a page fault, with the lock of a page table held. It does not say by how much
 * the count has changed, so the counts of a process before are kept in slots.
 *
 * Since Linux 6.2 a count is a sum: each CPU has a part of its own, and adds it to the common part
 * when it has become large (batches of percpu_counter, lib/percpu_counter.c: 32 pages, or 2 for
 * each CPU). Only the parts of this CPU and the common one are read, as the sum of all would cost
 * too much. Before, each thread has a part, and the tracepoint comes when it is added to the common
 * one: a stack stands for up to 64 page faults there.
 *
 * Maps: growth_slots, growth_cpu_slots, growth_cpus; for what is chosen those of the sampler. */
#include "bpf/distance.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/opts.bpf.h"
#include "bpf/sample.bpf.h"

/* Returns a number that no two memories of processes have; 0: not known. On arm64 it may change,
 * but seldom does. */
static __always_inline __u64 memory_number(struct mm_struct *mm)
{
	if (bpf_core_field_exists(mm->context.ctx_id))
		return READ_KERNEL(mm->context.ctx_id);
	return READ_KERNEL(mm->context.id.counter);
}

static __always_inline bool has_parts_of_cpus(void)
{
	return !bpf_core_type_exists(struct mm_rss_stat);
}

/* Since Linux 6.2. */
static __always_inline const struct percpu_counter *counter_of(struct mm_struct *mm, __u32 member)
{
	const char *first = (const void *)__builtin_preserve_access_index(&mm->rss_stat[0]);

	return (const void *)(first + member * bpf_core_type_size(struct percpu_counter));
}

static __always_inline __s64 common_pages(struct mm_struct *mm, __u32 member)
{
	struct mm_struct___before_6_2 *old = (void *)mm;
	const char *first;
	__s64 pages = 0;

	if (has_parts_of_cpus()) {
		bpf_core_read(&pages, sizeof(pages), &counter_of(mm, member)->count);
	} else {
		first = (const void *)__builtin_preserve_access_index(&old->rss_stat.count[0]);
		bpf_probe_read_kernel(&pages, sizeof(pages), first + member * sizeof(pages));
	}
	return pages;
}

/* Returns how far the variables of this CPU are from their common addresses, which a map tells that
 * has a value for each CPU. The verifier knows where pointers point to, so they become numbers by
 * way of memory. Symbols would tell as well, but many kernels list no variables
 * (CONFIG_KALLSYMS_ALL). */
static __always_inline __u64 get_cpu_offset(void)
{
	__u32 zero = 0, place = bpf_core_field_offset(struct bpf_array, pptrs);
	volatile struct growth_cpu *cpu = bpf_map_lookup_elem(&growth_cpus, &zero);
	__u64 common = 0;

	if (!cpu || cpu->offset != 0)
		return cpu ? cpu->offset : 0;
	cpu->map = (__u64)&growth_cpus;
	cpu->value = (__u64)cpu;
	bpf_probe_read_kernel(&common, sizeof(common), (const void *)(cpu->map + place));
	cpu->offset = cpu->value - common;
	return cpu->offset;
}

/* Returns the address of this CPU's part of a count. */
static __always_inline __u64 place_of_cpu(struct mm_struct *mm, __u32 member)
{
	__s32 *counters = NULL;

	bpf_core_read(&counters, sizeof(counters), &counter_of(mm, member)->counters);
	return (__u64)counters + get_cpu_offset();
}

static __always_inline __s32 pages_at(__u64 place)
{
	__s32 pages = 0;

	bpf_probe_read_kernel(&pages, sizeof(pages), (const void *)place);
	return pages;
}

/* Returns the change of the common part since the process was seen last on any CPU; 0 if it was
 * not. If two CPUs ask at the same time, one of them gets the other's change as well. */
static __always_inline __s64 common_change(struct mm_struct *mm, __u64 number, __u32 member)
{
	__u32 index = number & (GROWTH_SLOTS - 1);
	struct growth_slot *slot = bpf_map_lookup_elem(&growth_slots, &index);
	__s64 before, now = common_pages(mm, member);

	if (!slot)
		return 0;
	if (slot->number != number) {
		slot->number = number;
		for (__u32 i = 0; i < GROWN_NR; i++)
			slot->pages[i] = common_pages(mm, i);
		return 0;
	}
	before = slot->pages[member];
	slot->pages[member] = now;
	return now - before;
}

/* Remembers a process that this CPU has not seen, or has forgotten. The change was most likely that
 * of one page. */
static __always_inline __s64 meet(struct mm_struct *mm, __u64 number, __u32 member,
				  struct growth_cpu_slot *slot)
{
	__s64 common = common_change(mm, number, member);

	slot->number = number;
	slot->line.distance = 0;
	if (!has_parts_of_cpus())
		return common;
	for (__u32 i = 0; i < GROWN_NR; i++) {
		slot->places[i] = place_of_cpu(mm, i);
		slot->pages[i] = pages_at(slot->places[i]);
	}
	if (slot->pages[member] == 0 && common > 0)
		return common;
	return slot->pages[member] > 0;
}

/* Notes that another process has changed the count of one that this CPU has not seen. */
static __always_inline void pass_over(struct mm_struct *mm, __u64 number, __u32 member)
{
	if (!has_parts_of_cpus() || pages_at(place_of_cpu(mm, member)) == 0)
		(void)common_change(mm, number, member);
}

/* Returns by how many pages a count has changed. */
static __always_inline __s64 change(struct mm_struct *mm, __u64 number, __u32 member,
				    struct growth_cpu_slot *slot)
{
	__s32 before, now;

	if (slot->number != number)
		return meet(mm, number, member, slot);
	if (!has_parts_of_cpus())
		return common_change(mm, number, member);
	before = slot->pages[member];
	now = pages_at(slot->places[member]);
	slot->pages[member] = now;
	return now == 0 ? common_change(mm, number, member) - before : now - before;
}

static __always_inline void send_growth(struct task_struct *task, __u32 member, __u64 bytes)
{
	struct scratch *scratch = get_scratch();
	struct sample_event *event;

	if (!scratch || !cgroup_is_wanted(task))
		return;
	event = &scratch->event;
	read_task(task, event);
	if (!sample_is_wanted(event))
		return;
	event->kind = RECORD_GROWTH;
	event->grown_memory = (__u8)member;
	event->grown_bytes = bytes;
	event->nr_kernel = 0; /* its frames say only that there was a page fault, or which call */
	read_saved_user_stack(task, scratch);
	if (output_event(event, scratch->unwind.asks || must_be_read_soon(scratch)) < 0)
		stat_add(STAT_GROWTH_LOST);
	else
		stat_add(STAT_GROWTH_SENT);
}

/* Sends what is chosen, unless something else on this CPU is being unwound: newer kernels may
 * preempt that. */
static __always_inline void choose(struct task_struct *task, __u32 member,
				   struct growth_cpu_slot *slot, __u64 bytes)
{
	__u64 chosen = count_bytes(&slot->line, bytes, growth_mean_bytes);
	struct off_cpu_turn *turn;

	if (chosen == 0)
		return;
	turn = get_turn();
	if (!turn)
		return;
	if (turn->is_unwinding) {
		stat_add(STAT_GROWTH_LOST);
		return;
	}
	turn->is_unwinding = true;
	send_growth(task, member, chosen);
	turn->is_unwinding = false;
}

SEC("tp_btf/rss_stat")
int BPF_PROG(growth, struct mm_struct *mm, int member)
{
	__u64 number = memory_number(mm);
	__u32 memory = (__u32)member, index = number & (GROWTH_CPU_SLOTS - 1);
	struct growth_cpu_slot *slot = bpf_map_lookup_elem(&growth_cpu_slots, &index);
	struct task_struct *task = current_task();
	bool is_own = READ_KERNEL(task->mm) == mm;
	__s64 pages;

	(void)ctx;
	if (!slot || number == 0 || memory >= GROWN_NR)
		return 0;
	barrier_var(memory);
	memory &= GROWN_NR - 1; /* for the verifier */
	if (!is_own && slot->number != number) {
		pass_over(mm, number, memory);
		return 0;
	}
	pages = change(mm, number, memory, slot);
	if (pages <= 0 || memory == GROWN_SWAPPED || !is_own ||
	    READ_KERNEL(task->flags) & PF_EXITING)
		return 0;
	choose(task, memory, slot, (__u64)pages * page_bytes);
	return 0;
}
