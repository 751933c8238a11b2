/* SPDX-License-Identifier: Apache-2.0 */
#include "older_file.h"
#include "record_fixture.h"
#include "store/dict_cache.h"
#include "unit.h"

#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

#define FIRST (RECORD_START + 5)
#define COUNT 4
#define A_SECOND (COUNT + 1)
#define NOT_WRITTEN_S 15 /* at most, of an agent that runs */
#define PROFILE_BYTES ((size_t)16 << 20)
#define PATH_BYTES 4096

static const struct selector all;

static void open_reader(const struct record *record, struct store_reader *reader)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(4096);
	const char *const dir = record->dir;

	assert_int_equal(store_reader_open(&dir, 1, &warnings, reader), 0);
	assert_string_equal(strbuf_str(&warnings), "");
}

static struct recorder *open_recorder(const struct record *record)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);
	const struct recorder_opts opts = record_opts(record);
	struct recorder *recorder;

	assert_int_equal(recorder_new(&opts, &message, &recorder), 0);
	return recorder;
}

/* Merges all that the reader finds. Returns the sum, or 0 with a warning. */
static uint64_t merge(const struct store_reader *reader, bool with_labels, size_t *ret_nr_stacks)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(4096);
	const struct store_query query = {
		.range = { 0, UINT64_MAX },
		.selector = &all,
		.with_labels = with_labels,
		.max_bytes = PROFILE_BYTES,
	};
	struct store_answer answer = { 0 };

	uint64_t total = 0;

	*ret_nr_stacks = 0;
	if (store_reader_merge(reader, &query, &warnings, &answer) < 0)
		return 0;
	if (warnings.len == 0) {
		total = profile_total(answer.profile);
		*ret_nr_stacks = answer.profile->nr_stacks - 1;
	}
	store_answer_done(&answer);
	return total;
}

/* Each second has a stack of its own, and all have one together. */
static void assert_seconds(const struct store_reader *reader, unsigned int nr)
{
	size_t nr_stacks;

	for (int with_labels = 0; with_labels < 2; with_labels++) {
		assert_int_equal(merge(reader, with_labels, &nr_stacks), nr * A_SECOND);
		assert_int_equal(nr_stacks, nr + 1);
	}
}

/* Heads, which are replaced; minutes; heads again; and the end of the file. */
static void test_one_reader_follows_a_file(void **state)
{
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	static const unsigned int steps[] = { 15, 12, 60, 1, 130, 11 };
	unsigned int nr = 0;
	struct record record;

	(void)state;
	record_make(&record);
	struct recorder *recorder = open_recorder(&record);
	for (size_t i = 0; i < array_len(steps); i++) {
		record_add(recorder, FIRST + nr, steps[i], COUNT);
		nr += steps[i];
		if (i == 0)
			open_reader(&record, &reader);
		size_t nr_stacks;
		uint64_t total = merge(&reader, true, &nr_stacks);
		assert_true(total <= nr * A_SECOND &&
			    total + NOT_WRITTEN_S * A_SECOND >= nr * A_SECOND);
		assert_int_equal(nr_stacks, total / A_SECOND + 1);
		assert_int_equal(total, record_total(&record, 0, UINT64_MAX));
	}
	recorder_close(recorder);
	assert_seconds(&reader, nr);
	record_remove(&record);
}

static void test_a_file_of_the_same_name_is_read_anew(void **state)
{
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	struct record record;

	(void)state;
	record_make(&record);
	for (unsigned int nr = 70; nr <= 140; nr += 70) {
		struct recorder *recorder = open_recorder(&record);

		record_add(recorder, FIRST, nr, COUNT);
		recorder_close(recorder);
		if (nr == 70)
			open_reader(&record, &reader);
		assert_seconds(&reader, nr);
		assert_int_equal(unlink(reader.spans[0].path), 0);
	}
	record_remove(&record);
}

static void test_a_damaged_part_is_told_each_time(void **state)
{
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	_cleanup_(store_file_closep) struct store_file *file = NULL;
	struct record record;
	char path[PATH_BYTES];
	size_t nr_stacks;

	(void)state;
	record_make(&record);
	struct recorder *recorder = open_recorder(&record);
	record_add(recorder, FIRST, 70, COUNT);
	recorder_close(recorder);
	open_reader(&record, &reader);
	assert_seconds(&reader, 70);
	snprintf(path, sizeof(path), "%s/20261124T150000Z.db", record.dir);
	assert_int_equal(store_file_create(path, "node-1", &file), 0);
	assert_int_equal(store_file_add_dict(file, STORE_DICT_SAMPLES, false, "no part", 7), 0);
	const struct store_block block = { .first_s = FIRST + 3600, .end_s = FIRST + 3660 };
	assert_int_equal(store_file_add_block(file, &block, "no block", 8), 0);
	assert_int_equal(store_file_close(file), 0);
	file = NULL;
	store_reader_done(&reader);
	open_reader(&record, &reader);
	assert_int_equal(merge(&reader, true, &nr_stacks), 0);
	assert_int_equal(merge(&reader, true, &nr_stacks), 0);
	record_remove(&record);
}

static struct dict *get_part(struct dict_cache *cache, const char *path, uint64_t first_s,
			     uint64_t end_s)
{
	_cleanup_(store_file_closep) struct store_file *file = NULL;
	struct dict *dict;
	uint64_t last;

	assert_int_equal(store_file_open(path, &file), 0);
	assert_int_equal(store_file_begin(file), 0);
	assert_int_equal(store_file_find_part(file, first_s, end_s, &last), 0);
	assert_int_equal(dict_cache_get(cache, file, path, last, &dict), 0);
	return dict;
}

