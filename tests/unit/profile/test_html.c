/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/html.h"

#include "hostile_names.h"
#include "profile/builder.h"
#include "profile/merge.h"
#include "profile/view.h"
#include "stacks.h"
#include "torture.h"

#include <string.h>

#define PLENTY_BYTES ((size_t)16 << 20)

static const struct caption caption = { .title = "the title", .subtitle = "a host" };

static struct strbuf encode(const struct profile *profile, const struct caption *captions)
{
	struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	assert_int_equal(html_encode(profile, captions, &out), 0);
	return out;
}

static void assert_holds(const struct strbuf *out, const char *text)
{
	if (!strstr(strbuf_str(out), text))
		fail_msg("%s is not in the page", text);
}

static size_t count(const struct strbuf *out, const char *text)
{
	size_t nr = 0;

	for (const char *at = strbuf_str(out); (at = strstr(at, text)); at++)
		nr++;
	return nr;
}

static void the_page_has_totals_graph_and_tables(void **state)
{
	(void)state;
	const struct stack_line lines[] = {
		{ "web", "main;parse", 50 },
		{ "web", "main;read_[k]", 30 },
		{ "cut", "[too deep];f", 20 },
	};
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(lines, array_len(lines));
	_cleanup_(strbuf_done) struct strbuf out = encode(p, &caption);

	assert_holds(&out, "<title>the title</title>");
	assert_holds(&out, "<h1>the title</h1>\n<p class=\"origin\">a host</p>");
	assert_holds(&out, "<b>1.00 s</b>CPU time");
	assert_holds(&out, "<b>1.00</b>CPUs busy on average");
	assert_holds(&out, "<b>100</b>samples");
	assert_holds(&out, "<b>30.0 %</b>in the kernel");
	assert_holds(&out, "<b>20.0 %</b>with truncated stacks");
	assert_holds(&out, "<svg id=\"frames\"");
	assert_holds(&out, "<span>0.50 s</span> <b>50.0 %</b></td>"
			   "<td class=\"value\" data-value=\"50\">");
	assert_holds(&out, "<span>parse</span></button></td>");
	assert_holds(&out, "<h2>Processes</h2>");
	assert_holds(&out, "title=\"web\">web</td>");
	assert_int_equal(count(&out, "<h2>Pods</h2>"), 0);
	assert_int_equal(count(&out, "class=\"note\""), 0);
	assert_int_equal(count(&out, "<th>Group</th>"), 0);
}

static void notes_stand_below_the_title(void **state)
{
	(void)state;
	const struct caption noted = { .title = "t", .subtitle = "", .note = "a < b" };
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(NULL, 0);
	_cleanup_(strbuf_done) struct strbuf out = encode(p, &noted);

	assert_holds(&out, "<p class=\"note\">a &lt; b</p>");
}

static void pods_have_a_table(void **state)
{
	(void)state;
	const struct attribute attributes[] = { { "k8s.namespace.name", "shop" },
						{ "k8s.pod.name", "web-1" } };
	const struct stack_line line = { "web", "main", 1 };
	_cleanup_(profile_unrefp) struct profile *one = profile_of_stacks(&line, 1);
	struct builder *builder;

	assert_int_equal(builder_new(PLENTY_BYTES, &builder), 0);
	assert_int_equal(merge_profile(builder, one, NULL), 0);
	struct profile_sample sample = builder_peek(builder)->samples[0];
	assert_int_equal(builder_add_resource(builder, attributes, 2, &sample.resource), 0);
	assert_int_equal(builder_add_sample(builder, &sample), 0);
	_cleanup_(profile_unrefp) struct profile *p = builder_seal(builder);
	_cleanup_(strbuf_done) struct strbuf out = encode(p, &caption);
	assert_holds(&out, "<h2>Pods</h2>");
	assert_holds(&out, "title=\"shop/web-1\">shop/web-1</td>");
}

