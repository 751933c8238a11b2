/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/sample_label.h"

#include "profile/builder.h"
#include "unit.h"

/* Two samples: one of a pod, one of a thread of the host of which little is known. */
static struct profile *make_profile(void)
{
	const struct attribute attributes[] = {
		{ "k8s.namespace.name", "shop" }, { "k8s.pod.name", "web-1" },
		{ "k8s.pod.uid", "1-2-3" },	  { "k8s.container.name", "app" },
		{ "k8s.job.name", "job" },	  { "k8s.statefulset.name", "web" },
		{ "host.name", "node-1" },	  { "k8s.pod.label.app", "front end" },
	};
	struct profile_sample sample = { .cgroup_id = 1ull << 40, .pid = 77, .count = 1 };
	struct profile_process process = { .pid = 77, .start_ns = 1 };
	struct builder *builder;

	assert_int_equal(builder_new(1 << 20, &builder), 0);
	assert_int_equal(
		builder_add_resource(builder, attributes, array_len(attributes), &sample.resource),
		0);
	assert_int_equal(builder_add_string(builder, "node", &process.name), 0);
	assert_int_equal(builder_add_process(builder, &process, &sample.process), 0);
	assert_int_equal(builder_add_string(builder, "npm start", &sample.process_comm), 0);
	assert_int_equal(builder_add_string(builder, "worker-1", &sample.thread_comm), 0);
	assert_int_equal(builder_add_sample(builder, &sample), 0);
	sample = (struct profile_sample){ .cpu = PROFILE_CPU_UNKNOWN,
					  .reason = REASON_PAGE_FAULT,
					  .count = 1 };
	assert_int_equal(builder_add_sample(builder, &sample), 0);
	return builder_seal(builder);
}

static void a_label_is_an_attribute_or_belongs_to_the_process(void **state)
{
	(void)state;
	static const struct {
		const char *word, *of_pod, *of_host;
	} cases[] = {
		{ "namespace", "shop", "" },
		{ "pod", "web-1", "" },
		{ "k8s.pod.name", "web-1", "" },
		{ "container", "app", "" },
		{ "workload", "web", "" },
		{ "node", "", "" },
		{ "host", "node-1", "" },
		{ "service", "", "" },
		{ "comm", "npm start", "" },
		{ "thread", "worker-1", "" },
		{ "process", "node", "" },
		{ "pid", "77", "0" },
		{ "cgroup", "1099511627776", "0" },
		{ "cpu", "0", "" },
		{ "reason", "", "page-fault" },
		{ "k8s.pod.label.app", "front end", "" },
		{ "", "", "" },
		{ "Pod", "", "" },
		{ "no such label", "", "" },
	};
	_cleanup_(profile_unrefp) struct profile *profile = make_profile();
	char number[LABEL_NUMBER_BYTES];

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct label_key key = label_key_of(cases[i].word);

		assert_string_equal(sample_label(profile, &profile->samples[0], &key, number),
				    cases[i].of_pod);
		assert_string_equal(sample_label(profile, &profile->samples[1], &key, number),
				    cases[i].of_host);
	}
}

/* Where no kubelet tells its name. */
static void a_pod_without_a_name_has_its_uid(void **state)
{
	(void)state;
	const struct attribute uid = { "k8s.pod.uid", "1-2-3" };
	const struct label_key key = label_key_of("pod"), name = label_key_of("k8s.pod.name");
	struct profile_sample sample = { .cpu = PROFILE_CPU_UNKNOWN, .count = 1 };
	char number[LABEL_NUMBER_BYTES];
	struct builder *builder;

	assert_int_equal(builder_new(1 << 20, &builder), 0);
	assert_int_equal(builder_add_resource(builder, &uid, 1, &sample.resource), 0);
	assert_int_equal(builder_add_sample(builder, &sample), 0);
	_cleanup_(profile_unrefp) struct profile *profile = builder_seal(builder);
	assert_string_equal(sample_label(profile, &profile->samples[0], &key, number), "1-2-3");
	assert_string_equal(sample_label(profile, &profile->samples[0], &name, number), "");
}

static void the_owner_of_a_pod_may_be_of_any_kind(void **state)
{
	(void)state;
	const struct label_key key = label_key_of("workload");

	assert_string_equal(key.attributes[0], "k8s.deployment.name");
	assert_string_equal(key.attributes[LABEL_ATTRIBUTES_MAX - 2],
			    "k8s.replicationcontroller.name");
	assert_string_equal(key.attributes[LABEL_ATTRIBUTES_MAX - 1], "k8s.workload.name");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_label_is_an_attribute_or_belongs_to_the_process),
		cmocka_unit_test(a_pod_without_a_name_has_its_uid),
		cmocka_unit_test(the_owner_of_a_pod_may_be_of_any_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
