/* SPDX-License-Identifier: Apache-2.0 */
/* Times in which threads do not run, of children who know how long theirs were. */
#include "base/clock.h"
#include "base/parse.h"
#include "bpf/shared/off_cpu.h"
#include "kernel_map.h"
#include "pipeline/blocks.h"
#include "plain_consumer.h"
#include "tested_backend.h"

#include <bpf/libbpf.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define POLL_NS (20 * NSEC_PER_MSEC)
#define LATE_NS (60 * NSEC_PER_SEC) /* on a busy machine */
#define ALL 100 /* percent */

/* Written by the child, in shared memory. */
struct truth {
	uint64_t waited_ns; /* it did not run for so long */
	uint64_t run_delay_ns; /* it was in a run queue for so long, as the kernel counts */
	bool is_over;
};

struct wait {
	long ns;
	int nr;
	int every; /* each so many is rare_ns long; 0: none */
	long rare_ns;
	bool has_rival; /* another process wants its CPU */
	int policy; /* then: its own */
};

struct scene {
	struct sample_source *source;
	struct truth *truth;
	pid_t child, rival; /* 0: there is none */
	int start_fd; /* the child waits for its end */
	struct blocks blocks;
	uint64_t counted_ns, runnable_ns, queued_ns; /* what the records say */
	uint64_t nr_begun, nr_ended, nr_late;
	uint64_t longest_late_ns, shortest_late_ns;
	uint64_t min_block_ns;
	uint64_t nr_others; /* of other processes */
	uint64_t nr_without_kernel_frames;
};

static void sleep_ns(long ns)
{
	struct timespec time = { ns / (long)NSEC_PER_SEC, ns % (long)NSEC_PER_SEC };

	nanosleep(&time, NULL);
}

/* Returns the second number of a schedstat. */
static uint64_t read_run_delay_of(const char *path)
{
	char text[64];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof(text));
	const char *end = text + (n > 0 ? n : 0);
	const char *second = memchr(text, ' ', (size_t)(end - text));
	uint64_t ns = 0;

	close(fd);
	if (!second)
		return 0;
	second++;
	return parse_digits(&second, end, 10, &ns) == 0 ? ns : 0;
}

static uint64_t read_run_delay(void)
{
	return read_run_delay_of("/proc/thread-self/schedstat");
}

static uint64_t read_run_delay_of_child(const struct scene *scene)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)scene->child);
	return read_run_delay_of(path);
}

/* A process with the policy SCHED_IDLE gets what others leave. */
static void share_first_cpu(int policy)
{
	const struct sched_param param = { 0 };
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	sched_setscheduler(0, policy, &param);
}

static void wait_often(const struct wait *wait, struct truth *truth)
{
	uint64_t run_delay_ns = read_run_delay();
	uint64_t begin_ns = clock_mono_ns(), cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);

	for (int i = 1; i <= wait->nr; i++)
		sleep_ns(wait->every && i % wait->every == 0 ? wait->rare_ns : wait->ns);
	truth->waited_ns = clock_mono_ns() - begin_ns -
			   (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns);
	truth->run_delay_ns = read_run_delay() - run_delay_ns;
	__atomic_store_n(&truth->is_over, true, __ATOMIC_RELEASE);
	for (;;) /* a wait would count */
		getppid();
}

static pid_t start_rival(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	share_first_cpu(SCHED_OTHER);
	for (;;)
		getppid();
}

