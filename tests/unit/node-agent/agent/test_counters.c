/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/counters.h"

#include "agent/counter_list.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "capture/capture_stats.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "unit.h"

#define NR_VALUES (sizeof(struct counters) / sizeof(uint64_t))
#define FIRST_VALUE 1000
#define MAX_BYTES 8192
#define METRICS_MAX_BYTES ((size_t)256 << 10)
#define MAX_FAMILIES 256
#define DOCUMENT FIXTURES_DIR "/../../docs/operations.md"

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
		assert_int_equal(sscanf(text, "%63[a-z0-9_]=%" SCNu64 "%n", pairs[nr].name,
					&pairs[nr].value, &len),
				 2);
		text += len;
		text += *text == ' ';
		nr++;
	}
	return nr;
}

static void what_became_of_samples_is_told_briefly(void **state)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MAX_BYTES);
	struct counters counters = { .agent.pipeline.nr_samples = 14115 };
	(void)state;

	counters_append_brief(&counters, &text);
	assert_string_equal(strbuf_str(&text), "14,115 samples taken, 0 lost");
	strbuf_clear(&text);
	counters.agent.pipeline.nr_samples_lost = 3;
	counters.store.nr_samples_pushed = counters.store.recorder.nr_samples_written = 14115;
	counters.exporter.nr_samples_pushed = 14115;
	counters.exporter.nr_samples_sent = 14000;
	counters.exporter.nr_samples_dropped[0] = 100;
	counters.exporter.nr_samples_dropped[1] = 15;
	counters_append_brief(&counters, &text);
	assert_string_equal(strbuf_str(&text), "14,115 samples taken, 3 lost; 14,115 recorded; "
					       "14,000 delivered, 115 not");
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
	numbers.counters.self = (struct self_stats){ 0 }; /* shown to Prometheus only */
	counters_format(&numbers.counters, &text);

	size_t nr = read_pairs(strbuf_str(&text), pairs);
	assert_int_equal(nr, NR_VALUES - 1 - sizeof(struct self_stats) / sizeof(uint64_t));
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
		{ "unwind_interrupted=1",
		  offsetof(struct counters, agent.capture.bpf[STAT_NR - 1]) },
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

struct sample {
	char series[128]; /* with its label */
	char value[32];
};

static struct sample samples[NR_VALUES + 1];
static char families[MAX_FAMILIES][96];

/* A family's name, which no other has, from its HELP line. */
static void read_head(const char *line, size_t nr_families)
{
	assert_true(nr_families < MAX_FAMILIES);
	assert_int_equal(sscanf(line, "# HELP %95s %*s", families[nr_families]), 1);
	for (size_t i = 0; i < nr_families; i++)
		assert_string_not_equal(families[i], families[nr_families]);
}

static void check_type(const char *line, const char *family)
{
	char name[96], type[16];

	assert_int_equal(sscanf(line, "# TYPE %95s %15s", name, type), 2);
	assert_string_equal(name, family);
	bool is_total = strcmp(name + strlen(name) - strlen("_total"), "_total") == 0;
	assert_string_equal(type, is_total ? "counter" : "gauge");
}

static void read_sample(const char *line, const char *family, size_t nr)
{
	assert_true(nr < array_len(samples));
	assert_int_equal(sscanf(line, "%127s %31s", samples[nr].series, samples[nr].value), 2);
	assert_int_equal(strncmp(line, family, strlen(family)), 0);
	assert_non_null(strchr("{ ", line[strlen(family)]));
}

/* Reads the text into `samples` as a scraper does. Each family must have its head once, before its
 * samples. */
static size_t read_samples(char *text)
{
	size_t nr_families = 0, nr = 0;

	for (char *rest = text, *line; (line = strsep(&rest, "\n")) && *line;) {
		if (strncmp(line, "# HELP ", 7) == 0)
			read_head(line, nr_families++);
		else if (*line == '#')
			check_type(line, families[nr_families - 1]);
		else
			read_sample(line, families[nr_families - 1], nr++);
	}
	return nr;
}

static void every_number_is_exposed_once_in_a_family_with_its_head(void **state)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(METRICS_MAX_BYTES);
	union numbers numbers;
	(void)state;

	for (size_t i = 0; i < NR_VALUES; i++)
		numbers.values[i] = FIRST_VALUE + i;
	counters_expose(&numbers.counters, COUNTERS_OPERATION, &text);
	counters_expose(&numbers.counters, COUNTERS_DEBUG, &text);
	assert_int_equal(strbuf_error(&text), 0);

	size_t nr = read_samples(text.data);
	assert_int_equal(nr, NR_VALUES + 1); /* and the build */
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(samples[i].series, samples[k].series);
	}
}

