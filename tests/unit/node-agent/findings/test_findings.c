/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/fileio.h"
#include "findings/findings.h"
#include "stacks.h"
#include "torture.h"

#include "unit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NR_ROWS 20 /* processes that match, in a profile of check_rule() */
#define WHOLE 4000 /* samples of such a profile */
#define NAME_BYTES 64
#define PAGE_MAX_BYTES (1 << 20)
#define FILL 20000 /* more samples than any rule's share leaves room for */

#define SYSCALL "main;read;entry_SYSCALL_64_after_hwframe_[k];do_syscall_64_[k]"
#define FAULT "main;touch;asm_exc_page_fault_[k];exc_page_fault_[k]"
#define IRQ "main;work;asm_common_interrupt_[k];handle_softirqs_[k]"

/* A stack that a rule must find, and one that it must not find: its functions are of the wrong kind
 * of code, below an interrupt, or have another caller. */
struct rule_case {
	const char *id;
	const char *found;
	const char *not_found;
};

static const struct rule_case rule_cases[] = {
	{ "tasklist-lock",
	  SYSCALL ";do_wait_[k];queued_read_lock_slowpath_[k];native_queued_spin_lock_slowpath_[k]",
	  SYSCALL ";ep_poll_[k];queued_read_lock_slowpath_[k]" },
	{ "mmap-lock",
	  SYSCALL ";vm_mmap_pgoff_[k];down_write_killable_[k];rwsem_down_write_slowpath_[k];"
		  "rwsem_spin_on_owner_[k]",
	  SYSCALL ";ext4_write_[k];down_write_[k];rwsem_down_write_slowpath_[k]" },
	{ "page-allocator-lock",
	  FAULT ";get_page_from_freelist_[k];_raw_spin_lock_irqsave_[k];"
		"native_queued_spin_lock_slowpath_[k]",
	  FAULT ";lockref_get_[k];_raw_spin_lock_[k];native_queued_spin_lock_slowpath_[k]" },
	{ "futex-contention", "main;take;__lll_lock_wait;do_syscall_64_[k];do_futex_[k]",
	  "main;do_futex;work" },
	{ "spinlock-contention",
	  SYSCALL ";lockref_get_[k];_raw_spin_lock_[k];__pv_queued_spin_lock_slowpath_[k]",
	  SYSCALL ";native_queued_spin_lock_slowpath_[k];asm_common_interrupt_[k];e1000_intr_[k]" },
	{ "kernel-mutex", SYSCALL ";fdget_pos_[k];mutex_lock_[k];mutex_spin_on_owner_[k]",
	  SYSCALL ";osq_lock_[k];asm_sysvec_reschedule_ipi_[k];schedule_[k]" },
	{ "user-spin", "main;work;__pthread_spin_lock", "main;work;__pthread_spin_lock_[k]" },
	{ "sched-yield", "main;work;__sched_yield;do_sched_yield_[k];schedule_[k]",
	  "main;do_sched_yield;work" },
	{ "netfilter-rules", IRQ ";net_rx_action_[k];nft_do_chain_inet_[k];nft_do_chain_[k]",
	  "main;nft_do_chain" },
	{ "softirq-one-cpu", IRQ ";net_rx_action_[k];tcp_v4_rcv_[k]", "main;net_rx_action" },
	{ "exec-storm", SYSCALL ";do_execveat_common.isra.0_[k];begin_new_exec_[k]",
	  "kthread_[k];call_usermodehelper_exec_async_[k];do_execve_[k]" },
	{ "memory-limit-reclaim",
	  FAULT ";__mem_cgroup_charge_[k];try_charge_memcg_[k];try_to_free_mem_cgroup_pages_[k]",
	  "main;try_to_free_mem_cgroup_pages" },
	{ "compaction", FAULT ";try_to_compact_pages_[k];compact_zone_[k]", "main;compact_zone" },
	{ "direct-reclaim", FAULT ";__alloc_pages_[k];try_to_free_pages_[k];shrink_node_[k]",
	  FAULT ";__alloc_pages_[k];shrink_node_[k]" },
	{ "background-reclaim", "ret_from_fork_[k];kthread_[k];kswapd_[k];balance_pgdat_[k]",
	  "main;kswapd" },
	{ "swap-in", FAULT ";do_swap_page_[k];swap_read_folio_[k]", "main;do_swap_page" },
	{ "numa-balancing", "main;work;task_work_run_[k];task_numa_work_[k]",
	  "main;task_numa_work" },
	{ "same-page-merging", "kthread_[k];ksm_scan_thread_[k];memcmp_[k]",
	  "main;ksm_scan_thread" },
	{ "huge-pages", FAULT ";do_huge_pmd_anonymous_page_[k];clear_huge_page_[k]",
	  "main;clear_huge_page" },
	{ "page-fault-storm", FAULT ";handle_mm_fault_[k];clear_page_erms_[k]",
	  SYSCALL ";load_elf_binary_[k];exc_page_fault_[k]" },
	{ "tlb-shootdown",
	  SYSCALL ";do_madvise_[k];flush_tlb_mm_range_[k];smp_call_function_many_cond_[k]",
	  SYSCALL ";smp_call_function_many_cond_[k];flush_tlb_mm_range_[k]" },
	{ "cpuinfo-readers", SYSCALL ";seq_read_[k];show_cpuinfo_[k]", "main;show_cpuinfo" },
	{ "membarrier", SYSCALL ";membarrier_private_expedited_[k];smp_call_function_many_cond_[k]",
	  SYSCALL ";flush_tlb_mm_range_[k];smp_call_function_many_cond_[k]" },
	{ "cross-cpu-calls", SYSCALL ";perf_event_read_[k];smp_call_function_single_[k]",
	  "main;smp_call_function_single" },
	{ "function-tracing", SYSCALL ";vfs_read_[k];ftrace_caller_[k];function_trace_call_[k]",
	  "main;ftrace_caller" },
	{ "trace-events", SYSCALL ";trace_event_raw_event_sys_enter_[k]",
	  SYSCALL ";perf_event_mmap_[k];perf_event_output_forward_[k]" },
	{ "bpf-tracing", SYSCALL ";__bpf_trace_sys_enter_[k];bpf_trace_run2_[k];bpf_prog_1_x_[k]",
	  SYSCALL ";tcf_classify_[k];bpf_prog_1_x_[k]" },
	{ "uprobes", "main;probed;asm_exc_int3_[k];uprobe_notify_resume_[k]",
	  "main;uprobe_notify_resume" },
	{ "slow-clock-source", SYSCALL ";ktime_get_[k];read_hpet_[k]", SYSCALL ";ktime_get_[k]" },
	{ "cpu-time-clocks", SYSCALL ";__x64_sys_clock_gettime_[k];posix_cpu_clock_get_[k]",
	  "main;posix_cpu_clock_get" },
	{ "clock-syscalls", SYSCALL ";__x64_sys_clock_gettime_[k];read_tsc_[k]",
	  "main;clock_gettime;__vdso_clock_gettime" },
	{ "random-numbers", SYSCALL ";get_random_bytes_user_[k];chacha_permute_[k]",
	  SYSCALL ";load_elf_binary_[k];get_random_bytes_[k]" },
	{ "seccomp-filter", SYSCALL ";__seccomp_filter_[k];bpf_prog_1_[k]",
	  "main;__seccomp_filter" },
	{ "audit-rules", SYSCALL ";__audit_syscall_exit_[k];audit_filter_rules.constprop.0_[k]",
	  "main;audit_filter_rules" },
	{ "cpu-limit-throttling", "main;work;task_work_run_[k];throttle_cfs_rq_work_[k]",
	  "main;throttle_cfs_rq" },
	{ "smaps-readers", SYSCALL ";seq_read_[k];show_smap_[k]", "main;show_smap" },
	{ "cgroup-statistics", SYSCALL ";memcg_stat_show_[k];cgroup_rstat_flush_locked_[k]",
	  "main;cgroup_rstat_flush" },
	{ "proc-walkers", SYSCALL ";seq_read_[k];do_task_stat_[k]", "main;do_task_stat" },
	{ "gc-java", "start_thread;GangWorker::loop;G1ParTask", "start_thread;JavaMain;work" },
	{ "gc-node", "main;v8::internal::Heap::CollectGarbage;v8::internal::Heap::Scavenge",
	  "main;v8::internal::Builtin_Call" },
	{ "gc-python", "main;work_[p];gc_collect_main.constprop.0;subtract_refs",
	  "main;gc_collect_main_[k]" },
	{ "gc-go", "runtime.goexit_[g];runtime.gcBgMarkWorker_[g];runtime.gcDrain_[g]",
	  "runtime.goexit_[g];main.main_[g];runtime.mallocgc_[g]" },
	{ "gc-dotnet", "start_thread;SVR::gc_heap::mark_phase", "start_thread;gc_heap" },
	{ "gc-ruby", "main;rb_newobj;gc_start.constprop.0;gc_marks_rest", "main;rb_newobj" },
	{ "jit-java", "start_thread;CompileBroker::compiler_thread_loop;C2Compiler::compile_method",
	  "start_thread;Interpreter" },
	{ "jit-node", "start_thread;v8::internal::OptimizingCompileDispatcherQueue::Run",
	  "start_thread;v8::internal::Runtime_Call" },
};

