/* SPDX-License-Identifier: Apache-2.0 */
/* The client with the real worker, flamelet gpu-worker, and the stand-in of NVIDIA's library. */
#include "gpu/gpu_client.h"

#include "base/clock.h"
#include "nvml_fixture.h"
#include "worker/worker_process.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLACK_NS (5 * NSEC_PER_SEC)

static struct nvml_fixture fixture;
static struct gpu_client *client;

static int set_up(void **state)
{
	(void)state;
	int r = nvml_fixture_init(&fixture);
	return r < 0 ? r : gpu_client_new(FLAMELET_PROGRAM, fixture.library, &client);
}

static int tear_down(void **state)
{
	(void)state;
	gpu_client_free(client);
	nvml_fixture_done(&fixture);
	return 0;
}

static int read_once(struct gpu_reading **ret_reading)
{
	return gpu_client_read(client, NULL, ret_reading);
}

/* Waits until the client may try again. */
static int read_again(struct gpu_reading **ret_reading)
{
	uint64_t until_ns = clock_mono_ns() + GPU_CLIENT_RETRY_NS + SLACK_NS;
	int r;

	while ((r = read_once(ret_reading)) == -EAGAIN && clock_mono_ns() < until_ns)
		usleep(50000);
	return r;
}

static void the_worker_reads_devices_and_processes(void **state)
{
	struct gpu_reading *reading = NULL;
	(void)state;

	nvml_fixture_control(&fixture, "pid 4711");
	assert_int_equal(read_once(&reading), 0);
	assert_int_equal(reading->nr_devices, 2);
	assert_int_equal(reading->devices[0].utilization, 37);
	assert_int_equal(reading->nr_processes, 2);
	assert_int_equal(reading->processes[0].pid, 4711);
	free(reading);
	assert_int_equal(gpu_client_get_stats(client).nr_readings, 1);
	assert_int_equal(gpu_client_get_stats(client).worker.nr_started, 1);
}

static void a_lost_device_is_counted(void **state)
{
	(void)state;
	nvml_fixture_control(&fixture, "");
	for (unsigned int i = 0; i < 10; i++) {
		struct gpu_reading *reading = NULL;

		assert_int_equal(read_once(&reading), 0);
		free(reading);
	}
	struct gpu_client_stats stats = gpu_client_get_stats(client);
	assert_int_equal(stats.nr_readings, 10);
	assert_int_equal(stats.nr_lost, 2);
	assert_int_equal(stats.nr_device_errors, 0);
	assert_int_equal(stats.worker.nr_started, 1);
}

static void a_library_that_hangs_is_killed_and_tried_again_later(void **state)
{
	struct gpu_reading *reading = NULL;
	(void)state;

	nvml_fixture_control(&fixture, "");
	assert_int_equal(read_once(&reading), 0);
	free(reading);
	nvml_fixture_control(&fixture, "hang");
	uint64_t start_ns = clock_mono_ns();
	assert_int_equal(read_once(&reading), -ETIMEDOUT);
	assert_in_range(clock_mono_ns() - start_ns, GPU_CLIENT_READ_NS,
			GPU_CLIENT_READ_NS + SLACK_NS);
	assert_string_equal(gpu_client_problem(client), "the library did not answer in time");
	assert_int_equal(read_once(&reading), -EAGAIN);
	nvml_fixture_control(&fixture, "");
	assert_int_equal(read_again(&reading), 0);
	assert_int_equal(reading->nr_devices, 2);
	free(reading);
	struct gpu_client_stats stats = gpu_client_get_stats(client);
	assert_int_equal(stats.nr_failed, 1);
	assert_int_equal(stats.worker.nr_timeouts, 1);
	assert_int_equal(stats.worker.nr_started, 2);
}

static void a_reading_can_be_given_up(void **state)
{
	struct gpu_reading *reading = NULL;
	uint64_t give_up_ns = clock_mono_ns() + NSEC_PER_SEC;
	(void)state;

	nvml_fixture_control(&fixture, "hang");
	assert_int_equal(gpu_client_read(client, &give_up_ns, &reading), -ECANCELED);
	assert_int_equal(gpu_client_get_stats(client).nr_failed, 0);
}

static void a_driver_that_is_loaded_later_works(void **state)
{
	struct gpu_reading *reading = NULL;
	(void)state;

	nvml_fixture_control(&fixture, "unloaded");
	assert_int_equal(read_once(&reading), -EIO);
	assert_non_null(strstr(gpu_client_problem(client), "Driver Not Loaded"));
	nvml_fixture_control(&fixture, "");
	assert_int_equal(read_again(&reading), 0);
	assert_string_equal(gpu_client_problem(client), "");
	free(reading);
}

/* Landlock refuses to write to other files than devices; the stand-in's directory has none. */
static bool has_landlock(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) > 0;
}

static void the_library_is_confined(void **state)
{
	struct gpu_reading *reading = NULL;
	(void)state;

	if (WORKER_PROCESS_IS_SANITIZED)
		skip();
	nvml_fixture_control(&fixture, "intrude");
	assert_int_equal(read_once(&reading), 0);
	assert_string_equal(reading->devices[0].name, has_landlock()
							      ? "made- written- socket- child-"
							      : "made- written+ socket- child-");
	free(reading);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_worker_reads_devices_and_processes, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_lost_device_is_counted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_library_that_hangs_is_killed_and_tried_again_later, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_reading_can_be_given_up, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_driver_that_is_loaded_later_works, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(the_library_is_confined, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
