/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "older_file.h"
#include "record_fixture.h"
#include "store/event_table.h"
#include "store/pin_dir.h"
#include "store/store_dir.h"
#include "store/store_file.h"
#include "unit.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define COUNT 9
#define A_SECOND (COUNT + 1)
#define MESSAGE_BYTES 1024
#define ENOUGH (UINT64_C(1) << 30)
#define HOUR_S 3600
#define PATH_BYTES (2 * RECORD_PATH_BYTES)

static const char *const hours[] = { "20261124T140000Z.db", "20261124T150000Z.db" };

static struct recorder *open_recorder(const struct record *record)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	const struct recorder_opts opts = record_opts(record);
	struct recorder *recorder = NULL;

	assert_int_equal(recorder_new(&opts, &message, &recorder), 0);
	return recorder;
}

/* Makes a record of the first ten minutes of two hours. */
static void make_hours(struct record *record)
{
	record_make(record);
	struct recorder *recorder = open_recorder(record);
	record_add(recorder, RECORD_START, 600, COUNT);
	record_add(recorder, RECORD_START + HOUR_S, 600, COUNT);
	recorder_close(recorder);
}

static void prepare(const struct record *record, uint64_t max_bytes)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);

	assert_int_equal(pin_dir_prepare(record->dir, max_bytes, &message), 0);
}

static int add(const struct record *record, uint64_t first_s, uint64_t end_s, const char *expected)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	struct pin pin = { .first_s = RECORD_START + first_s,
			   .end_s = RECORD_START + end_s,
			   .made_s = RECORD_START,
			   .note = "slow \"checkout\"" };
	int r = pin_dir_add(record->dir, &pin, &message);

	if (r == 0)
		assert_string_equal(pin.id, expected);
	else if (!strstr(strbuf_str(&message), expected))
		fail_msg("%s", strbuf_str(&message));
	return r;
}

static int remove_pin(const struct record *record, const char *id)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	int r = pin_dir_remove(record->dir, id, &message);

	assert_true(r == 0 || message.len > 0);
	return r;
}

static void assert_pins(const struct record *record, const char *ids)
{
	_cleanup_(pin_list_done) struct pin_list list = { 0 };
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(MESSAGE_BYTES);

	assert_int_equal(pin_dir_list(record->dir, &list), 0);
	for (size_t i = 0; i < list.nr; i++)
		strbuf_appendf(&text, "%s%s", i ? " " : "", list.items[i].id);
	assert_string_equal(strbuf_str(&text), ids);
}

static void remove_hour(const struct record *record, size_t hour)
{
	assert_int_equal(store_dir_remove(record->dir, hours[hour]), 0);
}

static uint64_t total(const struct record *record)
{
	return record_total(record, 0, UINT64_MAX);
}

