/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/perf/task_table.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "base/hash.h"
#include "base/htable.h"
#include "cgroup/cgroup_namespace.h"
#include "cgroup/proc_cgroup.h"
#include "process/proc_stat.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_MAX_BYTES 65536 /* /proc/PID/cgroup has a line for each v1 controller */
#define MAX_ANCESTORS 8 /* that are searched for a cgroup */

TAILQ_HEAD(task_queue, task);

struct task_table {
	struct task_table_opts opts;
	struct task *rows; /* owned array of TASK_TABLE_MAX */
	size_t nr_rows; /* rows that were ever used */
	size_t nr_tasks;
	struct htable by_tid;
	struct task_queue queue; /* unused rows, then tasks, the least recently used first */
	uint64_t now_ns;
	uint64_t boot_offset_ns; /* CLOCK_BOOTTIME - CLOCK_MONOTONIC */
	uint64_t tick_ns; /* of times in /proc */
	uint64_t nr_losses; /* tasks that were read before the last loss may be outdated */
	uint64_t nr_refreshes; /* since task_table_begin() */
	uint64_t nr_reads;
	uint64_t nr_outside;
};

int task_table_new(const struct task_table_opts *opts, struct task_table **ret_table)
{
	_cleanup_(task_table_freep) struct task_table *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	table->opts = *opts;
	table->tick_ns = NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
	table->rows = calloc(TASK_TABLE_MAX, sizeof(*table->rows));
	if (!table->rows)
		return -ENOMEM;
	TAILQ_INIT(&table->queue);
	*ret_table = take_ptr(table);
	return 0;
}

void task_table_free(struct task_table *table)
{
	if (!table)
		return;
	htable_done(&table->by_tid);
	free(table->rows);
	free(table);
}

void task_table_begin(struct task_table *table, uint64_t now_ns)
{
	table->now_ns = now_ns;
	table->boot_offset_ns = clock_read_ns(CLOCK_BOOTTIME) - clock_mono_ns();
	table->nr_refreshes = 0;
}

static struct task *find(const struct task_table *table, uint32_t tid)
{
	struct htable_iter it = htable_lookup(&table->by_tid, hash_u64(tid));

	for (uint32_t row; htable_next(&it, &row);)
		if (table->rows[row].tid == tid)
			return &table->rows[row];
	return NULL;
}

/* NULL is fine. */
static void forget(struct task_table *table, struct task *task)
{
	if (!task || task->tid == 0)
		return;
	htable_remove(&table->by_tid, hash_u64(task->tid), (uint32_t)(task - table->rows));
	TAILQ_REMOVE(&table->queue, task, link);
	TAILQ_INSERT_HEAD(&table->queue, task, link);
	task->tid = 0;
	table->nr_tasks--;
}

/* Empties an entry whose tid now belongs to another thread. */
static void renew(struct task *task)
{
	*task = (struct task){
		.link = task->link,
		.tid = task->tid,
		.pid = task->pid,
		.cgroup = CGROUP_IDS_NONE,
		.must_read = true,
	};
}

/* In a full table the least recently used task makes room. */
static struct task *add(struct task_table *table, uint32_t pid, uint32_t tid)
{
	struct task *task = TAILQ_FIRST(&table->queue);
	bool is_first_use = table->nr_rows < TASK_TABLE_MAX && (!task || task->tid != 0);

	if (is_first_use)
		task = &table->rows[table->nr_rows];
	else
		forget(table, task);
	if (htable_add(&table->by_tid, hash_u64(tid), (uint32_t)(task - table->rows)) < 0)
		return NULL;
	if (is_first_use)
		table->nr_rows++;
	else
		TAILQ_REMOVE(&table->queue, task, link);
	task->tid = tid;
	task->pid = pid;
	renew(task);
	TAILQ_INSERT_TAIL(&table->queue, task, link);
	table->nr_tasks++;
	return task;
}

/* Returns the entry of a thread for a record or sample of that time, new and empty if it is not
 * there or belongs to another process. Other entries may not be valid after this. NULL without
 * memory. */
static struct task *take(struct task_table *table, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	if (tid == 0)
		return NULL; /* 0 marks an unused row, and the idle task needs none */

	struct task *task = find(table, tid);

	if (task && task->pid == pid) {
		TAILQ_REMOVE(&table->queue, task, link);
		TAILQ_INSERT_TAIL(&table->queue, task, link);
	} else {
		forget(table, task);
		task = add(table, pid, tid);
	}
	if (task && task->since_ns == 0) {
		task->since_ns = time_ns;
		task->nr_losses = table->nr_losses;
	}
	return task;
}

