/* SPDX-License-Identifier: Apache-2.0 */
/* Linux 5.10 to 7.x, x86-64 and arm64. */
#include "pipeline/wakers.h"

#include "base/cleanup.h"
#include "bpf/shared/frames.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ENTRY (WAKER_INTERRUPT + 1) /* behind it is what was interrupted */

static const struct kernel_name functions[] = {
	{ "__hrtimer_run_queues", WAKER_TIMER },
	{ "hrtimer_interrupt", WAKER_TIMER },
	{ "call_timer_fn", WAKER_TIMER },
	{ "run_timer_softirq", WAKER_TIMER },

	{ "__napi_poll", WAKER_NETWORK },
	{ "net_rx_action", WAKER_NETWORK },
	{ "net_tx_action", WAKER_NETWORK },
	{ "process_backlog", WAKER_NETWORK },

	{ "bio_endio", WAKER_DISK },
	{ "blk_complete_reqs", WAKER_DISK },
	{ "blk_done_softirq", WAKER_DISK },
	{ "blk_mq_complete_request*", WAKER_DISK },
	{ "blk_mq_end_request*", WAKER_DISK },
	{ "blk_update_request", WAKER_DISK },

	{ "__do_softirq", ENTRY },
	{ "asm_common_interrupt", ENTRY },
	{ "asm_exc_nmi", ENTRY },
	{ "asm_sysvec_*", ENTRY },
	{ "common_interrupt", ENTRY },
	{ "do_softirq", ENTRY },
	{ "el0_interrupt", ENTRY },
	{ "el0t_64_irq*", ENTRY },
	{ "el1_interrupt", ENTRY },
	{ "el1_irq", ENTRY },
	{ "el1h_64_irq*", ENTRY },
	{ "gic_handle_irq", ENTRY },
	{ "handle_softirqs", ENTRY },
	{ "irq_exit_rcu", ENTRY },
	{ "sysvec_*", ENTRY },
};

void wakers_init(struct kernel_ranges *interrupts, const struct kernel_symbols *symbols)
{
	kernel_ranges_init(interrupts, symbols, functions, array_len(functions));
}

enum waker_kind wakers_cut(const struct kernel_ranges *interrupts, struct sample_event *event)
{
	enum waker_kind kind = WAKER_INTERRUPT;

	for (__u16 i = 0; i < event->nr_kernel; i++) {
		unsigned int meaning = kernel_ranges_find(interrupts, event->frames[i]);

		if (meaning == ENTRY) {
			event->nr_kernel = i;
			event->nr_user = 0;
			event->unwind_result = UNWIND_COMPLETE;
			return kind;
		}
		if (meaning != 0 && kind == WAKER_INTERRUPT)
			kind = meaning;
	}
	return WAKER_THREAD;
}

void wakers_name(enum waker_kind kind, const struct sample_event *event,
		 char name[static WAKER_NAME_BYTES])
{
	static const char *const interrupts[] = {
		[WAKER_TIMER] = "timer",
		[WAKER_NETWORK] = "network",
		[WAKER_DISK] = "disk",
		[WAKER_INTERRUPT] = "interrupt",
	};
	bool is_alike = strncmp(event->thread_comm, event->process_comm, TASK_COMM_LEN) == 0;

	if (kind != WAKER_THREAD)
		snprintf(name, WAKER_NAME_BYTES, "[woken by %s]", interrupts[kind]);
	else if (is_alike || !event->process_comm[0])
		snprintf(name, WAKER_NAME_BYTES, "[woken by %.*s]", TASK_COMM_LEN,
			 event->thread_comm);
	else
		snprintf(name, WAKER_NAME_BYTES, "[woken by %.*s of %.*s]", TASK_COMM_LEN,
			 event->thread_comm, TASK_COMM_LEN, event->process_comm);
}
