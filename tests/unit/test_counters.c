/* SPDX-License-Identifier: Apache-2.0 */
#include "counters.h"

#include <inttypes.h>
#include <string.h>

#include "unit.h"

#define NR_VALUES (sizeof(struct counters) / sizeof(uint64_t))
#define FIRST_VALUE 1000
#define MAX_BYTES 8192

_Static_assert(sizeof(struct counters) % sizeof(uint64_t) == 0, "nothing but 64-bit numbers");

union numbers {
	struct counters counters;
	uint64_t values[NR_VALUES];
};

struct pair {
	char name[64];
	uint64_t value;
};

/* Reads "name=value name=value …". */
static size_t read_pairs(const char *text, struct pair pairs[static NR_VALUES])
{
	size_t nr = 0;
	int len;

	while (*text) {
		assert_true(nr < NR_VALUES);
		assert_int_equal(sscanf(text, "%63[a-z_]=%" SCNu64 "%n", pairs[nr].name,
					&pairs[nr].value, &len),
				 2);
		text += len;
		text += *text == ' ';
		nr++;
	}
	return nr;
}

static void counters_that_are_0_are_left_out(void **state)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);
	struct counters counters = { 0 };
	(void)state;

	counters_format(&counters, &text);
	assert_string_equal(strbuf_str(&text), "");
	counters.agent.pipeline.nr_windows = 7;
	counters.exporter.nr_requests = UINT64_MAX;
	counters_format(&counters, &text);
	assert_string_equal(strbuf_str(&text), "windows=7 export_requests=18446744073709551615");
}

static void every_counter_stands_once_under_a_name_of_its_own(void **state)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);
	struct pair pairs[NR_VALUES];
	union numbers numbers;
	bool is_listed[NR_VALUES] = { false };
	(void)state;

	for (size_t i = 0; i < NR_VALUES; i++)
		numbers.values[i] = FIRST_VALUE + i;
	numbers.counters.agent.pods.last_success_ns = 0; /* a time, not a count */
	counters_format(&numbers.counters, &text);

	size_t nr = read_pairs(strbuf_str(&text), pairs);
	assert_int_equal(nr, NR_VALUES - 1);
	for (size_t i = 0; i < nr; i++) {
		uint64_t index = pairs[i].value - FIRST_VALUE;

		assert_true(index < NR_VALUES);
		assert_false(is_listed[index]);
		is_listed[index] = true;
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(pairs[i].name, pairs[k].name);
	}
}

static void names_stand_for_the_right_numbers(void **state)
{
	static const struct {
		const char *text;
		size_t offset;
	} cases[] = {
		{ "ring_full=1", offsetof(struct counters, agent.capture.bpf[STAT_RING_FULL]) },
		{ "unwind_too_deep=1", offsetof(struct counters, agent.capture.bpf[STAT_NR - 1]) },
		{ "unwind_complete=1",
		  offsetof(struct counters, agent.capture.bpf[STAT_UNWIND_FIRST]) },
		{ "samples=1", offsetof(struct counters, agent.pipeline.nr_samples) },
		{ "samples_lost=1", offsetof(struct counters, agent.pipeline.nr_samples_lost) },
		{ "processes_dropped=1",
		  offsetof(struct counters, agent.pipeline.processes.nr_events_dropped) },
		{ "pods_overflows=1", offsetof(struct counters, agent.pods.nr_overflows) },
		{ "export_samples_sent=1", offsetof(struct counters, exporter.nr_samples_sent) },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);
		union numbers numbers = { .values = { 0 } };

		numbers.values[cases[i].offset / sizeof(uint64_t)] = 1;
		counters_format(&numbers.counters, &text);
		assert_string_equal(strbuf_str(&text), cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_that_are_0_are_left_out),
		cmocka_unit_test(every_counter_stands_once_under_a_name_of_its_own),
		cmocka_unit_test(names_stand_for_the_right_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
