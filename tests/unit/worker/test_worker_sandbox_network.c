/* SPDX-License-Identifier: Apache-2.0 */
/* What works inside a network worker's sandbox, what is refused, and what kills, each tried in a
 * process that is given up for it. */
#include "worker/worker_sandbox.h"

#include "base/cleanup.h"
#include "unit.h"
#include "worker/worker_process.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs in a process inside the sandbox; returns how that ended, as waitpid(2) gives it. */
static int run_as(enum worker_sandbox kind, int (*body)(void))
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		const struct rlimit no_core = { 0 };

		setrlimit(RLIMIT_CORE, &no_core);
		_exit(worker_sandbox_enter(kind) == 0 ? body() : 100);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static int run_inside(int (*body)(void))
{
	return run_as(WORKER_SANDBOX_NETWORK, body);
}

static int resolve_name(void)
{
	struct addrinfo *found = NULL;

	if (getaddrinfo("localhost", "80", NULL, &found) != 0)
		return 1;
	freeaddrinfo(found);
	return 0;
}

static int use_sockets(void)
{
	static const int domains[] = { AF_INET, AF_INET6, AF_NETLINK };
	int ends[2];

	for (size_t i = 0; i < array_len(domains); i++) {
		int fd = socket(domains[i], SOCK_DGRAM | SOCK_CLOEXEC, 0);

		if (fd < 0 && errno != EAFNOSUPPORT)
			return 1;
		if (fd >= 0)
			close(fd);
	}
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0 ||
	       write(ends[0], "x", 1) != 1;
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

	if (pthread_create(&thread, NULL, return_data, &nothing) != 0)
		return 1;
	return pthread_join(thread, &result) != 0 || result != &nothing;
}

static int read_file(void)
{
	_cleanup_close_ int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	char byte;

	return fd < 0 || read(fd, &byte, 1) != 1;
}

static void what_talking_to_servers_needs_works(void **state)
{
	(void)state;
	assert_int_equal(run_inside(resolve_name), 0);
	assert_int_equal(run_inside(use_sockets), 0);
	assert_int_equal(run_inside(use_thread), 0);
	assert_int_equal(run_inside(read_file), 0);
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
	       rename("/tmp/a", "/tmp/b") == 0;
}

static int open_other_sockets(void)
{
	static const int domains[] = { AF_UNIX, AF_PACKET, AF_VSOCK, AF_ALG };

	for (size_t i = 0; i < array_len(domains); i++)
		if (socket(domains[i], SOCK_DGRAM | SOCK_CLOEXEC, 0) >= 0 || errno != EACCES)
			return 1;
	return 0;
}

static int serve_others(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return listen(fd, 1) == 0 || errno != ENOSYS;
}

static int map_code(void)
{
	void *bytes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (bytes == MAP_FAILED || mprotect(bytes, 4096, PROT_READ | PROT_EXEC) == 0)
		return 1;
	return mmap(NULL, 4096, PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
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

static void what_no_server_is_asked_with_is_refused(void **state)
{
	static int (*const bodies[])(void) = {
		write_file, change_files, open_other_sockets, serve_others,
		map_code,   have_child,	  have_more_memory,
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

static int signal_other(void)
{
	return kill(getppid(), 0);
}

static int trace(void)
{
	return (int)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static int read_other(void)
{
	return (int)syscall(SYS_process_vm_readv, 1, NULL, 0, NULL, 0, 0);
}

static int use_bpf(void)
{
	return (int)syscall(SYS_bpf, 0, NULL, 0);
}

static int use_perf(void)
{
	return (int)syscall(SYS_perf_event_open, NULL, 0, 0, 0, 0);
}

static int mount_nothing(void)
{
	return (int)syscall(SYS_mount, NULL, NULL, NULL, 0, NULL);
}

static int enter_namespace(void)
{
	return (int)syscall(SYS_setns, -1, 0);
}

static void what_only_an_intruder_does_kills(void **state)
{
	static int (*const bodies[])(void) = {
		run_program, signal_other, trace,	  read_other,
		use_bpf,     use_perf,	   mount_nothing, enter_namespace,
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

static int make_file(void)
{
	static const char dir[] = "/tmp/flamelet-sandbox-test",
			  name[] = "/tmp/flamelet-sandbox-test/a";

	if (mkdir(dir, 0700) < 0)
		return 1;
	_cleanup_close_ int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return fd < 0 || write(fd, "x", 1) != 1 || unlink(name) < 0 || rmdir(dir) < 0;
}

static void downloads_write_files_and_run_nothing(void **state)
{
	(void)state;
	if (WORKER_PROCESS_IS_SANITIZED)
		skip();
	assert_int_equal(run_as(WORKER_SANDBOX_DOWNLOAD, resolve_name), 0);
	assert_int_equal(run_as(WORKER_SANDBOX_DOWNLOAD, make_file), 0);
	assert_int_equal(run_as(WORKER_SANDBOX_DOWNLOAD, open_other_sockets), 0);
	assert_int_equal(run_as(WORKER_SANDBOX_DOWNLOAD, map_code), 0);
	assert_int_equal(WTERMSIG(run_as(WORKER_SANDBOX_DOWNLOAD, run_program)), SIGSYS);
	assert_int_equal(WTERMSIG(run_as(WORKER_SANDBOX_DOWNLOAD, signal_other)), SIGSYS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_talking_to_servers_needs_works),
		cmocka_unit_test(what_no_server_is_asked_with_is_refused),
		cmocka_unit_test(what_only_an_intruder_does_kills),
		cmocka_unit_test(downloads_write_files_and_run_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
