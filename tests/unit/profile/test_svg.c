/* SPDX-License-Identifier: Apache-2.0 */
/* Where the boxes are is checked by tests/oracle/formats/check_svg.py, which has an XML parser. */
#include "profile/svg.h"

#include "hostile_names.h"
#include "stacks.h"
#include "torture.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

#define PLENTY_BYTES (64 << 20)

static const struct caption caption = { .title = "a title", .subtitle = "a subtitle" };

static struct strbuf svg_of(const struct stack_line *lines, size_t nr)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines, nr);
	struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	assert_int_equal(svg_encode(profile, &caption, &out), 0);
	return out;
}

static size_t count_in(const struct strbuf *svg, const char *part)
{
	size_t nr = 0;

	for (const char *at = svg->data; (at = strstr(at, part)); at++)
		nr++;
	return nr;
}

static void an_empty_profile_is_a_picture_of_the_root(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf svg = svg_of(NULL, 0);

	assert_int_equal(count_in(&svg, "<g><title>"), 1);
	assert_int_equal(count_in(&svg, "all (0 samples, 100.00 %)"), 1);
	assert_int_equal(count_in(&svg, "nan%"), 0);
	assert_int_equal(count_in(&svg, "rx=\"3\""), 0);
}

static void values_are_called_what_they_are(void **state)
{
	(void)state;
	static const struct stack_line lines[] = { { "sh", "main;malloc", 4096 },
						   { "sh", "main;free", 1 } };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines,
									      array_len(lines));
	_cleanup_(strbuf_done) struct strbuf svg = strbuf_with_max(PLENTY_BYTES);

	profile->type = PROFILE_INUSE_SPACE;
	assert_int_equal(svg_encode(profile, &caption, &svg), 0);
	assert_int_equal(count_in(&svg, "malloc (4,096 bytes, 99.98 %)"), 1);
	assert_int_equal(count_in(&svg, "free (1 byte, 0.02 %)"), 1);
	assert_int_equal(count_in(&svg, "4,097 bytes"), 4); /* subtitle, root, process, main */
}

static void the_script_and_style_are_inside(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf svg = svg_of(NULL, 0);

	assert_int_equal(count_in(&svg, "<script>"), 1);
	assert_int_equal(count_in(&svg, "addEventListener('click'"), 2);
	assert_int_equal(count_in(&svg, "#frames .wide {"), 1);
	assert_int_equal(count_in(&svg, "]]>"), 2);
}

/* What is too narrow to be drawn as well. */
static void the_whole_tree_is_there_for_the_script(void **state)
{
	(void)state;
	static const struct stack_line lines[] = { { "sh", "main;f_[i]", 1000000 },
						   { "sh", "main;g_[k]", 1 } };
	_cleanup_(strbuf_done) struct strbuf svg = svg_of(lines, array_len(lines));
	const char *tree = strstr(svg.data,
				  "<metadata id=\"tree\">\nsample\n0\n5\n#e5e7eb\n0\nall\n\n");

	assert_int_equal(count_in(&svg, "<title>g ("), 0);
	assert_non_null(tree);
	assert_non_null(strstr(tree, "\n1\nsh\n\n"));
	assert_non_null(strstr(tree, "\n2\nmain\n\n"));
	assert_non_null(strstr(tree, "\n2\nf\ninlined\n"));
	assert_non_null(strstr(tree, "\n3\ng\n\n"));
	assert_non_null(strstr(tree, "\n0,1000001,0 1,1000001,1 2,1000001,2 3,1000000,3 4,1,3 \n"
				     "</metadata>"));
}

static void what_is_left_out_of_a_huge_tree_is_counted(void **state)
{
	(void)state;
	enum { NR_PROCESSES = 2100, NR_FRAMES = 100 };
	static struct stack_line lines[NR_PROCESSES];
	static char names[NR_PROCESSES][16];
	char stack[2 * NR_FRAMES];

	for (size_t i = 0; i < NR_FRAMES; i++) {
		stack[2 * i] = 'f';
		stack[2 * i + 1] = i + 1 < NR_FRAMES ? ';' : '\0';
	}
	for (size_t i = 0; i < NR_PROCESSES; i++) {
		snprintf(names[i], sizeof(names[i]), "p%zu", i);
		lines[i] = (struct stack_line){ names[i], stack, 1 + i % 2 };
	}
	_cleanup_(strbuf_done) struct strbuf svg = svg_of(lines, NR_PROCESSES);

	/* Of those that count once, the process and its frames. */
	assert_non_null(strstr(svg.data, "<metadata id=\"tree\">\nsample\n106050\n1052\n"));
}

