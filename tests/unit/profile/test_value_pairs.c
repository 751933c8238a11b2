/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/value_pairs.h"

#include "stacks.h"
#include "torture.h"
#include "unit.h"

#define PLENTY_BYTES (1 << 20)
#define FEW_BYTES 100

static const struct stack_line numbers[] = {
	{ "web", "main;serve;lock_[k]", 3 },
	{ "web", "main;poll", 4 },
};

static const struct stack_line times[] = {
	{ "web", "main;serve;lock_[k]", 3000 },
	{ "db", "main;commit", 7000 },
};

static struct profile *profile_of(const struct stack_line *lines, enum profile_type type)
{
	struct profile *profile = profile_of_stacks(lines, 2);

	profile->type = type;
	return profile;
}

/* Returns whether a sample has these values. */
static bool has_pair(const struct value_pairs *pairs, uint64_t first, uint64_t second)
{
	for (size_t i = 0; i < pairs->profile->nr_samples; i++)
		if (pairs->pairs[i].first == first && pairs->pairs[i].second == second)
			return true;
	return false;
}

static void equal_samples_have_both_values(void **state)
{
	_cleanup_(profile_unrefp) struct profile *first = profile_of(numbers,
								     PROFILE_LOCK_CONTENTIONS);
	_cleanup_(profile_unrefp) struct profile *second = profile_of(times, PROFILE_LOCK_DELAY);
	_cleanup_(value_pairs_done) struct value_pairs pairs;

	(void)state;
	assert_int_equal(value_pairs_init(&pairs, first, second, PLENTY_BYTES), 0);
	assert_int_equal(pairs.profile->type, PROFILE_LOCK_DELAY);
	assert_int_equal(pairs.profile->nr_samples, 3);
	assert_true(has_pair(&pairs, 3, 3000));
	assert_true(has_pair(&pairs, 4, 0));
	assert_true(has_pair(&pairs, 0, 7000));
}

static void times_do_not_tell_samples_apart(void **state)
{
	_cleanup_(profile_unrefp) struct profile *first = profile_of(numbers,
								     PROFILE_LOCK_CONTENTIONS);
	_cleanup_(profile_unrefp) struct profile *second = profile_of(times, PROFILE_LOCK_DELAY);
	_cleanup_(value_pairs_done) struct value_pairs pairs;

	(void)state;
	for (size_t i = 0; i < first->nr_samples; i++)
		first->samples[i].time_ns = 1000 + i;
	assert_int_equal(value_pairs_init(&pairs, first, second, PLENTY_BYTES), 0);
	assert_true(has_pair(&pairs, 3, 3000));
}

static void what_has_no_room_is_an_error(void **state)
{
	_cleanup_(profile_unrefp) struct profile *first = profile_of(numbers,
								     PROFILE_LOCK_CONTENTIONS);
	_cleanup_(profile_unrefp) struct profile *second = profile_of(times, PROFILE_LOCK_DELAY);
	_cleanup_(value_pairs_done) struct value_pairs pairs;

	(void)state;
	assert_int_equal(value_pairs_init(&pairs, first, second, FEW_BYTES), -ENOSPC);
	assert_null(pairs.profile);
}

static void every_failed_allocation_is_reported(void **state)
{
	_cleanup_(profile_unrefp) struct profile *first = profile_of(numbers,
								     PROFILE_LOCK_CONTENTIONS);
	_cleanup_(profile_unrefp) struct profile *second = profile_of(times, PROFILE_LOCK_DELAY);
	bool has_failed = true;

	(void)state;
	for (unsigned int n = 1; has_failed; n++) {
		_cleanup_(value_pairs_done) struct value_pairs pairs;

		torture_begin(n);
		int r = value_pairs_init(&pairs, first, second, PLENTY_BYTES);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_samples_have_both_values),
		cmocka_unit_test(times_do_not_tell_samples_apart),
		cmocka_unit_test(what_has_no_room_is_an_error),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
