/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions that several rules share. They are patterns, as in finding_rules.h. */
#ifndef FINDINGS_FUNCTION_PATTERNS_H
#define FINDINGS_FUNCTION_PATTERNS_H

#define SPIN_LOCKS                                                                                 \
	"native_queued_spin_lock_slowpath __pv_queued_spin_lock_slowpath "                         \
	"queued_spin_lock_slowpath queued_read_lock_slowpath queued_write_lock_slowpath"
#define SLEEPING_LOCKS                                                                             \
	"osq_lock mutex_spin_on_owner rwsem_spin_on_owner mutex_optimistic_spin "                  \
	"rwsem_optimistic_spin rwsem_down_read_slowpath rwsem_down_write_slowpath"
/* How a lock is taken, up to the function that wants it. */
#define LOCK_FUNCTIONS                                                                             \
	SPIN_LOCKS                                                                                 \
	" " SLEEPING_LOCKS                                                                         \
	" _raw_spin_* _raw_read_* _raw_write_* __raw_spin_* __raw_read_* __raw_write_* "           \
	"do_raw_* raw_spin_rq_lock_nested task_rq_lock __task_rq_lock mutex_lock* "                \
	"__mutex_lock* ww_mutex_lock* down_read* down_write* __down_read* "                        \
	"__down_write* mmap_read_lock* mmap_write_lock* percpu_down_*"
/* What wants the mmap_lock, at the end of LOCK_FUNCTIONS. */
#define MMAP_LOCK_TAKERS                                                                           \
	"vm_mmap_pgoff __vm_munmap do_munmap do_user_addr_fault exc_page_fault "                   \
	"do_page_fault __do_page_fault do_mprotect_pkey do_madvise "                               \
	"do_madvise_walk_vmas madvise_lock __do_sys_brk __x64_sys_brk "                            \
	"lock_mm_and_find_vma internal_get_user_pages_fast gup_fast_fallback "                     \
	"__get_user_pages_locked __mm_populate dup_mmap exit_mmap __do_sys_mremap "                \
	"__access_remote_vm m_start proc_pid_cmdline_read mlock_fixup "                            \
	"apply_mlockall_flags get_signal userfaultfd_*"
#define NETFILTER "nft_do_chain ipt_do_table ip6t_do_table arpt_do_table ebt_do_table"
#define FORK                                                                                       \
	"kernel_clone _do_fork copy_process __do_sys_clone __do_sys_clone3 __do_sys_fork "         \
	"__do_sys_vfork __x64_sys_clone __x64_sys_clone3 __x64_sys_fork __x64_sys_vfork "          \
	"__arm64_sys_clone __arm64_sys_clone3"
#define CALLS_OF_OTHER_CPUS                                                                        \
	"smp_call_function smp_call_function_many smp_call_function_many_cond "                    \
	"smp_call_function_single smp_call_function_single_async smp_call_function_any "           \
	"generic_exec_single csd_lock_wait* on_each_cpu* smp_call_on_cpu stop_one_cpu* "           \
	"stop_machine* text_poke_* smp_text_poke_* kick_all_cpus_sync"
#define TLB_FLUSHES                                                                                \
	"native_flush_tlb_multi native_flush_tlb_others flush_tlb_multi kvm_flush_tlb_multi "      \
	"kvm_flush_tlb_others hyperv_flush_tlb_* xen_flush_tlb_*"
/* Where reclaim unmaps pages, which is its own cause of TLB flushes. */
#define RECLAIM "shrink_folio_list shrink_page_list"
/* Wrappers of system calls. */
#define LIBC_CALLS "__GI_* __libc_* syscall __syscall* __vdso_* __x64_sys_* runtime.*yscall*"
#define LIBC_LOCKS                                                                                 \
	LIBC_CALLS                                                                                 \
	" __lll_* ___pthread_* __pthread_* pthread_* futex_* __futex_* "                           \
	"__nptl_* lll_* __new_sem_* sem_* mtx_lock cnd_* std::mutex::* std::sys::* "               \
	"std::condition_variable::* parking_lot* runtime.futex* runtime.lock* "                    \
	"runtime.unlock* "                                                                         \
	"runtime.note* runtime.semrelease runtime.semacquire PyThread_* Unsafe_Park "              \
	"Unsafe_Unpark Parker::* PlatformMonitor::* os::PlatformEvent::* __clone* clone3"
#define CLOCK_CALLS                                                                                \
	"__do_sys_clock_gettime __se_sys_clock_gettime __x64_sys_clock_gettime "                   \
	"__arm64_sys_clock_gettime __do_sys_gettimeofday __se_sys_gettimeofday "                   \
	"__x64_sys_gettimeofday __arm64_sys_gettimeofday __x64_sys_time"
#define CLOCK_FUNCTIONS                                                                            \
	LIBC_CALLS " clock_gettime* __clock_gettime* gettimeofday __gettimeofday time"

#endif
