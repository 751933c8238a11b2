/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport/request_outcome.h"

#include "hostile_names.h"

#include <string.h>

#define BYTES(literal) literal, sizeof(literal) - 1

static void a_message_is_one_printable_line(void **state)
{
	static const struct {
		const char *what;
		const char *text;
		size_t len;
		const char *message;
	} cases[] = {
		{ "", BYTES(""), "" },
		{ "HTTP status 503", BYTES(""), "HTTP status 503" },
		{ "HTTP status 503", BYTES(" \r\n\t "), "HTTP status 503" },
		{ "HTTP status 503", BYTES("busy"), "HTTP status 503: busy" },
		{ "", BYTES("too deep"), "too deep" },
		{ "", BYTES("\n\n first \r\nsecond"), "first " },
		{ "", BYTES("занят 忙"), "занят 忙" },
		{ "", BYTES("a\tb\x1b[2Jc\x7f"), "a\\x09b\\x1b[2Jc\\x7f" },
		{ "",
		  BYTES("a\xc2\x9b"
			"2Jb\xc2\xa0"),
		  "a\\xc2\\x9b2Jb\xc2\xa0" },
		{ "", BYTES("a\xff\xc3z\xe2\x82"), "a\\xff\\xc3z\\xe2\\x82" },
		{ "", BYTES("ends\0here"), "ends" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct request_outcome outcome;

		request_outcome_say(&outcome, cases[i].what, cases[i].text, cases[i].len);
		assert_string_equal(outcome.message, cases[i].message);
	}
}

static void a_long_message_is_cut_between_characters(void **state)
{
	char text[4096];
	struct request_outcome outcome;
	(void)state;

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = i % 2 == 0 ? '\xc3' : '\xa4';
	request_outcome_say(&outcome, "", text, sizeof(text));
	assert_int_equal(strlen(outcome.message), OUTCOME_MESSAGE_BYTES - 2);
	request_outcome_say(&outcome, "x", text, sizeof(text));
	assert_int_equal(strlen(outcome.message), OUTCOME_MESSAGE_BYTES - 1);

	memset(text, 'x', sizeof(text));
	request_outcome_say(&outcome, "", text, sizeof(text));
	assert_int_equal(strlen(outcome.message), OUTCOME_MESSAGE_BYTES - 1);
}

static void any_words_leave_printable(void **state)
{
	struct request_outcome outcome;
	(void)state;

	for (size_t i = 0; i < array_len(hostile_names); i++) {
		request_outcome_say(&outcome, "status", hostile_names[i].name,
				    strlen(hostile_names[i].name));
		assert_printable(outcome.message, strlen(outcome.message), false);
	}
}

static void nothing_said_is_no_message(void **state)
{
	struct request_outcome outcome;
	(void)state;

	request_outcome_say(&outcome, "", NULL, 0);
	assert_string_equal(outcome.message, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_is_one_printable_line),
		cmocka_unit_test(a_long_message_is_cut_between_characters),
		cmocka_unit_test(any_words_leave_printable),
		cmocka_unit_test(nothing_said_is_no_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
