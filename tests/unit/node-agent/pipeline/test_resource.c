/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/resource.h"

#include "base/clock.h"
#include "base/strbuf.h"

#include <string.h>

#include "pod_list_text.h"
#include "unit.h"

#define MAX_BYTES ((size_t)1 << 20)
#define MAX_PODS 10
#define POD_UID "43ef20e3-2778-49ae-92ed-f9f23d29979f"
#define CONTAINER_ID "9a4e161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b6"
#define OTHER_ID "0000161f157008fcd435bc367b459d2cdd4af67bb71c4041411e75d9901d51b6"
#define POD_DIR "/kubepods/burstable/pod" POD_UID

/* The pod shop/web with one container, started again twice. */
#define POD_WITH(labels, annotations)                                                              \
	"{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\"," \
	"\"uid\":\"" POD_UID "\",\"labels\":{" labels "},\"annotations\":{" annotations "}},"      \
	"\"spec\":{\"containers\":[{\"name\":\"main\"}]},\"status\":{\"startTime\":"               \
	"\"2026-11-21T00:00:00Z\",\"containerStatuses\":[{\"name\":\"main\",\"restartCount\":2,"   \
	"\"image\":\"reg:5000/a/web:1.2\",\"containerID\":\"containerd://" CONTAINER_ID "\"}]}}]}"

struct fixture {
	struct pod_index *pods;
	struct builder *builder;
	struct resource_source source;
	struct resource_result result;
};

static int set_up(void **state)
{
	struct fixture *fixture = test_calloc(1, sizeof(*fixture));

	assert_int_equal(pod_index_new(MAX_PODS, &fixture->pods), 0);
	assert_int_equal(builder_new(MAX_BYTES, &fixture->builder), 0);
	fixture->source = (struct resource_source){
		.pods = fixture->pods,
		.node_name = "node-1",
		.host_name = "host-1",
		.cgroup_line_start = "0::",
	};
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	builder_free(fixture->builder);
	pod_index_free(fixture->pods);
	test_free(fixture);
	return 0;
}

static struct pod_list *parse(const char *body)
{
	static const char *const label_keys[] = { "app.kubernetes.io/*", "team" };
	const struct pod_list_opts opts = { .max_bytes = MAX_BYTES,
					    .label_keys = label_keys,
					    .nr_label_keys = array_len(label_keys) };
	struct pod_list *list = NULL;

	assert_int_equal(pod_list_parse(body, strlen(body), &opts, &list), 0);
	return list;
}

static void update_with(const struct fixture *fixture, const char *body)
{
	assert_int_equal(pod_index_update(fixture->pods, parse(body), clock_mono_ns()), 0);
}

/* Adds the resource of a cgroup of that path, or of none. */
static enum identity_state add(struct fixture *fixture, const char *path)
{
	struct known_cgroup cgroup = { .path = (char *)path, .first_seen_ns = clock_mono_ns() };

	if (path)
		cgroup_path_parse(path, &cgroup.owner);
	fixture->source.cgroup = path ? &cgroup : NULL;
	assert_int_equal(resource_add(&fixture->source, fixture->builder, &fixture->result), 0);
	return fixture->result.state;
}

/* Of the resource that was added last. */
static const char *value_of(const struct fixture *fixture, const char *key)
{
	return profile_resource_get(builder_peek(fixture->builder), fixture->result.resource, key);
}

static void assert_value(const struct fixture *fixture, const char *key, const char *expected)
{
	const char *value = value_of(fixture, key);

	if (!expected) {
		assert_null(value);
		return;
	}
	assert_non_null(value);
	assert_string_equal(value, expected);
}

static void a_container_is_named_with_its_image_and_restarts(void **state)
{
	struct fixture *fixture = *state;

	update_with(fixture, POD_WITH("", ""));
	assert_int_equal(add(fixture, POD_DIR "/" CONTAINER_ID), IDENTITY_KUBELET);
	assert_value(fixture, "k8s.container.name", "main");
	assert_value(fixture, "k8s.container.restart_count", "2");
	assert_value(fixture, "container.image.name", "reg:5000/a/web");
	assert_value(fixture, "container.image.tags", "1.2");
	assert_value(fixture, "k8s.pod.start_time", "2026-11-21T00:00:00Z");
	assert_value(fixture, "service.instance.id", "shop.web.main");
	assert_value(fixture, "flamelet.identity", "kubelet");
}

