/* SPDX-License-Identifier: Apache-2.0 */
/* The process table over the real /proc: children that load a library, lose
 * their first thread, end. */
#include "process/process_table.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "process/proc_stat.h"
#include "unit.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define NOW (1000 * NSEC_PER_SEC) /* of the table's clock, which is ours */
#define LIBRARY_MAX_BYTES ((size_t)64 << 20)

struct child {
	pid_t pid;
	int to_child;
	int from_child;
};

typedef void (*child_fn)(int from_parent, int to_parent);

static struct child start_child(child_fn run)
{
	int down[2], up[2];

	assert_int_equal(pipe2(down, O_CLOEXEC), 0);
	assert_int_equal(pipe2(up, O_CLOEXEC), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(down[1]);
		close(up[0]);
		run(down[0], up[1]);
		_exit(0);
	}
	close(down[0]);
	close(up[1]);
	return (struct child){ .pid = pid, .to_child = down[1], .from_child = up[0] };
}

static void end_child(struct child *child)
{
	close(child->to_child);
	close(child->from_child);
	kill(child->pid, SIGKILL);
	assert_int_equal(waitpid(child->pid, NULL, 0), child->pid);
}

static uint64_t read_number(int fd)
{
	uint64_t value = 0;

	assert_int_equal(read(fd, &value, sizeof(value)), sizeof(value));
	return value;
}

static void write_number(int fd, uint64_t value)
{
	if (fd_write_all(fd, &value, sizeof(value)) < 0)
		_exit(1);
}

static void wait_for_parent(int fd)
{
	char c;

	while (read(fd, &c, 1) < 0 && errno == EINTR)
		;
}

