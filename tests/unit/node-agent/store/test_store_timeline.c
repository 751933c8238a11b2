/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_timeline.h"

#include "base/clock.h"
#include "profile/builder.h"
#include "older_file.h"
#include "record_fixture.h"
#include "unit.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_BYTES 4096
#define NR_PODS 3
#define TOO_LONG_S UINT64_C(8000000) /* twice as many numbers as there may be, for 3 pods */
#define CPU_NS UINT64_C(400000000)

/* In each second, pod I of namespace shop has I + 1 samples, on CPU I; its process is "web" or
 * "db". */
static struct profile *make_second(uint64_t second, const char *host)
{
	struct builder *builder = NULL;
	uint32_t comms[2], resource;

	assert_int_equal(builder_new((size_t)1 << 24, &builder), 0);
	builder_set_time(builder, second * NSEC_PER_SEC, NSEC_PER_SEC, 10101010);
	assert_int_equal(builder_add_string(builder, "web", &comms[0]), 0);
	assert_int_equal(builder_add_string(builder, "db", &comms[1]), 0);
	for (uint32_t pod = 0; pod < NR_PODS; pod++) {
		char name[16];
		struct profile_sample sample = {
			.process_comm = comms[pod % 2],
			.thread_comm = comms[1],
			.pid = 100 + pod,
			.cgroup_id = 7 + pod,
			.cpu = pod,
			.count = pod + 1,
		};

		snprintf(name, sizeof(name), "pod-%u", pod);
		const struct attribute attributes[] = { { "k8s.namespace.name", "shop" },
							{ "k8s.pod.name", name },
							{ "host.name", host } };
		assert_int_equal(builder_add_resource(builder, attributes, 3, &resource), 0);
		sample.resource = resource;
		assert_int_equal(builder_add_sample(builder, &sample), 0);
		slots_add(builder_slots(builder), second * NSEC_PER_SEC + pod * SLOT_NS, pod + 1);
	}
	return builder_seal(builder);
}

static struct vitals make_vitals(uint64_t second)
{
	struct vitals vitals = { 0 };

	vitals_set(&vitals, VITAL_USER, CPU_NS);
	vitals_set(&vitals, VITAL_RUNNABLE, second % 2 ? 4 : 8);
	vitals_set(&vitals, VITAL_MEMORY_TOTAL, UINT64_C(1) << 33);
	return vitals;
}

static void write_seconds(struct recorder *recorder, uint64_t first_s, unsigned int nr,
			  const char *host)
{
	for (unsigned int i = 0; i < nr; i++) {
		struct profile *profile = make_second(first_s + i, host);
		const struct vitals vitals = make_vitals(first_s + i);

		recorder_add_vitals(recorder, first_s + i, &vitals);
		recorder_add(recorder, profile);
		recorder_tick(recorder, first_s + i + 1);
		profile_unref(profile);
	}
}

static struct recorder *open_recorder(const struct record *record, const char *host)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	struct recorder_opts opts = record_opts(record);
	struct recorder *recorder = NULL;

	opts.host = host;
	if (recorder_new(&opts, &message, &recorder) < 0)
		fail_msg("%s", strbuf_str(&message));
	return recorder;
}

static void write_record(struct record *record, unsigned int nr, const char *host)
{
	record_make(record);
	struct recorder *recorder = open_recorder(record, host);
	write_seconds(recorder, RECORD_START, nr, host);
	recorder_close(recorder);
}

/* Reads with a selector; the query's other members are the caller's. */
static int read_from(const char *const *dirs, size_t nr_dirs, const char *selector_text,
		     struct store_timeline_query *query, struct store_timeline *ret_timeline)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	_cleanup_(selector_done) struct selector selector = { 0 };

	if (selector_text)
		assert_int_equal(selector_add(&selector, selector_text, &warnings), 0);
	query->selector = &selector;
	if (query->range.end_s == 0)
		query->range.end_s = UINT64_MAX;
	assert_int_equal(store_reader_open(dirs, nr_dirs, &warnings, &reader), 0);
	int r = store_timeline_read(&reader, query, &warnings, ret_timeline);
	query->selector = NULL;
	assert_string_equal(strbuf_str(&warnings), "");
	return r;
}