static void a_silent_kubelet_leaves_a_snapshot(void **state)
{
	struct fixture *fixture = *state;

	update_with(fixture, POD_WITH("", ""));
	fixture->source.is_stale = true;
	assert_int_equal(add(fixture, POD_DIR "/" CONTAINER_ID), IDENTITY_SNAPSHOT);
	assert_value(fixture, "k8s.pod.name", "web");
	assert_value(fixture, "flamelet.identity", "snapshot");
}

/* They know neither labels nor how often a container was started. */
static void names_of_log_directories_say_so(void **state)
{
	struct fixture *fixture = *state;
	struct pod_list *list = parse(POD_WITH("", ""));

	list->pods[0].source = POD_FROM_LOGS;
	assert_int_equal(pod_index_complete(fixture->pods, list, clock_mono_ns()), 0);
	assert_int_equal(add(fixture, POD_DIR "/" CONTAINER_ID), IDENTITY_LOGS);
	assert_value(fixture, "k8s.pod.name", "web");
	assert_value(fixture, "k8s.container.name", "main");
	assert_value(fixture, "k8s.container.restart_count", NULL);
	assert_value(fixture, "flamelet.identity", "logs");
}

static void a_container_that_is_not_listed_is_partly_known(void **state)
{
	struct fixture *fixture = *state;

	update_with(fixture, POD_WITH("", ""));
	assert_int_equal(add(fixture, POD_DIR "/" OTHER_ID), IDENTITY_PARTIAL);
	assert_value(fixture, "k8s.pod.name", "web");
	assert_value(fixture, "container.id", OTHER_ID);
	assert_value(fixture, "k8s.container.name", NULL);
	assert_value(fixture, "service.instance.id", NULL);
	assert_value(fixture, "flamelet.identity", "partial");
}

static void how_it_was_captured_is_told_where_that_is_unusual(void **state)
{
	struct fixture *fixture = *state;

	add(fixture, POD_DIR "/" CONTAINER_ID);
	assert_value(fixture, "flamelet.capture.backend", NULL);
	fixture->source.capture_backend = "perf";
	add(fixture, "/system.slice/ssh.service");
	assert_value(fixture, "flamelet.capture.backend", "perf");
}

static void a_pod_that_is_not_listed_is_known_by_its_path(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(add(fixture, POD_DIR "/" CONTAINER_ID), IDENTITY_PATH);
	assert_value(fixture, "k8s.pod.uid", POD_UID);
	assert_value(fixture, "container.id", CONTAINER_ID);
	assert_value(fixture, "k8s.pod.name", NULL);
	assert_value(fixture, "k8s.node.name", "node-1");
	assert_value(fixture, "flamelet.identity", "path");
}

static void what_is_no_pods_is_named_by_its_path(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(add(fixture, "/system.slice/ssh.service"), IDENTITY_HOST);
	assert_value(fixture, "service.name", "ssh.service");
	assert_value(fixture, "process.linux.cgroup", "0::/system.slice/ssh.service");
	assert_value(fixture, "flamelet.identity", "host");
}

static void a_cgroup_that_nobody_knows_is_unknown(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(add(fixture, NULL), IDENTITY_UNKNOWN);
	assert_value(fixture, "service.name", NULL);
	assert_value(fixture, "host.name", "host-1");
	assert_value(fixture, "flamelet.identity", "unknown");
}

/* Its path does not say which pod it is of. */
static void dockers_container_is_its_pods_when_the_kubelet_knows_it(void **state)
{
	struct fixture *fixture = *state;

	update_with(fixture, POD_WITH("", ""));
	assert_int_equal(add(fixture, "/docker/" CONTAINER_ID), IDENTITY_KUBELET);
	assert_value(fixture, "k8s.pod.name", "web");
	assert_value(fixture, "k8s.container.name", "main");
	assert_int_equal(add(fixture, "/docker/" OTHER_ID), IDENTITY_HOST);
	assert_value(fixture, "service.name", "docker-0000161f1570");
	assert_value(fixture, "container.runtime.name", "docker");
	assert_value(fixture, "container.id", OTHER_ID);
}

