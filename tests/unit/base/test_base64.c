/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include "base/cleanup.h"
#include "unit.h"

#include <string.h>

static void padding_may_be_there_or_not(void **state)
{
	static const struct {
		const char *text;
		const char *bytes;
	} cases[] = {
		{ "", "" },
		{ "Zg==", "f" },
		{ "Zg", "f" },
		{ "Zm8=", "fo" },
		{ "Zm8", "fo" },
		{ "Zm9v", "foo" },
		{ "Zm9vYg==", "foob" },
		{ "Zm9vYmFy", "foobar" },
		{ "/+//", "\xff\xef\xff" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(16);

		base64_decode(&out, cases[i].text, strlen(cases[i].text));
		assert_int_equal(strbuf_error(&out), 0);
		assert_string_equal(strbuf_str(&out), cases[i].bytes);
	}
}

static void anything_else_is_refused(void **state)
{
	static const char *const cases[] = {
		"Z",	"Zm9vY", "=",	 "==",	  "====",  "Zg=",    "Zg===", "Z===", "Zg==Zg==",
		"Zm=v", "Zm9-",	 "Zm9_", "Zm 9v", "Zm9\n", "Zm\xff", "Zh==",  "Zm9=", "Zm9,",
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(16);

		base64_decode(&out, cases[i], strlen(cases[i]));
		if (strbuf_error(&out) != -EBADMSG)
			fail_msg("\"%s\" was accepted", cases[i]);
	}
}

static void encoded_bytes_have_padding(void **state)
{
	static const struct {
		const char *bytes;
		const char *text;
	} cases[] = {
		{ "", "" },	   { "f", "Zg==" },	     { "fo", "Zm8=" },
		{ "foo", "Zm9v" }, { "foobar", "Zm9vYmFy" }, { "\xff\xef\xff", "/+//" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(16);

		base64_encode(&out, cases[i].bytes, strlen(cases[i].bytes));
		assert_int_equal(strbuf_error(&out), 0);
		assert_string_equal(strbuf_str(&out), cases[i].text);
	}
}

static void the_buffer_bounds_it(void **state)
{
	_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(5);
	(void)state;

	base64_decode(&out, "Zm9vYmFy", 8);
	assert_int_equal(strbuf_error(&out), -ENOSPC);
	strbuf_clear(&out);
	base64_encode(&out, "foobar", 6);
	assert_int_equal(strbuf_error(&out), -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(padding_may_be_there_or_not),
		cmocka_unit_test(anything_else_is_refused),
		cmocka_unit_test(encoded_bytes_have_padding),
		cmocka_unit_test(the_buffer_bounds_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
