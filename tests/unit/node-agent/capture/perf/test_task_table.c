/* SPDX-License-Identifier: Apache-2.0 */
/* Over a directory like /proc, and the root of this machine's cgroups. */
#include "capture/perf/task_table.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "cgroup/cgroup_fs.h"
#include "cgroup/cgroup_namespace.h"
#include "remove_tree.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

#define KERNEL_THREAD "2129984"
#define USER_THREAD "4194304"

struct fixture {
	char dir[64];
	int proc_fd;
	uint64_t now_ns;
	struct cgroup_fs *fs;
	struct cgroup_ids *cgroups;
	struct cgroup_namespace cgroup_namespace;
	struct task_table *table;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	*state = fixture;
	snprintf(fixture->dir, sizeof(fixture->dir), "/tmp/task_table.XXXXXX");
	assert_non_null(mkdtemp(fixture->dir));
	fixture->proc_fd = open(fixture->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fixture->now_ns = clock_mono_ns();
	if (cgroup_fs_open(NULL, &fixture->fs) < 0)
		return 0;
	assert_int_equal(cgroup_ids_new(fixture->fs, &fixture->cgroups), 0);
	assert_int_equal(cgroup_namespace_init(&fixture->cgroup_namespace, "/", "/"), 0);
	const struct task_table_opts opts = { .proc_fd = fixture->proc_fd,
					      .cgroups = fixture->cgroups,
					      .cgroup_namespace = &fixture->cgroup_namespace,
					      .cgroup_hierarchy = 0,
					      .marks_execs = true };
	assert_int_equal(task_table_new(&opts, &fixture->table), 0);
	task_table_begin(fixture->table, fixture->now_ns);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	task_table_free(fixture->table);
	cgroup_namespace_done(&fixture->cgroup_namespace);
	cgroup_ids_free(fixture->cgroups);
	cgroup_fs_close(fixture->fs);
	close(fixture->proc_fd);
	remove_tree(fixture->dir);
	free(fixture);
	return 0;
}

static struct fixture *get_or_skip(void **state)
{
	struct fixture *fixture = *state;

	if (!fixture->fs)
		skip(); /* there is no cgroup file system */
	return fixture;
}

static void put_file(const struct fixture *fixture, uint32_t pid, uint32_t tid, const char *name,
		     const char *text)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%u", fixture->dir, pid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%u/task", fixture->dir, pid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%u/task/%u", fixture->dir, pid, tid);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%u/task/%u/%s", fixture->dir, pid, tid, name);
	assert_int_equal(file_write_atomic(path, text, strlen(text)), 0);
}

/* A thread as it is now in /proc; it started so many clock ticks after boot. */
static void put_task(const struct fixture *fixture, uint32_t pid, uint32_t tid, const char *comm,
		     const char *flags, uint64_t start_ticks)
{
	char text[256];

	snprintf(text, sizeof(text), "%u (%s) S 1 1 1 0 -1 %s 97 0 0 0 0 0 0 0 20 0 1 0 %llu 0 0\n",
		 tid, comm, flags, (unsigned long long)start_ticks);
	put_file(fixture, pid, tid, "stat", text);
	snprintf(text, sizeof(text), "%s\n", comm);
	put_file(fixture, pid, tid, "comm", text);
	put_file(fixture, pid, tid, "cgroup", "0::/\n");
}

static const struct task *get(struct fixture *fixture, uint32_t pid, uint32_t tid)
{
	const struct task *task = task_table_get(fixture->table, pid, tid, fixture->now_ns);

	assert_non_null(task);
	return task;
}

static uint64_t nr_reads(const struct fixture *fixture)
{
	return task_table_get_stats(fixture->table).nr_reads;
}

static uint64_t root_id(const struct fixture *fixture)
{
	uint64_t id = 0;

	assert_int_equal(cgroup_fs_id(fixture->fs, "/", &id), 0);
	return id;
}

static void tell(struct fixture *fixture, const struct perf_record *record)
{
	task_table_handle(fixture->table, record);
}

static void a_task_is_read_once(void **state)
{
	struct fixture *fixture = get_or_skip(state);

	put_task(fixture, 7, 7, "server", USER_THREAD, 5);
	put_task(fixture, 7, 8, "worker", USER_THREAD, 6);
	const struct task *task = get(fixture, 7, 8);
	assert_string_equal(task->comm, "worker");
	assert_int_equal(cgroup_ids_id(fixture->cgroups, task->cgroup), root_id(fixture));
	task = get(fixture, 7, 7);
	assert_string_equal(task->comm, "server");
	assert_int_equal(task->start_ns, 5 * (NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK)));
	assert_false(task->is_kernel_thread);
	for (int i = 0; i < 10; i++)
		get(fixture, 7, 8);
	assert_int_equal(nr_reads(fixture), 2);
	assert_int_equal(task_table_get_stats(fixture->table).nr_tasks, 2);
}

