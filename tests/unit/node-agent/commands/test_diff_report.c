/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"
#include "commands/diff_report.h"
#include "hostile_names.h"
#include "stacks.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/strview.h"

#include <stdio.h>

#include <string.h>

#define PLENTY 1000
#define PLENTY_BYTES (1 << 20)

struct scene {
	struct profile *before, *after; /* owned */
	struct diff diff;
	struct diff_table functions, owners;
	struct diff_report report;
};

static void scene_done(struct scene *scene)
{
	diff_done(&scene->diff);
	diff_table_done(&scene->functions);
	diff_table_done(&scene->owners);
	profile_unref(scene->before);
	profile_unref(scene->after);
}

/* Compares again, with the processes as owners. */
static void scene_compare(struct scene *scene, bool is_absolute)
{
	assert_int_equal(diff_init(&scene->diff, scene->before, scene->after, is_absolute, PLENTY),
			 0);
	assert_int_equal(diff_table_init(&scene->functions), 0);
	assert_int_equal(diff_table_init(&scene->owners), 0);
	assert_int_equal(diff_table_add_functions(&scene->functions, &scene->diff), 0);
	for (uint32_t i = scene->diff.tree.nodes[0].first_child; i;
	     i = scene->diff.tree.nodes[i].next_sibling) {
		uint32_t row;

		assert_int_equal(diff_table_get(&scene->owners, scene->diff.tree.nodes[i].name,
						FLAME_LABEL, &row),
				 0);
		scene->owners.rows[row].self = diff_node(&scene->diff, i);
		scene->owners.rows[row].total = diff_node(&scene->diff, i);
	}
	diff_table_sort(&scene->functions, &scene->diff);
	diff_table_sort(&scene->owners, &scene->diff);
	scene->report = (struct diff_report){
		.diff = &scene->diff,
		.functions = &scene->functions,
		.owners = &scene->owners,
		.before = "then",
		.after = "now",
		.columns = 80,
	};
}

/* 100 Hz; 10 s before and 2 s after. The scene must not move afterwards. */
static void scene_init(struct scene *scene, const struct stack_line *before, size_t nr_before,
		       const struct stack_line *after, size_t nr_after)
{
	*scene = (struct scene){
		.before = profile_of_stacks(before, nr_before),
		.after = profile_of_stacks(after, nr_after),
	};
	scene->before->duration_ns = 10 * NSEC_PER_SEC;
	scene->after->duration_ns = 2 * NSEC_PER_SEC;
	scene_compare(scene, false);
}

static const struct stack_line before[] = {
	{ "web", "main;serve", 700 },
	{ "web", "main;serve;parse_[k]", 250 },
	{ "cron", "main;old", 50 },
};
static const struct stack_line after[] = {
	{ "web", "main;serve", 140 },
	{ "web", "main;serve;parse_[k]", 51 },
	{ "burst", "main;burn", 200 },
};

static void assert_report(const struct scene *scene, const char *expected)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	assert_int_equal(diff_report_append(&scene->report, &out), 0);
	assert_string_equal(strbuf_str(&out), expected);
}

static void an_event_is_named_with_its_selector(void **state)
{
	(void)state;
	_cleanup_(scene_done) struct scene scene;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
	const struct asked_range event = {
		.name = "@e7",
		.found = { .event = { .number = 7,
				      .selector = "{comm=\"burst\"}",
				      .text = "Process burst used up to 1.00 CPUs" },
			   .host = "node-1" },
	};

	scene_init(&scene, before, array_len(before), after, array_len(after));
	scene.report.event = &event;
	assert_int_equal(diff_report_append(&scene.report, &out), 0);
	assert_non_null(strstr(strbuf_str(&out),
			       "\nevent   @e7: Process burst used up to 1.00 CPUs\n"
			       "        its samples alone: --select '{comm=\"burst\"}'\n"
			       "compare "));
	strbuf_clear(&out);
	assert_int_equal(diff_report_append_json(&scene.report, &out), 0);
	assert_non_null(strstr(strbuf_str(&out), "\"event\":{\"id\":\"e7\","));
}

