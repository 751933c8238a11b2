/* SPDX-License-Identifier: Apache-2.0 */
#include "process/process_program.h"

#include "base/clock.h"
#include "proc_fixture.h"
#include "process/process_table.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PID 7
#define START (1000 * NSEC_PER_SEC)
#define NOW (2000 * NSEC_PER_SEC)
#define MAPS "1000-2000 r-xp 00000000 fe:00 1 /bin/a\n9000-a000 r-xp 00000000 fe:00 2 /lib/b\n"

static int set_up(void **state)
{
	struct proc_fixture *fixture = test_calloc(1, sizeof(*fixture));

	proc_fixture_init(fixture, 8);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	const struct proc_fixture *fixture = *state;

	unlinkat(fixture->proc_fd, "7/exe", 0);
	proc_fixture_done(*state);
	test_free(*state);
	return 0;
}

static void put_exe(const struct proc_fixture *fixture, const char *target)
{
	proc_fixture_put(fixture, PID, START, MAPS);
	unlinkat(fixture->proc_fd, "7/exe", 0);
	assert_int_equal(symlinkat(target, fixture->proc_fd, "7/exe"), 0);
}

static void tell(const struct proc_fixture *fixture, enum proc_event_kind kind, uint32_t pid,
		 const char *path)
{
	process_table_handle(fixture->table, &(struct proc_event){ .kind = kind,
								   .pid = pid,
								   .parent_pid = PID,
								   .time_ns = NOW,
								   .start = 0x1000,
								   .len = 0x1000,
								   .inode = 5,
								   .path = path });
}

static const char *program_of(const struct proc_fixture *fixture, uint32_t pid)
{
	struct process *process = process_table_get(fixture->table, pid, 0, NOW);

	assert_non_null(process);
	return process_table_get_program(fixture->table, process);
}

static void a_process_that_was_there_is_asked_once(void **state)
{
	const struct proc_fixture *fixture = *state;

	put_exe(fixture, "/usr/bin/web (deleted)");
	assert_string_equal(program_of(fixture, PID), "/usr/bin/web");
	put_exe(fixture, "/usr/bin/other");
	assert_string_equal(program_of(fixture, PID), "/usr/bin/web");
}

static void without_a_link_it_is_the_lowest_file(void **state)
{
	const struct proc_fixture *fixture = *state;

	proc_fixture_put(fixture, PID, START, MAPS);
	assert_string_equal(program_of(fixture, PID), "/bin/a");
}

static void one_that_is_gone_has_none(void **state)
{
	assert_string_equal(program_of(*state, PID), "");
}

static void events_outdo_what_proc_says_by_now(void **state)
{
	const struct proc_fixture *fixture = *state;

	put_exe(fixture, "/usr/bin/later");
	tell(fixture, PROC_EXEC, PID, "");
	tell(fixture, PROC_MMAP, PID, "//anon");
	tell(fixture, PROC_MMAP, PID, "/bin/first");
	tell(fixture, PROC_MMAP, PID, "/lib/ld.so");
	assert_string_equal(program_of(fixture, PID), "/bin/first");

	tell(fixture, PROC_FORK, PID + 1, "");
	tell(fixture, PROC_EXEC, PID, "");
	tell(fixture, PROC_MMAP, PID, "/bin/second");
	assert_string_equal(program_of(fixture, PID), "/bin/second");
	assert_string_equal(program_of(fixture, PID + 1), "/bin/first");
}

static void after_a_loss_proc_is_asked(void **state)
{
	const struct proc_fixture *fixture = *state;

	put_exe(fixture, "/usr/bin/now");
	tell(fixture, PROC_EXEC, PID, "");
	tell(fixture, PROC_MMAP, PID, "/bin/first");
	process_table_lose_events(fixture->table, NOW + 1);
	tell(fixture, PROC_MMAP, PID, "/lib/late.so");
	assert_string_equal(program_of(fixture, PID), "/usr/bin/now");
}

static void a_path_without_a_name_is_none(void **state)
{
	const struct proc_fixture *fixture = *state;

	put_exe(fixture, "/");
	assert_string_equal(program_of(fixture, PID), "/bin/a");
	tell(fixture, PROC_EXEC, PID, "");
	tell(fixture, PROC_MMAP, PID, "/");
	assert_string_equal(program_of(fixture, PID), "");
}

static void of_a_long_path_the_name_is_kept(void **state)
{
	const struct proc_fixture *fixture = *state;
	char path[PROCESS_PROGRAM_MAX + 8];

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	snprintf(path + PROCESS_PROGRAM_MAX - 4, 8, "/web");
	tell(fixture, PROC_EXEC, PID, "");
	tell(fixture, PROC_MMAP, PID, path);
	assert_string_equal(program_of(fixture, PID), "web");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_process_that_was_there_is_asked_once),
		CASE(without_a_link_it_is_the_lowest_file),
		CASE(one_that_is_gone_has_none),
		CASE(events_outdo_what_proc_says_by_now),
		CASE(after_a_loss_proc_is_asked),
		CASE(a_path_without_a_name_is_none),
		CASE(of_a_long_path_the_name_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
