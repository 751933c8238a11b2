/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "record_fixture.h"
#include "store/store_writer.h"
#include "unit.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define MESSAGE_BYTES 4096
#define COUNT 4

static void pushed_samples_are_written_or_counted(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	struct store_writer *writer = NULL;
	struct record record;

	record_make(&record);
	const struct store_writer_opts opts = { .recorder = record_opts(&record),
						.proc_fd = -EBADF };
	assert_int_equal(store_writer_start(&opts, &message, &writer), 0);
	for (uint64_t i = 0; i < 300; i++) {
		struct profile *profile = record_second(RECORD_START + i, COUNT);

		store_writer_push(writer, profile);
		profile_unref(profile);
	}
	store_writer_finish(writer);
	struct store_writer_stats stats = store_writer_get_stats(writer);
	assert_int_equal(stats.nr_samples_pushed, 300 * (COUNT + 1));
	assert_int_equal(stats.recorder.nr_samples_written + stats.nr_samples_refused,
			 stats.nr_samples_pushed);
	assert_true(stats.recorder.nr_samples_written > 0);
	store_writer_stop(writer);
	assert_int_equal(record_total(&record, 0, UINT64_MAX), stats.recorder.nr_samples_written);
	record_remove(&record);
}

static void what_comes_after_the_end_is_counted(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	struct store_writer *writer = NULL;
	struct record record;

	record_make(&record);
	const struct store_writer_opts opts = { .recorder = record_opts(&record),
						.proc_fd = -EBADF };
	assert_int_equal(store_writer_start(&opts, &message, &writer), 0);
	store_writer_finish(writer);
	struct profile *profile = record_second(RECORD_START, COUNT);
	store_writer_push(writer, profile);
	assert_int_equal(store_writer_get_stats(writer).nr_samples_refused, COUNT + 1);
	assert_int_equal(profile->nr_refs, 1);
	profile_unref(profile);
	store_writer_stop(writer);
	record_remove(&record);
}

static void a_directory_that_is_in_use_is_refused(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	struct store_writer *writer = NULL, *other = NULL;
	struct record record;

	record_make(&record);
	const struct store_writer_opts opts = { .recorder = record_opts(&record),
						.proc_fd = -EBADF };
	assert_int_equal(store_writer_start(&opts, &message, &writer), 0);
	assert_int_equal(store_writer_start(&opts, &message, &other), -EBUSY);
	assert_non_null(strstr(strbuf_str(&message), "another flamelet"));
	store_writer_stop(writer);
	record_remove(&record);
}

/* Of this machine, whose CPUs do something in each second. */
static void vitals_are_read_while_a_record_is_written(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_close_ int proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct store_writer *writer = NULL;
	struct record record;
	uint64_t sum = 0;

	record_make(&record);
	const struct store_writer_opts opts = { .recorder = record_opts(&record),
						.proc_fd = proc_fd };
	assert_int_equal(store_writer_start(&opts, &message, &writer), 0);
	sleep(3);
	store_writer_stop(writer);
	sum = record_vital(&record, VITAL_IDLE) + record_vital(&record, VITAL_USER) +
	      record_vital(&record, VITAL_SYSTEM);
	assert_true(sum > 0);
	assert_true(record_vital(&record, VITAL_MEMORY_TOTAL) > 0);
	record_remove(&record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pushed_samples_are_written_or_counted),
		cmocka_unit_test(what_comes_after_the_end_is_counted),
		cmocka_unit_test(a_directory_that_is_in_use_is_refused),
		cmocka_unit_test(vitals_are_read_while_a_record_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
