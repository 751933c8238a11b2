/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the stand-in of NVIDIA's library in this process. */
#include "gpu/gpu_devices.h"

#include "base/clock.h"
#include "nvml_fixture.h"
#include "unit.h"

#include <string.h>

#define GIBIBYTE (UINT64_C(1) << 30)
#define LOST_EVERY 5
#define OTHER_LIBRARY "libm.so.6"

static struct nvml_fixture fixture;
static struct gpu_devices devices;
static struct gpu_reading reading;

static int set_up(void **state)
{
	(void)state;
	memset(&devices, 0, sizeof(devices));
	return nvml_fixture_init(&fixture);
}

static int tear_down(void **state)
{
	(void)state;
	nvml_fixture_done(&fixture);
	return 0;
}

static void read_all(const char *path)
{
	gpu_devices_read(&devices, path, clock_real_ns() / NSEC_PER_USEC, &reading);
}

static void devices_are_read(void **state)
{
	(void)state;
	nvml_fixture_control(&fixture, "");
	read_all(fixture.library);
	assert_string_equal(reading.problem, "");
	assert_int_equal(reading.nr_devices, 2);
	assert_string_equal(reading.devices[0].name, "Stand-in GPU");
	assert_int_equal(reading.devices[0].error, NVML_OK);
	assert_int_equal(reading.devices[0].has, GPU_HAS_UTILIZATION | GPU_HAS_MEMORY);
	assert_int_equal(reading.devices[0].utilization, 37);
	assert_int_equal(reading.devices[0].memory_used, 4 * GIBIBYTE);
	assert_int_equal(reading.devices[0].memory_total, 16 * GIBIBYTE);
	assert_int_equal(reading.devices[1].utilization, 80);
	assert_int_equal(reading.nr_processes, 0);
}

static void a_device_that_is_lost_leaves_the_other_one(void **state)
{
	unsigned int nr_lost = 0;
	(void)state;

	nvml_fixture_control(&fixture, "");
	for (unsigned int i = 0; i < 2 * LOST_EVERY; i++) {
		read_all(fixture.library);
		assert_int_equal(reading.nr_devices, 2);
		assert_int_equal(reading.devices[0].utilization, 37);
		if (reading.devices[1].error == 0)
			continue;
		nr_lost++;
		assert_int_equal(reading.devices[1].error, NVML_GPU_IS_LOST);
		assert_int_equal(reading.devices[1].has, 0);
	}
	assert_int_equal(nr_lost, 2);
}

static void processes_have_the_mean_of_their_new_samples(void **state)
{
	(void)state;
	nvml_fixture_control(&fixture, "pid 4711");
	read_all(fixture.library);
	assert_int_equal(reading.nr_processes, 2);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(reading.processes[i].device, i);
		assert_int_equal(reading.processes[i].pid, 4711);
	}
	assert_int_equal(reading.processes[0].utilization, 30);
	assert_int_equal(reading.processes[1].utilization, 60);
	assert_int_equal(reading.processes[0].memory, 3 * GIBIBYTE);
	assert_int_equal(reading.processes[1].memory, 1 * GIBIBYTE);
}

static void a_divided_device_has_its_memory_only(void **state)
{
	(void)state;
	nvml_fixture_control(&fixture, "divided");
	read_all(fixture.library);
	assert_int_equal(reading.devices[0].has, GPU_HAS_MEMORY);
	assert_int_equal(reading.devices[0].error, NVML_OK);
}

static void a_driver_that_is_not_loaded_is_told_and_tried_again(void **state)
{
	(void)state;
	nvml_fixture_control(&fixture, "unloaded");
	read_all(fixture.library);
	assert_string_equal(reading.problem,
			    "the library cannot connect to the driver: Driver Not Loaded");
	assert_int_equal(reading.nr_devices, 0);
	nvml_fixture_control(&fixture, "");
	read_all(fixture.library);
	assert_string_equal(reading.problem, "");
	assert_int_equal(reading.nr_devices, 2);
}

static void without_the_library_there_is_a_reason(void **state)
{
	(void)state;
	read_all("libnvidia-ml-that-is-not-there.so.1");
	assert_non_null(strstr(reading.problem, "cannot load the library: "));
	assert_non_null(strstr(reading.problem, "that-is-not-there"));
}

static void another_library_lacks_functions(void **state)
{
	(void)state;
	read_all(OTHER_LIBRARY);
	assert_string_equal(reading.problem, "the library lacks a function: nvmlInit_v2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(devices_are_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_device_that_is_lost_leaves_the_other_one, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(processes_have_the_mean_of_their_new_samples,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_divided_device_has_its_memory_only, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_driver_that_is_not_loaded_is_told_and_tried_again,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(without_the_library_there_is_a_reason, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(another_library_lacks_functions, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
