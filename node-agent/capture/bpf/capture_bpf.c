/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/bpf/capture_bpf.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "bpf/shared/growth.h"
#include "bpf/shared/heap.h"
#include "bpf/shared/lock.h"
#include "capture/bpf/block_slots.h"
#include "capture/bpf/bpf_totals.h"
#include "capture/bpf/capture_knobs.h"
#include "capture/bpf/heap_calls.h"
#include "capture/bpf/heap_links.h"
#include "capture/bpf/irq_times.h"
#include "capture/bpf/record_check.h"
#include "capture/bpf/target_maps.h"
#include "capture/bpf/thread_sweep.h"
#include "capture/bpf/threshold.h"
#include "capture/bpf/uprobe_multi.h"
#include "capture/cpu_timers.h"
#include "capture/perf_events/perf_open.h"
#include "capture/sample_source_ops.h"
#include "unwind/tables/unwind_memory.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "flamelet_bpf.skel.h"

#define ALLOCATIONS_RATE 1000 /* per second and CPU */

#define CGROUPS_PER_POLL 4096 /* more than the ring has room for */

struct capture_bpf {
	struct sample_source base; /* its verdicts are in the skeleton's memory */
	struct perf_event_attr timer; /* of each CPU */
	struct flamelet_bpf *skel; /* owned */
	struct ring_buffer *ring; /* owned */
	struct ring_buffer *cgroup_ring; /* owned */
	struct block_slots blocks;
	struct threshold locks, growth, allocations;
	struct heap_links heap;
	struct heap_calls *calls; /* owned; NULL: no calls are sampled */
	struct thread_sweep sweep; /* if blocks are wanted */
	struct irq_times irqs;
	int wake_fd; /* owned; epoll(7), readable when the sampler wakes us */
	const struct sample_consumer *consumer; /* during a poll */
	uint64_t nr_polled; /* records handed out by this poll */
	uint64_t bytes_left; /* bytes that this poll may still take out of the ring */
	uint64_t nr_bad_records;
	void (*handle_cgroup)(const struct cgroup_event *event,
			      void *data); /* during a poll of cgroups */
	void *handle_cgroup_data;
	uint32_t nr_cgroups_left; /* events that this poll may still take out of the ring */
	uint64_t nr_cgroups;
};

/* Explains what the user can do if a program does not load. */
static int explain_load(int error, struct strbuf *reterr_msg)
{
	switch (error) {
	case -EPERM:
	case -EACCES:
		strbuf_append_str(reterr_msg,
				  "the kernel refused the BPF programs: run as root, or "
				  "with CAP_BPF and CAP_PERFMON");
		return -EPERM;
	case -ESRCH:
	case -ENOENT:
		strbuf_append_str(reterr_msg, "the kernel has no type information in "
					      "/sys/kernel/btf/vmlinux (CONFIG_DEBUG_INFO_BTF)");
		return -EOPNOTSUPP;
	default:
		strbuf_appendf(reterr_msg,
			       "the BPF programs cannot be loaded (%s); the capture backend bpf "
			       "needs Linux 5.10 or newer",
			       strerror(-error));
		return error;
	}
}

static int load(struct capture_bpf *capture, const struct capture_opts *opts,
		struct strbuf *reterr_msg)
{
	capture->skel = flamelet_bpf__open();
	if (!capture->skel)
		return explain_load(-errno, reterr_msg);
	capture_knobs_set(capture->skel, opts);

	int r = capture_knobs_size_maps(capture->skel, opts);
	if (r == 0)
		r = irq_times_prepare(capture->skel, opts);
	if (r == 0)
		r = flamelet_bpf__load(capture->skel);
	if (r < 0)
		return explain_load(r, reterr_msg);
	/* The kernel's 64-bit type is not ours. */
	capture->base.verdicts.slots = (volatile uint64_t *)capture->skel->bss->cgroup_slots;
	capture->base.cgroup_default = &capture->skel->bss->cgroup_default;
	if (opts->selects_cgroups)
		*capture->base.cgroup_default = CGROUP_EXCLUDED;

	r = target_maps_fill(capture->skel, opts);
	if (r == -ENOSPC)
		strbuf_append_str(reterr_msg, "too many processes are selected");
	return r;
}

