/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/sample_source.h"

#include "base/clock.h"
#include "capture/sample_source_ops.h"

#include <limits.h>
#include <sys/epoll.h>

void sample_source_close(struct sample_source *source)
{
	if (!source)
		return;
	cpu_timers_free(source->timers);
	source->ops->close(source);
}

const char *sample_source_profile_label(const struct sample_source *source)
{
	return source->ops->profile_label;
}

struct unwind_memory *sample_source_unwind_memory(const struct sample_source *source)
{
	return source->unwind_memory;
}

int sample_source_follow_cpus(struct sample_source *source, struct cpu_set_bits *ret_restarted)
{
	return cpu_timers_follow(source->timers, ret_restarted);
}

int sample_source_set_period(struct sample_source *source, uint64_t period_ns)
{
	return cpu_timers_set_period(source->timers, period_ns);
}

void sample_source_stop(struct sample_source *source)
{
	cpu_timers_stop(source->timers);
}

uint64_t sample_source_poll(struct sample_source *source, const struct sample_consumer *consumer)
{
	return source->ops->poll(source, consumer);
}

void sample_source_poll_cgroups(struct sample_source *source,
				void (*handle)(const struct cgroup_event *event, void *data),
				void *data)
{
	source->ops->poll_cgroups(source, handle, data);
}

int sample_source_set_cgroup(struct sample_source *source, uint64_t id, enum cgroup_verdict verdict)
{
	return verdict_slots_set(&source->verdicts, id, verdict);
}

void sample_source_forget_cgroup(struct sample_source *source, uint64_t id)
{
	verdict_slots_forget(&source->verdicts, id);
}

void sample_source_set_cgroup_default(struct sample_source *source, enum cgroup_verdict verdict)
{
	*source->cgroup_default = verdict;
}

void sample_source_follow_process(struct sample_source *source, const struct proc_event *event)
{
	if (source->ops->follow_process)
		source->ops->follow_process(source, event);
}

void sample_source_lose_events(struct sample_source *source)
{
	if (source->ops->lose_events)
		source->ops->lose_events(source);
}

bool sample_source_wait(struct sample_source *source, uint64_t until_ns)
{
	uint64_t now = clock_mono_ns();
	struct epoll_event event;

	if (now >= until_ns)
		return false;
	uint64_t wait_ms = (until_ns - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
	return epoll_wait(source->ops->get_wake_fd(source), &event, 1,
			  wait_ms < INT_MAX ? (int)wait_ms : INT_MAX) > 0;
}

uint32_t sample_source_nr_cpus(const struct sample_source *source)
{
	return cpu_timers_count(source->timers);
}

int sample_source_attach_heap(struct sample_source *source, int fd,
			      const struct heap_probes *probes)
{
	return source->ops->attach_heap ? source->ops->attach_heap(source, fd, probes)
					: -EOPNOTSUPP;
}

int sample_source_sample_calls(struct sample_source *source, const struct call_target *targets,
			       size_t nr)
{
	return source->ops->sample_calls ? source->ops->sample_calls(source, targets, nr)
					 : -EOPNOTSUPP;
}

int sample_source_add_pid(struct sample_source *source, uint32_t pid)
{
	return source->ops->add_pid(source, pid);
}

int sample_source_open_thread(struct sample_source *source, uint32_t tid, void **ret_thread)
{
	return source->ops->open_thread ? source->ops->open_thread(source, tid, ret_thread)
					: -EOPNOTSUPP;
}

void sample_source_close_thread(struct sample_source *source, void *thread)
{
	source->ops->close_thread(thread);
}

bool sample_source_has_block(const struct sample_source *source, uint32_t tid, uint32_t sequence)
{
	return source->ops->has_block && source->ops->has_block(source, tid, sequence);
}

uint64_t sample_source_start_blocks(struct sample_source *source)
{
	return source->ops->start_blocks ? source->ops->start_blocks(source) : clock_mono_ns();
}

void sample_source_take_irq_times(struct sample_source *source, irq_time_fn handle, void *data)
{
	if (source->ops->take_irq_times)
		source->ops->take_irq_times(source, handle, data);
}

int sample_source_cpu_refusal(const struct sample_source *source)
{
	return cpu_timers_refusal(source->timers);
}

void sample_source_get_stats(const struct sample_source *source, struct capture_stats *ret_stats)
{
	struct capture_stats stats = {
		.backend = source->ops->backend,
		.nr_cpus_refused = cpu_timers_refused(source->timers),
	};

	source->ops->get_stats(source, &stats);
	*ret_stats = stats;
}