static struct store_timeline read_one(const struct record *record, const char *selector,
				      struct store_timeline_query query)
{
	struct store_timeline timeline = { 0 };
	const char *const dir = record->dir;

	assert_int_equal(read_from(&dir, 1, selector, &query, &timeline), 0);
	return timeline;
}

static const struct timeline_line *find_line(const struct store_timeline *timeline,
					     const char *name)
{
	for (size_t i = 0; i < timeline->nr_lines; i++)
		if (strcmp(timeline->lines[i].name, name) == 0)
			return &timeline->lines[i];
	fail_msg("no line %s", name);
	return NULL;
}

static uint64_t total_of(const struct store_timeline *timeline)
{
	uint64_t total = 0;

	for (size_t i = 0; i < timeline->nr_lines; i++)
		total += timeline->lines[i].total;
	return total;
}

static void sums_by_all_dimensions_equal_those_of_the_samples(void **state)
{
	static const struct {
		enum timeline_what what;
		const char *by;
	} cases[] = {
		{ TIMELINE_SAMPLES, NULL },   { TIMELINE_SAMPLES, "pod" },
		{ TIMELINE_SAMPLES, "comm" }, { TIMELINE_SAMPLES, "pid" },
		{ TIMELINE_CPUS, NULL },      { TIMELINE_SLOTS, NULL },
		{ TIMELINE_SAMPLES, "host" },
	};
	struct record record;
	(void)state;

	write_record(&record, 150, "node-1");
	for (size_t i = 0; i < array_len(cases); i++) {
		struct store_timeline timeline = read_one(
			&record, NULL,
			(struct store_timeline_query){
				.what = cases[i].what, .by = cases[i].by, .step_s = 1 });

		assert_int_equal(timeline.nr_steps, 150);
		assert_int_equal(timeline.period, 10101010);
		assert_int_equal(total_of(&timeline), 150 * 6);
		for (size_t step = 0; step < 150; step++) {
			uint64_t sum = 0;

			for (size_t k = 0; k < timeline.nr_lines; k++)
				sum += timeline.lines[k].values[step];
			assert_int_equal(sum, 6);
			assert_int_equal(timeline.nr_seconds[step], 1);
		}
		store_timeline_done(&timeline);
	}
	assert_int_equal(record_total(&record, 0, UINT64_MAX), 150 * 6);
	record_remove(&record);
}

static void lines_have_names_and_the_largest_is_first(void **state)
{
	struct record record;
	(void)state;

	write_record(&record, 30, "node-1");
	struct store_timeline timeline = read_one(
		&record, NULL,
		(struct store_timeline_query){ .by = "pod", .step_s = 10, .max_lines = 1 });
	assert_int_equal(timeline.nr_lines, 2);
	assert_string_equal(timeline.lines[0].name, "pod-2");
	assert_int_equal(timeline.lines[0].values[2], 30);
	assert_true(timeline.lines[1].is_rest);
	assert_int_equal(timeline.lines[1].values[0], 30);
	assert_int_equal(timeline.first_s, RECORD_START);
	assert_int_equal(timeline.nr_seconds[1], 10);
	store_timeline_done(&timeline);

	timeline = read_one(&record, NULL,
			    (struct store_timeline_query){ .what = TIMELINE_SLOTS, .step_s = 1 });
	assert_int_equal(timeline.nr_lines, SLOTS_NR);
	assert_string_equal(timeline.lines[2].name, "100");
	assert_int_equal(timeline.lines[2].values[7], 3);
	store_timeline_done(&timeline);

	timeline = read_one(&record, NULL,
			    (struct store_timeline_query){ .what = TIMELINE_CPUS, .step_s = 1 });
	assert_int_equal(timeline.nr_lines, 3);
	assert_string_equal(timeline.lines[1].name, "1");
	assert_int_equal(timeline.lines[1].values[29], 2);
	store_timeline_done(&timeline);
	record_remove(&record);
}