/* The maps that the BPF unwinder reads (bpf/shared/cfi.h). */
static int open_unwind_memory(struct capture_bpf *capture, const struct capture_opts *opts,
			      struct strbuf *reterr_msg)
{
	const struct flamelet_bpf *skel = capture->skel;
	struct sample_source *base = &capture->base;
	const struct unwind_file_maps files = {
		.files_fd = bpf_map__fd(skel->maps.files),
		.found_fd = bpf_map__fd(skel->maps.found_file_key),
		.find_key_fd = bpf_program__fd(skel->progs.file_key),
	};

	int r = unwind_memory_bpf_new(bpf_map__fd(skel->maps.arena), bpf_map__fd(skel->maps.tables),
				      bpf_map__fd(skel->maps.processes), &base->unwind_memory);
	if (r < 0) {
		strbuf_appendf(reterr_msg, "cannot start the unwinder: %s", strerror(-r));
		return r;
	}
	unwind_memory_bpf_know_files(base->unwind_memory, &files);
	base->unwind_memory->pool = opts->pool;
	return 0;
}

/* Handles a sample. It is checked before its frames are used. */
static void on_sample(struct capture_bpf *capture, const struct sample_event *event, size_t len)
{
	const struct sample_consumer *consumer = capture->consumer;
	size_t header = offsetof(struct sample_event, frames);

	if (len < header || !record_is_whole(event, len - header)) {
		capture->nr_bad_records++;
		return;
	}
	if (event->kind == RECORD_BLOCK_FOUND) {
		thread_sweep_add(&capture->sweep, event, clock_mono_ns());
		return;
	}
	if (event->kind == RECORD_BLOCK_BEGIN || event->kind == RECORD_BLOCK_LATE)
		block_slots_count(&capture->blocks);
	if (event->kind == RECORD_LOCK)
		threshold_count(&capture->locks);
	if (event->kind == RECORD_BLOCK_END)
		thread_sweep_end(&capture->sweep, event, consumer);
	if (event->kind == RECORD_GROWTH)
		threshold_count(&capture->growth);
	if (event->kind == RECORD_ALLOC)
		threshold_count(&capture->allocations);
	consumer->catch_up(event->time_ns, consumer->data);
	consumer->handle(event, consumer->data);
}

static void on_copy(struct capture_bpf *capture, const struct code_copy *copy, size_t len)
{
	const struct sample_consumer *consumer = capture->consumer;
	size_t header = offsetof(struct code_copy, lines);

	if (len < header || copy->nr_line_bytes > CODE_COPY_LINES_BYTES ||
	    copy->nr_line_bytes > len - header)
		capture->nr_bad_records++;
	else if (consumer->take_copy)
		consumer->take_copy(copy, consumer->data);
}

/* Handles a record of the ring buffer. */
static int on_record(void *data, void *record, size_t len)
{
	struct capture_bpf *capture = data;
	size_t room = len + BPF_RINGBUF_HDR_SZ;

	if (record_is_copy(record, len))
		on_copy(capture, record, len);
	else
		on_sample(capture, record, len);
	capture->nr_polled++;
	capture->bytes_left -= room < capture->bytes_left ? room : capture->bytes_left;
	return capture->bytes_left > 0 ? 0 : -EAGAIN;
}

/* The descriptor is edge-triggered: the ring buffer nearly always has records, but few samples are
 * worth a wake-up. */
static int open_wake_fd(struct capture_bpf *capture)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };

	capture->wake_fd = epoll_create1(EPOLL_CLOEXEC);
	if (capture->wake_fd < 0)
		return -errno;
	if (epoll_ctl(capture->wake_fd, EPOLL_CTL_ADD, bpf_map__fd(capture->skel->maps.samples),
		      &event) < 0)
		return -errno;
	return 0;
}

static int on_cgroup(void *data, void *record, size_t len)
{
	struct capture_bpf *capture = data;
	const struct cgroup_event *event = record;
	size_t header = offsetof(struct cgroup_event, path);

	if (len <= header || event->path_bytes == 0 || event->path_bytes > len - header ||
	    event->path[event->path_bytes - 1] != '\0') {
		capture->nr_bad_records++;
		return 0;
	}
	capture->nr_cgroups++;
	capture->handle_cgroup(event, capture->handle_cgroup_data);
	return --capture->nr_cgroups_left > 0 ? 0 : -EAGAIN;
}

/* The skeleton owns the link. */
static int attach_prog(const struct bpf_program *prog, struct bpf_link **ret_link)
{
	*ret_link = bpf_program__attach(prog);
	return *ret_link ? 0 : -errno;
}

