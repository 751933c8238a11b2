/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport/grpc_answer.h"

#include "base/clock.h"
#include "base/err.h"
#include "unit.h"

#include <string.h>

#define BYTES(literal) literal, sizeof(literal) - 1

/* google.rpc.Status with the message "later" and RetryInfo of 7 s, of 0 s, of 2 h, of -1 s, and
 * with no details. */
#define WAIT_7 "EgVsYXRlchowCih0eXBlLmdvb2dsZWFwaXMuY29tL2dvb2dsZS5ycGMuUmV0cnlJbmZvEgQKAggH"
#define WAIT_0 "EgVsYXRlchouCih0eXBlLmdvb2dsZWFwaXMuY29tL2dvb2dsZS5ycGMuUmV0cnlJbmZvEgIKAA"
#define WAIT_2H "EgVsYXRlchoxCih0eXBlLmdvb2dsZWFwaXMuY29tL2dvb2dsZS5ycGMuUmV0cnlJbmZvEgUKAwigOA"
#define WAIT_NEGATIVE                                                                              \
	"EgVsYXRlcho5Cih0eXBlLmdvb2dsZWFwaXMuY29tL2dvb2dsZS5ycGMuUmV0cnlJbmZvEg0KCwj/"             \
	"//////////8B"
#define NO_DETAILS "EgVsYXRlcg=="

static void assert_verdict(const struct http_answer *answer, enum outcome_verdict verdict,
			   uint64_t wait_s, const char *message)
{
	struct request_outcome outcome = { .verdict = OUTCOME_DONE };

	grpc_answer_judge(answer, &outcome);
	if (outcome.verdict != verdict || outcome.retry_after_ns != wait_s * NSEC_PER_SEC ||
	    strcmp(outcome.message, message) != 0)
		fail_msg("status %s, message %s, details %s: verdict %d, wait %ju, \"%s\"",
			 answer->grpc_status ? answer->grpc_status : "none",
			 answer->grpc_message ? answer->grpc_message : "none",
			 answer->grpc_details ? answer->grpc_details : "none", outcome.verdict,
			 (uintmax_t)outcome.retry_after_ns, outcome.message);
	assert_true(outcome.was_answered);
	assert_int_equal(outcome.nr_rejected_profiles, 0);
}