static uint64_t start_of(int proc_fd, pid_t pid)
{
	struct proc_stat stat;

	assert_int_equal(proc_stat_read(proc_fd, (uint32_t)pid, &stat), 0);
	return stat.start_ticks * (NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
}

static char copy_path[] = "/tmp/library_copy.XXXXXX";

/* A copy of a library that is loaded already: another inode, so it is loaded once more. */
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

static void load_the_copy(int from_parent, int to_parent)
{
	write_number(to_parent, 0);
	wait_for_parent(from_parent);
	void *library = dlopen(copy_path, RTLD_NOW | RTLD_LOCAL);
	write_number(to_parent, library ? (uintptr_t)dlsym(library, "_cmocka_run_group_tests") : 0);
	wait_for_parent(from_parent);
}

static void a_library_loaded_later_is_found(void **state)
{
	_cleanup_close_ int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(process_table_freep) struct process_table *table = NULL;
	(void)state;

	copy_library();
	assert_int_equal(process_table_new(proc_fd, 16, &table), 0);
	struct child child = start_child(load_the_copy);
	read_number(child.from_child);
	uint32_t pid = (uint32_t)child.pid;
	uint64_t start_ns = start_of(proc_fd, child.pid);
	struct process *process = process_table_get(table, pid, start_ns, NOW);
	uint64_t known_address = (uintptr_t)load_the_copy;
	assert_non_null(process_find_mapping(table, process, known_address, NOW));

	assert_int_equal(write(child.to_child, "x", 1), 1);
	uint64_t address = read_number(child.from_child);
	assert_true(address != 0);
	assert_null(process_find_mapping(table, process, address, NOW));
	const struct mapping *mapping = process_find_mapping(table, process, address,
							     NOW + 2 * NSEC_PER_SEC);
	assert_non_null(mapping);
	assert_string_equal(mapping->file->path, copy_path);
	assert_true(mapping->file->inode != 0);

	end_child(&child);
	unlink(copy_path);
	process_table_sweep(table, NOW);
	assert_non_null(process_find_mapping(table, process, address, NOW));
	process_table_sweep(table, NOW + PROCESS_LINGER_NS);
	assert_int_equal(process_table_get_stats(table).nr_processes, 0);
}

static void *write_and_wait(void *arg)
{
	const int *fds = arg;

	write_number(fds[1], 0);
	wait_for_parent(fds[0]);
	_exit(0);
}

static void leave_it_to_a_thread(int from_parent, int to_parent)
{
	static int fds[2];
	pthread_t thread;

	fds[0] = from_parent;
	fds[1] = to_parent;
	if (pthread_create(&thread, NULL, write_and_wait, fds) == 0)
		pthread_exit(NULL);
}

static void wait_until_leader_is_dead(int proc_fd, pid_t pid)
{
	struct proc_stat stat = { 0 };

	for (int i = 0; i < 2000 && !proc_stat_is_leader_dead(&stat); i++) {
		assert_int_equal(proc_stat_read(proc_fd, (uint32_t)pid, &stat), 0);
		usleep(1000);
	}
	assert_true(proc_stat_is_leader_dead(&stat));
}

static void a_process_is_kept_when_its_first_thread_ends_first(void **state)
{
	_cleanup_close_ int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(process_table_freep) struct process_table *table = NULL;
	(void)state;

	assert_int_equal(process_table_new(proc_fd, 16, &table), 0);
	struct child child = start_child(leave_it_to_a_thread);
	const struct proc_event exit_event = {
		.kind = PROC_EXIT,
		.pid = (uint32_t)child.pid,
		.time_ns = NOW,
	};
	assert_non_null(
		process_table_get(table, exit_event.pid, start_of(proc_fd, child.pid), NOW));
	read_number(child.from_child);
	wait_until_leader_is_dead(proc_fd, child.pid);
	process_table_handle(table, &exit_event);
	process_table_sweep(table, NOW + PROCESS_LINGER_NS);
	assert_int_equal(process_table_get_stats(table).nr_processes, 1);

	/* Now all of it ends, and is not reaped yet. */
	assert_int_equal(write(child.to_child, "x", 1), 1);
	assert_int_equal(waitid(P_PID, (id_t)child.pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	process_table_sweep(table, NOW + 2 * PROCESS_LINGER_NS);
	process_table_sweep(table, NOW + 3 * PROCESS_LINGER_NS);
	assert_int_equal(process_table_get_stats(table).nr_processes, 0);
	end_child(&child);
}

/* The first thread's exit takes its view of the address space with it: /proc/PID/maps is empty. */
static void mappings_are_found_after_the_first_thread_has_ended(void **state)
{
	_cleanup_close_ int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(process_table_freep) struct process_table *table = NULL;
	const uint64_t address = (uintptr_t)write_and_wait;
	(void)state;

	assert_int_equal(process_table_new(proc_fd, 16, &table), 0);
	struct child child = start_child(leave_it_to_a_thread);
	read_number(child.from_child);
	wait_until_leader_is_dead(proc_fd, child.pid);
	struct process *process = process_table_get(table, (uint32_t)child.pid,
						    start_of(proc_fd, child.pid), NOW);
	assert_non_null(process_find_mapping(table, process, address, NOW));
	end_child(&child);
}

/* A process on its way out has given its memory back; samples of it may still be under way. */
static void a_process_that_is_ending_keeps_the_mappings_it_had(void **state)
{
	_cleanup_close_ int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(process_table_freep) struct process_table *table = NULL;
	const uint64_t address = (uintptr_t)wait_for_parent;
	const uint64_t later = NOW + 2 * NSEC_PER_SEC;
	(void)state;

	assert_int_equal(process_table_new(proc_fd, 16, &table), 0);
	struct child child = start_child(load_the_copy);
	read_number(child.from_child);
	struct process *process = process_table_get(table, (uint32_t)child.pid,
						    start_of(proc_fd, child.pid), NOW);
	assert_non_null(process_find_mapping(table, process, address, NOW));

	kill(child.pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)child.pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	assert_null(process_find_mapping(table, process, 0x10, later)); /* reads them again */
	assert_int_equal(process_table_get_stats(table).nr_maps_reads, 2);
	assert_non_null(process_find_mapping(table, process, address, later));
	end_child(&child);
}

static void maps_of_this_machine_are_all_well_formed(void **state)
{
	_cleanup_close_ int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(process_table_freep) struct process_table *table = NULL;
	_cleanup_closedir_ DIR *dir = opendir("/proc");
	(void)state;

	assert_non_null(dir);
	assert_int_equal(process_table_new(proc_fd, 4096, &table), 0);
	for (const struct dirent *entry; (entry = readdir(dir));) {
		unsigned int pid;

		if (sscanf(entry->d_name, "%u", &pid) == 1)
			assert_non_null(process_table_get(table, pid, 0, NOW));
	}
	assert_true(process_table_get_stats(table).nr_maps_reads > 0);
	assert_int_equal(process_table_get_stats(table).nr_bad_lines, 0);
	assert_int_equal(process_table_get_stats(table).nr_mappings_dropped, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_library_loaded_later_is_found),
		cmocka_unit_test(a_process_is_kept_when_its_first_thread_ends_first),
		cmocka_unit_test(mappings_are_found_after_the_first_thread_has_ended),
		cmocka_unit_test(a_process_that_is_ending_keeps_the_mappings_it_had),
		cmocka_unit_test(maps_of_this_machine_are_all_well_formed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
