/* SPDX-License-Identifier: Apache-2.0 */
/* Births and deaths that are told late, in part or not at all. */
#include "pipeline/identity.h"

#include "base/clock.h"
#include "cgroup_fixture.h"

#include <string.h>

#include "pod_list_text.h"
#include "unit.h"

#define MAX_PODS 10
#define MAX_BYTES 65536
#define POD_UID "43ef20e3-2778-49ae-92ed-f9f23d29979f"
#define POD_DIR "/kubepods/burstable/pod" POD_UID
#define SANDBOX_DIR POD_DIR "/20aaabd0d5fe6f402db8571ade0cfd800a3195fa91a079f2046184e499f43113"
#define LISTED_ID "9a4e161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b6"
#define LATE_ID "0000161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b6"
#define PODS                                                                                       \
	"{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\"," \
	"\"uid\":\"" POD_UID "\"},\"spec\":{\"containers\":[{\"name\":\"main\"}]},\"status\":{"    \
	"\"containerStatuses\":[{\"name\":\"main\",\"containerID\":\"containerd://" LISTED_ID      \
	"\"}]}}]}"

struct fixture {
	struct cgroup_fixture cgroups;
	struct pod_index *pods;
	struct identity *identity;
};

static int set_up(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	*state = fixture;
	cgroup_fixture_init(&fixture->cgroups);
	assert_int_equal(pod_index_new(MAX_PODS, &fixture->pods), 0);
	const struct identity_opts opts = { .cgroup_fs = fixture->cgroups.fs,
					    .pods = fixture->pods,
					    .host_name = "host-1" };
	assert_int_equal(identity_new(&opts, &fixture->identity), 0);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	identity_free(fixture->identity);
	pod_index_free(fixture->pods);
	cgroup_fixture_done(&fixture->cgroups);
	test_free(fixture);
	return 0;
}

static void be_born(const struct fixture *fixture, uint64_t id, const char *path)
{
	struct cgroup_event event = { .time_ns = clock_mono_ns(), .id = id, .kind = CGROUP_BORN };

	event.path_bytes = (uint32_t)strlen(path) + 1;
	memcpy(event.path, path, event.path_bytes);
	identity_follow(fixture->identity, &event);
}

static void list_pods(const struct fixture *fixture, uint64_t now_ns)
{
	const struct pod_list_opts opts = { .max_bytes = MAX_BYTES };
	struct pod_list *list = NULL;

	assert_int_equal(pod_list_parse(PODS, strlen(PODS), &opts, &list), 0);
	assert_int_equal(pod_index_update(fixture->pods, list, now_ns), 0);
}

/* NULL: there must be no such attribute. */
static void expect_attribute(const struct fixture *fixture, uint64_t cgroup_id, const char *key,
			     const char *value)
{
	const struct profile_sample sample = { .cgroup_id = cgroup_id, .count = 1 };
	_cleanup_(builder_freep) struct builder *builder = NULL;

	assert_int_equal(builder_new(MAX_BYTES, &builder), 0);
	assert_int_equal(builder_add_sample(builder, &sample), 0);
	assert_int_equal(identity_add_resource(fixture->identity, cgroup_id, builder), 0);
	const struct profile *profile = builder_peek(builder);
	const char *found = profile_resource_get(profile, profile->samples[0].resource, key);
	assert_int_equal(found != NULL, value != NULL);
	if (value)
		assert_string_equal(found, value);
}

/* A kubelet under load lists a restarted container when it has run for long. */
static void a_container_that_is_listed_late_is_not_taken_for_the_sandbox(void **state)
{
	const struct fixture *fixture = *state;

	be_born(fixture, 100, SANDBOX_DIR);
	be_born(fixture, 200, POD_DIR "/" LISTED_ID);
	be_born(fixture, 300, POD_DIR "/" LATE_ID);
	list_pods(fixture, clock_mono_ns() + 60 * NSEC_PER_SEC);
	expect_attribute(fixture, 300, "k8s.container.name", NULL);
	expect_attribute(fixture, 300, "flamelet.identity", "partial");
	expect_attribute(fixture, 200, "k8s.container.name", "main");
	expect_attribute(fixture, 100, "k8s.container.name", SANDBOX_NAME);
}

static void a_death_that_was_lost_is_noticed(void **state)
{
	struct fixture *fixture = *state;
	uint64_t now_ns = clock_mono_ns();

	cgroup_fixture_require(&fixture->cgroups);
	uint64_t gone_id = cgroup_fixture_make(&fixture->cgroups, SANDBOX_DIR);
	uint64_t id = cgroup_fixture_make(&fixture->cgroups, POD_DIR);
	identity_see(fixture->identity, gone_id);
	identity_see(fixture->identity, id);
	cgroup_fixture_remove(&fixture->cgroups, SANDBOX_DIR);
	for (uint64_t i = 1; i <= 3; i++)
		identity_tidy(fixture->identity, now_ns + i * 2 * CGROUP_FORGET_AFTER_NS);
	assert_int_equal(identity_get_stats(fixture->identity).nr_cgroups, 1);
	identity_see(fixture->identity, id);
	assert_int_equal(identity_get_stats(fixture->identity).nr_late, 2);
}

/* Where it ends is not known, and that is what counts. */
static void a_path_that_is_cut_is_looked_up(void **state)
{
	const struct fixture *fixture = *state;
	char path[CGROUP_PATH_MAX];

	memset(path, 'p', sizeof(path));
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	be_born(fixture, 100, path);
	assert_int_equal(identity_get_stats(fixture->identity).nr_births, 1);
	assert_int_equal(identity_get_stats(fixture->identity).nr_cgroups, 0);
	path[sizeof(path) - 2] = '\0';
	be_born(fixture, 100, path);
	assert_int_equal(identity_get_stats(fixture->identity).nr_cgroups, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_container_that_is_listed_late_is_not_taken_for_the_sandbox),
		TEST(a_death_that_was_lost_is_noticed),
		TEST(a_path_that_is_cut_is_looked_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
