/* SPDX-License-Identifier: Apache-2.0 */
/* perf_event_open(2) on kernels of all ages, from Linux 3.10 on. A kernel refuses the whole
 * event when it does not know one attribute. What it lacks is found by trying, not by its
 * version: distributions' kernels have features that are younger than their version number. */
#ifndef CAPTURE_PERF_EVENTS_PERF_OPEN_H
#define CAPTURE_PERF_EVENTS_PERF_OPEN_H

#include "base/err.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* The size of struct perf_event_attr as far as it is used here: Linux 3.7 knows all of it, and
 * later kernels take it. */
#define PERF_OPEN_ATTR_BYTES PERF_ATTR_SIZE_VER3

/* The attributes of a timer of a CPU's clock. It is a software event: it needs no hardware counters
 * and works in every virtual machine. */
struct perf_event_attr perf_open_clock_attr(uint32_t frequency_hz);

/* The attributes of an event of each time that a task stops running. */
struct perf_event_attr perf_open_switch_attr(void);

/* The attributes of an event that counts nothing, and reports names, execs, forks and exits of all
 * tasks. Each record ends in what `sample_type` says, with times of CLOCK_MONOTONIC. The ring wakes
 * its reader when it is half full. */
struct perf_event_attr perf_open_tasks_attr(uint64_t sample_type);

/* Opens the event for a process (-1: all) on a CPU (-1: any), close-on-exec, and returns its
 * descriptor. Attributes that this kernel does not know are not set in `attr` afterwards, and
 * the caller does without them. Errors: what perf_event_open() says. */
int perf_open(struct perf_event_attr *attr, int pid, int cpu) must_check;

/* Removes the attribute or flag that Linux got last of those that are set; false when none is
 * left that can be removed. */
bool perf_open_strip(struct perf_event_attr *attr, unsigned long *flags);

#endif