static struct dict *get(struct dict_cache *cache, const char *path)
{
	_cleanup_(store_file_closep) struct store_file *file = NULL;
	struct dict *dict;

	assert_int_equal(store_file_open(path, &file), 0);
	assert_int_equal(store_file_begin(file), 0);
	assert_int_equal(dict_cache_get(cache, file, path, UINT64_MAX, &dict), 0);
	return dict;
}

static void test_additions_are_removed(void **state)
{
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	struct dict_cache *cache;
	struct record record;
	uint32_t id;

	(void)state;
	record_make(&record);
	struct recorder *recorder = open_recorder(&record);
	record_add(recorder, FIRST, 70, COUNT);
	recorder_close(recorder);
	open_reader(&record, &reader);
	/* No dictionary fits in a byte: only the one that is in use stays. */
	assert_int_equal(dict_cache_new(1, &cache), 0);
	struct dict *dict = get(cache, reader.spans[0].path);
	size_t nr = dict->tables[DICT_STRINGS].nr_rows;
	assert_true(nr > 70);
	assert_int_equal(dict_add_string(dict, "added by a reader", &id), 0);
	dict = get(cache, reader.spans[0].path);
	assert_int_equal(dict->tables[DICT_STRINGS].nr_rows, nr);
	assert_int_equal(dict_add_string(dict, "another one", &id), 0);
	assert_int_equal(id, nr);
	dict_cache_free(cache);
	record_remove(&record);
}

/* Makes a record of some minutes and the head of another one. */
static struct recorder *begin_record(struct record *record, unsigned int seconds)
{
	record_make(record);
	struct recorder *recorder = open_recorder(record);

	record_add(recorder, FIRST, seconds, COUNT);
	return recorder;
}

static void test_a_range_needs_no_later_parts(void **state)
{
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	struct dict_cache *cache;
	struct record record;
	size_t nr_before = 0;

	(void)state;
	struct recorder *recorder = begin_record(&record, 200);
	open_reader(&record, &reader);
	const char *path = reader.spans[0].path;
	assert_int_equal(dict_cache_new(SIZE_MAX, &cache), 0);
	for (uint64_t second = FIRST; second < FIRST + 180; second += 60) {
		size_t nr = get_part(cache, path, second, second + 1)->tables[DICT_NODES].nr_rows;

		assert_true(nr > nr_before);
		nr_before = nr;
	}
	assert_true(get(cache, path)->tables[DICT_NODES].nr_rows > nr_before);
	dict_cache_free(cache);
	recorder_close(recorder);
	record_remove(&record);
}

static void test_seconds_add_up_to_the_range(void **state)
{
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	struct record record;

	(void)state;
	struct recorder *recorder = begin_record(&record, 200);
	uint64_t total = 0;
	for (uint64_t second = FIRST; second < FIRST + 200; second++)
		total += record_total(&record, second, second + 1);
	assert_int_equal(total, record_total(&record, 0, UINT64_MAX));
	assert_true(total + NOT_WRITTEN_S * A_SECOND >= 200 * A_SECOND);
	recorder_close(recorder);
	open_reader(&record, &reader);
	assert_seconds(&reader, 200);
	record_remove(&record);
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

static void test_blocks_that_name_no_part_need_all(void **state)
{
	static const char *const changes[] = {
		"UPDATE block SET part = NULL WHERE id < 3",
		"UPDATE block SET part = NULL",
	};
	struct record record;

	(void)state;
	recorder_close(begin_record(&record, 200));
	for (size_t i = 0; i < array_len(changes); i++) {
		run_sql(&record, changes[i]);
		assert_int_equal(record_total(&record, FIRST, FIRST + 1), A_SECOND);
		assert_int_equal(record_total(&record, 0, UINT64_MAX), 200 * A_SECOND);
	}
	record_remove(&record);
}

static void test_an_older_file_names_no_part(void **state)
{
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	struct record record;

	(void)state;
	recorder_close(begin_record(&record, 200));
	open_reader(&record, &reader);
	older_file_make(reader.spans[0].path,
			"ALTER TABLE block DROP COLUMN part; PRAGMA user_version = 4");
	assert_int_equal(record_total(&record, FIRST, FIRST + 1), A_SECOND);
	assert_int_equal(record_total(&record, 0, UINT64_MAX), 200 * A_SECOND);
	record_remove(&record);
}

static void test_a_wrong_part_is_told(void **state)
{
	static const char *const changes[] = { "UPDATE block SET part = 1",
					       "UPDATE block SET part = 0",
					       "UPDATE block SET part = -1",
					       "UPDATE block SET part = 'one'" };
	struct record record;
	size_t nr_stacks;

	(void)state;
	recorder_close(begin_record(&record, 200));
	for (size_t i = 0; i < array_len(changes); i++) {
		_cleanup_(store_reader_done) struct store_reader reader = { 0 };

		run_sql(&record, changes[i]);
		open_reader(&record, &reader);
		/* A negative number counts as the end of all parts. */
		assert_int_equal(merge(&reader, true, &nr_stacks), i == 2 ? 200 * A_SECOND : 0);
	}
	record_remove(&record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_reader_follows_a_file),
		cmocka_unit_test(test_a_file_of_the_same_name_is_read_anew),
		cmocka_unit_test(test_a_damaged_part_is_told_each_time),
		cmocka_unit_test(test_additions_are_removed),
		cmocka_unit_test(test_a_range_needs_no_later_parts),
		cmocka_unit_test(test_seconds_add_up_to_the_range),
		cmocka_unit_test(test_blocks_that_name_no_part_need_all),
		cmocka_unit_test(test_an_older_file_names_no_part),
		cmocka_unit_test(test_a_wrong_part_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
