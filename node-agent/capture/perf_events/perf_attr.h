/* SPDX-License-Identifier: Apache-2.0 */
/* The two kinds of perf events that the agent opens. Callers add what is special to theirs. */
#ifndef CAPTURE_PERF_EVENTS_PERF_ATTR_H
#define CAPTURE_PERF_EVENTS_PERF_ATTR_H

#include <linux/perf_event.h>
#include <stdint.h>

/* A timer of a CPU's clock. It is a software event: it needs no hardware counters and works in
 * every virtual machine. */
struct perf_event_attr perf_attr_cpu_clock(uint32_t frequency_hz);

/* Counts nothing, and reports names, execs, forks and exits of all tasks. Each record ends in
 * what `sample_type` says, with times of CLOCK_MONOTONIC. The ring wakes its reader when it is
 * half full. */
struct perf_event_attr perf_attr_tasks(uint64_t sample_type);

#endif