static void selectors_select(void **state)
{
	static const struct {
		const char *selector;
		uint64_t total;
	} cases[] = {
		{ "{pod=\"pod-1\"}", 2 },
		{ "{comm=\"web\"}", 4 },
		{ "{namespace=\"shop\",pod!=\"pod-0\"}", 5 },
		{ "{pid=\"102\"}", 3 },
		{ "{thread=\"db\",comm=\"db\"}", 2 },
		{ "{host=\"node-1\"}", 6 },
		{ "{host=\"node-2\"}", 0 },
		{ "{pod=\"none\"}", 0 },
	};
	struct record record;
	(void)state;

	write_record(&record, 70, "node-1");
	for (size_t i = 0; i < array_len(cases); i++) {
		struct store_timeline_query query = { .step_s = 10 };
		struct store_timeline timeline = { 0 };
		const char *const dir = record.dir;

		int r = read_from(&dir, 1, cases[i].selector, &query, &timeline);
		assert_true(r == 0 || (r == -ENOENT && cases[i].total == 0));
		assert_int_equal(total_of(&timeline), 70 * cases[i].total);
		store_timeline_done(&timeline);
	}
	record_remove(&record);
}

static void vitals_are_means_in_their_units(void **state)
{
	struct record record;
	(void)state;

	write_record(&record, 100, "node-1");
	struct store_timeline timeline = read_one(
		&record, NULL,
		(struct store_timeline_query){ .what = TIMELINE_VITALS, .step_s = 20 });
	assert_int_equal(timeline.nr_lines, 3);
	assert_int_equal(find_line(&timeline, "user")->values[1], CPU_NS);
	assert_int_equal(find_line(&timeline, "runnable")->values[0], 6);
	assert_int_equal(find_line(&timeline, "memory_total")->values[4], UINT64_C(1) << 33);
	store_timeline_done(&timeline);
	record_remove(&record);
}

/* What is a rate is not known in the first second of an agent. */
static void a_vital_may_be_unknown_in_a_second(void **state)
{
	struct vitals vitals = { 0 };
	struct record record;
	(void)state;

	record_make(&record);
	struct recorder *recorder = open_recorder(&record, "node-1");
	vitals_set(&vitals, VITAL_RUNNABLE, 2);
	recorder_add_vitals(recorder, RECORD_START, &vitals);
	vitals_set(&vitals, VITAL_IRQ, 0);
	recorder_add_vitals(recorder, RECORD_START + 1, &vitals);
	recorder_close(recorder);
	struct store_timeline timeline = read_one(
		&record, NULL,
		(struct store_timeline_query){ .what = TIMELINE_VITALS, .step_s = 1 });
	assert_int_equal(timeline.nr_lines, 2);
	assert_true(find_line(&timeline, "runnable")->is_known[0]);
	assert_false(find_line(&timeline, "irq")->is_known[0]);
	assert_true(find_line(&timeline, "irq")->is_known[1]);
	assert_int_equal(timeline.nr_seconds[0], 1);
	store_timeline_done(&timeline);
	record_remove(&record);
}

static void a_gap_is_told_from_an_idle_time(void **state)
{
	struct record record;
	(void)state;

	record_make(&record);
	struct recorder *recorder = open_recorder(&record, "node-1");
	write_seconds(recorder, RECORD_START, 20, "node-1");
	for (uint64_t i = 20; i < 40; i++) { /* idle */
		const struct vitals vitals = make_vitals(RECORD_START + i);

		recorder_add_vitals(recorder, RECORD_START + i, &vitals);
		recorder_tick(recorder, RECORD_START + i + 1);
	}
	write_seconds(recorder, RECORD_START + 50, 20, "node-1");
	recorder_close(recorder);
	struct store_timeline timeline = read_one(&record, NULL,
						  (struct store_timeline_query){ .step_s = 10 });
	static const uint32_t expected[] = { 10, 10, 10, 10, 0, 10, 10 };
	assert_int_equal(timeline.nr_steps, array_len(expected));
	for (size_t i = 0; i < array_len(expected); i++) {
		assert_int_equal(timeline.nr_seconds[i], expected[i]);
		assert_int_equal(timeline.lines[0].values[i], i >= 2 && i <= 4 ? 0 : 60);
	}
	store_timeline_done(&timeline);
	record_remove(&record);
}

static void seconds_with_samples_are_known_without_vitals(void **state)
{
	static const char *const labels[] = { "comm", "pid", "thread" };
	struct record record;
	(void)state;

	record_make(&record);
	struct recorder *recorder = open_recorder(&record, "node-1");
	record_add(recorder, RECORD_START, 20, 3);
	recorder_close(recorder);
	for (size_t i = 0; i < array_len(labels); i++) {
		struct store_timeline timeline = read_one(
			&record, NULL,
			(struct store_timeline_query){ .by = labels[i], .step_s = 5 });

		assert_int_equal(timeline.nr_steps, 4);
		assert_int_equal(timeline.nr_seconds[3], 5);
		assert_int_equal(total_of(&timeline), 80);
		store_timeline_done(&timeline);
	}
	record_remove(&record);
}

