/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/log.h"
#include "record_fixture.h"
#include "stacks.h"
#include "store/store_dir.h"
#include "store/store_file.h"
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define MESSAGE_BYTES 4096
#define COUNT 9 /* and one sample of a stack of its own: ten a second */
#define A_SECOND (COUNT + 1)
#define NR_WIDE 20000
#define STACK_BYTES 32

static struct recorder *open_recorder(const struct recorder_opts *opts)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	struct recorder *recorder = NULL;

	if (recorder_new(opts, &message, &recorder) < 0)
		fail_msg("%s", strbuf_str(&message));
	return recorder;
}

static size_t count_files(const struct record *record)
{
	struct store_dir_list list;

	assert_int_equal(store_dir_list(record->dir, &list), 0);
	size_t nr = list.nr;
	store_dir_list_done(&list);
	return nr;
}

/* The path of the only file. */
static void find_file(const struct record *record, char path[static RECORD_PATH_BYTES * 2])
{
	struct store_dir_list list;

	assert_int_equal(store_dir_list(record->dir, &list), 0);
	assert_int_equal(list.nr, 1);
	snprintf(path, RECORD_PATH_BYTES * 2, "%s/%s", record->dir, list.items[0].name);
	store_dir_list_done(&list);
}

static void every_second_and_all_together_have_the_same_sum(void **state)
{
	(void)state;
	struct record record;

	record_make(&record);
	const struct recorder_opts opts = record_opts(&record);
	struct recorder *recorder = open_recorder(&opts);
	record_add(recorder, RECORD_START + 30, 200, COUNT);
	recorder_finish(recorder);
	assert_int_equal(recorder_get_stats(recorder).nr_samples_written, 200 * A_SECOND);
	recorder_close(recorder);
	for (uint64_t i = 0; i < 200; i++)
		assert_int_equal(
			record_total(&record, RECORD_START + 30 + i, RECORD_START + 31 + i),
			A_SECOND);
	assert_int_equal(record_total(&record, 0, UINT64_MAX), 200 * A_SECOND);
	assert_int_equal(record_total(&record, RECORD_START + 50, RECORD_START + 150),
			 100 * A_SECOND);
	assert_int_equal(record_total(&record, 0, RECORD_START + 30), 0);
	record_remove(&record);
}

static void an_hour_is_one_file_that_only_we_can_read(void **state)
{
	(void)state;
	struct record record;
	char path[RECORD_PATH_BYTES * 2], log[sizeof(path) + 4];
	struct stat status;

	record_make(&record);
	const struct recorder_opts opts = record_opts(&record);
	struct recorder *recorder = open_recorder(&opts);
	record_add(recorder, RECORD_START, 100, COUNT);
	recorder_close(recorder);
	find_file(&record, path);
	assert_non_null(strstr(path, "20261124T140000Z.db"));
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	snprintf(log, sizeof(log), "%s-wal", path);
	assert_int_equal(stat(log, &status), -1);
	record_remove(&record);
}

static void a_new_hour_begins_a_new_file(void **state)
{
	(void)state;
	struct record record;

	record_make(&record);
	const struct recorder_opts opts = record_opts(&record);
	struct recorder *recorder = open_recorder(&opts);
	record_add(recorder, RECORD_START - 90, 180, COUNT);
	recorder_close(recorder);
	assert_int_equal(count_files(&record), 2);
	assert_int_equal(record_total(&record, 0, UINT64_MAX), 180 * A_SECOND);
	record_remove(&record);
}

static void what_is_being_written_can_be_read(void **state)
{
	(void)state;
	struct record record;

	record_make(&record);
	const struct recorder_opts opts = record_opts(&record);
	struct recorder *recorder = open_recorder(&opts);
	for (unsigned int i = 0; i < 130; i++) {
		record_add(recorder, RECORD_START + i, 1, COUNT);
		if (i < 11)
			continue;
		uint64_t total = record_total(&record, 0, UINT64_MAX);
		assert_true(total <= (i + 1) * A_SECOND);
		assert_true(total + 10 * A_SECOND >= (i + 1) * A_SECOND);
	}
	recorder_close(recorder);
	record_remove(&record);
}

