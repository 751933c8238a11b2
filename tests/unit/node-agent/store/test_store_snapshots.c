/* SPDX-License-Identifier: Apache-2.0 */
/* Records that have snapshots of what is in use, which cannot be added up. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "record_fixture.h"
#include "stacks.h"
#include "store/store_slices.h"
#include "unit.h"

#include <string.h>

#define EVERY_S 15
#define NR_SNAPSHOTS 7
#define NR_OF_DB 3 /* snapshots that have the program "db": it ends then */
#define NR_SECONDS (NR_SNAPSHOTS * EVERY_S)
#define FIRST (RECORD_START + 3600 - 3 * EVERY_S) /* one file has three, the next one four */
#define WEB(i) (100 + (i))
#define DB 1000
#define MESSAGE_BYTES 4096
#define PROFILE_BYTES ((size_t)16 << 20)

static void add_snapshot(struct recorder *recorder, uint32_t number)
{
	const struct stack_line lines[] = { { "web", "main;serve;malloc", WEB(number) },
					    { "db", "main;cache;malloc", DB } };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(
		lines, number < NR_OF_DB ? 2 : 1);

	profile->time_unix_ns = (FIRST + number * EVERY_S) * NSEC_PER_SEC + 1;
	profile->type = PROFILE_INUSE_SPACE;
	profile->period = 1;
	recorder_add(recorder, profile);
}

static void make_record(struct record *record)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	struct recorder *recorder;

	record_make(record);
	const struct recorder_opts opts = record_opts(record);
	assert_int_equal(recorder_new(&opts, &message, &recorder), 0);
	for (uint32_t i = 0; i < NR_SNAPSHOTS; i++) {
		record_add(recorder, FIRST + i * EVERY_S, 1, 1);
		add_snapshot(recorder, i);
		record_add(recorder, FIRST + i * EVERY_S + 1, EVERY_S - 1, 1);
	}
	recorder_close(recorder);
}

static void open_reader(const struct record *record, struct store_reader *ret_reader)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);
	const char *const dir = record->dir;

	assert_int_equal(store_reader_open(&dir, 1, &warnings, ret_reader), 0);
	assert_int_equal(ret_reader->nr_spans, 2);
}

/* Returns what is in use in a range, and the second of the snapshot; 0: there is none. */
static uint64_t in_use(const struct store_reader *reader, struct time_range range,
		       const char *selector_text, uint64_t *ret_second)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_(selector_done) struct selector selector = { 0 };
	_cleanup_(store_answer_done) struct store_answer answer = { 0 };

	assert_int_equal(selector_add(&selector, selector_text, &warnings), 0);
	const struct store_query query = {
		.range = range,
		.selector = &selector,
		.type = PROFILE_INUSE_SPACE,
		.with_labels = true,
		.max_bytes = PROFILE_BYTES,
	};
	*ret_second = 0;
	int r = store_reader_merge(reader, &query, &warnings, &answer);
	assert_string_equal(strbuf_str(&warnings), "");
	if (r == -ENOENT)
		return 0;
	assert_int_equal(r, 0);
	assert_int_equal(answer.profile->duration_ns, NSEC_PER_SEC);
	*ret_second = answer.profile->time_unix_ns / NSEC_PER_SEC;
	return profile_total(answer.profile);
}

static void a_query_has_the_last_snapshot_of_its_range(void **state)
{
	static const struct {
		uint64_t from, until; /* seconds of the record */
		const char *selector;
		uint64_t total, second;
	} cases[] = {
		{ 0, NR_SECONDS, "{}", WEB(6), 90 },
		{ 0, 90, "{}", WEB(5), 75 },
		{ 31, 46, "{}", WEB(3), 45 },
		{ 0, 45, "{}", WEB(2) + DB, 30 },
		{ 0, NR_SECONDS, "{comm=\"db\"}", DB, 30 },
		{ 0, NR_SECONDS, "{comm=\"web\"}", WEB(6), 90 },
		{ 46, NR_SECONDS, "{comm=\"db\"}", 0, 0 },
		{ 46, 60, "{}", 0, 0 },
	};
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	struct record record;
	uint64_t second;
	(void)state;

	make_record(&record);
	open_reader(&record, &reader);
	for (size_t i = 0; i < array_len(cases); i++) {
		const struct time_range range = { FIRST + cases[i].from, FIRST + cases[i].until };

		assert_int_equal(in_use(&reader, range, cases[i].selector, &second),
				 cases[i].total);
		assert_int_equal(second, cases[i].second ? FIRST + cases[i].second : 0);
	}
	record_remove(&record);
}

