/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The one definition of all maps and knobs. */
#define MAPS_DEFINE
#include "bpf/maps.bpf.h"

#include "bpf/opts.bpf.h"

const volatile bool include_idle = false;
const volatile bool cgroup_is_v1 = false;
const volatile bool cgroup_is_cpu = false;
const volatile __u32 cgroup_hierarchy = 0;
const volatile __u32 thread_size = 16384;
const volatile __u32 page_bytes = 4096;
const volatile bool filter_by_pid = false;
const volatile bool filter_by_tid = false;
const volatile bool filter_by_comm = false;
const volatile bool off_cpu_has_exit = false;
const volatile bool lock_is_followed = false;
const volatile bool off_cpu_only_locks = false;
const volatile bool wall_is_told = false;
const volatile bool growth_is_followed = false;
const volatile bool heap_is_followed = false;
const volatile bool irq_is_followed = false;
const volatile bool only_interrupts = false;
const volatile __u64 off_cpu_min_ns = 0;
const volatile bool pass_to_perf = false;

volatile __u32 cgroup_default = CGROUP_UNFILTERED;
volatile __u64 cgroup_slots[CGROUP_SLOTS] = { 0 };
volatile __u64 off_cpu_threshold_ns = OFF_CPU_MIN_THRESHOLD_NS;
volatile __u64 off_cpu_min_rest_ns = OFF_CPU_MIN_REST_NS;
volatile __u64 lock_threshold_ns = 10 * LOCK_MIN_THRESHOLD_NS;
volatile __u64 growth_mean_bytes = GROWTH_MIN_MEAN_BYTES;
volatile __u64 heap_interval = HEAP_MIN_INTERVAL;
volatile __u64 heap_window[HEAP_WINDOW_NUMBERS];
volatile __u64 off_cpu_start_ns = 0;
volatile __u64 off_cpu_start_boot_ns = 0;
volatile __u64 wall_start_ns = 0;

char LICENSE[] SEC("license") = "Dual BSD/GPL";
