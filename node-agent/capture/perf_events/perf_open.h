/* SPDX-License-Identifier: Apache-2.0 */
/* perf_event_open(2) on kernels of all ages, from Linux 3.10 on. An attribute that a kernel does not know makes it
 * refuse the whole event. What it lacks is found by trying, not by its version: distributions' kernels have what is
 * younger than their number. */
#ifndef CAPTURE_PERF_EVENTS_PERF_OPEN_H
#define CAPTURE_PERF_EVENTS_PERF_OPEN_H

#include "base/err.h"

#include <linux/perf_event.h>
#include <stdbool.h>

/* The size of struct perf_event_attr as far as it is used here: Linux 3.7 knows all of it, and later kernels take it. */
#define PERF_OPEN_ATTR_BYTES PERF_ATTR_SIZE_VER3

/* Opens the event for a process (-1: all) on a CPU (-1: any), close-on-exec, and returns its descriptor. `attr` is as small
 * as this kernel wants it then: what it refused is not set any more, and the caller does without. Errors: what
 * perf_event_open() says. */
int perf_open(struct perf_event_attr *attr, int pid, int cpu) must_check;

/* Takes out what came to Linux last of all that is still asked for; false when there is nothing left that can go. */
bool perf_open_strip(struct perf_event_attr *attr, unsigned long *flags);

#endif
