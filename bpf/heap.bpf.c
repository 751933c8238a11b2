/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Allocations of programs, as they tell of them, or as they call their allocator: shared/heap.h.
 *
 * Attach points: uprobes on USDT probes, of all processes that map the file; and on functions of
 * allocators, of chosen processes. The thread has entered the kernel by a trap, so its registers
 * are where those of a system call are.
 * Maps: heap_cpus, and those of the sampler. */
#include "bpf/distance.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/opts.bpf.h"
#include "bpf/sample.bpf.h"

#define INNER_BYTES 512 /* of the stack: the frame of a function that calls another one */

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

static __always_inline void send_alloc(struct task_struct *task,
				       const struct heap_allocation *allocation)
{
	struct scratch *scratch = get_scratch();
	struct sample_event *event;

	if (!scratch || !cgroup_is_wanted(task))
		return;
	event = &scratch->event;
	read_task(task, event);
	if (!sample_is_wanted(event))
		return;
	if (allocation->weight > HEAP_MAX_WEIGHT) {
		stat_add(STAT_ALLOC_TOO_LARGE);
		return;
	}
	event->kind = RECORD_ALLOC;
	event->address = allocation->address;
	event->alloc_bytes = allocation->bytes;
	event->grown_bytes = allocation->weight * allocation->interval;
	event->nr_kernel = 0;
	read_saved_user_stack(task, scratch);
	if (output_event(event, scratch->unwind.asks || must_be_read_soon(scratch)) < 0)
		stat_add(STAT_ALLOC_LOST);
	else
		stat_add(STAT_ALLOC_SENT);
}

static __always_inline struct heap_cpu *get_heap_cpu(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&heap_cpus, &zero);
}

/* Returns whether the CPU's record may be used: not if something else on this CPU is being unwound,
 * which newer kernels may preempt. */
static __always_inline bool take_turn(struct off_cpu_turn *turn)
{
	if (turn->is_unwinding) {
		stat_add(STAT_ALLOC_LOST);
		return false;
	}
	turn->is_unwinding = true;
	return true;
}

SEC("uprobe")
int heap_alloc(struct pt_regs *ctx)
{
	/* The one by which the call is chosen: the agent may change heap_interval meanwhile. */
	__u64 interval = heap_interval, arguments;
	struct off_cpu_turn *turn = get_turn();
	struct heap_cpu *cpu = get_heap_cpu();
	struct task_struct *task;

	if (!turn || !cpu || !is_chosen(interval) || !take_turn(turn))
		return 0;
	task = current_task();
	arguments = arguments_of(ctx);
	cpu->chosen.address = read_argument(task, arguments, 0);
	cpu->chosen.bytes = read_argument(task, arguments, 1);
	cpu->chosen.weight = read_argument(task, arguments, 2);
	cpu->chosen.interval = interval;
	send_alloc(task, &cpu->chosen);
	turn->is_unwinding = false;
	return 0;
}

/* Calls of functions. */

static __always_inline __u64 read_size(struct task_struct *task, __u64 arguments)
{
	__u64 size = read_argument(task, arguments, 0);
	__u64 factor = arguments & HEAP_HAS_FACTOR ? read_argument(task, arguments, 1) : 1;

	if (size > HEAP_MAX_CALL_BYTES || factor > HEAP_MAX_CALL_BYTES)
		return 0;
	size *= factor;
	return size > HEAP_MAX_CALL_BYTES ? 0 : size;
}

/* Returns where a function that begins now will return to; 0 if it cannot be read. */
static __always_inline __u64 read_return_address(const bpf_user_pt_regs_t *regs, __u64 sp)
{
	__u64 address = 0;

#if CFI_IS_ARM64
	(void)sp;
	(void)bpf_probe_read_kernel(&address, sizeof(address), &PT_REGS_RET(regs));
#else
	(void)regs;
	(void)bpf_probe_read_user(&address, sizeof(address), (const void *)sp);
#endif
	return address;
}

static __always_inline void read_caller(struct task_struct *task, __u64 size,
					struct heap_caller *ret_caller)
{
	const bpf_user_pt_regs_t *regs = task_user_regs(task);

	*ret_caller = (struct heap_caller){ .size = size,
					    .tid = (__u32)bpf_get_current_pid_tgid() };
	(void)bpf_probe_read_kernel(&ret_caller->ip, sizeof(__u64), &PT_REGS_IP(regs));
	(void)bpf_probe_read_kernel(&ret_caller->sp, sizeof(__u64), &PT_REGS_SP(regs));
	ret_caller->return_address = read_return_address(regs, ret_caller->sp);
}

/* Returns whether a function of the allocator has called another one, as realloc(NULL, size) may
 * call malloc(size): the frame is right below that of the call before, or has taken its place. */
static __always_inline bool is_inner_call(const struct heap_caller *caller,
					  const struct heap_caller *last)
{
	__u64 below = last->sp - caller->sp;

	if (caller->tid != last->tid || caller->size != last->size || caller->ip == last->ip)
		return false;
	return below == 0 ? caller->return_address == last->return_address : below < INNER_BYTES;
}

/* Counts a call. Returns the bytes that it stands for; 0: it is not chosen. */
static __always_inline __u64 count_call(struct task_struct *task, struct heap_cpu *cpu, __u64 size,
					__u64 arguments)
{
	struct heap_caller caller;
	bool is_inner;

	read_caller(task, size, &caller);
	is_inner = is_inner_call(&caller, &cpu->last);
	cpu->last = caller;
	cpu->counts.nr++;
	cpu->counts.nr_slow += (arguments & HEAP_IS_SLOW) != 0;
	if (is_inner || arguments & HEAP_IS_TRIAL)
		return 0;
	cpu->counts.bytes += size;
	return count_bytes(&cpu->line, size, heap_window[HEAP_WINDOW_MEAN_BYTES]) *
	       heap_window[HEAP_WINDOW_SCALE] / HEAP_SCALE_ONE;
}

static __always_inline void send_call(struct task_struct *task, struct heap_cpu *cpu, __u64 size,
				      __u64 weight)
{
	struct off_cpu_turn *turn = get_turn();
	__u64 begin_ns = bpf_ktime_get_ns();

	if (!turn || !take_turn(turn))
		return;
	cpu->chosen.address = 0;
	cpu->chosen.bytes = size;
	cpu->chosen.weight = weight;
	cpu->chosen.interval = 1;
	send_alloc(task, &cpu->chosen);
	turn->is_unwinding = false;
	cpu->counts.stacks_ns += bpf_ktime_get_ns() - begin_ns;
}

SEC("uprobe")
int heap_call(struct pt_regs *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	struct heap_cpu *cpu = get_heap_cpu();
	struct task_struct *task;
	__u64 arguments, size, weight;

	if (!cpu || now < heap_window[HEAP_WINDOW_FROM_NS] ||
	    now >= heap_window[HEAP_WINDOW_UNTIL_NS])
		return 0;
	arguments = arguments_of(ctx);
	if (filter_by_pid && !bpf_map_lookup_elem(&filter_pids, &pid) &&
	    !(arguments & HEAP_IS_TRIAL))
		return 0;
	task = current_task();
	size = read_size(task, arguments);
	weight = size > 0 ? count_call(task, cpu, size, arguments) : 0;
	if (weight > 0)
		send_call(task, cpu, size, weight);
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
