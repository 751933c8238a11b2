/* SPDX-License-Identifier: Apache-2.0 */
/* The mounts are real ones, in mount namespaces of children. */
#include "symbol/opener/mount_list.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define NR_NESTED 6000
#define MAX_BYTES ((size_t)8 << 20)

static int proc_fd = -EBADF;

/* One mount upon the other. */
static int nest_mounts(int nr)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", "/tmp", "tmpfs", 0, NULL) < 0 || mkdir("/tmp/a", 0700) < 0)
		return -1;
	for (int i = 0; i < nr; i++)
		if (mount("/tmp/a", "/tmp/a", NULL, MS_BIND, NULL) < 0)
			return -1;
	return 0;
}

/* A process with a mount namespace of its own. */
static pid_t start_process(int nr_mounts)
{
	int ready[2];
	char byte = 0;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		byte = (char)(nest_mounts(nr_mounts) == 0);
		if (write(ready[1], &byte, 1) == 1)
			pause();
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return byte ? pid : -pid;
}

static void end_process(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static int read_list(pid_t pid)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);

	int r = mount_list_read(proc_fd, (uint32_t)pid, &text);
	if (r == 0)
		assert_non_null(strstr(strbuf_str(&text), " / "));
	return r;
}

static void a_slow_list_is_given_up_and_does_not_hold_up_those_of_others(void **state)
{
	pid_t quick = start_process(0);
	pid_t slow = start_process(NR_NESTED);
	(void)state;

	if (slow < 0 || quick < 0) {
		end_process(abs(slow));
		end_process(abs(quick));
		skip(); /* not root */
	}
	assert_int_equal(read_list(quick), 0);

	uint64_t start_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	assert_int_equal(read_list(slow), -EAGAIN);
	assert_int_equal(read_list(slow), -EAGAIN);
	assert_int_equal(read_list(slow), -EAGAIN);
	uint64_t took_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns;
	assert_true(took_ns < 2 * MOUNT_LIST_MAX_NS);

	assert_int_equal(read_list(quick), 0);
	assert_int_equal(read_list(MOUNT_LIST_HOST_PID), 0);
	end_process(quick);
	end_process(slow);
}

static void an_unknown_list_is_read_when_its_turn_has_come(void **state)
{
	pid_t pid = start_process(0);
	(void)state;

	if (pid < 0) {
		end_process(-pid);
		skip();
	}
	uint64_t until_ns = clock_mono_ns() + 2 * MOUNT_LIST_SHARE * MOUNT_LIST_MAX_NS;
	int r = read_list(pid);
	while (r == -EAGAIN && clock_mono_ns() < until_ns) {
		usleep(10000);
		r = read_list(pid);
	}
	assert_int_equal(r, 0);
	end_process(pid);
}

static void without_a_process_there_is_no_list(void **state)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf small = strbuf_with_max(8);
	(void)state;

	assert_int_equal(mount_list_read(proc_fd, UINT32_MAX, &text), -ENOENT);
	assert_int_equal(mount_list_read(proc_fd, MOUNT_LIST_HOST_PID, &small), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_process_there_is_no_list),
		cmocka_unit_test(a_slow_list_is_given_up_and_does_not_hold_up_those_of_others),
		cmocka_unit_test(an_unknown_list_is_read_when_its_turn_has_come),
	};

	proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