static void run_sql(const struct record *record, size_t hour, const char *sql)
{
	char path[PATH_BYTES];
	sqlite3 *db;

	snprintf(path, sizeof(path), "%s/%s", record->dir, hours[hour]);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

/* Puts an event of two seconds into the file of an hour. */
static void put_event(const struct record *record, size_t hour, uint64_t number, uint64_t first_s,
		      double score)
{
	char sql[512];

	snprintf(sql, sizeof(sql),
		 "INSERT INTO event VALUES(%llu, %llu, %llu, 'pod-cpu', 0, %f, 'pod a/b', '',"
		 " 'Pod a/b did it')",
		 (unsigned long long)number, (unsigned long long)(RECORD_START + first_s),
		 (unsigned long long)(RECORD_START + first_s + 2), score);
	run_sql(record, hour, sql);
}

static void a_pinned_range_outlives_its_file(void **state)
{
	(void)state;
	struct record record;

	make_hours(&record);
	assert_int_equal(add(&record, 130, 140, "p1"), 0);
	assert_int_equal(total(&record), 1200 * A_SECOND);
	remove_hour(&record, 0);
	assert_int_equal(record_total(&record, RECORD_START + 130, RECORD_START + 140),
			 10 * A_SECOND);
	/* The whole minute is kept, and nothing else of the hour. */
	assert_int_equal(total(&record), 660 * A_SECOND);
	assert_pins(&record, "p1");
	record_remove(&record);
}

static void ranges_of_an_older_version_can_be_pinned(void **state)
{
	(void)state;
	static const char *const older[] = {
		"PRAGMA user_version = 5",
		"ALTER TABLE block DROP COLUMN part; PRAGMA user_version = 4",
	};

	for (size_t i = 0; i < array_len(older); i++) {
		char path[PATH_BYTES];
		struct record record;

		make_hours(&record);
		snprintf(path, sizeof(path), "%s/%s", record.dir, hours[0]);
		older_file_make(path, older[i]);
		assert_int_equal(add(&record, 130, 140, "p1"), 0);
		remove_hour(&record, 0);
		assert_int_equal(record_total(&record, RECORD_START + 130, RECORD_START + 140),
				 10 * A_SECOND);
		assert_int_equal(total(&record), 660 * A_SECOND);
		record_remove(&record);
	}
}

static void ranges_that_overlap_are_counted_once(void **state)
{
	(void)state;
	struct record record;

	make_hours(&record);
	assert_int_equal(add(&record, 0, 200, "p1"), 0);
	assert_int_equal(add(&record, 100, 300, "p2"), 0);
	assert_int_equal(add(&record, 150, 160, "p3"), 0);
	assert_int_equal(total(&record), 1200 * A_SECOND);
	remove_hour(&record, 0);
	assert_int_equal(total(&record), 900 * A_SECOND);
	assert_pins(&record, "p1 p2 p3");
	record_remove(&record);
}

static void a_range_may_be_in_two_files(void **state)
{
	(void)state;
	struct record record;

	make_hours(&record);
	assert_int_equal(add(&record, 540, HOUR_S + 60, "p1"), 0);
	assert_pins(&record, "p1");
	remove_hour(&record, 0);
	remove_hour(&record, 1);
	assert_int_equal(total(&record), 120 * A_SECOND);
	assert_int_equal(remove_pin(&record, "p1"), 0);
	assert_int_equal(pin_dir_bytes(record.dir), 0);
	assert_pins(&record, "");
	record_remove(&record);
}

static void a_removed_pin_leaves_the_others(void **state)
{
	(void)state;
	struct record record;

	make_hours(&record);
	assert_int_equal(add(&record, 0, 60, "p1"), 0);
	assert_int_equal(add(&record, 300, 360, "p2"), 0);
	remove_hour(&record, 0);
	remove_hour(&record, 1);
	assert_int_equal(total(&record), 120 * A_SECOND);
	assert_int_equal(remove_pin(&record, "p1"), 0);
	assert_int_equal(total(&record), 60 * A_SECOND);
	assert_int_equal(remove_pin(&record, "p1"), -ENOENT);
	assert_pins(&record, "p2");
	assert_int_equal(add(&record, 300, 310, "p3"), 0);
	assert_int_equal(total(&record), 60 * A_SECOND);
	record_remove(&record);
}

static void a_range_without_samples_cannot_be_pinned(void **state)
{
	(void)state;
	struct record record;

	make_hours(&record);
	assert_int_equal(add(&record, 1000, 1100, "nothing of that time"), -ENOENT);
	assert_int_equal(add(&record, 9 * HOUR_S, 10 * HOUR_S, "nothing of that time"), -ENOENT);
	assert_pins(&record, "");
	record_remove(&record);
}

static void pins_take_a_quarter_of_the_limit_at_most(void **state)
{
	(void)state;
	struct record record;
	struct stat status;
	char path[PATH_BYTES];

	make_hours(&record);
	assert_int_equal(add(&record, 0, 600, "p1"), 0);
	uint64_t one = pin_dir_bytes(record.dir);
	snprintf(path, sizeof(path), "%s/pin/%s", record.dir, hours[0]);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(one, status.st_size);
	prepare(&record, one * 5);
	assert_int_equal(add(&record, HOUR_S, HOUR_S + 600, "a quarter of the record's limit"),
			 -EDQUOT);
	assert_pins(&record, "p1");
	assert_int_equal(pin_dir_bytes(record.dir), one);
	prepare(&record, one * 9);
	assert_int_equal(add(&record, HOUR_S, HOUR_S + 600, "p2"), 0);
	record_remove(&record);
}

static void a_file_that_is_written_can_be_pinned(void **state)
{
	(void)state;
	struct record record;

	record_make(&record);
	struct recorder *recorder = open_recorder(&record);
	record_add(recorder, RECORD_START, 100, COUNT);
	assert_int_equal(add(&record, 0, 100, "p1"), 0);
	record_add(recorder, RECORD_START + 100, 100, COUNT);
	recorder_close(recorder);
	assert_int_equal(total(&record), 200 * A_SECOND);
	/* Before the file goes, the copy gets what came later. */
	assert_int_equal(pin_dir_keep(record.dir, hours[0], ENOUGH), 0);
	remove_hour(&record, 0);
	assert_int_equal(record_total(&record, RECORD_START, RECORD_START + 100), 100 * A_SECOND);
	record_remove(&record);
}

static void the_worst_events_of_a_day_are_pinned(void **state)
{
	(void)state;
	struct record record;

	make_hours(&record);
	for (uint64_t i = 0; i < 4; i++) {
		put_event(&record, 0, 1 + i, 60 + 120 * i, 10 - (double)i);
		put_event(&record, 1, 5 + i, HOUR_S + 60 + 120 * i, 9.5 - (double)i);
	}
	assert_int_equal(pin_dir_keep(record.dir, hours[0], ENOUGH), 0);
	remove_hour(&record, 0);
	/* The scores are 10 to 7 and 9.5 to 6.5. */
	assert_pins(&record, "e1 e2 e3");
	assert_int_equal(pin_dir_keep(record.dir, hours[1], ENOUGH), 0);
	remove_hour(&record, 1);
	assert_pins(&record, "e1 e2 e3 e5 e6");
	assert_int_equal(record_total(&record, RECORD_START + 30, RECORD_START + 92),
			 62 * A_SECOND);
	record_remove(&record);
}

static void automatic_pins_give_way_to_those_of_users(void **state)
{
	(void)state;
	struct record record;

	make_hours(&record);
	put_event(&record, 0, 1, 60, 10);
	assert_int_equal(pin_dir_keep(record.dir, hours[0], ENOUGH), 0);
	assert_pins(&record, "e1");
	remove_hour(&record, 0);
	assert_int_equal(add(&record, HOUR_S, HOUR_S + 600, "p1"), 0);
	uint64_t both = pin_dir_bytes(record.dir);
	assert_int_equal(remove_pin(&record, "p1"), 0);
	prepare(&record, (both - 1) * 4);
	assert_int_equal(add(&record, HOUR_S, HOUR_S + 600, "p1"), 0);
	assert_pins(&record, "p1");
	record_remove(&record);
}

static void automatic_pins_never_push_out_those_of_users(void **state)
{
	(void)state;
	struct record record;

	make_hours(&record);
	assert_int_equal(add(&record, 0, 600, "p1"), 0);
	uint64_t one = pin_dir_bytes(record.dir);
	put_event(&record, 1, 1, HOUR_S + 60, 10);
	put_event(&record, 1, 2, HOUR_S + 200, 10);
	assert_int_equal(pin_dir_keep(record.dir, hours[1], one * 4), 2);
	assert_pins(&record, "p1");
	assert_int_equal(pin_dir_bytes(record.dir), one);
	record_remove(&record);
}

static void the_agent_does_not_wait_for_users(void **state)
{
	(void)state;
	struct record record;
	char path[PATH_BYTES];

	make_hours(&record);
	prepare(&record, ENOUGH);
	snprintf(path, sizeof(path), "%s/pin/lock", record.dir);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(pin_dir_keep(record.dir, hours[0], ENOUGH), -EBUSY);
	const struct pin pin = { .id = "e1", .first_s = RECORD_START, .end_s = RECORD_START + 9 };
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	assert_int_equal(pin_dir_add_event(record.dir, &pin, &message), -EBUSY);
	close(fd);
	assert_int_equal(pin_dir_keep(record.dir, hours[0], ENOUGH), 0);
	record_remove(&record);
}

static void what_a_killed_process_left_is_replaced(void **state)
{
	(void)state;
	struct record record;
	char path[PATH_BYTES];

	make_hours(&record);
	prepare(&record, ENOUGH);
	snprintf(path, sizeof(path), "%s/pin/new", record.dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "half", 4), 4);
	close(fd);
	assert_int_equal(add(&record, 0, 60, "p1"), 0);
	assert_int_equal(access(path, F_OK), -1);
	record_remove(&record);
}

