/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/builder.h"

#include "torture.h"
#include "unit.h"

#include <stdio.h>

#define PLENTY_BYTES (1 << 20)

static struct builder *new_builder(void)
{
	struct builder *builder = NULL;

	assert_int_equal(builder_new(PLENTY_BYTES, &builder), 0);
	return builder;
}

static void element_0_of_every_table_is_the_empty_one(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = new_builder();
	const struct profile *p = builder_peek(builder);
	uint32_t id;

	assert_string_equal(profile_string(p, 0), "");
	assert_int_equal(p->nr_mappings, 1);
	assert_int_equal(p->nr_functions, 1);
	assert_int_equal(p->nr_lines, 1);
	assert_int_equal(p->nr_locations, 1);
	assert_int_equal(p->nr_stacks, 1);
	assert_int_equal(p->nr_resources, 1);
	assert_int_equal(p->nr_samples, 0);

	assert_int_equal(builder_add_string(builder, "", &id), 0);
	assert_int_equal(id, 0);
	assert_int_equal(builder_add_function(builder, &(struct profile_function){ 0 }, &id), 0);
	assert_int_equal(id, 0);
	assert_int_equal(builder_add_stack(builder, NULL, 0, &id), 0);
	assert_int_equal(id, 0);
	assert_int_equal(builder_add_resource(builder, NULL, 0, &id), 0);
	assert_int_equal(id, 0);
}

static void equal_elements_get_one_number(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = new_builder();
	const struct profile_function function = { .name = 1, .system_name = 2, .filename = 3 };
	const struct profile_function others[] = {
		{ .name = 1, .system_name = 2, .filename = 4 },
		{ .name = 1, .system_name = 2, .filename = 3, .start_line = 5 },
	};
	const uint32_t locations[] = { 3, 2, 1 };
	uint32_t a, b, c;

	assert_int_equal(builder_add_string(builder, "main", &a), 0);
	assert_int_equal(builder_add_string(builder, "main", &b), 0);
	assert_int_equal(a, b);

	assert_int_equal(builder_add_function(builder, &function, &a), 0);
	assert_int_equal(builder_add_function(builder, &function, &b), 0);
	assert_int_equal(a, b);
	for (size_t i = 0; i < array_len(others); i++) {
		assert_int_equal(builder_add_function(builder, &others[i], &c), 0);
		assert_int_not_equal(a, c);
	}

	assert_int_equal(builder_add_stack(builder, locations, 3, &a), 0);
	assert_int_equal(builder_add_stack(builder, locations, 3, &b), 0);
	assert_int_equal(builder_add_stack(builder, locations, 2, &c), 0);
	assert_int_equal(a, b);
	assert_int_not_equal(a, c);
	assert_int_equal(builder_peek(builder)->nr_stack_locations, 5);
}

static void equal_mappings_stay_apart_until_merged(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = new_builder();
	const struct profile_mapping mapping = { .limit = 4096 };
	uint32_t a, b, build_id;

	assert_int_equal(builder_add_mapping(builder, &mapping, &a), 0);
	assert_int_equal(builder_add_mapping(builder, &mapping, &b), 0);
	assert_int_not_equal(a, b);

	assert_int_equal(builder_add_string(builder, "c0ffee", &build_id), 0);
	builder_set_build_ids(builder, b, &(struct profile_mapping){ .build_id = build_id });
	assert_int_equal(builder_peek(builder)->mappings[a].build_id, 0);
	assert_int_equal(builder_peek(builder)->mappings[b].build_id, build_id);
}

static void resources_leave_empty_attributes_out_and_are_equal_by_content(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = new_builder();
	const struct attribute sparse[] = { { "k8s.pod.name", "web-0" },
					    { "container.id", NULL },
					    { "k8s.node.name", "" } };
	const struct attribute full[] = { { "k8s.pod.name", "web-0" }, { "container.id", "ab" } };
	const struct attribute none[] = { { "container.id", NULL } };
	const struct profile *p = builder_peek(builder);
	uint32_t a, b, c;

	assert_int_equal(builder_add_resource(builder, sparse, 3, &a), 0);
	assert_int_equal(builder_add_resource(builder, full, 1, &b), 0);
	assert_int_equal(a, b);
	assert_int_equal(builder_add_resource(builder, full, 2, &c), 0);
	assert_int_not_equal(a, c);

	assert_string_equal(profile_resource_get(p, a, "k8s.pod.name"), "web-0");
	assert_null(profile_resource_get(p, a, "container.id"));
	assert_string_equal(profile_resource_get(p, c, "container.id"), "ab");
	assert_null(profile_resource_get(p, 0, "container.id"));

	assert_int_equal(builder_add_resource(builder, none, 1, &a), 0);
	assert_int_equal(a, 0);
}