static int attach_off_cpu(struct flamelet_bpf *skel)
{
	int r = 0;

	skel->bss->off_cpu_start_ns = clock_mono_ns();
	skel->bss->off_cpu_start_boot_ns = clock_read_ns(CLOCK_BOOTTIME);

	if (skel->rodata->off_cpu_has_exit)
		r = attach_prog(skel->progs.off_cpu_exit, &skel->links.off_cpu_exit);
	if (r == 0 && bpf_program__autoload(skel->progs.off_cpu_waking))
		r = attach_prog(skel->progs.off_cpu_waking, &skel->links.off_cpu_waking);
	if (r == 0)
		r = attach_prog(skel->progs.run_delay_exit, &skel->links.run_delay_exit);
	return r < 0 ? r : attach_prog(skel->progs.off_cpu_switch, &skel->links.off_cpu_switch);
}

static int attach_locks(struct flamelet_bpf *skel)
{
	int r = attach_prog(skel->progs.lock_begin, &skel->links.lock_begin);

	return r < 0 ? r : attach_prog(skel->progs.lock_end, &skel->links.lock_end);
}

/* A kernel without the tracepoints of cgroups loses only the names of short-lived containers. */
static int attach_progs(struct flamelet_bpf *skel, const struct capture_opts *opts)
{
	int r = attach_prog(skel->progs.process_fork, &skel->links.process_fork);
	if (r == 0)
		r = attach_prog(skel->progs.process_exec, &skel->links.process_exec);
	if (r == 0)
		r = attach_prog(skel->progs.process_exit, &skel->links.process_exit);
	if (r == 0 && opts->off_cpu)
		r = attach_off_cpu(skel);
	if (r == 0 && skel->rodata->lock_is_followed)
		r = attach_locks(skel);
	if (r == 0 && opts->growth)
		r = attach_prog(skel->progs.growth, &skel->links.growth);
	if (r == 0 && opts->follow_forks)
		r = attach_prog(skel->progs.follow_fork, &skel->links.follow_fork);
	(void)attach_prog(skel->progs.cgroup_born, &skel->links.cgroup_born);
	(void)attach_prog(skel->progs.cgroup_died, &skel->links.cgroup_died);
	return r;
}

/* Attaches the sampler to an event of a process (-1: all) on a CPU (-1: any). Returns the event's
 * descriptor, which is the link's from now on. */
static int attach_event(const struct capture_bpf *capture, struct perf_event_attr *attr, int pid,
			int cpu, struct bpf_link **ret_link)
{
	_cleanup_close_ int fd = perf_open(attr, pid, cpu);
	if (fd < 0)
		return fd;
	struct bpf_link *link = bpf_program__attach_perf_event(capture->skel->progs.sample, fd);
	if (!link)
		return -errno;
	*ret_link = link;
	return take_fd(fd);
}

static int open_timer(uint32_t cpu, void *data, int *ret_event_fd, void **ret_timer)
{
	const struct capture_bpf *capture = data;
	struct perf_event_attr attr = capture->timer;
	struct bpf_link *link = NULL;

	int fd = attach_event(capture, &attr, -1, (int)cpu, &link);
	if (fd < 0)
		return fd;
	*ret_timer = link;
	*ret_event_fd = fd;
	return 0;
}

static void close_timer(void *timer, void *data)
{
	(void)data;
	bpf_link__destroy(timer);
}

static int open_blocks(struct capture_bpf *capture, const struct capture_opts *opts)
{
	const struct flamelet_bpf *skel = capture->skel;

	int r = block_slots_open(&capture->blocks, bpf_map__fd(skel->maps.off_cpu_slots),
				 (volatile uint64_t *)&skel->data->off_cpu_threshold_ns);
	const struct thread_sweep_kernel kernel = {
		.programs = { skel->progs.run_delay_sweep, skel->progs.thread_sweep },
		.slots = &capture->blocks,
		.min_rest_ns = &skel->data->off_cpu_min_rest_ns,
	};
	return r < 0 ? r : thread_sweep_open(&capture->sweep, &kernel, opts->proc_fd);
}

