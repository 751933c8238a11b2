/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/perf_targets.h"

#include "base/array.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

static bool set_has(const struct number_set *set, uint32_t number)
{
	struct htable_iter it = htable_lookup(&set->index, hash_u64(number));

	for (uint32_t row; htable_next(&it, &row);)
		if (set->items[row] == number)
			return true;
	return false;
}

static int set_add(struct number_set *set, uint32_t number)
{
	if (set_has(set, number))
		return 0;
	int r = array_grow(set->items, set->cap_items, set->nr_items + 1, PERF_TARGETS_MAX);
	if (r == 0)
		r = htable_add(&set->index, hash_u64(number), (uint32_t)set->nr_items);
	if (r == 0)
		set->items[set->nr_items++] = number;
	return r;
}

static int set_add_all(struct number_set *set, const uint32_t *numbers, size_t nr)
{
	int r = 0;

	for (size_t i = 0; i < nr && r == 0; i++)
		r = set_add(set, numbers[i]);
	return r;
}

static void set_done(struct number_set *set)
{
	htable_done(&set->index);
	free(set->items);
}

int perf_targets_init(struct perf_targets *targets, const struct capture_opts *opts)
{
	*targets = (struct perf_targets){
		.comms = opts->comms,
		.nr_comms = opts->nr_comms,
		.filter_by_pid = opts->nr_pids > 0 || opts->follow_forks,
		.follow_forks = opts->follow_forks,
	};
	int r = set_add_all(&targets->pids, opts->pids, opts->nr_pids);

	return r < 0 ? r : set_add_all(&targets->tids, opts->tids, opts->nr_tids);
}

void perf_targets_done(struct perf_targets *targets)
{
	set_done(&targets->pids);
	set_done(&targets->tids);
}

int perf_targets_add_pid(struct perf_targets *targets, uint32_t pid)
{
	return set_add(&targets->pids, pid);
}

void perf_targets_fork(struct perf_targets *targets, uint32_t parent_pid, uint32_t pid)
{
	if (targets->follow_forks && pid != parent_pid && set_has(&targets->pids, parent_pid))
		(void)!set_add(&targets->pids, pid);
}

bool perf_targets_want_ids(const struct perf_targets *targets, uint32_t pid, uint32_t tid)
{
	if (targets->filter_by_pid && !set_has(&targets->pids, pid))
		return false;
	return targets->tids.nr_items == 0 || set_has(&targets->tids, tid);
}

static bool is_named(const char comm[static TASK_COMM_LEN], const char *name)
{
	return strncmp(comm, name, TASK_COMM_LEN - 1) == 0;
}

bool perf_targets_want_comms(const struct perf_targets *targets, const struct sample_event *event)
{
	for (size_t i = 0; i < targets->nr_comms; i++)
		if (is_named(event->thread_comm, targets->comms[i]) ||
		    is_named(event->process_comm, targets->comms[i]))
			return true;
	return targets->nr_comms == 0;
}
