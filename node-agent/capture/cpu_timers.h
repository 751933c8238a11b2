/* SPDX-License-Identifier: Apache-2.0 */
/* One cpu-clock perf_event for each online CPU, each firing a BPF program; follows CPU hot-plug. */
#ifndef CAPTURE_CPU_TIMERS_H
#define CAPTURE_CPU_TIMERS_H

#include "base/err.h"
#include "capture/cpu_list.h"

#include <stdint.h>

struct bpf_program;
struct cpu_timers;

/* `program` is borrowed and outlives the timers; `wanted` (NULL: all CPUs) is copied. Nothing fires yet.
 * Errors: -ENOMEM. */
int cpu_timers_new(const struct bpf_program *program, uint32_t frequency_hz,
		   const struct cpu_set_bits *wanted, struct cpu_timers **ret_timers) must_check;
void cpu_timers_free(struct cpu_timers *timers);

/* Starts timers on wanted CPUs that are online, drops those of CPUs that are not. The CPUs of
 * `*ret_restarted` had been offline since the last call and are back; it is set unless the list of online
 * CPUs cannot be read. Not to be called twice within a microsecond: a clock that stands still counts as dead.
 * Errors: -ENODEV no wanted CPU is online; what perf_event_open(2) said, when not one timer runs. */
int cpu_timers_follow(struct cpu_timers *timers, struct cpu_set_bits *ret_restarted) must_check;

void cpu_timers_stop(struct cpu_timers *timers);

/* Timers running now. */
uint32_t cpu_timers_count(const struct cpu_timers *timers);

/* Wanted CPUs that were online at the last cpu_timers_follow(), and on which no timer could be started. */
uint32_t cpu_timers_refused(const struct cpu_timers *timers);

#endif