static void every_status_has_a_verdict(void **state)
{
	static const struct {
		const char *status;
		enum outcome_verdict verdict;
		const char *name;
	} cases[] = {
		{ "1", OUTCOME_RETRY, "gRPC status CANCELLED" },
		{ "2", OUTCOME_REFUSED, "gRPC status UNKNOWN" },
		{ "3", OUTCOME_REFUSED, "gRPC status INVALID_ARGUMENT" },
		{ "4", OUTCOME_RETRY, "gRPC status DEADLINE_EXCEEDED" },
		{ "5", OUTCOME_REFUSED, "gRPC status NOT_FOUND" },
		{ "6", OUTCOME_REFUSED, "gRPC status ALREADY_EXISTS" },
		{ "7", OUTCOME_REFUSED, "gRPC status PERMISSION_DENIED" },
		{ "8", OUTCOME_TOO_LARGE, "gRPC status RESOURCE_EXHAUSTED" },
		{ "9", OUTCOME_REFUSED, "gRPC status FAILED_PRECONDITION" },
		{ "10", OUTCOME_RETRY, "gRPC status ABORTED" },
		{ "11", OUTCOME_RETRY, "gRPC status OUT_OF_RANGE" },
		{ "12", OUTCOME_REFUSED, "gRPC status UNIMPLEMENTED" },
		{ "13", OUTCOME_REFUSED, "gRPC status INTERNAL" },
		{ "14", OUTCOME_RETRY, "gRPC status UNAVAILABLE" },
		{ "15", OUTCOME_RETRY, "gRPC status DATA_LOSS" },
		{ "16", OUTCOME_REFUSED, "gRPC status UNAUTHENTICATED" },
		{ "17", OUTCOME_REFUSED, "gRPC status 17" },
		{ "4294967295", OUTCOME_REFUSED, "gRPC status 4294967295" },
		{ "4294967296", OUTCOME_REFUSED, "gRPC status UNKNOWN" },
		{ "-1", OUTCOME_REFUSED, "gRPC status UNKNOWN" },
		{ "14 ", OUTCOME_REFUSED, "gRPC status UNKNOWN" },
		{ "UNAVAILABLE", OUTCOME_REFUSED, "gRPC status UNKNOWN" },
		{ "", OUTCOME_REFUSED, "gRPC status UNKNOWN" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct http_answer answer = {
			.status = 200,
			.grpc_status = cases[i].status,
		};

		assert_verdict(&answer, cases[i].verdict, 0, cases[i].name);
	}
}

static void details_say_when_to_come_again(void **state)
{
	static const struct {
		const char *status, *details;
		enum outcome_verdict verdict;
		uint64_t wait_s;
		const char *message;
	} cases[] = {
		{ "8", WAIT_7, OUTCOME_RETRY, 7, "gRPC status RESOURCE_EXHAUSTED: later" },
		{ "8", WAIT_0, OUTCOME_RETRY, 0, "gRPC status RESOURCE_EXHAUSTED: later" },
		{ "8", WAIT_2H, OUTCOME_RETRY, 3600, "gRPC status RESOURCE_EXHAUSTED: later" },
		{ "8", WAIT_NEGATIVE, OUTCOME_RETRY, 0, "gRPC status RESOURCE_EXHAUSTED: later" },
		{ "8", WAIT_7 ",AAAA", OUTCOME_RETRY, 7, "gRPC status RESOURCE_EXHAUSTED: later" },
		{ "8", NO_DETAILS, OUTCOME_TOO_LARGE, 0, "gRPC status RESOURCE_EXHAUSTED: later" },
		{ "14", WAIT_7, OUTCOME_RETRY, 7, "gRPC status UNAVAILABLE: later" },
		{ "14", NO_DETAILS, OUTCOME_RETRY, 0, "gRPC status UNAVAILABLE: later" },
		{ "3", WAIT_7, OUTCOME_REFUSED, 0, "gRPC status INVALID_ARGUMENT: later" },
		{ "8", "", OUTCOME_TOO_LARGE, 0, "gRPC status RESOURCE_EXHAUSTED" },
		{ "8", "?", OUTCOME_TOO_LARGE, 0, "gRPC status RESOURCE_EXHAUSTED" },
		{ "8", "EgVsYXRl", OUTCOME_TOO_LARGE, 0, "gRPC status RESOURCE_EXHAUSTED" },
		{ "8", WAIT_7 "!", OUTCOME_TOO_LARGE, 0, "gRPC status RESOURCE_EXHAUSTED" },
		{ "14", "////////////////", OUTCOME_RETRY, 0, "gRPC status UNAVAILABLE" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct http_answer answer = {
			.status = 200,
			.grpc_status = cases[i].status,
			.grpc_details = cases[i].details,
		};

		assert_verdict(&answer, cases[i].verdict, cases[i].wait_s, cases[i].message);
	}
}

static void a_message_is_percent_encoded(void **state)
{
	static const struct {
		const char *encoded;
		const char *message;
	} cases[] = {
		{ "plain words", "gRPC status INTERNAL: plain words" },
		{ "n%C3%B6 %25%25 way", "gRPC status INTERNAL: nö %% way" },
		{ "%e4%BA%8B", "gRPC status INTERNAL: 事" },
		{ "first%0Asecond", "gRPC status INTERNAL: first" },
		{ "a%1Bb", "gRPC status INTERNAL: a\\x1bb" },
		{ "100%", "gRPC status INTERNAL: 100%" },
		{ "100%2", "gRPC status INTERNAL: 100%2" },
		{ "100%zz", "gRPC status INTERNAL: 100%zz" },
		{ "%%41", "gRPC status INTERNAL: %A" },
		{ "%FF", "gRPC status INTERNAL: \\xff" },
		{ "%00", "gRPC status INTERNAL" },
		{ "", "gRPC status INTERNAL" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct http_answer answer = {
			.status = 200,
			.grpc_status = "13",
			.grpc_message = cases[i].encoded,
		};

		assert_verdict(&answer, OUTCOME_REFUSED, 0, cases[i].message);
	}
}

static void a_long_message_is_cut(void **state)
{
	static char message[10 << 20];
	const struct http_answer answer = { .status = 200,
					    .grpc_status = "14",
					    .grpc_message = message };
	struct request_outcome outcome;
	(void)state;

	memset(message, '%', sizeof(message) - 1);
	grpc_answer_judge(&answer, &outcome);
	assert_int_equal(strlen(outcome.message), OUTCOME_MESSAGE_BYTES - 1);
}

static void long_details_are_not_read(void **state)
{
	static char details[10 << 20];
	const struct http_answer answer = { .status = 200,
					    .grpc_status = "8",
					    .grpc_details = details };
	(void)state;

	memset(details, 'A', sizeof(details) - 1);
	assert_verdict(&answer, OUTCOME_TOO_LARGE, 0, "gRPC status RESOURCE_EXHAUSTED");
}

#define NOT_GRPC "the response has no grpc-status: this is not a gRPC server"

static void without_grpc_status_that_of_http_counts(void **state)
{
	static const struct {
		unsigned int http_status;
		enum outcome_verdict verdict;
		uint64_t wait_s;
		const char *message;
	} cases[] = {
		{ 200, OUTCOME_REFUSED, 0, NOT_GRPC },
		{ 204, OUTCOME_REFUSED, 0, NOT_GRPC },
		{ 302, OUTCOME_REFUSED, 0, "HTTP status 302: words" },
		{ 400, OUTCOME_REFUSED, 0, "HTTP status 400: words" },
		{ 401, OUTCOME_REFUSED, 0, "HTTP status 401: words" },
		{ 403, OUTCOME_REFUSED, 0, "HTTP status 403: words" },
		{ 404, OUTCOME_REFUSED, 0, "HTTP status 404: words" },
		{ 413, OUTCOME_TOO_LARGE, 0, "HTTP status 413: words" },
		{ 429, OUTCOME_RETRY, 9, "HTTP status 429: words" },
		{ 431, OUTCOME_REFUSED, 0, "HTTP status 431: words" },
		{ 500, OUTCOME_REFUSED, 0, "HTTP status 500: words" },
		{ 502, OUTCOME_RETRY, 9, "HTTP status 502: words" },
		{ 503, OUTCOME_RETRY, 9, "HTTP status 503: words" },
		{ 504, OUTCOME_RETRY, 9, "HTTP status 504: words" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct http_answer answer = {
			.status = cases[i].http_status,
			.content_type = "text/plain",
			.body = "words",
			.len = 5,
			.retry_after_s = 9,
		};

		assert_verdict(&answer, cases[i].verdict, cases[i].wait_s, cases[i].message);
		answer.grpc_status = "16";
		assert_verdict(&answer, OUTCOME_REFUSED, 0, "gRPC status UNAUTHENTICATED");
	}
}

static void an_answer_that_ends_early_is_no_answer(void **state)
{
	static const struct {
		const char *content_type;
		enum outcome_verdict verdict;
		const char *message;
	} cases[] = {
		{ "application/grpc", OUTCOME_RETRY, "the response ends before its grpc-status" },
		{ "Application/gRPC+proto", OUTCOME_RETRY,
		  "the response ends before its grpc-status" },
		{ "text/html", OUTCOME_REFUSED, NOT_GRPC },
		{ "", OUTCOME_REFUSED, NOT_GRPC },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct http_answer answer = {
			.status = 200,
			.content_type = cases[i].content_type,
		};

		assert_verdict(&answer, cases[i].verdict, 0, cases[i].message);
	}
}

#define NOT_OTLP "the response claims success, but is not an OTLP response"

static void a_success_may_be_partial(void **state)
{
	static const struct {
		const char *body;
		size_t len;
		uint64_t nr_rejected;
		const char *message;
	} cases[] = {
		{ BYTES("\0\0\0\0\0"), 0, "" },
		{ BYTES("\0\0\0\0\2\x0a\0"), 0, "" },
		{ BYTES("\0\0\0\0\4\x0a\2\x08\2"), 2, "" },
		{ BYTES("\0\0\0\0\x08\x0a\x06\x12\x04mild"), 0, "mild" },
		{ BYTES(""), 0, NOT_OTLP },
		{ BYTES("\0\0\0\0\1\x0a"), 0, NOT_OTLP },
		{ BYTES("\0\0\0\0\0\0\0\0\0\0"), 0, NOT_OTLP },
		{ BYTES("\1\0\0\0\0"), 0, NOT_OTLP },
		{ BYTES("<html>"), 0, NOT_OTLP },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct http_answer answer = {
			.status = 200,
			.body = cases[i].body,
			.len = cases[i].len,
			.grpc_status = "0",
			.grpc_encoding = "gzip",
		};
		struct request_outcome outcome = { .verdict = OUTCOME_RETRY };

		grpc_answer_judge(&answer, &outcome);
		assert_int_equal(outcome.verdict, OUTCOME_DONE);
		assert_int_equal(outcome.nr_rejected_profiles, cases[i].nr_rejected);
		assert_string_equal(outcome.message, cases[i].message);
	}
}

static void either_status_can_deny_us(void **state)
{
	static const struct {
		unsigned int http_status;
		const char *status;
		bool is_denied;
	} cases[] = {
		{ 401, NULL, true },  { 200, "16", true },  { 503, "16", true },
		{ 401, "14", false }, { 200, NULL, false }, { 403, NULL, true },
		{ 200, "7", true },   { 200, "x", false },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct http_answer answer = {
			.status = cases[i].http_status,
			.grpc_status = cases[i].status,
		};

		struct request_outcome outcome = { .verdict = OUTCOME_RETRY };

		grpc_answer_judge(&answer, &outcome);
		assert_int_equal(outcome.is_denied, cases[i].is_denied);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_status_has_a_verdict),
		cmocka_unit_test(details_say_when_to_come_again),
		cmocka_unit_test(a_message_is_percent_encoded),
		cmocka_unit_test(a_long_message_is_cut),
		cmocka_unit_test(long_details_are_not_read),
		cmocka_unit_test(without_grpc_status_that_of_http_counts),
		cmocka_unit_test(an_answer_that_ends_early_is_no_answer),
		cmocka_unit_test(a_success_may_be_partial),
		cmocka_unit_test(either_status_can_deny_us),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
