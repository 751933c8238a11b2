/* SPDX-License-Identifier: Apache-2.0 */
/* In a cgroup of the test's own; skipped where none can be made. */
#include "capture/perf/cgroup_ids.h"

#include "cgroup_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

struct fixture {
	struct cgroup_fixture cgroups;
	struct cgroup_ids *ids;
	uint64_t slots[CGROUP_SLOTS];
	struct verdict_slots verdicts;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	assert_non_null(fixture);
	cgroup_fixture_init(&fixture->cgroups);
	fixture->verdicts.slots = fixture->slots;
	if (fixture->cgroups.fs)
		assert_int_equal(cgroup_ids_new(fixture->cgroups.fs, &fixture->ids), 0);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	cgroup_ids_free(fixture->ids);
	cgroup_fixture_done(&fixture->cgroups);
	free(fixture);
	return 0;
}

static struct fixture *get_or_skip(void **state)
{
	struct fixture *fixture = *state;

	cgroup_fixture_require(&fixture->cgroups);
	return fixture;
}

static uint32_t get(struct fixture *fixture, const char *path)
{
	return cgroup_ids_get(fixture->ids, path, strlen(path));
}

static enum cgroup_verdict verdict_of(const struct fixture *fixture, uint32_t number)
{
	return cgroup_ids_verdict(fixture->ids, number, &fixture->verdicts, CGROUP_WANTED);
}

static void an_id_is_its_directorys_and_is_told_once_with_all_above(void **state)
{
	struct fixture *fixture = get_or_skip(state);
	uint64_t id = cgroup_fixture_make(&fixture->cgroups, "/pods/one");
	struct cgroup_event event;

	uint32_t number = get(fixture, "/pods/one");
	assert_true(number != CGROUP_IDS_NONE);
	assert_int_equal(cgroup_ids_id(fixture->ids, number), id);
	assert_int_equal(get(fixture, "/pods/one"), number);
	static const char *const paths[] = { "/", "/pods", "/pods/one" };
	for (size_t i = 0; i < 3; i++) {
		assert_true(cgroup_ids_next_birth(fixture->ids, &event));
		assert_int_equal(event.kind, CGROUP_BORN);
		assert_string_equal(event.path, paths[i]);
		assert_int_equal(event.path_bytes, strlen(paths[i]) + 1);
	}
	assert_int_equal(event.id, id);
	assert_false(cgroup_ids_next_birth(fixture->ids, &event));
}

static void verdicts_are_those_of_the_nearest_above(void **state)
{
	struct fixture *fixture = get_or_skip(state);
	uint64_t pod = cgroup_fixture_make(&fixture->cgroups, "/pods/one");

	cgroup_fixture_make(&fixture->cgroups, "/pods/one/a/b");
	cgroup_fixture_make(&fixture->cgroups, "/pods/two");
	assert_int_equal(verdict_slots_set(&fixture->verdicts, pod, CGROUP_EXCLUDED), 0);
	assert_int_equal(verdict_of(fixture, get(fixture, "/pods/one/a/b")), CGROUP_EXCLUDED);
	assert_int_equal(verdict_of(fixture, get(fixture, "/pods/one")), CGROUP_EXCLUDED);
	assert_int_equal(verdict_of(fixture, get(fixture, "/pods/two")), CGROUP_WANTED);
	assert_int_equal(verdict_of(fixture, CGROUP_IDS_NONE), CGROUP_UNDECIDED);
	verdict_slots_forget(&fixture->verdicts, pod);
	assert_int_equal(verdict_of(fixture, get(fixture, "/pods/one/a/b")), CGROUP_WANTED);
}

static void a_cgroup_that_is_gone_keeps_its_id_until_it_is_made_again(void **state)
{
	struct fixture *fixture = get_or_skip(state);
	uint64_t first = cgroup_fixture_make(&fixture->cgroups, "/unit");
	struct cgroup_event event;

	uint32_t number = get(fixture, "/unit");
	cgroup_fixture_remove(&fixture->cgroups, "/unit");
	assert_int_equal(get(fixture, "/unit"), number);
	assert_int_equal(cgroup_ids_id(fixture->ids, number), first);
	while (cgroup_ids_next_birth(fixture->ids, &event))
		;
	uint64_t second = cgroup_fixture_make(&fixture->cgroups, "/unit");
	assert_int_not_equal(second, first);
	assert_int_equal(cgroup_ids_id(fixture->ids, get(fixture, "/unit")), second);
	assert_true(cgroup_ids_next_birth(fixture->ids, &event));
	assert_int_equal(event.id, second);
	assert_false(cgroup_ids_next_birth(fixture->ids, &event));
}

static void what_cannot_be_a_cgroup_here_has_no_number(void **state)
{
	static const char *const paths[] = {
		"",    "pods",	"/nowhere",	 "/nowhere/below",
		"/..", "/../x", "/pods/../pods", "/pods/..",
	};
	struct fixture *fixture = get_or_skip(state);
	char deep[512] = "", long_path[CGROUP_PATH_MAX + 1];

	cgroup_fixture_make(&fixture->cgroups, "/pods");
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		assert_int_equal(get(fixture, paths[i]), CGROUP_IDS_NONE);
	memset(long_path, '/', sizeof(long_path));
	assert_int_equal(cgroup_ids_get(fixture->ids, long_path, sizeof(long_path)),
			 CGROUP_IDS_NONE);
	for (int i = 0; i < CGROUP_IDS_MAX_DEPTH; i++)
		memcpy(deep + (size_t)2 * (size_t)i, "/d", 3);
	cgroup_fixture_make(&fixture->cgroups, deep);
	assert_int_equal(get(fixture, deep), CGROUP_IDS_NONE);
	deep[strlen(deep) - 2] = '\0';
	assert_int_not_equal(get(fixture, deep), CGROUP_IDS_NONE);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(an_id_is_its_directorys_and_is_told_once_with_all_above),
		CASE(verdicts_are_those_of_the_nearest_above),
		CASE(a_cgroup_that_is_gone_keeps_its_id_until_it_is_made_again),
		CASE(what_cannot_be_a_cgroup_here_has_no_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
