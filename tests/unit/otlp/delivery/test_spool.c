/* SPDX-License-Identifier: Apache-2.0 */
#include "spool_fixture.h"
#include "torture.h"
#include "unit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BODY_BYTES 1000

/* As a file: such a body does not compress, and zstd adds a few bytes. */
#define FILE_BYTES_AT_LEAST (88 + BODY_BYTES)
#define FILE_BYTES_AT_MOST (FILE_BYTES_AT_LEAST + 20)

static struct spool_stats stats_of(const struct spool_fixture *fixture)
{
	return spool_get_stats(fixture->spool);
}

/* That `from` to `to` are there, in that order, and nothing else; takes them out. */
static void assert_holds(struct spool_fixture *fixture, uint32_t from, uint32_t to)
{
	for (uint32_t number = from; number <= to; number++) {
		spool_fixture_assert_first(fixture, number, BODY_BYTES);
		spool_pop(fixture->spool);
	}
	assert_null(spool_first(fixture->spool));
	assert_int_equal(stats_of(fixture).nr_requests, 0);
	assert_int_equal(stats_of(fixture).nr_samples, 0);
	assert_int_equal(stats_of(fixture).nr_memory_bytes, 0);
	assert_int_equal(stats_of(fixture).nr_disk_bytes, 0);
}

static void append_many(struct spool_fixture *fixture, uint32_t from, uint32_t to)
{
	for (uint32_t number = from; number <= to; number++)
		spool_fixture_append(fixture, number, BODY_BYTES);
}

static void requests_come_out_in_the_order_they_went_in(void **state)
{
	struct spool_fixture *fixture = *state;

	fixture->opts.dir = NULL;
	spool_fixture_open(fixture);
	append_many(fixture, 1, 10);
	assert_int_equal(stats_of(fixture).nr_requests, 10);
	assert_int_equal(stats_of(fixture).nr_samples, 55);
	assert_int_equal(stats_of(fixture).nr_disk_bytes, 0);
	assert_int_equal(spool_save(fixture->spool), 0);
	assert_holds(fixture, 1, 10);
}

static void bodies_of_any_length_come_back(void **state)
{
	static const size_t lengths[] = { 0, 1, 100, 3 << 20 };
	struct spool_fixture *fixture = *state;

	spool_fixture_open(fixture);
	for (size_t i = 0; i < 2 * array_len(lengths); i++) {
		spool_fixture_append(fixture, 1, lengths[i / 2]);
		if (i % 2)
			assert_int_equal(spool_save(fixture->spool), 0);
		spool_fixture_assert_first(fixture, 1, lengths[i / 2]);
		spool_pop(fixture->spool);
	}
}

static void what_was_saved_is_there_after_a_restart(void **state)
{
	struct spool_fixture *fixture = *state;

	spool_fixture_open(fixture);
	append_many(fixture, 1, 5);
	assert_int_equal(spool_save(fixture->spool), 0);
	append_many(fixture, 6, 10);
	assert_int_equal(spool_fixture_count(fixture, ""), 5);
	spool_fixture_open(fixture);
	assert_int_equal(stats_of(fixture).nr_requests, 5);
	assert_int_equal(stats_of(fixture).nr_samples_restored, 15);
	append_many(fixture, 6, 10);
	assert_int_equal(spool_save(fixture->spool), 0);
	spool_fixture_open(fixture);
	assert_int_equal(stats_of(fixture).nr_samples_restored, 55);
	assert_holds(fixture, 1, 10);
	assert_int_equal(spool_fixture_count(fixture, ""), 0);
}

