/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/json_profile.h"

#include "hostile_names.h"
#include "json_members.h"
#include "profile/builder.h"
#include "profile/merge.h"
#include "stacks.h"
#include "torture.h"

#include <string.h>

#define PLENTY_BYTES ((size_t)1 << 20)

static const struct caption caption = { .title = "a \"title\"", .subtitle = "a host" };

static struct json_value *encode(const struct profile *profile)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	assert_int_equal(json_profile_encode(profile, &caption, &out), 0);
	return parse_json(out.data, out.len);
}

static void assert_stack(const struct json_value *root, size_t sample, const char *names)
{
	const struct json_value *one = element(member(root, "samples"), sample);
	const struct json_value *stack = element(member(root, "stacks"),
						 (size_t)number_of(one, "stack"));
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(PLENTY_BYTES);

	for (size_t i = 0; i < json_nr_children(stack); i++) {
		strbuf_append_str(&text, i > 0 ? ";" : "");
		strbuf_append_str(
			&text,
			text_of(element(member(root, "frames"), index_at(stack, i)), "name"));
	}
	assert_string_equal(strbuf_str(&text), names);
}

static const struct json_value *labels(const struct json_value *root, size_t sample)
{
	const struct json_value *one = element(member(root, "samples"), sample);

	return element(member(root, "labels"), (size_t)number_of(one, "labels"));
}

static void the_head_has_the_totals(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "a", "f", 2 }, { "b", "g", 3 } };
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(lines, 2);
	_cleanup_(json_freep) struct json_value *root = encode(p);

	assert_string_equal(text_of(root, "format"), "flamelet-profile");
	assert_true(number_of(root, "version") == 1);
	assert_string_equal(text_of(root, "title"), "a \"title\"");
	assert_string_equal(text_of(root, "origin"), "a host");
	assert_string_equal(text_of(root, "values"), "samples");
	assert_true(number_of(root, "total") == 5);
	assert_true(number_of(root, "period_ns") == 10e6);
	assert_true(number_of(root, "cpu_time_ns") == 50e6);
	assert_true(number_of(root, "duration_ns") == 1e9);
}

static void a_sample_has_a_stack_labels_and_a_value(void **state)
{
	(void)state;
	const struct stack_line lines[] = {
		{ "web", "main;serve;parse_[i];read_[k]", 5 },
		{ "sh", "", 1 },
	};
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(lines, array_len(lines));
	_cleanup_(json_freep) struct json_value *root = encode(p);

	assert_int_equal(json_nr_children(member(root, "samples")), 2);
	assert_stack(root, 0, "main;serve;parse;read");
	assert_true(number_of(element(member(root, "samples"), 0), "value") == 5);
	assert_string_equal(text_of(labels(root, 0), "comm"), "web");
	assert_stack(root, 1, "");
	assert_true(number_of(labels(root, 1), "pid") == 1);
	assert_string_equal(text_of(element(member(root, "frames"), 0), "kind"), "native");
	assert_string_equal(text_of(element(member(root, "frames"), 3), "kind"), "kernel");
}

/* Adds a sample of a pod, whose CPU is not known, to that of a process. */
static struct profile *make_pod(void)
{
	const struct attribute attributes[] = { { "k8s.pod.name", "web-1" },
						{ "k8s.pod.label.\"x", "y" } };
	const struct stack_line line = { "web", "main", 1 };
	_cleanup_(profile_unrefp) struct profile *one = profile_of_stacks(&line, 1);
	struct builder *builder;

	assert_int_equal(builder_new(PLENTY_BYTES, &builder), 0);
	assert_int_equal(merge_profile(builder, one, NULL), 0);
	struct profile_sample sample = builder_peek(builder)->samples[0];
	sample.pid = 7;
	sample.tid = 8;
	sample.cgroup_id = 9;
	sample.cpu = PROFILE_CPU_UNKNOWN;
	assert_int_equal(builder_add_resource(builder, attributes, 2, &sample.resource), 0);
	assert_int_equal(builder_add_sample(builder, &sample), 0);
	return builder_seal(builder);
}

static void labels_are_those_that_a_sample_has(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *p = make_pod();
	_cleanup_(json_freep) struct json_value *root = encode(p);

	assert_int_equal(json_nr_children(member(root, "labels")), 2);
	assert_int_equal(json_nr_children(member(root, "stacks")), 1);
	assert_null(json_find(labels(root, 0), "pid"));
	assert_null(json_find(labels(root, 0), "k8s.pod.name"));
	assert_true(number_of(labels(root, 0), "cpu") == 0);
	assert_true(number_of(labels(root, 1), "pid") == 7);
	assert_true(number_of(labels(root, 1), "tid") == 8);
	assert_true(number_of(labels(root, 1), "cgroup") == 9);
	assert_null(json_find(labels(root, 1), "cpu"));
	assert_string_equal(text_of(labels(root, 1), "k8s.pod.name"), "web-1");
	assert_string_equal(text_of(labels(root, 1), "k8s.pod.label.\"x"), "y");
}

static void no_samples_make_empty_tables(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(NULL, 0);
	_cleanup_(json_freep) struct json_value *root = encode(p);

	assert_int_equal(json_nr_children(member(root, "samples")), 0);
	assert_int_equal(json_nr_children(member(root, "stacks")), 0);
	assert_true(number_of(root, "total") == 0);
}

static void any_name_leaves_printable(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		const struct stack_line line = { hostile_names[i].name, hostile_names[i].name, 1 };
		_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(&line, 1);
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		assert_int_equal(json_profile_encode(p, &caption, &out), 0);
		assert_printable(out.data, out.len, true);
		_cleanup_(json_freep) struct json_value *root = parse_json(out.data, out.len);
		assert_string_equal(text_of(labels(root, 0), "comm"), hostile_names[i].printable);
	}
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *p = make_pod();

	for (unsigned int n = 1;; n++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		torture_begin(n);
		int r = json_profile_encode(p, &caption, &out);
		bool has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		assert_int_equal(strbuf_error(&out), r);
		if (!has_failed)
			return;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_head_has_the_totals),
		cmocka_unit_test(a_sample_has_a_stack_labels_and_a_value),
		cmocka_unit_test(labels_are_those_that_a_sample_has),
		cmocka_unit_test(no_samples_make_empty_tables),
		cmocka_unit_test(any_name_leaves_printable),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
