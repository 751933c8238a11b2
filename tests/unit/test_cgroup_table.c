/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/cgroup_table.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

#define NOW UINT64_C(5000000000000)
#define ID "9a4e161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b6"
#define POD "/kubepods/pod43ef20e3-2778-49ae-92ed-f9f23d29979f"

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

static void a_full_table_gives_up_its_dead(void **state)
{
	struct cgroup_table table = { 0 };

	(void)state;
	fill(&table, CGROUP_TABLE_MAX / 2, true);
	fill(&table, CGROUP_TABLE_MAX, false);
	assert_non_null(cgroup_table_add(&table, CGROUP_TABLE_MAX + 1, "/new", NOW + 1));
	assert_int_equal(table.nr_cgroups, CGROUP_TABLE_MAX / 2 + 1);
	assert_null(cgroup_table_find(&table, 1));
	assert_non_null(cgroup_table_find(&table, CGROUP_TABLE_MAX));
	cgroup_table_done(&table);
}

static void a_table_full_of_living_ones_takes_no_more(void **state)
{
	struct cgroup_table table = { 0 };

	(void)state;
	fill(&table, CGROUP_TABLE_MAX, false);
	assert_null(cgroup_table_add(&table, CGROUP_TABLE_MAX + 1, "/new", NOW + 1));
	assert_int_equal(table.nr_cgroups, CGROUP_TABLE_MAX);
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
		cmocka_unit_test(a_full_table_gives_up_its_dead),
		cmocka_unit_test(a_table_full_of_living_ones_takes_no_more),
		cmocka_unit_test(paths_have_a_bound_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
