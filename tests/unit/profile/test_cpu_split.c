/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/cpu_split.h"

#include "stacks.h"
#include "unit.h"

#include "base/cleanup.h"

struct split_case {
	const char *frames; /* root first */
	enum cpu_side side;
};

static void assert_sides(const struct split_case *cases, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct stack_line line = { "app", cases[i].frames, 1 };
		_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(&line, 1);
		_cleanup_(cpu_split_done) struct cpu_split split = { 0 };

		assert_int_equal(cpu_split_init(&split, profile), 0);
		if (cpu_split_side(&split, profile->samples[0].stack) != cases[i].side)
			fail_msg("%s is not of the side %s", cases[i].frames,
				 cpu_side_name(cases[i].side));
	}
}

static void user_code_is_the_application_s(void **state)
{
	static const struct split_case cases[] = {
		{ "main;run", CPU_APPLICATION },
		{ "main;[too deep]", CPU_APPLICATION },
		{ "main;handle_softirqs", CPU_APPLICATION }, /* its own, by that name */
		{ "main;do_IRQ_[g]", CPU_APPLICATION },
		{ "main;compiled_[j]", CPU_APPLICATION },
	};
	(void)state;

	assert_sides(cases, array_len(cases));
}

static void a_sample_without_a_stack_is_the_application_s(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(NULL, 0);
	_cleanup_(cpu_split_done) struct cpu_split split = { 0 };
	(void)state;

	assert_int_equal(cpu_split_init(&split, profile), 0);
	assert_int_equal(cpu_split_side(&split, 0), CPU_APPLICATION);
}

static void system_calls_faults_and_kernel_threads_are_the_kernel_s(void **state)
{
	static const struct split_case cases[] = {
		{ "main;read;entry_SYSCALL_64_after_hwframe_[k];do_syscall_64_[k];vfs_read_[k]",
		  CPU_KERNEL },
		{ "main;asm_exc_page_fault_[k];exc_page_fault_[k];clear_page_erms_[k]",
		  CPU_KERNEL },
		{ "main;read;el0t_64_sync_[k];el0_svc_[k];vfs_read_[k]", CPU_KERNEL },
		{ "main;el0t_64_sync_[k];el0_da_[k];do_mem_abort_[k]", CPU_KERNEL },
		{ "ret_from_fork_[k];kthread_[k];worker_thread_[k]", CPU_KERNEL },
		{ "main;write;entry_SYSCALL_64_after_hwframe_[k];exit_to_user_mode_loop_[k]",
		  CPU_KERNEL },
		/* names that only begin like an interrupt's */
		{ "main;do_syscall_64_[k];do_IRQ_of_another_kind_[k]", CPU_KERNEL },
		{ "main;do_syscall_64_[k];asm_call_sysvec_on_stack_[k]", CPU_KERNEL },
		{ "main;do_syscall_64_[k];irq_thread_check_affinity_[k]", CPU_KERNEL },
	};
	(void)state;

	assert_sides(cases, array_len(cases));
}

