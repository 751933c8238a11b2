/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a file that is being written: with its log, and without. */
#include "base/fileio.h"
#include "record_fixture.h"
#include "store/store_dir.h"
#include "store/store_reader.h"
#include "unit.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COUNT 4
#define NR_SECONDS 100
#define MESSAGE_BYTES 4096
#define PATH_BYTES 512
#define FILE_MAX_BYTES ((size_t)64 << 20)

static const char *const suffixes[] = { "", "-wal", "-shm" };

/* A record that is written, and a directory with a copy of its file. */
struct scene {
	struct record record;
	struct recorder *recorder;
	char name[STORE_NAME_BYTES]; /* of the file */
	struct record copy; /* only its directory */
	struct store_reader reader; /* of the copy */
	struct strbuf warnings;
};

static void path_of(const struct record *record, const struct scene *scene, const char *suffix,
		    char path[static PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s/%s%s", record->dir, scene->name, suffix);
}

/* Moves the log into the file, as SQLite does from time to time. */
static void merge_log(const struct scene *scene)
{
	char path[PATH_BYTES];
	sqlite3 *db;

	path_of(&scene->record, scene, "", path);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA wal_checkpoint(PASSIVE)", NULL, NULL, NULL),
			 SQLITE_OK);
	sqlite3_close(db);
}

static void scene_make(struct scene *scene, bool is_merged)
{
	_cleanup_(store_dir_list_done) struct store_dir_list list = { 0 };
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);

	*scene = (struct scene){ .warnings = strbuf_with_max(MESSAGE_BYTES) };
	record_make(&scene->record);
	record_make(&scene->copy);
	const struct recorder_opts opts = record_opts(&scene->record);
	assert_int_equal(recorder_new(&opts, &message, &scene->recorder), 0);
	record_add(scene->recorder, RECORD_START, NR_SECONDS, COUNT);
	assert_int_equal(store_dir_list(scene->record.dir, &list), 0);
	assert_int_equal(list.nr, 1);
	snprintf(scene->name, sizeof(scene->name), "%s", list.items[0].name);
	if (is_merged)
		merge_log(scene);
}

static void scene_remove(struct scene *scene)
{
	store_reader_done(&scene->reader);
	strbuf_done(&scene->warnings);
	recorder_close(scene->recorder);
	record_remove(&scene->record);
	record_remove(&scene->copy);
}

static void copy(const struct scene *scene, const char *suffix)
{
	_cleanup_(strbuf_done) struct strbuf bytes = strbuf_with_max(FILE_MAX_BYTES);
	char from[PATH_BYTES], to[PATH_BYTES];

	path_of(&scene->record, scene, suffix, from);
	path_of(&scene->copy, scene, suffix, to);
	assert_int_equal(file_read_at(AT_FDCWD, from, &bytes), 0);
	int fd = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, bytes.data, bytes.len), 0);
	close(fd);
}

/* Opens the copy. Returns the error. */
static int open_copy(struct scene *scene)
{
	const char *const dir = scene->copy.dir;

	return store_reader_open(&dir, 1, &scene->warnings, &scene->reader);
}

static bool is_there(const struct scene *scene, const char *suffix)
{
	char path[PATH_BYTES];

	path_of(&scene->copy, scene, suffix, path);
	return access(path, F_OK) == 0;
}

static uint64_t nr_samples(const struct scene *scene)
{
	assert_int_equal(scene->reader.nr_spans, 1);
	return scene->reader.spans[0].nr_samples[PROFILE_CPU];
}

static void a_copy_with_its_log_is_whole_and_stays_as_it_is(void **state)
{
	struct scene scene;
	(void)state;

	scene_make(&scene, false);
	copy(&scene, "");
	copy(&scene, "-wal");
	assert_int_equal(open_copy(&scene), 0);
	assert_string_equal(strbuf_str(&scene.warnings), "");
	assert_true(nr_samples(&scene) > 0);
	assert_false(is_there(&scene, "-shm"));
	assert_true(is_there(&scene, "-wal"));
	scene_remove(&scene);
}

static void a_copy_without_its_log_has_what_was_merged_and_says_so(void **state)
{
	char expected[PATH_BYTES];
	struct scene scene;
	(void)state;

	scene_make(&scene, true);
	copy(&scene, "");
	assert_int_equal(open_copy(&scene), 0);
	path_of(&scene.copy, &scene, "-wal\n", expected);
	assert_non_null(strstr(strbuf_str(&scene.warnings), "lacks what was written last"));
	assert_non_null(strstr(strbuf_str(&scene.warnings), expected));
	assert_true(nr_samples(&scene) > 0);
	assert_true(scene.reader.spans[0].lacks_log);
	for (size_t i = 1; i < array_len(suffixes); i++)
		assert_false(is_there(&scene, suffixes[i]));
	scene_remove(&scene);
}

static void a_copy_all_of_which_is_in_the_log_is_refused(void **state)
{
	struct scene scene;
	(void)state;

	scene_make(&scene, false);
	copy(&scene, "");
	assert_int_equal(open_copy(&scene), -ENOENT);
	assert_non_null(strstr(strbuf_str(&scene.warnings), "its log is missing"));
	for (size_t i = 1; i < array_len(suffixes); i++)
		assert_false(is_there(&scene, suffixes[i]));
	scene_remove(&scene);
}

/* As older programs left it beside copies. */
/* As when a writer is killed while it makes a file. */
static void a_file_without_its_log_beside_a_lock_is_empty(void **state)
{
	struct scene scene;
	char path[PATH_BYTES];

	(void)state;
	scene_make(&scene, false);
	copy(&scene, "");
	snprintf(path, sizeof(path), "%s/" STORE_DIR_LOCK, scene.copy.dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(open_copy(&scene), -ENOENT);
	assert_null(strstr(strbuf_str(&scene.warnings), "log is missing"));
	scene_remove(&scene);
}

static void an_empty_log_is_none(void **state)
{
	struct scene scene;
	char path[PATH_BYTES];
	(void)state;

	scene_make(&scene, true);
	copy(&scene, "");
	path_of(&scene.copy, &scene, "-wal", path);
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	assert_int_equal(open_copy(&scene), 0);
	assert_true(scene.reader.spans[0].lacks_log);
	assert_false(is_there(&scene, "-shm"));
	scene_remove(&scene);
}

static void a_file_that_is_closed_needs_no_log(void **state)
{
	struct scene scene;
	(void)state;

	scene_make(&scene, false);
	recorder_close(scene.recorder);
	scene.recorder = NULL;
	copy(&scene, "");
	assert_int_equal(open_copy(&scene), 0);
	assert_string_equal(strbuf_str(&scene.warnings), "");
	assert_int_equal(nr_samples(&scene), NR_SECONDS * (COUNT + 1));
	assert_false(scene.reader.spans[0].lacks_log);
	for (size_t i = 1; i < array_len(suffixes); i++)
		assert_false(is_there(&scene, suffixes[i]));
	scene_remove(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_with_its_log_is_whole_and_stays_as_it_is),
		cmocka_unit_test(a_copy_without_its_log_has_what_was_merged_and_says_so),
		cmocka_unit_test(a_copy_all_of_which_is_in_the_log_is_refused),
		cmocka_unit_test(a_file_without_its_log_beside_a_lock_is_empty),
		cmocka_unit_test(an_empty_log_is_none),
		cmocka_unit_test(a_file_that_is_closed_needs_no_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
