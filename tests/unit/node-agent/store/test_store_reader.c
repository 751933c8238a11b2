/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_reader.h"

#include "record_fixture.h"
#include "store/store_dir.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COUNT 4
#define A_SECOND (COUNT + 1)
#define HOUR_S 3600
#define LATE_S 15 /* at most this much of a running recorder is not in its file */
#define MESSAGE_BYTES 4096
#define PATH_BYTES 256

/* A record that is written and read at the same time. */
struct scene {
	struct record record;
	struct recorder *recorder;
	struct store_reader reader;
};

static void scene_make(struct scene *scene)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	const char *const dir = scene->record.dir;

	record_make(&scene->record);
	const struct recorder_opts opts = record_opts(&scene->record);
	assert_int_equal(recorder_new(&opts, &message, &scene->recorder), 0);
	record_add(scene->recorder, RECORD_START, 100, COUNT);
	assert_int_equal(store_reader_open(&dir, 1, &message, &scene->reader), 0);
}

static void scene_remove(struct scene *scene)
{
	store_reader_done(&scene->reader);
	recorder_close(scene->recorder);
	record_remove(&scene->record);
}

/* Returns the warnings, at most one line. */
static void refresh(struct scene *scene, char warning[static MESSAGE_BYTES])
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);
	const char *const dir = scene->record.dir;

	assert_int_equal(store_reader_refresh(&scene->reader, &dir, 1, &warnings), 0);
	snprintf(warning, MESSAGE_BYTES, "%s", strbuf_str(&warnings));
}

static void new_seconds_are_seen(void **state)
{
	char warning[MESSAGE_BYTES];
	struct scene scene;
	(void)state;

	scene_make(&scene);
	uint64_t newest_s = store_reader_newest(&scene.reader);
	assert_in_range(newest_s, RECORD_START + 100 - LATE_S, RECORD_START + 99);
	refresh(&scene, warning);
	assert_int_equal(store_reader_newest(&scene.reader), newest_s);
	record_add(scene.recorder, RECORD_START + 100, 50, COUNT);
	assert_int_equal(store_reader_newest(&scene.reader), newest_s);
	refresh(&scene, warning);
	assert_string_equal(warning, "");
	assert_in_range(store_reader_newest(&scene.reader), RECORD_START + 150 - LATE_S,
			RECORD_START + 149);
	assert_int_equal(scene.reader.nr_spans, 1);
	scene_remove(&scene);
}

static void new_hours_are_seen_beside_old_ones(void **state)
{
	char warning[MESSAGE_BYTES];
	struct scene scene;
	(void)state;

	scene_make(&scene);
	record_add(scene.recorder, RECORD_START + HOUR_S, 100, COUNT);
	recorder_finish(scene.recorder);
	refresh(&scene, warning);
	assert_string_equal(warning, "");
	assert_int_equal(scene.reader.nr_spans, 2);
	assert_int_equal(scene.reader.spans[0].nr_samples[PROFILE_CPU], 100 * A_SECOND);
	assert_int_equal(scene.reader.spans[1].nr_samples[PROFILE_CPU], 100 * A_SECOND);
	refresh(&scene, warning);
	assert_int_equal(scene.reader.nr_spans, 2);
	assert_string_equal(scene.reader.spans[0].host, scene.reader.spans[1].host);
	scene_remove(&scene);
}

static void files_that_are_gone_are_left_out(void **state)
{
	char warning[MESSAGE_BYTES];
	struct store_dir_list list;
	struct scene scene;
	(void)state;

	scene_make(&scene);
	assert_int_equal(store_dir_list(scene.record.dir, &list), 0);
	assert_int_equal(store_dir_remove(scene.record.dir, list.items[0].name), 0);
	store_dir_list_done(&list);
	refresh(&scene, warning);
	assert_int_equal(scene.reader.nr_spans, 0);
	assert_int_equal(store_reader_newest(&scene.reader), 0);
	assert_non_null(strstr(warning, "has no files of a record"));
	scene_remove(&scene);
}

static void a_file_that_becomes_damaged_is_left_out(void **state)
{
	char warning[MESSAGE_BYTES], path[PATH_BYTES];
	struct scene scene;
	(void)state;

	scene_make(&scene);
	snprintf(path, sizeof(path), "%s/20200101T000000Z.db", scene.record.dir);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "no database", 11), 11);
	close(fd);
	refresh(&scene, warning);
	assert_non_null(strstr(warning, "20200101T000000Z.db is left out"));
	assert_int_equal(scene.reader.nr_spans, 1);
	scene_remove(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_seconds_are_seen),
		cmocka_unit_test(new_hours_are_seen_beside_old_ones),
		cmocka_unit_test(files_that_are_gone_are_left_out),
		cmocka_unit_test(a_file_that_becomes_damaged_is_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