/* The child reads until the other end of the pipe is closed, and begins then. */
static void start_child(struct scene *scene, const struct wait *wait)
{
	int ends[2];

	if (wait->has_rival)
		scene->rival = start_rival();
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	scene->truth = mmap(NULL, sizeof(*scene->truth), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(scene->truth, MAP_FAILED);
	scene->child = fork();
	assert_true(scene->child >= 0);
	if (scene->child == 0) {
		char byte;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(ends[1]);
		if (wait->has_rival)
			share_first_cpu(wait->policy);
		if (read(ends[0], &byte, 1) == 0)
			wait_often(wait, scene->truth);
		_exit(1);
	}
	close(ends[0]);
	scene->start_fd = ends[1];
}

static void count(struct scene *scene, struct block *block, uint64_t until_ns)
{
	scene->counted_ns += block_weight(block, until_ns);
	if (block->event->wait_flags & WAIT_FLAG_PREEMPTED)
		scene->runnable_ns += until_ns - block->begin_ns;
	blocks_remove(&scene->blocks, block);
}

static void on_record(const struct sample_event *event, void *data)
{
	struct scene *scene = data;
	struct block *block;

	if (event->kind == RECORD_TIMER)
		return;
	if (event->queued_ns != QUEUED_UNKNOWN)
		scene->queued_ns += event->queued_ns;
	if (event->kind == RECORD_QUEUED)
		return;
	scene->runnable_ns += event->kind == RECORD_BLOCK_BEGIN
				      ? 0
				      : event->runnable_us * NSEC_PER_USEC;
	if (event->kind == RECORD_BLOCK_END) {
		block = blocks_find(&scene->blocks, event->tid, event->sequence);
		scene->nr_ended++;
		if (block)
			count(scene, block, event->time_ns);
		return;
	}
	scene->nr_others += event->pid != (uint32_t)scene->child;
	scene->nr_without_kernel_frames += event->nr_kernel == 0;
	assert_int_equal(blocks_begin(&scene->blocks, event, 0, REASON_OTHER), 0);
	if (event->kind == RECORD_BLOCK_BEGIN) {
		scene->nr_begun++;
		return;
	}
	scene->nr_late++;
	if (scene->nr_late == 1 || event->length_ns < scene->shortest_late_ns)
		scene->shortest_late_ns = event->length_ns;
	if (event->length_ns > scene->longest_late_ns)
		scene->longest_late_ns = event->length_ns;
	block = blocks_find(&scene->blocks, event->tid, event->sequence);
	count(scene, block, event->time_ns);
}

static void poll_until_over(struct scene *scene)
{
	const struct sample_consumer consumer = plain_consumer(on_record, scene);
	uint64_t deadline_ns = clock_mono_ns() + LATE_NS;
	bool is_over = false;

	while (!is_over) {
		assert_true(clock_mono_ns() < deadline_ns);
		sleep_ns(POLL_NS);
		is_over = __atomic_load_n(&scene->truth->is_over, __ATOMIC_ACQUIRE);
		sample_source_poll(scene->source, &consumer);
	}
}

static void open_source(struct scene *scene)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);
	const uint32_t pids[] = { (uint32_t)scene->child };
	const struct capture_opts opts = { .frequency_hz = 19,
					   .poll_interval_ns = POLL_NS,
					   .pids = pids,
					   .nr_pids = 1,
					   .off_cpu = true,
					   .min_block_ns = scene->min_block_ns };
	struct cpu_set_bits restarted;

	assert_int_equal(tested_backend_open(opts, &message, &scene->source), 0);
	assert_int_equal(sample_source_follow_cpus(scene->source, &restarted), 0);
}

static void scene_done(struct scene *scene)
{
	kill(scene->child, SIGKILL);
	waitpid(scene->child, NULL, 0);
	if (scene->rival > 0) {
		kill(scene->rival, SIGKILL);
		waitpid(scene->rival, NULL, 0);
	}
	sample_source_close(scene->source);
	blocks_done(&scene->blocks);
	munmap(scene->truth, sizeof(*scene->truth));
}

/* The child waits for the source, then as often as told. What it waited before counts only in
 * `longest_late_ns`. */
static void run(struct scene *scene, const struct wait *wait)
{
	start_child(scene, wait);
	open_source(scene);
	sleep_ns(10 * POLL_NS);
	close(scene->start_fd);
	poll_until_over(scene);
}

static uint64_t percent_of_truth(const struct scene *scene)
{
	uint64_t first_ns = scene->nr_late > 0 ? scene->longest_late_ns : 0;

	return (scene->counted_ns - first_ns) * ALL / scene->truth->waited_ns;
}

static bool has_late_blocks(void)
{
	return access("/sys/kernel/btf/vmlinux", R_OK) == 0 &&
	       libbpf_find_vmlinux_btf_id("sched_exit_tp", BPF_TRACE_RAW_TP) > 0;
}

static void long_waits_are_known(void **state)
{
	_cleanup_(scene_done) struct scene scene = { 0 };

	(void)state;
	run(&scene, &(struct wait){ .ns = 20 * NSEC_PER_MSEC, .nr = 50 });
	assert_true(scene.nr_begun + scene.nr_late >= 50);
	assert_int_equal(scene.nr_others, 0);
	assert_int_equal(scene.nr_without_kernel_frames, 0);
	assert_in_range(percent_of_truth(&scene), 95, 105);
}

static void short_waits_are_estimated_from_some_of_them(void **state)
{
	_cleanup_(scene_done) struct scene scene = { 0 };

	(void)state;
	run(&scene, &(struct wait){ .ns = 50 * NSEC_PER_USEC, .nr = 10000 });
	assert_true(scene.nr_begun + scene.nr_late < 8000);
	assert_in_range(percent_of_truth(&scene), 65, 150); /* by some hundred of them */
}

