/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/cpu_timers.h"

#include "base/array.h"
#include "base/cleanup.h"

#include <bpf/libbpf.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct cpu_timer {
	uint32_t cpu;
	struct bpf_link *link; /* owned; holds the perf_event's fd */
};

struct cpu_timers {
	const struct bpf_program *program; /* borrowed */
	uint32_t frequency_hz;
	struct cpu_set_bits wanted;
	struct cpu_set_bits online; /* when last looked at */
	struct cpu_timer *timers; /* owned */
	size_t nr_timers, cap_timers;
};

int cpu_timers_new(const struct bpf_program *program, uint32_t frequency_hz,
		   const struct cpu_set_bits *wanted, struct cpu_timers **ret_timers)
{
	struct cpu_timers *timers = calloc(1, sizeof(*timers));

	if (!timers)
		return -ENOMEM;
	timers->program = program;
	timers->frequency_hz = frequency_hz;
	for (size_t i = 0; i < array_len(timers->wanted.words); i++)
		timers->wanted.words[i] = wanted ? wanted->words[i] : UINT64_MAX;
	*ret_timers = timers;
	return 0;
}

void cpu_timers_stop(struct cpu_timers *timers)
{
	for (size_t i = 0; i < timers->nr_timers; i++)
		bpf_link__destroy(timers->timers[i].link);
	timers->nr_timers = 0;
	timers->online = (struct cpu_set_bits){ 0 };
}

void cpu_timers_free(struct cpu_timers *timers)
{
	if (!timers)
		return;
	cpu_timers_stop(timers);
	free(timers->timers);
	free(timers);
}

uint32_t cpu_timers_count(const struct cpu_timers *timers)
{
	return (uint32_t)timers->nr_timers;
}

/* CLOCK events of type software need no hardware counters and work in every virtual machine. */
static int open_event(uint32_t cpu, uint32_t frequency_hz)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = frequency_hz,
	};

	long fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

static int start_timer(struct cpu_timers *timers, uint32_t cpu)
{
	int r = array_grow(timers->timers, timers->cap_timers, timers->nr_timers + 1, CPU_LIST_MAX);
	if (r < 0)
		return r;

	_cleanup_close_ int fd = open_event(cpu, timers->frequency_hz);
	if (fd < 0)
		return fd;
	struct bpf_link *link = bpf_program__attach_perf_event(timers->program, fd);
	if (!link)
		return -errno;
	take_fd(fd);
	timers->timers[timers->nr_timers++] = (struct cpu_timer){ .cpu = cpu, .link = link };
	return 0;
}

/* A CPU that went offline has lost its event for good: when it comes back it needs a new one. */
static void drop_offline(struct cpu_timers *timers, const struct cpu_set_bits *online)
{
	size_t nr_kept = 0;

	for (size_t i = 0; i < timers->nr_timers; i++) {
		if (cpu_set_has(online, timers->timers[i].cpu))
			timers->timers[nr_kept++] = timers->timers[i];
		else
			bpf_link__destroy(timers->timers[i].link);
	}
	timers->nr_timers = nr_kept;
}

int cpu_timers_follow(struct cpu_timers *timers)
{
	struct cpu_set_bits online, started = timers->online;
	int error = -ENODEV;

	int r = cpu_list_online(&online);
	if (r < 0)
		return r;
	drop_offline(timers, &online);
	for (uint32_t cpu = 0; cpu < CPU_LIST_MAX; cpu++) {
		bool is_new = cpu_set_has(&online, cpu) && !cpu_set_has(&started, cpu);

		if (!is_new || !cpu_set_has(&timers->wanted, cpu))
			continue;
		r = start_timer(timers, cpu);
		if (r < 0) {
			error = r;
			online.words[cpu / 64] &= ~(UINT64_C(1) << (cpu % 64));
		}
	}
	timers->online = online;
	return timers->nr_timers > 0 ? 0 : error;
}
