/* SPDX-License-Identifier: Apache-2.0 */
/* Kills writers at random moments; each time a new one goes on in the same directory. */
#include "record_fixture.h"
#include "store/store_dir.h"
#include "unit.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#define NR_RECORDS 20
#define NR_KILLS 10 /* of each */
#define MAX_LIFE_S 150 /* of the record's time */
#define MAX_REST_US 3000
#define POLL_NS 100000
#define COUNT 9
#define A_SECOND (COUNT + 1)
#define PAUSE_S 100 /* of the record's time, between two writers */
#define LOST_S 10

/* What a writer has done up to now: it outlives it. */
struct log {
	uint64_t next_s; /* behind the last second that the recorder has */
};

static void write_until_killed(const struct record *record, uint64_t first_s, struct log *log)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);
	const struct recorder_opts opts = record_opts(record);
	struct recorder *recorder;

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* if an assertion ends this program */
	if (recorder_new(&opts, &message, &recorder) < 0)
		_exit(1);
	for (uint64_t second = first_s;; second++) {
		struct profile *profile = record_second(second, COUNT);

		recorder_add(recorder, profile);
		recorder_tick(recorder, second + 1);
		profile_unref(profile);
		__atomic_store_n(&log->next_s, second + 1, __ATOMIC_RELEASE);
	}
}

/* One life, of random length. Returns the second behind the last one that the recorder had. */
static uint64_t live_and_die(const struct record *record, uint64_t first_s, struct log *log)
{
	const struct timespec rest = { .tv_nsec = 1000L * (rand() % MAX_REST_US) };
	uint64_t enough_s = first_s + (uint64_t)rand() % MAX_LIFE_S;
	int status;

	__atomic_store_n(&log->next_s, first_s, __ATOMIC_RELEASE);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		write_until_killed(record, first_s, log);
	while (__atomic_load_n(&log->next_s, __ATOMIC_ACQUIRE) < enough_s)
		nanosleep(&(const struct timespec){ .tv_nsec = POLL_NS }, NULL);
	nanosleep(&rest, NULL);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	return __atomic_load_n(&log->next_s, __ATOMIC_ACQUIRE);
}

static void assert_whole(const char *path)
{
	sqlite3_stmt *check;
	sqlite3 *db;

	assert_int_equal(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &check, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_step(check), SQLITE_ROW);
	assert_string_equal((const char *)sqlite3_column_text(check, 0), "ok");
	sqlite3_finalize(check);
	sqlite3_close(db);
}

static void assert_all_whole(const struct record *record)
{
	struct store_dir_list list;
	char path[RECORD_PATH_BYTES * 2];

	assert_int_equal(store_dir_list(record->dir, &list), 0);
	for (size_t i = 0; i < list.nr; i++) {
		snprintf(path, sizeof(path), "%s/%s", record->dir, list.items[i].name);
		assert_whole(path);
	}
	store_dir_list_done(&list);
}

/* What a life left must be its first seconds, all whole, and all but the last ten. A second may be
 * there that the writer did not get to tell. Returns how many they are. */
static uint64_t count_seconds(const struct record *record, uint64_t first_s, uint64_t next_s)
{
	uint64_t total = record_total(record, first_s, first_s + UINT32_MAX);
	uint64_t nr = total / A_SECOND;

	assert_int_equal(total % A_SECOND, 0);
	assert_true(nr <= next_s - first_s + 1 && nr + LOST_S >= next_s - first_s);
	assert_int_equal(record_total(record, first_s, first_s + nr), total);
	if (nr > 0)
		assert_int_equal(record_total(record, first_s + nr - 1, first_s + nr), A_SECOND);
	return nr;
}

static void kill_writers_of(const struct record *record, struct log *log)
{
	uint64_t first_s = RECORD_START, nr_seconds = 0;

	for (unsigned int i = 0; i < NR_KILLS; i++) {
		uint64_t next_s = live_and_die(record, first_s, log);

		nr_seconds += count_seconds(record, first_s, next_s);
		first_s = next_s + PAUSE_S;
	}
	assert_true(nr_seconds > NR_KILLS); /* they got to write */
	assert_int_equal(record_total(record, 0, UINT64_MAX), nr_seconds * A_SECOND);
	assert_all_whole(record);
}

static void two_hundred_kills_lose_ten_seconds_each_at_most(void **state)
{
	(void)state;
	struct log *log = mmap(NULL, sizeof(*log), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(log != MAP_FAILED);
	srand((unsigned int)time(NULL));
	for (unsigned int i = 0; i < NR_RECORDS; i++) {
		struct record record;

		record_make(&record);
		kill_writers_of(&record, log);
		record_remove(&record);
	}
	munmap(log, sizeof(*log));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_hundred_kills_lose_ten_seconds_each_at_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