static void hostile_names_stay_text(void **state)
{
	(void)state;
	const struct stack_line lines[] = {
		{ "</title>", "<script>alert(1)</script>", 1 },
		{ "x\" onload=\"y", "]]>&\x1b\xff", 1 },
	};
	_cleanup_(strbuf_done) struct strbuf svg = svg_of(lines, array_len(lines));

	assert_int_equal(count_in(&svg, "<script>"), 1);
	assert_int_equal(
		count_in(&svg, "&lt;script&gt;alert(1)&lt;/script&gt; (1 sample, 50.00 %)"), 1);
	assert_int_equal(count_in(&svg, "x&quot; onload=&quot;y ("), 1);
	assert_int_equal(count_in(&svg, "]]&gt;&amp;\\x1b\\xff ("), 1);
}

static void any_name_leaves_printable(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		const struct stack_line line = { hostile_names[i].name, hostile_names[i].name, 1 };
		_cleanup_(strbuf_done) struct strbuf svg = svg_of(&line, 1);
		const char *frames = strstr(strbuf_str(&svg), "<svg id=\"frames\"");
		const char *script = strstr(strbuf_str(&svg), "<script>");

		assert_true(frames && script && frames < script);
		assert_printable(frames, (size_t)(script - frames), true);
		assert_int_equal(count_in(&svg, hostile_names[i].printable), 6);
	}
}

static void labels_are_cut_to_their_boxes(void **state)
{
	(void)state;
	const struct stack_line lines[] = {
		{ "sh", "a_function_with_a_name_of_some_length", 5 },
		{ "sh", "b_function_with_a_name_of_some_length", 94 },
		{ "sh", "c_function_with_a_name_of_some_length", 1 },
	};
	_cleanup_(strbuf_done) struct strbuf svg = svg_of(lines, array_len(lines));

	assert_int_equal(count_in(&svg, ">a_func\xe2\x80\xa6</text>"), 1);
	assert_int_equal(count_in(&svg, ">b_function_with_a_name_of_some_length</text>"), 1);
	assert_int_equal(count_in(&svg, ">c_"), 1);
}

static void kinds_have_different_colours_and_names_the_same_in_every_picture(void **state)
{
	(void)state;
	const struct stack_line lines[] = {
		{ "f", "f;f_[i];f_[g];f_[i];f_[r];f_[i];f_[j];f_[i];f_[k];[f]", 1 }
	};
	_cleanup_(strbuf_done) struct strbuf svg = svg_of(lines, array_len(lines));
	const char *at = strstr(svg.data, "id=\"frames\"");
	char fills[12][8];

	for (size_t i = 0; i < array_len(fills); i++) {
		at = strstr(at, "fill=\"");
		assert_non_null(at);
		at += strlen("fill=\"");
		snprintf(fills[i], sizeof(fills[i]), "%.7s", at);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(fills[i], fills[j]);
	}

	_cleanup_(strbuf_done) struct strbuf again = svg_of(lines, array_len(lines));
	assert_string_equal(svg.data, again.data);
}

static void the_legend_has_what_is_drawn(void **state)
{
	(void)state;
	static const struct {
		struct stack_line lines[2];
		const char *entries;
	} cases[] = {
		{ { { "a", "main", 1 }, { "a", "f", 1 } }, "process, user space, " },
		{ { { "a", "main;f_[i]", 1 }, { "a", "f_[k]", 1 } },
		  "process, user space, kernel, inlined, " },
		{ { { "a", "f_[g]", 1 }, { "a", "[f]", 1 } }, "process, Go, truncated stack, " },
		{ { { "a", "f_[r];f_[j]", 100000 }, { "a", "f_[g];f_[i]", 1 } },
		  "process, Rust, other JIT, " },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf svg = svg_of(cases[i].lines, 2);
		_cleanup_(strbuf_done) struct strbuf entries = strbuf_with_max(PLENTY_BYTES);
		const char *at = strstr(svg.data, "class=\"legend\"");
		const char *end = strstr(at, "</g>");

		while ((at = strstr(at, "y=\"10\">")) && at < end) {
			at += strlen("y=\"10\">");
			strbuf_append(&entries, at, strcspn(at, "<"));
			strbuf_append_str(&entries, ", ");
		}
		assert_string_equal(strbuf_str(&entries), cases[i].entries);
	}
}