static void rare_long_waits_among_short_ones_are_known(void **state)
{
	_cleanup_(scene_done) struct scene scene = { 0 };

	(void)state;
	if (!has_late_blocks())
		skip();
	run(&scene, &(struct wait){ .ns = 50 * NSEC_PER_USEC,
				    .nr = 4000,
				    .every = 400,
				    .rare_ns = 200 * NSEC_PER_MSEC });
	assert_true(scene.nr_late > 1);
	assert_in_range(percent_of_truth(&scene), 90, 110);
}

static void waits_that_are_too_short_are_not_told(void **state)
{
	_cleanup_(scene_done) struct scene scene = { .min_block_ns = 100 * NSEC_PER_MSEC };

	(void)state;
	if (!has_late_blocks())
		skip();
	run(&scene, &(struct wait){ .ns = 2 * NSEC_PER_MSEC,
				    .nr = 500,
				    .every = 100,
				    .rare_ns = 200 * NSEC_PER_MSEC });
	assert_true(scene.nr_late > 1);
	assert_true(scene.shortest_late_ns >= scene.min_block_ns);
}

static void a_wait_that_began_before_the_source_is_told_of_at_its_end(void **state)
{
	_cleanup_(scene_done) struct scene scene = { 0 };

	(void)state;
	if (!has_late_blocks())
		skip();
	run(&scene, &(struct wait){ .ns = NSEC_PER_USEC, .nr = 1 });
	assert_in_range(scene.longest_late_ns, 10 * POLL_NS, LATE_NS);
}

static void the_end_of_a_wait_in_a_run_queue_is_told(void **state)
{
	_cleanup_(scene_done) struct scene scene = { 0 };

	(void)state;
	if (!has_late_blocks())
		skip();
	run(&scene,
	    &(struct wait){
		    .ns = 20 * NSEC_PER_MSEC, .nr = 50, .has_rival = true, .policy = SCHED_IDLE });
	assert_true(scene.truth->run_delay_ns > 0);
	/* What the child waited before and after it looked at the clock is not in its truth. */
	assert_in_range(scene.runnable_ns, scene.truth->run_delay_ns * 8 / 10,
			scene.truth->run_delay_ns * 12 / 10 + 20 * NSEC_PER_MSEC);
}

/* The child waits a thousand times for the CPU, and each time is in the sum: it is not estimated
 * from those that have records. */
static void all_time_in_run_queues_is_told(void **state)
{
	_cleanup_(scene_done) struct scene scene = { 0 };
	const struct sample_consumer consumer = plain_consumer(on_record, &scene);
	uint64_t first_ns, least_ns, most_ns;

	(void)state;
	start_child(&scene,
		    &(struct wait){ .ns = 100 * NSEC_PER_USEC, .nr = 1000, .has_rival = true });
	sleep_ns(10 * POLL_NS); /* it reads */
	first_ns = read_run_delay_of_child(&scene);
	open_source(&scene);
	sample_source_poll(scene.source, &consumer);
	close(scene.start_fd);
	poll_until_over(&scene);
	least_ns = read_run_delay_of_child(&scene) - first_ns;
	sample_source_stop(scene.source);
	sample_source_poll(scene.source, &consumer);
	most_ns = read_run_delay_of_child(&scene) - first_ns;
	assert_true(scene.nr_late + scene.nr_begun < 1000 || !has_late_blocks());
	assert_in_range(scene.queued_ns, least_ns, most_ns);
}

static void a_wait_is_open_until_its_end(void **state)
{
	_cleanup_(scene_done) struct scene scene = { 0 };
	const struct sample_consumer consumer = plain_consumer(on_record, &scene);
	uint64_t deadline_ns = clock_mono_ns() + LATE_NS;
	uint32_t sequence;

	(void)state;
	start_child(&scene, &(struct wait){ .ns = 2 * (long)NSEC_PER_SEC, .nr = 1 });
	open_source(&scene);
	close(scene.start_fd);
	while (scene.blocks.nr == 0 && clock_mono_ns() < deadline_ns) {
		sleep_ns(POLL_NS);
		sample_source_poll(scene.source, &consumer);
	}
	assert_int_equal(scene.blocks.nr, 1);
	sequence = scene.blocks.rows[0].event->sequence;
	assert_true(sample_source_has_block(scene.source, (uint32_t)scene.child, sequence));
	assert_false(sample_source_has_block(scene.source, (uint32_t)scene.child, sequence + 1));
	poll_until_over(&scene);
	assert_true(scene.nr_ended >= 1); /* it may have been preempted since */
	assert_false(sample_source_has_block(scene.source, (uint32_t)scene.child, sequence));
}

