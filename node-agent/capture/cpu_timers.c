/* SPDX-License-Identifier: Apache-2.0 */
/* When a CPU goes offline, its event is dead: the descriptor stays, but the timer does not fire
 * any more, even when the CPU is back. Most such CPUs are missing in the list of online CPUs. A
 * CPU that is back before the next look is found by its event, whose clock stands still. */
#include "capture/cpu_timers.h"

#include "base/array.h"
#include "capture/perf_events/counted_event.h"
#include "capture/perf_events/perf_open.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct cpu_timer {
	uint32_t cpu;
	int event_fd; /* borrowed from the timer */
	uint64_t progress; /* of the event's clock or time, at the last look */
	void *timer; /* owned; the kind's */
};

struct cpu_timers {
	struct cpu_timer_kind kind;
	struct cpu_set_bits wanted;
	struct cpu_set_bits online; /* at the last look */
	struct cpu_timer *timers; /* owned */
	size_t nr_timers, cap_timers;
	uint64_t period_ns; /* 0: as they are opened */
	uint32_t nr_refused; /* by the last cpu_timers_follow() */
	int refusal; /* the last of these errors */
};

int cpu_timers_new(const struct cpu_timer_kind *kind, const struct cpu_set_bits *wanted,
		   struct cpu_timers **ret_timers)
{
	struct cpu_timers *timers = calloc(1, sizeof(*timers));

	if (!timers)
		return -ENOMEM;
	timers->kind = *kind;
	for (size_t i = 0; i < array_len(timers->wanted.words); i++)
		timers->wanted.words[i] = wanted ? wanted->words[i] : UINT64_MAX;
	*ret_timers = timers;
	return 0;
}

struct perf_event_attr cpu_timers_attr(const struct capture_opts *opts)
{
	return opts->event ? counted_event_attr(opts->event, opts->event_period)
			   : perf_open_clock_attr(opts->frequency_hz);
}

static void close_timer(const struct cpu_timers *timers, const struct cpu_timer *timer)
{
	timers->kind.close(timer->timer, timers->kind.data);
}

void cpu_timers_stop(struct cpu_timers *timers)
{
	for (size_t i = 0; i < timers->nr_timers; i++)
		close_timer(timers, &timers->timers[i]);
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

uint32_t cpu_timers_refused(const struct cpu_timers *timers)
{
	return timers->nr_refused;
}

int cpu_timers_refusal(const struct cpu_timers *timers)
{
	return timers->nr_refused > 0 ? timers->refusal : 0;
}

/* The kernel keeps clocks with a period, also those that were opened with a frequency. */
static int set_period(const struct cpu_timer *timer, uint64_t period_ns)
{
	return ioctl(timer->event_fd, PERF_EVENT_IOC_PERIOD, &period_ns) < 0 ? -errno : 0;
}

int cpu_timers_set_period(struct cpu_timers *timers, uint64_t period_ns)
{
	int error = 0;

	timers->period_ns = period_ns;
	for (size_t i = 0; i < timers->nr_timers; i++) {
		int r = set_period(&timers->timers[i], period_ns);

		error = r < 0 ? r : error;
	}
	return error;
}

static int start_timer(struct cpu_timers *timers, uint32_t cpu)
{
	int r = array_grow(timers->timers, timers->cap_timers, timers->nr_timers + 1, CPU_LIST_MAX);
	if (r < 0)
		return r;

	struct cpu_timer timer = { .cpu = cpu };
	r = timers->kind.open(cpu, timers->kind.data, &timer.event_fd, &timer.timer);
	if (r < 0)
		return r;
	if (timers->period_ns > 0)
		r = set_period(&timer, timers->period_ns);
	if (r < 0)
		close_timer(timers, &timer);
	else
		timers->timers[timers->nr_timers++] = timer;
	return r;
}

/* Returns whether the event's clock, or the time in which it was there to count, has advanced since
 * the last look. An event that cannot be read counts as alive. */
static bool is_alive(struct cpu_timer *timer)
{
	uint64_t before = timer->progress;
	/* What was counted; the time, if it is asked for; and the number of lost records. */
	uint64_t values[3] = { 0 };

	if (read(timer->event_fd, values, sizeof(values)) < (ssize_t)sizeof(values[0]))
		return true;
	timer->progress = values[0] + values[1];
	return timer->progress > before;
}

/* Drops the timers of CPUs that are or were offline; the latter may be started again. */
static void drop_dead(struct cpu_timers *timers, const struct cpu_set_bits *online,
		      struct cpu_set_bits *ret_restarted)
{
	size_t nr_kept = 0;

	*ret_restarted = (struct cpu_set_bits){ 0 };
	for (size_t i = 0; i < timers->nr_timers; i++) {
		struct cpu_timer *timer = &timers->timers[i];
		bool is_online = cpu_set_has(online, timer->cpu);

		if (is_online && is_alive(timer)) {
			timers->timers[nr_kept++] = *timer;
			continue;
		}
		if (is_online)
			ret_restarted->words[timer->cpu / 64] |= UINT64_C(1) << (timer->cpu % 64);
		close_timer(timers, timer);
	}
	timers->nr_timers = nr_kept;
}

int cpu_timers_follow(struct cpu_timers *timers, struct cpu_set_bits *ret_restarted)
{
	struct cpu_set_bits online, restarted, started = timers->online;

	int r = cpu_list_online(&online);
	if (r < 0)
		return r;
	drop_dead(timers, &online, &restarted);
	for (size_t i = 0; i < array_len(started.words); i++)
		started.words[i] &= ~restarted.words[i];
	*ret_restarted = restarted;
	timers->nr_refused = 0;
	for (uint32_t cpu = 0; cpu < CPU_LIST_MAX; cpu++) {
		bool is_new = cpu_set_has(&online, cpu) && !cpu_set_has(&started, cpu);

		if (!is_new || !cpu_set_has(&timers->wanted, cpu))
			continue;
		r = start_timer(timers, cpu);
		if (r < 0) {
			timers->refusal = r;
			timers->nr_refused++;
			online.words[cpu / 64] &= ~(UINT64_C(1) << (cpu % 64));
		}
	}
	timers->online = online;
	if (timers->nr_timers > 0)
		return 0;
	return timers->nr_refused > 0 ? timers->refusal : -ENODEV;
}
