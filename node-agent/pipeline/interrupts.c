/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/interrupts.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "bpf/shared/frames.h"
#include "capture/sample_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOT_CGROUP 1 /* kernfs gives the root of a hierarchy this number */
#define CALLS_SOFTIRQS 1
#define DISPATCH "dispatch" /* before, between and behind soft interrupts */

struct interrupt_stack {
	uint32_t cpu, vector;
	uint32_t nr;
	__u64 frames[MAX_KERNEL_FRAMES];
};

static const char *const softirq_names[SOFTIRQ_NR] = {
	[SOFTIRQ_HI] = "HI",	       [SOFTIRQ_TIMER] = "TIMER", [SOFTIRQ_NET_TX] = "NET_TX",
	[SOFTIRQ_NET_RX] = "NET_RX",   [SOFTIRQ_BLOCK] = "BLOCK", [SOFTIRQ_IRQ_POLL] = "IRQ_POLL",
	[SOFTIRQ_TASKLET] = "TASKLET", [SOFTIRQ_SCHED] = "SCHED", [SOFTIRQ_HRTIMER] = "HRTIMER",
	[SOFTIRQ_RCU] = "RCU",
};

/* Linux 6.10 gave the first one its name. */
static const struct kernel_name entries[] = {
	{ "handle_softirqs", CALLS_SOFTIRQS },
	{ "__do_softirq", CALLS_SOFTIRQS },
	{ "__softirqentry_text_start", CALLS_SOFTIRQS },
};

void interrupts_learn_kernel(struct interrupts *interrupts, const struct kernel_symbols *symbols)
{
	kernel_ranges_init(&interrupts->entries, symbols, entries, array_len(entries));
}

static const char *softirq_name(uint32_t vector)
{
	return vector < SOFTIRQ_NR ? softirq_names[vector] : "unknown";
}

/* Returns the number of frames of a stack that are the soft interrupt's: those above the function
 * that called it. */
static uint32_t count_frames(const struct interrupts *interrupts, const struct sample_event *event)
{
	uint32_t nr = 0;

	while (nr < event->nr_kernel &&
	       kernel_ranges_find(&interrupts->entries, event->frames[nr] - (nr > 0)) == 0)
		nr++;
	return nr;
}

/* Begins an event of the identity of interrupts. */
static struct sample_event *begin_event(struct interrupts *interrupts, uint64_t time_ns,
					uint32_t cpu, const char *kind, const char *name)
{
	struct sample_event *event = &interrupts->event;
	char thread[INTERRUPT_NAME_BYTES];

	memset(event, 0, offsetof(struct sample_event, frames));
	event->time_ns = time_ns;
	event->cpu = cpu;
	event->cgroup_id = ROOT_CGROUP;
	event->kind = RECORD_INTERRUPT;
	event->unwind_result = UNWIND_KERNEL_THREAD;
	snprintf(event->process_comm, sizeof(event->process_comm), "[interrupts]");
	snprintf(thread, sizeof(thread), "%s %s", kind, name);
	memcpy(event->thread_comm, thread, sizeof(event->thread_comm) - 1);
	return event;
}

static struct sample_event *begin_softirq(struct interrupts *interrupts, uint64_t time_ns,
					  uint32_t cpu, uint32_t vector)
{
	return begin_event(interrupts, time_ns, cpu, "softirq", softirq_name(vector));
}

static void set_frames(struct sample_event *event, const __u64 *frames, uint32_t nr)
{
	memcpy(event->frames, frames, nr * sizeof(*frames));
	event->nr_kernel = (__u16)nr;
}

/* Puts the present event into the window of a series. */
static void put(struct interrupts *interrupts, struct window_series *series, const char *kind,
		const char *name, uint64_t count)
{
	const struct sample_event *event = &interrupts->event;
	char root[INTERRUPT_NAME_BYTES];
	const struct window_sample sample = { .event = event, .root = root, .count = count };

	snprintf(root, sizeof(root), "[%s %s]", kind, name);
	struct window *window = window_filler_window(interrupts->filler, series, event->time_ns);
	if (window_filler_add(interrupts->filler, window, &sample) == 0)
		window_count_time(window, event->time_ns);
}

static void keep_stack(struct interrupts *interrupts, const struct sample_event *event, uint32_t nr)
{
	if (array_grow(interrupts->stacks, interrupts->cap_stacks, interrupts->nr_stacks + 1,
		       INTERRUPTS_MAX_STACKS) < 0)
		return;
	struct interrupt_stack *stack = &interrupts->stacks[interrupts->nr_stacks++];
	stack->cpu = event->cpu;
	stack->vector = event->sequence;
	stack->nr = nr;
	memcpy(stack->frames, event->frames, nr * sizeof(stack->frames[0]));
}