static const struct rule_case *find_case(const char *id)
{
	for (size_t i = 0; i < array_len(rule_cases); i++)
		if (strcmp(rule_cases[i].id, id) == 0)
			return &rule_cases[i];
	return NULL;
}

/* Makes a profile in which `count` of WHOLE samples have the stack. They come from several
 * processes of one program and run on CPU 1, those of another program on CPU 0. */
static struct profile *make_profile(const char *frames, uint32_t count)
{
	struct stack_line lines[NR_ROWS + 1];

	for (size_t i = 0; i < NR_ROWS; i++)
		lines[i] = (struct stack_line){ "busy", frames, count / NR_ROWS };
	lines[NR_ROWS] = (struct stack_line){ "busy", "main;other", WHOLE - count };
	struct profile *profile = profile_of_stacks(lines, array_len(lines));
	for (size_t i = 0; i < NR_ROWS && i < profile->nr_samples; i++)
		profile->samples[i].cpu = 1;
	return profile;
}

static const struct finding *find(const struct findings *findings, const char *id)
{
	for (size_t i = 0; i < findings->nr; i++)
		if (strcmp(findings->items[i].rule->id, id) == 0)
			return &findings->items[i];
	return NULL;
}

/* Returns whether the rule finds the stack that often. */
static bool finds(const char *id, const char *frames, uint32_t count)
{
	_cleanup_(profile_unrefp) struct profile *profile = make_profile(frames, count);
	_cleanup_(findings_done) struct findings findings = { 0 };

	assert_int_equal(findings_init(&findings, profile), 0);
	return find(&findings, id) != NULL;
}

