/* SPDX-License-Identifier: Apache-2.0 */
/* With real cgroups, made below one of the test's own, and the pod list of a real kubelet. */
#include "pipeline/identity.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "cgroup_fixture.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>

#include "pod_list_text.h"
#include "unit.h"

#define PODS_FILE FIXTURES_DIR "/kubelet/pods-1.36.json"
#define MAX_PODS 100
#define MAX_BYTES ((size_t)16 << 20)

#define POD_UID "43ef20e3-2778-49ae-92ed-f9f23d29979f"
#define POD_DIR "/kubepods/burstable/pod" POD_UID
#define CONTAINER_ID "9a4e161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b6"
#define CONTAINER_DIR POD_DIR "/" CONTAINER_ID
#define SANDBOX_ID "20aaabd0d5fe6f402db8571ade0cfd800a3195fa91a079f2046184e499f43113"
#define SANDBOX_DIR POD_DIR "/" SANDBOX_ID
#define STRANGER_ID "0000161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b6"
#define STRANGER_UID "00000000-2778-49ae-92ed-f9f23d29979f"
#define STRANGER_DIR "/kubepods/pod" STRANGER_UID "/" STRANGER_ID
#define DOCKER_DIR "/docker/" STRANGER_ID
#define HOST_DIR "/system.slice/ssh.service"

struct fixture {
	struct cgroup_fixture cgroups;
	struct pod_index *pods;
	struct identity *identity; /* without a kubelet to ask */
	struct builder *builder; /* of the last resource */
};

static struct identity *new_identity(const struct fixture *fixture, struct pod_watch *watch)
{
	const struct identity_opts opts = { .cgroup_fs = fixture->cgroups.fs,
					    .pods = fixture->pods,
					    .watch = watch,
					    .node_name = "node-1",
					    .host_name = "host-1" };
	struct identity *identity = NULL;

	assert_int_equal(identity_new(&opts, &identity), 0);
	return identity;
}

static int set_up(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	*state = fixture;
	cgroup_fixture_init(&fixture->cgroups);
	if (!fixture->cgroups.fs)
		return 0;
	assert_int_equal(pod_index_new(MAX_PODS, &fixture->pods), 0);
	fixture->identity = new_identity(fixture, NULL);
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	identity_free(fixture->identity);
	builder_free(fixture->builder);
	pod_index_free(fixture->pods);
	cgroup_fixture_done(&fixture->cgroups);
	test_free(fixture);
	return 0;
}

/* The test's fixture, or the end of the test. */
static struct fixture *fixture_or_skip(void **state)
{
	struct fixture *fixture = *state;

	cgroup_fixture_require(&fixture->cgroups);
	return fixture;
}

static uint64_t make_cgroup(const struct fixture *fixture, const char *path)
{
	return cgroup_fixture_make(&fixture->cgroups, path);
}

static void remove_cgroup(const struct fixture *fixture, const char *path)
{
	cgroup_fixture_remove(&fixture->cgroups, path);
}

/* The kubelet's answer arrives. */
static void list_pods(const struct fixture *fixture, uint64_t now_ns)
{
	const struct pod_list_opts list_opts = { .max_bytes = MAX_BYTES };
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(MAX_BYTES);
	struct pod_list *list = NULL;

	assert_int_equal(file_read_at(AT_FDCWD, PODS_FILE, &body), 0);
	assert_int_equal(pod_list_parse(body.data, body.len, &list_opts, &list), 0);
	assert_int_equal(pod_index_update(fixture->pods, list, now_ns), 0);
}

/* A window with three samples of the cgroup gets its resources; returns that of the samples. */
static uint32_t resource_of(struct fixture *fixture, uint64_t cgroup_id)
{
	const struct profile_sample sample = { .cgroup_id = cgroup_id, .count = 3 };

	builder_free(fixture->builder);
	assert_int_equal(builder_new(MAX_BYTES, &fixture->builder), 0);
	assert_int_equal(builder_add_sample(fixture->builder, &sample), 0);
	assert_int_equal(identity_add_resource(fixture->identity, cgroup_id, fixture->builder), 0);
	assert_int_equal(builder_peek(fixture->builder)->nr_samples, 1);
	return builder_peek(fixture->builder)->samples[0].resource;
}

