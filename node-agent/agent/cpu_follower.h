/* SPDX-License-Identifier: Apache-2.0 */
/* CPUs come and go while the agent runs; their timers and their side band are to follow. */
#ifndef AGENT_CPU_FOLLOWER_H
#define AGENT_CPU_FOLLOWER_H

#include "base/err.h"
#include "capture/sample_source.h"
#include "capture/sideband/sideband.h"

#include <stdbool.h>
#include <stdint.h>

struct cpu_follower {
	struct sample_source *source; /* borrowed */
	struct sideband *sideband; /* borrowed */
	struct cpu_set_bits followed; /* those whose side band is read */
	bool has_warned; /* of CPUs that cannot be sampled, since all could */
};

/* Once a second or so. CPUs that cannot be sampled are tried again at the next call, counted (struct capture_stats), and told
 * of once. Errors: those of sample_source_follow_cpus(). */
int cpu_follower_follow(struct cpu_follower *follower) must_check;

#endif