static void labels_of_the_list_are_attributes(void **state)
{
	struct fixture *fixture = *state;

	update_with(fixture, POD_WITH("\"app.kubernetes.io/part-of\":\"till\",\"team\":\"a\","
				      "\"secret\":\"b\"",
				      ""));
	add(fixture, POD_DIR "/" CONTAINER_ID);
	assert_value(fixture, "k8s.pod.label.app.kubernetes.io/part-of", "till");
	assert_value(fixture, "k8s.pod.label.team", "a");
	assert_value(fixture, "k8s.pod.label.secret", NULL);
}

static void an_annotation_names_the_service_but_not_the_pod(void **state)
{
	struct fixture *fixture = *state;

	update_with(fixture,
		    POD_WITH("", "\"resource.opentelemetry.io/service.name\":\"till\","
				 "\"resource.opentelemetry.io/service.version\":\"7\","
				 "\"resource.opentelemetry.io/service.instance.id\":\"one\","
				 "\"resource.opentelemetry.io/k8s.pod.name\":\"other\","
				 "\"resource.opentelemetry.io/flamelet.identity\":\"other\""));
	add(fixture, POD_DIR "/" CONTAINER_ID);
	assert_value(fixture, "service.name", "till");
	assert_value(fixture, "service.version", "7");
	assert_value(fixture, "service.instance.id", "one");
	assert_value(fixture, "k8s.pod.name", "web");
	assert_value(fixture, "flamelet.identity", "kubelet");
}

static void a_pod_that_is_opted_out_has_no_resource(void **state)
{
	struct fixture *fixture = *state;

	update_with(fixture, POD_WITH("", "\"flamelet.dev/profile\":\"false\""));
	add(fixture, POD_DIR "/" CONTAINER_ID);
	assert_true(fixture->result.is_opted_out);
	assert_int_equal(builder_peek(fixture->builder)->nr_resources, 1);
}

static void workloads_have_the_attribute_of_their_kind(void **state)
{
	static const struct {
		const char *kind, *key;
	} cases[] = {
		{ "StatefulSet", "k8s.statefulset.name" },
		{ "DaemonSet", "k8s.daemonset.name" },
		{ "Job", "k8s.job.name" },
		{ "ReplicaSet", "k8s.replicaset.name" },
		{ "ReplicationController", "k8s.replicationcontroller.name" },
		{ "Rollout", "k8s.workload.name" },
	};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(MAX_BYTES);

		strbuf_appendf(&body,
			       "{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"web\","
			       "\"namespace\":\"shop\",\"uid\":\"" POD_UID
			       "\",\"ownerReferences\":[{"
			       "\"kind\":\"%s\",\"name\":\"owner\",\"controller\":true}]}}]}",
			       cases[i].kind);
		update_with(fixture, strbuf_str(&body));
		add(fixture, POD_DIR);
		assert_value(fixture, cases[i].key, "owner");
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_container_is_named_with_its_image_and_restarts),
		TEST(a_silent_kubelet_leaves_a_snapshot),
		TEST(names_of_log_directories_say_so),
		TEST(a_container_that_is_not_listed_is_partly_known),
		TEST(how_it_was_captured_is_told_where_that_is_unusual),
		TEST(a_pod_that_is_not_listed_is_known_by_its_path),
		TEST(what_is_no_pods_is_named_by_its_path),
		TEST(a_cgroup_that_nobody_knows_is_unknown),
		TEST(dockers_container_is_its_pods_when_the_kubelet_knows_it),
		TEST(labels_of_the_list_are_attributes),
		TEST(an_annotation_names_the_service_but_not_the_pod),
		TEST(a_pod_that_is_opted_out_has_no_resource),
		TEST(workloads_have_the_attribute_of_their_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