/* NULL when the resource of the cgroup does not have it. */
static const char *attribute_of(struct fixture *fixture, uint64_t cgroup_id, const char *key)
{
	uint32_t resource = resource_of(fixture, cgroup_id);

	return profile_resource_get(builder_peek(fixture->builder), resource, key);
}

/* The resource has these attributes and no others. */
static void assert_resource(struct fixture *fixture, uint64_t cgroup_id,
			    const struct attribute *expected, size_t nr)
{
	uint32_t id = resource_of(fixture, cgroup_id);
	const struct profile *profile = builder_peek(fixture->builder);

	for (size_t i = 0; i < nr; i++) {
		const char *value = profile_resource_get(profile, id, expected[i].key);

		assert_non_null(value);
		assert_string_equal(value, expected[i].value);
	}
	assert_int_equal(profile->resources[id].nr, nr);
}

static void expect_states(const struct fixture *fixture, enum identity_state state, uint64_t nr)
{
	struct identity_stats stats = identity_get_stats(fixture->identity);

	assert_int_equal(stats.nr_samples[state], nr);
}

static void a_container_has_all_attributes_of_its_pod(void **state)
{
	static const struct attribute expected[] = {
		{ "service.name", "web-svc" },
		{ "service.namespace", "shop" },
		{ "service.instance.id", "shop.web-5b5cc55988-mjsx8.spin" },
		{ "k8s.namespace.name", "shop" },
		{ "k8s.pod.name", "web-5b5cc55988-mjsx8" },
		{ "k8s.pod.uid", POD_UID },
		{ "k8s.container.name", "spin" },
		{ "container.id", CONTAINER_ID },
		{ "k8s.container.restart_count", "0" },
		{ "container.image.name", "local.test/bb" },
		{ "container.image.tags", "1" },
		{ "k8s.deployment.name", "web" },
		{ "k8s.pod.start_time", "2026-11-21T03:37:48Z" },
		{ "k8s.node.name", "node-1" },
		{ "host.name", "host-1" },
		{ "flamelet.identity", "kubelet" },
	};
	struct fixture *fixture = fixture_or_skip(state);
	uint64_t id = make_cgroup(fixture, CONTAINER_DIR);

	identity_see(fixture->identity, id);
	list_pods(fixture, clock_mono_ns());
	assert_true(identity_is_final(fixture->identity, id));
	assert_resource(fixture, id, expected, array_len(expected));
	expect_states(fixture, IDENTITY_KUBELET, 3);
	assert_int_equal(identity_get_stats(fixture->identity).nr_cgroups, 1);
}

static void workloads_have_the_attribute_of_their_kind(void **state)
{
	static const struct {
		const char *dir, *key, *name;
	} cases[] = {
		{ "/kubepods/pod53b9c234-2cc3-4782-a38f-6a0b9af5244f", "k8s.statefulset.name",
		  "db" },
		{ "/kubepods/pod4fc92629-e0af-479c-9258-03ce28f3f3ce", "k8s.daemonset.name", "ds" },
		{ "/kubepods/podfbac3eb9-3e12-4c8c-a638-350644029be0", "k8s.job.name", "once" },
		{ "/kubepods/podef2bf765-7d26-4c92-a7f3-1e94a84a79c5", "k8s.cronjob.name", "tick" },
	};
	struct fixture *fixture = fixture_or_skip(state);

	list_pods(fixture, clock_mono_ns());
	for (size_t i = 0; i < array_len(cases); i++) {
		uint64_t id = make_cgroup(fixture, cases[i].dir);

		identity_see(fixture->identity, id);
		const char *name = attribute_of(fixture, id, cases[i].key);
		assert_non_null(name);
		assert_string_equal(name, cases[i].name);
	}
}

static void the_host_is_named_as_such(void **state)
{
	static const struct attribute expected[] = {
		{ "service.name", "ssh.service" }, { "process.linux.cgroup", "0::" HOST_DIR },
		{ "k8s.node.name", "node-1" },	   { "host.name", "host-1" },
		{ "flamelet.identity", "host" },
	};
	struct fixture *fixture = fixture_or_skip(state);
	uint64_t root_id = make_cgroup(fixture, "/");
	uint64_t id = make_cgroup(fixture, HOST_DIR);

	identity_see(fixture->identity, id);
	identity_see(fixture->identity, root_id);
	assert_true(identity_is_final(fixture->identity, id));
	assert_resource(fixture, id, expected, array_len(expected));
	assert_string_equal(attribute_of(fixture, root_id, "service.name"), "host");
	expect_states(fixture, IDENTITY_HOST, 6);
	assert_int_equal(identity_get_stats(fixture->identity).nr_missed, 0);
}