static void what_an_interrupt_calls_is_an_interrupt(void **state)
{
	static const struct split_case cases[] = {
		{ "main;asm_sysvec_apic_timer_interrupt_[k];sysvec_apic_timer_interrupt_[k];"
		  "hrtimer_interrupt_[k]",
		  CPU_IRQ },
		{ "main;asm_common_interrupt_[k];common_interrupt_[k];nvme_irq_[k]", CPU_IRQ },
		{ "main;asm_sysvec_call_function_[k]", CPU_IRQ },
		{ "main;do_syscall_64_[k];vfs_read_[k];asm_common_interrupt_[k];common_interrupt_["
		  "k]",
		  CPU_IRQ },
		{ "main;asm_exc_nmi_[k];exc_nmi_[k];default_do_nmi_[k]", CPU_IRQ },
		{ "main;fred_entry_from_user_[k];fred_extint.isra.0_[k];handle_irq_event_[k]",
		  CPU_IRQ },
		{ "main;ret_from_intr_[k];do_IRQ_[k];handle_irq_event_[k]", CPU_IRQ }, /* 4.19 */
		{ "main;el1h_64_irq_[k];el1h_64_irq_handler_[k];el1_interrupt_[k];gic_handle_irq_["
		  "k]",
		  CPU_IRQ },
		{ "main;el0t_64_irq_[k];__el0_irq_handler_common_[k]", CPU_IRQ },
		{ "main;el1_irq_[k];gic_handle_irq_[k];handle_domain_irq_[k]", CPU_IRQ }, /* 5.10 */
		{ "ret_from_fork_[k];kthread_[k];irq_thread_[k];irq_thread_fn_[k]", CPU_IRQ },
		/* a soft interrupt that is interrupted */
		{ "main;asm_common_interrupt_[k];handle_softirqs_[k];asm_common_interrupt_[k];nvme_"
		  "irq_[k]",
		  CPU_IRQ },
	};
	(void)state;

	assert_sides(cases, array_len(cases));
}

static void soft_interrupts_are_found_wherever_they_run(void **state)
{
	static const struct split_case cases[] = {
		{ "main;asm_sysvec_apic_timer_interrupt_[k];__irq_exit_rcu_[k];handle_softirqs_[k];"
		  "rcu_core_[k]",
		  CPU_SOFTIRQ },
		{ "main;asm_common_interrupt_[k];irq_exit_rcu_[k];do_softirq_own_stack_[k];"
		  "asm_call_sysvec_on_stack_[k];__softirqentry_text_start_[k];net_rx_action_[k]",
		  CPU_SOFTIRQ }, /* 5.10 */
		{ "main;do_syscall_64_[k];__local_bh_enable_ip_[k];do_softirq.part.0_[k];__do_"
		  "softirq_[k]",
		  CPU_SOFTIRQ },
		{ "ret_from_fork_[k];kthread_[k];run_ksoftirqd_[k];handle_softirqs.isra.0_[k]",
		  CPU_SOFTIRQ },
		{ "main;el1h_64_irq_[k];el1_interrupt_[k];____do_softirq_[k];__do_softirq_[k];net_"
		  "rx_action_[k]",
		  CPU_SOFTIRQ },
	};
	(void)state;

	assert_sides(cases, array_len(cases));
}

static void what_follows_an_interrupt_is_the_kernel_s(void **state)
{
	static const struct split_case cases[] = {
		{ "main;asm_sysvec_reschedule_ipi_[k];irqentry_exit_to_user_mode_[k];schedule_[k]",
		  CPU_KERNEL },
		{ "main;do_syscall_64_[k];asm_sysvec_apic_timer_interrupt_[k];irqentry_exit_[k];"
		  "preempt_schedule_irq_[k];__schedule_[k]",
		  CPU_KERNEL },
		{ "main;el0t_64_irq_[k];el0_interrupt_[k];do_notify_resume_[k];schedule_[k]",
		  CPU_KERNEL },
		{ "main;el1h_64_irq_[k];el1_interrupt_[k];arm64_preempt_schedule_irq_[k];__"
		  "schedule_[k]",
		  CPU_KERNEL },
		/* the timer fires here when interrupts were off until now */
		{ "main;asm_sysvec_reschedule_ipi_[k];irqentry_exit_to_user_mode_[k]", CPU_IRQ },
	};
	(void)state;

	assert_sides(cases, array_len(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(user_code_is_the_application_s),
		cmocka_unit_test(a_sample_without_a_stack_is_the_application_s),
		cmocka_unit_test(system_calls_faults_and_kernel_threads_are_the_kernel_s),
		cmocka_unit_test(what_an_interrupt_calls_is_an_interrupt),
		cmocka_unit_test(soft_interrupts_are_found_wherever_they_run),
		cmocka_unit_test(what_follows_an_interrupt_is_the_kernel_s),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
