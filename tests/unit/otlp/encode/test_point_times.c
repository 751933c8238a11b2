/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/encode/point_times.h"

#include "otlp/encode/encode.h"
#include "tests/oracle/formats/otlp_sample.h"
#include "tests/oracle/formats/otlp_text.h"
#include "unit.h"

#define PLENTY_BYTES (1 << 20)

static const struct otlp_frame work[] = { { .name = "work", .system_name = "work" } };
static const struct otlp_frame rest[] = { { .name = "rest", .system_name = "rest" } };

static void samples_say_when_in_place_of_how_many(void **state)
{
#define AT(ns) .time_ns = OTLP_SAMPLE_TIME_NS + (ns)
	static const struct attribute a[] = { { "service.name", "a" } };
	static const struct otlp_sample samples[] = {
		{ NULL, 0, work, 1, "t", .numbers = { AT(9), .count = 1 } },
		{ NULL, 0, rest, 1, "t", .numbers = { AT(5), .count = 1 } },
		{ NULL, 0, work, 1, "t", .numbers = { AT(3), .count = 2 } },
		{ a, 1, work, 1, "t", .numbers = { AT(4), .count = 1 } },
		{ a, 1, work, 1, "t", .numbers = { .count = 3 } },
	};
	_cleanup_(profile_unrefp) struct profile *profile = otlp_profile_of(samples,
									    array_len(samples));
	static const char *const expected[] = {
		"{}: work[native] = 3\n{}: rest[native] = 1\n{service.name=a}: work[native] = 4\n",
		"{}: work[native] = @1795188153000000003 @1795188153000000003 "
		"@1795188153000000009\n"
		"{}: rest[native] = @1795188153000000005\n"
		"{service.name=a}: work[native] = 4\n",
	};
	(void)state;

	for (size_t i = 0; i < array_len(expected); i++) {
		_cleanup_(otlp_job_done) struct otlp_job job = { 0 };
		_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(PLENTY_BYTES);
		_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(PLENTY_BYTES);
		struct encode_result result;

		assert_int_equal(otlp_job_init(&job, profile, OTLP_PYROSCOPE), 0);
		job.job.with_times = i > 0;
		assert_int_equal(otlp_encode(&job.job, &body, &result), 0);
		assert_int_equal(otlp_text(&body, &text), 0);
		assert_string_equal(strbuf_str(&text), expected[i]);
		assert_int_equal(result.nr_taken, 8);
	}
}

static void each_point_has_its_times_in_order(void **state)
{
	static const uint64_t expected[] = { 3, 7, 7, 9 };
	struct point_times times = { 0 };
	size_t nr;
	(void)state;

	assert_int_equal(point_times_add(&times, 5, 9, 1), 0);
	assert_int_equal(point_times_add(&times, 2, 4, 1), 0);
	assert_int_equal(point_times_add(&times, 5, 7, 2), 0);
	assert_int_equal(point_times_add(&times, 5, 3, 1), 0);
	point_times_sort(&times);
	assert_int_equal(point_times_take(&times, 2, &nr)->unix_ns, 4);
	assert_int_equal(nr, 1);
	(void)point_times_take(&times, 3, &nr);
	assert_int_equal(nr, 0);
	const struct point_time *of_5 = point_times_take(&times, 5, &nr);
	assert_int_equal(nr, array_len(expected));
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(of_5[i].unix_ns, expected[i]);
	point_times_clear(&times);
	(void)point_times_take(&times, 5, &nr);
	assert_int_equal(nr, 0);
	point_times_done(&times);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_say_when_in_place_of_how_many),
		cmocka_unit_test(each_point_has_its_times_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