static void a_cgroup_that_was_gone_is_not_said_to_be_the_host(void **state)
{
	static const struct attribute expected[] = {
		{ "k8s.node.name", "node-1" },
		{ "host.name", "host-1" },
		{ "flamelet.identity", "unknown" },
	};
	struct fixture *fixture = fixture_or_skip(state);
	uint64_t id = make_cgroup(fixture, CONTAINER_DIR);

	remove_cgroup(fixture, CONTAINER_DIR);
	identity_see(fixture->identity, id);
	assert_true(identity_is_final(fixture->identity, id));
	assert_resource(fixture, id, expected, array_len(expected));
	expect_states(fixture, IDENTITY_UNKNOWN, 3);
	assert_int_equal(identity_get_stats(fixture->identity).nr_missed, 1);
	assert_int_equal(identity_get_stats(fixture->identity).nr_cgroups, 0);
}

static void without_a_kubelet_a_container_has_its_ids(void **state)
{
	static const struct attribute expected[] = {
		{ "k8s.pod.uid", POD_UID },	 { "container.id", CONTAINER_ID },
		{ "k8s.node.name", "node-1" },	 { "host.name", "host-1" },
		{ "flamelet.identity", "path" },
	};
	struct fixture *fixture = fixture_or_skip(state);
	uint64_t id = make_cgroup(fixture, CONTAINER_DIR);

	identity_see(fixture->identity, id);
	assert_true(identity_is_final(fixture->identity, id)); /* nobody to wait for */
	assert_resource(fixture, id, expected, array_len(expected));
	expect_states(fixture, IDENTITY_PATH, 3);
}

static void a_container_outside_pods_has_its_id(void **state)
{
	static const struct attribute expected[] = {
		{ "service.name", "docker-0000161f1570" },
		{ "container.id", STRANGER_ID },
		{ "container.runtime.name", "docker" },
		{ "process.linux.cgroup", "0::" DOCKER_DIR },
		{ "k8s.node.name", "node-1" },
		{ "host.name", "host-1" },
		{ "flamelet.identity", "host" },
	};
	struct fixture *fixture = fixture_or_skip(state);
	uint64_t id = make_cgroup(fixture, DOCKER_DIR);

	list_pods(fixture, clock_mono_ns());
	identity_see(fixture->identity, id);
	assert_resource(fixture, id, expected, array_len(expected));
}

static void a_pods_own_cgroup_has_no_container(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);
	uint64_t id = make_cgroup(fixture, POD_DIR);

	list_pods(fixture, clock_mono_ns());
	identity_see(fixture->identity, id);
	uint32_t resource = resource_of(fixture, id);
	const struct profile *profile = builder_peek(fixture->builder);
	assert_string_equal(profile_resource_get(profile, resource, "k8s.pod.name"),
			    "web-5b5cc55988-mjsx8");
	assert_null(profile_resource_get(profile, resource, "k8s.container.name"));
	assert_null(profile_resource_get(profile, resource, "container.id"));
	assert_null(profile_resource_get(profile, resource, "service.instance.id"));
}

static const char *container_name(struct fixture *fixture, uint64_t cgroup_id)
{
	return attribute_of(fixture, cgroup_id, "k8s.container.name");
}

static void a_container_that_is_gone_keeps_the_name_it_was_seen_with(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);
	uint64_t id = make_cgroup(fixture, CONTAINER_DIR);

	identity_see(fixture->identity, id);
	remove_cgroup(fixture, CONTAINER_DIR);
	identity_see(fixture->identity, id);
	list_pods(fixture, clock_mono_ns());
	assert_string_equal(container_name(fixture, id), "spin");
	assert_int_equal(identity_get_stats(fixture->identity).nr_missed, 0);
}

static void the_inventory_knows_containers_that_are_gone_when_they_are_sampled(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);
	uint64_t id = make_cgroup(fixture, CONTAINER_DIR);

	assert_int_equal(identity_learn_all(fixture->identity), 0);
	remove_cgroup(fixture, CONTAINER_DIR);
	identity_see(fixture->identity, id);
	list_pods(fixture, clock_mono_ns());
	assert_string_equal(container_name(fixture, id), "spin");
	assert_int_equal(identity_get_stats(fixture->identity).nr_missed, 0);
}