static void each_rule_finds_its_stack(void **state)
{
	(void)state;

	for (size_t i = 0; i < array_len(rule_cases); i++)
		if (!finds(rule_cases[i].id, rule_cases[i].found, WHOLE / 2))
			fail_msg("%s does not find %s", rule_cases[i].id, rule_cases[i].found);
}

static void each_rule_leaves_the_same_functions_in_another_place(void **state)
{
	(void)state;

	for (size_t i = 0; i < array_len(rule_cases); i++)
		if (finds(rule_cases[i].id, rule_cases[i].not_found, WHOLE / 2))
			fail_msg("%s finds %s", rule_cases[i].id, rule_cases[i].not_found);
}

static void no_rule_finds_less_than_its_threshold(void **state)
{
	(void)state;

	for (size_t i = 0; i < nr_finding_rules; i++) {
		const struct finding_rule *rule = &finding_rules[i];
		uint32_t count = (uint32_t)(rule->least.percent * WHOLE / 100);

		/* of softirq-one-cpu, all samples of the CPU match */
		if (rule->scope == SCOPE_CPU)
			continue;
		if (finds(rule->id, find_case(rule->id)->found, count - NR_ROWS))
			fail_msg("%s finds %" PRIu32 " of %d samples", rule->id, count - NR_ROWS,
				 WHOLE);
		if (!finds(rule->id, find_case(rule->id)->found, count + NR_ROWS))
			fail_msg("%s does not find %" PRIu32 " of %d samples", rule->id,
				 count + NR_ROWS, WHOLE);
	}
}

