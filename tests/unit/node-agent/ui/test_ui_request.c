/* SPDX-License-Identifier: Apache-2.0 */
#include "ui/ui_request.h"

#include "base/cleanup.h"
#include "base/hex.h"
#include "base/strbuf.h"

#include <string.h>

#include "unit.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
#define PAGE "/" TOKEN "/"

static void a_path_behind_the_token_is_taken(void **state)
{
	static const struct {
		const char *uri;
		const char *path;
	} cases[] = {
		{ PAGE, "" },
		{ PAGE "viewer.js", "viewer.js" },
		{ PAGE "api/v1/info", "api/v1/info" },
		{ PAGE "api/v1/info?", "api/v1/info" },
		{ PAGE "../../etc/passwd", "../../etc/passwd" }, /* no page has that name */
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct ui_request request;

		assert_int_equal(ui_request_parse(cases[i].uri, TOKEN, &request), 0);
		assert_string_equal(request.path, cases[i].path);
		assert_int_equal(request.nr_parameters, 0);
		ui_request_done(&request);
	}
}

static void other_paths_are_not_found(void **state)
{
	static const char *const cases[] = {
		"",
		"/",
		"//",
		"*",
		TOKEN "/",
		"/" TOKEN,
		"/" TOKEN "0/",
		"/0123456789abcdef0123456789abcde/",
		"/0123456789abcdef0123456789abcdee/",
		"/1123456789abcdef0123456789abcdef/",
		"/0123456789ABCDEF0123456789ABCDEF/",
		"//" TOKEN "/",
		"http://127.0.0.1" PAGE,
		"/?" PAGE,
		"/" TOKEN "?/",
		PAGE "%2e%2e/",
		PAGE "a b",
		PAGE "a\\b",
		PAGE "A",
		PAGE "a;b",
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct ui_request request = { 0 };

		assert_int_equal(ui_request_parse(cases[i], TOKEN, &request), -ENOENT);
	}
}

static void parameters_are_decoded(void **state)
{
	struct ui_request request;
	(void)state;

	assert_int_equal(
		ui_request_parse(PAGE "a?from=12&q=%7Bpod%3D~%22web.%2a%22%7D+x&empty=&u=%c3%A4&",
				 TOKEN, &request),
		0);
	assert_int_equal(request.nr_parameters, 4);
	assert_string_equal(ui_request_get(&request, "from"), "12");
	assert_string_equal(ui_request_get(&request, "q"), "{pod=~\"web.*\"} x");
	assert_string_equal(ui_request_get(&request, "empty"), "");
	assert_string_equal(ui_request_get(&request, "u"), "\xc3\xa4");
	assert_null(ui_request_get(&request, "to"));
	ui_request_done(&request);
}

static void malformed_parameters_are_refused(void **state)
{
	static const char *const cases[] = {
		PAGE "?a",	     PAGE "?=b",     PAGE "?A=b",	  PAGE "?a=1&a=2",
		PAGE "?a=1&&b=2",    PAGE "?&a=1",   PAGE "?a=%",	  PAGE "?a=%2",
		PAGE "?a=%zz",	     PAGE "?a=%00",  PAGE "?a=%0a",	  PAGE "?a=%7f",
		PAGE "?a=%ff",	     PAGE "?a=\xc3", PAGE "?a=\x01",	  PAGE "?a-b=1",
		PAGE "?a%3d=1",	     PAGE "??a=1",   PAGE "?a=%c3%28",	  PAGE "?a=%u00",
		PAGE "?a=%\x10\x11", PAGE "?a=%G0",  PAGE "?a=%ed%a0%80",
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct ui_request request = { 0 };
		assert_int_equal(ui_request_parse(cases[i], TOKEN, &request), -EINVAL);
	}
}

static void too_much_is_refused(void **state)
{
	_cleanup_(strbuf_done) struct strbuf uri = strbuf_with_max(UI_URI_MAX_BYTES + 1);
	struct ui_request request = { 0 };
	(void)state;

	strbuf_append_str(&uri, PAGE "?");
	for (size_t i = 0; i <= UI_MAX_PARAMETERS; i++) {
		for (size_t k = 0; k <= i; k++)
			strbuf_append_char(&uri, 'a');
		strbuf_append_str(&uri, "=&");
	}
	assert_int_equal(ui_request_parse(strbuf_str(&uri), TOKEN, &request), -ENOSPC);
	while (uri.len <= UI_URI_MAX_BYTES)
		strbuf_append_char(&uri, 'a');
	assert_int_equal(ui_request_parse(strbuf_str(&uri), TOKEN, &request), -ENOSPC);
}

static void tokens_differ(void **state)
{
	char one[UI_TOKEN_LEN + 1], other[UI_TOKEN_LEN + 1];
	(void)state;

	assert_int_equal(ui_token_make(one), 0);
	assert_int_equal(ui_token_make(other), 0);
	assert_true(hex_is(one, UI_TOKEN_LEN));
	assert_string_not_equal(one, other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_behind_the_token_is_taken),
		cmocka_unit_test(other_paths_are_not_found),
		cmocka_unit_test(parameters_are_decoded),
		cmocka_unit_test(malformed_parameters_are_refused),
		cmocka_unit_test(too_much_is_refused),
		cmocka_unit_test(tokens_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
