/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CAPTURE_IRQ_TIME_H
#define CAPTURE_IRQ_TIME_H

#include "bpf/shared/irq.h"

#include <stdbool.h>
#include <stdint.h>

/* For how long a CPU was in interrupts of one kind since the last time that this was told. */
struct irq_time {
	uint32_t cpu;
	bool is_soft;
	uint32_t vector; /* of soft interrupts: enum softirq_vector */
	uint64_t handler; /* of hard ones: address of its function; 0: not known */
	uint64_t ns; /* not 0 */
	/* Of hard ones: of the device as in /proc/interrupts, maybe cut. "": one of many */
	char name[IRQ_NAME_BYTES];
};

typedef void (*irq_time_fn)(const struct irq_time *time, void *data);

#endif
