/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of counter_list.c about threads that wait, about growth of memory, and about
 * allocations. */
#ifndef AGENT_WAIT_COUNTERS_H
#define AGENT_WAIT_COUNTERS_H

#define WAIT_COUNTERS                                                                              \
	COUNTER("blocks", "blocks_total", "Waits of threads whose stacks were taken.",             \
		BPF(STAT_BLOCK_SENT)),                                                             \
		COUNTER("blocks_lost", "blocks_lost_total",                                        \
			"Such waits that were lost, by reason.", BY("reason", "ring_full"),        \
			BPF(STAT_BLOCK_LOST)),                                                     \
		MORE("blocks_unended", "no_end", AT(agent.pipeline.nr_blocks_lost)),               \
		MORE("blocks_missed", "awake", AT(agent.capture.nr_found_lost)),                   \
		COUNTER("stacks_lost", "sleeping_stacks_lost_total",                               \
			"Threads that were found asleep, of whose stack only the kernel's part "   \
			"could be read.",                                                          \
			AT(agent.capture.nr_stacks_lost)),                                         \
		COUNTER("growth", "growth_total", "Growths of memory whose stacks were taken.",    \
			BPF(STAT_GROWTH_SENT)),                                                    \
		COUNTER("growth_lost", "growth_lost_total",                                        \
			"Such growths that were lost, by reason.", BY("reason", "ring_full"),      \
			BPF(STAT_GROWTH_LOST)),                                                    \
		COUNTER("allocations", "allocations_total",                                        \
			"Allocations of programs whose stacks were taken.", BPF(STAT_ALLOC_SENT)), \
		COUNTER("allocations_lost", "allocations_lost_total",                              \
			"Such allocations that were lost, by reason.", BY("reason", "ring_full"),  \
			BPF(STAT_ALLOC_LOST)),                                                     \
		MORE("frees_lost", "free_lost", BPF(STAT_FREE_LOST)),                              \
		MORE("allocations_too_large", "too_large", BPF(STAT_ALLOC_TOO_LARGE)),             \
		MORE("allocations_no_room", "no_room", AT(agent.pipeline.nr_allocations_lost))

#endif