/* Its beginning was not chosen, because the waits before were short. */
static void a_long_wait_after_short_ones_is_found_before_it_ends(void **state)
{
	_cleanup_(scene_done) struct scene scene = { 0 };
	const struct sample_consumer consumer = plain_consumer(on_record, &scene);
	uint64_t deadline_ns = clock_mono_ns() + LATE_NS, length_ns = 0;

	(void)state;
	if (!has_late_blocks())
		skip();
	start_child(&scene, &(struct wait){ .ns = 2 * NSEC_PER_MSEC,
					    .nr = 100,
					    .every = 100,
					    .rare_ns = 2 * (long)LATE_NS });
	open_source(&scene);
	close(scene.start_fd);
	while (length_ns < OFF_CPU_OVERDUE_NS) {
		assert_true(clock_mono_ns() < deadline_ns);
		sleep_ns(POLL_NS);
		sample_source_poll(scene.source, &consumer);
		if (scene.nr_late > 0 && scene.blocks.nr == 1)
			length_ns = clock_mono_ns() - scene.blocks.rows[0].begin_ns;
	}
	assert_true(sample_source_has_block(scene.source, (uint32_t)scene.child,
					    scene.blocks.rows[0].event->sequence));
}

static void a_thread_that_never_runs_is_found(void **state)
{
	_cleanup_(scene_done) struct scene scene = { 0 };
	const struct sample_consumer consumer = plain_consumer(on_record, &scene);
	uint64_t begin_ns, end_ns;
	const struct block *block;

	(void)state;
	start_child(&scene, &(struct wait){ .ns = NSEC_PER_USEC, .nr = 1 });
	sleep_ns(10 * POLL_NS); /* it reads */
	begin_ns = clock_mono_ns();
	open_source(&scene);
	end_ns = clock_mono_ns();
	sleep_ns(10 * POLL_NS);
	sample_source_poll(scene.source, &consumer);
	assert_int_equal(scene.blocks.nr, 1);
	block = &scene.blocks.rows[0];
	assert_in_range(block->begin_ns, begin_ns, end_ns);
	assert_true(block->event->nr_kernel > 0);
	assert_true(sample_source_has_block(scene.source, (uint32_t)scene.child,
					    block->event->sequence));
	close(scene.start_fd);
	poll_until_over(&scene);
	assert_int_equal(scene.nr_others, 0);
	assert_true(scene.counted_ns >= 10 * POLL_NS); /* its end was told */
}

static uint64_t read_nr_lost(const struct scene *scene)
{
	struct capture_stats stats;

	sample_source_get_stats(scene->source, &stats);
	return stats.bpf[STAT_BLOCK_LOST];
}

/* Gives a thread that runs a wait since `begin_ns`, as if the kernel had not told its end. */
static void plant_wait(pid_t tid, uint64_t begin_ns)
{
	uint32_t index = (uint32_t)tid % OFF_CPU_SLOTS;
	const struct off_cpu_slot slot = { .tid = (uint32_t)tid, .begin_ns = begin_ns };

	assert_int_equal(bpf_map_update_elem(kernel_map_fd("off_cpu_slots"), &index, &slot, 0), 0);
}

static void a_wait_whose_end_the_kernel_did_not_tell_is_counted(void **state)
{
	_cleanup_(scene_done) struct scene scene = { 0 };
	uint64_t deadline_ns = clock_mono_ns() + LATE_NS, nr_lost;

	(void)state;
	if (!has_late_blocks())
		skip();
	run(&scene, &(struct wait){ .ns = NSEC_PER_USEC, .nr = 1, .has_rival = true });
	nr_lost = read_nr_lost(&scene);
	while (read_nr_lost(&scene) == nr_lost) {
		assert_true(clock_mono_ns() < deadline_ns);
		plant_wait(scene.child, clock_mono_ns() - NSEC_PER_SEC);
		sleep_ns(POLL_NS);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_whose_end_the_kernel_did_not_tell_is_counted),
		cmocka_unit_test(long_waits_are_known),
		cmocka_unit_test(short_waits_are_estimated_from_some_of_them),
		cmocka_unit_test(rare_long_waits_among_short_ones_are_known),
		cmocka_unit_test(waits_that_are_too_short_are_not_told),
		cmocka_unit_test(a_wait_that_began_before_the_source_is_told_of_at_its_end),
		cmocka_unit_test(the_end_of_a_wait_in_a_run_queue_is_told),
		cmocka_unit_test(all_time_in_run_queues_is_told),
		cmocka_unit_test(a_wait_is_open_until_its_end),
		cmocka_unit_test(a_thread_that_never_runs_is_found),
		cmocka_unit_test(a_long_wait_after_short_ones_is_found_before_it_ends),
	};

	if (geteuid() != 0) {
		fputs("SKIP: loading BPF programs needs root\n", stderr);
		return 77;
	}
	tested_backend_choose(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