static void set_comm(struct task *task, const char *comm)
{
	memset(task->comm, 0, sizeof(task->comm));
	memcpy(task->comm, comm, strnlen(comm, sizeof(task->comm) - 1));
	task->has_comm = true;
}

/* The threads of a process are moved together, so one thread's cgroup holds for another. */
static void take_cgroup(struct task *task, const struct task *from)
{
	task->cgroup_is_assumed = from->cgroup_is_assumed || from->pid != task->pid;
	task->cgroup = from->cgroup;
	task->cgroup_generation = from->cgroup_generation;
}

/* A CPU may be delayed before it writes the FORK, while another CPU already samples the child. */
static bool is_of_late_record(const struct task *child, const struct perf_record *record)
{
	return child && child->pid == record->pid && child->since_ns >= record->time_ns &&
	       child->since_ns > 0;
}

/* A child inherits its parent's name, and its cgroup until /proc says otherwise. */
static void handle_fork(struct task_table *table, const struct perf_record *record)
{
	struct task *child = find(table, record->tid);

	if (!is_of_late_record(child, record))
		forget(table, child);
	child = take(table, record->pid, record->tid, record->time_ns);
	if (!child)
		return;
	child->parent_pid = record->parent_pid;
	child->parent_tid = record->parent_tid;
	const struct task *parent = find(table, record->parent_tid);
	if (!parent)
		return;
	if (parent->has_comm && !child->has_comm)
		set_comm(child, parent->comm);
	if (child->cgroup == CGROUP_IDS_NONE)
		take_cgroup(child, parent);
}

/* A task may be moved to another cgroup just before it calls exec(), as containers are. When a
 * thread other than the first calls exec(), it goes on under the tid of the first, whose exit
 * was reported. */
static void handle_comm(struct task_table *table, const struct perf_record *record)
{
	struct task *task = take(table, record->pid, record->tid, record->time_ns);

	if (!task)
		return;
	set_comm(task, record->comm);
	task->has_ended = false;
	if (table->opts.marks_execs ? record->is_exec : record->pid == record->tid) {
		task->must_read = true;
		task->cgroup_is_assumed = true;
		task->nr_losses = table->nr_losses;
	}
}

/* Newer kernels report an exit before the task releases its memory, which takes time and is
 * sampled. */
static void handle_exit(struct task_table *table, const struct perf_record *record)
{
	struct task *task = find(table, record->tid);

	if (task && task->pid == record->pid)
		task->has_ended = true;
}

void task_table_handle(struct task_table *table, const struct perf_record *record)
{
	switch (record->type) {
	case PERF_RECORD_FORK:
		handle_fork(table, record);
		break;
	case PERF_RECORD_COMM:
		handle_comm(table, record);
		break;
	case PERF_RECORD_EXIT:
		handle_exit(table, record);
		break;
	case PERF_RECORD_LOST:
		table->nr_losses++;
		break;
	default:
		break;
	}
}

/* Removes the work of a kernel worker, which /proc shows after its name. */
static void cut_worker_name(char *comm)
{
	if (strncmp(comm, "kworker/", strlen("kworker/")) == 0)
		comm[strcspn(comm, "+-")] = '\0';
}

static void read_comm(struct task *task, int dir_fd)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(FILE_MAX_BYTES);

	if (file_read_at(dir_fd, "comm", &text) < 0 || text.len == 0)
		return;
	text.data[strcspn(text.data, "\n")] = '\0';
	if (task->is_kernel_thread)
		cut_worker_name(text.data);
	set_comm(task, text.data);
}

/* Finds the number of the cgroup that /proc names. */
static uint32_t find_cgroup(struct task_table *table, const char *path, size_t len)
{
	_cleanup_(strbuf_done) struct strbuf resolved = strbuf_with_max(FILE_MAX_BYTES);

	if (cgroup_namespace_resolve(table->opts.cgroup_namespace, path, len, &resolved) < 0) {
		table->nr_outside++;
		return CGROUP_IDS_OUTSIDE;
	}
	return cgroup_ids_get(table->opts.cgroups, strbuf_str(&resolved), resolved.len);
}

