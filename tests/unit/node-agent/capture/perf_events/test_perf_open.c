/* SPDX-License-Identifier: Apache-2.0 */
/* What is taken out for old kernels, and that events can be opened without it on this one. */
#include "capture/perf_events/perf_open.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "capture/perf_events/perf_clock.h"

#include <fcntl.h>
#include <time.h>

#include "unit.h"

#define FAR_NS NSEC_PER_MSEC

static struct perf_event_attr everything(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.read_format = PERF_FORMAT_LOST,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.ksymbol = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
}

static void what_came_last_goes_first(void **state)
{
	struct perf_event_attr attr = everything();
	unsigned long flags = PERF_FLAG_FD_CLOEXEC;
	(void)state;

	assert_true(perf_open_strip(&attr, &flags));
	assert_int_equal(attr.read_format, 0);
	assert_true(attr.ksymbol);
	assert_true(perf_open_strip(&attr, &flags));
	assert_false(attr.ksymbol);
	assert_true(attr.use_clockid);
	assert_true(perf_open_strip(&attr, &flags));
	assert_false(attr.use_clockid);
	assert_int_equal(attr.clockid, 0);
	assert_true(attr.comm_exec);
	assert_true(perf_open_strip(&attr, &flags));
	assert_false(attr.comm_exec);
	assert_true(perf_open_strip(&attr, &flags));
	assert_false(attr.mmap2);
	assert_int_equal(flags, PERF_FLAG_FD_CLOEXEC);
	assert_true(perf_open_strip(&attr, &flags));
	assert_int_equal(flags, 0);
	assert_true(perf_open_strip(&attr, &flags));
	assert_int_equal(attr.config, PERF_COUNT_SW_CPU_CLOCK);
	assert_false(perf_open_strip(&attr, &flags));
	assert_true(attr.mmap && attr.comm && attr.task && attr.sample_id_all);
}

/* With what is stripped so far; skipped where events of this process are not allowed. */
static void assert_opens(struct perf_event_attr attr)
{
	_cleanup_close_ int fd = perf_open(&attr, 0, -1);

	if (fd == -EACCES || fd == -EPERM || fd == -ENOSYS)
		skip();
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(attr.size, PERF_ATTR_SIZE_VER3);
}

static void an_event_opens_with_any_part_of_it(void **state)
{
	struct perf_event_attr attr = everything();
	unsigned long flags = PERF_FLAG_FD_CLOEXEC;
	(void)state;

	do
		assert_opens(attr);
	while (perf_open_strip(&attr, &flags));
}

static void nothing_is_taken_out_when_it_is_refused_all_the_same(void **state)
{
	struct perf_event_attr attr = everything();
	const struct perf_event_attr before = attr;
	(void)state;

	assert_true(perf_open(&attr, 0, 1 << 20) < 0);
	attr.sample_type = 1ULL << 63;
	assert_true(perf_open(&attr, 0, -1) < 0);
	attr.sample_type = before.sample_type;
	assert_memory_equal(&attr, &before, sizeof(attr));
}

static void the_schedulers_clock_becomes_the_monotonic_one(void **state)
{
	const struct perf_event_attr old = { .use_clockid = 0 };
	struct perf_clock clock = { .is_open = false };
	const struct timespec pause = { .tv_nsec = 20 * (long)NSEC_PER_MSEC };
	(void)state;

	int r = perf_clock_open(&clock, &old);
	if (r == -EACCES || r == -EPERM || r == -ENOSYS)
		skip();
	assert_int_equal(r, 0);
	int64_t first_ns = clock.offset_ns;
	assert_true(first_ns != 0);
	nanosleep(&pause, NULL);
	perf_clock_update(&clock);
	int64_t drift_ns = clock.offset_ns - first_ns;
	assert_true(drift_ns < (int64_t)FAR_NS && drift_ns > -(int64_t)FAR_NS);
	assert_int_equal(perf_clock_to_mono_ns(&clock, 5), 5 + (uint64_t)clock.offset_ns);
	perf_clock_close(&clock);
	perf_clock_close(&clock);
}

static void a_clock_that_is_right_is_left_alone(void **state)
{
	const struct perf_event_attr now = everything();
	struct perf_clock clock = { .is_open = false };
	(void)state;

	assert_int_equal(perf_clock_open(&clock, &now), 0);
	perf_clock_update(&clock);
	assert_int_equal(perf_clock_to_mono_ns(&clock, 5), 5);
	perf_clock_close(&clock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_came_last_goes_first),
		cmocka_unit_test(an_event_opens_with_any_part_of_it),
		cmocka_unit_test(nothing_is_taken_out_when_it_is_refused_all_the_same),
		cmocka_unit_test(the_schedulers_clock_becomes_the_monotonic_one),
		cmocka_unit_test(a_clock_that_is_right_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