void interrupts_add(struct interrupts *interrupts, const struct sample_event *event)
{
	uint32_t nr = count_frames(interrupts, event);

	keep_stack(interrupts, event, nr);
	if (!interrupts->cpu_series)
		return;
	set_frames(begin_softirq(interrupts, event->time_ns, event->cpu, event->sequence),
		   event->frames, nr);
	put(interrupts, interrupts->cpu_series, "softirq", softirq_name(event->sequence), 1);
}

bool interrupts_take_sample(struct interrupts *interrupts, const struct sample_event *event)
{
	if (!interrupts->cpu_series)
		return false;
	uint32_t nr = count_frames(interrupts, event);
	if (nr == event->nr_kernel)
		return false;
	set_frames(begin_event(interrupts, event->time_ns, event->cpu, "softirq", DISPATCH),
		   event->frames, nr);
	put(interrupts, interrupts->cpu_series, "softirq", DISPATCH, 1);
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct interrupt_stack *left = a, *right = b;

	if (left->cpu != right->cpu)
		return left->cpu < right->cpu ? -1 : 1;
	return left->vector < right->vector ? -1 : left->vector > right->vector;
}

/* Returns the first stack of a kind on a CPU, and the number of them. */
static const struct interrupt_stack *find_stacks(const struct interrupts *interrupts, uint32_t cpu,
						 uint32_t vector, size_t *ret_nr)
{
	const struct interrupt_stack *stacks = interrupts->stacks;
	const struct interrupt_stack wanted = { .cpu = cpu, .vector = vector };
	size_t first = 0, end = interrupts->nr_stacks, last;

	while (first < end) {
		size_t middle = first + (end - first) / 2;

		if (compare(&stacks[middle], &wanted) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	for (last = first; last < interrupts->nr_stacks; last++)
		if (compare(&stacks[last], &wanted) != 0)
			break;
	*ret_nr = last - first;
	return &stacks[first];
}

static void add_soft(struct interrupts *interrupts, const struct irq_time *time)
{
	const char *name = softirq_name(time->vector);
	size_t nr = 0;
	const struct interrupt_stack *stacks = interrupts->nr_stacks > 0
						       ? find_stacks(interrupts, time->cpu,
								     time->vector, &nr)
						       : NULL;

	(void)begin_softirq(interrupts, interrupts->now_ns, time->cpu, time->vector);
	if (nr == 0)
		put(interrupts, interrupts->series, "softirq", name, time->ns);
	for (size_t i = 0; i < nr; i++) {
		/* What does not divide goes to the first ones, so that the sum is exact. */
		uint64_t ns = time->ns / nr + (i < time->ns % nr);

		set_frames(&interrupts->event, stacks[i].frames, stacks[i].nr);
		if (ns > 0)
			put(interrupts, interrupts->series, "softirq", name, ns);
	}
}

static void add_hard(struct interrupts *interrupts, const struct irq_time *time)
{
	const char *name = time->name[0] != '\0' ? time->name : "other";
	struct sample_event *event = begin_event(interrupts, interrupts->now_ns, time->cpu,
						 "hardirq", name);

	if (time->handler != 0)
		set_frames(event, &(const __u64){ time->handler }, 1);
	put(interrupts, interrupts->series, "hardirq", name, time->ns);
}

static void add_time(const struct irq_time *time, void *data)
{
	if (time->is_soft)
		add_soft(data, time);
	else
		add_hard(data, time);
}

static void ignore_time(const struct irq_time *time, void *data)
{
	(void)time, (void)data;
}

void interrupts_start(struct interrupts *interrupts, uint64_t now_ns)
{
	if (!interrupts->source)
		return;
	sample_source_take_irq_times(interrupts->source, ignore_time, NULL);
	interrupts->nr_stacks = 0;
	(void)window_filler_window(interrupts->filler, interrupts->series, now_ns);
}

static void take(struct interrupts *interrupts, uint64_t time_ns)
{
	interrupts->now_ns = time_ns;
	if (interrupts->nr_stacks > 0)
		qsort(interrupts->stacks, interrupts->nr_stacks, sizeof(*interrupts->stacks),
		      compare);
	sample_source_take_irq_times(interrupts->source, add_time, interrupts);
	interrupts->nr_stacks = 0;
}

/* The window is opened before there is anything in it, so that its time has a beginning. */
void interrupts_tick(struct interrupts *interrupts, uint64_t now_ns)
{
	const struct window *window;

	if (!interrupts->source)
		return;
	window = interrupts->series->window;
	if (window && now_ns < window->end_ns)
		return;
	if (window)
		take(interrupts, window->end_ns - 1);
	(void)window_filler_window(interrupts->filler, interrupts->series, now_ns);
}

void interrupts_close(struct interrupts *interrupts, uint64_t now_ns)
{
	const struct window *window;

	if (!interrupts->source)
		return;
	window = interrupts->series->window;
	take(interrupts, window && now_ns >= window->end_ns ? window->end_ns - 1 : now_ns);
}

void interrupts_done(struct interrupts *interrupts)
{
	free(interrupts->stacks);
	interrupts->stacks = NULL;
}
