/* SPDX-License-Identifier: Apache-2.0 */
/* Tests in the running kernel what happens to the bindings of processes that
 * fork, call exec and exit. */
#include "base/clock.h"
#include "base/strbuf.h"
#include "bpf/shared/cfi.h"
#include "capture/bpf/capture_bpf.h"
#include "kernel_map.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define BINDING MAPPING_BINDING(4711, 4712)
#define NO_BINDING UINT64_MAX
#define LARGE_BYTES ((size_t)128 << 20)
#define PATIENCE_NS (60 * NSEC_PER_SEC)

struct fixture {
	struct sample_source *source;
	int processes_fd;
};

static int set_up(void **state)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);
	const struct capture_opts opts = { .frequency_hz = 997, .poll_interval_ns = NSEC_PER_SEC };
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	assert_int_equal(capture_bpf_open(&opts, &message, &fixture->source), 0);
	fixture->processes_fd = kernel_map_fd("processes");
	assert_true(fixture->processes_fd >= 0);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	sample_source_close(fixture->source);
	test_free(fixture);
	return 0;
}

static void set_binding(const struct fixture *fixture, pid_t pid)
{
	const uint32_t key = (uint32_t)pid;
	const uint64_t binding = BINDING;

	assert_int_equal(bpf_map_update_elem(fixture->processes_fd, &key, &binding, BPF_ANY), 0);
}

static uint64_t binding_of(const struct fixture *fixture, pid_t pid)
{
	const uint32_t key = (uint32_t)pid;
	uint64_t binding;

	if (bpf_map_lookup_elem(fixture->processes_fd, &key, &binding) < 0)
		return NO_BINDING;
	return binding;
}

/* A child that waits for a byte, then does what it is to do. */
static pid_t start_child(void (*body)(void), int *ret_go_fd)
{
	int fds[2];
	char go;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		close(fds[1]);
		if (read(fds[0], &go, 1) == 1)
			body();
		_exit(0);
	}
	assert_true(pid > 0);
	close(fds[0]);
	*ret_go_fd = fds[1];
	return pid;
}

static void let_go(int go_fd)
{
	assert_int_equal(write(go_fd, "", 1), 1);
	close(go_fd);
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void exit_now(void)
{
}

static void exec_sleep(void)
{
	execl("/bin/sleep", "sleep", "60", NULL);
}

static void *sleep_in_thread(void *data)
{
	(void)data;
	pause();
	return NULL;
}

static void leave_to_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, sleep_in_thread, NULL);
	pthread_exit(NULL);
}

static bool becomes(const struct fixture *fixture, pid_t pid, uint64_t binding)
{
	uint64_t deadline = clock_mono_ns() + PATIENCE_NS;

	while (binding_of(fixture, pid) != binding && clock_mono_ns() < deadline)
		usleep(1000);
	return binding_of(fixture, pid) == binding;
}

static void a_child_has_its_parents_binding(void **state)
{
	const struct fixture *fixture = *state;
	int go_fd;

	set_binding(fixture, getpid());
	pid_t pid = start_child(exit_now, &go_fd);
	assert_int_equal(binding_of(fixture, pid), BINDING);
	let_go(go_fd);
	waitpid(pid, NULL, 0);
	assert_int_equal(binding_of(fixture, pid), NO_BINDING);
	assert_int_equal(binding_of(fixture, getpid()), BINDING);
}

static void a_child_of_a_parent_without_binding_has_none(void **state)
{
	const struct fixture *fixture = *state;
	int go_fd;

	pid_t pid = start_child(exit_now, &go_fd);
	assert_int_equal(binding_of(fixture, pid), NO_BINDING);
	close(go_fd);
	waitpid(pid, NULL, 0);
}

static void exec_ends_a_binding(void **state)
{
	const struct fixture *fixture = *state;
	int go_fd;

	set_binding(fixture, getpid());
	pid_t pid = start_child(exec_sleep, &go_fd);
	assert_int_equal(binding_of(fixture, pid), BINDING);
	let_go(go_fd);
	assert_true(becomes(fixture, pid, NO_BINDING));
	assert_int_equal(kill(pid, 0), 0);
	end_child(pid);
}

static void a_process_keeps_its_binding_while_a_thread_lives(void **state)
{
	const struct fixture *fixture = *state;
	int go_fd;

	set_binding(fixture, getpid());
	pid_t pid = start_child(leave_to_thread, &go_fd);
	let_go(go_fd);
	usleep(100000);
	assert_int_equal(binding_of(fixture, pid), BINDING);
	end_child(pid);
	assert_true(becomes(fixture, pid, NO_BINDING));
}

/* It takes the kernel tens of milliseconds to take so much memory back, after the process was
 * said to exit. */
static void exit_with_memory(void)
{
	(void)mmap(NULL, LARGE_BYTES, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	_exit(0);
}

static void a_process_that_is_sampled_at_its_exit_leaves_nothing(void **state)
{
	const struct fixture *fixture = *state;
	struct cpu_set_bits restarted;
	int go_fd;

	assert_int_equal(sample_source_follow_cpus(fixture->source, &restarted), 0);
	pid_t pid = start_child(exit_with_memory, &go_fd);
	let_go(go_fd);
	assert_true(becomes(fixture, pid, MAPPING_BINDING_ASKED));
	waitpid(pid, NULL, 0);
	sample_source_stop(fixture->source);
	assert_int_equal(binding_of(fixture, pid), NO_BINDING);
}

#define PROCESS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROCESS_TEST(a_child_has_its_parents_binding),
		PROCESS_TEST(a_child_of_a_parent_without_binding_has_none),
		PROCESS_TEST(exec_ends_a_binding),
		PROCESS_TEST(a_process_keeps_its_binding_while_a_thread_lives),
		PROCESS_TEST(a_process_that_is_sampled_at_its_exit_leaves_nothing),
	};

	if (geteuid() != 0) {
		fputs("SKIP: loading BPF programs needs root\n", stderr);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
