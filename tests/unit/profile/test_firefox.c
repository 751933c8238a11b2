/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/firefox.h"

#include "hostile_names.h"
#include "json_members.h"
#include "profile/view.h"
#include "stacks.h"
#include "torture.h"

#include <string.h>

#define PLENTY_BYTES ((size_t)1 << 20)

static const struct caption caption = { .title = "a \"title\"", .subtitle = "a host" };

static struct json_value *encode(const struct profile *profile)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	assert_int_equal(firefox_encode(profile, &caption, &out), 0);
	return parse_json(out.data, out.len);
}

static const struct json_value *shared(const struct json_value *root, const char *table,
				       const char *column)
{
	return member(member(member(root, "shared"), table), column);
}

static const char *string_at(const struct json_value *root, size_t index)
{
	return json_text(element(member(member(root, "shared"), "stringArray"), index));
}

/* Every column of a table has as many rows as the table says. */
static void assert_columns(const struct json_value *table)
{
	size_t length = (size_t)number_of(table, "length");
	const struct json_value *column;

	json_for_each(column, table) {
		double number;

		if (!json_number(column, &number) && !json_text(column))
			assert_int_equal(json_nr_children(column), length);
	}
}

/* Checks the functions of a sample, root first, and its weight in milliseconds. */
static void assert_sample(const struct json_value *root, const struct json_value *thread,
			  size_t sample, const char *names, double weight)
{
	const struct json_value *samples = member(thread, "samples");
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(PLENTY_BYTES);
	size_t path[16], nr = 0;
	double number = 0;

	for (bool has_more = json_number(element(member(samples, "stack"), sample), &number);
	     has_more;
	     has_more = json_number(element(shared(root, "stackTable", "prefix"), path[nr - 1]),
				    &number)) {
		assert_true(nr < array_len(path));
		/* the parent comes before its child */
		assert_true(nr == 0 || (size_t)number < path[nr - 1]);
		path[nr++] = (size_t)number;
	}
	while (nr-- > 0) {
		size_t frame = index_at(shared(root, "stackTable", "frame"), path[nr]);
		size_t func = index_at(shared(root, "frameTable", "func"), frame);

		strbuf_append_str(&text, text.len > 0 ? ";" : "");
		strbuf_append_str(
			&text, string_at(root, index_at(shared(root, "funcTable", "name"), func)));
	}
	assert_string_equal(strbuf_str(&text), names);
	assert_true(json_number(element(member(samples, "weight"), sample), &number));
	assert_true(number == weight);
}

static void each_process_is_a_thread_the_largest_first(void **state)
{
	(void)state;
	const struct stack_line lines[] = {
		{ "sh", "main", 1 },
		{ "web", "main;serve;parse_[i]", 5 },
		{ "web", "main;read_[k]", 7 },
	};
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(lines, array_len(lines));
	_cleanup_(json_freep) struct json_value *root = encode(p);
	const struct json_value *threads = member(root, "threads");

	assert_int_equal(json_nr_children(threads), 2);
	assert_string_equal(text_of(element(threads, 0), "name"), "web");
	assert_sample(root, element(threads, 0), 0, "web;main;read", 70);
	assert_sample(root, element(threads, 0), 1, "web;main;serve;parse", 50);
	assert_string_equal(text_of(element(threads, 1), "name"), "sh");
	assert_sample(root, element(threads, 1), 0, "sh;main", 10);
}

static void samples_stand_side_by_side_in_time(void **state)
{
	(void)state;
	const struct stack_line lines[] = { { "a", "f", 2 }, { "a", "g", 3 }, { "a", "h", 1 } };
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(lines, array_len(lines));
	_cleanup_(json_freep) struct json_value *root = encode(p);
	const struct json_value *samples = member(element(member(root, "threads"), 0), "samples");

	assert_string_equal(text_of(samples, "weightType"), "tracing-ms");
	assert_int_equal(index_at(member(samples, "time"), 0), 0);
	assert_int_equal(index_at(member(samples, "time"), 1), 30);
	assert_int_equal(index_at(member(samples, "time"), 2), 50);
	assert_true(number_of(member(root, "meta"), "interval") == 10);
}

static void tables_are_whole(void **state)
{
	(void)state;
	static const char *const tables[] = { "stackTable",    "frameTable", "funcTable",
					      "resourceTable", "sources",    "nativeSymbols" };
	const struct stack_line lines[] = { { "a", "main;f_[k]", 2 },
					    { "b", "main_[j];g_[g]", 3 } };
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(lines, 2);
	_cleanup_(json_freep) struct json_value *root = encode(p);
	const struct json_value *thread;

	for (size_t i = 0; i < array_len(tables); i++)
		assert_columns(member(member(root, "shared"), tables[i]));
	json_for_each(thread, member(root, "threads")) {
		assert_columns(member(thread, "samples"));
		assert_columns(member(thread, "markers"));
	}
}