static void the_largest_changes_are_shown_each_way(void **state)
{
	(void)state;
	_cleanup_(scene_done) struct scene scene;

	scene_init(&scene, before, array_len(before), after, array_len(after));
	assert_report(&scene,
		      "before  then: 1,000 samples at 100 Hz, 1.000 CPUs over 10 s\n"
		      "after   now: 391 samples at 100 Hz, 1.955 CPUs over 2 s\n"
		      "compare shares of each side's total; --absolute compares amounts\n"
		      "noise   changes below 1.33 points at a share of 1 %, or 6.14 at 50 %\n"
		      "\n"
		      "functions with a larger share\n"
		      " ----- self ----                  ---- total ----\n"
		      "  before   after  points     CPUs  before   after\n"
		      "   0.0 %  51.2 %   +51.2   +1.000   0.0 %  51.2 %  new   burn\n"
		      "\n"
		      "functions with a smaller share\n"
		      " ----- self ----                  ---- total ----\n"
		      "  before   after  points     CPUs  before   after\n"
		      "  70.0 %  35.8 %   -34.2   +0.000  95.0 %  48.8 %        serve\n"
		      "  25.0 %  13.0 %   -12.0   +0.005  25.0 %  13.0 %        parse [kernel]\n"
		      "   5.0 %   0.0 %    -5.0   -0.050   5.0 %   0.0 %  gone  old\n"
		      "\n"
		      "pods and processes with a larger share\n"
		      "  before   after  points     CPUs\n"
		      "   0.0 %  51.2 %   +51.2   +1.000  new   burst\n"
		      "\n"
		      "pods and processes with a smaller share\n"
		      "  before   after  points     CPUs\n"
		      "  95.0 %  48.8 %   -46.2   +0.005        web\n"
		      "   5.0 %   0.0 %    -5.0   -0.050  gone  cron\n");
}

/* The web server does what it did; only its share is smaller. */
static void amounts_show_what_shares_hide(void **state)
{
	(void)state;
	_cleanup_(scene_done) struct scene scene;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	scene_init(&scene, before, array_len(before), after, array_len(after));
	diff_done(&scene.diff);
	diff_table_done(&scene.functions);
	diff_table_done(&scene.owners);
	scene_compare(&scene, true);
	assert_int_equal(diff_report_append(&scene.report, &out), 0);
	assert_non_null(strstr(out.data, "compare amounts per second\n"));
	assert_non_null(strstr(out.data, "functions that ran more\n"));
	assert_non_null(strstr(out.data, "burn\n"));
	assert_null(strstr(out.data, "serve\n"));
	assert_non_null(strstr(out.data, "not shown: 1 functions whose change may be noise\n"));
}

static void nothing_but_noise_is_said(void **state)
{
	(void)state;
	static const struct stack_line a[] = { { "web", "f", 500 }, { "web", "g", 500 } };
	static const struct stack_line b[] = { { "web", "f", 103 }, { "web", "g", 97 } };
	_cleanup_(scene_done) struct scene scene;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	scene_init(&scene, a, 2, b, 2);
	assert_int_equal(diff_report_append(&scene.report, &out), 0);
	assert_non_null(strstr(out.data, "\nno function, pod or process changed by more than "
					 "sampling noise in its share; --absolute "
					 "compares amounts\n"));
	assert_non_null(strstr(out.data, "not shown: 2 functions"));
	assert_null(strstr(out.data, "points     CPUs"));
}

static void a_side_without_a_period_has_no_cpus(void **state)
{
	(void)state;
	_cleanup_(scene_done) struct scene scene;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	scene_init(&scene, before, array_len(before), after, array_len(after));
	scene.before->period = 0;
	assert_int_equal(diff_report_append(&scene.report, &out), 0);
	assert_null(strstr(out.data, "     CPUs"));
	assert_non_null(strstr(out.data, "before  then: 1,000 samples\n"));
}

