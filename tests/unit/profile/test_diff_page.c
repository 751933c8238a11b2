/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/html.h"

#include "hostile_names.h"
#include "stacks.h"
#include "torture.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

#define PLENTY 100000
#define PLENTY_BYTES ((size_t)16 << 20)

static const struct caption caption = { .title = "the title", .subtitle = "a host" };

struct scene {
	struct profile *before, *after; /* owned */
	struct diff diff;
	struct diff_table functions, owners;
	struct html_diff page;
};

static void scene_done(struct scene *scene)
{
	diff_done(&scene->diff);
	diff_table_done(&scene->functions);
	diff_table_done(&scene->owners);
	profile_unref(scene->before);
	profile_unref(scene->after);
}

/* Each process is an owner. The scene must not move afterwards. */
static void scene_init(struct scene *scene, const struct stack_line *before, size_t nr_before,
		       const struct stack_line *after, size_t nr_after)
{
	*scene = (struct scene){ .before = profile_of_stacks(before, nr_before),
				 .after = profile_of_stacks(after, nr_after) };
	assert_int_equal(diff_init(&scene->diff, scene->before, scene->after, false, PLENTY), 0);
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
	scene->page = (struct html_diff){ .shown = &scene->diff,
					  .diff = &scene->diff,
					  .functions = &scene->functions,
					  .owners = &scene->owners };
}

static struct strbuf encode(const struct scene *scene)
{
	struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	assert_int_equal(html_encode_diff(&scene->page, &caption, &out), 0);
	return out;
}

static size_t count(const struct strbuf *out, const char *text)
{
	size_t nr = 0;

	for (const char *at = strbuf_str(out); (at = strstr(at, text)); at++)
		nr++;
	return nr;
}

static const struct stack_line before[] = { { "web", "main;parse", 600 },
					    { "web", "main;read_[k]", 395 },
					    { "web", "main;idle", 5 } };
static const struct stack_line after[] = { { "web", "main;parse", 300 },
					   { "web", "main;read_[k]", 390 },
					   { "web", "main;idle", 8 },
					   { "burst", "burn", 302 } };

static void the_page_has_totals_graph_and_tables(void **state)
{
	(void)state;
	_cleanup_(scene_done) struct scene scene;

	scene_init(&scene, before, array_len(before), after, array_len(after));
	_cleanup_(strbuf_done) struct strbuf out = encode(&scene);

	assert_int_equal(count(&out, "<b>10.00 \xe2\x86\x92 10.00</b>CPUs busy on average"), 1);
	assert_int_equal(count(&out, "<b>1,000 \xe2\x86\x92 1,000</b>samples"), 1);
	assert_int_equal(count(&out, "<svg id=\"frames\""), 1);
	assert_int_equal(count(&out, "<span>+30.2</span> <b>new</b></td><td><button"), 1);
	assert_int_equal(count(&out, "<span>burn</span></button></td>"), 1);
	assert_int_equal(count(&out, "<span>parse</span></button></td>"), 1);
	assert_int_equal(count(&out, "title=\"burst\">burst</td>"), 1);
}

static void noise_is_counted_and_not_listed(void **state)
{
	(void)state;
	_cleanup_(scene_done) struct scene scene;

	scene_init(&scene, before, array_len(before), after, array_len(after));
	_cleanup_(strbuf_done) struct strbuf out = encode(&scene);

	assert_int_equal(count(&out, "<span>read</span></button></td>"), 0);
	assert_int_equal(count(&out, "<span>idle</span></button></td>"), 0);
	assert_int_equal(count(&out, "may be noise: 3</p>"), 1); /* main as well */
}

static void of_many_functions_those_that_changed_most_are_shown(void **state)
{
	(void)state;
	enum { NR = 600 };
	static struct stack_line lines[NR];
	static char names[NR][8];
	const struct stack_line old = { "web", "old", 1000000 };
	_cleanup_(scene_done) struct scene scene;

	for (size_t i = 0; i < NR; i++) {
		snprintf(names[i], sizeof(names[i]), "f%zu", i);
		lines[i] = (struct stack_line){ "web", names[i], (uint32_t)(100 + i) };
	}
	scene_init(&scene, &old, 1, lines, NR);
	_cleanup_(strbuf_done) struct strbuf out = encode(&scene);

	assert_in_range(count(&out, "class=\"find\""), 1, 500);
	assert_int_equal(count(&out, "<span>f599</span></button>"), 1);
	assert_int_equal(count(&out, "<span>old</span></button>"), 1);
	assert_int_equal(count(&out, "<span>f0</span></button>"), 0);
}

/* A policy that permits just these. */
static void the_page_has_three_scripts_and_their_hashes(void **state)
{
	(void)state;
	_cleanup_(scene_done) struct scene scene;

	scene_init(&scene, before, array_len(before), after, array_len(after));
	_cleanup_(strbuf_done) struct strbuf out = encode(&scene);

	assert_int_equal(count(&out, "<script>"), 3);
	assert_int_equal(count(&out, "'sha256-"), 3);
}

static void hostile_names_stay_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		const char *name = hostile_names[i].name;
		const struct stack_line a = { name, name, 100 };
		const struct stack_line b = { "x", "</td><script>alert(1)</script>", 100 };
		_cleanup_(scene_done) struct scene scene;

		scene_init(&scene, &a, 1, &b, 1);
		_cleanup_(strbuf_done) struct strbuf out = encode(&scene);
		const char *main = strstr(strbuf_str(&out), "<main>");
		const char *script = strstr(strbuf_str(&out), "<script>");

		assert_true(main && script && main < script);
		assert_printable(main, (size_t)(script - main), true);
		assert_int_equal(count(&out, "<script>"), 3);
		assert_int_equal(count(&out, "<script>alert"), 0);
	}
}

static void empty_sides_make_a_page(void **state)
{
	(void)state;
	_cleanup_(scene_done) struct scene scene;

	scene_init(&scene, NULL, 0, NULL, 0);
	_cleanup_(strbuf_done) struct strbuf out = encode(&scene);
	assert_int_equal(count(&out, "<b>0 \xe2\x86\x92 0</b>samples"), 1);
}

static void the_buffer_s_limit_is_kept(void **state)
{
	(void)state;
	_cleanup_(scene_done) struct scene scene;

	scene_init(&scene, before, array_len(before), after, array_len(after));
	for (size_t max = 0; max < 8192; max += 128) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(max);

		assert_int_equal(html_encode_diff(&scene.page, &caption, &out), -ENOSPC);
	}
}

static void every_failed_allocation_is_reported(void **state)
{
	(void)state;
	_cleanup_(scene_done) struct scene scene;
	bool has_failed = true;

	scene_init(&scene, before, array_len(before), after, array_len(after));
	for (unsigned int n = 1; has_failed; n++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		torture_begin(n);
		int r = html_encode_diff(&scene.page, &caption, &out);
		has_failed = torture_end();
		assert_int_equal(r, has_failed ? -ENOMEM : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_has_totals_graph_and_tables),
		cmocka_unit_test(noise_is_counted_and_not_listed),
		cmocka_unit_test(of_many_functions_those_that_changed_most_are_shown),
		cmocka_unit_test(the_page_has_three_scripts_and_their_hashes),
		cmocka_unit_test(hostile_names_stay_text),
		cmocka_unit_test(empty_sides_make_a_page),
		cmocka_unit_test(the_buffer_s_limit_is_kept),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