static uint64_t timeline_total(const struct record *record)
{
	struct store_timeline timeline;
	uint64_t total = 0;

	record_timeline(record, TIMELINE_SAMPLES, NULL, &timeline);
	for (size_t i = 0; i < timeline.nr_lines; i++)
		total += timeline.lines[i].total;
	store_timeline_done(&timeline);
	return total;
}

/* Records until it is killed, and tells each second by a byte. */
static pid_t start_victim(const struct record *record, int *ret_fd)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		const struct recorder_opts opts = record_opts(record);
		struct recorder *recorder = open_recorder(&opts);

		for (unsigned int i = 0;; i++) {
			record_add(recorder, RECORD_START + i, 1, COUNT);
			if (write(fds[1], "", 1) != 1)
				_exit(1);
		}
	}
	close(fds[1]);
	*ret_fd = fds[0];
	return pid;
}

/* Returns the number of seconds that the victim had recorded when it was killed. */
static unsigned int kill_after(const struct record *record, unsigned int nr_seconds, long wait_ns)
{
	const struct timespec pause = { .tv_nsec = wait_ns };
	unsigned int nr = 0;
	int fd;
	char byte;
	pid_t pid = start_victim(record, &fd);

	while (nr < nr_seconds && read(fd, &byte, 1) == 1)
		nr++;
	nanosleep(&pause, NULL);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	while (read(fd, &byte, 1) == 1)
		nr++;
	close(fd);
	return nr;
}

static void a_killed_agent_loses_ten_seconds_at_most(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 20; i++) {
		struct record record;
		struct recorder *recorder;

		record_make(&record);
		unsigned int nr = kill_after(&record, 5 + 7 * i, (long)i * 300000);
		uint64_t total = record_total(&record, 0, UINT64_MAX);
		/* The second that it was killed in may be in the file, although it was not told. */
		assert_true(total % A_SECOND == 0 && total <= (nr + 1) * A_SECOND);
		assert_true(total + 10 * A_SECOND >= nr * A_SECOND);
		if (total > 0)
			assert_int_equal(timeline_total(&record), total);

		/* The next agent completes the file, and begins another one. */
		const struct recorder_opts opts = record_opts(&record);
		recorder = open_recorder(&opts);
		assert_int_equal(record_total(&record, 0, UINT64_MAX), total);
		record_add(recorder, RECORD_START + 1000, 10, COUNT);
		recorder_close(recorder);
		assert_int_equal(record_total(&record, 0, UINT64_MAX), total + 10 * A_SECOND);
		record_remove(&record);
	}
}

/* What was passed on. */
struct passed {
	uint64_t next_s, nr_seconds, total, user;
};

static void on_second(const struct store_second *second, void *data)
{
	struct passed *passed = data;

	assert_true(second->second >= passed->next_s);
	passed->next_s = second->second + 1;
	passed->nr_seconds++;
	passed->user += second->vitals.values[VITAL_USER];
	for (size_t i = 0; i < second->nr_series; i++) {
		uint64_t sum = 0;

		for (size_t k = 0; k < second->series[i].nr_groups; k++)
			sum += second->series[i].groups[k].value;
		assert_int_equal(sum, second->series[i].total);
		passed->total += sum;
	}
}