static void equal_samples_are_summed(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = new_builder();
	struct profile_sample sample = { .cgroup_id = 7, .pid = 1, .tid = 2, .count = 3 };

	assert_int_equal(builder_add_sample(builder, &sample), 0);
	sample.count = 4;
	assert_int_equal(builder_add_sample(builder, &sample), 0);
	sample.cpu = 1;
	assert_int_equal(builder_add_sample(builder, &sample), 0);

	const struct profile *p = builder_peek(builder);
	assert_int_equal(p->nr_samples, 2);
	assert_int_equal(p->samples[0].count, 7);
	assert_int_equal(profile_total(p), 11);
}

static void samples_know_how_often_they_were_taken(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = new_builder();
	struct profile_sample wait = { .tid = 1, .count = 5000 };
	const struct profile_sample nothing = { .tid = 2 };

	builder_set_type(builder, PROFILE_OFF_CPU);
	assert_int_equal(builder_add_sample(builder, &wait), 0);
	assert_int_equal(builder_add_sample(builder, &wait), 0);
	wait.nr_joined = 3;
	assert_int_equal(builder_add_sample(builder, &wait), 0);
	assert_int_equal(builder_add_sample(builder, &nothing), 0);
	assert_int_equal(profile_nr_taken(builder_peek(builder)), 5);
	assert_int_equal(builder_set_resource(builder, 0, 0), 5);
	builder_set_type(builder, PROFILE_CPU);
	assert_int_equal(profile_nr_taken(builder_peek(builder)), 15000);
}

static void a_cgroup_s_samples_get_its_resource(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = new_builder();

	for (uint32_t i = 0; i < 10; i++) {
		struct profile_sample sample = { .cgroup_id = i % 2, .tid = i, .count = 1 };

		assert_int_equal(builder_add_sample(builder, &sample), 0);
	}
	assert_int_equal(builder_set_resource(builder, 1, 5), 5);
	assert_int_equal(builder_set_resource(builder, 2, 6), 0);
	for (uint32_t i = 0; i < 10; i++)
		assert_int_equal(builder_peek(builder)->samples[i].resource, i % 2 ? 5 : 0);
}

