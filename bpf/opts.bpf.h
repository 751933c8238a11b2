/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Knobs, written by the agent before the programs are loaded; the verifier removes what they
 * switch off. Defined in maps.bpf.c. */
#ifndef BPF_OPTS_BPF_H
#define BPF_OPTS_BPF_H

#include <stdbool.h>

#include "bpf/shared/cgroups.h"
#include "bpf/shared/heap.h"

#include <linux/types.h>

extern const volatile bool include_idle; /* send samples of idle CPUs too */
extern const volatile bool cgroup_is_v1; /* identify by a v1 hierarchy: the memory controller's … */
extern const volatile bool
	cgroup_is_cpu; /* … or the cpu controller's, where that one is not mounted */
extern const volatile __u32 cgroup_hierarchy; /* number of that hierarchy; 0: v2 */
extern const volatile __u32 thread_size; /* of a kernel stack, in bytes */
extern const volatile __u32 page_bytes;
extern const volatile bool filter_by_pid; /* only processes in filter_pids */
extern const volatile bool filter_by_tid; /* only threads in filter_tids */
extern const volatile bool filter_by_comm; /* only thread or process names in filter_comms */
extern const volatile bool off_cpu_has_exit; /* off_cpu_exit() runs */
extern const volatile bool lock_is_followed; /* lock_end() runs */
extern const volatile bool off_cpu_only_locks; /* only blocks for locks of user space */
extern const volatile bool wall_is_told; /* records RECORD_TIMES are sent */
extern const volatile bool growth_is_followed; /* growth() runs */
extern const volatile bool heap_is_followed; /* heap_alloc() runs */
extern const volatile bool irq_is_followed; /* the programs of irq.bpf.c run */
extern const volatile bool only_interrupts; /* of samples, only those of interrupts are wanted */
extern const volatile __u64 off_cpu_min_ns; /* shorter blocks are not wanted */
extern const volatile bool
	pass_to_perf; /* the event of a wanted sample writes its own record too */

/* Written while the programs run. */
extern volatile __u32 cgroup_default; /* enum cgroup_verdict: of cgroups without one */
extern volatile __u64 cgroup_slots[CGROUP_SLOTS]; /* bpf/shared/cgroups.h */
extern volatile __u64 off_cpu_threshold_ns; /* bpf/shared/off_cpu.h */
extern volatile __u64 off_cpu_min_rest_ns; /* the same */
extern volatile __u64 lock_threshold_ns; /* bpf/shared/lock.h */
extern volatile __u64 growth_mean_bytes; /* bpf/shared/growth.h */
extern volatile __u64 heap_interval; /* bpf/shared/heap.h */
extern volatile __u64 heap_window[HEAP_WINDOW_NUMBERS]; /* the same */
extern volatile __u64 off_cpu_start_ns; /* when its programs began, CLOCK_MONOTONIC … */
extern volatile __u64 off_cpu_start_boot_ns; /* … and since boot */
extern volatile __u64 wall_start_ns; /* bpf/shared/wall.h; 0: not yet */

#endif
