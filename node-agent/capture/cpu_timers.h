/* SPDX-License-Identifier: Apache-2.0 */
/* One perf event for each online CPU, of its clock or of something else that is counted; follows
 * CPU hot-plug. The backend decides what an event does when it fires. */
#ifndef CAPTURE_CPU_TIMERS_H
#define CAPTURE_CPU_TIMERS_H

#include "base/err.h"
#include "capture/capture_opts.h"
#include "capture/perf_events/cpu_list.h"

#include <linux/perf_event.h>
#include <stdint.h>

struct cpu_timers;

struct cpu_timer_kind {
	/* Starts the timer of a CPU; the event is the timer's, and lives as long. Errors: what
	 * perf_event_open(2) says. */
	int (*open)(uint32_t cpu, void *data, int *ret_event_fd, void **ret_timer);
	void (*close)(void *timer, void *data); /* the timer does not fire after this */
	void *data;
};

/* `wanted` (NULL: all CPUs) is copied. Nothing fires yet. Errors: -ENOMEM. */
int cpu_timers_new(const struct cpu_timer_kind *kind, const struct cpu_set_bits *wanted,
		   struct cpu_timers **ret_timers) must_check;
void cpu_timers_free(struct cpu_timers *timers); /* NULL is fine */

/* Starts timers on wanted CPUs that are online, drops those of CPUs that are not. The CPUs of
 * `*ret_restarted` had been offline since the last call and are back; it is set unless the list
 * of online CPUs cannot be read. Not to be called twice within a microsecond: a clock that
 * stands still counts as dead. Errors: -ENODEV when no wanted CPU is online; if no timer
 * runs at all, the last error of perf_event_open(2). */
int cpu_timers_follow(struct cpu_timers *timers, struct cpu_set_bits *ret_restarted) must_check;

/* The attributes of what takes the samples of a CPU: its clock, or the event of the options. */
struct perf_event_attr cpu_timers_attr(const struct capture_opts *opts);

/* From now on all timers, also those that are started later, fire each `period_ns` of their clock,
 * which begins anew. They must be clocks. Errors: what the ioctl(2) PERF_EVENT_IOC_PERIOD says of
 * any of them; the others have the new period. */
int cpu_timers_set_period(struct cpu_timers *timers, uint64_t period_ns) must_check;

void cpu_timers_stop(struct cpu_timers *timers);

/* Number of timers that run now. */
uint32_t cpu_timers_count(const struct cpu_timers *timers);

/* Number of wanted CPUs that were online at the last cpu_timers_follow() and on which no timer
 * could be started. */
uint32_t cpu_timers_refused(const struct cpu_timers *timers);

/* The error of perf_event_open(2) for the last of them; 0 if there are none. */
int cpu_timers_refusal(const struct cpu_timers *timers);

#endif
