/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/pod_asks.h"

#include "base/clock.h"
#include "base/err.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

#define START_NS (1000 * NSEC_PER_SEC)
#define STEP_NS (100 * NSEC_PER_MSEC)
#define MINUTE_NS (60 * NSEC_PER_SEC)

static const struct cgroup_owner container = { .kind = CGROUP_CONTAINER,
					       .pod_uid = "11111111-2222",
					       .container_id = "aaaa" };

static int set_up(void **state)
{
	*state = test_calloc(1, sizeof(struct pod_asks));
	return 0;
}

static int tear_down(void **state)
{
	test_free(*state);
	return 0;
}

/* Looks ten times a second, as the symbolizer does; returns how often the kubelet is asked. */
static size_t look(struct pod_asks *asks, const struct cgroup_owner *owner, bool has_pod,
		   uint64_t start_ns, uint64_t for_ns)
{
	size_t nr = 0;

	for (uint64_t ns = start_ns; ns < start_ns + for_ns; ns += STEP_NS)
		nr += pod_asks_is_due(asks, owner, has_pod, ns);
	return nr;
}

static void a_pod_that_is_not_listed_is_asked_for_ever_less(void **state)
{
	static const uint64_t due_ns[] = { 0, NSEC_PER_SEC, 4 * NSEC_PER_SEC, 16 * NSEC_PER_SEC };
	(void)state;

	for (size_t i = 0; i < array_len(due_ns); i++) {
		assert_true(pod_asks_is_due(*state, &container, false, START_NS + due_ns[i]));
		assert_false(pod_asks_is_due(*state, &container, false, START_NS + due_ns[i]));
		if (i > 0)
			assert_false(pod_asks_is_due(*state, &container, false,
						     START_NS + 4 * due_ns[i] - 1));
	}
}

static void its_other_containers_are_asked_for_with_it(void **state)
{
	struct cgroup_owner other = container;
	struct cgroup_owner own = { .kind = CGROUP_POD };

	snprintf(other.container_id, sizeof(other.container_id), "bbbb");
	memcpy(own.pod_uid, container.pod_uid, sizeof(own.pod_uid));
	assert_true(pod_asks_is_due(*state, &container, false, START_NS));
	assert_false(pod_asks_is_due(*state, &other, false, START_NS));
	assert_false(pod_asks_is_due(*state, &own, false, START_NS));
}

static void what_never_comes_is_asked_for_every_ten_minutes_in_the_end(void **state)
{
	assert_in_range(look(*state, &container, false, START_NS, MINUTE_NS), 1, 4);
	(void)look(*state, &container, false, START_NS + MINUTE_NS, 30 * MINUTE_NS);
	assert_in_range(look(*state, &container, false, START_NS + 31 * MINUTE_NS, 60 * MINUTE_NS),
			5, 6);
}

static void a_container_of_a_listed_pod_is_asked_for_eagerly_at_first(void **state)
{
	struct cgroup_owner other = container;

	assert_in_range(look(*state, &container, true, START_NS, NSEC_PER_SEC), 4, 5);
	assert_in_range(look(*state, &container, true, START_NS + NSEC_PER_SEC, 4 * NSEC_PER_SEC),
			3, 4);
	assert_in_range(look(*state, &container, true, START_NS + 5 * NSEC_PER_SEC,
			     MINUTE_NS - 5 * NSEC_PER_SEC),
			3, 4);
	snprintf(other.container_id, sizeof(other.container_id), "bbbb");
	assert_true(pod_asks_is_due(*state, &other, true, START_NS + MINUTE_NS));
}

static void a_pod_that_comes_to_be_known_starts_anew(void **state)
{
	(void)look(*state, &container, false, START_NS, MINUTE_NS);
	assert_true(pod_asks_is_due(*state, &container, true, START_NS + MINUTE_NS));
}

static void a_container_without_a_pod_in_its_path_is_told_by_its_id(void **state)
{
	const struct cgroup_owner owner = { .kind = CGROUP_CONTAINER, .container_id = "aaaa" };
	const struct cgroup_owner other = { .kind = CGROUP_CONTAINER, .container_id = "bbbb" };

	assert_true(pod_asks_is_due(*state, &owner, false, START_NS));
	assert_false(pod_asks_is_due(*state, &owner, false, START_NS));
	assert_true(pod_asks_is_due(*state, &other, false, START_NS));
}

/* A hundred thousand pods that come and go do not make one forgotten that is asked for rarely. */
static void a_flood_does_not_bring_back_what_is_known_to_be_unknown(void **state)
{
	struct cgroup_owner flood = { .kind = CGROUP_POD };

	(void)look(*state, &container, false, START_NS, MINUTE_NS);
	for (unsigned int i = 0; i < 100000; i++) {
		snprintf(flood.pod_uid, sizeof(flood.pod_uid), "%u", i);
		assert_true(pod_asks_is_due(*state, &flood, false, START_NS + 20 * NSEC_PER_SEC));
	}
	assert_false(pod_asks_is_due(*state, &container, false, START_NS + 20 * NSEC_PER_SEC));
}

#define ASKS_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ASKS_TEST(a_pod_that_is_not_listed_is_asked_for_ever_less),
		ASKS_TEST(its_other_containers_are_asked_for_with_it),
		ASKS_TEST(what_never_comes_is_asked_for_every_ten_minutes_in_the_end),
		ASKS_TEST(a_container_of_a_listed_pod_is_asked_for_eagerly_at_first),
		ASKS_TEST(a_pod_that_comes_to_be_known_starts_anew),
		ASKS_TEST(a_container_without_a_pod_in_its_path_is_told_by_its_id),
		ASKS_TEST(a_flood_does_not_bring_back_what_is_known_to_be_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