static void each_second_is_passed_on_once_in_its_order(void **state)
{
	(void)state;
	struct passed passed = { 0 };
	struct vitals vitals = { 0 };
	struct record record;

	record_make(&record);
	struct recorder_opts opts = record_opts(&record);
	opts.on_second = on_second;
	opts.on_second_data = &passed;
	struct recorder *recorder = open_recorder(&opts);
	vitals_set(&vitals, VITAL_USER, 3);
	for (uint64_t i = 0; i < 150; i++) {
		/* The kernel's numbers are there five seconds before the samples. */
		recorder_add_vitals(recorder, RECORD_START + 3500 + i, &vitals);
		if (i >= 5)
			record_add(recorder, RECORD_START + 3495 + i, 1, COUNT);
	}
	recorder_finish(recorder);
	assert_int_equal(passed.nr_seconds, 145);
	assert_int_equal(passed.total, 145 * A_SECOND);
	assert_int_equal(passed.user, 145 * 3);
	recorder_close(recorder);
	assert_int_equal(timeline_total(&record), 145 * A_SECOND);
	record_remove(&record);
}

static void a_second_writer_is_refused(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	struct recorder *other = NULL;
	struct record record;

	record_make(&record);
	const struct recorder_opts opts = record_opts(&record);
	struct recorder *recorder = open_recorder(&opts);
	assert_int_equal(recorder_new(&opts, &message, &other), -EBUSY);
	assert_non_null(strstr(strbuf_str(&message), "another flamelet writes the record in"));
	recorder_close(recorder);
	recorder = open_recorder(&opts);
	recorder_close(recorder);
	record_remove(&record);
}

static void a_directory_of_others_is_refused(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	struct recorder *recorder = NULL;
	struct record record;

	record_make(&record);
	const struct recorder_opts opts = record_opts(&record);
	assert_int_equal(chmod(record.dir, 0777), 0);
	assert_int_equal(recorder_new(&opts, &message, &recorder), -EPERM);
	assert_non_null(strstr(strbuf_str(&message), record.dir));
	record_remove(&record);
}

static void rare_stacks_are_folded_when_too_much_is_written(void **state)
{
	(void)state;
	struct record record;

	record_make(&record);
	struct recorder_opts opts = record_opts(&record);
	opts.per_day = 24 * 1024; /* a kilobyte an hour */
	struct recorder *recorder = open_recorder(&opts);
	record_add(recorder, RECORD_START, 600, COUNT);
	recorder_finish(recorder);
	struct recorder_stats stats = recorder_get_stats(recorder);
	assert_true(stats.min_count > 1);
	assert_true(stats.nr_samples_folded > 0 && stats.nr_samples_folded <= 600);
	assert_int_equal(stats.nr_samples_written, 600 * A_SECOND);
	recorder_close(recorder);
	assert_int_equal(record_total(&record, 0, UINT64_MAX), 600 * A_SECOND);
	for (uint64_t i = 0; i < 600; i += 37)
		assert_int_equal(record_total(&record, RECORD_START + i, RECORD_START + i + 1),
				 A_SECOND);
	record_remove(&record);
}

/* Limits the size of files of this process, as a full disk does. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_disk_that_refuses_for_minutes_loses_nothing(void **state)
{
	(void)state;
	struct record record;

	record_make(&record);
	const struct recorder_opts opts = record_opts(&record);
	struct recorder *recorder = open_recorder(&opts);
	log_set_level(LOG_LEVEL_ERROR);
	record_add(recorder, RECORD_START, 75, COUNT);
	limit_files(1024);
	record_add(recorder, RECORD_START + 75, 180, COUNT);
	assert_true(recorder_get_stats(recorder).nr_write_failures > 0);
	limit_files(RLIM_INFINITY);
	record_add(recorder, RECORD_START + 255, 100, COUNT);
	recorder_finish(recorder);
	struct recorder_stats stats = recorder_get_stats(recorder);
	assert_int_equal(stats.nr_samples_dropped, 0);
	assert_int_equal(stats.nr_samples_written, 355 * A_SECOND);
	recorder_close(recorder);
	assert_int_equal(record_total(&record, 0, UINT64_MAX), 355 * A_SECOND);
	for (uint64_t i = 0; i < 355; i += 13)
		assert_int_equal(record_total(&record, RECORD_START + i, RECORD_START + i + 1),
				 A_SECOND);
	record_remove(&record);
}

static void a_disk_that_never_works_drops_and_counts(void **state)
{
	(void)state;
	struct record record;

	record_make(&record);
	const struct recorder_opts opts = record_opts(&record);
	struct recorder *recorder = open_recorder(&opts);
	log_set_level(LOG_LEVEL_ERROR);
	limit_files(0);
	record_add(recorder, RECORD_START, 100, COUNT);
	recorder_finish(recorder);
	limit_files(RLIM_INFINITY);
	struct recorder_stats stats = recorder_get_stats(recorder);
	assert_int_equal(stats.nr_samples_written, 0);
	assert_int_equal(stats.nr_samples_dropped, 100 * A_SECOND);
	recorder_close(recorder);
	record_remove(&record);
}

/* Makes a profile with many stacks: fewer than a minute of such profiles may wait in memory. */
static struct profile *make_wide_profile(void)
{
	static char stacks[NR_WIDE][STACK_BYTES];
	static struct stack_line lines[NR_WIDE];

