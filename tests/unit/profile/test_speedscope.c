/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/speedscope.h"

#include "hostile_names.h"
#include "json_members.h"
#include "profile/view.h"
#include "stacks.h"
#include "torture.h"

#include <string.h>

#define PLENTY_BYTES ((size_t)1 << 20)

static const struct caption caption = { .title = "a \"title\"", .subtitle = "" };

static struct json_value *encode(const struct profile *profile)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	assert_int_equal(speedscope_encode(profile, &caption, &out), 0);
	return parse_json(out.data, out.len);
}

static const char *frame_name(const struct json_value *root, size_t frame)
{
	const struct json_value *frames = member(member(root, "shared"), "frames");

	return text_of(element(frames, frame), "name");
}

/* Checks the names of a sample's frames, which are separated by semicolons. */
static void assert_sample(const struct json_value *root, const struct json_value *profile,
			  size_t sample, const char *names, double weight)
{
	const struct json_value *stack = element(member(profile, "samples"), sample);
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(PLENTY_BYTES);
	double seen = 0;

	for (size_t i = 0; i < json_nr_children(stack); i++) {
		strbuf_append_str(&text, i > 0 ? ";" : "");
		strbuf_append_str(&text, frame_name(root, index_at(stack, i)));
	}
	assert_string_equal(strbuf_str(&text), names);
	assert_true(json_number(element(member(profile, "weights"), sample), &seen));
	assert_true(seen == weight);
}

static void all_stacks_are_one_profile_in_nanoseconds(void **state)
{
	(void)state;
	const struct stack_line lines[] = {
		{ "web", "main;serve;parse_[i]", 5 },
		{ "web", "main;read_[k]", 7 },
		{ "sh", "main", 1 },
	};
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(lines, array_len(lines));
	_cleanup_(json_freep) struct json_value *root = encode(p);
	const struct json_value *profiles = member(root, "profiles");

	assert_string_equal(text_of(root, "name"), "a \"title\"");
	assert_int_equal(json_nr_children(profiles), 1);
	const struct json_value *profile = element(profiles, 0);
	assert_string_equal(text_of(profile, "type"), "sampled");
	assert_string_equal(text_of(profile, "unit"), "nanoseconds");
	assert_true(number_of(profile, "startValue") == 0);
	assert_true(number_of(profile, "endValue") == 130e6);
	assert_int_equal(json_nr_children(member(profile, "samples")), 3);
	assert_int_equal(json_nr_children(member(profile, "weights")), 3);
	assert_sample(root, profile, 0, "web;main;read", 70e6);
	assert_sample(root, profile, 1, "web;main;serve;parse", 50e6);
	assert_sample(root, profile, 2, "sh;main", 10e6);
}

static void equal_functions_are_one_frame(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "a", "f;f;g", 1 }, { "a", "g;f", 1 } };
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(lines, 2);
	_cleanup_(json_freep) struct json_value *root = encode(p);

	/* f, g and the process */
	assert_int_equal(json_nr_children(member(member(root, "shared"), "frames")), 3);
}

static void each_group_is_a_profile_the_largest_first(void **state)
{
	(void)state;
	static const char *const groups[] = { "comm", "pid" };
	const struct view view = { .groups = groups, .nr_groups = 2 };
	const struct stack_line lines[] = {
		{ "small", "f", 1 },
		{ "large", "f", 2 },
		{ "large", "g", 3 },
	};
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(lines, array_len(lines));
	struct view_result result;

	assert_int_equal(view_apply(&view, p, PLENTY_BYTES, &result), 0);
	_cleanup_(profile_unrefp) struct profile *shown = result.profile;
	_cleanup_(json_freep) struct json_value *root = encode(shown);
	const struct json_value *profiles = member(root, "profiles");
	assert_int_equal(json_nr_children(profiles), 2);
	assert_string_equal(text_of(element(profiles, 0), "name"), "large");
	assert_true(number_of(element(profiles, 0), "endValue") == 50e6);
	assert_sample(root, element(profiles, 0), 0, "pid 2;g", 30e6);
	assert_sample(root, element(profiles, 0), 1, "pid 1;f", 20e6);
	assert_string_equal(text_of(element(profiles, 1), "name"), "small");
	assert_sample(root, element(profiles, 1), 0, "pid 0;f", 10e6);
}

static void other_values_keep_their_unit(void **state)
{
	(void)state;
	static const struct {
		enum profile_type type;
		const char *unit;
	} cases[] = {
		{ PROFILE_ALLOC_SPACE, "bytes" },      { PROFILE_ALLOC_OBJECTS, "none" },
		{ PROFILE_RSS_GROWTH, "bytes" },       { PROFILE_IRQ, "nanoseconds" },
		{ PROFILE_LOCK_DELAY, "nanoseconds" },
	};
	const struct stack_line line = { "a", "f", 3 };

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(&line, 1);

		p->type = cases[i].type;
		_cleanup_(json_freep) struct json_value *root = encode(p);
		const struct json_value *profile = element(member(root, "profiles"), 0);
		assert_string_equal(text_of(profile, "unit"), cases[i].unit);
		assert_sample(root, profile, 0, "a;f", 3);
	}
}

static void no_samples_make_an_empty_profile(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(NULL, 0);
	_cleanup_(json_freep) struct json_value *root = encode(p);
	const struct json_value *profile = element(member(root, "profiles"), 0);

	assert_int_equal(json_nr_children(member(profile, "samples")), 0);
	assert_true(number_of(profile, "endValue") == 0);
}

static void a_sample_without_frames_is_its_process(void **state)
{
	(void)state;
	const struct stack_line line = { "", "", 3 };
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(&line, 1);
	_cleanup_(json_freep) struct json_value *root = encode(p);

	assert_sample(root, element(member(root, "profiles"), 0), 0, "[unnamed]", 30e6);
}

static void any_name_leaves_printable(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		const struct stack_line line = { hostile_names[i].name, hostile_names[i].name, 1 };
		_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(&line, 1);
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		assert_int_equal(speedscope_encode(p, &caption, &out), 0);
		assert_printable(out.data, out.len, true);
		_cleanup_(json_freep) struct json_value *root = parse_json(out.data, out.len);
		assert_string_equal(frame_name(root, 0), hostile_names[i].printable);
	}
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	const struct stack_line line = { "a", "f;g", 1 };
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(&line, 1);

	for (unsigned int n = 1;; n++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		torture_begin(n);
		int r = speedscope_encode(p, &caption, &out);
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
		cmocka_unit_test(all_stacks_are_one_profile_in_nanoseconds),
		cmocka_unit_test(equal_functions_are_one_frame),
		cmocka_unit_test(each_group_is_a_profile_the_largest_first),
		cmocka_unit_test(other_values_keep_their_unit),
		cmocka_unit_test(no_samples_make_an_empty_profile),
		cmocka_unit_test(a_sample_without_frames_is_its_process),
		cmocka_unit_test(any_name_leaves_printable),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
