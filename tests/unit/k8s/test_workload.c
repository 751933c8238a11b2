/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/workload.h"

#include "base/err.h"

#include <string.h>

#include "unit.h"

static void assert_text(struct strview text, const char *expected)
{
	if (text.len != strlen(expected) || memcmp(text.text, expected, text.len) != 0)
		fail_msg("got \"%.*s\", not \"%s\"", (int)text.len, text.text, expected);
}

struct controller_case {
	const char *owner_kind;
	const char *owner_name;
	const char *hash; /* and label deploymentconfig */
	const char *kind;
	const char *name;
};

static void the_workload_is_told_from_the_controller(void **state)
{
	static const struct controller_case cases[] = {
		{ "ReplicaSet", "web-5b5cc55988", "5b5cc55988", "Deployment", "web" },
		{ "ReplicaSet", "a-b-c-5b5cc55988", "5b5cc55988", "Deployment", "a-b-c" },
		{ "StatefulSet", "db", NULL, "StatefulSet", "db" },
		{ "DaemonSet", "ds", NULL, "DaemonSet", "ds" },
		{ "Job", "once", NULL, "Job", "once" },
		{ "Job", "tick-29920538", NULL, "CronJob", "tick" },
		{ "Job", "tick-1-29920538", NULL, "CronJob", "tick-1" },
		{ "Job", "tick-1599999999", NULL, "CronJob", "tick" },
		{ "ReplicationController", "old", NULL, "ReplicationController", "old" },
		{ "Rollout", "web-5b5cc55988", "5b5cc55988", "Rollout", "web-5b5cc55988" },

		{ "ReplicationController", "shop-3", "shop", "DeploymentConfig", "shop" },
		{ "ReplicationController", "a-b-3", "a-b", "DeploymentConfig", "a-b" },

		/* names that only look like it */
		{ "ReplicationController", "shop-3", "", "ReplicationController", "shop-3" },
		{ "ReplicationController", "shop-3", "web", "ReplicationController", "shop-3" },
		{ "ReplicationController", "shop", "shop", "ReplicationController", "shop" },
		{ "ReplicationController", "shop3", "shop", "ReplicationController", "shop3" },
		{ "StatefulSet", "shop-3", "shop", "StatefulSet", "shop-3" },
		{ "ReplicaSet", "web-5b5cc55988", NULL, "ReplicaSet", "web-5b5cc55988" },
		{ "ReplicaSet", "web-5b5cc55988", "", "ReplicaSet", "web-5b5cc55988" },
		{ "ReplicaSet", "web-5b5cc55988", "b5cc55988", "ReplicaSet", "web-5b5cc55988" },
		{ "ReplicaSet", "web-5b5cc55988", "web-5b5cc55988", "ReplicaSet",
		  "web-5b5cc55988" },
		{ "ReplicaSet", "-5b5cc55988", "5b5cc55988", "ReplicaSet", "-5b5cc55988" },
		{ "ReplicaSet", "5b5cc55988", "5b5cc55988", "ReplicaSet", "5b5cc55988" },
		{ "Job", "tick-2992053", NULL, "Job", "tick-2992053" },
		{ "Job", "tick-29920538123", NULL, "Job", "tick-29920538123" },
		{ "Job", "tick29920538", NULL, "Job", "tick29920538" },
		{ "Job", "-29920538", NULL, "Job", "-29920538" },
		{ "Job", "29920538", NULL, "Job", "29920538" },
		{ "Job", "tick-2992053a", NULL, "Job", "tick-2992053a" },

		/* none */
		{ "Node", "node-1", NULL, "", "" },
		{ NULL, NULL, NULL, "", "" },
		{ "", "web", NULL, "", "" },
		{ "ReplicaSet", "", "5b5cc55988", "", "" },
		{ "ReplicaSet", NULL, NULL, "", "" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct workload_source source = {
			.namespace = "shop",
			.pod_name = "pod",
			.owner_kind = cases[i].owner_kind,
			.owner_name = cases[i].owner_name,
			.pod_template_hash = cases[i].hash,
			.deployment_config = cases[i].hash,
		};
		struct workload workload = workload_of(&source);

		assert_string_equal(workload.kind, cases[i].kind);
		assert_text(workload.name, cases[i].name);
	}
}

static void the_service_name_follows_the_semantic_conventions(void **state)
{
	struct workload_source source = {
		.namespace = "shop",
		.pod_name = "web-5b5cc55988-mjsx8",
		.owner_kind = "ReplicaSet",
		.owner_name = "web-5b5cc55988",
		.pod_template_hash = "5b5cc55988",
		.app_instance = "instance",
		.app_name = "name",
		.service_name = "annotation",
	};
	(void)state;

	assert_text(workload_of(&source).service_name, "annotation");
	source.service_name = "";
	assert_text(workload_of(&source).service_name, "instance");
	source.app_instance = NULL;
	assert_text(workload_of(&source).service_name, "name");
	source.app_name = "";
	assert_text(workload_of(&source).service_name, "web");
	source.pod_template_hash = NULL;
	assert_text(workload_of(&source).service_name, "web-5b5cc55988");
	source.owner_kind = "Rollout";
	assert_text(workload_of(&source).service_name, "web-5b5cc55988-mjsx8");
	source.owner_kind = NULL;
	assert_text(workload_of(&source).service_name, "web-5b5cc55988-mjsx8");
}

static void a_mirror_pod_is_not_named_after_its_node(void **state)
{
	const struct workload_source source = {
		.namespace = "kube-system",
		.pod_name = "static-node-1",
		.owner_kind = "Node",
		.owner_name = "node-1",
	};
	(void)state;

	assert_text(workload_of(&source).service_name, "static-node-1");
}

static void the_service_namespace_is_the_annotation_or_the_namespace(void **state)
{
	struct workload_source source = { .namespace = "shop", .pod_name = "pod" };
	(void)state;

	assert_text(workload_of(&source).service_namespace, "shop");
	source.service_namespace = "";
	assert_text(workload_of(&source).service_namespace, "shop");
	source.service_namespace = "backend";
	assert_text(workload_of(&source).service_namespace, "backend");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_workload_is_told_from_the_controller),
		cmocka_unit_test(the_service_name_follows_the_semantic_conventions),
		cmocka_unit_test(a_mirror_pod_is_not_named_after_its_node),
		cmocka_unit_test(the_service_namespace_is_the_annotation_or_the_namespace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