static void groups_have_a_column(void **state)
{
	(void)state;
	static const char *const groups[] = { "comm" };
	const struct view view = { .groups = groups, .nr_groups = 1 };
	const struct stack_line line = { "web", "main", 1 };
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(&line, 1);
	struct view_result result;

	assert_int_equal(view_apply(&view, p, PLENTY_BYTES, &result), 0);
	_cleanup_(profile_unrefp) struct profile *shown = result.profile;
	_cleanup_(strbuf_done) struct strbuf out = encode(shown, &caption);
	assert_holds(&out, "<th>Group</th>");
	assert_holds(&out, "title=\"web\">web</td></tr>");
}

static void other_values_are_numbers(void **state)
{
	(void)state;
	const struct stack_line line = { "a", "f", 1234 };
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(&line, 1);

	p->type = PROFILE_ALLOC_SPACE;
	_cleanup_(strbuf_done) struct strbuf out = encode(p, &caption);
	assert_holds(&out, "<b>1,234</b>bytes");
	assert_holds(&out, "<span>1,234</span> <b>100.0 %</b>");
	assert_int_equal(count(&out, "CPU time"), 0);
}

/* The scripts of the page are two; the hashes of others are not in its policy. */
static void no_name_becomes_markup(void **state)
{
	(void)state;
	static const char *const names[] = {
		"</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>",
		"\" onmouseover=\"alert(1)",	      "' x='",
		"]]><script>alert(1)</script>",	      "--><script>alert(1)</script>",
		"</td></style></metadata></svg>",     "&lt",
	};
	const struct stack_line plain = { "a", "f", 1 };
	_cleanup_(profile_unrefp) struct profile *harmless = profile_of_stacks(&plain, 1);
	_cleanup_(strbuf_done) struct strbuf expected = encode(harmless, &caption);

	for (size_t i = 0; i < array_len(names); i++) {
		const struct stack_line line = { names[i], names[i], 1 };
		const struct caption hostile = { .title = names[i], .subtitle = names[i] };
		_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(&line, 1);
		_cleanup_(strbuf_done) struct strbuf out = encode(p, &hostile);

		assert_int_equal(count(&out, "<script"), count(&expected, "<script"));
		assert_int_equal(count(&out, "</script"), count(&expected, "</script"));
		assert_int_equal(count(&out, "<img"), 0);
		assert_int_equal(count(&out, "\" onmouseover"), 0);
		assert_int_equal(count(&out, "<td"), count(&expected, "<td"));
		assert_int_equal(count(&out, "</svg>"), count(&expected, "</svg>"));
		assert_int_equal(count(&out, names[i]), 0);
	}
}

static void the_scripts_do_not_end_early(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(NULL, 0);
	_cleanup_(strbuf_done) struct strbuf out = encode(p, &caption);

	assert_int_equal(count(&out, "<script>"), 2);
	assert_int_equal(count(&out, "</script>"), 2);
	assert_int_equal(count(&out, "'sha256-"), 2);
}

static void any_name_leaves_printable(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		const struct stack_line line = { hostile_names[i].name, hostile_names[i].name, 1 };
		const struct caption hostile = { .title = hostile_names[i].name,
						 .subtitle = hostile_names[i].name };
		_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(&line, 1);
		_cleanup_(strbuf_done) struct strbuf out = encode(p, &hostile);
		const char *begin = strstr(out.data, "</style>"), *end = strstr(begin, "<script>");

		/* the files before and after have tabs */
		assert_printable(begin, (size_t)(end - begin), true);
		assert_holds(&out, hostile_names[i].printable);
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
		int r = html_encode(p, &caption, &out);
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
		cmocka_unit_test(the_page_has_totals_graph_and_tables),
		cmocka_unit_test(notes_stand_below_the_title),
		cmocka_unit_test(pods_have_a_table),
		cmocka_unit_test(groups_have_a_column),
		cmocka_unit_test(other_values_are_numbers),
		cmocka_unit_test(no_name_becomes_markup),
		cmocka_unit_test(the_scripts_do_not_end_early),
		cmocka_unit_test(any_name_leaves_printable),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
