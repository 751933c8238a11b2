/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_text.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "hostile_names.h"

#define MAX_BYTES 65536

static void a_string_is_quoted(void **state)
{
	(void)state;
	static const struct {
		const char *text, *expected;
	} cases[] = {
		{ "", "\"\"" },
		{ "main", "\"main\"" },
		{ "a\"b\\c", "\"a\\\"b\\\\c\"" },
		{ "a\nb\x1b", "\"a\\\\x0ab\\\\x1b\"" },
		{ "\xff\xc3\xa9", "\"\\\\xff\xc3\xa9\"" },
		{ "</script>", "\"</script>\"" },
	};

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);

		json_append_text(&out, cases[i].text);
		assert_string_equal(strbuf_str(&out), cases[i].expected);
	}
}

static void a_member_has_a_name_and_a_string(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);

	json_append_member(&out, "k\"", "v");
	assert_string_equal(strbuf_str(&out), "\"k\\\"\":\"v\"");
}

static void any_name_makes_valid_json(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(hostile_names); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(MAX_BYTES);
		_cleanup_(json_freep) struct json_value *root = NULL;

		json_append_text(&out, hostile_names[i].name);
		assert_int_equal(json_parse(out.data, out.len, MAX_BYTES * 16, &root), 0);
		assert_string_equal(json_text(root), hostile_names[i].printable);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_string_is_quoted),
		cmocka_unit_test(a_member_has_a_name_and_a_string),
		cmocka_unit_test(any_name_makes_valid_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