static void many_rows_are_counted(void **state)
{
	(void)state;
	enum { NR = 20 };
	static const struct stack_line a = { "web", "f", 1000 };
	struct stack_line b[NR];
	char names[NR][8];
	_cleanup_(scene_done) struct scene scene;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	for (size_t i = 0; i < NR; i++) {
		snprintf(names[i], sizeof(names[i]), "g%zu", i);
		b[i] = (struct stack_line){ "web", names[i], 1000 };
	}
	scene_init(&scene, &a, 1, b, NR);
	assert_int_equal(diff_report_append(&scene.report, &out), 0);
	assert_non_null(strstr(out.data, "\n5 more; --json has all\n"));
}

static void lines_fit_the_terminal(void **state)
{
	(void)state;
	static const char *const names[] = { "a_function_with_a_long_name_that_goes_on_and_on_and_"
					     "on_until_it_does_not_fit_any_terminal" };
	const struct stack_line a = { "web", "f", 1000 }, b = { "web", names[0], 1000 };
	_cleanup_(scene_done) struct scene scene;

	scene_init(&scene, &a, 1, &b, 1);
	scene.report.before = names[0];
	for (unsigned int columns = 80; columns < 200; columns += 20) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		scene.report.columns = columns;
		assert_int_equal(diff_report_append(&scene.report, &out), 0);
		struct strview rest = strview_of(out.data, SIZE_MAX), line;
		while (strview_next(&rest, '\n', &line))
			assert_in_range(line.len, 0, columns + 2); /* an ellipsis has 3 bytes */
	}
}

static void json_has_all_rows_and_harmless_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		const char *name = hostile_names[i].name;
		const struct stack_line a = { name, name, 100 }, b = { "x", "\"\\", 100 };
		_cleanup_(scene_done) struct scene scene;
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
		_cleanup_(json_freep) struct json_value *root = NULL;

		scene_init(&scene, &a, 1, &b, 1);
		scene.report.before = name;
		assert_int_equal(diff_report_append_json(&scene.report, &out), 0);
		assert_printable(out.data, out.len, true);
		assert_int_equal(json_parse(out.data, out.len, PLENTY_BYTES, &root), 0);
		assert_int_equal(json_nr_children(json_find(root, "functions")), 2);
		assert_int_equal(json_nr_children(json_find(root, "owners")), 2);
	}
}

static void json_has_counts_points_and_noise(void **state)
{
	(void)state;
	_cleanup_(scene_done) struct scene scene;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	scene_init(&scene, before, array_len(before), after, array_len(after));
	assert_int_equal(diff_report_append_json(&scene.report, &out), 0);
	assert_non_null(strstr(out.data, "{\"name\":\"burn\",\"kernel\":false,\"self\":{\"before\":"
					 "0,\"after\":200,\"points\":51.1509,\"noise\":false,"
					 "\"cpus\":1.000000}"));
	assert_non_null(strstr(out.data, "\"compares\":\"shares\""));
	assert_non_null(strstr(out.data, "\"before\":{\"name\":\"then\",\"time_unix_ns\":1,"
					 "\"duration_ns\":10000000000,\"period_ns\":10000000,"
					 "\"total\":1000,\"cpus\":1.000000}"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_event_is_named_with_its_selector),
		cmocka_unit_test(the_largest_changes_are_shown_each_way),
		cmocka_unit_test(amounts_show_what_shares_hide),
		cmocka_unit_test(nothing_but_noise_is_said),
		cmocka_unit_test(a_side_without_a_period_has_no_cpus),
		cmocka_unit_test(many_rows_are_counted),
		cmocka_unit_test(lines_fit_the_terminal),
		cmocka_unit_test(json_has_all_rows_and_harmless_names),
		cmocka_unit_test(json_has_counts_points_and_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