static void an_idle_node_has_a_timeline(void **state)
{
	struct record record;
	(void)state;

	record_make(&record);
	struct recorder *recorder = open_recorder(&record, "node-1");
	for (uint64_t i = 0; i < 200; i++) {
		const struct vitals vitals = make_vitals(RECORD_START + i);

		recorder_add_vitals(recorder, RECORD_START + i, &vitals);
		recorder_tick(recorder, RECORD_START + i + 1);
	}
	recorder_close(recorder);
	struct store_timeline timeline = read_one(
		&record, NULL,
		(struct store_timeline_query){ .what = TIMELINE_VITALS, .step_s = 1 });
	assert_int_equal(timeline.nr_steps, 200);
	for (size_t i = 0; i < 200; i++)
		assert_int_equal(timeline.nr_seconds[i], 1);
	store_timeline_done(&timeline);
	record_remove(&record);
}

static void several_hosts_are_summed_up_or_apart(void **state)
{
	struct record one, other;
	struct store_timeline timeline;
	(void)state;

	write_record(&one, 30, "node-1");
	write_record(&other, 20, "node-2");
	const char *const dirs[] = { one.dir, other.dir };
	struct store_timeline_query query = { .step_s = 10, .by = "host" };
	assert_int_equal(read_from(dirs, 2, NULL, &query, &timeline), 0);
	assert_int_equal(timeline.nr_hosts, 2);
	assert_string_equal(timeline.lines[0].name, "node-1");
	assert_int_equal(timeline.lines[0].total, 180);
	assert_int_equal(timeline.lines[1].total, 120);
	assert_int_equal(timeline.nr_seconds[0], 20);
	assert_int_equal(timeline.nr_seconds[2], 10);
	store_timeline_done(&timeline);

	query = (struct store_timeline_query){ .what = TIMELINE_VITALS, .step_s = 10 };
	assert_int_equal(read_from(dirs, 2, NULL, &query, &timeline), 0);
	assert_int_equal(find_line(&timeline, "user")->values[0], 2 * CPU_NS);
	store_timeline_done(&timeline);
	query = (struct store_timeline_query){ .what = TIMELINE_CPUS, .step_s = 10 };
	assert_int_equal(read_from(dirs, 2, "{host=\"node-2\"}", &query, &timeline), 0);
	assert_int_equal(total_of(&timeline), 120);
	store_timeline_done(&timeline);
	query = (struct store_timeline_query){ .what = TIMELINE_CPUS, .step_s = 10 };
	assert_int_equal(read_from(dirs, 2, "{pod=\"pod-1\"}", &query, &timeline), -EOPNOTSUPP);
	record_remove(&one);
	record_remove(&other);
}

static void throttling_belongs_to_the_pod(void **state)
{
	struct record record;
	(void)state;

	record_make(&record);
	struct recorder *recorder = open_recorder(&record, "node-1");
	write_seconds(recorder, RECORD_START, 20, "node-1");
	recorder_add_throttling(recorder, RECORD_START + 12, 8, 30 * NSEC_PER_MSEC, 2, 1);
	recorder_add_throttling(recorder, RECORD_START + 12, 999, 5 * NSEC_PER_MSEC, 1, 1);
	recorder_close(recorder);
	struct store_timeline timeline = read_one(
		&record, NULL,
		(struct store_timeline_query){
			.what = TIMELINE_THROTTLED, .by = "pod", .step_s = 1 });
	assert_int_equal(find_line(&timeline, "pod-1")->values[12], 30 * NSEC_PER_MSEC);
	assert_int_equal(find_line(&timeline, "")->values[12], 5 * NSEC_PER_MSEC);
	store_timeline_done(&timeline);
	record_remove(&record);
}

static void open_reader(const struct record *record, struct store_reader *ret_reader)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);
	const char *const dir = record->dir;

	assert_int_equal(store_reader_open(&dir, 1, &warnings, ret_reader), 0);
}

