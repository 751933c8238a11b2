/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/cgroup_table.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

#define NOW UINT64_C(5000000000000)
#define ID "9a4e161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b6"
#define ID_2 "9a4e161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b7"
#define ID_3 "9a4e161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b8"
#define ID_4 "9a4e161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b9"
#define POD "/kubepods/pod43ef20e3-2778-49ae-92ed-f9f23d29979f"
#define OTHER_POD "/kubepods/pod00000000-2778-49ae-92ed-f9f23d29979f"

static void fill(struct cgroup_table *table, size_t nr, bool is_dead)
{
	while (table->nr_cgroups < nr) {
		struct known_cgroup *cgroup = cgroup_table_add(table, table->nr_cgroups + 1, "/x",
							       NOW);

		assert_non_null(cgroup);
		cgroup->is_dead = is_dead;
	}
}

static void a_cgroup_is_found_by_its_id(void **state)
{
	struct cgroup_table table = { 0 };

	(void)state;
	assert_null(cgroup_table_find(&table, 7));
	assert_non_null(cgroup_table_add(&table, 7, POD "/" ID, NOW));
	assert_non_null(cgroup_table_add(&table, 8, "/system.slice", NOW + 1));

	const struct known_cgroup *cgroup = cgroup_table_find(&table, 7);
	assert_non_null(cgroup);
	assert_int_equal(cgroup->owner.kind, CGROUP_CONTAINER);
	assert_string_equal(cgroup->owner.container_id, ID);
	assert_string_equal(cgroup->path, POD "/" ID);
	assert_int_equal(cgroup->first_seen_ns, NOW);
	assert_int_equal(cgroup_table_find(&table, 8)->owner.kind, CGROUP_HOST);
	assert_null(cgroup_table_find(&table, 9));
	cgroup_table_done(&table);
}

static void what_is_dead_for_long_is_forgotten(void **state)
{
	struct cgroup_table table = { 0 };

	(void)state;
	fill(&table, 10, false);
	cgroup_table_find(&table, 3)->is_dead = true;
	cgroup_table_find(&table, 4)->is_dead = true;
	cgroup_table_find(&table, 4)->last_seen_ns = NOW + CGROUP_FORGET_AFTER_NS;

	cgroup_table_tidy(&table, NOW + CGROUP_FORGET_AFTER_NS);
	assert_int_equal(table.nr_cgroups, 10);
	cgroup_table_tidy(&table, NOW + CGROUP_FORGET_AFTER_NS + 1);
	assert_int_equal(table.nr_cgroups, 9);
	assert_null(cgroup_table_find(&table, 3));
	for (uint64_t id = 1; id <= 10; id++)
		assert_true(id == 3 || cgroup_table_find(&table, id)->id == id);
	cgroup_table_done(&table);
}

static void what_lives_is_never_forgotten(void **state)
{
	struct cgroup_table table = { 0 };

	(void)state;
	fill(&table, 10, false);
	cgroup_table_tidy(&table, UINT64_MAX);
	assert_int_equal(table.nr_cgroups, 10);
	cgroup_table_done(&table);
}

static void a_full_table_gives_up_its_dead_and_what_can_be_looked_up_again(void **state)
{
	struct cgroup_table table = { 0 };
	struct known_cgroup *cgroup;

	(void)state;
	assert_non_null(cgroup_table_add(&table, 1, "/kubepods", NOW));
	assert_non_null(cgroup_table_add(&table, 2, POD, NOW));
	assert_non_null(cgroup_table_add(&table, 3, POD "/" ID, NOW));
	cgroup_table_add(&table, 4, POD "/" ID "/child", NOW)->is_sampled = true;
	cgroup_table_add(&table, 5, "/sampled", NOW)->is_sampled = true;
	cgroup = cgroup_table_add(&table, 6, "/gone", NOW);
	cgroup->is_dead = true;
	cgroup->verdict = CGROUP_EXCLUDED; /* the kernel still has it */
	assert_non_null(cgroup_table_add(&table, 7, POD "/" ID "/idle", NOW));
	cgroup = cgroup_table_add(&table, 8, "/dead", NOW);
	cgroup->is_dead = cgroup->is_sampled = true;
	fill(&table, CGROUP_TABLE_MAX, false);

	assert_non_null(cgroup_table_add(&table, CGROUP_TABLE_MAX + 1, "/new", NOW + 1));
	assert_int_equal(table.nr_cgroups, 7);
	for (uint64_t id = 1; id <= 6; id++)
		assert_int_equal(cgroup_table_find(&table, id)->id, id);
	assert_null(cgroup_table_find(&table, 7));
	assert_null(cgroup_table_find(&table, 8));
	assert_non_null(cgroup_table_find(&table, CGROUP_TABLE_MAX + 1));
	cgroup_table_done(&table);
}

/* Going through all of it for each of ten thousand births in a second would take longer than the
 * second. */
