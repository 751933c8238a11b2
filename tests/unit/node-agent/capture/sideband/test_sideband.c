/* SPDX-License-Identifier: Apache-2.0 */
/* Against the running kernel; skipped where perf events of all tasks are not allowed. */
#include "capture/sideband/sideband.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "process/process_table.h"
#include "unit.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>

#define RING_BYTES ((size_t)256 << 10)
#define MAX_EVENTS 256
#define LIBRARY_MAX_BYTES ((size_t)64 << 20)

struct seen_event {
	struct proc_event event;
	char path[128];
};

/* The events of one process, in the order they were shown. */
struct seen {
	uint32_t pid;
	struct seen_event events[MAX_EVENTS];
	size_t nr_events;
};

static struct seen seen;

static int set_up(void **state)
{
	struct sideband *sideband = NULL;

	int r = sideband_open(RING_BYTES, &sideband);
	if (r < 0)
		printf("perf events of all tasks cannot be opened: %s\n", strerror(-r));
	*state = sideband;
	return 0;
}

static int tear_down(void **state)
{
	sideband_close(*state);
	return 0;
}

static struct sideband *get_or_skip(void **state)
{
	if (!*state)
		skip();
	return *state;
}

static void exec_true(void)
{
	execl("/bin/true", "true", (char *)NULL);
	_exit(127);
}

static pid_t start_true(void)
{
	pid_t pid = fork();

	if (pid == 0)
		exec_true();
	assert_true(pid > 0);
	return pid;
}

static void wait_for(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Takes what happened until now; keeps the events of `pid`. */
static void collect(struct sideband *sideband, pid_t pid)
{
	uint64_t now_ns = clock_mono_ns(), last_ns = 0;

	seen.pid = (uint32_t)pid;
	seen.nr_events = 0;
	sideband_collect(sideband);
	assert_true(sideband_collected_until_ns(sideband) >= now_ns);
	for (const struct proc_event *event; (event = sideband_peek(sideband));
	     sideband_pop(sideband)) {
		assert_true(event->time_ns >= last_ns);
		assert_true(event->time_ns <= sideband_collected_until_ns(sideband));
		last_ns = event->time_ns;
		if (event->pid != seen.pid)
			continue;
		assert_true(seen.nr_events < MAX_EVENTS);
		struct seen_event *kept = &seen.events[seen.nr_events++];
		kept->event = *event;
		snprintf(kept->path, sizeof(kept->path), "%s", event->path ? event->path : "");
	}
}

/* The place of the next event of that kind whose path contains `part`, at or behind `from`. */
static size_t find_seen(size_t from, enum proc_event_kind kind, const char *part)
{
	for (size_t i = from; i < seen.nr_events; i++) {
		if (seen.events[i].event.kind == kind && strstr(seen.events[i].path, part))
			return i;
	}
	fail_msg("no event of kind %d, path %s", kind, part);
	return 0;
}

static void a_program_is_seen_from_fork_to_exit(void **state)
{
	struct sideband *sideband = get_or_skip(state);
	uint64_t before_ns = clock_mono_ns();

	pid_t pid = start_true();
	wait_for(pid);
	collect(sideband, pid);

	size_t fork_at = find_seen(0, PROC_FORK, "");
	assert_int_equal(seen.events[fork_at].event.parent_pid, getpid());
	assert_true(seen.events[fork_at].event.time_ns >= before_ns);
	size_t exec_at = find_seen(fork_at, PROC_EXEC, "");
	size_t true_at = find_seen(exec_at, PROC_MMAP, "/true");
	find_seen(exec_at, PROC_MMAP, "ld-linux");
	size_t libc_at = find_seen(exec_at, PROC_MMAP, "libc.so");
	size_t exit_at = find_seen(libc_at, PROC_EXIT, "");
	assert_int_equal(exit_at, seen.nr_events - 1);
	assert_true(seen.events[true_at].event.inode != 0);
	assert_true(seen.events[true_at].event.len >= 4096);
	assert_int_equal(sideband_get_stats(sideband).nr_lost, 0);
	assert_int_equal(sideband_get_stats(sideband).nr_bad_records, 0);
}

static void a_program_that_has_ended_can_still_be_looked_up(void **state)
{
	struct sideband *sideband = get_or_skip(state);
	_cleanup_close_ int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(process_table_freep) struct process_table *table = NULL;
	uint64_t address = 0;

	assert_int_equal(process_table_new(proc_fd, 1024, &table), 0);
	pid_t pid = start_true();
	wait_for(pid);
	sideband_collect(sideband);
	for (const struct proc_event *event; (event = sideband_peek(sideband));
	     sideband_pop(sideband)) {
		process_table_handle(table, event);
		if (event->pid == (uint32_t)pid && event->kind == PROC_MMAP &&
		    strstr(event->path, "/true"))
			address = event->start + 16;
	}

	uint64_t now_ns = clock_mono_ns();
	struct process *process = process_table_get(table, (uint32_t)pid, now_ns, now_ns);
	const struct mapping *mapping = process_find_mapping(table, process, address, now_ns);
	assert_non_null(mapping);
	assert_non_null(strstr(mapping->file->path, "/true"));
	assert_int_equal(process_table_get_stats(table).nr_maps_reads, 0);
}

static char copy_path[] = "/tmp/sideband_copy.XXXXXX";

static void copy_library(void)
{
	_cleanup_(strbuf_done) struct strbuf content = strbuf_with_max(LIBRARY_MAX_BYTES);
	Dl_info info;

	assert_true(dladdr((void *)_cmocka_run_group_tests, &info) != 0);
	assert_int_equal(file_read_at(AT_FDCWD, info.dli_fname, &content), 0);
	_cleanup_close_ int fd = mkostemp(copy_path, O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, content.data, content.len), 0);
}