/* Reads the page of the documentation, with spaces in place of line ends. */
static void read_page(struct strbuf *page)
{
	assert_int_equal(file_read_at(AT_FDCWD, FINDINGS_PAGE, page), 0);
	for (size_t i = 0; i < page->len; i++)
		if (page->data[i] == '\n')
			page->data[i] = ' ';
}

/* The page has a section for the rule, which begins with its heading and has its thresholds. */
static void check_section(const char *page, const struct finding_rule *rule)
{
	static const char *const scopes[NR_FINDING_SCOPES] = {
		[SCOPE_NODE] = "node",
		[SCOPE_CGROUP] = "cgroup",
		[SCOPE_PROGRAM] = "program",
		[SCOPE_CPU] = "CPU",
	};
	char heading[NAME_BYTES], least[NAME_BYTES];

	snprintf(heading, sizeof(heading), " ### %s ", rule->id);
	snprintf(least, sizeof(least), "Least: %g %% of the %s, %g CPUs", rule->least.percent,
		 scopes[rule->scope], rule->least.cpus);
	const char *section = strstr(page, heading);
	if (!section) {
		fail_msg("docs/findings.md lacks %s", rule->id);
		return;
	}
	const char *end = strstr(section + 1, " ### ");
	const char *text = strstr(section, least);
	if (!text || (end && text > end))
		fail_msg("docs/findings.md, %s: \"%s\" is missing", rule->id, least);
}

static void each_rule_is_complete(void **state)
{
	_cleanup_(strbuf_done) struct strbuf page = strbuf_with_max(PAGE_MAX_BYTES);
	(void)state;

	read_page(&page);
	for (size_t i = 0; i < nr_finding_rules; i++) {
		const struct finding_rule *rule = &finding_rules[i];

		if (!find_case(rule->id))
			fail_msg("%s is not tested", rule->id);
		check_section(strbuf_str(&page), rule);
		assert_non_null(rule->title);
		assert_non_null(rule->frames);
		assert_non_null(rule->steps[0]);
		assert_true(rule->least.percent > 0 && rule->least.cpus > 0);
	}
	assert_int_equal(array_len(rule_cases), nr_finding_rules);
}

static void few_samples_make_no_finding(void **state)
{
	const struct stack_line line = { "busy", rule_cases[0].found, FINDING_SAMPLES_MIN - 1 };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(&line, 1);
	_cleanup_(findings_done) struct findings findings = { 0 };
	(void)state;

	assert_int_equal(findings_init(&findings, profile), 0);
	assert_int_equal(findings.nr, 0);
}

/* 100 samples of 10 ms in an hour are a share of 100 %, but no load. */
static void a_large_share_of_little_cpu_time_makes_no_finding(void **state)
{
	const struct stack_line line = { "busy", rule_cases[0].found, 100 };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(&line, 1);
	_cleanup_(findings_done) struct findings findings = { 0 };
	(void)state;

	profile->duration_ns = 3600 * UINT64_C(1000000000);
	assert_int_equal(findings_init(&findings, profile), 0);
	assert_int_equal(findings.nr, 0);
}

