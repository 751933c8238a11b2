/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The sampler: what a CPU is doing when its timer fires.
 *
 * Attach point: one cpu-clock perf_event for each online CPU; runs in interrupt context on that
 * CPU, with the registers of whatever was interrupted.
 * Maps: scratch_of_cpu (the record is built there), samples (out), stats, filter_* (maps.bpf.h);
 * cgroup_slots; irq_cpus.
 * Limits: MAX_KERNEL_FRAMES + MAX_USER_FRAMES frames.
 *
 * Order matters for cost: an idle CPU leaves after one comparison, a task of an excluded cgroup
 * after one look into a map, any other outside the target before any stack is read. */
#include "bpf/compat.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/maps.bpf.h"
#include "bpf/opts.bpf.h"
#include "bpf/sample.bpf.h"

/* Reads the registers that the task has in user space, or had when it entered the kernel. (The
 * context's registers are read in any case, because the verifier wants that through the context
 * pointer.) */
static __always_inline enum unwind_result read_user_regs(struct bpf_perf_event_data *ctx,
							 struct task_struct *task,
							 struct scratch *scratch)
{
	struct unwind_state *state = &scratch->unwind;
	enum unwind_result result = regs_are_compat(&ctx->regs) ? UNWIND_COMPAT : UNWIND_COMPLETE;

	COPY_REGS(state->regs, &ctx->regs);
	state->ip = PT_REGS_IP(&ctx->regs);
	barrier();
	if (!scratch->event.in_user)
		result = read_saved_regs(task, scratch);
	return result;
}

static __always_inline __u32 read_user_stack(struct bpf_perf_event_data *ctx,
					     struct task_struct *task, struct scratch *scratch,
					     bool is_interrupting)
{
	unsigned int flags = READ_KERNEL(task->flags);
	enum unwind_result result;

	begin_user_stack(scratch, flags);
	if (flags & PF_KTHREAD)
		return UNWIND_KERNEL_THREAD;
	if (is_interrupting)
		return UNWIND_INTERRUPTED;
	result = read_user_regs(ctx, task, scratch);
	return result == UNWIND_COMPLETE ? unwind_user_stack(task, scratch, flags) : result;
}

static __always_inline void send(struct sample_event *event, bool is_urgent)
{
	stat_add(output_event(event, is_urgent) < 0 ? STAT_RING_FULL : STAT_SENT);
}

/* Returns the vector of the soft interrupt that the timer has interrupted, + 1; 0: none. */
static __always_inline __u32 interrupted_softirq(void)
{
	__u32 index = bpf_get_smp_processor_id();
	const struct irq_cpu *cpu;

	if (!irq_is_followed)
		return 0;
	cpu = bpf_map_lookup_elem(&irq_cpus, &index);
	return cpu ? cpu->softirq : 0;
}

/* Sends what a soft interrupt does. Neither the task nor the cgroup that it interrupted matters. */
static __always_inline void send_softirq(void *ctx, __u32 vector)
{
	__u32 index = unwinder_is_busy();
	struct scratch *scratch = bpf_map_lookup_elem(&scratch_of_cpu, &index);
	struct sample_event *event;

	if (!scratch) {
		stat_add(STAT_NO_SCRATCH);
		return;
	}
	event = &scratch->event;
	__builtin_memset(event, 0, offsetof(struct sample_event, frames));
	event->time_ns = bpf_ktime_get_ns();
	event->cpu = bpf_get_smp_processor_id();
	event->kind = RECORD_INTERRUPT;
	event->sequence = vector;
	event->unwind_result = UNWIND_KERNEL_THREAD;
	read_kernel_stack(ctx, event);
	stat_add(STAT_UNWIND_FIRST + UNWIND_KERNEL_THREAD);
	send(event, false);
}

SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	struct task_struct *task = current_task();
	struct sample_event *event;
	struct scratch *scratch;
	__u32 index, result, softirq = interrupted_softirq();

	if (softirq > 0) {
		send_softirq(ctx, softirq - 1);
		return 0;
	}
	if (only_interrupts)
		return 0;
	if (!include_idle && READ_KERNEL(task->pid) == 0) {
		stat_add(STAT_IDLE);
		return 0;
	}
	if (!cgroup_is_wanted(task))
		return 0;
	index = unwinder_is_busy();
	scratch = bpf_map_lookup_elem(&scratch_of_cpu, &index);
	if (!scratch) {
		stat_add(STAT_NO_SCRATCH);
		return 0;
	}
	event = &scratch->event;
	read_task(task, event);
	if (!sample_is_wanted(event)) {
		stat_add(STAT_FILTERED);
		return 0;
	}
	event->kind = RECORD_TIMER;
	event->in_user = regs_are_user(&ctx->regs);
	event->nr_kernel = 0;
	if (!event->in_user)
		read_kernel_stack(ctx, event);
	result = read_user_stack(ctx, task, scratch, index != 0);
	event->unwind_result = result;
	stat_add(STAT_UNWIND_FIRST + result);
	send(event, scratch->unwind.asks || must_be_read_soon(scratch));
	return pass_to_perf;
}
