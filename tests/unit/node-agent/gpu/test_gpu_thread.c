/* SPDX-License-Identifier: Apache-2.0 */
/* The thread with the real worker and the stand-in of NVIDIA's library. This process is the one
 * that uses the GPUs. */
#include "gpu/gpu_thread.h"

#include "base/clock.h"
#include "nvml_fixture.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define WAIT_NS (60 * NSEC_PER_SEC)
#define NO_PID 4194303

static struct nvml_fixture fixture;
static struct gpu_thread *thread;

static int set_up(void **state)
{
	_cleanup_close_ int proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	(void)state;

	int r = nvml_fixture_init(&fixture);
	const struct gpu_thread_opts opts = {
		.program = FLAMELET_PROGRAM,
		.library = fixture.library,
		.proc_fd = proc_fd,
	};
	nvml_fixture_control(&fixture, "");
	return r < 0 ? r : gpu_thread_start(&opts, &thread);
}

static int tear_down(void **state)
{
	(void)state;
	gpu_thread_stop(thread);
	nvml_fixture_done(&fixture);
	return 0;
}

static struct gpu_second *next_second(void)
{
	uint64_t until_ns = clock_mono_ns() + WAIT_NS;
	struct gpu_second *second;

	while (!(second = gpu_thread_take(thread)) && clock_mono_ns() < until_ns)
		usleep(20000);
	assert_non_null(second);
	return second;
}

/* Waits for a second that was read after the control has changed. */
static struct gpu_second *second_with_processes(size_t nr)
{
	struct gpu_second *second = next_second();

	while (second->reading->nr_processes != nr) {
		gpu_second_free(second);
		second = next_second();
	}
	return second;
}

static void seconds_come_one_after_the_other(void **state)
{
	uint64_t last_s = 0;
	(void)state;

	for (unsigned int i = 0; i < 3; i++) {
		_cleanup_(gpu_second_freep) struct gpu_second *second = next_second();

		assert_true(second->second > last_s);
		assert_true(second->second < clock_real_ns() / NSEC_PER_SEC);
		assert_int_equal(second->reading->nr_devices, 2);
		assert_int_equal(second->nr_uses, 0);
		last_s = second->second;
	}
	assert_int_equal(gpu_thread_get_stats(thread).nr_devices, 2);
}

static void a_process_on_both_gpus_is_one_use_of_its_cgroup(void **state)
{
	char words[32];
	(void)state;

	snprintf(words, sizeof(words), "pid %d", (int)getpid());
	nvml_fixture_control(&fixture, words);
	_cleanup_(gpu_second_freep) struct gpu_second *second = second_with_processes(2);
	assert_int_equal(second->nr_uses, 1);
	assert_true(second->uses[0].cgroup_id > 0);
	assert_int_equal(second->uses[0].utilization, 90);
	assert_int_equal(second->uses[0].memory, UINT64_C(4) << 30);
}

static void a_process_that_is_gone_is_counted(void **state)
{
	char words[32];
	(void)state;

	snprintf(words, sizeof(words), "pid %d", NO_PID);
	nvml_fixture_control(&fixture, words);
	_cleanup_(gpu_second_freep) struct gpu_second *second = second_with_processes(2);
	assert_int_equal(second->nr_uses, 0);
	uint64_t until_ns = clock_mono_ns() + WAIT_NS;
	while (gpu_thread_get_stats(thread).nr_unknown < 2 && clock_mono_ns() < until_ns)
		usleep(20000);
	assert_true(gpu_thread_get_stats(thread).nr_unknown >= 2);
}

static void the_thread_ends_while_the_library_hangs(void **state)
{
	(void)state;
	gpu_second_free(next_second());
	nvml_fixture_control(&fixture, "hang");
	usleep(1500000);
	uint64_t start_ns = clock_mono_ns();
	gpu_thread_stop(thread);
	thread = NULL;
	assert_true(clock_mono_ns() - start_ns < 2 * NSEC_PER_SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(seconds_come_one_after_the_other, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_process_on_both_gpus_is_one_use_of_its_cgroup,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_process_that_is_gone_is_counted, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_thread_ends_while_the_library_hangs, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
