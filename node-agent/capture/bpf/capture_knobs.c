/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/bpf/capture_knobs.h"

#include "base/clock.h"
#include "base/minmax.h"
#include "capture/bpf/capture_bpf.h"
#include "capture/bpf/uprobe_multi.h"

#include <bpf/libbpf.h>
#include <unistd.h>

#include "flamelet_bpf.skel.h"

/* Room for this many polling intervals of samples of an average size: the reader may be late. */
#define RING_POLLS 8
#define RING_SAMPLE_BYTES 1024
#define RING_MIN_BYTES (UINT64_C(1) << 19)
#define RING_MIN_BLOCK_BYTES (UINT64_C(1) << 22) /* at first, each thread has a block */
#define RING_MAX_BYTES (UINT64_C(1) << 26)

#define THREAD_MIN_BYTES 16384 /* smallest size of a kernel stack */

static uint32_t ring_bytes(const struct capture_opts *opts)
{
	uint64_t samples = (uint64_t)libbpf_num_possible_cpus() *
			   max_u64(opts->frequency_hz, opts->max_frequency_hz) *
			   opts->poll_interval_ns * RING_POLLS / NSEC_PER_SEC;
	bool has_more = opts->off_cpu || opts->locks || opts->growth || opts->allocations ||
			opts->event;
	uint64_t bytes = has_more ? RING_MIN_BLOCK_BYTES : RING_MIN_BYTES;

	while (bytes < samples * RING_SAMPLE_BYTES && bytes < RING_MAX_BYTES)
		bytes *= 2;
	return (uint32_t)bytes;
}

static int size_growth_maps(struct flamelet_bpf *skel)
{
	int r = bpf_map__set_max_entries(skel->maps.growth_slots, 1);

	return r < 0 ? r : bpf_map__set_max_entries(skel->maps.growth_cpu_slots, 1);
}

int capture_knobs_size_maps(struct flamelet_bpf *skel, const struct capture_opts *opts)
{
	int r = bpf_map__set_max_entries(skel->maps.samples, ring_bytes(opts));

	if (r == 0 && !opts->follow_forks)
		r = bpf_map__set_max_entries(skel->maps.filter_pids, (uint32_t)opts->nr_pids + 1);
	if (r == 0)
		r = bpf_map__set_max_entries(skel->maps.filter_tids, (uint32_t)opts->nr_tids + 1);
	if (r == 0)
		r = bpf_map__set_max_entries(skel->maps.filter_comms, (uint32_t)opts->nr_comms + 1);
	if (r == 0 && !opts->off_cpu)
		r = bpf_map__set_max_entries(skel->maps.off_cpu_slots, 1);
	if (r == 0 && !opts->wall)
		r = bpf_map__set_max_entries(skel->maps.wall_slots, 1);
	if (r == 0 && !opts->locks)
		r = bpf_map__set_max_entries(skel->maps.lock_waits, 1);
	if (r == 0 && !opts->growth)
		r = size_growth_maps(skel);
	if (r == 0 && (skel->rodata->off_cpu_has_exit || skel->rodata->lock_is_followed ||
		       skel->rodata->growth_is_followed || skel->rodata->heap_is_followed))
		r = bpf_map__set_max_entries(skel->maps.scratch_of_cpu, 2);
	return r;
}

/* Returns the kernel's THREAD_SIZE: 16 KiB, or a page if that is larger. */
static uint32_t thread_size(void)
{
	uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);

	return page > THREAD_MIN_BYTES ? page : THREAD_MIN_BYTES;
}

/* sched_exit_tp, which comes when a thread runs again, is there since about Linux 6.15;
 * contention_begin and contention_end since 5.19. */
static bool kernel_has_tracepoint(const char *name)
{
	return libbpf_find_vmlinux_btf_id(name, BPF_TRACE_RAW_TP) > 0;
}

bool capture_bpf_knows_locks(void)
{
	return kernel_has_tracepoint("contention_begin") && kernel_has_tracepoint("contention_end");
}

static void prepare_heap(struct flamelet_bpf *skel, const struct capture_opts *opts)
{
	bpf_program__set_autoload(skel->progs.heap_alloc, opts->allocations);
	bpf_program__set_autoload(skel->progs.heap_free, opts->frees);
	bpf_program__set_autoload(skel->progs.heap_call,
				  opts->allocations && uprobe_multi_is_known());
	if (!opts->allocations)
		return;
	uprobe_multi_prepare(skel->progs.heap_alloc);
	uprobe_multi_prepare(skel->progs.heap_free);
	uprobe_multi_prepare(skel->progs.heap_call);
}

void capture_knobs_set(struct flamelet_bpf *skel, const struct capture_opts *opts)
{
	skel->rodata->include_idle = opts->include_idle;
	skel->rodata->cgroup_is_v1 = opts->cgroup_is_v1;
	skel->rodata->cgroup_is_cpu = opts->cgroup_is_cpu;
	skel->rodata->cgroup_hierarchy = opts->cgroup_hierarchy;
	skel->rodata->thread_size = thread_size();
	skel->rodata->page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	skel->rodata->filter_by_pid = opts->nr_pids > 0 || opts->follow_forks;
	skel->rodata->filter_by_tid = opts->nr_tids > 0;
	skel->rodata->filter_by_comm = opts->nr_comms > 0;
	bpf_program__set_autoload(skel->progs.follow_fork, opts->follow_forks);
	skel->rodata->off_cpu_has_exit = opts->off_cpu && kernel_has_tracepoint("sched_exit_tp");
	skel->rodata->off_cpu_min_ns = opts->min_block_ns;
	skel->rodata->off_cpu_only_locks = opts->only_locks;
	skel->rodata->wall_is_told = opts->wall;
	bpf_program__set_autoload(skel->progs.off_cpu_waking, opts->off_cpu && opts->wakers);
	bpf_program__set_autoload(skel->progs.off_cpu_switch, opts->off_cpu);
	bpf_program__set_autoload(skel->progs.thread_sweep, opts->off_cpu);
	bpf_program__set_autoload(skel->progs.run_delay_exit, opts->off_cpu);
	bpf_program__set_autoload(skel->progs.run_delay_sweep, opts->off_cpu);
	bpf_program__set_autoload(skel->progs.off_cpu_exit, skel->rodata->off_cpu_has_exit);
	skel->rodata->lock_is_followed = opts->locks && capture_bpf_knows_locks();
	bpf_program__set_autoload(skel->progs.lock_begin, skel->rodata->lock_is_followed);
	bpf_program__set_autoload(skel->progs.lock_end, skel->rodata->lock_is_followed);
	skel->rodata->growth_is_followed = opts->growth;
	bpf_program__set_autoload(skel->progs.growth, opts->growth);
	skel->rodata->heap_is_followed = opts->allocations;
	prepare_heap(skel, opts);
}

bool capture_bpf_knows_growth(void)
{
	return libbpf_find_vmlinux_btf_id("rss_stat", BPF_TRACE_RAW_TP) > 0;
}