static void kernel_workers_are_called_without_what_they_work_on(void **state)
{
	struct fixture *fixture = get_or_skip(state);

	put_task(fixture, 9, 9, "kworker/0:1-events", KERNEL_THREAD, 5);
	put_task(fixture, 10, 10, "kworker/1:0+x", USER_THREAD, 5);
	const struct task *task = get(fixture, 9, 9);
	assert_true(task->is_kernel_thread);
	assert_string_equal(task->comm, "kworker/0:1");
	assert_string_equal(get(fixture, 10, 10)->comm, "kworker/1:0+x");
}

static void what_is_gone_is_known_from_records_and_its_parent(void **state)
{
	struct fixture *fixture = get_or_skip(state);

	put_task(fixture, 7, 7, "make", USER_THREAD, 5);
	tell(fixture, &(struct perf_record){ .type = PERF_RECORD_FORK,
					     .pid = 20,
					     .tid = 20,
					     .parent_pid = 7,
					     .parent_tid = 7 });
	tell(fixture, &(struct perf_record){ .type = PERF_RECORD_COMM,
					     .pid = 20,
					     .tid = 20,
					     .comm = "cc1-of-a-long-name",
					     .is_exec = true });
	const struct task *task = get(fixture, 20, 20);
	assert_string_equal(task->comm, "cc1-of-a-long-n");
	assert_int_equal(cgroup_ids_id(fixture->cgroups, task->cgroup), root_id(fixture));
	assert_int_equal(task->start_ns, 0);
}

static void what_has_ended_is_known_until_its_number_is_anothers(void **state)
{
	struct fixture *fixture = get_or_skip(state);
	const struct perf_record fork = { .type = PERF_RECORD_FORK,
					  .pid = 20,
					  .tid = 20,
					  .parent_pid = 6,
					  .parent_tid = 6,
					  .time_ns = UINT64_MAX };

	put_task(fixture, 20, 20, "make", USER_THREAD, 5);
	get(fixture, 20, 20);
	remove_tree(fixture->dir);
	tell(fixture, &(struct perf_record){ .type = PERF_RECORD_EXIT, .pid = 20, .tid = 20 });
	task_table_begin(fixture->table, fixture->now_ns + TASK_TRUST_NS);
	const struct task *task = get(fixture, 20, 20);
	assert_string_equal(task->comm, "make");
	assert_int_equal(cgroup_ids_id(fixture->cgroups, task->cgroup), root_id(fixture));
	assert_int_equal(nr_reads(fixture), 1);
	tell(fixture, &fork);
	assert_string_equal(get(fixture, 20, 20)->comm, "");
}

static void who_is_outside_of_what_is_mounted_is_counted_and_nobodys(void **state)
{
	struct fixture *fixture = get_or_skip(state);

	put_task(fixture, 7, 7, "make", USER_THREAD, 5);
	put_task(fixture, 20, 20, "cc1", USER_THREAD, 6);
	put_file(fixture, 20, 20, "cgroup", "0::/../other\n");
	tell(fixture, &(struct perf_record){ .type = PERF_RECORD_FORK,
					     .pid = 20,
					     .tid = 20,
					     .parent_pid = 7,
					     .parent_tid = 7 });
	assert_int_equal(cgroup_ids_id(fixture->cgroups, get(fixture, 20, 20)->cgroup), 0);
	assert_int_equal(cgroup_ids_id(fixture->cgroups, get(fixture, 7, 7)->cgroup),
			 root_id(fixture));
	assert_int_equal(task_table_get_stats(fixture->table).nr_outside, 1);
}

static void a_child_has_its_parents_name_until_it_has_its_own(void **state)
{
	struct fixture *fixture = get_or_skip(state);

	put_task(fixture, 7, 7, "nginx", USER_THREAD, 5);
	get(fixture, 7, 7);
	tell(fixture, &(struct perf_record){ .type = PERF_RECORD_FORK,
					     .pid = 7,
					     .tid = 30,
					     .parent_pid = 7,
					     .parent_tid = 7 });
	assert_string_equal(get(fixture, 7, 30)->comm, "nginx");
	tell(fixture, &(struct perf_record){
			      .type = PERF_RECORD_COMM, .pid = 7, .tid = 30, .comm = "pool" });
	assert_string_equal(get(fixture, 7, 30)->comm, "pool");
	assert_string_equal(get(fixture, 7, 7)->comm, "nginx");
}

