/* SPDX-License-Identifier: Apache-2.0 */
/* Divides CPU time by who used it: the application's own code, the kernel on its behalf (system
 * calls, page faults, scheduling), hard interrupts, and soft interrupts. The frames of a stack tell
 * which it is; the leaf-most of them that is known decides:
 *
 *	main ─▶ read ─▶ vfs_read ─▶ asm_common_interrupt ─▶ nvme_irq		interrupt
 *	main ─▶ asm_sysvec_apic_timer_interrupt ─▶ handle_softirqs ─▶ rcu_core	soft interrupt
 *	main ─▶ asm_sysvec_reschedule_ipi ─▶ irqentry_exit ─▶ schedule		kernel
 *
 * An interrupt runs in whatever process it meets, so its time says nothing about that process. The
 * sampling timer is an interrupt itself, but is not in its samples: their stacks begin with the
 * code that it interrupted. It waits while interrupts are off, so the time of a hard interrupt's
 * handler is mostly sampled behind it, as that of the interrupted code. */
#ifndef PROFILE_CPU_SPLIT_H
#define PROFILE_CPU_SPLIT_H

#include "base/err.h"
#include "profile/profile.h"

#include <stddef.h>
#include <stdint.h>

enum cpu_side {
	CPU_APPLICATION,
	CPU_KERNEL,
	CPU_IRQ, /* with the kernel's threads for interrupts */
	CPU_SOFTIRQ, /* with ksoftirqd */
	CPU_NR_SIDES,
};

/* Returns "application", "kernel", "irq" or "softirq". */
const char *cpu_side_name(enum cpu_side side);

/* Returns "app", "kern", "irq" or "sirq". */
const char *cpu_side_word(enum cpu_side side);

/* The sides of all stacks of a profile. */
struct cpu_split {
	uint8_t *sides; /* owned; enum cpu_side, by the number of the stack */
	size_t nr_sides;
};

/* Errors: -ENOMEM. */
int cpu_split_init(struct cpu_split *split, const struct profile *profile) must_check;
void cpu_split_done(struct cpu_split *split);

static inline enum cpu_side cpu_split_side(const struct cpu_split *split, uint32_t stack)
{
	return (enum cpu_side)split->sides[stack];
}

#endif
