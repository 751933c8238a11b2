/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for a lock of the kernel, of a child who knows how long they were: one thread fills memory
 * while it has mmap_lock, another one wants it. */
#include "base/clock.h"
#include "bpf/shared/lock.h"
#include "bpf/shared/off_cpu.h"
#include "capture/bpf/capture_bpf.h"
#include "plain_consumer.h"
#include "tested_backend.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define POLL_NS (20 * NSEC_PER_MSEC)
#define LATE_NS (60 * NSEC_PER_SEC) /* on a busy machine */
#define LARGE_BYTES ((size_t)64 << 20)
#define SMALL_BYTES ((size_t)4096)
#define NR_CALLS 200
#define MIN_PERCENT 70 /* of the calls: a thread may be preempted, too */
#define MAX_PERCENT 110

/* Written by the child, in shared memory. */
struct truth {
	bool has_begun, is_over;
	uint64_t waited_ns; /* in calls that need the lock */
};

struct scene {
	struct sample_source *source;
	struct truth *truth;
	pid_t child;
	uint64_t waited_ns; /* what the records say */
	uint64_t nr_records, nr_others, nr_unnamed, nr_without_kernel_frames;
};

static void sleep_ns(long ns)
{
	struct timespec time = { ns / (long)NSEC_PER_SEC, ns % (long)NSEC_PER_SEC };

	nanosleep(&time, NULL);
}

static void *fill_memory(void *unused)
{
	(void)unused;
	for (;;) {
		void *memory = mmap(NULL, LARGE_BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		munmap(memory, LARGE_BYTES);
	}
	return NULL;
}

static void want_lock(struct truth *truth)
{
	for (int i = 0; i < NR_CALLS; i++) {
		uint64_t begin_ns = clock_mono_ns();
		void *memory = mmap(NULL, SMALL_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				    0);

		munmap(memory, SMALL_BYTES);
		truth->waited_ns += clock_mono_ns() - begin_ns;
		sleep_ns(NSEC_PER_MSEC);
	}
}

static void live(struct truth *truth)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pthread_create(&thread, NULL, fill_memory, NULL) != 0)
		_exit(1);
	while (!__atomic_load_n(&truth->has_begun, __ATOMIC_ACQUIRE))
		sleep_ns(NSEC_PER_MSEC);
	want_lock(truth);
	__atomic_store_n(&truth->is_over, true, __ATOMIC_RELEASE);
	pause();
}

/* Counts the waits of the main thread. */
static void on_record(const struct sample_event *event, void *data)
{
	struct scene *scene = data;

	if (event->kind != RECORD_LOCK)
		return;
	scene->nr_records++;
	scene->nr_others += event->pid != (uint32_t)scene->child;
	scene->nr_without_kernel_frames += event->nr_kernel == 0;
	if (event->tid != (uint32_t)scene->child || !(event->lock_flags & LOCK_FLAG_WRITE))
		return;
	scene->nr_unnamed += !(event->lock_flags & LOCK_IS_MMAP);
	scene->waited_ns += (uint64_t)((double)event->length_ns * OFF_CPU_CERTAIN /
				       event->probability);
}

static void open_scene(struct scene *scene)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);
	struct cpu_set_bits restarted;

	scene->truth = mmap(NULL, sizeof(*scene->truth), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(scene->truth, MAP_FAILED);
	scene->child = fork();
	assert_true(scene->child >= 0);
	if (scene->child == 0) {
		live(scene->truth);
		_exit(1);
	}
	const uint32_t pids[] = { (uint32_t)scene->child };
	const struct capture_opts opts = { .frequency_hz = 19,
					   .poll_interval_ns = POLL_NS,
					   .pids = pids,
					   .nr_pids = 1,
					   .locks = true };
	assert_int_equal(tested_backend_open(opts, &message, &scene->source), 0);
	assert_int_equal(sample_source_follow_cpus(scene->source, &restarted), 0);
	__atomic_store_n(&scene->truth->has_begun, true, __ATOMIC_RELEASE);
}

static void scene_done(struct scene *scene)
{
	kill(scene->child, SIGKILL);
	waitpid(scene->child, NULL, 0);
	sample_source_close(scene->source);
	munmap(scene->truth, sizeof(*scene->truth));
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

static void waits_for_a_lock_of_the_kernel_are_told(void **state)
{
	_cleanup_(scene_done) struct scene scene = { 0 };

	(void)state;
	open_scene(&scene);
	poll_until_over(&scene);
	assert_true(scene.nr_records > 0);
	assert_int_equal(scene.nr_others, 0);
	assert_int_equal(scene.nr_unnamed, 0);
	assert_int_equal(scene.nr_without_kernel_frames, 0);
	assert_in_range(scene.waited_ns * 100 / scene.truth->waited_ns, MIN_PERCENT, MAX_PERCENT);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_for_a_lock_of_the_kernel_are_told),
	};

	if (geteuid() != 0) {
		fputs("SKIP: loading BPF programs needs root\n", stderr);
		return 77;
	}
	if (!capture_bpf_knows_locks()) {
		fputs("SKIP: this kernel is older than 5.19 and does not tell of its locks\n",
		      stderr);
		return 77;
	}
	tested_backend_choose(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
