/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/perf/perf_targets.h"

#include "base/array.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#define NO_ROW UINT32_MAX

static uint32_t set_find(const struct number_set *set, uint32_t number)
{
	struct htable_iter it = htable_lookup(&set->index, hash_u64(number));

	for (uint32_t row; htable_next(&it, &row);)
		if (set->items[row] == number)
			return row;
	return NO_ROW;
}

static bool set_has(const struct number_set *set, uint32_t number)
{
	return set_find(set, number) != NO_ROW;
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

/* The last item takes the place of the removed one: first in the index, which may fail without
 * memory; then nothing has changed. */
static void set_remove(struct number_set *set, uint32_t number)
{
	uint32_t row = set_find(set, number);

	if (row == NO_ROW)
		return;
	uint32_t last_row = (uint32_t)set->nr_items - 1, last = set->items[last_row];
	if (row != last_row && htable_add(&set->index, hash_u64(last), row) < 0)
		return;
	htable_remove(&set->index, hash_u64(number), row);
	if (row != last_row)
		htable_remove(&set->index, hash_u64(last), last_row);
	set->items[row] = last;
	set->nr_items--;
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
	set_done(&targets->ended);
	set_done(&targets->tids);
}

static void forget_ended(struct perf_targets *targets)
{
	for (size_t i = 0; i < targets->ended.nr_items; i++)
		set_remove(&targets->pids, targets->ended.items[i]);
	targets->ended.nr_items = 0;
	htable_clear(&targets->ended.index);
}

int perf_targets_add_pid(struct perf_targets *targets, uint32_t pid)
{
	set_remove(&targets->ended, pid);
	int r = set_add(&targets->pids, pid);
	if (r != -ENOSPC || targets->ended.nr_items == 0)
		return r;
	forget_ended(targets);
	return set_add(&targets->pids, pid);
}

void perf_targets_fork(struct perf_targets *targets, uint32_t parent_pid, uint32_t pid,
		       uint64_t time_ns)
{
	if (pid == parent_pid)
		return;
	if (!targets->follow_forks || !set_has(&targets->pids, parent_pid)) {
		if (time_ns < targets->asked_ns)
			return;
		set_remove(&targets->ended, pid);
		set_remove(&targets->pids, pid);
	} else if (perf_targets_add_pid(targets, pid) < 0) {
		targets->nr_refused++;
	}
}

void perf_targets_exit(struct perf_targets *targets, uint32_t pid)
{
	if (set_has(&targets->pids, pid))
		(void)!set_add(&targets->ended, pid);
}

void perf_targets_exec(struct perf_targets *targets, uint32_t pid)
{
	set_remove(&targets->ended, pid);
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
