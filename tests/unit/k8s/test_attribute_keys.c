/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/attribute_keys.h"

#include "base/err.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

#define PREFIX "resource.opentelemetry.io/"

static void an_annotation_names_an_attribute(void **state)
{
	static const char *const keys[] = {
		"service.version",
		"service.instance.id",
		"service.name.x",
		"deployment.environment",
		"team",
		"k8s",
		"hostname",
		"K8s.pod.name",
		"x.k8s.pod.name",
		"cpus",
		"a/b",
	};
	(void)state;

	for (size_t i = 0; i < array_len(keys); i++) {
		char annotation[128];

		snprintf(annotation, sizeof(annotation), PREFIX "%s", keys[i]);
		const char *key = attribute_key_of_annotation(annotation);
		assert_non_null(key);
		assert_string_equal(key, keys[i]);
	}
}

static void an_annotation_says_nothing_of_who_the_pod_is(void **state)
{
	static const char *const annotations[] = {
		PREFIX "k8s.pod.name",
		PREFIX "k8s.pod.label.app",
		PREFIX "k8s.",
		PREFIX "container.id",
		PREFIX "host.name",
		PREFIX "process.pid",
		PREFIX "thread.id",
		PREFIX "cpu.logical_number",
		PREFIX "flamelet.identity",
		PREFIX "os.type",
		PREFIX "telemetry.sdk.name",
		PREFIX "profile.frame.type",
		PREFIX "service.name",
		PREFIX "service.namespace",
		PREFIX,
		"",
		"team",
		"resource.opentelemetry.io",
		"x" PREFIX "team",
		"Resource.opentelemetry.io/team",
	};
	(void)state;

	for (size_t i = 0; i < array_len(annotations); i++)
		assert_null(attribute_key_of_annotation(annotations[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_annotation_names_an_attribute),
		cmocka_unit_test(an_annotation_says_nothing_of_who_the_pod_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
