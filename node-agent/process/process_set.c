/* SPDX-License-Identifier: Apache-2.0 */
#include "process/process_set.h"

#include "base/hash.h"

#include <stdlib.h>

int process_set_init(struct process_set *set, size_t max_processes)
{
	struct process *rows = calloc(max_processes, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	*set = (struct process_set){ .rows = rows, .max_processes = max_processes };
	TAILQ_INIT(&set->live);
	TAILQ_INIT(&set->ended);
	TAILQ_INIT(&set->unused);
	return 0;
}

void process_set_done(struct process_set *set)
{
	for (size_t row = 0; row < set->nr_rows; row++) {
		mapping_list_unref(set->rows[row].mappings);
		free(set->rows[row].program);
	}
	htable_done(&set->by_pid);
	free(set->rows);
	*set = (struct process_set){ 0 };
}

struct process *process_set_find_current(const struct process_set *set, uint32_t pid)
{
	struct htable_iter it = htable_lookup(&set->by_pid, hash_u64(pid));

	for (uint32_t row; htable_next(&it, &row);) {
		if (set->rows[row].pid == pid && !set->rows[row].is_superseded)
			return &set->rows[row];
	}
	return NULL;
}

struct process *process_set_find_started(const struct process_set *set, uint32_t pid,
					 uint64_t start_ns)
{
	struct htable_iter it = htable_lookup(&set->by_pid, hash_u64(pid));

	for (uint32_t row; htable_next(&it, &row);) {
		if (set->rows[row].pid == pid && set->rows[row].start_ns == start_ns)
			return &set->rows[row];
	}
	return NULL;
}

static uint32_t row_of(const struct process_set *set, const struct process *process)
{
	return (uint32_t)(process - set->rows);
}

bool process_set_evict(struct process_set *set)
{
	struct process *victim = TAILQ_FIRST(&set->ended);

	if (!victim) {
		victim = TAILQ_FIRST(&set->live);
		set->nr_evicted += victim != NULL;
	}
	if (victim)
		process_set_remove(set, victim);
	return victim;
}

struct process *process_set_add(struct process_set *set, uint32_t pid, uint64_t now_ns)
{
	if (set->nr_rows == set->max_processes && TAILQ_EMPTY(&set->unused))
		process_set_evict(set);

	struct process *process = TAILQ_FIRST(&set->unused);
	bool is_first_use = !process;
	if (is_first_use)
		process = &set->rows[set->nr_rows];
	if (htable_add(&set->by_pid, hash_u64(pid), row_of(set, process)) < 0)
		return NULL;

	if (is_first_use)
		set->nr_rows++;
	else
		TAILQ_REMOVE(&set->unused, process, link);
	*process = (struct process){
		.pid = pid, .added_ns = now_ns, .program_ns = now_ns, .known_ns = now_ns
	};
	TAILQ_INSERT_TAIL(&set->live, process, link);
	set->nr_processes++;
	return process;
}

void process_set_remove(struct process_set *set, struct process *process)
{
	struct process_queue *queue = process->is_ended ? &set->ended : &set->live;

	TAILQ_REMOVE(queue, process, link);
	htable_remove(&set->by_pid, hash_u64(process->pid), row_of(set, process));
	mapping_list_unref(process->mappings);
	free(process->program);
	*process = (struct process){ 0 };
	TAILQ_INSERT_TAIL(&set->unused, process, link);
	set->nr_processes--;
}

void process_set_use(struct process_set *set, struct process *process)
{
	if (process->is_ended)
		return;
	TAILQ_REMOVE(&set->live, process, link);
	TAILQ_INSERT_TAIL(&set->live, process, link);
}

void process_set_end(struct process_set *set, struct process *process, uint64_t now_ns)
{
	if (process->is_ended)
		return;
	TAILQ_REMOVE(&set->live, process, link);
	TAILQ_INSERT_TAIL(&set->ended, process, link);
	process->is_ended = true;
	process->ended_ns = now_ns;
}

void process_set_revive(struct process_set *set, struct process *process)
{
	if (!process->is_ended)
		return;
	TAILQ_REMOVE(&set->ended, process, link);
	TAILQ_INSERT_TAIL(&set->live, process, link);
	process->is_ended = false;
}

void process_set_supersede(struct process_set *set, struct process *process, uint64_t now_ns)
{
	if (!process)
		return;
	process_set_end(set, process, now_ns);
	process->is_superseded = true;
}