static void room_is_made_once_a_second(void **state)
{
	struct cgroup_table table = { 0 };

	(void)state;
	fill(&table, CGROUP_TABLE_MAX, false);
	for (size_t i = 0; i < table.nr_cgroups; i++)
		table.cgroups[i].is_sampled = true;
	assert_null(cgroup_table_add(&table, CGROUP_TABLE_MAX + 1, "/new", NOW + 1));
	assert_int_equal(table.nr_cgroups, CGROUP_TABLE_MAX);
	cgroup_table_find(&table, 1)->is_dead = true;
	assert_null(cgroup_table_add(&table, CGROUP_TABLE_MAX + 1, "/new", NOW + NSEC_PER_SEC));
	assert_non_null(
		cgroup_table_add(&table, CGROUP_TABLE_MAX + 1, "/new", NOW + NSEC_PER_SEC + 1));
	assert_int_equal(table.nr_cgroups, CGROUP_TABLE_MAX);
	cgroup_table_done(&table);
}

static void the_oldest_container_of_a_pod_may_be_its_sandbox(void **state)
{
	struct cgroup_table table = { 0 };

	(void)state;
	/* As the inventory finds them: in no order. */
	assert_non_null(cgroup_table_add(&table, 20, POD "/" ID_2, NOW));
	assert_int_equal(cgroup_table_seen_ns(cgroup_table_find(&table, 20)), NOW);
	assert_non_null(cgroup_table_add(&table, 10, POD "/" ID, NOW + 1));
	assert_non_null(cgroup_table_add(&table, 30, POD "/" ID_3, NOW + 2));
	assert_non_null(cgroup_table_add(&table, 40, POD "/" ID "/child", NOW + 3));
	assert_non_null(cgroup_table_add(&table, 50, POD "/" ID_2 "/child", NOW + 4));
	assert_non_null(cgroup_table_add(&table, 60, OTHER_POD "/" ID_4, NOW + 5));
	assert_int_equal(cgroup_table_seen_ns(cgroup_table_find(&table, 10)), NOW + 1);
	assert_int_equal(cgroup_table_seen_ns(cgroup_table_find(&table, 20)), UINT64_MAX);
	assert_int_equal(cgroup_table_seen_ns(cgroup_table_find(&table, 30)), UINT64_MAX);
	assert_int_equal(cgroup_table_seen_ns(cgroup_table_find(&table, 40)), NOW + 3);
	assert_int_equal(cgroup_table_seen_ns(cgroup_table_find(&table, 50)), UINT64_MAX);
	assert_int_equal(cgroup_table_seen_ns(cgroup_table_find(&table, 60)), NOW + 5);

	/* A sandbox that is made anew comes when all others are gone. */
	for (uint64_t id = 10; id <= 30; id += 10)
		cgroup_table_find(&table, id)->is_dead = true;
	assert_non_null(cgroup_table_add(&table, 70, POD "/" ID_4, NOW + 6));
	assert_int_equal(cgroup_table_seen_ns(cgroup_table_find(&table, 70)), NOW + 6);
	cgroup_table_done(&table);
}

static void of_very_many_containers_the_last_are_no_sandbox(void **state)
{
	struct cgroup_table table = { 0 };
	char path[sizeof(POD "/" ID)];

	(void)state;
	for (uint64_t id = 1; id <= 1000; id++) {
		snprintf(path, sizeof(path), POD "/%064llx", (unsigned long long)id);
		cgroup_table_add(&table, id, path, NOW)->is_dead = true;
	}
	assert_int_equal(cgroup_table_seen_ns(cgroup_table_find(&table, 100)), NOW);
	assert_int_equal(cgroup_table_seen_ns(cgroup_table_find(&table, 1000)), UINT64_MAX);
	cgroup_table_done(&table);
}

/* Somebody may make many cgroups with long names. */
static void paths_have_a_bound_of_their_own(void **state)
{
	struct cgroup_table table = { 0 };
	char path[1024];
	size_t nr = 2 * CGROUP_TABLE_MAX_PATH_BYTES / sizeof(path);

	(void)state;
	memset(path, 'p', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	for (uint64_t id = 1; id <= nr; id++)
		cgroup_table_add(&table, id, path, NOW)->is_dead = true;
	assert_non_null(cgroup_table_find(&table, 1)->path);
	assert_null(cgroup_table_find(&table, nr)->path);
	assert_true(table.path_bytes <= CGROUP_TABLE_MAX_PATH_BYTES);

	cgroup_table_tidy(&table, UINT64_MAX);
	assert_int_equal(table.path_bytes, 0);
	assert_non_null(cgroup_table_add(&table, 1, path, NOW)->path);
	cgroup_table_done(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cgroup_is_found_by_its_id),
		cmocka_unit_test(what_is_dead_for_long_is_forgotten),
		cmocka_unit_test(what_lives_is_never_forgotten),
		cmocka_unit_test(a_full_table_gives_up_its_dead_and_what_can_be_looked_up_again),
		cmocka_unit_test(room_is_made_once_a_second),
		cmocka_unit_test(the_oldest_container_of_a_pod_may_be_its_sandbox),
		cmocka_unit_test(of_very_many_containers_the_last_are_no_sandbox),
		cmocka_unit_test(paths_have_a_bound_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