static void exec_has_the_cgroup_read_again(void **state)
{
	struct fixture *fixture = get_or_skip(state);

	put_task(fixture, 7, 7, "runc", USER_THREAD, 5);
	get(fixture, 7, 7);
	tell(fixture,
	     &(struct perf_record){ .type = PERF_RECORD_COMM, .pid = 7, .tid = 7, .comm = "name" });
	get(fixture, 7, 7);
	assert_int_equal(nr_reads(fixture), 1);
	tell(fixture, &(struct perf_record){ .type = PERF_RECORD_COMM,
					     .pid = 7,
					     .tid = 7,
					     .comm = "app",
					     .is_exec = true });
	assert_string_equal(get(fixture, 7, 7)->comm, "app");
	assert_int_equal(nr_reads(fixture), 2);
}

static void another_process_with_that_number_is_not_taken_for_it(void **state)
{
	struct fixture *fixture = get_or_skip(state);
	uint64_t boot_ns = clock_read_ns(CLOCK_BOOTTIME);
	uint64_t ticks = boot_ns / (NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));

	put_task(fixture, 7, 7, "later", USER_THREAD, ticks + 500);
	const struct task *task = get(fixture, 7, 7);
	assert_string_equal(task->comm, "");
	assert_int_equal(task->cgroup, CGROUP_IDS_NONE);
}

static void a_thread_number_of_another_process_is_another_thread(void **state)
{
	struct fixture *fixture = get_or_skip(state);

	put_task(fixture, 7, 50, "old", USER_THREAD, 5);
	put_task(fixture, 8, 50, "new", USER_THREAD, 5);
	assert_string_equal(get(fixture, 7, 50)->comm, "old");
	assert_string_equal(get(fixture, 8, 50)->comm, "new");
	assert_int_equal(task_table_get_stats(fixture->table).nr_tasks, 1);
}

static void a_poll_looks_at_few_tasks_again(void **state)
{
	enum { NR_TASKS = TASK_REFRESHES + 30 };
	struct fixture *fixture = get_or_skip(state);

	for (uint32_t pid = 100; pid < 100 + NR_TASKS; pid++) {
		put_task(fixture, pid, pid, "x", USER_THREAD, 5);
		get(fixture, pid, pid);
	}
	assert_int_equal(nr_reads(fixture), NR_TASKS);
	task_table_begin(fixture->table, fixture->now_ns + TASK_TRUST_NS);
	for (uint32_t pid = 100; pid < 100 + NR_TASKS; pid++)
		get(fixture, pid, pid);
	assert_int_equal(nr_reads(fixture), NR_TASKS + TASK_REFRESHES);
	task_table_begin(fixture->table, fixture->now_ns + TASK_TRUST_NS + 1);
	for (uint32_t pid = 100; pid < 100 + NR_TASKS; pid++)
		get(fixture, pid, pid);
	assert_int_equal(nr_reads(fixture), NR_TASKS + 2 * TASK_REFRESHES);
}

static void names_are_outdated_when_records_were_lost(void **state)
{
	struct fixture *fixture = get_or_skip(state);

	put_task(fixture, 7, 7, "before", USER_THREAD, 5);
	assert_string_equal(get(fixture, 7, 7)->comm, "before");
	put_task(fixture, 7, 7, "after", USER_THREAD, 5);
	task_table_begin(fixture->table, fixture->now_ns + 1);
	tell(fixture, &(struct perf_record){ .type = PERF_RECORD_LOST, .nr_lost = 1 });
	assert_string_equal(get(fixture, 7, 7)->comm, "after");
}

static void told_names_stand_after_a_loss_until_the_next_reading(void **state)
{
	struct fixture *fixture = get_or_skip(state);

	put_task(fixture, 7, 7, "sh", USER_THREAD, 5);
	get(fixture, 7, 7);
	tell(fixture, &(struct perf_record){ .type = PERF_RECORD_LOST, .nr_lost = 1 });
	get(fixture, 7, 7);
	put_task(fixture, 30, 30, "later", USER_THREAD, 5);
	tell(fixture, &(struct perf_record){ .type = PERF_RECORD_FORK,
					     .pid = 30,
					     .tid = 30,
					     .parent_pid = 7,
					     .parent_tid = 7,
					     .time_ns = fixture->now_ns });
	assert_string_equal(get(fixture, 30, 30)->comm, "sh");
	task_table_begin(fixture->table, fixture->now_ns + TASK_TRUST_NS);
	assert_string_equal(get(fixture, 30, 30)->comm, "later");
}

static void a_thread_that_started_at_another_time_is_another(void **state)
{
	struct fixture *fixture = get_or_skip(state);

	put_task(fixture, 7, 7, "kworker/0:1-x", KERNEL_THREAD, 5);
	assert_true(get(fixture, 7, 7)->is_kernel_thread);
	put_task(fixture, 7, 7, "other", USER_THREAD, 6);
	put_file(fixture, 7, 7, "cgroup", "");
	task_table_begin(fixture->table, fixture->now_ns + TASK_TRUST_NS);
	const struct task *task = get(fixture, 7, 7);
	assert_string_equal(task->comm, "other");
	assert_false(task->is_kernel_thread);
	assert_int_equal(task->cgroup, CGROUP_IDS_NONE);
}

