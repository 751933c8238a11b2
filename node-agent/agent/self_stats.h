/* SPDX-License-Identifier: Apache-2.0 */
/* This process's use of resources, as /proc reports it, and the number of late heartbeats. */
#ifndef AGENT_SELF_STATS_H
#define AGENT_SELF_STATS_H

#include "base/err.h"

#include <stdint.h>

struct self_stats {
	uint64_t cpu_ns;
	uint64_t resident_bytes;
	uint64_t nr_open_fds;
	uint64_t max_fds;
	uint64_t start_ns; /* Unix time */
	uint64_t nr_late_beats; /* see base/heartbeat.h */
};

/* Reads everything except `start_ns`. A value that cannot be read is 0. */
struct self_stats self_stats_read(void);

/* Computes the start time, from clocks that drift, so call it once. Errors: those of
 * proc_stat_read(). */
int self_stats_start_ns(uint64_t *ret_start_ns) must_check;

#endif