static void read_cgroup(struct task_table *table, struct task *task, int dir_fd)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(FILE_MAX_BYTES);
	const char *path;
	size_t len;

	if (file_read_at(dir_fd, "cgroup", &text) < 0 ||
	    proc_cgroup_find(strbuf_str(&text), text.len, table->opts.cgroup_hierarchy, &path,
			     &len) < 0)
		return;
	task->cgroup = find_cgroup(table, path, len);
	task->cgroup_generation = cgroup_ids_generation(table->opts.cgroups);
	task->cgroup_is_assumed = false;
	task->cgroup_is_refused = task->cgroup == CGROUP_IDS_NONE;
}

/* Returns whether the task in /proc had started when a sample was taken. Otherwise the pid now
 * belongs to another task. */
static bool was_there(const struct task_table *table, const struct proc_stat *stat,
		      uint64_t time_ns)
{
	return stat->start_ticks * table->tick_ns <=
	       time_ns + table->boot_offset_ns + table->tick_ns;
}

static bool is_outdated(const struct task_table *table, const struct task *task)
{
	return task->nr_losses != table->nr_losses;
}

/* The name in /proc may be younger than the sample: it does not replace the name that a record gave
 * to a new task, or after exec(). The opened directory belongs to the same task even if another
 * task gets its tid later. */
static void read_task(struct task_table *table, struct task *task, uint64_t time_ns)
{
	struct proc_stat stat;
	char path[48];

	snprintf(path, sizeof(path), "%u/task/%u", task->pid, task->tid);
	table->nr_reads++;
	_cleanup_close_ int dir_fd = openat(table->opts.proc_fd, path,
					    O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0 || proc_stat_read_at(dir_fd, &stat) < 0 || !was_there(table, &stat, time_ns))
		return;
	uint64_t start_ns = stat.start_ticks * table->tick_ns;
	if (task->start_ns != 0 && task->start_ns != start_ns)
		renew(task);
	task->start_ns = start_ns;
	task->is_kernel_thread = proc_stat_is_kernel_thread(&stat);
	if (!task->has_comm || !task->must_read || is_outdated(table, task))
		read_comm(task, dir_fd);
	read_cgroup(table, task, dir_fd);
}

static bool has_cgroup(const struct task_table *table, const struct task *task)
{
	return task->cgroup != CGROUP_IDS_NONE &&
	       task->cgroup_generation == cgroup_ids_generation(table->opts.cgroups);
}

/* Returns whether /proc must be read now. */
static bool must_read(struct task_table *table, const struct task *task)
{
	if (task->must_read || (task->cgroup != CGROUP_IDS_NONE && !has_cgroup(table, task)))
		return true;
	if (!is_outdated(table, task) &&
	    (task->has_ended || table->now_ns < task->read_ns + TASK_TRUST_NS))
		return false;
	return table->nr_refreshes++ < TASK_REFRESHES;
}

static void refresh(struct task_table *table, struct task *task, uint64_t time_ns)
{
	if (!must_read(table, task))
		return;
	read_task(table, task, time_ns);
	task->read_ns = table->now_ns;
	task->since_ns = task->since_ns ? task->since_ns : time_ns;
	task->nr_losses = table->nr_losses;
	task->must_read = false;
}

/* Gives a task that ended before /proc could be read the cgroup of its nearest ancestor that has
 * one. */
static void inherit_cgroup(struct task_table *table, struct task *task, uint64_t time_ns)
{
	struct task *ancestor = task;

	for (int i = 0; i < MAX_ANCESTORS && !has_cgroup(table, task); i++) {
		if (ancestor->parent_tid == 0 || ancestor->cgroup_is_refused)
			return;
		ancestor = take(table, ancestor->parent_pid, ancestor->parent_tid, time_ns);
		if (!ancestor)
			return;
		refresh(table, ancestor, time_ns);
		take_cgroup(task, ancestor);
	}
}

const struct task *task_table_get(struct task_table *table, uint32_t pid, uint32_t tid,
				  uint64_t time_ns)
{
	struct task *task = take(table, pid, tid, time_ns);

	if (!task)
		return NULL;
	refresh(table, task, time_ns);
	if (!has_cgroup(table, task))
		inherit_cgroup(table, task, time_ns);
	return task;
}

struct task_table_stats task_table_get_stats(const struct task_table *table)
{
	return (struct task_table_stats){
		.nr_tasks = table->nr_tasks,
		.nr_reads = table->nr_reads,
		.nr_outside = table->nr_outside,
	};
}