static void the_inventory_holds_all_cgroups_once(void **state)
{
	static const char *const dirs[] = { CONTAINER_DIR, STRANGER_DIR, DOCKER_DIR, HOST_DIR };
	struct fixture *fixture = fixture_or_skip(state);

	for (size_t i = 0; i < array_len(dirs); i++)
		make_cgroup(fixture, dirs[i]);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(identity_learn_all(fixture->identity), 0);
		/* The root; kubepods, burstable, two pods, their containers; two of docker, two of
		 * systemd. */
		assert_int_equal(identity_get_stats(fixture->identity).nr_cgroups, 11);
	}
}

static void an_inventory_that_cannot_be_taken_leaves_what_is_known(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);
	uint64_t id = make_cgroup(fixture, HOST_DIR);

	identity_see(fixture->identity, id);
	remove_cgroup(fixture, HOST_DIR);
	remove_cgroup(fixture, "/system.slice");
	assert_int_equal(rmdir(fixture->cgroups.root), 0);
	assert_true(identity_learn_all(fixture->identity) <= 0);
	assert_string_equal(attribute_of(fixture, id, "service.name"), "ssh.service");
}

/* The sandbox is told by a pod list that is some seconds younger than the first sight of its
 * cgroup. */
static void the_sandbox_of_an_inventory_is_still_told_by_exclusion(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);
	uint64_t id = make_cgroup(fixture, SANDBOX_DIR);

	list_pods(fixture, clock_mono_ns());
	assert_int_equal(identity_learn_all(fixture->identity), 0);
	identity_see(fixture->identity, id);
	assert_null(container_name(fixture, id));
	list_pods(fixture, clock_mono_ns() + SANDBOX_AFTER_NS);
	assert_string_equal(container_name(fixture, id), SANDBOX_NAME);
}

static struct cgroup_event event_of(enum cgroup_event_kind kind, uint64_t id, const char *path)
{
	struct cgroup_event event = { .time_ns = clock_mono_ns(), .id = id, .kind = kind };

	event.path_bytes = (uint32_t)strlen(path) + 1;
	memcpy(event.path, path, event.path_bytes);
	return event;
}

/* It never exists for us. */
static void a_container_that_was_born_and_died_unseen_keeps_its_name(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);
	const struct cgroup_event born = event_of(CGROUP_BORN, 7, CONTAINER_DIR);
	const struct cgroup_event died = event_of(CGROUP_DIED, 7, CONTAINER_DIR);

	identity_follow(fixture->identity, &born);
	identity_follow(fixture->identity, &died);
	identity_see(fixture->identity, 7);
	list_pods(fixture, clock_mono_ns());
	assert_string_equal(container_name(fixture, 7), "spin");
	assert_int_equal(identity_get_stats(fixture->identity).nr_births, 1);
	assert_int_equal(identity_get_stats(fixture->identity).nr_late, 0);
	assert_int_equal(identity_get_stats(fixture->identity).nr_missed, 0);
}

static void the_death_of_a_stranger_is_nothing(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);
	const struct cgroup_event died = event_of(CGROUP_DIED, 7, CONTAINER_DIR);

	identity_follow(fixture->identity, &died);
	assert_int_equal(identity_get_stats(fixture->identity).nr_cgroups, 0);
}

static void what_runs_below_a_container_is_the_containers(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);
	uint64_t id = make_cgroup(fixture, CONTAINER_DIR "/container/init.scope");

	identity_see(fixture->identity, id);
	list_pods(fixture, clock_mono_ns());
	assert_string_equal(container_name(fixture, id), "spin");
}

/* The pod is known, one of its containers is not (yet). */
static void a_container_without_a_name_has_its_pods(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);
	uint64_t id = make_cgroup(fixture, POD_DIR "/" STRANGER_ID);

	list_pods(fixture, clock_mono_ns());
	identity_see(fixture->identity, id);
	assert_string_equal(attribute_of(fixture, id, "k8s.pod.name"), "web-5b5cc55988-mjsx8");
	assert_string_equal(attribute_of(fixture, id, "container.id"), STRANGER_ID);
	assert_string_equal(attribute_of(fixture, id, "flamelet.identity"), "partial");
	assert_null(container_name(fixture, id));
	expect_states(fixture, IDENTITY_PARTIAL, 12);
}

