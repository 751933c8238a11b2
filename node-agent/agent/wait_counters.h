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
		COUNTER("other_waits", "other_waits_total",                                        \
			"Waits in futexes that are not in profiles of locks, because their "       \
			"functions take none.",                                                    \
			AT(agent.pipeline.nr_other_waits)),                                        \
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
		MORE("allocations_no_room", "no_room", AT(agent.pipeline.nr_allocations_lost)),    \
		GAUGE("allocations_in_use", "allocations_in_use",                                  \
		      "Sampled allocations that are in use and known (--kind heap).",              \
		      AT(agent.pipeline.nr_allocations_in_use)),                                   \
		GAUGE("in_use_bytes", "allocations_in_use_table_bytes",                            \
		      "Memory of the table of these allocations and their stacks.",                \
		      AT(agent.pipeline.nr_in_use_bytes)),                                         \
		GAUGE("probe_files", "allocation_probe_files",                                     \
		      "Files with probes of allocations to which the agent is attached.",          \
		      AT(agent.probes.nr_files)),                                                  \
		COUNTER("probe_files_read", "allocation_probe_files_read_total",                   \
			"Files that were searched for probes of allocations.", DEBUG,              \
			AT(agent.probes.finder.nr_files)),                                         \
		COUNTER("probe_files_refused", "allocation_probe_files_skipped_total",             \
			"Files whose probes of allocations are not read, by reason.",              \
			BY("reason", "refused"), AT(agent.probes.nr_refused)),                     \
		MORE("probe_files_failed", "unreadable", AT(agent.probes.finder.nr_failed)),       \
		MORE("probe_files_dropped", "queue_full", AT(agent.probes.finder.nr_dropped))

#endif