	for (unsigned int i = 0; i < NR_WIDE; i++) {
		snprintf(stacks[i], STACK_BYTES, "main;function_%u", i);
		lines[i] = (struct stack_line){ "web", stacks[i], 1 };
	}
	return profile_of_stacks(lines, NR_WIDE);
}

static void add_wide(struct recorder *recorder, uint64_t first_s, unsigned int nr)
{
	struct profile *profile = make_wide_profile();

	for (unsigned int i = 0; i < nr; i++) {
		profile->time_unix_ns = (first_s + i) * NSEC_PER_SEC; /* it is not shared */
		recorder_add(recorder, profile);
		recorder_tick(recorder, first_s + i + 1);
	}
	profile_unref(profile);
}

static uint64_t count_lost(const struct record *record)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	const char *const dir = record->dir;

	assert_int_equal(store_reader_open(&dir, 1, &warnings, &reader), 0);
	assert_int_equal(reader.nr_spans, 1);
	return reader.spans[0].nr_lost;
}

static void a_disk_that_refuses_for_too_long_leaves_a_gap_that_says_so(void **state)
{
	(void)state;
	const uint64_t added = UINT64_C(55) * NR_WIDE, later = RECORD_START + 60;
	struct record record;

	record_make(&record);
	const struct recorder_opts opts = record_opts(&record);
	struct recorder *recorder = open_recorder(&opts);
	log_set_level(LOG_LEVEL_ERROR);
	limit_files(1024);
	add_wide(recorder, RECORD_START, 55);
	uint64_t lost = recorder_get_stats(recorder).nr_samples_dropped;
	assert_in_range(lost, 1, added / 2);
	limit_files(RLIM_INFINITY);
	record_add(recorder, later, 100, COUNT);
	recorder_close(recorder);
	assert_int_equal(count_lost(&record), lost);
	assert_int_equal(record_total(&record, RECORD_START, later), added - lost);
	assert_int_equal(record_total(&record, later, UINT64_MAX), 100 * A_SECOND);
	record_remove(&record);
}

static void a_clock_that_goes_back_loses_nothing(void **state)
{
	(void)state;
	struct record record;

	record_make(&record);
	const struct recorder_opts opts = record_opts(&record);
	struct recorder *recorder = open_recorder(&opts);
	record_add(recorder, RECORD_START + 7000, 30, COUNT);
	record_add(recorder, RECORD_START + 100, 30, COUNT);
	record_add(recorder, RECORD_START + 110, 30, COUNT);
	recorder_close(recorder);
	assert_int_equal(record_total(&record, 0, UINT64_MAX), 90 * A_SECOND);
	assert_int_equal(record_total(&record, RECORD_START + 115, RECORD_START + 116),
			 2 * A_SECOND);
	record_remove(&record);
}