static void frames_have_the_category_of_their_kind(void **state)
{
	(void)state;
	static const struct {
		const char *name, *category;
	} cases[] = {
		{ "main", "User" },	   { "read", "Kernel" }, { "run", "Go" },
		{ "p", "Python" },	   { "r", "Rust" },	 { "j", "JIT" },
		{ "[too deep]", "Other" }, { "a", "Label" },
	};
	const struct stack_line line = { "a", "[too deep];main;run_[g];p_[p];r_[r];j_[j];read_[k]",
					 1 };
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(&line, 1);
	_cleanup_(json_freep) struct json_value *root = encode(p);
	const struct json_value *categories = member(member(root, "meta"), "categories");

	assert_string_equal(text_of(element(categories, 0), "color"), "grey");
	for (size_t frame = 0; frame < array_len(cases); frame++) {
		const char *name = string_at(root,
					     index_at(shared(root, "funcTable", "name"), frame));
		size_t category = index_at(shared(root, "frameTable", "category"), frame);
		size_t i = 0;

		while (i < array_len(cases) && strcmp(cases[i].name, name) != 0)
			i++;
		assert_true(i < array_len(cases));
		assert_string_equal(text_of(element(categories, category), "name"),
				    cases[i].category);
	}
}

static void groups_are_threads(void **state)
{
	(void)state;
	static const char *const groups[] = { "pid" };
	const struct view view = { .groups = groups, .nr_groups = 1 };
	const struct stack_line lines[] = { { "a", "f", 1 }, { "a", "f", 2 } };
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(lines, 2);
	struct view_result result;

	assert_int_equal(view_apply(&view, p, PLENTY_BYTES, &result), 0);
	_cleanup_(profile_unrefp) struct profile *shown = result.profile;
	_cleanup_(json_freep) struct json_value *root = encode(shown);
	assert_string_equal(text_of(element(member(root, "threads"), 0), "name"), "pid 1");
	assert_sample(root, element(member(root, "threads"), 0), 0, "pid 1;f", 20);
	assert_string_equal(text_of(element(member(root, "threads"), 1), "name"), "pid 0");
}

static void bottom_up_is_one_thread(void **state)
{
	(void)state;
	const struct view view = { .bottom_up = true };
	const struct stack_line lines[] = { { "a", "f", 1 }, { "b", "g", 2 } };
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(lines, 2);
	struct view_result result;

	assert_int_equal(view_apply(&view, p, PLENTY_BYTES, &result), 0);
	_cleanup_(profile_unrefp) struct profile *shown = result.profile;
	_cleanup_(json_freep) struct json_value *root = encode(shown);
	assert_int_equal(json_nr_children(member(root, "threads")), 1);
	assert_string_equal(text_of(element(member(root, "threads"), 0), "name"), "all");
	assert_sample(root, element(member(root, "threads"), 0), 0, "g;b", 20);
}

static void no_samples_make_an_empty_thread(void **state)
{
	(void)state;
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(NULL, 0);
	_cleanup_(json_freep) struct json_value *root = encode(p);
	const struct json_value *thread = element(member(root, "threads"), 0);

	assert_true(number_of(member(thread, "samples"), "length") == 0);
}

static void any_name_leaves_printable(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		const struct stack_line line = { hostile_names[i].name, hostile_names[i].name, 1 };
		_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(&line, 1);
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

		assert_int_equal(firefox_encode(p, &caption, &out), 0);
		assert_printable(out.data, out.len, true);
		_cleanup_(json_freep) struct json_value *root = parse_json(out.data, out.len);
		assert_string_equal(string_at(root, 0), hostile_names[i].printable);
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
		int r = firefox_encode(p, &caption, &out);
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
		cmocka_unit_test(each_process_is_a_thread_the_largest_first),
		cmocka_unit_test(samples_stand_side_by_side_in_time),
		cmocka_unit_test(tables_are_whole),
		cmocka_unit_test(frames_have_the_category_of_their_kind),
		cmocka_unit_test(groups_are_threads),
		cmocka_unit_test(bottom_up_is_one_thread),
		cmocka_unit_test(no_samples_make_an_empty_thread),
		cmocka_unit_test(any_name_leaves_printable),
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