static void an_inlined_function_says_so(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "sh", "main;f_[i]", 1 } };
	_cleanup_(strbuf_done) struct strbuf svg = svg_of(lines, array_len(lines));

	assert_int_equal(count_in(&svg, "<title>f (1 sample, 100.00 %)\ninlined</title>"), 1);
	assert_int_equal(count_in(&svg, "<title>main (1 sample, 100.00 %)</title>"), 1);
}

static void boxes_too_narrow_to_see_are_left_out_and_counted(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "sh", "wide", 1000000 },
					    { "sh", "narrow", 80 },
					    { "sh", "just", 90 } };
	_cleanup_(strbuf_done) struct strbuf svg = svg_of(lines, array_len(lines));

	assert_int_equal(count_in(&svg, "<title>narrow ("), 0);
	assert_int_equal(count_in(&svg, "<title>just ("), 1);
	assert_int_equal(count_in(&svg, "1,000,170 samples<tspan id=\"narrow\"> \xc2\xb7 boxes "
					"not drawn: 1</tspan> \xc2\xb7 a subtitle<"),
			 1);
}

static void a_huge_profile_gives_a_bounded_picture(void **state)
{
	(void)state;
	enum { NR_STACKS = 11000 };
	_cleanup_free_ struct stack_line *lines = calloc(NR_STACKS, sizeof(*lines));
	static char names[NR_STACKS][16];

	assert_non_null(lines);
	for (size_t i = 0; i < NR_STACKS; i++) {
		snprintf(names[i], sizeof(names[i]), "f%zu", i);
		lines[i] = (struct stack_line){ "sh", names[i], 1 + i % 2 };
	}
	_cleanup_(strbuf_done) struct strbuf svg = svg_of(lines, NR_STACKS);
	assert_in_range(count_in(&svg, "<g><title>"), 1, 2000);
	assert_int_equal(count_in(&svg, "boxes not drawn"), 1);
}

static void the_buffer_s_limit_is_kept(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "sh", "main", 3 } };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines, 1);

	for (size_t max = 0; max < 4096; max += 64) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(max);

		assert_int_equal(svg_encode(profile, &caption, &out), -ENOSPC);
		assert_int_equal(strbuf_error(&out), -ENOSPC);
	}
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "sh", "main", 3 } };
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_stacks(lines, 1);

	for (unsigned int n = 1;; n++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		torture_begin(n);
		int r = svg_encode(profile, &caption, &out);
		bool has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
		assert_int_equal(strbuf_error(&out), r);
		if (!has_failed)
			return;
	}
}

static void times_are_written_with_their_unit_and_wakers_named(void **state)
{
	static const struct wait_line lines[] = {
		{ "sh", "main;lock;[woken by a];unlock", REASON_FUTEX, 1500000000 },
		{ "sh", "main;read", REASON_DISK, 2500000 },
	};
	_cleanup_(profile_unrefp) struct profile *profile = profile_of_waits(lines,
									     array_len(lines));
	_cleanup_(strbuf_done) struct strbuf svg = strbuf_with_max(PLENTY_BYTES);
	(void)state;

	assert_int_equal(svg_encode(profile, &caption, &svg), 0);
	assert_int_equal(count_in(&svg, "lock (1.50 s, 99.83 %)"), 2); /* and "unlock" */
	assert_int_equal(count_in(&svg, "read (2.50 ms, 0.17 %)"), 1);
	assert_int_equal(count_in(&svg, ">waker</text>"), 1);
	assert_int_equal(count_in(&svg, "truncated stack"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_are_written_with_their_unit_and_wakers_named),
		cmocka_unit_test(an_empty_profile_is_a_picture_of_the_root),
		cmocka_unit_test(values_are_called_what_they_are),
		cmocka_unit_test(the_script_and_style_are_inside),
		cmocka_unit_test(the_whole_tree_is_there_for_the_script),
		cmocka_unit_test(what_is_left_out_of_a_huge_tree_is_counted),
		cmocka_unit_test(hostile_names_stay_text),
		cmocka_unit_test(any_name_leaves_printable),
		cmocka_unit_test(labels_are_cut_to_their_boxes),
		cmocka_unit_test(kinds_have_different_colours_and_names_the_same_in_every_picture),
		cmocka_unit_test(the_legend_has_what_is_drawn),
		cmocka_unit_test(an_inlined_function_says_so),
		cmocka_unit_test(boxes_too_narrow_to_see_are_left_out_and_counted),
		cmocka_unit_test(a_huge_profile_gives_a_bounded_picture),
		cmocka_unit_test(the_buffer_s_limit_is_kept),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
