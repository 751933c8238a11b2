/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "record_fixture.h"
#include "store/store_slices.h"
#include "unit.h"

#include <string.h>

#define NR_SECONDS 150
#define FIRST (RECORD_START + 37)
#define COUNT 4
#define A_SECOND (COUNT + 1)
#define PROFILE_BYTES ((size_t)16 << 20)

struct seen {
	uint64_t totals[NR_SECONDS]; /* by the second in which a profile begins */
	uint64_t timed[NR_SECONDS]; /* by the samples' own times */
	uint64_t end_s; /* of the last profile */
	size_t nr_profiles;
	size_t stop_after; /* 0: never */
};

static int see(struct profile *profile, void *data)
{
	struct seen *seen = data;
	uint64_t first_s = profile->time_unix_ns / NSEC_PER_SEC;

	assert_true(first_s >= seen->end_s && first_s >= FIRST && first_s < FIRST + NR_SECONDS);
	seen->totals[first_s - FIRST] += profile_total(profile);
	seen->end_s = first_s + profile->duration_ns / NSEC_PER_SEC;
	for (size_t i = 0; i < profile->nr_samples; i++) {
		uint64_t second = profile->samples[i].time_ns / NSEC_PER_SEC;

		if (second == 0)
			continue;
		assert_true(second >= first_s && second < seen->end_s);
		seen->timed[second - FIRST] += profile->samples[i].count;
	}
	for (size_t i = 0; i < profile->nr_processes; i++)
		assert_int_equal(profile->processes[i].start_ns, 0);
	return ++seen->nr_profiles == seen->stop_after ? -ECANCELED : 0;
}

static int slice(const struct record *record, struct store_slicing *slicing, struct seen *seen)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(4096);
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	const char *const dir = record->dir;
	static const struct selector all;
	uint64_t left_out = 0;

	slicing->selector = slicing->selector ? slicing->selector : &all;
	slicing->max_bytes = PROFILE_BYTES;
	slicing->visit = see;
	slicing->data = seen;
	assert_int_equal(store_reader_open(&dir, 1, &warnings, &reader), 0);
	int r = store_slices_visit(&reader, slicing, &warnings, &left_out);
	assert_string_equal(strbuf_str(&warnings), "");
	assert_int_equal(left_out, 0);
	return r;
}

/* 150 seconds in the blocks of four minutes, and two files. */
static void fill(struct record *record)
{
	struct recorder *recorder;
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);

	record_make(record);
	const struct recorder_opts opts = record_opts(record);
	assert_int_equal(recorder_new(&opts, &message, &recorder), 0);
	record_add(recorder, FIRST, 70, COUNT);
	recorder_close(recorder);
	assert_int_equal(recorder_new(&opts, &message, &recorder), 0);
	record_add(recorder, FIRST + 70, NR_SECONDS - 70, COUNT);
	recorder_close(recorder);
}

static void every_second_is_a_profile(void **state)
{
	(void)state;
	struct record record;
	struct seen seen = { 0 };
	struct store_slicing slicing = { .range = { 0, UINT64_MAX }, .slice_s = 1 };

	fill(&record);
	assert_int_equal(slice(&record, &slicing, &seen), 0);
	assert_int_equal(seen.nr_profiles, NR_SECONDS);
	for (size_t i = 0; i < NR_SECONDS; i++)
		assert_int_equal(seen.totals[i], A_SECOND);
	record_remove(&record);
}

static void longer_slices_have_the_same_sum(void **state)
{
	(void)state;
	static const uint64_t lengths[] = { 2, 7, 15, 60 };
	struct record record;

	fill(&record);
	for (size_t i = 0; i < array_len(lengths); i++) {
		struct store_slicing slicing = { .range = { FIRST + 10, FIRST + 140 },
						 .slice_s = lengths[i] };
		struct seen seen = { 0 };
		uint64_t total = 0;

		assert_int_equal(slice(&record, &slicing, &seen), 0);
		for (size_t s = 0; s < NR_SECONDS; s++)
			total += seen.totals[s];
		assert_int_equal(total, 130 * A_SECOND);
		assert_true(seen.nr_profiles < 130);
	}
	record_remove(&record);
}

static void samples_can_keep_their_seconds(void **state)
{
	(void)state;
	struct record record;
	struct seen seen = { 0 };
	struct store_slicing slicing = { .range = { 0, UINT64_MAX },
					 .slice_s = 30,
					 .with_times = true };

	fill(&record);
	assert_int_equal(slice(&record, &slicing, &seen), 0);
	for (size_t i = 0; i < NR_SECONDS; i++)
		assert_int_equal(seen.timed[i], A_SECOND);
	record_remove(&record);
}

static void only_selected_samples_are_seen(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(4096);
	struct record record;
	struct selector none = { 0 };
	struct seen seen = { 0 };
	struct store_slicing slicing = { .range = { 0, UINT64_MAX },
					 .selector = &none,
					 .slice_s = 1 };

	fill(&record);
	assert_int_equal(selector_add(&none, "{comm!=\"web\"}", &message), 0);
	assert_int_equal(slice(&record, &slicing, &seen), 0);
	assert_int_equal(seen.nr_profiles, 0);
	selector_done(&none);
	record_remove(&record);
}

static void whoever_visits_can_stop(void **state)
{
	(void)state;
	struct record record;
	struct seen seen = { .stop_after = 90 };
	struct store_slicing slicing = { .range = { 0, UINT64_MAX }, .slice_s = 1 };

	fill(&record);
	assert_int_equal(slice(&record, &slicing, &seen), -ECANCELED);
	assert_int_equal(seen.nr_profiles, 90);
	record_remove(&record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_second_is_a_profile),
		cmocka_unit_test(longer_slices_have_the_same_sum),
		cmocka_unit_test(samples_can_keep_their_seconds),
		cmocka_unit_test(only_selected_samples_are_seen),
		cmocka_unit_test(whoever_visits_can_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
