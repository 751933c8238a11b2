/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/perf/cpu_rings.h"

#include "base/cleanup.h"
#include "base/minmax.h"
#include "capture/cpu_timers.h"
#include "capture/perf/perf_regs.h"
#include "capture/perf_events/perf_open.h"
#include "capture/perf_events/perf_record.h"
#include "capture/perf_events/ring_room.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <time.h>

#define TASK_RING_BYTES ((size_t)64 * 1024) /* a thousand records of a CPU in each poll */

/* The two rings of a CPU, borrowed from the merge. */
struct ring_pair {
	struct merged_ring *samples;
	struct merged_ring *tasks;
};

static struct perf_event_attr make_sample_attr(const struct capture_opts *opts)
{
	struct perf_event_attr attr = cpu_timers_attr(opts);

	attr.sample_type = PERF_LAYOUT_STACK;
	attr.exclude_idle = !opts->include_idle;
	attr.sample_regs_user = perf_regs_mask;
	attr.sample_stack_user = opts->stack_copy_bytes;
	attr.read_format |= PERF_FORMAT_LOST;
	attr.sample_id_all = 1;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	attr.watermark = 1; /* at half the ring, as no number of bytes is given */
	return attr;
}

static struct perf_ring_size fit_samples(const struct capture_opts *opts,
					 struct perf_ring_size wanted)
{
	size_t page_bytes = perf_ring_round_bytes(1);
	struct ring_limits limits = {
		.others_bytes = opts->sideband_bytes + TASK_RING_BYTES + page_bytes,
	};

	ring_room_read_limits(opts->proc_fd, &limits);
	ring_room_fit(&limits, &wanted);
	return wanted;
}

void cpu_rings_init(struct cpu_rings *rings, const struct capture_opts *opts)
{
	const struct ring_load load = {
		.frequency_hz = (uint32_t)max_u64(opts->frequency_hz, opts->max_frequency_hz),
		.stack_copy_bytes = opts->stack_copy_bytes,
		.poll_interval_ns = opts->poll_interval_ns,
		.nr_cpus = (uint64_t)sysconf(_SC_NPROCESSORS_CONF),
	};
	struct perf_ring_size wanted = ring_room_wanted(&load);

	rings->samples.attr = make_sample_attr(opts);
	rings->samples.size = fit_samples(opts, wanted);
	rings->wanted_bytes = wanted.bytes;
	/* Its records end like those of the other event. */
	rings->tasks.attr = perf_open_tasks_attr(PERF_LAYOUT_TASK);
	rings->tasks.attr.read_format = PERF_FORMAT_LOST;
	rings->tasks.size = (struct perf_ring_size){ TASK_RING_BYTES, perf_ring_round_bytes(1) };
	rings->wake_fd = -EBADF;
}

void cpu_rings_done(struct cpu_rings *rings)
{
	ring_merge_done(&rings->merge);
	cleanup_closep(&rings->wake_fd);
}

static int try_event(struct perf_event_attr *attr)
{
	attr->disabled = 1;
	_cleanup_close_ int fd = perf_open(attr, -1, 0);
	attr->disabled = 0;
	return fd >= 0 || fd == -ENODEV ? 0 : fd;
}

int cpu_rings_try(struct cpu_rings *rings)
{
	rings->wake_fd = epoll_create1(EPOLL_CLOEXEC);
	if (rings->wake_fd < 0)
		return -errno;
	int r = try_event(&rings->samples.attr);
	return r < 0 ? r : try_event(&rings->tasks.attr);
}

static int open_ring(struct cpu_rings *rings, uint32_t cpu, struct ring_kind *kind,
		     struct merged_ring **ret_ring, int *ret_fd)
{
	const struct perf_ring_target target = { .pid = -1, .cpu = (int)cpu };
	struct epoll_event interest = { .events = EPOLLIN };
	struct perf_ring ring;

	int r = perf_ring_open(&kind->attr, &target, &kind->size, &ring);
	if (r < 0)
		return r;
	if (epoll_ctl(rings->wake_fd, EPOLL_CTL_ADD, ring.fd, &interest) < 0)
		r = -errno;
	else
		r = ring_merge_add(&rings->merge, &ring, &kind->nr_lost, ret_ring);
	if (r < 0)
		perf_ring_close(&ring);
	else
		*ret_fd = ring.fd;
	return r;
}

/* The next poll reads what is left in the ring. */
static void retire(struct merged_ring *ring)
{
	if (!ring)
		return;
	(void)ioctl(ring->ring.fd, PERF_EVENT_IOC_DISABLE, 0);
	ring_merge_retire(ring);
}

int cpu_rings_open(uint32_t cpu, void *data, int *ret_event_fd, void **ret_timer)
{
	struct cpu_rings *rings = data;
	struct ring_pair *pair = calloc(1, sizeof(*pair));
	int fd = -EBADF;

	if (!pair)
		return -ENOMEM;
	int r = open_ring(rings, cpu, &rings->tasks, &pair->tasks, &fd);
	if (r == 0)
		r = open_ring(rings, cpu, &rings->samples, &pair->samples, &fd);
	if (r < 0) {
		cpu_rings_close(pair, rings);
		return r;
	}
	*ret_event_fd = fd;
	*ret_timer = pair;
	return 0;
}

void cpu_rings_close(void *timer, void *data)
{
	struct ring_pair *pair = timer;

	(void)data;
	retire(pair->samples);
	retire(pair->tasks);
	free(pair);
}
