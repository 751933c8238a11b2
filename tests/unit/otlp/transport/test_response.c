/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport/response.h"

#include "base/clock.h"
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

static void assert_message(const struct response *response, const char *message)
{
	assert_int_equal(response->message_len, strlen(message));
	if (response->message_len > 0)
		assert_memory_equal(response->message, message, response->message_len);
}

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
		/* -1 */
		{ BYTES("\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 0, 0, "" },
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
		struct response response = { .message_len = 0 };

		assert_int_equal(response_parse_success(cases[i].bytes, cases[i].len, &response),
				 cases[i].result);
		assert_int_equal(response.nr_rejected_profiles, cases[i].nr_rejected_profiles);
		assert_message(&response, cases[i].message);
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
		struct response response = { .message_len = 0 };

		assert_int_equal(response_parse_status(cases[i].bytes, cases[i].len, &response),
				 cases[i].result);
		assert_message(&response, cases[i].message);
	}
}

#define TYPE "\x0a\x28type.googleapis.com/google.rpc.RetryInfo"
#define OTHER "\x0a\x28type.googleapis.com/google.rpc.DebugInfo"

static void a_status_may_say_when_to_come_again(void **state)
{
	static const struct {
		const char *any;
		size_t len;
		int result;
		bool has_retry_info;
		uint64_t delay_ns;
	} cases[] = {
		{ BYTES(TYPE "\x12\x04\x0a\x02\x08\x07"), 0, true, 7 * NSEC_PER_SEC },
		{ BYTES("\x12\x04\x0a\x02\x08\x07" TYPE), 0, true, 7 * NSEC_PER_SEC },
		{ BYTES(TYPE "\x12\x06\x0a\x04\x08\x01\x10\x05"), 0, true, NSEC_PER_SEC + 5 },
		{ BYTES(TYPE "\x12\x08\x0a\x06\x08\x01\x08\x02\x08\x03"), 0, true,
		  3 * NSEC_PER_SEC },
		{ BYTES(TYPE), 0, true, 0 },
		{ BYTES(TYPE "\x12\x02\x0a\x00"), 0, true, 0 },
		/* another type, and one without */
		{ BYTES(OTHER "\x12\x04\x0a\x02\x08\x07"), 0, false, 0 },
		{ BYTES("\x12\x04\x0a\x02\x08\x07"), 0, false, 0 },
		/* -1 s, -1 ns, a whole second of nanoseconds, the longest time there is */
		{ BYTES(TYPE "\x12\x0d\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), 0,
		  true, 0 },
		{ BYTES(TYPE
			"\x12\x0f\x0a\x0d\x08\x01\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
		  0, true, 0 },
		{ BYTES(TYPE "\x12\x08\x0a\x06\x10\x80\x94\xeb\xdc\x03"), 0, true, 0 },
		{ BYTES(TYPE "\x12\x0c\x0a\x0a\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), 0, true,
		  1000000000 * NSEC_PER_SEC },
		{ BYTES(TYPE "\x12\x03\x0a\x02\x08"), -EBADMSG, false, 0 },
		{ BYTES(TYPE "\x12\x03\x0a\x01\x08"), -EBADMSG, false, 0 },
		{ BYTES(TYPE "\x12\x04"), -EBADMSG, false, 0 },
		{ BYTES("\x0a\x7f"), -EBADMSG, false, 0 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		char status[128] = "\x1a";
		struct response response = { .message_len = 0 };

		status[1] = (char)cases[i].len;
		memcpy(status + 2, cases[i].any, cases[i].len);
		int r = response_parse_status(status, 2 + cases[i].len, &response);
		if (r != cases[i].result || response.has_retry_info != cases[i].has_retry_info ||
		    response.retry_delay_ns != cases[i].delay_ns)
			fail_msg("case %zu: %d, %d, %ju ns", i, r, response.has_retry_info,
				 (uintmax_t)response.retry_delay_ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(success_tells_what_was_rejected),
		cmocka_unit_test(a_status_tells_why),
		cmocka_unit_test(a_status_may_say_when_to_come_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