static void a_cgroup_s_samples_are_taken_out(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = new_builder();

	for (uint32_t i = 0; i < 10; i++) {
		struct profile_sample sample = { .cgroup_id = i % 3, .tid = i, .count = 2 };

		assert_int_equal(builder_add_sample(builder, &sample), 0);
	}
	assert_int_equal(builder_remove_cgroup(builder, 0), 8);
	assert_int_equal(builder_remove_cgroup(builder, 0), 0);
	assert_int_equal(builder_peek(builder)->nr_samples, 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(builder_peek(builder)->samples[i].tid, i + i / 2 + 1);
	assert_int_equal(profile_total(builder_peek(builder)), 12);
}

static void a_full_builder_refuses_new_elements_and_takes_known_ones(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = NULL;
	struct profile_sample sample = { .count = 1 };
	uint32_t known, id, nr = 0;
	char name[16];
	int r = 0;

	assert_int_equal(builder_new(4096, &builder), 0);
	assert_int_equal(builder_add_string(builder, "known", &known), 0);
	assert_int_equal(builder_add_sample(builder, &sample), 0);
	for (; r == 0; nr++) {
		snprintf(name, sizeof(name), "%015u", nr);
		r = builder_add_string(builder, name, &id);
	}
	assert_int_equal(r, -ENOSPC);
	assert_in_range(nr, 60, 4096 / 16);

	id = 12345;
	const uint32_t locations[64] = { 1 };
	const struct attribute attributes[] = { { "k8s.pod.name", "a pod with a new name" } };
	assert_int_equal(builder_add_stack(builder, locations, 64, &id), -ENOSPC);
	assert_int_equal(builder_add_resource(builder, attributes, 1, &id), -ENOSPC);
	assert_int_equal(id, 12345);
	assert_int_equal(builder_add_string(builder, "known", &id), 0);
	assert_int_equal(id, known);
	assert_int_equal(builder_add_sample(builder, &sample), 0);
	assert_int_equal(builder_peek(builder)->samples[0].count, 2);
}

static void a_budget_of_nothing_refuses_every_element(void **state)
{
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = NULL;
	const uint32_t locations[] = { 1 };
	uint32_t id;

	assert_int_equal(builder_new(0, &builder), 0);
	assert_int_equal(builder_add_string(builder, "x", &id), -ENOSPC);
	assert_int_equal(builder_add_mapping(builder, &(struct profile_mapping){ 0 }, &id),
			 -ENOSPC);
	assert_int_equal(
		builder_add_function(builder, &(struct profile_function){ .name = 1 }, &id),
		-ENOSPC);
	assert_int_equal(builder_add_location(builder, &(struct profile_location){ 0 }, &id),
			 -ENOSPC);
	assert_int_equal(builder_add_named_location(builder, &(struct profile_location){ 0 },
						    &(struct profile_line){ 0 }, 1, &id),
			 -ENOSPC);
	assert_int_equal(builder_add_stack(builder, locations, 1, &id), -ENOSPC);
	assert_int_equal(builder_add_sample(builder, &(struct profile_sample){ 0 }), -ENOSPC);
}

static void a_sealed_profile_lives_until_its_last_reference(void **state)
{
	(void)state;
	struct builder *builder = new_builder();

	assert_int_equal(builder_add_sample(builder, &(struct profile_sample){ .count = 2 }), 0);
	builder_set_time(builder, 100, 10, 1);

	struct profile *profile = builder_seal(builder);
	struct profile *second = profile_ref(profile);
	profile_unref(profile);
	assert_int_equal(profile_total(second), 2);
	assert_int_equal(second->time_unix_ns, 100);
	profile_unref(second);
	profile_unref(NULL);
}

/* Adds one of everything, i-th edition; the first error. */
static int add_one_of_each(struct builder *builder, uint32_t i)
{
	struct profile_mapping mapping = { .limit = i };
	struct profile_function function = { .filename = i };
	struct profile_location location = { .address = i };
	struct profile_line lines[2] = { { .line = i }, { .line = i + 1 } };
	struct profile_sample sample = { .cgroup_id = i, .count = 1 };
	char name[32];
	int r;

	snprintf(name, sizeof(name), "name %u", i);
	const struct attribute attributes[] = { { "key", name } };
	if ((r = builder_add_string(builder, name, &function.name)) < 0 ||
	    (r = builder_add_mapping(builder, &mapping, &location.mapping)) < 0 ||
	    (r = builder_add_function(builder, &function, &lines[0].function)) < 0 ||
	    (r = builder_add_named_location(builder, &location, lines, 2, &i)) < 0 ||
	    (r = builder_add_stack(builder, &i, 1, &sample.stack)) < 0 ||
	    (r = builder_add_resource(builder, attributes, 1, &sample.resource)) < 0)
		return r;
	return builder_add_sample(builder, &sample);
}

static int build_many(void)
{
	_cleanup_(builder_freep) struct builder *builder = NULL;

	int r = builder_new(PLENTY_BYTES, &builder);
	for (uint32_t i = 1; r == 0 && i < 200; i++) {
		r = add_one_of_each(builder, i);
		if (r < 0) /* What failed for want of memory works when there is some. */
			assert_int_equal(add_one_of_each(builder, i), 0);
	}
	return r;
}

static void every_failed_allocation_is_reported_and_leaves_the_builder_whole(void **state)
{
	(void)state;
	for (unsigned int n = 1;; n++) {
		torture_begin(n);
		int r = build_many();
		if (!torture_end()) {
			assert_int_equal(r, 0);
			return;
		}
		assert_int_equal(r, -ENOMEM);
	}
}

static void times_of_samples_are_within_the_profile(void **state)
{
	static const uint64_t at[] = { 0, 99, 100, 150, 199, 200, 999 };
	static const uint64_t expected[] = { 0, 5000, 5000, 5050, 5099, 5099, 5099 };
	(void)state;
	_cleanup_(builder_freep) struct builder *builder = new_builder();

	for (size_t i = 0; i < array_len(at); i++) {
		const struct profile_sample sample = { .time_ns = at[i], .count = 1 };

		assert_int_equal(builder_add_sample(builder, &sample), 0);
	}
	builder_set_time(builder, 5000, 100, 1);
	builder_date_samples(builder, 100);
	for (size_t i = 0; i < array_len(at); i++)
		assert_int_equal(builder_peek(builder)->samples[i].time_ns, expected[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(element_0_of_every_table_is_the_empty_one),
		cmocka_unit_test(equal_elements_get_one_number),
		cmocka_unit_test(equal_mappings_stay_apart_until_merged),
		cmocka_unit_test(resources_leave_empty_attributes_out_and_are_equal_by_content),
		cmocka_unit_test(equal_samples_are_summed),
		cmocka_unit_test(samples_know_how_often_they_were_taken),
		cmocka_unit_test(a_cgroup_s_samples_get_its_resource),
		cmocka_unit_test(a_cgroup_s_samples_are_taken_out),
		cmocka_unit_test(a_full_builder_refuses_new_elements_and_takes_known_ones),
		cmocka_unit_test(a_budget_of_nothing_refuses_every_element),
		cmocka_unit_test(a_sealed_profile_lives_until_its_last_reference),
		cmocka_unit_test(every_failed_allocation_is_reported_and_leaves_the_builder_whole),
		cmocka_unit_test(times_of_samples_are_within_the_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