static void damaged_and_foreign_files_are_left_out_with_a_warning(void **state)
{
	(void)state;
	static const struct {
		const char *sql, *warning;
	} cases[] = {
		{ "PRAGMA user_version = 99", "another version of Flamelet wrote it" },
		{ "PRAGMA application_id = 1", "it is damaged, or no file of a record" },
		{ "DROP TABLE block", "it is damaged, or no file of a record" },
		{ "DROP TABLE meta", "it is damaged, or no file of a record" },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);
		struct store_reader reader;
		char path[RECORD_PATH_BYTES * 2];
		struct record record;
		sqlite3 *db;

		record_make(&record);
		const char *const dir = record.dir;
		const struct recorder_opts opts = record_opts(&record);
		struct recorder *recorder = open_recorder(&opts);
		record_add(recorder, RECORD_START, 30, COUNT);
		recorder_close(recorder);
		find_file(&record, path);
		assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, cases[i].sql, NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(db);
		assert_int_equal(store_reader_open(&dir, 1, &warnings, &reader), -ENOENT);
		if (!strstr(strbuf_str(&warnings), cases[i].warning))
			fail_msg("%s: %s", cases[i].sql, strbuf_str(&warnings));
		record_remove(&record);
	}
}

/* Each byte of a small file in turn: what is read may lack samples, but has none too many. */
static void damaged_bytes_do_no_harm(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max((size_t)1 << 20);
	struct record record;
	char path[RECORD_PATH_BYTES * 2];
	struct stat status;

	record_make(&record);
	const char *const dir = record.dir;
	const struct recorder_opts opts = record_opts(&record);
	struct recorder *recorder = open_recorder(&opts);
	record_add(recorder, RECORD_START, 30, COUNT);
	recorder_close(recorder);
	find_file(&record, path);
	assert_int_equal(stat(path, &status), 0);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	for (off_t at = 0; at < status.st_size; at += 97) {
		const struct selector all = { 0 };
		const struct store_query query = { .range = { 0, UINT64_MAX },
						   .selector = &all,
						   .max_bytes = (size_t)1 << 24 };
		struct store_reader reader = { 0 };
		struct store_answer answer = { 0 };
		unsigned char byte, changed;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		changed = (unsigned char)~byte;
		assert_int_equal(pwrite(fd, &changed, 1, at), 1);
		strbuf_clear(&warnings);
		if (store_reader_open(&dir, 1, &warnings, &reader) == 0 &&
		    store_reader_merge(&reader, &query, &warnings, &answer) == 0) {
			assert_true(profile_total(answer.profile) <= 30 * A_SECOND);
			profile_unref(answer.profile);
		}
		store_reader_done(&reader);
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
	close(fd);
	assert_int_equal(record_total(&record, 0, UINT64_MAX), 30 * A_SECOND);
	record_remove(&record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_second_and_all_together_have_the_same_sum),
		cmocka_unit_test(an_hour_is_one_file_that_only_we_can_read),
		cmocka_unit_test(a_new_hour_begins_a_new_file),
		cmocka_unit_test(what_is_being_written_can_be_read),
		cmocka_unit_test(a_killed_agent_loses_ten_seconds_at_most),
		cmocka_unit_test(each_second_is_passed_on_once_in_its_order),
		cmocka_unit_test(a_second_writer_is_refused),
		cmocka_unit_test(a_directory_of_others_is_refused),
		cmocka_unit_test(rare_stacks_are_folded_when_too_much_is_written),
		cmocka_unit_test(a_disk_that_refuses_for_minutes_loses_nothing),
		cmocka_unit_test(a_disk_that_never_works_drops_and_counts),
		cmocka_unit_test(a_disk_that_refuses_for_too_long_leaves_a_gap_that_says_so),
		cmocka_unit_test(a_clock_that_goes_back_loses_nothing),
		cmocka_unit_test(damaged_and_foreign_files_are_left_out_with_a_warning),
		cmocka_unit_test(damaged_bytes_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
