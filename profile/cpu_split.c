/* SPDX-License-Identifier: Apache-2.0 */
/* The names are those of x86-64 and arm64 from Linux 3.10 to 7.x. Compilers append ".isra.0",
 * ".constprop.0", ".cold" and the like to a function's name. Functions that only enter or leave an
 * interrupt's handler need no row if a function of the table calls them. */
#include "profile/cpu_split.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum role {
	ROLE_NONE,
	ROLE_IRQ,
	ROLE_SOFTIRQ,
	/* The handler has ended. What this function calls is the kernel's work for the interrupted
	 * task. As a leaf it is where interrupts are switched on again, and where a sampling timer
	 * that waited for the handler fires. */
	ROLE_EXIT,
};

struct row {
	const char *name;
	enum role role;
	bool is_prefix;
};

static const struct row rows[] = {
	{ "handle_softirqs", ROLE_SOFTIRQ, false }, /* 6.10 and later, and backports */
	{ "__do_softirq", ROLE_SOFTIRQ, false },
	{ "__softirqentry_text_start", ROLE_SOFTIRQ, false }, /* __do_softirq by another name */
	{ "run_ksoftirqd", ROLE_SOFTIRQ, false },
	{ "run_ktimerd", ROLE_SOFTIRQ, false }, /* PREEMPT_RT */

	{ "irq_thread", ROLE_IRQ, false },

	/* x86-64 */
	{ "asm_sysvec_", ROLE_IRQ, true }, /* 5.8 and later */
	{ "sysvec_", ROLE_IRQ, true },
	{ "asm_common_interrupt", ROLE_IRQ, false },
	{ "asm_spurious_interrupt", ROLE_IRQ, false },
	{ "common_interrupt", ROLE_IRQ, false },
	{ "fred_sysvec_", ROLE_IRQ, true }, /* CPUs with FRED; 6.9 and later */
	{ "fred_extint", ROLE_IRQ, false },
	{ "asm_exc_nmi", ROLE_IRQ, true },
	{ "exc_nmi", ROLE_IRQ, true },
	{ "fred_exc_nmi", ROLE_IRQ, false },
	{ "asm_exc_xen_hypervisor_callback", ROLE_IRQ, false },
	{ "exc_xen_hypervisor_callback", ROLE_IRQ, false },
	{ "xen_pv_evtchn_do_upcall", ROLE_IRQ, false },
	{ "do_IRQ", ROLE_IRQ, false }, /* until 5.7 */
	{ "ret_from_intr", ROLE_IRQ, false },
	{ "apic_timer_interrupt", ROLE_IRQ, false },
	{ "smp_apic_timer_interrupt", ROLE_IRQ, false },
	{ "reschedule_interrupt", ROLE_IRQ, false },
	{ "smp_reschedule_interrupt", ROLE_IRQ, false },
	{ "scheduler_ipi", ROLE_IRQ, false },
	{ "call_function_interrupt", ROLE_IRQ, false },
	{ "smp_call_function_interrupt", ROLE_IRQ, false },
	{ "call_function_single_interrupt", ROLE_IRQ, false },
	{ "smp_call_function_single_interrupt", ROLE_IRQ, false },
	{ "irq_work_interrupt", ROLE_IRQ, false },
	{ "smp_irq_work_interrupt", ROLE_IRQ, false },
	{ "xen_hvm_callback_vector", ROLE_IRQ, false },
	{ "xen_evtchn_do_upcall", ROLE_IRQ, false },
	{ "hyperv_callback_vector", ROLE_IRQ, false },
	{ "hyperv_vector_handler", ROLE_IRQ, false },
	{ "hv_stimer0_callback_vector", ROLE_IRQ, false },
	{ "hv_stimer0_vector_handler", ROLE_IRQ, false },
	{ "do_nmi", ROLE_IRQ, false },
	{ "end_repeat_nmi", ROLE_IRQ, false },

	/* arm64 */
	{ "el1_interrupt", ROLE_IRQ, false }, /* 5.12 and later */
	{ "el0_interrupt", ROLE_IRQ, false },
	{ "el1h_64_irq", ROLE_IRQ, true },
	{ "el1h_64_fiq", ROLE_IRQ, true },
	{ "el0t_64_irq", ROLE_IRQ, true },
	{ "el0t_64_fiq", ROLE_IRQ, true },
	{ "el0t_32_irq", ROLE_IRQ, true },
	{ "el0t_32_fiq", ROLE_IRQ, true },
	{ "do_interrupt_handler", ROLE_IRQ, false },
	{ "gic_handle_irq", ROLE_IRQ, false },
	{ "el1_irq", ROLE_IRQ, false }, /* until 5.11 */
	{ "el0_irq", ROLE_IRQ, false },
	{ "el0_irq_naked", ROLE_IRQ, false },
	{ "handle_domain_irq", ROLE_IRQ, false },
	{ "__handle_domain_irq", ROLE_IRQ, false },
	{ "handle_IPI", ROLE_IRQ, false },

	{ "irqentry_exit", ROLE_EXIT, true },
	{ "raw_irqentry_exit_cond_resched", ROLE_EXIT, false },
	{ "dynamic_irqentry_exit_cond_resched", ROLE_EXIT, false },
	{ "preempt_schedule_irq", ROLE_EXIT, false },
	{ "arm64_preempt_schedule_irq", ROLE_EXIT, false },
	{ "exit_to_user_mode", ROLE_EXIT, true },
	{ "exit_to_usermode_loop", ROLE_EXIT, false },
	{ "prepare_exit_to_user", ROLE_EXIT, true }, /* …mode on x86-64, …_mode on arm64 */
	{ "arm64_exit_to_user_mode", ROLE_EXIT, false },
	{ "do_notify_resume", ROLE_EXIT, false },
	{ "retint_user", ROLE_EXIT, false },
	{ "retint_kernel", ROLE_EXIT, false },
};

