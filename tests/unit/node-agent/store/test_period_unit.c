/* SPDX-License-Identifier: Apache-2.0 */
/* Records with samples of several frequencies: sums are exact, in whatever unit. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "record_fixture.h"
#include "store/period_unit.h"
#include "store/store_reader.h"
#include "unit.h"

#define USUAL_NS (10 * FAST_NS)
#define FAST_NS UINT64_C(5263157)
#define FOREIGN_NS (NSEC_PER_SEC / 99)
#define COUNT 4
#define A_SECOND (COUNT + 1)
#define HOUR_S 3600
#define PROFILE_BYTES ((size_t)16 << 20)
#define MESSAGE_BYTES 4096

static const struct selector all;

static void the_unit_divides_all_periods(void **state)
{
	struct period_unit unit = { 0 };

	(void)state;
	assert_int_equal(period_unit_weight(&unit, USUAL_NS), 1);
	assert_int_equal(period_unit_fit(&unit, 0), 1);
	assert_int_equal(unit.ns, 0);
	assert_int_equal(period_unit_fit(&unit, USUAL_NS), 1);
	assert_int_equal(unit.ns, USUAL_NS);
	assert_int_equal(period_unit_fit(&unit, FAST_NS), 10);
	assert_int_equal(period_unit_fit(&unit, USUAL_NS), 1);
	assert_int_equal(unit.ns, FAST_NS);
	assert_int_equal(unit.longest_ns, USUAL_NS);
	assert_int_equal(period_unit_weight(&unit, USUAL_NS), 10);
	assert_int_equal(period_unit_weight(&unit, FAST_NS), 1);
	assert_int_equal(period_unit_weight(&unit, 0), 1);
	assert_int_equal(period_unit_fit(&unit, 3 * 7), FAST_NS);
	assert_int_equal(unit.ns, 1);
	assert_int_equal(period_unit_fit(&unit, UINT64_MAX), 1);
}

static void add_second(struct recorder *recorder, uint64_t second, uint64_t period)
{
	struct profile *profile = record_second(second, COUNT);

	profile->period = period;
	recorder_add(recorder, profile);
	recorder_tick(recorder, second + 1);
	profile_unref(profile);
}

/* Three seconds of the usual frequency, between them two of a higher one; the last minute of the
 * hour, and the first one of the next. */
static void make(struct record *record)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES);
	struct recorder *recorder;

	record_make(record);
	const struct recorder_opts opts = record_opts(record);
	assert_int_equal(recorder_new(&opts, &message, &recorder), 0);
	for (uint64_t second = RECORD_START; second < RECORD_START + 3; second++)
		add_second(recorder, second, USUAL_NS);
	add_second(recorder, RECORD_START + 3, FAST_NS);
	add_second(recorder, RECORD_START + 3, USUAL_NS);
	add_second(recorder, RECORD_START + 4, FAST_NS);
	add_second(recorder, RECORD_START + HOUR_S, FAST_NS);
	add_second(recorder, RECORD_START + HOUR_S + 1, FOREIGN_NS);
	recorder_close(recorder);
}

/* Returns the CPU time of a range, and the period in which it is counted. */
static uint64_t cpu_time(const struct record *record, uint64_t first_s, uint64_t end_s,
			 uint64_t *ret_period)
{
	_cleanup_(strbuf_done) struct strbuf warnings = strbuf_with_max(MESSAGE_BYTES);
	_cleanup_(store_reader_done) struct store_reader reader = { 0 };
	const char *const dir = record->dir;
	const struct store_query query = {
		.range = { first_s, end_s },
		.selector = &all,
		.max_bytes = PROFILE_BYTES,
	};
	struct store_answer answer;

	assert_int_equal(store_reader_open(&dir, 1, &warnings, &reader), 0);
	assert_int_equal(store_reader_merge(&reader, &query, &warnings, &answer), 0);
	assert_string_equal(strbuf_str(&warnings), "");
	assert_int_equal(answer.nr_left_out, 0);
	uint64_t ns = profile_total(answer.profile) * answer.profile->period;
	*ret_period = answer.profile->period;
	store_answer_done(&answer);
	return ns;
}

static void ranges_of_several_periods_add_up(void **state)
{
	const uint64_t all_ns = A_SECOND * (4 * USUAL_NS + 3 * FAST_NS + FOREIGN_NS);
	struct record record;
	uint64_t period;

	(void)state;
	make(&record);
	assert_int_equal(cpu_time(&record, 0, UINT64_MAX, &period), all_ns);
	assert_true(period > 0 && FAST_NS % period == 0 && FOREIGN_NS % period == 0);
	assert_int_equal(cpu_time(&record, 0, RECORD_START + HOUR_S, &period),
			 A_SECOND * (4 * USUAL_NS + 2 * FAST_NS));
	assert_int_equal(period, FAST_NS);
	record_remove(&record);
}

/* Though its minute has others. */
static void a_range_of_one_period_is_counted_in_samples(void **state)
{
	struct record record;
	uint64_t period;

	(void)state;
	make(&record);
	assert_int_equal(cpu_time(&record, RECORD_START, RECORD_START + 2, &period),
			 2 * A_SECOND * USUAL_NS);
	assert_int_equal(period, USUAL_NS);
	assert_int_equal(cpu_time(&record, RECORD_START + 4, RECORD_START + 5, &period),
			 A_SECOND * FAST_NS);
	assert_int_equal(period, FAST_NS);
	record_remove(&record);
}

static uint64_t total_of(const struct store_timeline *timeline)
{
	uint64_t total = 0;

	for (size_t i = 0; i < timeline->nr_lines; i++)
		total += timeline->lines[i].total;
	return total * timeline->period;
}

/* From the timeline, and from the samples. */
static void timelines_add_up(void **state)
{
	static const char *const dimensions[] = { "comm", "pid" };
	const uint64_t all_ns = A_SECOND * (4 * USUAL_NS + 3 * FAST_NS + FOREIGN_NS);
	struct store_timeline timeline;
	struct record record;

	(void)state;
	make(&record);
	for (size_t i = 0; i < array_len(dimensions); i++) {
		record_timeline(&record, TIMELINE_SAMPLES, dimensions[i], &timeline);
		assert_int_equal(total_of(&timeline), all_ns);
		assert_int_equal(timeline.lines[0].values[0], timeline.lines[0].total);
		store_timeline_done(&timeline);
	}
	record_timeline(&record, TIMELINE_CPUS, NULL, &timeline);
	assert_int_equal(total_of(&timeline), all_ns);
	store_timeline_done(&timeline);
	record_remove(&record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_unit_divides_all_periods),
		cmocka_unit_test(ranges_of_several_periods_add_up),
		cmocka_unit_test(a_range_of_one_period_is_counted_in_samples),
		cmocka_unit_test(timelines_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
