/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/capture_ops.h"

#include "base/clock.h"

#include <limits.h>
#include <sys/epoll.h>

void capture_close(struct capture *capture)
{
	if (!capture)
		return;
	cpu_timers_free(capture->timers);
	capture->ops->close(capture);
}

enum capture_path capture_path(const struct capture *capture)
{
	return capture->ops->path;
}

const char *capture_path_name(enum capture_path path)
{
	return path == CAPTURE_PERF ? "perf" : "bpf";
}

int capture_follow_cpus(struct capture *capture, struct cpu_set_bits *ret_restarted)
{
	return cpu_timers_follow(capture->timers, ret_restarted);
}

void capture_stop(struct capture *capture)
{
	cpu_timers_stop(capture->timers);
}

uint64_t capture_poll(struct capture *capture,
		      void (*handle)(const struct sample_event *event, void *data), void *data)
{
	return capture->ops->poll(capture, handle, data);
}

void capture_poll_cgroups(struct capture *capture,
			  void (*handle)(const struct cgroup_event *event, void *data), void *data)
{
	capture->ops->poll_cgroups(capture, handle, data);
}

int capture_set_cgroup(struct capture *capture, uint64_t id, enum cgroup_verdict verdict)
{
	return verdict_slots_set(&capture->verdicts, id, verdict);
}

void capture_forget_cgroup(struct capture *capture, uint64_t id)
{
	verdict_slots_forget(&capture->verdicts, id);
}

void capture_set_cgroup_default(struct capture *capture, enum cgroup_verdict verdict)
{
	*capture->cgroup_default = verdict;
}

struct capture_maps capture_get_maps(const struct capture *capture)
{
	return capture->maps;
}

bool capture_wait(struct capture *capture, uint64_t until_ns)
{
	uint64_t now = clock_mono_ns();
	struct epoll_event event;

	if (now >= until_ns)
		return false;
	uint64_t wait_ms = (until_ns - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
	return epoll_wait(capture->ops->get_wake_fd(capture), &event, 1,
			  wait_ms < INT_MAX ? (int)wait_ms : INT_MAX) > 0;
}

uint32_t capture_nr_cpus(const struct capture *capture)
{
	return cpu_timers_count(capture->timers);
}

int capture_add_pid(struct capture *capture, uint32_t pid)
{
	return capture->ops->add_pid(capture, pid);
}

int capture_cpu_refusal(const struct capture *capture)
{
	return cpu_timers_refusal(capture->timers);
}

void capture_get_stats(const struct capture *capture, struct capture_stats *ret_stats)
{
	struct capture_stats stats = {
		.path = capture->ops->path,
		.nr_cpus_refused = cpu_timers_refused(capture->timers),
	};

	capture->ops->get_stats(capture, &stats);
	*ret_stats = stats;
}
