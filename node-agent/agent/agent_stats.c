/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/agent.h"

uint64_t agent_stats_lost(const struct agent_stats *stats)
{
	return stats->capture.bpf[STAT_RING_FULL] + stats->capture.bpf[STAT_NO_SCRATCH] +
	       stats->capture.bpf[STAT_BLOCK_LOST] + stats->capture.bpf[STAT_GROWTH_LOST] +
	       stats->capture.bpf[STAT_ALLOC_LOST] + stats->pipeline.nr_allocations_lost +
	       stats->capture.nr_bad_records + stats->pipeline.nr_samples_lost +
	       stats->pipeline.nr_blocks_lost;
}