static int attach(struct capture_bpf *capture, const struct capture_opts *opts)
{
	const struct cpu_timer_kind kind = { open_timer, close_timer, capture };

	capture->ring = ring_buffer__new(bpf_map__fd(capture->skel->maps.samples), on_record,
					 capture, NULL);
	if (!capture->ring)
		return -errno;
	capture->cgroup_ring = ring_buffer__new(bpf_map__fd(capture->skel->maps.cgroup_events),
						on_cgroup, capture, NULL);
	if (!capture->cgroup_ring)
		return -errno;
	int r = open_wake_fd(capture);
	if (r == 0 && opts->off_cpu)
		r = open_blocks(capture, opts);
	capture->locks = (struct threshold){
		.value = (volatile uint64_t *)&capture->skel->data->lock_threshold_ns,
		.min = LOCK_MIN_THRESHOLD_NS,
		.max = LOCK_MAX_THRESHOLD_NS,
	};
	capture->growth = (struct threshold){
		.value = (volatile uint64_t *)&capture->skel->data->growth_mean_bytes,
		.min = GROWTH_MIN_MEAN_BYTES,
		.max = GROWTH_MAX_MEAN_BYTES,
	};
	capture->allocations = (struct threshold){
		.rate = ALLOCATIONS_RATE,
		.value = (volatile uint64_t *)&capture->skel->data->heap_interval,
		.min = HEAP_MIN_INTERVAL,
		.max = HEAP_MAX_INTERVAL,
	};
	if (r == 0)
		r = attach_progs(capture->skel, opts);
	if (r == 0)
		r = irq_times_open(&capture->irqs, capture->skel, opts->cpus);
	return r < 0 ? r : cpu_timers_new(&kind, opts->cpus, &capture->base.timers);
}

static void close_bpf(struct sample_source *base)
{
	struct capture_bpf *capture = (struct capture_bpf *)base;

	if (capture->skel)
		flamelet_bpf__detach(capture->skel);
	heap_calls_stop(capture->calls);
	heap_links_done(&capture->heap);
	cleanup_closep(&capture->wake_fd);
	irq_times_close(&capture->irqs);
	thread_sweep_close(&capture->sweep);
	block_slots_close(&capture->blocks);
	ring_buffer__free(capture->cgroup_ring);
	ring_buffer__free(capture->ring);
	unwind_memory_free(base->unwind_memory);
	flamelet_bpf__destroy(capture->skel);
	free(capture);
}

static uint64_t poll_samples(struct sample_source *base, const struct sample_consumer *consumer)
{
	struct capture_bpf *capture = (struct capture_bpf *)base;

	capture->consumer = consumer;
	capture->nr_polled = 0;
	capture->bytes_left = bpf_map__max_entries(capture->skel->maps.samples);
	bool is_last = cpu_timers_count(base->timers) == 0;

	thread_sweep_run(&capture->sweep, clock_mono_ns(), is_last);
	(void)ring_buffer__consume(capture->ring);
	thread_sweep_unwind(&capture->sweep, base->unwind_memory, consumer, is_last);
	uint64_t now_ns = clock_mono_ns();
	block_slots_pace(&capture->blocks, sample_source_nr_cpus(base), now_ns);
	threshold_pace(&capture->locks, sample_source_nr_cpus(base), now_ns);
	threshold_pace(&capture->growth, sample_source_nr_cpus(base), now_ns);
	threshold_pace(&capture->allocations, sample_source_nr_cpus(base), now_ns);
	return capture->nr_polled;
}

static void poll_cgroups(struct sample_source *base,
			 void (*handle)(const struct cgroup_event *event, void *data), void *data)
{
	struct capture_bpf *capture = (struct capture_bpf *)base;

	capture->handle_cgroup = handle;
	capture->handle_cgroup_data = data;
	capture->nr_cgroups_left = CGROUPS_PER_POLL;
	(void)ring_buffer__consume(capture->cgroup_ring);
}

static int get_wake_fd(const struct sample_source *base)
{
	return ((const struct capture_bpf *)base)->wake_fd;
}

static int add_pid(struct sample_source *base, uint32_t pid)
{
	return target_maps_add_pid(((struct capture_bpf *)base)->skel, pid);
}

/* The task is the current one when the event occurs, so the sampler reads its stack as it does at a
 * timer's event. */
static int open_thread(struct sample_source *base, uint32_t tid, void **ret_thread)
{
	struct perf_event_attr attr = perf_open_switch_attr();
	struct bpf_link *link = NULL;

	int fd = attach_event((const struct capture_bpf *)base, &attr, (int)tid, -1, &link);
	if (fd < 0)
		return fd;
	*ret_thread = link;
	return 0;
}

static void close_thread(void *thread)
{
	bpf_link__destroy(thread);
}