static void a_library_loaded_later_is_seen(void **state)
{
	struct sideband *sideband = get_or_skip(state);

	copy_library();
	pid_t pid = fork();
	if (pid == 0)
		_exit(dlopen(copy_path, RTLD_NOW) == NULL);
	wait_for(pid);
	collect(sideband, pid);
	unlink(copy_path);
	find_seen(find_seen(0, PROC_FORK, ""), PROC_MMAP, copy_path);
}

static void no_process_of_a_burst_is_lost(void **state)
{
	struct sideband *sideband = get_or_skip(state);
	enum { NR_CHILDREN = 200, NR_KINDS = PROC_KERNEL_CODE + 1 };
	pid_t pids[NR_CHILDREN];
	unsigned int nr_seen[NR_CHILDREN][NR_KINDS] = { 0 };

	for (int i = 0; i < NR_CHILDREN; i++)
		pids[i] = start_true();
	for (int i = 0; i < NR_CHILDREN; i++)
		wait_for(pids[i]);
	sideband_collect(sideband);
	for (const struct proc_event *event; (event = sideband_peek(sideband));
	     sideband_pop(sideband)) {
		for (int i = 0; i < NR_CHILDREN; i++)
			nr_seen[i][event->kind] += event->pid == (uint32_t)pids[i];
	}

	for (int i = 0; i < NR_CHILDREN; i++) {
		assert_int_equal(nr_seen[i][PROC_FORK], 1);
		assert_int_equal(nr_seen[i][PROC_EXEC], 1);
		assert_int_equal(nr_seen[i][PROC_EXIT], 1);
		assert_true(nr_seen[i][PROC_MMAP] >= 3);
	}
	assert_int_equal(sideband_get_stats(sideband).nr_lost, 0);
	assert_int_equal(sideband_get_stats(sideband).nr_dropped, 0);
}

static void a_ring_that_is_too_small_tells_what_it_lost(void **state)
{
	_cleanup_(sideband_closep) struct sideband *sideband = NULL;

	get_or_skip(state);
	assert_int_equal(sideband_open(1, &sideband), 0);
	for (int i = 0; i < 100; i++)
		wait_for(start_true());
	sideband_collect(sideband);
	/* The kernel tells of the losses in front of the next record that has room. */
	for (int i = 0; i < 20; i++)
		wait_for(start_true());
	sideband_collect(sideband);
	assert_true(sideband_get_stats(sideband).nr_lost > 0);
	assert_int_equal(sideband_get_stats(sideband).nr_bad_records, 0);
}

static void a_cpu_can_go_and_come_back(void **state)
{
	struct sideband *sideband = get_or_skip(state);
	unsigned int nr_cpus = (unsigned int)sysconf(_SC_NPROCESSORS_CONF);

	pid_t pid = start_true();
	wait_for(pid);
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++)
		sideband_remove_cpu(sideband, cpu);
	sideband_remove_cpu(sideband, nr_cpus);
	wait_for(start_true());
	collect(sideband, pid);
	find_seen(0, PROC_EXIT, "");

	assert_true(sideband_add_cpu(sideband, 100000) < 0);
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		int r = sideband_add_cpu(sideband, cpu);

		assert_true(r == 0 || r == -ENODEV);
		assert_int_equal(sideband_add_cpu(sideband, cpu), r);
	}
	pid = start_true();
	wait_for(pid);
	collect(sideband, pid);
	find_seen(find_seen(0, PROC_EXEC, ""), PROC_EXIT, "");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_program_is_seen_from_fork_to_exit),
		CASE(a_program_that_has_ended_can_still_be_looked_up),
		CASE(a_library_loaded_later_is_seen),
		CASE(no_process_of_a_burst_is_lost),
		CASE(a_ring_that_is_too_small_tells_what_it_lost),
		CASE(a_cpu_can_go_and_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
