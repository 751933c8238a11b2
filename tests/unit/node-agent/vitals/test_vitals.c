/* SPDX-License-Identifier: Apache-2.0 */
#include "vitals/vitals.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "remove_tree.h"
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];
static struct vitals_reader reader;

static void put(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void put_stat(unsigned int user, unsigned int idle, unsigned int nr_forks)
{
	char text[256];

	snprintf(text, sizeof(text), "cpu  %u 0 0 %u 0 0 0 0\nprocesses %u\nprocs_running 3\n",
		 user, idle, nr_forks);
	put("stat", text);
}

static struct vitals read_at(uint64_t second)
{
	struct vitals vitals;

	vitals_reader_read(&reader, second * NSEC_PER_SEC, &vitals);
	return vitals;
}

static bool has_at(uint64_t second, enum vital vital)
{
	struct vitals vitals = read_at(second);

	return vitals_has(&vitals, vital);
}

static int setup(void **state)
{
	char path[128];
	(void)state;

	snprintf(dir, sizeof(dir), "/tmp/test_vitals.XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/pressure", dir);
	return mkdir(path, 0700);
}

static int teardown(void **state)
{
	(void)state;
	vitals_reader_close(&reader);
	remove_tree(dir);
	return 0;
}

static void open_reader(void)
{
	int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	vitals_reader_open(fd, &reader);
	close(fd);
}

static void counters_are_increases_per_second(void **state)
{
	uint64_t tick_ns = NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
	(void)state;

	put_stat(100, 1000, 7);
	open_reader();
	(void)read_at(10);
	put_stat(300, 1100, 17);
	struct vitals vitals = read_at(12);
	assert_int_equal(vitals.values[VITAL_USER], 100 * tick_ns);
	assert_int_equal(vitals.values[VITAL_IDLE], 50 * tick_ns);
	assert_int_equal(vitals.values[VITAL_FORKS], 5);
	assert_int_equal(vitals.values[VITAL_RUNNABLE], 3);
}

/* The readings are not exactly a second apart. */
static void what_has_increased_is_not_0(void **state)
{
	struct vitals vitals;
	(void)state;

	put_stat(100, 1000, 7);
	open_reader();
	(void)read_at(10);
	put_stat(100, 1000, 9);
	vitals_reader_read(&reader, 11 * NSEC_PER_SEC + NSEC_PER_MSEC, &vitals);
	assert_int_equal(vitals.values[VITAL_FORKS], 2);
	put_stat(100, 1000, 10);
	vitals_reader_read(&reader, 15 * NSEC_PER_SEC, &vitals);
	assert_int_equal(vitals.values[VITAL_FORKS], 1);
}

static void the_first_reading_has_no_counters(void **state)
{
	(void)state;

	put_stat(100, 1000, 7);
	open_reader();
	struct vitals vitals = read_at(10);
	assert_int_equal(vitals.has, UINT32_C(1) << VITAL_RUNNABLE);
}

static void missing_files_have_no_values(void **state)
{
	(void)state;

	open_reader();
	assert_int_equal(read_at(1).has, 0);
	assert_int_equal(read_at(2).has, 0);
}

static void a_counter_that_falls_is_0(void **state)
{
	(void)state;

	put_stat(100, 1000, 7);
	open_reader();
	(void)read_at(10);
	put_stat(100, 999, 7);
	struct vitals vitals = read_at(11);
	assert_true(vitals_has(&vitals, VITAL_IDLE));
	assert_int_equal(vitals.values[VITAL_IDLE], 0);
}

static void two_readings_at_a_time_have_no_counters(void **state)
{
	(void)state;

	put_stat(100, 1000, 7);
	open_reader();
	(void)read_at(10);
	assert_false(has_at(10, VITAL_USER));
}

static void a_file_that_becomes_malformed_has_no_values(void **state)
{
	(void)state;

	put_stat(100, 1000, 7);
	open_reader();
	(void)read_at(10);
	put("stat", "cpu  nonsense\n");
	assert_int_equal(read_at(11).has, 0);
	put_stat(300, 1100, 17);
	assert_false(has_at(12, VITAL_USER));
}

static void put_schedstat(unsigned int nr_cpus, unsigned int delay)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(1 << 20);

	for (unsigned int i = 0; i < nr_cpus; i++) {
		strbuf_appendf(&text, "cpu%u 0 0 0 0 0 0 0 %u 0\n", i, delay);
		for (unsigned int level = 0; level < 4; level++)
			strbuf_appendf(&text, "domain%u %0250u\n", level, 0);
	}
	put("schedstat", strbuf_str(&text));
}

static void run_delay_is_read_each_second_on_a_small_node(void **state)
{
	(void)state;

	put_schedstat(8, 1000);
	open_reader();
	(void)read_at(10);
	put_schedstat(8, 1500);
	struct vitals vitals = read_at(11);
	assert_int_equal(vitals.values[VITAL_RUN_DELAY], 8 * 500);
}

static void run_delay_is_read_every_few_seconds_on_a_large_node(void **state)
{
	uint64_t second = 11;
	(void)state;

	put_schedstat(256, 1000);
	open_reader();
	(void)read_at(10);
	put_schedstat(256, 1800);
	while (!has_at(second, VITAL_RUN_DELAY))
		second++;
	assert_in_range(second, 15, 20);
	put_schedstat(256, 2600);
	struct vitals vitals = read_at(2 * second - 10);
	assert_int_equal(vitals.values[VITAL_RUN_DELAY], 256 * 800 / (second - 10));
}

static void each_vital_is_found_by_its_name(void **state)
{
	(void)state;

	for (enum vital vital = 0; vital < VITAL_NR; vital++) {
		assert_int_equal(vital_find(vital_info(vital)->name), vital);
		assert_true(strlen(vital_info(vital)->help) > 0);
		assert_true(strlen(vital_unit_name(vital_info(vital)->unit)) > 0);
	}
	assert_int_equal(vital_find("none"), VITAL_NR);
	assert_int_equal(vital_find(""), VITAL_NR);
}

int main(void)
{
#define WITH_DIR(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
		WITH_DIR(counters_are_increases_per_second),
		WITH_DIR(what_has_increased_is_not_0),
		WITH_DIR(the_first_reading_has_no_counters),
		WITH_DIR(missing_files_have_no_values),
		WITH_DIR(a_counter_that_falls_is_0),
		WITH_DIR(two_readings_at_a_time_have_no_counters),
		WITH_DIR(a_file_that_becomes_malformed_has_no_values),
		WITH_DIR(run_delay_is_read_each_second_on_a_small_node),
		WITH_DIR(run_delay_is_read_every_few_seconds_on_a_large_node),
		cmocka_unit_test(each_vital_is_found_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