static bool is_of(const struct row *row, const char *name)
{
	size_t len = strlen(row->name);

	return strncmp(name, row->name, len) == 0 &&
	       (row->is_prefix || name[len] == '\0' || name[len] == '.');
}

static enum role role_of(const char *name)
{
	for (size_t i = 0; i < array_len(rows); i++)
		if (is_of(&rows[i], name))
			return rows[i].role;
	return ROLE_NONE;
}

static bool is_kernel(const struct profile *profile, uint32_t location)
{
	return profile->locations[location].kind == FRAME_KERNEL;
}

/* `roles` are by the number of the location. */
static enum cpu_side side_of(const struct profile *profile, const struct profile_stack *stack,
			     const uint8_t *roles)
{
	const uint32_t *locations = profile->stack_locations + stack->first;

	if (stack->nr == 0 || !is_kernel(profile, locations[0]))
		return CPU_APPLICATION;
	for (size_t i = 0; i < stack->nr && is_kernel(profile, locations[i]); i++) {
		enum role role = roles[locations[i]];

		if (role == ROLE_IRQ)
			return CPU_IRQ;
		if (role == ROLE_SOFTIRQ)
			return CPU_SOFTIRQ;
		if (role == ROLE_EXIT && i > 0)
			return CPU_KERNEL;
	}
	return CPU_KERNEL;
}

const char *cpu_side_word(enum cpu_side side)
{
	static const char *const words[] = {
		[CPU_APPLICATION] = "app",
		[CPU_KERNEL] = "kern",
		[CPU_IRQ] = "irq",
		[CPU_SOFTIRQ] = "sirq",
	};

	return words[side];
}

const char *cpu_side_name(enum cpu_side side)
{
	static const char *const names[] = {
		[CPU_APPLICATION] = "application",
		[CPU_KERNEL] = "kernel",
		[CPU_IRQ] = "irq",
		[CPU_SOFTIRQ] = "softirq",
	};

	return names[side];
}

int cpu_split_init(struct cpu_split *split, const struct profile *profile)
{
	_cleanup_free_ uint8_t *roles = calloc(profile->nr_locations + 1, sizeof(*roles));
	uint8_t *sides = calloc(profile->nr_stacks + 1, sizeof(*sides));

	if (!roles || !sides) {
		free(sides);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < profile->nr_locations; i++)
		if (is_kernel(profile, i))
			roles[i] = (uint8_t)role_of(profile_location_name(profile, i));
	for (size_t i = 0; i < profile->nr_stacks; i++)
		sides[i] = (uint8_t)side_of(profile, &profile->stacks[i], roles);
	*split = (struct cpu_split){ .sides = sides, .nr_sides = profile->nr_stacks };
	return 0;
}

void cpu_split_done(struct cpu_split *split)
{
	free(split->sides);
	*split = (struct cpu_split){ 0 };
}
