/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/thread_times.h"

#include "stacks.h"
#include "unit.h"

#include "base/cleanup.h"

#define RAN "[running, not sampled]_[k]"
#define WAITED "[waiting, not sampled]_[k]"

#define MAX_LINES 6

struct thread_case {
	struct wait_line lines[MAX_LINES]; /* of one thread */
	uint64_t after_ns[MAX_LINES]; /* 0: the sample is gone */
};

static const struct thread_case cases[] = {
	/* What ran longer has more of the sum. */
	{ { { "a", "main;f", REASON_RUNNING, 10 },
	    { "a", "main;g", REASON_RUNNING, 30 },
	    { "a", RAN, REASON_RUNNING, 80 } },
	  { 20, 60, 0 } },
	/* Time in run queues is exact, and what is left was spent in other waits. */
	{ { { "a", "main;f", REASON_SLEEP, 100 },
	    { "a", "main;g", REASON_DISK, 300 },
	    { "a", "main;g", REASON_RUN_QUEUE, 40 },
	    { "a", "main;f", REASON_PREEMPTED, 10 },
	    { "a", WAITED, REASON_OTHER, 250 } },
	  { 50, 150, 40, 10, 0 } },
	/* Nobody waits for a CPU for longer than it waits. */
	{ { { "a", "main;g", REASON_RUN_QUEUE, 200 },
	    { "a", "main;g", REASON_SLEEP, 7 },
	    { "a", WAITED, REASON_OTHER, 100 } },
	  { 100, 0, 0 } },
	/* Without a sample, a sum stays. */
	{ { { "a", RAN, REASON_RUNNING, 80 }, { "a", WAITED, REASON_OTHER, 90 } }, { 80, 90 } },
	{ { { "a", "main;g", REASON_RUN_QUEUE, 40 },
	    { "a", WAITED, REASON_OTHER, 90 },
	    { "a", "main;f", REASON_RUNNING, 10 } },
	  { 40, 50, 10 } },
	/* Without a sum, samples stay; so do stacks that only look like one. */
	{ { { "a", "main;f", REASON_RUNNING, 10 },
	    { "a", "main;f", REASON_SLEEP, 20 },
	    { "a", "main;" RAN, REASON_RUNNING, 30 },
	    { "a", RAN, REASON_SLEEP, 40 },
	    { "a", WAITED, REASON_RUN_QUEUE, 50 } },
	  { 10, 20, 30, 40, 50 } },
	/* A sum that is too small for one of the samples. */
	{ { { "a", "main;f", REASON_RUNNING, 1 },
	    { "a", "main;g", REASON_RUNNING, 1000 },
	    { "a", RAN, REASON_RUNNING, 100 } },
	  { 0, 100, 0 } },
	/* More than 2^53 ns are four months. */
	{ { { "a", "main;f", REASON_RUNNING, UINT64_C(1) << 60 },
	    { "a", RAN, REASON_RUNNING, UINT64_C(1) << 61 } },
	  { UINT64_C(1) << 61, 0 } },
};

static size_t count_lines(const struct thread_case *of)
{
	size_t nr = 0;

	while (nr < MAX_LINES && of->lines[nr].comm)
		nr++;
	return nr;
}

/* All samples become those of a thread. */
static void join(struct profile *profile, size_t first, size_t nr, uint32_t pid, uint32_t tid)
{
	for (size_t i = first; i < first + nr; i++) {
		profile->samples[i].pid = pid;
		profile->samples[i].tid = tid;
	}
}

static void sums_are_given_to_the_samples_of_a_thread(void **state)
{
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		size_t nr = count_lines(&cases[i]), place = 0;
		_cleanup_(profile_unrefp) struct profile *profile = profile_of_waits(cases[i].lines,
										     nr);

		join(profile, 0, nr, 7, 8);
		assert_int_equal(thread_times_apply(profile), 0);
		for (size_t k = 0; k < nr; k++)
			if (cases[i].after_ns[k] > 0)
				assert_int_equal(profile->samples[place++].count,
						 cases[i].after_ns[k]);
		assert_int_equal(profile->nr_samples, place);
	}
}

static void threads_are_told_apart_by_both_their_ids(void **state)
{
	static const struct wait_line lines[] = {
		{ "a", "main;f", REASON_RUNNING, 10 }, { "a", RAN, REASON_RUNNING, 20 },
		{ "a", "main;f", REASON_RUNNING, 10 }, { "a", RAN, REASON_RUNNING, 30 },
		{ "a", "main;f", REASON_RUNNING, 10 },
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_waits(lines, 5);
	(void)state;

	join(profile, 0, 2, 7, 8);
	join(profile, 2, 2, 7, 9);
	join(profile, 4, 1, 6, 8);
	assert_int_equal(thread_times_apply(profile), 0);
	assert_int_equal(profile->nr_samples, 3);
	assert_int_equal(profile->samples[0].count, 20);
	assert_int_equal(profile->samples[1].count, 30);
	assert_int_equal(profile->samples[2].count, 10);
}

static void a_profile_may_be_empty(void **state)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_waits(NULL, 0);
	(void)state;

	assert_int_equal(thread_times_apply(profile), 0);
	assert_int_equal(profile->nr_samples, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_given_to_the_samples_of_a_thread),
		cmocka_unit_test(threads_are_told_apart_by_both_their_ids),
		cmocka_unit_test(a_profile_may_be_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
