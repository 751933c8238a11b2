/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/viewer_data.h"

#include "hostile_names.h"
#include "json_members.h"
#include "profile/builder.h"
#include "profile/merge.h"
#include "stacks.h"
#include "torture.h"

#include <string.h>

#define PLENTY 100000
#define PLENTY_BYTES ((size_t)1 << 20)

static const struct caption caption = { .title = "a \"title\"", .subtitle = "a host" };
static const struct view plain = { .kernel = VIEW_KERNEL_ALL };

static struct json_value *encode(const struct viewer_content *content)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	assert_int_equal(viewer_data_encode(content, &out), 0);
	return parse_json(out.data, out.len);
}

static struct json_value *encode_profile(const struct profile *profile)
{
	const struct viewer_content content = {
		.profile = profile,
		.view = &plain,
		.caption = &caption,
	};

	return encode(&content);
}

static const char *string_at(const struct json_value *root, size_t id)
{
	return json_text(element(member(root, "strings"), id));
}

static size_t cell(const struct json_value *root, const char *table, const char *column, size_t row)
{
	return index_at(member(member(root, table), column), row);
}

/* Writes the frames of a node, the root first. */
static const char *path_of(const struct json_value *root, size_t node, struct strbuf *text)
{
	size_t path[16];
	size_t nr = 0;

	for (; node > 0; node -= cell(root, "nodes", "parent", node))
		path[nr++] = cell(root, "nodes", "frame", node);
	strbuf_clear(text);
	while (nr-- > 0)
		strbuf_appendf(text, "%s;",
			       string_at(root, cell(root, "frames", "name", path[nr])));
	return strbuf_str(text);
}

/* Returns the value of a sample's label. */
static const char *label_of(const struct json_value *root, const char *name, size_t sample)
{
	const struct json_value *label = json_first_child(member(root, "labels"));

	while (label && strcmp(text_of(label, "name"), name) != 0)
		label = json_next_sibling(label);
	if (!label)
		return NULL;
	return string_at(
		root, index_at(member(label, "values"), cell(root, "samples", "labels", sample)));
}

static void the_head_has_origin_and_view(void **state)
{
	(void)state;
	static const char *const groups[] = { "pod", "k8s.pod.label.app" };
	const struct view view = {
		.groups = groups,
		.nr_groups = 2,
		.bottom_up = true,
		.kernel = VIEW_KERNEL_HIDE,
	};
	const struct stack_line line = { "a", "f", 2 };
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(&line, 1);
	const struct viewer_content content = { .profile = p, .view = &view, .caption = &caption };
	_cleanup_(json_freep) struct json_value *root = encode(&content);

	assert_string_equal(text_of(root, "format"), "flamelet-view");
	assert_true(number_of(root, "version") == 1);
	assert_string_equal(text_of(root, "title"), "a \"title\"");
	assert_string_equal(text_of(root, "note"), "");
	assert_string_equal(text_of(root, "values"), "samples");
	assert_true(number_of(root, "period_ns") == 10e6);
	assert_string_equal(text_of(member(root, "view"), "kernel"), "hide");
	assert_string_equal(json_text(element(member(member(root, "view"), "group"), 1)),
			    "k8s.pod.label.app");
	assert_null(json_find(root, "diff"));
}

static void stacks_with_equal_beginnings_share_nodes(void **state)
{
	(void)state;
	const struct stack_line lines[] = {
		{ "web", "main;serve;parse_[i];read_[k]", 5 },
		{ "web", "main;serve", 2 },
		{ "web", "", 1 },
	};
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(lines, array_len(lines));
	_cleanup_(json_freep) struct json_value *root = encode_profile(p);
	static const struct {
		const char *path;
		size_t value;
	} expected[] = { { "", 1 }, { "main;serve;", 2 }, { "main;serve;parse;read;", 5 } };
	size_t node = 0;

	assert_int_equal(json_nr_children(member(member(root, "samples"), "value")), 3);
	for (size_t i = 0; i < array_len(expected); i++) {
		node += cell(root, "samples", "node", i);
		assert_string_equal(path_of(root, node, &text), expected[i].path);
		assert_int_equal(cell(root, "samples", "value", i), expected[i].value);
	}
}

static void samples_with_equal_stacks_and_labels_are_one(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "a", "f", 2 }, { "a", "f", 3 }, { "b", "f", 4 } };
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(lines, array_len(lines));
	size_t total = 0;

	for (size_t i = 0; i < p->nr_samples; i++)
		p->samples[i].pid = 7;
	_cleanup_(json_freep) struct json_value *root = encode_profile(p);
	assert_int_equal(json_nr_children(member(member(root, "samples"), "value")), 2);
	for (size_t i = 0; i < 2; i++)
		total += cell(root, "samples", "value", i);
	assert_int_equal(total, 9);
	assert_string_equal(label_of(root, "comm", 0), "a");
	assert_string_equal(label_of(root, "comm", 1), "b");
	assert_string_equal(label_of(root, "pid", 0), "7");
	assert_null(label_of(root, "pod", 0));
}

