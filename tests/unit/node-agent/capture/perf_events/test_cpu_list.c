/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/perf_events/cpu_list.h"

#include <string.h>
#include <unistd.h>

#include "unit.h"

static uint32_t count(const struct cpu_set_bits *set)
{
	uint32_t nr = 0;

	for (uint32_t cpu = 0; cpu < CPU_LIST_MAX; cpu++)
		nr += cpu_set_has(set, cpu);
	return nr;
}

static void a_list_gives_its_cpus(void **state)
{
	static const struct {
		const char *text;
		uint32_t count, first, last;
	} cases[] = {
		{ "0", 1, 0, 0 },      { "0\n", 1, 0, 0 },	    { "8191", 1, 8191, 8191 },
		{ "0-3", 4, 0, 3 },    { "63-64\n", 2, 63, 64 },    { "5-5", 1, 5, 5 },
		{ "0-3,8", 5, 0, 8 },  { "8,0-3", 5, 0, 8 },	    { "0-3,2-5,3", 6, 0, 5 },
		{ "007,08", 2, 7, 8 }, { "0-8191", 8192, 0, 8191 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct cpu_set_bits set;

		assert_int_equal(cpu_list_parse(cases[i].text, &set), 0);
		assert_int_equal(count(&set), cases[i].count);
		assert_true(cpu_set_has(&set, cases[i].first));
		assert_true(cpu_set_has(&set, cases[i].last));
	}
}

static void cpus_between_elements_are_not_in_the_set(void **state)
{
	struct cpu_set_bits set;
	(void)state;

	assert_int_equal(cpu_list_parse("1-3,64,130", &set), 0);
	for (uint32_t cpu = 0; cpu < 2 * CPU_LIST_MAX; cpu++) {
		bool is_listed = (cpu >= 1 && cpu <= 3) || cpu == 64 || cpu == 130;

		assert_int_equal(cpu_set_has(&set, cpu), is_listed);
	}
	assert_false(cpu_set_has(&set, UINT32_MAX));
}

static void what_is_no_list_is_refused(void **state)
{
	static const struct {
		const char *text;
		int error;
	} cases[] = {
		{ "", -EINVAL },
		{ "\n", -EINVAL },
		{ ",", -EINVAL },
		{ "1,", -EINVAL },
		{ ",1", -EINVAL },
		{ "1,,2", -EINVAL },
		{ "-1", -EINVAL },
		{ "1-", -EINVAL },
		{ "1-2-3", -EINVAL },
		{ "3-1", -EINVAL },
		{ "1 ", -EINVAL },
		{ " 1", -EINVAL },
		{ "1;2", -EINVAL },
		{ "1\n\n", -EINVAL },
		{ "1\n2", -EINVAL },
		{ "0x1", -EINVAL },
		{ "+1", -EINVAL },
		{ "all", -EINVAL },
		{ "8192", -ERANGE },
		{ "0-8192", -ERANGE },
		{ "0,4294967296", -ERANGE },
		{ "18446744073709551616", -ERANGE },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct cpu_set_bits set;
		struct cpu_set_bits untouched;

		memset(&set, 0x5a, sizeof(set));
		memset(&untouched, 0x5a, sizeof(untouched));
		assert_int_equal(cpu_list_parse(cases[i].text, &set), cases[i].error);
		assert_memory_equal(&set, &untouched, sizeof(set));
	}
}

static void the_cpus_on_line_are_as_many_as_the_c_library_says(void **state)
{
	struct cpu_set_bits set;
	(void)state;

	assert_int_equal(cpu_list_online(&set), 0);
	assert_int_equal(count(&set), sysconf(_SC_NPROCESSORS_ONLN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_gives_its_cpus),
		cmocka_unit_test(cpus_between_elements_are_not_in_the_set),
		cmocka_unit_test(what_is_no_list_is_refused),
		cmocka_unit_test(the_cpus_on_line_are_as_many_as_the_c_library_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