static void a_damaged_file_is_left_to_go(void **state)
{
	(void)state;
	struct record record;
	char path[PATH_BYTES];

	make_hours(&record);
	snprintf(path, sizeof(path), "%s/%s", record.dir, hours[0]);
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "no database at all, just bytes", 30), 30);
	close(fd);
	assert_int_equal(pin_dir_keep(record.dir, hours[0], ENOUGH), 0);
	record_remove(&record);
}

static void only_we_can_read_pins(void **state)
{
	(void)state;
	struct record record;
	struct stat status;
	char path[PATH_BYTES];

	make_hours(&record);
	assert_int_equal(add(&record, 0, 60, "p1"), 0);
	snprintf(path, sizeof(path), "%s/pin", record.dir);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0700);
	snprintf(path, sizeof(path), "%s/pin/%s", record.dir, hours[0]);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	record_remove(&record);
}

/* As the agent pins what its triggers found. */
static void the_pin_of_an_event_has_its_name(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	struct record record;
	const struct pin pin = { .id = "e7",
				 .first_s = RECORD_START + 590,
				 .end_s = RECORD_START + HOUR_S + 10,
				 .is_automatic = true };

	make_hours(&record);
	assert_int_equal(pin_dir_add_event(record.dir, &pin, &message), 0);
	assert_pins(&record, "e7");
	remove_hour(&record, 0);
	remove_hour(&record, 1);
	assert_int_equal(record_total(&record, RECORD_START + 590, RECORD_START + 600),
			 10 * A_SECOND);
	assert_int_equal(record_total(&record, RECORD_START + HOUR_S, RECORD_START + HOUR_S + 10),
			 10 * A_SECOND);
	record_remove(&record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pinned_range_outlives_its_file),
		cmocka_unit_test(ranges_of_an_older_version_can_be_pinned),
		cmocka_unit_test(the_pin_of_an_event_has_its_name),
		cmocka_unit_test(ranges_that_overlap_are_counted_once),
		cmocka_unit_test(a_range_may_be_in_two_files),
		cmocka_unit_test(a_removed_pin_leaves_the_others),
		cmocka_unit_test(a_range_without_samples_cannot_be_pinned),
		cmocka_unit_test(pins_take_a_quarter_of_the_limit_at_most),
		cmocka_unit_test(a_file_that_is_written_can_be_pinned),
		cmocka_unit_test(the_worst_events_of_a_day_are_pinned),
		cmocka_unit_test(automatic_pins_give_way_to_those_of_users),
		cmocka_unit_test(automatic_pins_never_push_out_those_of_users),
		cmocka_unit_test(the_agent_does_not_wait_for_users),
		cmocka_unit_test(what_a_killed_process_left_is_replaced),
		cmocka_unit_test(a_damaged_file_is_left_to_go),
		cmocka_unit_test(only_we_can_read_pins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
