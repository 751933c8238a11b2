/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/viewer_page.h"

#include "base/base64.h"
#include "base/gzip.h"
#include "base/json.h"
#include "hostile_names.h"
#include "json_members.h"
#include "stacks.h"

#include <string.h>

#define PLENTY_BYTES ((size_t)16 << 20)
#define DATA "<script type=\"application/gzip\" id=\"data\">"

static const struct view plain = { .kernel = VIEW_KERNEL_ALL };

static void encode(const char *name, struct strbuf *out)
{
	const struct stack_line line = { name, name, 1 };
	const struct caption caption = { .title = name, .subtitle = name, .note = name };
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(&line, 1);
	const struct viewer_content content = { .profile = p, .view = &plain, .caption = &caption };

	strbuf_clear(out);
	assert_int_equal(viewer_page_encode(&content, out), 0);
}

static size_t count(const char *text, const char *wanted)
{
	size_t nr = 0;

	for (const char *at = text; (at = strstr(at, wanted)); at++)
		nr++;
	return nr;
}

static void skip_without_viewer(void)
{
	if (!viewer_page_is_built())
		skip();
}

static void the_data_stand_in_the_page(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf packed = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf json = strbuf_with_max(PLENTY_BYTES);

	skip_without_viewer();
	encode("main", &out);
	const char *data = strstr(strbuf_str(&out), DATA);
	assert_non_null(data);
	data += strlen(DATA);
	base64_decode(&packed, data, (size_t)(strchr(data, '<') - data));
	gunzip_append(&json, packed.data, packed.len);
	assert_int_equal(strbuf_error(&json), 0);
	_cleanup_(json_freep) struct json_value *root = parse_json(json.data, json.len);
	assert_string_equal(text_of(root, "format"), "flamelet-view");
}

/* Three scripts: two hashes of the policy are of what runs, and the third one is data. */
static void no_name_becomes_markup(void **state)
{
	(void)state;
	static const char *const names[] = {
		"</script><script>alert(1)</script>",
		"<img src=x onerror=alert(1)>",
		"</title><script>alert(1)</script>",
		"--><script>alert(1)</script>",
		"</noscript></p></style>",
		"&lt",
	};
	_cleanup_(strbuf_done) struct strbuf plain_page = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	skip_without_viewer();
	encode("f", &plain_page);
	assert_int_equal(count(plain_page.data, "</script>"), 2);
	assert_int_equal(count(plain_page.data, "'sha256-"), 2);
	for (size_t i = 0; i < array_len(names); i++) {
		encode(names[i], &out);
		assert_int_equal(count(out.data, "<script"), count(plain_page.data, "<script"));
		assert_int_equal(count(out.data, "</"), count(plain_page.data, "</"));
		assert_int_equal(count(out.data, names[i]), 0);
	}
}

static void any_name_leaves_printable(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(PLENTY_BYTES);

	skip_without_viewer();
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		encode(hostile_names[i].name, &out);
		const char *begin = strstr(out.data, "</style>"), *end = strstr(begin, "<script>");

		assert_printable(begin, (size_t)(end - begin), true);
		assert_non_null(strstr(out.data, hostile_names[i].printable));
	}
}

/* It is for `flamelet ui` only. */
static void a_page_has_nothing_of_the_record_page(void **state)
{
	(void)state;
	static const char *const words[] = { "flamelet-api", "Flamelet-Warnings", "#timeline" };
	_cleanup_(strbuf_done) struct strbuf page = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf live = strbuf_with_max(PLENTY_BYTES);

	skip_without_viewer();
	encode("f", &page);
	viewer_page_append_script(&live);
	viewer_page_append_style(&live);
	for (size_t i = 0; i < array_len(words); i++) {
		assert_int_equal(count(strbuf_str(&page), words[i]), 0);
		assert_int_not_equal(count(strbuf_str(&live), words[i]), 0);
	}
}

static void the_buffer_bounds_it(void **state)
{
	(void)state;
	const struct caption caption = { .title = "", .subtitle = "" };
	_cleanup_(profile_unrefp) struct profile *p = profile_of_stacks(NULL, 0);
	const struct viewer_content content = { .profile = p, .view = &plain, .caption = &caption };
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(1000);

	skip_without_viewer();
	assert_int_equal(viewer_page_encode(&content, &out), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_data_stand_in_the_page),
		cmocka_unit_test(no_name_becomes_markup),
		cmocka_unit_test(any_name_leaves_printable),
		cmocka_unit_test(a_page_has_nothing_of_the_record_page),
		cmocka_unit_test(the_buffer_bounds_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