static void labels_of_pods_are_labels(void **state)
{
	(void)state;
	const struct attribute attributes[] = { { "k8s.pod.name", "web-1" },
						{ "k8s.pod.uid", "1-2-3" },
						{ "k8s.pod.label.app", "web" } };
	const struct stack_line line = { "web", "main", 1 };
	_cleanup_(profile_unrefp) struct profile *one = profile_of_stacks(&line, 1);
	struct builder *builder;

	assert_int_equal(builder_new(PLENTY_BYTES, &builder), 0);
	assert_int_equal(merge_profile(builder, one, NULL), 0);
	struct profile_sample sample = builder_peek(builder)->samples[0];
	assert_int_equal(builder_add_resource(builder, attributes, 3, &sample.resource), 0);
	assert_int_equal(builder_add_sample(builder, &sample), 0);
	_cleanup_(profile_unrefp) struct profile *p = builder_seal(builder);
	_cleanup_(json_freep) struct json_value *root = encode_profile(p);
	assert_string_equal(label_of(root, "pod", 0), "");
	assert_string_equal(label_of(root, "pod", 1), "web-1");
	assert_string_equal(label_of(root, "k8s.pod.label.app", 1), "web");
	assert_null(label_of(root, "k8s.pod.uid", 1));
}

static void a_comparison_has_both_values_of_a_stack(void **state)
{
	(void)state;
	const struct stack_line before[] = { { "a", "f", 2 }, { "a", "f;gone", 7 } };
	const struct stack_line after[] = { { "a", "f", 3 }, { "a", "f;new", 1 } };
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(before, 2);
	_cleanup_(profile_unrefp) struct profile *q = profile_of_stacks(after, 2);
	_cleanup_(diff_done) struct diff diff = { 0 };
	size_t sums[2] = { 0 };

	assert_int_equal(diff_init(&diff, p, q, false, PLENTY), 0);
	const struct viewer_content content = {
		.profile = q,
		.diff = &diff,
		.view = &plain,
		.caption = &caption,
	};
	_cleanup_(json_freep) struct json_value *root = encode(&content);
	assert_true(number_of(member(root, "diff"), "scale") == 4. / 9);
	assert_int_equal(json_nr_children(member(member(root, "frames"), "name")), 3);
	assert_int_equal(json_nr_children(member(member(root, "nodes"), "frame")), 4);
	assert_int_equal(json_nr_children(member(member(root, "samples"), "value")), 3);
	for (size_t i = 0; i < 3; i++) {
		sums[0] += cell(root, "samples", "before", i);
		sums[1] += cell(root, "samples", "value", i);
	}
	assert_int_equal(sums[0], 9);
	assert_int_equal(sums[1], 4);
}

static void any_name_leaves_printable(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		const struct stack_line line = { hostile_names[i].name, hostile_names[i].name, 1 };
		_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(&line, 1);
		_cleanup_(json_freep) struct json_value *root = encode_profile(p);

		assert_string_equal(label_of(root, "comm", 0), hostile_names[i].printable);
		assert_string_equal(string_at(root, cell(root, "frames", "name", 0)),
				    hostile_names[i].printable);
	}
}

static void the_buffer_bounds_it(void **state)
{
	(void)state;
	const struct stack_line line = { "a", "f", 1 };
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(&line, 1);
	const struct viewer_content content = { .profile = p, .view = &plain, .caption = &caption };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(100);

	assert_int_equal(viewer_data_encode(&content, &out), -ENOSPC);
	assert_int_equal(strbuf_error(&out), -ENOSPC);
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	const struct stack_line line = { "a", "f;g", 1 };
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(&line, 1);
	const struct viewer_content content = { .profile = p, .view = &plain, .caption = &caption };

	for (unsigned int n = 1;; n++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		torture_begin(n);
		int r = viewer_data_encode(&content, &out);
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
		cmocka_unit_test(the_head_has_origin_and_view),
		cmocka_unit_test(stacks_with_equal_beginnings_share_nodes),
		cmocka_unit_test(samples_with_equal_stacks_and_labels_are_one),
		cmocka_unit_test(labels_of_pods_are_labels),
		cmocka_unit_test(a_comparison_has_both_values_of_a_stack),
		cmocka_unit_test(any_name_leaves_printable),
		cmocka_unit_test(the_buffer_bounds_it),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