static bool has_block(const struct sample_source *base, uint32_t tid, uint32_t sequence)
{
	return block_slots_has(&((const struct capture_bpf *)base)->blocks, tid, sequence);
}

static uint64_t start_blocks(struct sample_source *base)
{
	struct capture_bpf *capture = (struct capture_bpf *)base;

	thread_sweep_tell_rests(&capture->sweep);
	capture->skel->bss->wall_start_ns = clock_mono_ns();
	return capture->skel->bss->wall_start_ns;
}

static int attach_heap(struct sample_source *base, int fd, const struct heap_probes *probes)
{
	struct capture_bpf *capture = (struct capture_bpf *)base;
	const struct flamelet_bpf *skel = capture->skel;
	struct heap_links *heap = &capture->heap;
	struct file_key key;

	int r = unwind_memory_find_key(base->unwind_memory, fd, &key);
	if (r < 0)
		return r;
	heap->has_multi = uprobe_multi_is_known();
	heap->programs[HEAP_PROBE_ALLOC] = skel->progs.heap_alloc;
	if (bpf_program__autoload(skel->progs.heap_free))
		heap->programs[HEAP_PROBE_FREE] = skel->progs.heap_free;
	return heap_links_add(heap, &key, fd, probes);
}

static int sample_calls(struct sample_source *base, const struct call_target *targets, size_t nr)
{
	struct capture_bpf *capture = (struct capture_bpf *)base;
	const struct flamelet_bpf *skel = capture->skel;
	const struct heap_calls_kernel kernel = {
		.program = skel->progs.heap_call,
		.counts = skel->maps.heap_cpus,
		.window = (volatile uint64_t *)skel->bss->heap_window,
	};

	if (!bpf_program__autoload(skel->progs.heap_call))
		return -EOPNOTSUPP;
	return heap_calls_start(&kernel, targets, nr, &capture->calls);
}

static void take_irq_times(struct sample_source *base, irq_time_fn handle, void *data)
{
	irq_times_take(&((struct capture_bpf *)base)->irqs, handle, data);
}

static void get_stats(const struct sample_source *base, struct capture_stats *stats)
{
	const struct capture_bpf *capture = (const struct capture_bpf *)base;
	struct bpf_prog_info info = { 0 };
	uint32_t info_bytes = sizeof(info);

	stats->nr_bad_records = capture->nr_bad_records;
	stats->nr_cgroups = capture->nr_cgroups;
	stats->nr_stacks_lost = capture->sweep.nr_stacks_lost;
	stats->nr_found_lost = capture->sweep.nr_lost;
	stats->follows_cgroups = capture->skel->links.cgroup_born &&
				 capture->skel->links.cgroup_died;
	bpf_totals_add(bpf_map__fd(capture->skel->maps.stats), stats->bpf);
	if (bpf_obj_get_info_by_fd(bpf_program__fd(capture->skel->progs.sample), &info,
				   &info_bytes) == 0) {
		stats->bpf_run_ns = info.run_time_ns;
		stats->bpf_run_count = info.run_cnt;
	}
}

/* bpf/process.bpf.c follows processes in the kernel, and misses nothing. */
static const struct sample_source_ops ops = {
	.backend = CAPTURE_BPF,
	.close = close_bpf,
	.poll = poll_samples,
	.poll_cgroups = poll_cgroups,
	.get_wake_fd = get_wake_fd,
	.add_pid = add_pid,
	.open_thread = open_thread,
	.close_thread = close_thread,
	.has_block = has_block,
	.start_blocks = start_blocks,
	.attach_heap = attach_heap,
	.sample_calls = sample_calls,
	.take_irq_times = take_irq_times,
	.get_stats = get_stats,
};

int capture_bpf_open(const struct capture_opts *opts, struct strbuf *reterr_msg,
		     struct sample_source **ret_source)
{
	libbpf_set_print(NULL);

	struct capture_bpf *capture = calloc(1, sizeof(*capture));
	if (!capture)
		return -ENOMEM;
	_cleanup_(sample_source_closep) struct sample_source *base = &capture->base;
	base->ops = &ops;
	capture->timer = cpu_timers_attr(opts);
	capture->wake_fd = -EBADF;

	int r = load(capture, opts, reterr_msg);
	if (r == 0)
		r = attach(capture, opts);
	if (r == 0)
		r = open_unwind_memory(capture, opts, reterr_msg);
	if (r < 0)
		return r;
	*ret_source = take_ptr(base);
	return 0;
}
