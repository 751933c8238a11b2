/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json.h"

#include "base/strbuf.h"
#include "unit.h"

#include <malloc.h>
#include <pthread.h>
#include <string.h>

#define LIMIT_BYTES ((size_t)1 << 20)
#define TEXT_MAX_BYTES ((size_t)64 << 10)
#define NR_ROUNDS 2000

static void a_tree_is_read_by_names_and_in_order(void **state)
{
	static const char text[] =
		" {\"a\":\"b\",\"n\":-1.5e1,\"t\":true,\"l\":[1,\"x\\u00e9\"]}\n";
	_cleanup_(json_freep) struct json_value *root = NULL;
	const struct json_value *child;
	size_t nr_children = 0;
	double number;
	(void)state;

	assert_int_equal(json_parse(text, strlen(text), LIMIT_BYTES, &root), 0);
	assert_string_equal(json_text(json_find(root, "a")), "b");
	assert_true(json_number(json_find(root, "n"), &number));
	assert_true(number == -15);
	assert_true(json_is_true(json_find(root, "t")));
	assert_string_equal(json_key(json_first_child(root)), "a");
	json_for_each(child, json_find(root, "l"))
		nr_children++;
	assert_int_equal(nr_children, 2);
	assert_int_equal(json_nr_children(root), 4);
	child = json_next_sibling(json_first_child(json_find(root, "l")));
	assert_string_equal(json_text(child), "x\xc3\xa9");
	assert_null(json_key(child));
}

static void what_is_missing_or_of_another_type_is_nothing(void **state)
{
	static const char text[] = "{\"a\":\"b\",\"n\":1}";
	_cleanup_(json_freep) struct json_value *root = NULL;
	double number;
	(void)state;

	assert_int_equal(json_parse(text, strlen(text), LIMIT_BYTES, &root), 0);
	assert_null(json_find(root, "A"));
	assert_null(json_find(json_find(root, "none"), "a"));
	assert_null(json_find(json_find(root, "a"), "a"));
	assert_null(json_text(json_find(root, "n")));
	assert_null(json_text(NULL));
	assert_false(json_number(json_find(root, "a"), &number));
	assert_false(json_number(NULL, &number));
	assert_false(json_is_true(json_find(root, "n")));
	assert_false(json_is_true(NULL));
	assert_null(json_first_child(json_find(root, "a")));
	assert_null(json_first_child(NULL));
	assert_int_equal(json_nr_children(NULL), 0);
}

static void malformed_text_is_refused(void **state)
{
	static const char *const texts[] = {
		"",	 " ",	       "{",	    "}",	   "[1",      "[1,]",	  "{\"a\"}",
		"{a:1}", "{\"a\":}",   "nul",	    "\"a",	   "\"\\q\"", "1 2",	  "{} x",
		"[1]]",	 "{\"a\":1}{", "\"\\u12\"", "\"\\ud800\"", "\\",      "[\"\\\"]",
	};
	(void)state;

	for (size_t i = 0; i < array_len(texts); i++) {
		struct json_value *root = NULL;

		assert_int_equal(json_parse(texts[i], strlen(texts[i]), LIMIT_BYTES, &root),
				 -EBADMSG);
		assert_null(root);
	}
}

static void nesting_has_an_end(void **state)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(TEXT_MAX_BYTES);
	struct json_value *root = NULL;
	(void)state;

	while (text.len < TEXT_MAX_BYTES / 2)
		strbuf_append_str(&text, "[");
	assert_int_equal(json_parse(text.data, text.len, SIZE_MAX, &root), -EBADMSG);
}

static void repeat(struct strbuf *text, const char *begin, const char *part, const char *end)
{
	strbuf_clear(text);
	strbuf_append_str(text, begin);
	while (text->len < TEXT_MAX_BYTES - 16)
		strbuf_append_str(text, part);
	strbuf_append_str(text, end);
}

/* What malloc(3) holds for a tree of the text. */
static size_t measure_tree(const struct strbuf *text)
{
	_cleanup_(json_freep) struct json_value *root = NULL;
	struct mallinfo2 before = mallinfo2();

	assert_int_equal(json_parse(text->data, text->len, SIZE_MAX, &root), 0);
	struct mallinfo2 after = mallinfo2();
	return after.uordblks + after.hblkhd - before.uordblks - before.hblkhd;
}

/* One byte less than the tree takes is refused, so the estimate is never too low; and it is not
 * so high that text of ordinary density would be refused. */
static void a_tree_never_takes_more_than_its_limit(void **state)
{
	static const struct {
		const char *begin, *part, *end;
	} cases[] = {
		{ "[0", ",0", "]" },	       { "[[]", ",[]", "]" },
		{ "[{}", ",{}", "]" },	       { "[\"\"", ",\"\"", "]" },
		{ "{\"\":0", ",\"\":0", "}" }, { "{\"\":\"\"", ",\"\":\"\"", "}" },
		{ "[\"", "\\\"", "\"]" },      { "[\"", "\\\\", "\"]" },
		{ "[\"", "[,{", "\"]" },       { "[\"a\"", ",\"12345678901234567\"", "]" },
	};
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(TEXT_MAX_BYTES);
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(json_freep) struct json_value *root = NULL;

		repeat(&text, cases[i].begin, cases[i].part, cases[i].end);
		size_t bytes = measure_tree(&text);
		if (bytes > 0) /* a sanitizer's malloc() tells nothing */
			assert_int_equal(json_parse(text.data, text.len, bytes - 1, &root),
					 -ENOSPC);
		assert_int_equal(
			json_parse(text.data, text.len, 2 * bytes + TEXT_MAX_BYTES * 100, &root),
			0);
	}
}

static void *parse_often(void *text)
{
	for (size_t i = 0; i < NR_ROUNDS; i++) {
		_cleanup_(json_freep) struct json_value *root = NULL;

		assert_int_equal(json_parse(text, strlen(text), LIMIT_BYTES, &root), 0);
		assert_string_equal(json_text(json_find(root, "message")), "no");
	}
	return NULL;
}

static void threads_parse_at_the_same_time(void **state)
{
	static char text[] = "{\"code\":14,\"message\":\"no\",\"details\":[1,2,{}]}";
	pthread_t threads[2];
	(void)state;

	for (size_t i = 0; i < array_len(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, parse_often, text), 0);
	for (size_t i = 0; i < array_len(threads); i++)
		pthread_join(threads[i], NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_is_read_by_names_and_in_order),
		cmocka_unit_test(what_is_missing_or_of_another_type_is_nothing),
		cmocka_unit_test(malformed_text_is_refused),
		cmocka_unit_test(nesting_has_an_end),
		cmocka_unit_test(a_tree_never_takes_more_than_its_limit),
		cmocka_unit_test(threads_parse_at_the_same_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