static void a_fork_that_is_told_late_leaves_the_child_as_it_is(void **state)
{
	struct fixture *fixture = get_or_skip(state);
	struct perf_record fork = { .type = PERF_RECORD_FORK,
				    .pid = 30,
				    .tid = 30,
				    .parent_pid = 7,
				    .parent_tid = 7,
				    .time_ns = fixture->now_ns - 1 };

	put_task(fixture, 30, 30, "child", USER_THREAD, 5);
	get(fixture, 30, 30);
	remove_tree(fixture->dir);
	tell(fixture, &fork);
	const struct task *task = get(fixture, 30, 30);
	assert_string_equal(task->comm, "child");
	assert_int_equal(task->parent_pid, 7);
	fork.time_ns = fixture->now_ns + 1;
	tell(fixture, &fork);
	assert_string_equal(get(fixture, 30, 30)->comm, "");
}

static void what_proc_did_not_say_of_cgroups_is_told_from_what_it_did(void **state)
{
	struct fixture *fixture = get_or_skip(state);
	struct perf_record fork = {
		.type = PERF_RECORD_FORK, .pid = 20, .tid = 20, .parent_pid = 7, .parent_tid = 7
	};
	const struct perf_record exec = {
		.type = PERF_RECORD_COMM, .pid = 7, .tid = 7, .comm = "app", .is_exec = true
	};

	put_task(fixture, 7, 7, "sh", USER_THREAD, 5);
	assert_false(get(fixture, 7, 7)->cgroup_is_assumed);
	tell(fixture, &fork);
	assert_true(get(fixture, 20, 20)->cgroup_is_assumed);
	fork.tid = 21;
	fork.parent_pid = fork.parent_tid = 20;
	tell(fixture, &fork);
	assert_true(get(fixture, 20, 21)->cgroup_is_assumed);
	fork.pid = fork.parent_pid = fork.parent_tid = 7;
	fork.tid = 22;
	tell(fixture, &fork);
	assert_false(get(fixture, 7, 22)->cgroup_is_assumed);
	remove_tree(fixture->dir);
	tell(fixture, &exec);
	assert_true(get(fixture, 7, 7)->cgroup_is_assumed);
}

static void a_cgroup_that_is_refused_is_not_the_parents(void **state)
{
	struct fixture *fixture = get_or_skip(state);

	put_task(fixture, 7, 7, "sh", USER_THREAD, 5);
	put_task(fixture, 20, 20, "deep", USER_THREAD, 6);
	put_file(fixture, 20, 20, "cgroup",
		 "0::/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18/19/20/21/22/23/24/25\n");
	tell(fixture, &(struct perf_record){ .type = PERF_RECORD_FORK,
					     .pid = 20,
					     .tid = 20,
					     .parent_pid = 7,
					     .parent_tid = 7 });
	assert_int_equal(get(fixture, 20, 20)->cgroup, CGROUP_IDS_NONE);
}

static void the_table_is_bounded(void **state)
{
	struct fixture *fixture = get_or_skip(state);

	for (uint32_t tid = 1; tid <= TASK_TABLE_MAX + 100; tid++)
		tell(fixture, &(struct perf_record){ .type = PERF_RECORD_FORK,
						     .pid = tid,
						     .tid = tid,
						     .parent_pid = 1,
						     .parent_tid = 1 });
	assert_int_equal(task_table_get_stats(fixture->table).nr_tasks, TASK_TABLE_MAX);
	assert_int_equal(nr_reads(fixture), 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_task_is_read_once),
		CASE(kernel_workers_are_called_without_what_they_work_on),
		CASE(what_is_gone_is_known_from_records_and_its_parent),
		CASE(who_is_outside_of_what_is_mounted_is_counted_and_nobodys),
		CASE(what_has_ended_is_known_until_its_number_is_anothers),
		CASE(a_child_has_its_parents_name_until_it_has_its_own),
		CASE(exec_has_the_cgroup_read_again),
		CASE(another_process_with_that_number_is_not_taken_for_it),
		CASE(a_thread_number_of_another_process_is_another_thread),
		CASE(a_poll_looks_at_few_tasks_again),
		CASE(names_are_outdated_when_records_were_lost),
		CASE(told_names_stand_after_a_loss_until_the_next_reading),
		CASE(a_thread_that_started_at_another_time_is_another),
		CASE(a_fork_that_is_told_late_leaves_the_child_as_it_is),
		CASE(what_proc_did_not_say_of_cgroups_is_told_from_what_it_did),
		CASE(a_cgroup_that_is_refused_is_not_the_parents),
		CASE(the_table_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