static void run_sql(const struct record *record, const char *sql)
{
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	sqlite3 *db;

	open_reader(record, &reader);
	assert_int_equal(sqlite3_open(reader.spans[0].path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void files_of_version_2_are_answered_from_their_samples(void **state)
{
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	struct record record;
	(void)state;

	write_record(&record, 100, "node-1");
	open_reader(&record, &reader);
	older_file_make(reader.spans[0].path,
			"PRAGMA user_version = 2; DROP TABLE timeline; DROP TABLE label");
	struct store_timeline timeline = read_one(
		&record, NULL, (struct store_timeline_query){ .by = "pod", .step_s = 10 });
	assert_int_equal(find_line(&timeline, "pod-2")->total, 300);
	assert_int_equal(timeline.nr_seconds[3], 10);
	store_timeline_done(&timeline);
	timeline = read_one(&record, NULL,
			    (struct store_timeline_query){ .what = TIMELINE_CPUS, .step_s = 10 });
	assert_int_equal(timeline.nr_lines, 0);
	store_timeline_done(&timeline);
	assert_int_equal(record_total(&record, 0, UINT64_MAX), 600);
	record_remove(&record);
}

static void damaged_rows_are_left_out_with_a_warning(void **state)
{
	static const char *const damages[] = {
		"UPDATE timeline SET data = zeroblob(40)",
		"UPDATE timeline SET data = NULL",
		"UPDATE label SET data = x'00'",
		"DELETE FROM label",
		"UPDATE timeline SET first = -5",
		"UPDATE timeline SET first = 9223372036854775807, end = 9223372036854775807",
	};
	(void)state;

	for (size_t i = 0; i < array_len(damages); i++) {
		_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);
		_cleanup_(store_reader_done) struct store_reader reader = { 0 };
		const struct selector all = { 0 };
		const struct store_timeline_query query = {
			.range = { RECORD_START, RECORD_START + 100 },
			.step_s = 1,
			.by = "pod",
			.selector = &all,
		};
		struct store_timeline timeline = { 0 };
		struct record record;

		write_record(&record, 100, "node-1");
		const char *const dir = record.dir;
		run_sql(&record, damages[i]);
		assert_int_equal(store_reader_open(&dir, 1, &warnings, &reader), 0);
		int r = store_timeline_read(&reader, &query, &warnings, &timeline);
		assert_true(r == 0 || r == -ENOENT);
		assert_true(total_of(&timeline) <= 600);
		store_timeline_done(&timeline);
		record_remove(&record);
	}
}

static void too_many_numbers_are_refused(void **state)
{
	struct record record;
	(void)state;

	record_make(&record);
	struct recorder *recorder = open_recorder(&record, "node-1");
	write_seconds(recorder, RECORD_START, 2, "node-1");
	write_seconds(recorder, RECORD_START + TOO_LONG_S, 2, "node-1");
	recorder_close(recorder);
	const char *const dir = record.dir;
	struct store_timeline_query query = { .step_s = 1, .by = "pod" };
	struct store_timeline timeline;
	assert_int_equal(read_from(&dir, 1, NULL, &query, &timeline), -ENOSPC);
	query = (struct store_timeline_query){ .step_s = 3600, .by = "pod" };
	assert_int_equal(read_from(&dir, 1, NULL, &query, &timeline), 0);
	store_timeline_done(&timeline);
	record_remove(&record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_by_all_dimensions_equal_those_of_the_samples),
		cmocka_unit_test(lines_have_names_and_the_largest_is_first),
		cmocka_unit_test(selectors_select),
		cmocka_unit_test(vitals_are_means_in_their_units),
		cmocka_unit_test(a_vital_may_be_unknown_in_a_second),
		cmocka_unit_test(a_gap_is_told_from_an_idle_time),
		cmocka_unit_test(seconds_with_samples_are_known_without_vitals),
		cmocka_unit_test(an_idle_node_has_a_timeline),
		cmocka_unit_test(several_hosts_are_summed_up_or_apart),
		cmocka_unit_test(throttling_belongs_to_the_pod),
		cmocka_unit_test(files_of_version_2_are_answered_from_their_samples),
		cmocka_unit_test(damaged_rows_are_left_out_with_a_warning),
		cmocka_unit_test(too_many_numbers_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
