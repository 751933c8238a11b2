/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/response.h"

#include "unit.h"

#include <string.h>

struct response_case {
	const char *bytes;
	size_t len;
	int result;
	uint64_t nr_rejected_profiles;
	const char *message;
};

#define BYTES(literal) literal, sizeof(literal) - 1

static void success_tells_what_was_rejected(void **state)
{
	static const struct response_case cases[] = {
		{ BYTES(""), 0, 0, "" },
		{ BYTES("\x0a\x00"), 0, 0, "" },
		{ BYTES("\x0a\x02\x08\x07"), 0, 7, "" },
		{ BYTES("\x0a\x06\x12\x04mild"), 0, 0, "mild" },
		{ BYTES("\x0a\x08\x08\x01\x12\x04"
			"deep"),
		  0, 1, "deep" },
		{ BYTES("\x0a\x03\x08\xac\x02"), 0, 300, "" },
		/* fields of a later release */
		{ BYTES("\x10\x01\x0a\x02\x08\x07\x19\1\2\3\4\5\6\7\x08\x25\1\2\3\4"), 0, 7, "" },
		{ BYTES("\x0a"), -EBADMSG, 0, "" },
		{ BYTES("\x0a\x05\x08\x01"), -EBADMSG, 0, "" },
		{ BYTES("\x0a\x01\x08"), -EBADMSG, 0, "" },
		{ BYTES("\x0a\x02\x12\x7f"), -EBADMSG, 0, "" },
		{ BYTES("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), -EBADMSG, 0, "" },
		{ BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), -EBADMSG, 0, "" },
		{ BYTES("\x00\x00"), -EBADMSG, 0, "" },
		{ BYTES("\x0b\x0c"), -EBADMSG, 0, "" },
		{ BYTES("\x09\1\2\3"), -EBADMSG, 0, "" },
		{ BYTES("<html>not found</html>"), -EBADMSG, 0, "" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct response response = { .message = "" };

		assert_int_equal(response_parse_success(cases[i].bytes, cases[i].len, &response),
				 cases[i].result);
		assert_int_equal(response.nr_rejected_profiles, cases[i].nr_rejected_profiles);
		assert_string_equal(response.message, cases[i].message);
	}
}

static void a_status_tells_why(void **state)
{
	static const struct response_case cases[] = {
		{ BYTES(""), 0, 0, "" },
		{ BYTES("\x08\x03\x12\x03"
			"bad"),
		  0, 0, "bad" },
		{ BYTES("\x12\x00"), 0, 0, "" },
		{ BYTES("\x12\x04"
			"bad"),
		  -EBADMSG, 0, "" },
		{ BYTES("\x08"), -EBADMSG, 0, "" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct response response = { .message = "" };

		assert_int_equal(response_parse_status(cases[i].bytes, cases[i].len, &response),
				 cases[i].result);
		assert_string_equal(response.message, cases[i].message);
	}
}

static void a_long_message_is_cut(void **state)
{
	char body[3 + 300] = "\x12\xac\x02";
	struct response response;
	(void)state;

	memset(body + 3, 'x', 300);
	assert_int_equal(response_parse_status(body, sizeof(body), &response), 0);
	assert_int_equal(strlen(response.message), RESPONSE_MESSAGE_BYTES - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(success_tells_what_was_rejected),
		cmocka_unit_test(a_status_tells_why),
		cmocka_unit_test(a_long_message_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