static void read_timeline(const struct store_reader *reader, uint64_t step_s,
			  struct store_timeline *ret_timeline)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);
	const struct selector all = { 0 };
	const struct store_timeline_query query = {
		.range = { FIRST, FIRST + NR_SECONDS },
		.step_s = step_s,
		.what = TIMELINE_SAMPLES,
		.type = PROFILE_INUSE_SPACE,
		.selector = &all,
		.by = "comm",
	};

	assert_int_equal(store_timeline_read(reader, &query, &warnings, ret_timeline), 0);
	assert_string_equal(strbuf_str(&warnings), "");
	assert_int_equal(ret_timeline->nr_lines, 2);
	assert_string_equal(ret_timeline->lines[0].name, "db");
}

static void a_timeline_has_what_is_in_use_at_each_time(void **state)
{
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	struct store_timeline timeline;
	struct record record;
	(void)state;

	make_record(&record);
	open_reader(&record, &reader);
	read_timeline(&reader, EVERY_S, &timeline);
	assert_int_equal(timeline.nr_steps, NR_SNAPSHOTS);
	for (size_t i = 0; i < NR_SNAPSHOTS; i++) {
		assert_int_equal(timeline.lines[0].values[i], i < NR_OF_DB ? DB : 0);
		assert_int_equal(timeline.lines[1].values[i], WEB(i));
	}
	store_timeline_done(&timeline);
	read_timeline(&reader, 1, &timeline);
	for (size_t i = 0; i < NR_SECONDS; i++)
		assert_int_equal(timeline.lines[1].values[i], WEB(i / EVERY_S));
	store_timeline_done(&timeline);
	read_timeline(&reader, 0, &timeline);
	assert_in_range(timeline.lines[0].values[0], DB * NR_OF_DB / NR_SNAPSHOTS - 3,
			DB * NR_OF_DB / NR_SNAPSHOTS);
	store_timeline_done(&timeline);
	record_remove(&record);
}

struct seen {
	size_t nr;
	uint64_t last;
};

static int see(struct profile *profile, void *data)
{
	struct seen *seen = data;

	if (profile->type != PROFILE_INUSE_SPACE)
		return 0;
	assert_int_equal(profile->time_unix_ns, (FIRST + seen->nr * EVERY_S) * NSEC_PER_SEC);
	seen->last = profile_total(profile);
	seen->nr++;
	return 0;
}

static void each_snapshot_is_exported_by_itself(void **state)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	const struct selector all = { 0 };
	struct seen seen = { 0 };
	const struct store_slicing slicing = {
		.range = { 0, UINT64_MAX },
		.selector = &all,
		.slice_s = STORE_SLICE_MAX_S,
		.max_bytes = PROFILE_BYTES,
		.visit = see,
		.data = &seen,
	};
	struct record record;
	uint64_t left_out = 0;
	(void)state;

	make_record(&record);
	open_reader(&record, &reader);
	assert_int_equal(store_slices_visit(&reader, &slicing, &warnings, &left_out), 0);
	assert_int_equal(seen.nr, NR_SNAPSHOTS);
	assert_int_equal(seen.last, WEB(NR_SNAPSHOTS - 1));
	record_remove(&record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_query_has_the_last_snapshot_of_its_range),
		cmocka_unit_test(a_timeline_has_what_is_in_use_at_each_time),
		cmocka_unit_test(each_snapshot_is_exported_by_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
