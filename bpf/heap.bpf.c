/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Allocations of programs, as they tell of them: shared/heap.h.
 *
 * Attach points: uprobes on USDT probes, of all processes that map the file. The thread has entered
 * the kernel by a trap, so its registers are where those of a system call are.
 * Maps: those of the sampler. */
#include "bpf/filter.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/opts.bpf.h"
#include "bpf/sample.bpf.h"

/* Since Linux 5.15; the agent attaches only probes with the usual arguments before. */
static __always_inline __u64 arguments_of(void *ctx)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_attach_cookie))
		return bpf_get_attach_cookie(ctx);
	return HEAP_USUAL_ARGUMENTS;
}

/* Returns an argument of the probe; 0 if it cannot be read. */
static __always_inline __u64 read_argument(struct task_struct *task, __u64 arguments, int number)
{
	__u32 argument = arguments >> (HEAP_ARGUMENT_BITS * number);
	__u32 word = argument & ((1 << HEAP_REGISTER_BITS) - 1);
	__u64 value = 0;
	__s64 offset = argument >> HEAP_OFFSET_SHIFT & (2 * HEAP_OFFSET_BIAS - 1);

	(void)bpf_probe_read_kernel(&value, sizeof(value),
				    (const char *)task_user_regs(task) + 8 * word);
	if (argument & HEAP_IN_MEMORY) {
		__u64 address = value + offset - HEAP_OFFSET_BIAS;

		value = 0;
		(void)bpf_probe_read_user(&value, sizeof(value), (const void *)address);
	}
	return argument & HEAP_IS_SHORT ? (__u32)value : value;
}

static __always_inline bool is_chosen(__u64 interval)
{
	return interval <= 1 || bpf_get_prandom_u32() < (1ULL << 32) / interval;
}

/* `interval` is the one by which the call was chosen: the agent may have changed heap_interval
 * since then. */
static __always_inline void send_alloc(struct task_struct *task, __u64 arguments, __u64 interval)
{
	struct scratch *scratch = get_scratch();
	struct sample_event *event;

	if (!scratch || !cgroup_is_wanted(task))
		return;
	event = &scratch->event;
	read_task(task, event);
	if (!sample_is_wanted(event))
		return;
	event->kind = RECORD_ALLOC;
	event->address = read_argument(task, arguments, 0);
	event->alloc_bytes = read_argument(task, arguments, 1);
	event->grown_bytes = read_argument(task, arguments, 2);
	if (event->grown_bytes > HEAP_MAX_WEIGHT) {
		stat_add(STAT_ALLOC_TOO_LARGE);
		return;
	}
	event->grown_bytes *= interval;
	event->nr_kernel = 0;
	read_saved_user_stack(task, scratch);
	if (output_event(event, scratch->unwind.asks || must_be_read_soon(scratch)) < 0)
		stat_add(STAT_ALLOC_LOST);
	else
		stat_add(STAT_ALLOC_SENT);
}

SEC("uprobe")
int heap_alloc(struct pt_regs *ctx)
{
	__u64 interval = heap_interval;
	struct off_cpu_turn *turn;

	if (!is_chosen(interval))
		return 0;
	turn = get_turn();
	if (!turn)
		return 0;
	if (turn->is_unwinding) { /* preempted, which newer kernels do */
		stat_add(STAT_ALLOC_LOST);
		return 0;
	}
	turn->is_unwinding = true;
	send_alloc(current_task(), arguments_of(ctx), interval);
	turn->is_unwinding = false;
	return 0;
}

/* The record is small, and made in place: it must not be lost because another thread was preempted
 * while it used the CPU's record. */
SEC("uprobe")
int heap_free(struct pt_regs *ctx)
{
	struct task_struct *task = current_task();
	struct task_struct *leader = READ_KERNEL(task->group_leader);
	__u64 header[EVENT_HEADER_BYTES / sizeof(__u64)] = { 0 };
	struct sample_event *event = (struct sample_event *)header;

	event->time_ns = bpf_ktime_get_ns();
	event->start_ns = READ_KERNEL(leader->start_boottime);
	event->pid = bpf_get_current_pid_tgid() >> 32;
	event->kind = RECORD_FREE;
	event->address = read_argument(task, arguments_of(ctx), 0);
	if (filter_by_pid && !bpf_map_lookup_elem(&filter_pids, &event->pid))
		return 0;
	if (output_record(event, sizeof(header), BPF_RB_NO_WAKEUP) < 0)
		stat_add(STAT_FREE_LOST);
	return 0;
}
