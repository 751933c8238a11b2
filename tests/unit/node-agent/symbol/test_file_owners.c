/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/file_owners.h"

#include "unit.h"

#define NOW UINT64_C(1000)

static int set_up(void **state)
{
	const struct worker_client_opts opts = { .command = "none" };
	struct worker_lanes *lanes = NULL;

	assert_int_equal(worker_lanes_new(&opts, &lanes), 0);
	*state = lanes;
	return 0;
}

static int tear_down(void **state)
{
	worker_lanes_free(*state);
	return 0;
}

static void a_file_of_nobody_takes_the_fast_lane(void **state)
{
	struct file_owners owners = { 0 };

	assert_int_equal(file_owners_lane(&owners, *state, NOW), WORKER_LANE_FAST);
	file_owners_add(&owners, 0);
	file_owners_punish(&owners, *state, NOW);
	assert_int_equal(file_owners_lane(&owners, *state, NOW), WORKER_LANE_FAST);
}

static void it_takes_the_slow_lane_when_all_its_owners_are_punished(void **state)
{
	struct file_owners owners = { 0 };
	struct file_owners one = { 0 };

	file_owners_add(&owners, 5);
	file_owners_add(&owners, 6);
	file_owners_add(&owners, 5);
	assert_int_equal(owners.nr, 2);
	file_owners_add(&one, 5);
	file_owners_punish(&one, *state, NOW);
	assert_int_equal(file_owners_lane(&one, *state, NOW), WORKER_LANE_SLOW);
	assert_int_equal(file_owners_lane(&owners, *state, NOW), WORKER_LANE_FAST);
	file_owners_punish(&owners, *state, NOW);
	assert_int_equal(file_owners_lane(&owners, *state, NOW), WORKER_LANE_SLOW);
	assert_int_equal(file_owners_lane(&owners, *state, NOW + WORKER_LANES_PENALTY_NS),
			 WORKER_LANE_FAST);
}

static void a_file_of_many_is_punished_for_nobody(void **state)
{
	struct file_owners owners = { 0 };
	struct file_owners others = { 0 };

	for (uint64_t id = 1; id <= FILE_OWNERS_MAX; id++) {
		file_owners_add(&owners, id);
		file_owners_add(&others, FILE_OWNERS_MAX + id);
	}
	file_owners_punish(&owners, *state, NOW);
	assert_int_equal(file_owners_lane(&owners, *state, NOW), WORKER_LANE_SLOW);
	file_owners_merge(&owners, &others);
	assert_int_equal(file_owners_lane(&owners, *state, NOW), WORKER_LANE_FAST);
	file_owners_punish(&owners, *state, NOW);
	assert_int_equal(file_owners_lane(&others, *state, NOW), WORKER_LANE_FAST);
	file_owners_merge(&others, &owners);
	file_owners_punish(&others, *state, NOW);
	assert_int_equal(file_owners_lane(&others, *state, NOW), WORKER_LANE_FAST);
}

static void a_file_has_the_best_rank_of_its_owners(void **state)
{
	struct file_owners late = { 0 };
	struct file_owners both = { 0 };

	file_owners_add(&late, 5);
	file_owners_add(&both, 5);
	file_owners_add(&both, 6);
	file_owners_charge(&late, *state, WORKER_LANES_FAST_NS, NOW);
	assert_int_equal(file_owners_rank(&late, *state, NOW), WORKER_RANK_LATE);
	assert_true(file_owners_rank(&both, *state, NOW) < WORKER_RANK_LATE);
	file_owners_charge(&both, *state, WORKER_LANES_TRY_NS, NOW);
	assert_int_equal(file_owners_rank(&both, *state, NOW), WORKER_RANK_LATE);
}

/* Each file that takes long makes one more of them late, until all files of theirs are. */
static void a_file_of_many_is_late_when_those_known_by_name_are(void **state)
{
	struct file_owners many = { 0 };
	struct file_owners nobody = { 0 };

	for (uint64_t id = 1; id <= FILE_OWNERS_MAX + 2; id++)
		file_owners_add(&many, id);
	file_owners_add(&nobody, 0);
	file_owners_charge(&many, *state, WORKER_LANES_FAST_NS, NOW);
	assert_int_equal(file_owners_rank(&many, *state, NOW), WORKER_RANK_LATE);
	assert_true(file_owners_rank(&nobody, *state, NOW) < WORKER_RANK_LATE);
	file_owners_charge(&nobody, *state, WORKER_LANES_TRY_NS, NOW);
	assert_int_equal(file_owners_rank(&nobody, *state, NOW), WORKER_RANK_LATE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_file_of_nobody_takes_the_fast_lane),
		TEST(it_takes_the_slow_lane_when_all_its_owners_are_punished),
		TEST(a_file_of_many_is_punished_for_nobody),
		TEST(a_file_has_the_best_rank_of_its_owners),
		TEST(a_file_of_many_is_late_when_those_known_by_name_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