static void files_are_the_owners_alone(void **state)
{
	struct spool_fixture *fixture = *state;
	struct stat st;
	char path[SPOOL_FIXTURE_PATH_BYTES];

	spool_fixture_open(fixture);
	append_many(fixture, 1, 1);
	assert_int_equal(spool_save(fixture->spool), 0);
	assert_int_equal(stat(fixture->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	spool_fixture_path(fixture, false, path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_size, stats_of(fixture).nr_disk_bytes);
}

static void saving_empties_the_memory(void **state)
{
	struct spool_fixture *fixture = *state;
	uint64_t nr_bytes;

	spool_fixture_open(fixture);
	append_many(fixture, 1, 10);
	nr_bytes = stats_of(fixture).nr_memory_bytes;
	assert_in_range(nr_bytes, 10 * FILE_BYTES_AT_LEAST, 10 * FILE_BYTES_AT_MOST);
	assert_int_equal(spool_save(fixture->spool), 0);
	assert_int_equal(stats_of(fixture).nr_memory_bytes, 0);
	assert_int_equal(stats_of(fixture).nr_disk_bytes, nr_bytes);
	assert_int_equal(spool_save(fixture->spool), 0);
	assert_holds(fixture, 1, 10);
}

static void too_much_in_memory_is_saved_at_once(void **state)
{
	struct spool_fixture *fixture = *state;

	fixture->opts.max_memory_bytes = 5 * FILE_BYTES_AT_MOST;
	spool_fixture_open(fixture);
	append_many(fixture, 1, 5);
	assert_int_equal(spool_fixture_count(fixture, ""), 0);
	append_many(fixture, 6, 6);
	assert_int_equal(spool_fixture_count(fixture, ".spool"), 6);
	assert_int_equal(stats_of(fixture).nr_memory_bytes, 0);
	assert_holds(fixture, 1, 6);
}

static void over_the_bytes_the_oldest_goes_first(void **state)
{
	struct spool_fixture *fixture = *state;

	/* In memory, on disk, and on disk after a restart with a smaller bound. */
	for (int i = 0; i < 2; i++) {
		fixture->opts.max_bytes = 10 * FILE_BYTES_AT_MOST;
		fixture->opts.max_memory_bytes = i ? 0 : 64 << 20;
		spool_fixture_open(fixture);
		append_many(fixture, 1, 13);
		assert_int_equal(stats_of(fixture).nr_requests, 10);
		assert_int_equal(stats_of(fixture).nr_samples_evicted, 1 + 2 + 3);
	}
	assert_int_equal(spool_fixture_count(fixture, ""), 10);
	fixture->opts.max_bytes = 8 * FILE_BYTES_AT_MOST;
	spool_fixture_open(fixture);
	assert_int_equal(stats_of(fixture).nr_samples_restored, 91 - 6);
	assert_int_equal(stats_of(fixture).nr_samples_evicted, 4 + 5);
	assert_int_equal(spool_fixture_count(fixture, ""), 8);
	assert_holds(fixture, 6, 13);
}

static void over_the_number_the_oldest_goes_first(void **state)
{
	const struct spool_item item = { .nr_samples = 1 };
	struct spool_fixture *fixture = *state;

	fixture->opts.dir = NULL;
	spool_fixture_open(fixture);
	spool_fixture_append(fixture, 7, 10);
	for (int i = 0; i < SPOOL_MAX_REQUESTS; i++)
		assert_int_equal(spool_append(fixture->spool, &item, "body", 4), 0);
	assert_int_equal(stats_of(fixture).nr_requests, SPOOL_MAX_REQUESTS);
	assert_int_equal(stats_of(fixture).nr_samples_evicted, 7);
}

static void what_never_fits_is_evicted_alone(void **state)
{
	struct spool_fixture *fixture = *state;
	struct spool_item item = spool_fixture_item(100);
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(1 << 20);

	fixture->opts.max_bytes = 3 * FILE_BYTES_AT_MOST;
	spool_fixture_open(fixture);
	append_many(fixture, 1, 2);
	spool_fixture_body(100, 4 * BODY_BYTES, &body);
	assert_int_equal(spool_append(fixture->spool, &item, body.data, body.len), -ENOSPC);
	assert_int_equal(spool_append(fixture->spool, &item, "", SPOOL_BODY_MAX_BYTES + 1),
			 -ENOSPC);
	assert_int_equal(stats_of(fixture).nr_samples_evicted, 200);
	assert_holds(fixture, 1, 2);
}

static void a_rotated_request_is_the_last(void **state)
{
	struct spool_fixture *fixture = *state;

	/* In memory, on disk, from memory behind those on disk and the other way round. */
	for (int i = 0; i < 4; i++) {
		spool_fixture_open(fixture);
		append_many(fixture, 4, 4);
		if (i % 2)
			assert_int_equal(spool_save(fixture->spool), 0);
		append_many(fixture, 1, 3);
		if (i / 2)
			assert_int_equal(spool_save(fixture->spool), 0);
		spool_rotate(fixture->spool);
		assert_int_equal(stats_of(fixture).nr_requests, 4);
		assert_holds(fixture, 1, 4);
		assert_int_equal(spool_fixture_count(fixture, ""), 0);
	}
}

static void a_rotated_request_is_the_last_after_a_restart(void **state)
{
	struct spool_fixture *fixture = *state;

	spool_fixture_open(fixture);
	append_many(fixture, 4, 4);
	append_many(fixture, 1, 3);
	assert_int_equal(spool_save(fixture->spool), 0);
	spool_rotate(fixture->spool);
	spool_fixture_open(fixture);
	assert_holds(fixture, 1, 4);
}

static void the_callers_fields_begin_at_zero_and_stay(void **state)
{
	struct spool_item item = { .nr_samples = 1, .nr_failures = 5, .mark = 6 };
	struct spool_fixture *fixture = *state;

	spool_fixture_open(fixture);
	assert_int_equal(spool_append(fixture->spool, &item, "body", 4), 0);
	assert_int_equal(spool_first(fixture->spool)->nr_failures, 0);
	assert_int_equal(spool_first(fixture->spool)->mark, 0);
	spool_first(fixture->spool)->nr_failures = 7;
	spool_first(fixture->spool)->mark = 8;
	assert_int_equal(spool_save(fixture->spool), 0);
	spool_rotate(fixture->spool);
	assert_int_equal(spool_first(fixture->spool)->nr_failures, 7);
	assert_int_equal(spool_first(fixture->spool)->mark, 8);
	spool_fixture_open(fixture);
	assert_int_equal(spool_first(fixture->spool)->nr_failures, 0);
	assert_int_equal(spool_first(fixture->spool)->mark, 0);
}

static void an_empty_spool_has_nothing_to_give(void **state)
{
	struct spool_fixture *fixture = *state;
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(100);

	spool_fixture_open(fixture);
	assert_null(spool_first(fixture->spool));
	assert_int_equal(spool_read(fixture->spool, &body), -ENOENT);
	spool_pop(fixture->spool);
	spool_rotate(fixture->spool);
	spool_drop_damaged(fixture->spool);
	assert_int_equal(spool_save(fixture->spool), 0);
	assert_int_equal(stats_of(fixture).nr_files_damaged, 0);
	spool_close(NULL);
}

static void a_body_above_the_readers_limit_stays(void **state)
{
	struct spool_fixture *fixture = *state;

	spool_fixture_open(fixture);
	append_many(fixture, 1, 1);
	for (int i = 0; i < 2; i++) {
		_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_BYTES - 1);

		assert_int_equal(spool_read(fixture->spool, &body), -ENOSPC);
		assert_int_equal(spool_save(fixture->spool), 0);
	}
	assert_holds(fixture, 1, 1);
}

static void a_directory_has_one_spool_at_a_time(void **state)
{
	struct spool_fixture *fixture = *state;
	struct spool *other = NULL;

	spool_fixture_open(fixture);
	assert_int_equal(spool_open(&fixture->opts, &other), -EBUSY);
	assert_null(other);
	spool_fixture_open(fixture);
}

static void numbers_are_not_used_twice(void **state)
{
	struct spool_fixture *fixture = *state;
	char first[SPOOL_FIXTURE_PATH_BYTES], second[SPOOL_FIXTURE_PATH_BYTES];

	spool_fixture_open(fixture);
	append_many(fixture, 1, 1);
	assert_int_equal(spool_save(fixture->spool), 0);
	spool_fixture_path(fixture, false, first);
	spool_pop(fixture->spool);
	spool_fixture_open(fixture);
	append_many(fixture, 1, 1);
	assert_int_equal(spool_save(fixture->spool), 0);
	spool_fixture_path(fixture, false, second);
	assert_true(strcmp(second, first) > 0);
}

/* The clock was in the future when the first was written. */
static void order_holds_when_the_clock_goes_back(void **state)
{
	struct spool_fixture *fixture = *state;
	char path[SPOOL_FIXTURE_PATH_BYTES], future[SPOOL_FIXTURE_PATH_BYTES];

	spool_fixture_open(fixture);
	append_many(fixture, 1, 1);
	assert_int_equal(spool_save(fixture->spool), 0);
	spool_fixture_path(fixture, false, path);
	snprintf(future, sizeof(future), "%s/09000000000000000000.spool", fixture->path);
	assert_int_equal(rename(path, future), 0);
	spool_fixture_open(fixture);
	append_many(fixture, 2, 3);
	assert_int_equal(spool_save(fixture->spool), 0);
	spool_fixture_open(fixture);
	assert_holds(fixture, 1, 3);
}

static void without_numbers_nothing_is_written(void **state)
{
	struct spool_fixture *fixture = *state;
	char path[SPOOL_FIXTURE_PATH_BYTES], last[SPOOL_FIXTURE_PATH_BYTES];

	spool_fixture_open(fixture);
	append_many(fixture, 1, 1);
	assert_int_equal(spool_save(fixture->spool), 0);
	spool_fixture_path(fixture, false, path);
	snprintf(last, sizeof(last), "%s/09223372036854775807.spool", fixture->path);
	assert_int_equal(rename(path, last), 0);
	spool_fixture_open(fixture);
	append_many(fixture, 2, 2);
	assert_int_equal(spool_save(fixture->spool), -EOVERFLOW);
	assert_int_equal(stats_of(fixture).nr_write_failures, 1);
	spool_rotate(fixture->spool);
	spool_rotate(fixture->spool);
	assert_holds(fixture, 1, 2);
}

static void assert_stats_add_up(const struct spool_fixture *fixture, uint64_t nr_in,
				uint64_t nr_out)
{
	struct spool_stats stats = stats_of(fixture);

	assert_int_equal(nr_in + stats.nr_samples_restored, nr_out + stats.nr_samples +
								    stats.nr_samples_evicted +
								    stats.nr_samples_damaged);
	assert_true(stats.nr_disk_bytes + stats.nr_memory_bytes <= fixture->opts.max_bytes);
	assert_true(stats.nr_memory_bytes <= fixture->opts.max_memory_bytes);
}

/* Any operations in any order: no sample is lost without a count, and the bounds hold. */
static void samples_are_accounted_for(void **state)
{
	struct spool_fixture *fixture = *state;
	uint64_t nr_in = 0, nr_out = 0;
	unsigned int seed = 1;

	fixture->opts.max_bytes = 20 * FILE_BYTES_AT_MOST;
	fixture->opts.max_memory_bytes = 5 * FILE_BYTES_AT_MOST;
	spool_fixture_open(fixture);
	for (uint32_t number = 1; number < 3000; number++) {
		unsigned int what = (unsigned int)rand_r(&seed) % 100;
		const struct spool_item *first = spool_first(fixture->spool);

		if (what < 50) {
			spool_fixture_append(fixture, number, BODY_BYTES * what / 50);
			nr_in += number;
		} else if (what < 80 && first) {
			nr_out += first->nr_samples;
			spool_pop(fixture->spool);
		} else if (what < 85) {
			spool_rotate(fixture->spool);
		} else if (what < 90) {
			spool_drop_damaged(fixture->spool);
		} else {
			assert_int_equal(spool_save(fixture->spool), 0);
		}
		assert_stats_add_up(fixture, nr_in, nr_out);
		if (what == 99) {
			spool_fixture_open(fixture);
			nr_in = nr_out = 0;
		}
	}
	assert_true(stats_of(fixture).nr_samples_restored > 0);
}

struct reader {
	const struct spool *spool;
	bool is_done;
};

static void *read_stats(void *arg)
{
	struct reader *reader = arg;

	while (!__atomic_load_n(&reader->is_done, __ATOMIC_ACQUIRE))
		assert_true(spool_get_stats(reader->spool).nr_requests <= 100);
	return NULL;
}

static void statistics_are_read_by_any_thread(void **state)
{
	struct spool_fixture *fixture = *state;
	struct reader reader = { 0 };
	pthread_t thread;

	spool_fixture_open(fixture);
	reader.spool = fixture->spool;
	assert_int_equal(pthread_create(&thread, NULL, read_stats, &reader), 0);
	append_many(fixture, 1, 100);
	assert_int_equal(spool_save(fixture->spool), 0);
	assert_holds(fixture, 1, 100);
	__atomic_store_n(&reader.is_done, true, __ATOMIC_RELEASE);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void a_request_without_memory_counts_as_evicted(void **state)
{
	const struct spool_item item = { .nr_samples = 5 };
	struct spool_fixture *fixture = *state;
	bool has_failed = true;

	spool_fixture_open(fixture);
	for (unsigned int n = 1; has_failed; n++) {
		struct spool_stats before = stats_of(fixture);
		int r;

		torture_begin(n);
		r = spool_append(fixture->spool, &item, "body", 4);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		assert_int_equal(stats_of(fixture).nr_samples_evicted - before.nr_samples_evicted,
				 has_failed ? 5 : 0);
		assert_int_equal(stats_of(fixture).nr_samples - before.nr_samples,
				 has_failed ? 0 : 5);
	}
}

static void reading_without_memory_changes_nothing(void **state)
{
	struct spool_fixture *fixture = *state;
	bool has_failed = true;

	spool_fixture_open(fixture);
	append_many(fixture, 1, 1);
	assert_int_equal(spool_save(fixture->spool), 0);
	for (unsigned int n = 1; has_failed; n++) {
		_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_BYTES);
		int r;

		torture_begin(n);
		r = spool_read(fixture->spool, &body);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
	}
	assert_holds(fixture, 1, 1);
}

static void opening_without_memory_loses_nothing(void **state)
{
	struct spool_fixture *fixture = *state;
	bool has_failed = true;

	spool_fixture_open(fixture);
	append_many(fixture, 1, 3);
	assert_int_equal(spool_save(fixture->spool), 0);
	spool_close(take_ptr(fixture->spool));
	for (unsigned int n = 1; has_failed; n++) {
		int r;

		torture_begin(n);
		r = spool_open(&fixture->opts, &fixture->spool);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
	}
	assert_holds(fixture, 1, 3);
}

#define test(name)                                                                                 \
	cmocka_unit_test_setup_teardown(name, spool_fixture_setup, spool_fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(requests_come_out_in_the_order_they_went_in),
		test(bodies_of_any_length_come_back),
		test(what_was_saved_is_there_after_a_restart),
		test(files_are_the_owners_alone),
		test(saving_empties_the_memory),
		test(too_much_in_memory_is_saved_at_once),
		test(over_the_bytes_the_oldest_goes_first),
		test(over_the_number_the_oldest_goes_first),
		test(what_never_fits_is_evicted_alone),
		test(a_rotated_request_is_the_last),
		test(a_rotated_request_is_the_last_after_a_restart),
		test(the_callers_fields_begin_at_zero_and_stay),
		test(an_empty_spool_has_nothing_to_give),
		test(a_body_above_the_readers_limit_stays),
		test(a_directory_has_one_spool_at_a_time),
		test(numbers_are_not_used_twice),
		test(order_holds_when_the_clock_goes_back),
		test(without_numbers_nothing_is_written),
		test(samples_are_accounted_for),
		test(statistics_are_read_by_any_thread),
		test(a_request_without_memory_counts_as_evicted),
		test(reading_without_memory_changes_nothing),
		test(opening_without_memory_loses_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