static void update_with(const struct fixture *fixture, const char *body)
{
	const struct pod_list_opts list_opts = { .max_bytes = MAX_BYTES };
	struct pod_list *list = NULL;

	assert_int_equal(pod_list_parse(body, strlen(body), &list_opts, &list), 0);
	assert_int_equal(pod_index_update(fixture->pods, list, clock_mono_ns()), 0);
}

#define POD_WITH(annotations)                                                                      \
	"{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\"," \
	"\"uid\":\"" POD_UID "\",\"annotations\":{" annotations "}}}]}"

static void samples_of_a_pod_that_is_opted_out_are_dropped(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);
	uint64_t id = make_cgroup(fixture, POD_DIR);
	const struct profile_sample samples[] = { { .cgroup_id = id, .count = 3 },
						  { .cgroup_id = id, .pid = 1, .count = 4 },
						  { .cgroup_id = 1, .count = 5 } };

	update_with(fixture, POD_WITH("\"flamelet.dev/profile\":\"false\""));
	identity_see(fixture->identity, id);
	assert_int_equal(builder_new(MAX_BYTES, &fixture->builder), 0);
	for (size_t i = 0; i < array_len(samples); i++)
		assert_int_equal(builder_add_sample(fixture->builder, &samples[i]), 0);
	assert_int_equal(identity_add_resource(fixture->identity, id, fixture->builder), 0);
	assert_int_equal(builder_peek(fixture->builder)->nr_samples, 1);
	assert_int_equal(builder_peek(fixture->builder)->samples[0].cgroup_id, 1);
	assert_int_equal(identity_get_stats(fixture->identity).nr_opted_out, 7);
}

static void *see_for_a_while(void *data)
{
	struct fixture *fixture = data;

	for (int i = 0; i < 2000; i++) {
		identity_see(fixture->identity, make_cgroup(fixture, CONTAINER_DIR));
		identity_see(fixture->identity, (uint64_t)i << 40);
		assert_true(identity_get_stats(fixture->identity).nr_cgroups <= 1);
	}
	return NULL;
}

/* What sanitizers watch. */
static void reader_and_symbolizer_use_it_at_once(void **state)
{
	struct fixture *fixture = fixture_or_skip(state);
	uint64_t id = make_cgroup(fixture, CONTAINER_DIR);
	pthread_t reader;

	assert_int_equal(pthread_create(&reader, NULL, see_for_a_while, fixture), 0);
	for (int i = 0; i < 2000; i++) {
		(void)identity_is_final(fixture->identity, id);
		(void)resource_of(fixture, id);
		assert_true(identity_get_stats(fixture->identity).nr_cgroups <= 1);
	}
	assert_int_equal(pthread_join(reader, NULL), 0);
	assert_int_equal(identity_get_stats(fixture->identity).nr_missed, 2000);
}

#define IDENTITY_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IDENTITY_TEST(a_container_has_all_attributes_of_its_pod),
		IDENTITY_TEST(workloads_have_the_attribute_of_their_kind),
		IDENTITY_TEST(the_host_is_named_as_such),
		IDENTITY_TEST(a_cgroup_that_was_gone_is_not_said_to_be_the_host),
		IDENTITY_TEST(without_a_kubelet_a_container_has_its_ids),
		IDENTITY_TEST(a_container_outside_pods_has_its_id),
		IDENTITY_TEST(a_pods_own_cgroup_has_no_container),
		IDENTITY_TEST(a_container_that_is_gone_keeps_the_name_it_was_seen_with),
		IDENTITY_TEST(the_inventory_knows_containers_that_are_gone_when_they_are_sampled),
		IDENTITY_TEST(the_inventory_holds_all_cgroups_once),
		IDENTITY_TEST(an_inventory_that_cannot_be_taken_leaves_what_is_known),
		IDENTITY_TEST(the_sandbox_of_an_inventory_is_still_told_by_exclusion),
		IDENTITY_TEST(a_container_that_was_born_and_died_unseen_keeps_its_name),
		IDENTITY_TEST(the_death_of_a_stranger_is_nothing),
		IDENTITY_TEST(what_runs_below_a_container_is_the_containers),
		IDENTITY_TEST(a_container_without_a_name_has_its_pods),
		IDENTITY_TEST(samples_of_a_pod_that_is_opted_out_are_dropped),
		IDENTITY_TEST(reader_and_symbolizer_use_it_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
