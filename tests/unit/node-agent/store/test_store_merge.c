/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of several files: they are read and added up by two threads. */
#include "base/cleanup.h"
#include "record_fixture.h"
#include "store/store_reader.h"
#include "unit.h"

#include <sqlite3.h>
#include <string.h>

#define HOUR_S 3600
#define NR_HOURS 6
#define SECONDS 70 /* of each hour */
#define COUNT 4
#define A_SECOND (COUNT + 1)
#define AN_HOUR (SECONDS * A_SECOND)
#define PROFILE_BYTES ((size_t)16 << 20)
#define MESSAGE_BYTES 4096

static const struct selector all;

static void make_hours(struct record *record)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	struct recorder *recorder;

	record_make(record);
	const struct recorder_opts opts = record_opts(record);
	assert_int_equal(recorder_new(&opts, &message, &recorder), 0);
	for (unsigned int hour = 0; hour < NR_HOURS; hour++)
		record_add(recorder, RECORD_START + hour * HOUR_S, SECONDS, COUNT);
	recorder_close(recorder);
}

static void open_reader(const struct record *record, size_t nr_times, struct store_reader *reader)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);
	const char *const paths[] = { record->dir, record->dir };

	assert_int_equal(store_reader_open(paths, nr_times, &warnings, reader), 0);
	assert_int_equal(reader->nr_spans, nr_times * NR_HOURS);
}

/* Merges all. Returns the profile, owned by the caller. */
static struct profile *merge(const struct store_reader *reader, bool with_labels,
			     struct strbuf *warnings)
{
	const struct store_query query = {
		.range = { 0, UINT64_MAX },
		.selector = &all,
		.with_labels = with_labels,
		.max_bytes = PROFILE_BYTES,
	};
	struct store_answer answer;

	assert_int_equal(store_reader_merge(reader, &query, warnings, &answer), 0);
	assert_int_equal(answer.nr_left_out, 0);
	return answer.profile;
}

/* Expects all samples in a merge of the record, which is named so often, by their labels or not. */
static void assert_adds_up(size_t nr_times)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	struct record record;

	make_hours(&record);
	open_reader(&record, nr_times, &reader);
	for (int with_labels = 0; with_labels < 2; with_labels++) {
		struct profile *profile = merge(&reader, with_labels, &warnings);

		assert_int_equal(profile_total(profile), nr_times * NR_HOURS * AN_HOUR);
		/* One of each second, one of all, and the empty one. */
		assert_int_equal(profile->nr_stacks, NR_HOURS * SECONDS + 2);
		profile_unref(profile);
	}
	assert_string_equal(strbuf_str(&warnings), "");
	record_remove(&record);
}

static void hours_add_up(void **state)
{
	(void)state;
	assert_adds_up(1);
}

/* The cache then has each dictionary when it is asked for again. */
static void files_that_are_named_twice_count_twice(void **state)
{
	(void)state;
	assert_adds_up(2);
}

static void run_sql(const char *path, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void damaged_files_leave_the_others(void **state)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	struct record record;

	(void)state;
	make_hours(&record);
	open_reader(&record, 1, &reader);
	run_sql(reader.spans[0].path, "UPDATE dict SET data = zeroblob(9)");
	run_sql(reader.spans[2].path, "UPDATE block SET data = zeroblob(9)");
	run_sql(reader.spans[NR_HOURS - 1].path, "DELETE FROM dict");
	struct profile *profile = merge(&reader, true, &warnings);
	assert_int_equal(profile_total(profile), (NR_HOURS - 3) * AN_HOUR);
	for (size_t i = 0; i < NR_HOURS; i++)
		assert_int_equal(strstr(strbuf_str(&warnings), reader.spans[i].path) != NULL,
				 i == 0 || i == 2 || i == NR_HOURS - 1);
	profile_unref(profile);
	record_remove(&record);
}

static void what_has_no_room_is_counted(void **state)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	struct store_query query = { .range = { 0, UINT64_MAX }, .selector = &all };
	struct store_answer answer;
	struct record record;

	(void)state;
	make_hours(&record);
	open_reader(&record, 1, &reader);
	query.max_bytes = 20000;
	assert_int_equal(store_reader_merge(&reader, &query, &warnings, &answer), 0);
	assert_true(answer.nr_left_out > 0);
	assert_int_equal(profile_total(answer.profile) + answer.nr_left_out, NR_HOURS * AN_HOUR);
	store_answer_done(&answer);
	query.range = (struct time_range){ 1, 2 };
	assert_int_equal(store_reader_merge(&reader, &query, &warnings, &answer), -ENOENT);
	record_remove(&record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hours_add_up),
		cmocka_unit_test(files_that_are_named_twice_count_twice),
		cmocka_unit_test(damaged_files_leave_the_others),
		cmocka_unit_test(what_has_no_room_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
