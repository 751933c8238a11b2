/* SPDX-License-Identifier: Apache-2.0 */
#include "vitals/vital_files.h"

#include "base/clock.h"
#include "unit.h"

#include <string.h>
#include <unistd.h>

#define STAT_REST                                                                                  \
	"cpu0 1 1 1 1 1 1 1 1 0 0\nintr 9 0 0 5\nctxt 1191560\nprocesses 45518\nprocs_running 4\n"

static struct vitals parse(void (*parser)(const char *text, size_t len, struct vitals *values),
			   const char *text)
{
	struct vitals values = { 0 };

	parser(text, strlen(text), &values);
	return values;
}

static void cpu_times_are_sums_of_all_cpus_in_ns(void **state)
{
	uint64_t tick_ns = NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
	(void)state;

	struct vitals values = parse(vital_files_parse_stat,
				     "cpu  100 20 300 4000 50 6 7 8 90 10\n" STAT_REST);
	assert_int_equal(values.values[VITAL_USER], 120 * tick_ns);
	assert_int_equal(values.values[VITAL_SYSTEM], 300 * tick_ns);
	assert_int_equal(values.values[VITAL_IDLE], 4000 * tick_ns);
	assert_int_equal(values.values[VITAL_IOWAIT], 50 * tick_ns);
	assert_int_equal(values.values[VITAL_IRQ], 6 * tick_ns);
	assert_int_equal(values.values[VITAL_SOFTIRQ], 7 * tick_ns);
	assert_int_equal(values.values[VITAL_STEAL], 8 * tick_ns);
	assert_int_equal(values.values[VITAL_CONTEXT_SWITCHES], 1191560);
	assert_int_equal(values.values[VITAL_FORKS], 45518);
	assert_int_equal(values.values[VITAL_RUNNABLE], 4);
	assert_false(vitals_has(&values, VITAL_MEMORY_TOTAL));
}

static void run_delay_is_the_sum_of_all_cpus(void **state)
{
	(void)state;

	struct vitals values = parse(vital_files_parse_schedstat,
				     "version 15\ntimestamp 4294937296\n"
				     "cpu0 0 0 0 0 0 0 500 30 12\ndomain0 00,000003 7 7 7 7\n"
				     "cpu1 0 0 0 0 0 0 600 12 15\ndomain0 00,000003 7 7 7 7\n");
	assert_int_equal(values.values[VITAL_RUN_DELAY], 42);
}

static void memory_is_in_bytes(void **state)
{
	(void)state;

	struct vitals values = parse(vital_files_parse_meminfo,
				     "MemTotal:        8034536 kB\nMemFree:          1 kB\n"
				     "MemAvailable:    6034536 kB\nSwapTotal: 3 kB\n");
	assert_int_equal(values.values[VITAL_MEMORY_TOTAL], UINT64_C(8034536) * 1024);
	assert_int_equal(values.values[VITAL_MEMORY_AVAILABLE], UINT64_C(6034536) * 1024);
}

static void kills_are_counted(void **state)
{
	(void)state;

	struct vitals values = parse(vital_files_parse_vmstat,
				     "nr_free_pages 5\noom_kill 7\noom_kill_disable 9\n");
	assert_int_equal(values.values[VITAL_OOM_KILLS], 7);
}

static void pressure_is_that_of_some(void **state)
{
	static const char text[] = "some avg10=47.29 avg60=55.69 avg300=30.13 total=147617906\n"
				   "full avg10=0.00 avg60=0.00 avg300=0.00 total=5\n";
	(void)state;

	struct vitals values = parse(vital_files_parse_psi_cpu, text);
	assert_int_equal(values.values[VITAL_PSI_CPU], 147617906 * NSEC_PER_USEC);
	values = parse(vital_files_parse_psi_memory, text);
	assert_int_equal(values.values[VITAL_PSI_MEMORY], 147617906 * NSEC_PER_USEC);
	values = parse(vital_files_parse_psi_io, text);
	assert_int_equal(values.values[VITAL_PSI_IO], 147617906 * NSEC_PER_USEC);
}

static void malformed_lines_give_no_value(void **state)
{
	static const struct {
		void (*parser)(const char *text, size_t len, struct vitals *values);
		const char *text;
	} cases[] = {
		{ vital_files_parse_stat, "" },
		{ vital_files_parse_stat, "\n" },
		{ vital_files_parse_stat, "cpu" },
		{ vital_files_parse_stat, "cpu " },
		{ vital_files_parse_stat, "cpu  1 2 3 4 5 6 7\n" },
		{ vital_files_parse_stat, "cpu  1 2 3 4 5 6 7 x\n" },
		{ vital_files_parse_stat, "cpu  1 2 3 -4 5 6 7 8\n" },
		{ vital_files_parse_stat,
		  "cpu  18446744073709551615 18446744073709551615 3 4 5 6 7 8\n" },
		{ vital_files_parse_stat, "cpu  1 2 3 4 5 6 7 99999999999999999999\n" },
		{ vital_files_parse_stat, "cpu0 1 2 3 4 5 6 7 8\n" },
		{ vital_files_parse_stat, "ctxt\nprocesses \nprocs_running x\nprocs_runningx 3\n" },
		{ vital_files_parse_schedstat, "version 15\n" },
		{ vital_files_parse_schedstat, "cpu0 0 0 0 0 0 0 500\n" },
		{ vital_files_parse_schedstat, "cpu0 0 0 0 0 0 0 5 6 7\ncpu1\n" },
		{ vital_files_parse_schedstat, "cpu0 0 0 0 0 0 0 5 18446744073709551615 7\n"
					       "cpu1 0 0 0 0 0 0 5 1 7\n" },
		{ vital_files_parse_meminfo, "MemTotal: kB\nMemAvailable:" },
		{ vital_files_parse_meminfo, "MemTotal: 18446744073709551615 kB\n" },
		{ vital_files_parse_vmstat, "oom_kill\noom_kill x\nxoom_kill 3\n" },
		{ vital_files_parse_vmstat, "oom_kill 99999999999999999999\n" },
		{ vital_files_parse_psi_cpu, "full avg10=0.00 total=5\n" },
		{ vital_files_parse_psi_cpu, "some total=\n" },
		{ vital_files_parse_psi_cpu, "some avg10=0.00 total=x\n" },
		{ vital_files_parse_psi_io, "some total=18446744073709551615\n" },
		{ vital_files_parse_psi_io, "some" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++)
		assert_int_equal(parse(cases[i].parser, cases[i].text).has, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cpu_times_are_sums_of_all_cpus_in_ns),
		cmocka_unit_test(run_delay_is_the_sum_of_all_cpus),
		cmocka_unit_test(memory_is_in_bytes),
		cmocka_unit_test(kills_are_counted),
		cmocka_unit_test(pressure_is_that_of_some),
		cmocka_unit_test(malformed_lines_give_no_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
