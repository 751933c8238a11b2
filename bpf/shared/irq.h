/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The contract for time in interrupts.
 *
 * The kernel side adds up for each CPU how long it was in hard interrupts, by handler, and in soft
 * interrupts, by vector. A hard interrupt that comes within a soft one counts for itself alone. The
 * agent reads the sums from memory that it shares with the kernel side.
 *
 * The timer's samples tell what soft interrupts do: a sample that falls into one is sent with
 * RECORD_INTERRUPT, whoever was interrupted. The timer does not fire in hard interrupts. */
#ifndef BPF_SHARED_IRQ_H
#define BPF_SHARED_IRQ_H

#include <linux/types.h>

/* include/linux/interrupt.h */
enum softirq_vector {
	SOFTIRQ_HI,
	SOFTIRQ_TIMER,
	SOFTIRQ_NET_TX,
	SOFTIRQ_NET_RX,
	SOFTIRQ_BLOCK,
	SOFTIRQ_IRQ_POLL,
	SOFTIRQ_TASKLET,
	SOFTIRQ_SCHED,
	SOFTIRQ_HRTIMER,
	SOFTIRQ_RCU,
	SOFTIRQ_NR,
};

/* Handlers of a CPU that are counted apart; a power of 2. A machine has many, but a CPU has the
 * queues of its devices that were assigned to it. */
#define IRQ_LINES 64
#define IRQ_NAME_BYTES 32

/* What the kernel calls without a handler of a device: the number of its vector, and this bit. No
 * address of the kernel is so small. */
#define IRQ_VECTOR_BIT (1ULL << 16)

struct irq_sum {
	__u64 ns;
	__u64 nr;
};

struct irq_line {
	__u64 key; /* address of the kernel's irqaction, or vector and IRQ_VECTOR_BIT; 0: none */
	__u64 handler; /* address of its function; 0: not known */
	struct irq_sum sum;
	char name[IRQ_NAME_BYTES]; /* of the device, as in /proc/interrupts; may be cut */
};

struct irq_cpu {
	__u64 hard_begin_ns; /* of the hard interrupt that goes on; 0: none */
	__u64 hard_ns; /* of all that have ended */
	__u64 soft_begin_ns; /* of the soft interrupt that goes on; 0: none */
	__u64 soft_hard_ns; /* `hard_ns` when it began */
	__u64 softirq; /* its vector + 1; 0: none */
	__u64 key; /* of the hard interrupt that ended last */
	struct irq_sum others; /* hard interrupts without room among the lines */
	struct irq_sum softirqs[SOFTIRQ_NR];
	struct irq_line lines[IRQ_LINES]; /* by a hash of the key */
};

#endif
