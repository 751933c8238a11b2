/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/client/runtime_search.h"

bool runtime_search_is_turn_of(const struct runtime_search *search, uint64_t owner, bool is_slow)
{
	bool is_for_slow = is_slow || worker_lanes_choose(search->lanes, owner, search->now_ns) ==
					      WORKER_LANE_SLOW;

	if (is_for_slow != (search->lane == WORKER_LANE_SLOW))
		return false;
	return search->takes_late || search->lane == WORKER_LANE_SLOW ||
	       worker_lanes_rank(search->lanes, owner, search->now_ns) != WORKER_RANK_LATE;
}

bool runtime_search_is_turn_of_process(const struct runtime_search *search,
				       const struct runtime_known_process *process)
{
	return runtime_search_is_turn_of(search, process->sampled.cgroup_id,
					 search->now_ns < process->slow_until_ns);
}

void runtime_search_begin(const struct runtime_search *search,
			  struct runtime_known_process *process, enum runtime_request_kind kind)
{
	search->job->kind = kind;
	search->job->owner = process->sampled.cgroup_id;
	search->job->pid = process->sampled.pid;
	search->job->start_ns = process->sampled.start_ns;
	search->job->process = process;
	process->is_asked = true;
	runtime_processes_update(&search->registry->processes, process);
}
