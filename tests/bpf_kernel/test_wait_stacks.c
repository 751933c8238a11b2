/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel stacks of waits and wakers whose CPU was in user space when it was sampled last. A child
 * has one CPU. Its first thread computes, so that samples come from user space, wakes the second
 * thread now and then, and sleeps. */
#include "base/clock.h"
#include "bpf/shared/off_cpu.h"
#include "plain_consumer.h"
#include "tested_backend.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define HZ 997
#define POLL_NS (20 * NSEC_PER_MSEC)
#define LATE_NS (60 * NSEC_PER_SEC) /* on a busy machine */
#define COMPUTE_NS (20 * NSEC_PER_MSEC)
#define ROUNDS 12
#define LONG_ROUNDS 4 /* of them: the last of these waits are known to be long when they begin */
#define LONG_NS (3 * OFF_CPU_LONG_NS)
#define SHORT_NS (OFF_CPU_LONG_NS / 5) /* after some of these, waits are told of at their end */
#define WAKING_ROUNDS 3 /* in one of so many, it wakes the other thread before it sleeps */
#define ENOUGH 3 /* records of each kind */

struct scene {
	struct sample_source *source;
	pid_t child;
	bool was_in_user; /* at the last record with a stack */
	uint64_t
		nr_after_user[RECORD_NR_KINDS]; /* records that followed a sample from user space */
	uint64_t nr_without_kernel_frames;
};

static void sleep_ns(uint64_t ns)
{
	struct timespec time = { (time_t)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC) };

	nanosleep(&time, NULL);
}

/* Without a system call, if the clock needs none. */
static void compute(void)
{
	uint64_t end_ns = clock_mono_ns() + COMPUTE_NS;

	while (clock_mono_ns() < end_ns)
		for (volatile int i = 0; i < 100000; i++)
			;
}

static void *wait_for_bytes(void *data)
{
	const int *fd = data;
	char byte;

	while (read(*fd, &byte, 1) == 1)
		;
	return NULL;
}

static void use_first_cpu(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
		_exit(1);
}

static void live(int start_fd)
{
	pthread_t thread;
	int ends[2];
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	use_first_cpu();
	if (pipe2(ends, O_CLOEXEC) < 0 ||
	    pthread_create(&thread, NULL, wait_for_bytes, &ends[0]) != 0 ||
	    read(start_fd, &byte, 1) != 0)
		_exit(1);
	for (int round = 0;; round = (round + 1) % ROUNDS) {
		compute();
		if (round % WAKING_ROUNDS == 0 && write(ends[1], "", 1) != 1)
			_exit(1);
		sleep_ns(round < LONG_ROUNDS ? LONG_NS : SHORT_NS);
	}
}

/* Returns the descriptor with whose end the child begins. */
static int start_child(struct scene *scene)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	scene->child = fork();
	assert_true(scene->child >= 0);
	if (scene->child == 0) {
		close(ends[1]);
		live(ends[0]);
	}
	close(ends[0]);
	return ends[1];
}

static void open_source(struct scene *scene)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);
	const uint32_t pids[] = { (uint32_t)scene->child };
	const struct capture_opts opts = { .frequency_hz = HZ,
					   .poll_interval_ns = POLL_NS,
					   .pids = pids,
					   .nr_pids = 1,
					   .off_cpu = true,
					   .wakers = true };
	struct cpu_set_bits restarted;

	assert_int_equal(tested_backend_open(opts, &message, &scene->source), 0);
	assert_int_equal(sample_source_follow_cpus(scene->source, &restarted), 0);
}

static void on_record(const struct sample_event *event, void *data)
{
	struct scene *scene = data;

	/* These have no stack. A thread that was found asleep may have been on any CPU. */
	if (event->kind == RECORD_BLOCK_END || event->kind == RECORD_BLOCK_FOUND)
		return;
	if (event->kind != RECORD_TIMER && scene->was_in_user) {
		scene->nr_after_user[event->kind]++;
		scene->nr_without_kernel_frames += event->nr_kernel == 0;
	}
	scene->was_in_user = event->kind == RECORD_TIMER && event->in_user;
}

static bool has_late_blocks(void)
{
	return access("/sys/kernel/btf/vmlinux", R_OK) == 0 &&
	       libbpf_find_vmlinux_btf_id("sched_exit_tp", BPF_TRACE_RAW_TP) > 0;
}

static bool has_enough(const struct scene *scene)
{
	return scene->nr_after_user[RECORD_BLOCK_BEGIN] >= ENOUGH &&
	       scene->nr_after_user[RECORD_WAKER] >= ENOUGH &&
	       (scene->nr_after_user[RECORD_BLOCK_LATE] >= ENOUGH || !has_late_blocks());
}

static void poll_until_enough(struct scene *scene)
{
	const struct sample_consumer consumer = plain_consumer(on_record, scene);
	uint64_t deadline_ns = clock_mono_ns() + LATE_NS;

	while (!has_enough(scene)) {
		assert_true(clock_mono_ns() < deadline_ns);
		sleep_ns(POLL_NS);
		sample_source_poll(scene->source, &consumer);
	}
}

static void scene_done(struct scene *scene)
{
	kill(scene->child, SIGKILL);
	waitpid(scene->child, NULL, 0);
	sample_source_close(scene->source);
}

static void waits_after_a_sample_from_user_space_have_kernel_frames(void **state)
{
	_cleanup_(scene_done) struct scene scene = { 0 };
	int start_fd;

	(void)state;
	start_fd = start_child(&scene);
	open_source(&scene);
	close(start_fd);
	poll_until_enough(&scene);
	assert_int_equal(scene.nr_without_kernel_frames, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_after_a_sample_from_user_space_have_kernel_frames),
	};

	if (geteuid() != 0) {
		fputs("SKIP: loading BPF programs needs root\n", stderr);
		return 77;
	}
	tested_backend_choose(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
