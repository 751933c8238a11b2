/* SPDX-License-Identifier: Apache-2.0 */
/* Who ends a thread's wait: another thread, or an interrupt, in whatever thread it came. */
#ifndef PIPELINE_WAKERS_H
#define PIPELINE_WAKERS_H

#include "bpf/shared/events.h"
#include "pipeline/kernel_ranges.h"

enum waker_kind {
	WAKER_THREAD,
	WAKER_TIMER,
	WAKER_NETWORK, /* a packet came */
	WAKER_DISK, /* a request is done */
	WAKER_INTERRUPT, /* any other one */
};

/* Finds the functions of the kernel by which interrupts are known. */
void wakers_init(struct kernel_ranges *interrupts, const struct kernel_symbols *symbols);

/* Returns what wakes in a record RECORD_WAKER. If it is an interrupt, cuts off the frames of what
 * it interrupted, which has nothing to do with it. */
enum waker_kind wakers_cut(const struct kernel_ranges *interrupts, struct sample_event *event);

/* Writes the name of the frame between the stack of a thread and that of its waker: "[woken by
 * THREAD of PROCESS]". */
#define WAKER_NAME_BYTES 64
void wakers_name(enum waker_kind kind, const struct sample_event *event,
		 char name[static WAKER_NAME_BYTES]);

#endif