static void an_empty_profile_has_no_findings(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(NULL, 0);
	_cleanup_(findings_done) struct findings findings = { 0 };
	(void)state;

	assert_int_equal(findings_init(&findings, profile), 0);
	assert_int_equal(findings.nr, 0);
	assert_int_equal(findings.total, 0);
}

static void evidence_names_callers_programs_and_the_most_frequent_stack(void **state)
{
	static const struct stack_line lines[] = {
		{ "reaper", SYSCALL ";do_wait_[k];queued_read_lock_slowpath_[k]", 30 },
		{ "forker", SYSCALL ";copy_process_[k];queued_write_lock_slowpath_[k]", 10 },
		{ "other", "main;work", 60 },
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	_cleanup_(findings_done) struct findings findings = { 0 };
	(void)state;

	assert_int_equal(findings_init(&findings, profile), 0);
	assert_int_equal(findings.nr, 1);
	const struct finding *finding = &findings.items[0];
	assert_string_equal(finding->title,
			    "Waiting for the kernel's tasklist_lock in do_wait takes "
			    "40.0 % of the CPU time");
	assert_int_equal(finding->count, 40);
	assert_int_equal(finding->of, 100);
	assert_int_equal(finding->callers.nr, 2);
	assert_string_equal(finding->callers.items[0].name, "do_wait");
	assert_int_equal(finding->callers.items[0].count, 30);
	assert_int_equal(finding->programs.nr, 2);
	assert_string_equal(finding->programs.items[1].name, "forker (pid 1)");
	assert_int_equal(finding->programs.items[1].of, 10);
	assert_int_equal(finding->stack, profile->samples[0].stack);
	assert_int_equal(finding->stack_count, 30);
	assert_int_equal(finding->nr_interrupts, 0);
}

static void time_of_interrupts_is_no_programs(void **state)
{
	static const struct stack_line lines[] = {
		{ "victim", IRQ ";net_rx_action_[k];ip_local_deliver_[k];nft_do_chain_[k]", 30 },
		{ "sender", SYSCALL ";ip_output_[k];nf_hook_slow_[k];nft_do_chain_[k]", 10 },
		{ "[interrupts]",
		  "[softirq NET_RX]_[k];net_rx_action_[k];ip_local_deliver_[k];nft_do_chain_[k]",
		  20 },
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	_cleanup_(findings_done) struct findings findings = { 0 };
	(void)state;

	assert_int_equal(findings_init(&findings, profile), 0);
	const struct finding *finding = find(&findings, "netfilter-rules");
	assert_non_null(finding);
	assert_int_equal(finding->nr_interrupts, 50);
	assert_int_equal(finding->programs.nr, 1);
	assert_string_equal(finding->programs.items[0].name, "sender (pid 1)");
	assert_string_equal(finding->callers.items[0].name, "ip_local_deliver");
	assert_string_equal(finding->callers.items[1].name, "ip_output");
}

static void a_storm_names_who_starts_the_processes(void **state)
{
	struct stack_line lines[NR_ROWS + 1];
	_cleanup_(findings_done) struct findings findings = { 0 };
	(void)state;

	for (size_t i = 0; i < NR_ROWS; i++)
		lines[i] = (struct stack_line){ "true", SYSCALL ";begin_new_exec_[k]", 10 };
	lines[NR_ROWS] = (struct stack_line){ "probe.sh", SYSCALL ";copy_process_[k]", 50 };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	assert_int_equal(findings_init(&findings, profile), 0);
	const struct finding *finding = find(&findings, "exec-storm");
	assert_non_null(finding);
	assert_int_equal(finding->starters.nr, 1);
	assert_string_equal(finding->starters.items[0].name, "probe.sh (pid 20)");
	assert_string_equal(finding->programs.items[0].name, "true");
}

/* Half of the time of a short-lived process may be that of the dynamic linker. */
static void a_storm_includes_the_dynamic_linker(void **state)
{
	struct stack_line lines[NR_ROWS];
	_cleanup_(findings_done) struct findings findings = { 0 };
	(void)state;

	for (size_t i = 0; i < NR_ROWS; i++)
		lines[i] = (struct stack_line){
			"true", "_start;_dl_start;_dl_relocate_object;exc_page_fault_[k]", 10
		};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	assert_int_equal(findings_init(&findings, profile), 0);
	assert_non_null(find(&findings, "exec-storm"));
	assert_int_equal(find(&findings, "exec-storm")->count, NR_ROWS * 10);
}

static void a_process_that_forks_alone_is_no_storm(void **state)
{
	static const struct stack_line line = { "server", SYSCALL ";copy_process_[k]", 100 };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(&line, 1);
	_cleanup_(findings_done) struct findings findings = { 0 };
	(void)state;

	assert_int_equal(findings_init(&findings, profile), 0);
	assert_null(find(&findings, "exec-storm"));
}

/* A share of all samples would hide it: many other programs are busy. */
static void a_program_is_compared_with_its_own_samples(void **state)
{
	static const struct stack_line lines[] = {
		{ "server", "start_thread;SVR::gc_heap::mark_phase", 40 },
		{ "server", "main;work", 60 },
		{ "other", "main;work", FILL },
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	_cleanup_(findings_done) struct findings findings = { 0 };
	(void)state;

	assert_int_equal(findings_init(&findings, profile), 0);
	assert_int_equal(findings.nr, 1);
	assert_string_equal(findings.items[0].title,
			    "Garbage collection of .NET takes 40.0 % of the CPU time of server");
	assert_int_equal(findings.items[0].of, 100);
}

static void threads_match_by_their_names(void **state)
{
	static const struct stack_line lines[] = {
		{ "java", "start_thread;[unnamed]", 40 },
		{ "java", "main;work_[j]", 60 },
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	_cleanup_(findings_done) struct findings findings = { 0 };
	(void)state;

	assert_int_equal(
		intern_add(&profile->strings, "GC Thread#3", &profile->samples[0].thread_comm), 0);
	assert_int_equal(findings_init(&findings, profile), 0);
	assert_non_null(find(&findings, "gc-java"));
	assert_int_equal(find(&findings, "gc-java")->count, 40);
}

/* The general rule of a family counts what the specific one has not found. */
static void a_sample_counts_once_in_a_family(void **state)
{
	static const struct stack_line lines[] = {
		{ "a", SYSCALL ";do_wait_[k];queued_read_lock_slowpath_[k]", 100 },
		{ "a", SYSCALL ";lockref_get_[k];native_queued_spin_lock_slowpath_[k]", 50 },
		{ "a", "main;work", 500 },
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	_cleanup_(findings_done) struct findings findings = { 0 };
	(void)state;

	assert_int_equal(findings_init(&findings, profile), 0);
	assert_int_equal(findings.nr, 2);
	assert_string_equal(findings.items[0].rule->id, "tasklist-lock");
	assert_int_equal(findings.items[0].count, 100);
	assert_string_equal(findings.items[1].rule->id, "spinlock-contention");
	assert_int_equal(findings.items[1].count, 50);
}

/* Reclaim flushes TLBs when it unmaps pages; the cause is that memory is full. */
static void tlb_flushes_of_reclaim_are_no_shootdowns(void **state)
{
	static const struct stack_line line = {
		"a",
		FAULT
		";try_to_free_mem_cgroup_pages_[k];shrink_folio_list_[k];arch_tlbbatch_flush_[k];"
		"smp_call_function_many_cond_[k]",
		100
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(&line, 1);
	_cleanup_(findings_done) struct findings findings = { 0 };
	(void)state;

	assert_int_equal(findings_init(&findings, profile), 0);
	assert_non_null(find(&findings, "memory-limit-reclaim"));
	assert_null(find(&findings, "tlb-shootdown"));
	assert_null(find(&findings, "cross-cpu-calls"));
}

/* Too little for the specific rule, but enough for the general one with others. */
static void what_a_specific_rule_leaves_counts_for_the_general_one(void **state)
{
	static const struct stack_line lines[] = {
		{ "a", SYSCALL ";do_wait_[k];queued_read_lock_slowpath_[k]", 20 },
		{ "a", SYSCALL ";lockref_get_[k];native_queued_spin_lock_slowpath_[k]", 40 },
		{ "a", "main;work", 940 },
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	_cleanup_(findings_done) struct findings findings = { 0 };
	(void)state;

	assert_int_equal(findings_init(&findings, profile), 0);
	assert_int_equal(findings.nr, 1);
	assert_string_equal(findings.items[0].rule->id, "spinlock-contention");
	assert_int_equal(findings.items[0].count, 60);
}

static void packets_on_all_cpus_are_no_finding(void **state)
{
	static const struct stack_line lines[] = {
		{ "a", IRQ ";net_rx_action_[k]", 100 },
		{ "b", IRQ ";net_rx_action_[k]", 90 },
		{ "c", "main;work", 10 },
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	_cleanup_(findings_done) struct findings one = { 0 }, both = { 0 }, unknown = { 0 };
	(void)state;

	profile->samples[0].cpu = profile->samples[1].cpu = 1;
	assert_int_equal(findings_init(&one, profile), 0);
	assert_non_null(find(&one, "softirq-one-cpu"));
	assert_string_equal(find(&one, "softirq-one-cpu")->title,
			    "Receiving network packets, all on one CPU, takes 100.0 % of the CPU "
			    "time of CPU 1");
	profile->samples[1].cpu = 0;
	assert_int_equal(findings_init(&both, profile), 0);
	assert_null(find(&both, "softirq-one-cpu"));
	profile->samples[0].cpu = 0; /* as in a record without --store-cpu */
	assert_int_equal(findings_init(&unknown, profile), 0);
	assert_null(find(&unknown, "softirq-one-cpu"));
}

static void want_of_memory_is_reported(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = make_profile(rule_cases[0].found,
									 WHOLE / 2);
	(void)state;

	for (unsigned int n = 1;; n++) {
		_cleanup_(findings_done) struct findings findings = { 0 };

		torture_begin(n);
		int r = findings_init(&findings, profile);
		if (!torture_end()) {
			assert_int_equal(r, 0);
			break;
		}
		assert_int_equal(r, -ENOMEM);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_rule_finds_its_stack),
		cmocka_unit_test(each_rule_leaves_the_same_functions_in_another_place),
		cmocka_unit_test(no_rule_finds_less_than_its_threshold),
		cmocka_unit_test(each_rule_is_complete),
		cmocka_unit_test(few_samples_make_no_finding),
		cmocka_unit_test(a_large_share_of_little_cpu_time_makes_no_finding),
		cmocka_unit_test(an_empty_profile_has_no_findings),
		cmocka_unit_test(evidence_names_callers_programs_and_the_most_frequent_stack),
		cmocka_unit_test(time_of_interrupts_is_no_programs),
		cmocka_unit_test(a_storm_names_who_starts_the_processes),
		cmocka_unit_test(a_storm_includes_the_dynamic_linker),
		cmocka_unit_test(a_process_that_forks_alone_is_no_storm),
		cmocka_unit_test(a_program_is_compared_with_its_own_samples),
		cmocka_unit_test(threads_match_by_their_names),
		cmocka_unit_test(a_sample_counts_once_in_a_family),
		cmocka_unit_test(what_a_specific_rule_leaves_counts_for_the_general_one),
		cmocka_unit_test(tlb_flushes_of_reclaim_are_no_shootdowns),
		cmocka_unit_test(packets_on_all_cpus_are_no_finding),
		cmocka_unit_test(want_of_memory_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
