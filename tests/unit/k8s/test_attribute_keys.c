/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/attribute_keys.h"

#include "base/err.h"

#include <stdio.h>
#include <string.h>

#include "unit.h"

#define PREFIX "resource.opentelemetry.io/"

static void a_list_has_keys_and_beginnings_of_keys(void **state)
{
	static const char *const list[] = { "app", "example.com/*", "team*x", "" };
	static const struct {
		const char *key;
		bool is_listed;
	} cases[] = {
		{ "app", true },
		{ "example.com/", true },
		{ "example.com/a/b", true },
		{ "team*x", true },
		{ "", true },

		{ "ap", false },
		{ "apps", false },
		{ "App", false },
		{ "example.com", false },
		{ "www.example.com/a", false },
		{ "teamax", false },
		{ "*", false },
	};
	static const char *const all[] = { "*" };
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		assert_int_equal(attribute_key_is_listed(list, array_len(list), cases[i].key),
				 cases[i].is_listed);
		assert_true(attribute_key_is_listed(all, 1, cases[i].key));
		assert_false(attribute_key_is_listed(NULL, 0, cases[i].key));
	}
}

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
		cmocka_unit_test(a_list_has_keys_and_beginnings_of_keys),
		cmocka_unit_test(an_annotation_names_an_attribute),
		cmocka_unit_test(an_annotation_says_nothing_of_who_the_pod_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
