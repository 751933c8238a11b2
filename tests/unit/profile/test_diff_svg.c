/* SPDX-License-Identifier: Apache-2.0 */
/* tests/oracle/formats/check_svg_browser.py uses such a picture in a browser. */
#include "profile/svg.h"

#include "hostile_names.h"
#include "stacks.h"
#include "torture.h"

#include "base/cleanup.h"

#include <string.h>

#define PLENTY 100000
#define PLENTY_BYTES (64 << 20)
#define ARROW " \xe2\x86\x92 "

static const struct caption caption = { .title = "a title", .subtitle = "a subtitle" };

static const struct stack_line before[] = { { "sh", "main;kept", 500 },
					    { "sh", "main;shrank", 300 },
					    { "sh", "main;removed", 200 } };
static const struct stack_line after[] = { { "sh", "main;kept", 1000 },
					   { "sh", "main;shrank", 100 },
					   { "sh", "main;added", 900 } };

static struct strbuf svg_of(const struct stack_line *a, size_t nr_a, const struct stack_line *b,
			    size_t nr_b)
{
	_cleanup_(profile_unrefp) struct profile *profile_a = profile_of_stacks(a, nr_a);
	_cleanup_(profile_unrefp) struct profile *profile_b = profile_of_stacks(b, nr_b);
	_cleanup_(diff_done) struct diff diff = { 0 };
	struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	assert_int_equal(diff_init(&diff, profile_a, profile_b, false, PLENTY), 0);
	assert_int_equal(svg_encode_diff(&diff, &caption, &out), 0);
	return out;
}

static size_t count_in(const struct strbuf *svg, const char *part)
{
	size_t nr = 0;

	for (const char *at = svg->data; (at = strstr(at, part)); at++)
		nr++;
	return nr;
}

static void titles_have_both_sides(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf svg = svg_of(before, 3, after, 3);

	assert_int_equal(count_in(&svg, "kept (50.00 %" ARROW "50.00 %, +0.00 points; 5.000" ARROW
					"10.000 CPUs; 500" ARROW "1,000 samples; within sampling "
					"noise)"),
			 1);
	assert_int_equal(count_in(&svg, "shrank (30.00 %" ARROW "5.00 %, -25.00 points; "), 1);
	assert_int_equal(count_in(&svg, "0" ARROW "900 samples; new)"), 1);
}

static void what_is_gone_has_no_box_but_a_node(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf svg = svg_of(before, 3, after, 3);

	assert_int_equal(count_in(&svg, "removed ("), 0);
	assert_int_equal(count_in(&svg, "\nremoved\n"), 1);
	/* all, sh, main, added, kept, removed, shrank */
	assert_int_equal(count_in(&svg, "\n0,2000,0,1000 1,2000,1,1000 2,2000,2,1000 3,900,3,0 "
					"4,1000,3,500 5,0,3,200 6,100,3,300 \n"),
			 1);
	assert_int_equal(count_in(&svg, "<metadata id=\"diff\">\n2\n1\n1\n0.01 0.01\n</metadata>"),
			 1);
}

/* The fill of the box with that title. */
static void fill_of(const struct strbuf *svg, const char *title, char fill[static 8])
{
	const char *at = strstr(svg->data, title);

	assert_non_null(at);
	at = strstr(at, "fill=\"");
	memcpy(fill, at + strlen("fill=\""), 7);
	fill[7] = '\0';
}

static void colours_tell_growth_from_decline_and_noise(void **state)
{
	(void)state;
	static const struct {
		const char *title, *color;
	} cases[] = {
		{ "<title>all (", "#e9eaed" },
		{ "<title>kept (", "#e9eaed" },
		{ "<title>added (", "#e55341" },
	};
	_cleanup_(strbuf_done) struct strbuf svg = svg_of(before, 3, after, 3);
	char fill[8];

	for (size_t i = 0; i < array_len(cases); i++) {
		fill_of(&svg, cases[i].title, fill);
		assert_string_equal(fill, cases[i].color);
	}
	fill_of(&svg, "<title>shrank (", fill);
	assert_true(fill[5] > fill[1]); /* more blue than red */
}

static void the_legend_explains_the_colours(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf svg = svg_of(before, 3, after, 3);
	static const char *const texts[] = { ">gone<", ">half<", ">twice<", ">new<",
					     ">no change beyond sampling noise<" };

	for (size_t i = 0; i < array_len(texts); i++)
		assert_int_equal(count_in(&svg, texts[i]), 1);
	assert_int_equal(count_in(&svg, ">user space<"), 0);
}

static void both_scripts_are_inside_once(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf svg = svg_of(before, 3, after, 3);

	assert_int_equal(count_in(&svg, "<script>"), 1);
	assert_int_equal(count_in(&svg, "const flamegraphDiff = "), 1);
	assert_int_equal(count_in(&svg, "]]>"), 2);
}

static void an_empty_side_is_a_picture(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf all_new = svg_of(NULL, 0, after, 3);
	_cleanup_(strbuf_done) struct strbuf all_gone = svg_of(before, 3, NULL, 0);
	_cleanup_(strbuf_done) struct strbuf nothing = svg_of(NULL, 0, NULL, 0);
	const struct strbuf *svgs[] = { &all_new, &all_gone, &nothing };

	for (size_t i = 0; i < array_len(svgs); i++) {
		const char *script = strstr(svgs[i]->data, "<script>");
		const char *nan = strstr(svgs[i]->data, "nan");

		assert_non_null(strstr(svgs[i]->data, "<title>all ("));
		assert_true(!nan || nan > script);
	}
}

static void hostile_names_stay_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		const char *name = hostile_names[i].name;
		const struct stack_line line = { name, name, 1 };
		_cleanup_(strbuf_done) struct strbuf svg = svg_of(&line, 1, after, 3);
		const char *frames = strstr(strbuf_str(&svg), "<svg id=\"frames\"");
		const char *script = strstr(strbuf_str(&svg), "<script>");

		assert_true(frames && script && frames < script);
		assert_printable(frames, (size_t)(script - frames), true);
		assert_int_equal(count_in(&svg, hostile_names[i].printable), 2);
	}
}

static void the_buffer_s_limit_is_kept(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(before, 3);
	_cleanup_(diff_done) struct diff diff = { 0 };

	assert_int_equal(diff_init(&diff, profile, profile, false, PLENTY), 0);
	for (size_t max = 0; max < 4096; max += 64) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(max);

		assert_int_equal(svg_encode_diff(&diff, &caption, &out), -ENOSPC);
		assert_int_equal(strbuf_error(&out), -ENOSPC);
	}
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(before, 3);
	_cleanup_(diff_done) struct diff diff = { 0 };
	bool has_failed = true;

	assert_int_equal(diff_init(&diff, profile, profile, false, PLENTY), 0);
	for (unsigned int n = 1; has_failed; n++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		torture_begin(n);
		int r = svg_encode_diff(&diff, &caption, &out);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(titles_have_both_sides),
		cmocka_unit_test(what_is_gone_has_no_box_but_a_node),
		cmocka_unit_test(colours_tell_growth_from_decline_and_noise),
		cmocka_unit_test(the_legend_explains_the_colours),
		cmocka_unit_test(both_scripts_are_inside_once),
		cmocka_unit_test(an_empty_side_is_a_picture),
		cmocka_unit_test(hostile_names_stay_text),
		cmocka_unit_test(the_buffer_s_limit_is_kept),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