static void what_is_lost_is_exposed_by_reason(void **state)
{
	static const char *const lines[] = {
		"\nflamelet_samples_dropped_total{reason=\"ring_full\"} 1\n",
		"\nflamelet_samples_dropped_total{reason=\"window\"} 2\n",
		"\nflamelet_stack_stops_total{reason=\"too_deep\"} 3\n",
		"\nflamelet_export_samples_dropped_total{reason=\"rejected\"} 4\n",
		"\nflamelet_export_samples_sent_total 0\n",
		"\nflamelet_worker_cpu_seconds_total{worker=\"symbol\"} 1.500000000\n",
		"\nflamelet_kubelet_last_success_timestamp_seconds 0.000000000\n",
		"\nflamelet_capture_info{backend=\"perf\"} 1\n",
		"\nflamelet_build_info{version=\"" FLAMELET_VERSION "\"} 1\n",
		"\nprocess_start_time_seconds 7.000000000\n",
	};
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(METRICS_MAX_BYTES);
	struct counters counters = { 0 };
	(void)state;

	counters.agent.capture.backend = CAPTURE_PERF;
	counters.agent.capture.bpf[STAT_RING_FULL] = 1;
	counters.agent.pipeline.nr_samples_lost = 2;
	counters.agent.capture.bpf[STAT_UNWIND_FIRST + UNWIND_TOO_DEEP] = 3;
	counters.exporter.nr_samples_dropped[EXPORT_DROP_REJECTED] = 4;
	counters.agent.pipeline.elfs.worker.cpu_ns = 1500 * NSEC_PER_MSEC;
	counters.self.start_ns = 7 * NSEC_PER_SEC;
	counters_expose(&counters, COUNTERS_OPERATION, &text);
	for (size_t i = 0; i < array_len(lines); i++)
		assert_non_null(strstr(strbuf_str(&text), lines[i]));
}

static void the_time_of_the_kubelets_last_answer_is_a_unix_time(void **state)
{
	static const char series[] = "\nflamelet_kubelet_last_success_timestamp_seconds ";
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(METRICS_MAX_BYTES);
	struct counters counters = { 0 };
	uint64_t seconds;
	(void)state;

	counters.agent.pods.last_success_ns = clock_mono_ns();
	uint64_t now_s = clock_real_ns() / NSEC_PER_SEC;
	counters_expose(&counters, COUNTERS_OPERATION, &text);

	const char *line = strstr(strbuf_str(&text), series);
	assert_non_null(line);
	assert_int_equal(sscanf(line + strlen(series), "%" SCNu64, &seconds), 1);
	assert_in_range(seconds, now_s - 1, now_s + 1);
}

/* The row of the table that explains it. */
static void describe(const struct counter *counter, struct strbuf *out)
{
	strbuf_appendf(out, "\n| `%s%s%s%s` | %s |\n", counter->family, counter->label ? "{" : "",
		       counter->label ? counter->label : "", counter->label ? "}" : "",
		       counter->help);
}

static void every_family_is_documented_and_no_other(void **state)
{
	_cleanup_(strbuf_done) struct strbuf document = strbuf_with_max(METRICS_MAX_BYTES);
	const char *last = "";
	size_t nr_families = 1, nr_rows = 0; /* with that of the build */
	(void)state;

	assert_int_equal(file_read_at(AT_FDCWD, DOCUMENT, &document), 0);
	for (size_t i = 0; i < counter_list_len; i++) {
		_cleanup_(strbuf_done) struct strbuf row = strbuf_with_max(MAX_BYTES);

		if (!counter_list[i].family || strcmp(counter_list[i].family, last) == 0)
			continue;
		last = counter_list[i].family;
		nr_families++;
		describe(&counter_list[i], &row);
		if (!strstr(strbuf_str(&document), strbuf_str(&row)))
			fail_msg("docs/operations.md lacks this row: %s", strbuf_str(&row));
	}
	for (const char *at = strbuf_str(&document); (at = strchr(at, '\n')); at++)
		nr_rows += strncmp(at, "\n| `flamelet_", 13) == 0 ||
			   strncmp(at, "\n| `process_", 12) == 0;
	assert_int_equal(nr_rows, nr_families);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_became_of_samples_is_told_briefly),
		cmocka_unit_test(counters_that_are_0_are_left_out),
		cmocka_unit_test(every_counter_stands_once_under_a_name_of_its_own),
		cmocka_unit_test(names_stand_for_the_right_numbers),
		cmocka_unit_test(every_number_is_exposed_once_in_a_family_with_its_head),
		cmocka_unit_test(what_is_lost_is_exposed_by_reason),
		cmocka_unit_test(the_time_of_the_kubelets_last_answer_is_a_unix_time),
		cmocka_unit_test(every_family_is_documented_and_no_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
