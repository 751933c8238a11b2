/* SPDX-License-Identifier: Apache-2.0 */
#include "dump/thread_list.h"

#include "base/cleanup.h"
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct thread_info *find(const struct thread_list *list, uint32_t tid)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->items[i].tid == tid)
			return &list->items[i];
	return NULL;
}

static void assert_stack(const char *text, const char *expected)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(4096);

	thread_list_append_stack(text, strlen(text), &out);
	assert_string_equal(strbuf_str(&out), expected);
}

static void functions_of_a_kernel_stack_are_read(void **state)
{
	(void)state;
	assert_stack("[<0>] futex_wait+0x1/0x2\n[<0>] do_syscall_64+0x1/0x2\n",
		     "futex_wait\ndo_syscall_64\n");
	assert_stack("[<ffffffff8110>] nfs_wait+0x1/0x2 [nfs]\n", "nfs_wait\n");
	assert_stack("[<0>] last", "last\n");
}

static void other_lines_are_left_out(void **state)
{
	static const char *const texts[] = {
		"",	   "\n\n",  "[<0>]",	  "[<0>] ", "[<0>] +0x1/0x2\n",
		"futex\n", "[0] a", " [<0>] a\n", "[<",	    "a [<0>] b\n",
	};
	(void)state;

	for (size_t i = 0; i < array_len(texts); i++)
		assert_stack(texts[i], "");
}

static void a_restarted_call_has_the_stack_from_before(void **state)
{
	static char slept[] = "hrtimer_nanosleep\n__x64_sys_clock_nanosleep\ndo_syscall_64\n";
	struct thread_info before[] = { { .tid = 1, .state = 'S', .kernel_stack = slept },
					{ .tid = 2, .state = 'S' },
					{ .tid = 3, .state = 'R', .kernel_stack = slept } };
	const struct thread_list earlier = { before, array_len(before), 0 };
	static const struct {
		uint32_t tid;
		char state;
		const char *stack, *expected;
	} cases[] = {
		{ 1, 'S', "x\n__do_sys_restart_syscall\ndo_syscall_64\n", slept },
		{ 1, 'S', "x\n__arm64_sys_restart_syscall\n", slept },
		{ 1, 'S', "do_syscall_64\n", slept },
		{ 1, 'S', "syscall_64\n", NULL }, /* no whole name */
		{ 1, 'S', "futex_wait\ndo_syscall_64\n", NULL },
		{ 1, 'R', "do_syscall_64\n", NULL },
		{ 2, 'S', "do_syscall_64\n", NULL },
		{ 3, 'S', "do_syscall_64\n", NULL },
		{ 4, 'S', "do_syscall_64\n", NULL },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct thread_info now = { .tid = cases[i].tid,
					   .state = cases[i].state,
					   .kernel_stack = strdup(cases[i].stack) };
		struct thread_list list = { &now, 1, 0 };

		thread_list_restore_stacks(&list, &earlier);
		assert_string_equal(now.kernel_stack,
				    cases[i].expected ? cases[i].expected : cases[i].stack);
		free(now.kernel_stack);
	}
}

static void *name_and_wait(void *data)
{
	int *pipe_fds = data;
	char byte;

	pthread_setname_np(pthread_self(), "waits-in-pipe");
	assert_int_equal(write(pipe_fds[3], &(pid_t){ (pid_t)syscall(SYS_gettid) }, sizeof(pid_t)),
			 sizeof(pid_t));
	assert_int_equal(read(pipe_fds[0], &byte, 1), 0);
	return NULL;
}

static void all_threads_are_listed(void **state)
{
	_cleanup_close_ int proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct thread_list list, ids;
	pthread_t thread;
	int fds[4];
	pid_t tid;
	(void)state;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(pipe2(fds + 2, O_CLOEXEC), 0);
	assert_int_equal(pthread_create(&thread, NULL, name_and_wait, fds), 0);
	assert_int_equal(read(fds[2], &tid, sizeof(tid)), sizeof(tid));

	uint32_t pid = (uint32_t)getpid();
	assert_int_equal(thread_list_read(proc_fd, pid, THREAD_LIST_ALL, &list), 0);
	assert_int_equal(thread_list_read(proc_fd, pid, THREAD_LIST_IDS, &ids), 0);
	assert_int_equal(list.nr, 2);
	assert_int_equal(ids.nr, 2);
	assert_non_null(find(&ids, (uint32_t)tid));
	assert_string_equal(find(&list, (uint32_t)tid)->comm, "waits-in-pipe");
	assert_int_equal(find(&list, pid)->state, 'R');

	close(fds[1]);
	pthread_join(thread, NULL);
	close(fds[0]);
	close(fds[2]);
	close(fds[3]);
	thread_list_done(&list);
	thread_list_done(&ids);
}

static void a_process_that_is_not_there_is_an_error(void **state)
{
	_cleanup_close_ int proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct thread_list list;
	(void)state;

	assert_int_equal(thread_list_read(proc_fd, 0x7fffffff, THREAD_LIST_ALL, &list), -ESRCH);
}

static void every_state_has_a_name(void **state)
{
	(void)state;
	assert_string_equal(thread_state_name('R'), "running");
	assert_string_equal(thread_state_name('D'), "sleeping, uninterruptible");
	assert_string_equal(thread_state_name('?'), "in an unknown state");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_a_kernel_stack_are_read),
		cmocka_unit_test(other_lines_are_left_out),
		cmocka_unit_test(a_restarted_call_has_the_stack_from_before),
		cmocka_unit_test(all_threads_are_listed),
		cmocka_unit_test(a_process_that_is_not_there_is_an_error),
		cmocka_unit_test(every_state_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
