/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/gpu_reading.h"

#include "base/cleanup.h"
#include "base/flat.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>

#define REPLY_MAX_BYTES ((size_t)1 << 20)

static struct gpu_reading reading, decoded;

/* Compound literals of this size would be on the stack. */
static void clear(size_t nr_devices, size_t nr_processes)
{
	memset(&reading, 0, sizeof(reading));
	memset(&decoded, 0xff, sizeof(decoded));
	reading.nr_devices = nr_devices;
	reading.nr_processes = nr_processes;
}

static void set_reading(void)
{
	clear(2, 2);
	reading.nr_dropped = 7;
	reading.devices[0] = (struct gpu_device){ "A \"fast\" GPU", 0, 3, 100, 5, UINT64_MAX };
	reading.devices[1] = (struct gpu_device){ .error = 15 };
	reading.processes[0] = (struct gpu_process){ 0, 4194304, 100, UINT64_MAX };
	reading.processes[1] = (struct gpu_process){ 1, 1, 0, 0 };
}

static int decode(const struct gpu_reading *of)
{
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(REPLY_MAX_BYTES);

	gpu_reading_encode(of, &bytes);
	assert_int_equal(strbuf_error(&bytes), 0);
	return gpu_reading_decode(bytes.data, bytes.len, &decoded);
}

static void what_was_read_comes_back(void **state)
{
	(void)state;
	set_reading();
	assert_int_equal(decode(&reading), 0);
	assert_string_equal(decoded.problem, "");
	assert_int_equal(decoded.nr_devices, 2);
	assert_int_equal(decoded.nr_processes, 2);
	assert_int_equal(decoded.nr_dropped, 7);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(decoded.devices[i].name, reading.devices[i].name);
		assert_int_equal(decoded.devices[i].error, reading.devices[i].error);
		assert_int_equal(decoded.devices[i].has, reading.devices[i].has);
		assert_int_equal(decoded.devices[i].utilization, reading.devices[i].utilization);
		assert_int_equal(decoded.devices[i].memory_used, reading.devices[i].memory_used);
		assert_int_equal(decoded.devices[i].memory_total, reading.devices[i].memory_total);
		assert_int_equal(decoded.processes[i].device, reading.processes[i].device);
		assert_int_equal(decoded.processes[i].pid, reading.processes[i].pid);
		assert_int_equal(decoded.processes[i].utilization,
				 reading.processes[i].utilization);
		assert_int_equal(decoded.processes[i].memory, reading.processes[i].memory);
	}
}

static void a_problem_comes_back(void **state)
{
	(void)state;
	clear(0, 0);
	snprintf(reading.problem, sizeof(reading.problem), "cannot load the library");
	assert_int_equal(decode(&reading), 0);
	assert_string_equal(decoded.problem, "cannot load the library");
	assert_int_equal(decoded.nr_devices, 0);
}

static void a_full_reading_fits_into_an_answer(void **state)
{
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(GPU_READING_MAX_BYTES);
	(void)state;

	clear(GPU_MAX_DEVICES, GPU_MAX_PROCESSES);
	memset(reading.problem, 'p', GPU_PROBLEM_BYTES - 1);
	for (size_t i = 0; i < GPU_MAX_DEVICES; i++)
		memset(reading.devices[i].name, 'n', GPU_NAME_BYTES - 1);
	gpu_reading_encode(&reading, &bytes);
	assert_int_equal(strbuf_error(&bytes), 0);
	assert_int_equal(gpu_reading_decode(bytes.data, bytes.len, &decoded), 0);
}

static void numbers_beyond_their_limits_are_refused(void **state)
{
	(void)state;
	set_reading();
	reading.devices[0].utilization = 101;
	assert_int_equal(decode(&reading), -EBADMSG);
	set_reading();
	reading.devices[1].has = 4;
	assert_int_equal(decode(&reading), -EBADMSG);
	set_reading();
	reading.processes[1].device = 2;
	assert_int_equal(decode(&reading), -EBADMSG);
	set_reading();
	reading.processes[0].pid = 4194305;
	assert_int_equal(decode(&reading), -EBADMSG);
	set_reading();
	reading.processes[0].utilization = 101;
	assert_int_equal(decode(&reading), -EBADMSG);
}

static void processes_without_a_device_are_refused(void **state)
{
	(void)state;
	set_reading();
	reading.nr_devices = 0;
	assert_int_equal(decode(&reading), -EBADMSG);
}

static void too_many_devices_are_refused(void **state)
{
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(REPLY_MAX_BYTES);
	(void)state;

	flat_put_text(&bytes, "");
	flat_put_number(&bytes, GPU_MAX_DEVICES + 1);
	for (size_t i = 0; i <= GPU_MAX_DEVICES; i++) {
		flat_put_text(&bytes, "name");
		for (size_t k = 0; k < 5; k++)
			flat_put_number(&bytes, 0);
	}
	flat_put_number(&bytes, 0);
	flat_put_number(&bytes, 0);
	assert_int_equal(gpu_reading_decode(bytes.data, bytes.len, &decoded), -EBADMSG);
}

static void a_long_name_is_refused(void **state)
{
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(REPLY_MAX_BYTES);
	char name[GPU_NAME_BYTES + 1] = "";
	(void)state;

	memset(name, 'n', GPU_NAME_BYTES);
	flat_put_text(&bytes, "");
	flat_put_number(&bytes, 1);
	flat_put_text(&bytes, name);
	for (size_t i = 0; i < 7; i++)
		flat_put_number(&bytes, 0);
	assert_int_equal(gpu_reading_decode(bytes.data, bytes.len, &decoded), -EBADMSG);
}

static void every_part_of_a_reading_is_refused(void **state)
{
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(REPLY_MAX_BYTES);
	(void)state;

	set_reading();
	gpu_reading_encode(&reading, &bytes);
	for (size_t len = 0; len < bytes.len; len++)
		assert_int_equal(gpu_reading_decode(bytes.data, len, &decoded), -EBADMSG);
	strbuf_append_char(&bytes, '\0');
	assert_int_equal(gpu_reading_decode(bytes.data, bytes.len, &decoded), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_read_comes_back),
		cmocka_unit_test(a_problem_comes_back),
		cmocka_unit_test(a_full_reading_fits_into_an_answer),
		cmocka_unit_test(numbers_beyond_their_limits_are_refused),
		cmocka_unit_test(processes_without_a_device_are_refused),
		cmocka_unit_test(too_many_devices_are_refused),
		cmocka_unit_test(a_long_name_is_refused),
		cmocka_unit_test(every_part_of_a_reading_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
