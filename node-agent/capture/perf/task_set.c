/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/perf/task_set.h"

#include "base/hash.h"
#include "capture/perf/cgroup_ids.h"

#include <stdlib.h>

int task_set_init(struct task_set *set, size_t max_tasks)
{
	struct task *rows = calloc(max_tasks, sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	*set = (struct task_set){ .rows = rows, .max_tasks = max_tasks };
	TAILQ_INIT(&set->used);
	TAILQ_INIT(&set->unused);
	return 0;
}

void task_set_done(struct task_set *set)
{
	htable_done(&set->by_tid);
	free(set->rows);
	*set = (struct task_set){ 0 };
}

struct task *task_set_find(const struct task_set *set, uint32_t tid)
{
	struct htable_iter it = htable_lookup(&set->by_tid, hash_u64(tid));

	for (uint32_t row; htable_next(&it, &row);)
		if (set->rows[row].tid == tid)
			return &set->rows[row];
	return NULL;
}

void task_set_remove(struct task_set *set, struct task *task)
{
	if (!task)
		return;
	htable_remove(&set->by_tid, hash_u64(task->tid), (uint32_t)(task - set->rows));
	TAILQ_REMOVE(&set->used, task, link);
	TAILQ_INSERT_HEAD(&set->unused, task, link);
	task->tid = 0;
	set->nr_tasks--;
}

void task_set_renew(struct task *task)
{
	*task = (struct task){
		.link = task->link,
		.tid = task->tid,
		.pid = task->pid,
		.cgroup = CGROUP_IDS_NONE,
		.must_read = true,
	};
}

static struct task *add(struct task_set *set, uint32_t pid, uint32_t tid)
{
	if (set->nr_rows == set->max_tasks && TAILQ_EMPTY(&set->unused))
		task_set_remove(set, TAILQ_FIRST(&set->used));

	struct task *task = TAILQ_FIRST(&set->unused);
	bool is_first_use = !task;
	if (is_first_use)
		task = &set->rows[set->nr_rows];
	if (htable_add(&set->by_tid, hash_u64(tid), (uint32_t)(task - set->rows)) < 0)
		return NULL;
	if (is_first_use)
		set->nr_rows++;
	else
		TAILQ_REMOVE(&set->unused, task, link);
	task->tid = tid;
	task->pid = pid;
	task_set_renew(task);
	TAILQ_INSERT_TAIL(&set->used, task, link);
	set->nr_tasks++;
	return task;
}

struct task *task_set_take(struct task_set *set, uint32_t pid, uint32_t tid)
{
	struct task *task = task_set_find(set, tid);

	if (task && task->pid == pid) {
		TAILQ_REMOVE(&set->used, task, link);
		TAILQ_INSERT_TAIL(&set->used, task, link);
		return task;
	}
	task_set_remove(set, task);
	return add(set, pid, tid);
}
