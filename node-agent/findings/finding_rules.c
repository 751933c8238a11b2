/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/finding_rules.h"

#include "base/err.h"
#include "findings/function_patterns.h"

const struct finding_rule finding_rules[] = {
	/* Locks. */
	{ .id = "tasklist-lock",
	  .title = "waiting for the kernel's tasklist_lock in {caller}",
	  .frames = "queued_read_lock_slowpath queued_write_lock_slowpath",
	  .callers = "do_wait __do_wait wait_consider_task do_exit exit_notify release_task "
		     "copy_process kill_something_info __do_sys_kill __se_sys_kill "
		     "__x64_sys_kill __arm64_sys_kill kill_pgrp do_prlimit ksys_setsid "
		     "__do_sys_setpgid __se_sys_setpgid __x64_sys_setpgid __do_sys_getpriority "
		     "__se_sys_getpriority __x64_sys_getpriority __x64_sys_setpriority "
		     "__do_sys_setpriority __se_sys_setpriority ptrace_* exit_ptrace de_thread "
		     "begin_new_exec forget_original_parent mm_update_next_owner send_sigio "
		     "send_sigurg disassociate_ctty session_clear_tty",
	  .family = FAMILY_LOCK,
	  .least = { 3, 0.05 },
	  .skip = LOCK_FUNCTIONS,
	  .steps = { "reduce polling: waitpid of many children, kill() and getpriority() of groups",
		     "perf lock contention -ab -- sleep 5" } },
	{ .id = "mmap-lock",
	  .title = "waiting for the lock of an address space (mmap_lock) in {caller}",
	  .frames = SLEEPING_LOCKS,
	  .callers = MMAP_LOCK_TAKERS,
	  .family = FAMILY_LOCK,
	  .least = { 3, 0.05 },
	  .skip = LOCK_FUNCTIONS,
	  .steps = { "map, unmap and protect less often: pool buffers, let malloc keep memory "
		     "(M_TRIM_THRESHOLD)",
		     "look for agents that read /proc/PID/maps, smaps or cmdline of that "
		     "process" } },
	{ .id = "page-allocator-lock",
	  .title = "waiting for locks of the page allocator in {caller}",
	  .frames = SPIN_LOCKS,
	  .callers = "rmqueue_bulk __rmqueue_pcplist rmqueue free_pcppages_bulk free_one_page "
		     "__free_pages_ok free_unref_page* get_page_from_freelist "
		     "folio_lruvec_lock* pagevec_lru_move_fn folio_batch_move_lru release_pages "
		     "folios_put_refs shrink_inactive_list shrink_active_list lru_add_drain_cpu",
	  .family = FAMILY_LOCK,
	  .least = { 3, 0.05 },
	  .skip = LOCK_FUNCTIONS,
	  .steps = { "look at how fast memory is taken and freed: grep -E 'pgalloc|pgfree' "
		     "/proc/vmstat, twice",
		     "raise vm.percpu_pagelist_high_fraction" } },
	{ .id = "futex-contention",
	  .title = "sleeping and waking at a lock in {caller}",
	  .frames = "do_futex futex_wait futex_wake futex_wait_setup futex_requeue futex_lock_pi "
		    "futex_unlock_pi __futex_wait futex_wait_queue futex_wait_queue_me",
	  .scope = SCOPE_PROGRAM,
	  .family = FAMILY_LOCK,
	  .least = { 10, 0.05 },
	  .skip = LIBC_LOCKS,
	  .caller_code = CODE_USER,
	  .steps = { "see which lock it is: flamelet query with -o file.svg, then search for futex",
		     "hold the lock for a shorter time, split it, or use fewer threads" } },
	{ .id = "spinlock-contention",
	  .title = "waiting for a spin lock of the kernel in {caller}",
	  .frames = SPIN_LOCKS,
	  .family = FAMILY_LOCK,
	  .least = { 5, 0.05 },
	  .skip = LOCK_FUNCTIONS,
	  .steps = { "find what the callers share (one file, one socket, one cgroup), and give "
		     "each thread its own",
		     "perf lock contention -ab -- sleep 5" } },
	{ .id = "kernel-mutex",
	  .title = "waiting for a mutex or semaphore of the kernel in {caller}",
	  .frames = SLEEPING_LOCKS,
	  .family = FAMILY_LOCK,
	  .least = { 5, 0.05 },
	  .skip = LOCK_FUNCTIONS,
	  .steps = { "find what the callers share (one file, one directory, one device)",
		     "perf lock contention -ab -- sleep 5" } },
	{ .id = "user-spin",
	  .title = "spinning at a lock of the program in {caller}",
	  .code = CODE_USER,
	  .frames = "pthread_spin_lock __pthread_spin_lock runtime.procyield* SpinPause "
		    "ObjectMonitor::TrySpin* ObjectSynchronizer::quick_enter* s_lock "
		    "perform_spin_delay ut_delay ngx_spinlock ngx_shmtx_lock "
		    "gomp_barrier_wait_end gomp_team_barrier_wait_end "
		    "gomp_team_barrier_wait_cancel_end __kmp_wait_* __kmp_hyper_barrier_* "
		    "malloc_mutex_lock_slow je_malloc_mutex_lock_slow SpinLock::SlowLock "
		    "base::internal::SpinLockDelay AbslInternalSpinLockDelay*",
	  .scope = SCOPE_PROGRAM,
	  .least = { 15, 0.05 },
	  .skip = "ObjectMonitor::* ObjectSynchronizer::* runtime.lock* runtime.procyield*",
	  .caller_code = CODE_USER,
	  .steps = { "compare the number of busy threads with the CPU limit of the pod: "
		     "GOMAXPROCS, OMP_NUM_THREADS, -XX:ActiveProcessorCount",
		     "shorten what the lock protects" } },
	{ .id = "sched-yield",
	  .title = "giving up the CPU in a loop (sched_yield) in {caller}",
	  .frames = "do_sched_yield __x64_sys_sched_yield __arm64_sys_sched_yield "
		    "__do_sys_sched_yield",
	  .scope = SCOPE_PROGRAM,
	  .least = { 15, 0.1 },
	  .skip = LIBC_CALLS " sched_yield __sched_yield runtime.osyield*",
	  .caller_code = CODE_USER,
	  .steps = { "replace the loop by a lock or a condition variable",
		     "use fewer threads than CPUs" } },

	/* Network. */
	{ .id = "netfilter-rules",
	  .title = "walking through netfilter rules",
	  .frames = NETFILTER,
	  .least = { 3, 0.03 },
	  .skip = NETFILTER " nf_hook* nft_* iptable_* ip6table_* ipt_* nf_nat_* NF_HOOK* "
			    "selinux_* apparmor_*",
	  .steps = { "nft list ruleset | wc -l; iptables-save | wc -l",
		     "replace long lists of addresses by sets (nft) or ipset; kube-proxy: use mode "
		     "ipvs or nftables" } },
	{ .id = "softirq-one-cpu",
	  .title = "receiving network packets, all on one CPU,",
	  .frames = "net_rx_action",
	  .scope = SCOPE_CPU,
	  .least = { 30, 0.3 },
	  .min_concentration = 80,
	  .skip = "handle_softirqs __do_softirq do_softirq*",
	  .steps = { "grep -E 'CPU|eth|ens|virtio' /proc/interrupts; cat /proc/net/softnet_stat",
		     "spread the queues: ethtool -l and -L, irqbalance, or RPS in "
		     "/sys/class/net/DEVICE/queues/rx-*/rps_cpus" } },

	/* Processes. */
	{ .id = "exec-storm",
	  .title = "starting and ending short-lived processes",
	  .code = CODE_ANY,
	  .frames = FORK " do_execve do_execveat_common __do_execve_file bprm_execve "
			 "begin_new_exec flush_old_exec load_elf_binary do_exit do_group_exit "
			 "exit_mmap schedule_tail _dl_start _dl_start_user _dl_sysdep_start "
			 "dl_main _dl_map_object* _dl_relocate_object* _dl_init _dl_start_final "
			 "__GI__Fork __libc_fork posix_spawn* __spawni*",
	  .without = "kthread kthreadd call_usermodehelper_exec_async dlopen* __dlopen*",
	  .scope = SCOPE_CGROUP,
	  .least = { 30, 0.1 },
	  .min_processes = 10,
	  .starters = FORK,
	  .caller_code = CODE_USER,
	  .skip = "_* main start_thread clone3",
	  .steps = { "look at the loop of the program that starts them: probes, shell scripts, "
		     "xargs",
		     "kubectl get pods -A -o yaml | grep -A3 'exec:' lists probes that run "
		     "commands" } },

	/* Memory. */
	{ .id = "memory-limit-reclaim",
	  .title = "reclaiming memory because a cgroup has reached its limit",
	  .frames = "try_to_free_mem_cgroup_pages mem_cgroup_handle_over_high "
		    "__mem_cgroup_handle_over_high reclaim_high",
	  .scope = SCOPE_CGROUP,
	  .family = FAMILY_MEMORY,
	  .least = { 5, 0.03 },
	  .skip = "try_charge* __mem_cgroup_charge mem_cgroup_charge* charge_memcg "
		  "reclaim_high mem_cgroup_* obj_cgroup_* __memcg_*",
	  .steps = { "compare memory.current (usage_in_bytes) with memory.max (limit_in_bytes) of "
		     "the cgroup",
		     "raise the memory limit of the container, or let it cache fewer files" } },
	{ .id = "compaction",
	  .title = "moving pages to make room for large ones (compaction)",
	  .frames = "compact_zone compact_zone_order try_to_compact_pages compact_node "
		    "kcompactd_do_work kcompactd __alloc_pages_direct_compact",
	  .family = FAMILY_MEMORY,
	  .least = { 3, 0.03 },
	  .steps = { "grep -E 'compact|thp_fault' /proc/vmstat; cat /proc/buddyinfo",
		     "cat /sys/kernel/mm/transparent_hugepage/{enabled,defrag}: use madvise or "
		     "defer" } },
	{ .id = "direct-reclaim",
	  .title = "reclaiming memory while a process waits for it",
	  .frames = "try_to_free_pages __perform_reclaim do_try_to_free_pages "
		    "__alloc_pages_direct_reclaim node_reclaim __node_reclaim",
	  .family = FAMILY_MEMORY,
	  .least = { 3, 0.03 },
	  .skip = "__alloc_pages* alloc_pages* __alloc_frozen_pages* get_page_from_freelist "
		  "folio_alloc* __folio_alloc* vma_alloc_folio* alloc_frozen_pages*",
	  .steps = { "cat /proc/pressure/memory; grep -E 'allocstall|pgsteal' /proc/vmstat",
		     "reduce memory use of the node, or raise vm.min_free_kbytes and "
		     "vm.watermark_scale_factor" } },
	{ .id = "background-reclaim",
	  .title = "reclaiming memory in the background (kswapd)",
	  .frames = "balance_pgdat kswapd_shrink_node kswapd",
	  .family = FAMILY_MEMORY,
	  .least = { 5, 0.1 },
	  .steps = { "cat /proc/pressure/memory; grep -E 'pgscan|workingset_refault' /proc/vmstat",
		     "find the pods that grow: kubectl top pods -A --sort-by=memory" } },
	{ .id = "swap-in",
	  .title = "reading memory back from swap",
	  .frames = "do_swap_page swapin_readahead swap_read_folio swap_readpage",
	  .family = FAMILY_MEMORY,
	  .least = { 3, 0.03 },
	  .steps = { "vmstat 1 (columns si and so); cat /proc/pressure/memory",
		     "grep VmSwap /proc/[0-9]*/status | sort -k2n | tail" } },
	{ .id = "numa-balancing",
	  .title = "moving pages between NUMA nodes",
	  .frames = "task_numa_work change_prot_numa do_numa_page do_huge_pmd_numa_page "
		    "migrate_misplaced_page migrate_misplaced_folio task_numa_fault",
	  .family = FAMILY_MEMORY,
	  .least = { 3, 0.05 },
	  .steps = { "numastat -p PID; grep numa_ /proc/vmstat",
		     "bind the program to a node (cpuset, numactl), or set "
		     "kernel.numa_balancing=0" } },
	{ .id = "same-page-merging",
	  .title = "looking for equal pages (KSM)",
	  .frames = "ksm_scan_thread ksm_do_scan cmp_and_merge_page scan_get_next_rmap_item",
	  .family = FAMILY_MEMORY,
	  .least = { 3, 0.03 },
	  .steps = { "grep -H . /sys/kernel/mm/ksm/{run,pages_to_scan,sleep_millisecs}" } },
	{ .id = "huge-pages",
	  .title = "clearing or collecting huge pages",
	  .frames = "clear_huge_page folio_zero_user do_huge_pmd_anonymous_page khugepaged "
		    "collapse_huge_page hpage_collapse_scan_pmd khugepaged_scan_*",
	  .family = FAMILY_MEMORY,
	  .least = { 15, 0.1 },
	  .steps = { "cat /sys/kernel/mm/transparent_hugepage/enabled; grep thp_ /proc/vmstat",
		     "use madvise instead of always, or keep memory instead of freeing it" } },
	{ .id = "page-fault-storm",
	  .title = "handling page faults in {caller}",
	  .frames = "do_user_addr_fault exc_page_fault do_page_fault do_mem_abort "
		    "handle_mm_fault __do_page_fault",
	  .without = FORK " do_execveat_common begin_new_exec load_elf_binary",
	  .scope = SCOPE_PROGRAM,
	  .family = FAMILY_MEMORY,
	  .least = { 40, 0.1 },
	  .skip = "memset* __memset* memcpy* __memcpy* memmove* __memmove*",
	  .caller_code = CODE_USER,
	  .steps = { "reuse memory instead of mapping it again: M_TRIM_THRESHOLD and "
		     "M_MMAP_THRESHOLD of malloc, background_thread of jemalloc",
		     "perf stat -e page-faults,major-faults -p PID -- sleep 5" } },

	/* Calls of other CPUs. */
	{ .id = "tlb-shootdown",
	  .title = "making other CPUs forget mappings (TLB shootdowns)",
	  .frames = CALLS_OF_OTHER_CPUS " " TLB_FLUSHES,
	  .below = "flush_tlb_mm_range flush_tlb_page arch_tlbbatch_flush try_to_unmap_flush* "
		   "tlb_finish_mmu tlb_flush_mmu ptep_clear_flush flush_tlb_kernel_range "
		   "flush_tlb_all",
	  .without = RECLAIM,
	  .family = FAMILY_IPI,
	  .least = { 3, 0.05 },
	  .skip = TLB_FLUSHES " flush_tlb_* arch_tlbbatch_flush tlb_* on_each_cpu* "
			      "ptep_clear_flush zap_* unmap_* exit_mmap",
	  .steps = { "grep TLB /proc/interrupts, twice",
		     "call munmap, madvise and mprotect less often: keep memory in the allocator "
		     "(M_TRIM_THRESHOLD, dirty_decay_ms of jemalloc)" } },
	{ .id = "cpuinfo-readers",
	  .title = "reading /proc/cpuinfo",
	  .frames = "show_cpuinfo arch_freq_get_on_cpu arch_freq_prepare_all "
		    "aperfmperf_snapshot_all aperfmperf_snapshot_cpu cpuinfo_open",
	  .family = FAMILY_IPI,
	  .least = { 2, 0.02 },
	  .skip = LIBC_CALLS " read __read getdents* readdir*",
	  .caller_code = CODE_USER,
	  .steps = { "read it once when the program starts; kernels up to 5.18 interrupt each CPU "
		     "for it" } },
	{ .id = "membarrier",
	  .title = "running memory barriers on all CPUs (membarrier)",
	  .frames = "membarrier_private_expedited membarrier_global_expedited "
		    "__do_sys_membarrier __se_sys_membarrier __x64_sys_membarrier "
		    "__arm64_sys_membarrier",
	  .family = FAMILY_IPI,
	  .least = { 3, 0.05 },
	  .skip = LIBC_CALLS " membarrier",
	  .caller_code = CODE_USER,
	  .steps = { "look at the caller: a garbage collector or an RCU library that runs too "
		     "often" } },
	{ .id = "cross-cpu-calls",
	  .title = "waiting for other CPUs (cross-CPU calls) in {caller}",
	  .frames = CALLS_OF_OTHER_CPUS,
	  .without = RECLAIM,
	  .family = FAMILY_IPI,
	  .least = { 3, 0.05 },
	  .skip = CALLS_OF_OTHER_CPUS,
	  .steps = { "grep CAL /proc/interrupts, twice",
		     "find the program that calls it in the list of who pays" } },

	/* Tracing that was left on. */
	{ .id = "function-tracing",
	  .title = "tracing of kernel functions (ftrace, kprobes, fprobes)",
	  .frames = "ftrace_caller ftrace_regs_caller ftrace_graph_caller "
		    "arch_ftrace_ops_list_func ftrace_ops_list_func ftrace_ops_assist_func "
		    "function_trace_call function_stack_trace_call trace_function "
		    "function_graph_enter* prepare_ftrace_return trace_graph_entry "
		    "trace_graph_return ftrace_return_to_handler return_to_handler "
		    "kprobe_ftrace_handler kprobe_dispatcher kretprobe_dispatcher "
		    "aggr_pre_handler kprobe_int3_handler fprobe_handler fprobe_entry "
		    "fprobe_return",
	  .least = { 1, 0.01 },
	  .skip = "ftrace_* arch_ftrace_* function_* trace_* kprobe_* prepare_ftrace_*",
	  .steps = { "cat /sys/kernel/tracing/{current_tracer,enabled_functions,kprobe_events}",
		     "ls /sys/kernel/tracing/instances; cat /sys/kernel/debug/kprobes/list; "
		     "bpftool link" } },
	{ .id = "trace-events",
	  .title = "writing trace events (tracefs, perf)",
	  .frames = "trace_event_raw_event_* trace_event_buffer_* trace_buffer_lock_reserve "
		    "ring_buffer_lock_reserve ring_buffer_unlock_commit perf_trace_* "
		    "perf_syscall_enter perf_syscall_exit ftrace_syscall_enter "
		    "ftrace_syscall_exit perf_tp_event perf_swevent_event "
		    "perf_event_output_forward perf_event_output_backward perf_event_output "
		    "perf_output_begin_forward perf_output_copy perf_prepare_sample",
	  .without = "perf_event_mmap perf_event_comm perf_event_exec perf_event_fork "
		     "perf_event_task bpf_perf_event_output*",
	  .least = { 1, 0.01 },
	  .skip = "perf_* __perf_* trace_* ring_buffer_* __traceiter_* __trace_* ftrace_*",
	  .steps = { "cat /sys/kernel/tracing/set_event; cat /sys/kernel/tracing/tracing_on",
		     "ls -l /proc/[0-9]*/fd 2>/dev/null | grep -c perf_event; pgrep -a perf" } },
	{ .id = "bpf-tracing",
	  .title = "running BPF programs that trace the kernel in {caller}",
	  .frames = "bpf_trace_run* __bpf_trace_* bpf_trampoline_* trace_call_bpf "
		    "kprobe_multi_link_* uprobe_multi_link_* perf_call_bpf_enter "
		    "perf_call_bpf_exit __bpf_prog_enter* __bpf_prog_exit*",
	  .least = { 3, 0.03 },
	  .skip = "bpf_trace_run* __bpf_trace_* bpf_trampoline_* __traceiter_* trace_* "
		  "kprobe_* fprobe_* ftrace_*",
	  .steps = { "bpftool prog list, bpftool link list: programs, and the processes that "
		     "hold them" } },
	{ .id = "uprobes",
	  .title = "handling probes in user programs (uprobes)",
	  .frames = "uprobe_notify_resume handle_swbp uprobe_pre_sstep_notifier "
		    "uprobe_post_sstep_notifier uprobe_dispatcher uretprobe_dispatcher "
		    "handle_uretprobe_chain uprobe_handle_trampoline __do_sys_uretprobe "
		    "__x64_sys_uretprobe __do_sys_uprobe __x64_sys_uprobe asm_exc_int3 "
		    "asm_exc_debug exc_int3 noist_exc_debug",
	  .least = { 1, 0.01 },
	  .skip = "[uprobes]",
	  .caller_code = CODE_USER,
	  .steps = { "cat /sys/kernel/tracing/uprobe_events; bpftool link list",
		     "attach to functions that are called less often" } },

	/* System calls that are slower than they look. */
	{ .id = "slow-clock-source",
	  .title = "reading a slow clock source",
	  .frames = "read_hpet acpi_pm_read acpi_pm_read_slow acpi_pm_read_verified "
		    "acpi_pm_read_verify pit_read",
	  .family = FAMILY_CLOCK,
	  .least = { 2, 0.02 },
	  .skip = "ktime_get* timekeeping_* getnstimeofday* posix_get_* get_clock*",
	  .steps = { "cat /sys/devices/system/clocksource/clocksource0/"
		     "{current,available}_clocksource",
		     "dmesg | grep -i -E 'tsc|clocksource' says why the TSC is not used" } },
	{ .id = "cpu-time-clocks",
	  .title = "reading clocks of CPU time in {caller}",
	  .frames = "posix_cpu_clock_get process_cpu_clock_get thread_cpu_clock_get "
		    "posix_cpu_clock_get_task thread_group_sample_cputime thread_group_cputime "
		    "getrusage __do_sys_getrusage __x64_sys_getrusage __arm64_sys_getrusage",
	  .scope = SCOPE_PROGRAM,
	  .family = FAMILY_CLOCK,
	  .least = { 10, 0.05 },
	  .skip = CLOCK_FUNCTIONS " getrusage __getrusage clock",
	  .caller_code = CODE_USER,
	  .steps = { "these clocks need a system call each time: measure less often, or read "
		     "CLOCK_MONOTONIC" } },
	{ .id = "clock-syscalls",
	  .title = "asking the kernel for the time in {caller}",
	  .frames = CLOCK_CALLS,
	  .scope = SCOPE_PROGRAM,
	  .family = FAMILY_CLOCK,
	  .least = { 20, 0.05 },
	  .skip = CLOCK_FUNCTIONS,
	  .caller_code = CODE_USER,
	  .steps = { "cat /sys/devices/system/clocksource/clocksource0/current_clocksource: only "
		     "tsc, kvm-clock and hyperv are read without a system call",
		     "static or seccomp'ed programs, gVisor and old libcs do not use the vDSO" } },
	{ .id = "random-numbers",
	  .title = "reading random numbers from the kernel in {caller}",
	  .frames = "get_random_bytes_user urandom_read urandom_read_iter random_read "
		    "random_read_iter extract_crng_user _extract_crng extract_crng "
		    "crng_make_state __do_sys_getrandom __x64_sys_getrandom "
		    "__arm64_sys_getrandom",
	  .scope = SCOPE_PROGRAM,
	  .least = { 5, 0.05 },
	  .skip = LIBC_CALLS " getrandom __getrandom* getentropy arc4random* read __read*",
	  .caller_code = CODE_USER,
	  .steps = { "read more bytes at once, or use a generator in the program that is seeded "
		     "once" } },
	{ .id = "seccomp-filter",
	  .title = "running seccomp filters",
	  .frames = "__seccomp_filter seccomp_run_filters",
	  .scope = SCOPE_PROGRAM,
	  .least = { 8, 0.05 },
	  .steps = { "grep Seccomp_filters /proc/PID/status",
		     "use one short filter; sysctl net.core.bpf_jit_enable must be 1" } },
	{ .id = "audit-rules",
	  .title = "evaluating audit rules",
	  .frames = "audit_filter_rules audit_filter_syscall audit_filter_task "
		    "audit_filter_inodes audit_filter_uring __audit_syscall_entry "
		    "__audit_syscall_exit audit_log_start audit_log_end audit_log_exit",
	  .least = { 2, 0.02 },
	  .steps = { "auditctl -l | wc -l; auditctl -s",
		     "restrict the rules to fewer system calls; each system call is compared with "
		     "all of them" } },
	{ .id = "cpu-limit-throttling",
	  .title = "stopping and continuing cgroups at their CPU limits",
	  .frames = "throttle_cfs_rq throttle_cfs_rq_work unthrottle_cfs_rq "
		    "distribute_cfs_runtime do_sched_cfs_period_timer sched_cfs_period_timer "
		    "do_sched_cfs_slack_timer tg_throttle_down tg_unthrottle_up "
		    "__cfsb_csd_unthrottle walk_tg_tree_from",
	  .least = { 1, 0.02 },
	  .steps = { "grep -H nr_throttled $(find /sys/fs/cgroup -name cpu.stat)",
		     "raise or remove CPU limits; start fewer threads than the limit allows" } },

	/* Programs that watch others. */
	{ .id = "smaps-readers",
	  .title = "reading smaps or pagemap of processes",
	  .frames = "show_smap show_smaps_rollup smaps_pte_range smap_gather_stats pagemap_read "
		    "pagemap_pmd_range show_numa_map gather_pte_stats",
	  .family = FAMILY_PROC,
	  .least = { 2, 0.02 },
	  .skip = LIBC_CALLS " read __read getdents* readdir*",
	  .caller_code = CODE_USER,
	  .steps = { "let the monitoring agent read statm or status, or smaps less often: it also "
		     "holds the mmap_lock of the process" } },
	{ .id = "cgroup-statistics",
	  .title = "summing up statistics of cgroups",
	  .frames = "cgroup_rstat_flush* css_rstat_flush* mem_cgroup_flush_stats* "
		    "__mem_cgroup_flush_stats do_flush_stats mem_cgroup_css_rstat_flush "
		    "memory_stat_format memory_stat_show memcg_stat_show memcg_stat_format "
		    "memcg1_stat_format mem_cgroup_nr_lru_pages memcg_numa_stat_show "
		    "memory_numa_stat_show",
	  .family = FAMILY_PROC,
	  .least = { 2, 0.02 },
	  .skip = LIBC_CALLS " read __read getdents* readdir*",
	  .caller_code = CODE_USER,
	  .steps = { "count the cgroups, also dying ones: cat /proc/cgroups; grep nr_dying "
		     "/sys/fs/cgroup/cgroup.stat",
		     "let the monitoring agents (cAdvisor, kubelet) read them less often" } },
	{ .id = "proc-walkers",
	  .title = "walking through the processes and sockets in /proc",
	  .frames = "proc_pid_readdir next_tgid do_task_stat proc_tgid_stat proc_pid_status "
		    "proc_pid_statm proc_pid_cmdline_read proc_pid_lookup tcp4_seq_show "
		    "tcp6_seq_show tcp_seq_next tcp_get_idx udp_seq_next unix_seq_next "
		    "inet_diag_dump_icsk render_sigset_t proc_tid_stat",
	  .family = FAMILY_PROC,
	  .least = { 5, 0.05 },
	  .skip = LIBC_CALLS " read __read getdents* readdir*",
	  .caller_code = CODE_USER,
	  .steps = { "let these programs look less often, or follow events instead (pidfd, "
		     "inotify, BPF)" } },

	/* Runtimes. */
	{ .id = "gc-java",
	  .title = "garbage collection of the JVM",
	  .code = CODE_USER,
	  .frames = "VM_GC_Operation::* VM_G1* VM_GenCollect* VM_ParallelGC* VM_Parallel* "
		    "VM_CollectForMetadataAllocation::* G1ConcurrentMarkThread::* "
		    "G1ConcurrentRefineThread::* ConcurrentGCThread::* GangWorker::* "
		    "WorkerThread::run GCTaskThread::run ShenandoahControlThread::* ZDriver* "
		    "XDriver* ZWorker::*",
	  .threads = "GC Thread#*,G1 *,ZWorker*,XWorker*,ZDriver*,XDriver*,Shenandoah*,ParGC*",
	  .scope = SCOPE_PROGRAM,
	  .least = { 20, 0.1 },
	  .caller_code = CODE_USER,
	  .steps = { "jcmd PID GC.heap_info; run it with -Xlog:gc to see how often it collects",
		     "raise -Xmx or -XX:MaxRAMPercentage if the heap is always full; else "
		     "allocate less" } },
	{ .id = "gc-node",
	  .title = "garbage collection of V8",
	  .code = CODE_USER,
	  .frames = "v8::internal::Heap::CollectGarbage* v8::internal::Heap::PerformGarbage* "
		    "v8::internal::Heap::Scavenge* v8::internal::Scavenger* "
		    "v8::internal::MarkCompact* v8::internal::MinorMark* "
		    "v8::internal::ConcurrentMarking* v8::internal::Sweeper* "
		    "v8::internal::Evacuator* v8::internal::PageEvacuation* "
		    "v8::internal::IncrementalMarking::* v8::internal::ScavengerCollector*",
	  .scope = SCOPE_PROGRAM,
	  .least = { 20, 0.1 },
	  .skip = "v8::*",
	  .caller_code = CODE_USER,
	  .steps = { "run it with --trace-gc; raise --max-semi-space-size (many short-lived "
		     "objects) or --max-old-space-size",
		     "compare the heap limit with the memory limit of the container" } },
	{ .id = "gc-python",
	  .title = "garbage collection of CPython in {caller}",
	  .code = CODE_USER,
	  .frames = "gc_collect_main gc_collect_generations gc_collect_with_callback "
		    "gc_collect_young gc_collect_full gc_collect_increment gc_collect_region "
		    "gc_collect_internal _PyGC_Collect* PyGC_Collect _PyGC_CollectNoFail "
		    "_Py_RunGC _PyObject_GC_Link deduce_unreachable subtract_refs update_refs "
		    "move_unreachable visit_reachable visit_decref",
	  .scope = SCOPE_PROGRAM,
	  .least = { 20, 0.05 },
	  .skip = "gc_* _PyGC* PyGC* _PyObject_* PyObject_* PyType_* PyList_* PyDict_* "
		  "PyTuple_* _PyEval_* Py* _Py* __libc_start* _start main",
	  .caller_code = CODE_USER,
	  .steps = { "gc.get_stats() counts collections; gc.freeze() after start-up takes "
		     "long-lived objects out of them",
		     "raise gc.set_threshold(), or avoid cycles" } },
	{ .id = "gc-go",
	  .title = "garbage collection of Go",
	  .code = CODE_USER,
	  .frames = "runtime.gcBgMarkWorker* runtime.gcAssistAlloc* runtime.gcDrain* "
		    "runtime.bgsweep runtime.bgscavenge runtime.sweepone runtime.gcStart* "
		    "runtime.gcMark* runtime.deductSweepCredit runtime.scanobject "
		    "runtime.wbBufFlush*",
	  .scope = SCOPE_PROGRAM,
	  .least = { 25, 0.1 },
	  .skip = "runtime.*",
	  .caller_code = CODE_USER,
	  .steps = { "run it with GODEBUG=gctrace=1; go tool pprof of /debug/pprof/allocs shows "
		     "who allocates",
		     "raise GOGC, or set GOMEMLIMIT near the limit of the container" } },
	{ .id = "gc-dotnet",
	  .title = "garbage collection of .NET",
	  .code = CODE_USER,
	  .frames = "WKS::gc_heap::* SVR::gc_heap::* WKS::GCHeap::GarbageCollect* "
		    "SVR::GCHeap::GarbageCollect*",
	  .threads = ".NET Server GC*,.NET BGC*",
	  .scope = SCOPE_PROGRAM,
	  .least = { 20, 0.1 },
	  .caller_code = CODE_USER,
	  .steps = { "dotnet-counters monitor -p PID shows the time in GC",
		     "DOTNET_gcServer=0 in small containers; DOTNET_GCHeapHardLimit" } },
	{ .id = "gc-ruby",
	  .title = "garbage collection of Ruby",
	  .code = CODE_USER,
	  .frames = "gc_start gc_marks* gc_sweep* gc_mark_stacked_objects* "
		    "garbage_collect_with_gvl rb_gc_start heap_page_allocate",
	  .scope = SCOPE_PROGRAM,
	  .least = { 20, 0.05 },
	  .caller_code = CODE_USER,
	  .steps = { "GC.stat; RUBY_GC_HEAP_INIT_SLOTS and RUBY_GC_HEAP_GROWTH_FACTOR" } },
	{ .id = "jit-java",
	  .title = "JIT compilation in the JVM",
	  .code = CODE_USER,
	  .frames = "CompileBroker::* C2Compiler::* Compiler::compile_method Compile::Compile*",
	  .threads = "C2 CompilerThre*,C1 CompilerThre*,JVMCI-native*",
	  .scope = SCOPE_PROGRAM,
	  .least = { 35, 0.2 },
	  .caller_code = CODE_USER,
	  .steps = { "normal during the first minutes of a program; later: jcmd PID "
		     "Compiler.codecache shows whether the code cache is full",
		     "give short-lived programs -XX:TieredStopAtLevel=1, or a CDS archive" } },
	{ .id = "jit-node",
	  .title = "JIT compilation in V8",
	  .code = CODE_USER,
	  .frames = "v8::internal::OptimizingCompile* v8::internal::compiler::* "
		    "v8::internal::maglev::* v8::internal::Compiler::* "
		    "v8::internal::baseline::*",
	  .scope = SCOPE_PROGRAM,
	  .least = { 35, 0.2 },
	  .skip = "v8::*",
	  .caller_code = CODE_USER,
	  .steps = { "node --trace-opt --trace-deopt shows functions that are compiled again and "
		     "again" } },
};

const size_t nr_finding_rules = array_len(finding_rules);

struct finding_table finding_table_of(enum profile_type type)
{
	if (type == PROFILE_CPU)
		return (struct finding_table){ finding_rules, nr_finding_rules };
	if (type == PROFILE_OFF_CPU)
		return (struct finding_table){ wait_rules, nr_wait_rules };
	return (struct finding_table){ 0 };
}
