/* SPDX-License-Identifier: Apache-2.0 */
/* What works inside the sandbox of a server, what is refused, and what kills, each tried in a
 * process that is given up for it. */
#include "worker/worker_sandbox.h"

#include "base/cleanup.h"
#include "base/thread.h"
#include "unit.h"
#include "worker/worker_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int listener = -EBADF, client = -EBADF;

/* Runs in a process inside the sandbox; returns how that ended, as waitpid(2) gives it. */
static int run_inside(int (*body)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		const struct rlimit no_core = { 0 };

		setrlimit(RLIMIT_CORE, &no_core);
		_exit(worker_sandbox_enter(WORKER_SANDBOX_SERVER) == 0 ? body() : 100);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* A socket that listens, and a client that has connected and sent a byte. */
static int open_sockets(void **state)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(address);
	(void)state;

	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	return bind(listener, (struct sockaddr *)&address, len) < 0 || listen(listener, 1) < 0 ||
	       getsockname(listener, (struct sockaddr *)&address, &len) < 0 ||
	       connect(client, (struct sockaddr *)&address, len) < 0 ||
	       send(client, "x", 1, MSG_NOSIGNAL) != 1;
}

static int close_sockets(void **state)
{
	(void)state;
	close(client);
	close(listener);
	return 0;
}

static int serve_client(void)
{
	struct pollfd polled = { .fd = listener, .events = POLLIN };
	char byte = 0;

	if (poll(&polled, 1, -1) != 1)
		return 1;
	_cleanup_close_ int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0 || recv(fd, &byte, 1, 0) != 1 || send(fd, &byte, 1, MSG_NOSIGNAL) != 1)
		return 2;
	return shutdown(fd, SHUT_RDWR) < 0 ? 3 : 0;
}

static int read_file(void)
{
	struct flock lock = { .l_type = F_RDLCK, .l_len = 1 };
	struct stat status;
	char byte;
	_cleanup_close_ int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || stat("/etc/passwd", &status) < 0 || pread(fd, &byte, 1, 0) != 1 ||
	    fcntl(fd, F_SETLK, &lock) < 0)
		return 1;
	void *shared = mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);
	return shared == MAP_FAILED || munmap(shared, 1) < 0 ? 2 : 0;
}

static int list_directory(void)
{
	DIR *dir = opendir("/etc");
	int r = dir && readdir(dir) ? 0 : 1;

	return dir && closedir(dir) < 0 ? 2 : r;
}

static void *return_data(void *data)
{
	return data;
}

static int use_thread(void)
{
	pthread_t thread;
	void *result = NULL;
	int nothing;

	if (thread_start("merge", 0, return_data, &nothing, &thread) < 0)
		return 1;
	return pthread_join(thread, &result) != 0 || result != &nothing;
}

static void what_serving_a_record_needs_works(void **state)
{
	(void)state;
	assert_int_equal(run_inside(serve_client), 0);
	assert_int_equal(run_inside(read_file), 0);
	assert_int_equal(run_inside(list_directory), 0);
	assert_int_equal(run_inside(use_thread), 0);
}

static int write_file(void)
{
	static const int flags[] = {
		O_WRONLY, O_RDWR, O_RDONLY | O_CREAT, O_RDONLY | O_TRUNC, O_WRONLY | O_APPEND,
	};

	for (size_t i = 0; i < array_len(flags); i++)
		if (open("/dev/null", flags[i] | O_CLOEXEC, 0600) >= 0 || errno != EACCES)
			return 1;
	return open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600) >= 0;
}

static int change_files(void)
{
	return mkdir("/tmp/flamelet-sandbox", 0700) == 0 || unlink("/nonexistent") == 0 ||
	       errno != ENOSYS || chmod("/tmp", 01777) == 0 || truncate("/dev/null", 0) == 0 ||
	       rename("/tmp/a", "/tmp/b") == 0 || link("/tmp/a", "/tmp/b") == 0 || errno != ENOSYS;
}

static int map_code(void)
{
	void *bytes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (bytes == MAP_FAILED || mprotect(bytes, 4096, PROT_READ | PROT_EXEC) == 0)
		return 1;
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	       MAP_FAILED;
}

static int share_memory(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) !=
	       MAP_FAILED;
}

static int have_child(void)
{
	return fork() >= 0;
}

static int have_more_memory(void)
{
	const struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	return setrlimit(RLIMIT_DATA, &limit) == 0;
}

static void what_it_does_not_need_is_refused(void **state)
{
	static int (*const bodies[])(void) = {
		write_file, change_files, map_code, share_memory, have_child, have_more_memory,
	};
	(void)state;

	if (WORKER_PROCESS_IS_SANITIZED)
		skip();
	for (size_t i = 0; i < array_len(bodies); i++)
		if (run_inside(bodies[i]) != 0)
			fail_msg("case %zu was not refused", i);
}

static int run_program(void)
{
	return execl("/bin/true", "true", (char *)NULL);
}

static int open_socket(void)
{
	return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static int connect_socket(void)
{
	return connect(client, NULL, 0);
}

static int bind_socket(void)
{
	return bind(client, NULL, 0);
}

static int signal_other(void)
{
	return kill(getppid(), 0);
}

static int trace(void)
{
	return (int)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static int use_bpf(void)
{
	return (int)syscall(SYS_bpf, 0, NULL, 0);
}

static int use_perf(void)
{
	return (int)syscall(SYS_perf_event_open, NULL, 0, 0, 0, 0);
}

static void what_only_an_intruder_does_kills(void **state)
{
	static int (*const bodies[])(void) = {
		run_program,  open_socket, connect_socket, bind_socket,
		signal_other, trace,	   use_bpf,	   use_perf,
	};
	(void)state;

	if (WORKER_PROCESS_IS_SANITIZED)
		skip();
	for (size_t i = 0; i < array_len(bodies); i++) {
		int status = run_inside(bodies[i]);

		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
			fail_msg("case %zu ended with %#x", i, status);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_serving_a_record_needs_works, open_sockets,
						close_sockets),
		cmocka_unit_test(what_it_does_not_need_is_refused),
		cmocka_unit_test_setup_teardown(what_only_an_intruder_does_kills, open_sockets,
						close_sockets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
