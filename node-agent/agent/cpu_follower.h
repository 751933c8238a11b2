/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and stops timers and side bands as CPUs go online and offline. */
#ifndef AGENT_CPU_FOLLOWER_H
#define AGENT_CPU_FOLLOWER_H

#include "base/err.h"
#include "capture/sample_source.h"
#include "capture/sideband/sideband.h"

#include <stdbool.h>

struct cpu_follower {
	struct sample_source *source; /* borrowed */
	struct sideband *sideband; /* borrowed */
	struct cpu_set_bits followed; /* CPUs whose side band is read */
	bool has_warned; /* that CPUs cannot be sampled, since the last time all could be */
};

/* Call it about once per second. CPUs that cannot be sampled are counted (struct
 * capture_stats), logged once, and tried again at the next call. Errors: those of
 * sample_source_follow_cpus(). */
int cpu_follower_follow(struct cpu_follower *follower) must_check;

#endif
