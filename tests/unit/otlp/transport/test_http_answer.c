/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport/http_answer.h"

#include "base/clock.h"
#include "base/err.h"
#include "pod_list_text.h"
#include "unit.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define PROTOBUF "application/x-protobuf"
#define PODS                                                                                       \
	"{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"name\":\"a\",\"namespace\":\"b\","      \
	"\"uid\":\"u\"}}]}"
#define BYTES(literal) literal, sizeof(literal) - 1

static void only_four_statuses_are_worth_a_second_try(void **state)
{
	static const unsigned int retried[] = { 429, 502, 503, 504 };
	(void)state;

	for (unsigned int status = 100; status < 1000; status++) {
		const struct http_answer answer = { .status = status };
		enum outcome_verdict expected = status / 100 == 2 ? OUTCOME_DONE
						: status == 413	  ? OUTCOME_TOO_LARGE
								  : OUTCOME_REFUSED;
		struct request_outcome outcome = { .verdict = OUTCOME_RETRY };

		for (size_t i = 0; i < array_len(retried); i++)
			if (status == retried[i])
				expected = OUTCOME_RETRY;
		http_answer_judge(&answer, &outcome);
		assert_int_equal(outcome.verdict, expected);
		assert_true(outcome.was_answered);
	}
}

static void a_wait_is_for_who_may_come_again(void **state)
{
	static const struct {
		unsigned int status;
		uint64_t retry_after_s, wait_s;
	} cases[] = {
		{ 503, 7, 7 }, { 429, 3600, 3600 }, { 429, 3601, 3600 }, { 503, UINT64_MAX, 3600 },
		{ 503, 0, 0 }, { 400, 7, 0 },	    { 413, 7, 0 },	 { 200, 7, 0 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct http_answer answer = {
			.status = cases[i].status,
			.retry_after_s = cases[i].retry_after_s,
		};
		struct request_outcome outcome = { .verdict = OUTCOME_RETRY };

		http_answer_judge(&answer, &outcome);
		assert_int_equal(outcome.retry_after_ns, cases[i].wait_s * NSEC_PER_SEC);
	}
}

static void a_refusal_is_told_in_the_destinations_words(void **state)
{
	static const struct {
		const char *content_type;
		const char *body;
		size_t len;
		const char *words; /* behind the status */
	} cases[] = {
		{ PROTOBUF,
		  BYTES("\x08\x03\x12\x03"
			"bad"),
		  ": bad" },
		{ NULL,
		  BYTES("\x08\x03\x12\x03"
			"bad"),
		  ": bad" },
		{ PROTOBUF, BYTES("\x08\x03"), "" },
		{ PROTOBUF, BYTES("\x12\x7f"), "" },
		{ PROTOBUF, BYTES(""), "" },
		{ "text/plain; charset=utf-8", BYTES("no such tenant\nstack"), ": no such tenant" },
		{ NULL, BYTES("no such tenant"), ": no such tenant" },
		{ NULL, BYTES(""), "" },
		{ "text/html", BYTES("<html>nginx</html>"), "" },
		{ "text/plain", BYTES("<html>nginx</html>"), "" },
		{ NULL, BYTES("<!doctype html>"), "" },
		{ "image/png", BYTES("PNG"), "" },
		{ "application/json",
		  BYTES("{\"code\":\"invalid_argument\",\"message\":\"label \\u00e4 too long\"}"),
		  ": label ä too long" },
		{ NULL, BYTES("{\"message\":\"bad\"}"), ": bad" },
		{ "application/json", BYTES("{\"code\":\"internal\"}"), "" },
		{ "application/json", BYTES("{\"message\":7}"), "" },
		{ "application/json", BYTES("{\"details\":{\"message\":\"inner\"}}"), "" },
		{ "application/json", BYTES("[\"message\"]"), "" },
		{ "application/json", BYTES("\"message\""), "" },
		{ "application/json", BYTES(" {\"message\":\"\\u00e9\"}\n"), ": é" },
		{ "application/json", BYTES("{\"Message\":\"no\"}"), "" },
		{ "application/json", BYTES("{\"message\":\"no\"} <html>"), "" },
		{ "application/json", BYTES("{\"message\":\"cut"), "" },
		{ "application/json", BYTES("{\"message\":\"\\ud800\"}"), "" },
		{ "application/json", BYTES(""), "" },
		{ "application/json", BYTES("{\"message\":\"a\\u001bb\\nc\"}"), ": a\\x1bb" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct http_answer answer = {
			.status = 400,
			.content_type = cases[i].content_type,
			.body = cases[i].body,
			.len = cases[i].len,
		};
		struct request_outcome outcome = { .verdict = OUTCOME_RETRY };
		char message[64];

		snprintf(message, sizeof(message), "HTTP status 400%s", cases[i].words);
		http_answer_judge(&answer, &outcome);
		assert_string_equal(outcome.message, message);
	}
}

static void an_error_that_is_a_bomb_has_no_message(void **state)
{
	static const char *const parts[] = { "[", "{\"a\":", "0,", "[],", "\"\",", "\"" };
	static char body[64 << 10];
	const struct http_answer answer = {
		.status = 400,
		.content_type = "application/json",
		.body = body,
		.len = sizeof(body),
	};
	(void)state;

	for (size_t i = 0; i < array_len(parts); i++) {
		struct request_outcome outcome = { .verdict = OUTCOME_RETRY };

		body[0] = '[';
		for (size_t at = 1; at < sizeof(body); at++)
			body[at] = parts[i][(at - 1) % strlen(parts[i])];
		http_answer_judge(&answer, &outcome);
		assert_string_equal(outcome.message, "HTTP status 400");
	}
}

static void *read_pods(void *data)
{
	const struct pod_list_opts opts = { .max_bytes = 1 << 20 };
	_cleanup_(pod_list_freep) struct pod_list *list = NULL;

	(void)data;
	assert_int_equal(pod_list_parse(PODS, strlen(PODS), &opts, &list), 0);
	assert_int_equal(list->nr_pods, 1);
	return NULL;
}

/* The kubelet's thread and an exporter's use the same parser. */
static void a_thread_that_reads_pods_does_not_matter(void **state)
{
	static const char body[] = "{\"message\":\"overloaded\"}";
	const struct http_answer answer = {
		.status = 503,
		.content_type = "application/json",
		.body = body,
		.len = strlen(body),
	};
	struct request_outcome outcome = { .verdict = OUTCOME_DONE };
	pthread_t thread;
	(void)state;

	assert_int_equal(pthread_create(&thread, NULL, read_pods, NULL), 0);
	pthread_join(thread, NULL);
	http_answer_judge(&answer, &outcome);
	assert_int_equal(outcome.verdict, OUTCOME_RETRY);
	assert_string_equal(outcome.message, "HTTP status 503: overloaded");
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
		{ BYTES(""), 0, "" },
		{ BYTES("\x0a\x00"), 0, "" },
		{ BYTES("\x0a\x06\x12\x04mild"), 0, "mild" },
		{ BYTES("\x0a\x08\x08\x02\x12\x04"
			"deep"),
		  2, "deep" },
		{ BYTES("\x0a\x02\x08\x02"), 2, "" },
		{ BYTES("\x0a\x02\x08"), 0, NOT_OTLP },
		{ BYTES("<html>welcome</html>"), 0, NOT_OTLP },
		{ BYTES("{}"), 0, NOT_OTLP },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct http_answer answer = {
			.status = 200,
			.body = cases[i].body,
			.len = cases[i].len,
		};
		struct request_outcome outcome = { .verdict = OUTCOME_RETRY };

		http_answer_judge_otlp(&answer, &outcome);
		assert_int_equal(outcome.verdict, OUTCOME_DONE);
		assert_int_equal(outcome.nr_rejected_profiles, cases[i].nr_rejected);
		assert_string_equal(outcome.message, cases[i].message);
	}
}

static void partial_success_is_otlps_alone(void **state)
{
	const struct http_answer push = { .status = 200, .body = "\x0a\x02\x08\x02", .len = 4 };
	const struct http_answer refusal = { .status = 503, .body = "\x0a\x02\x08\x02", .len = 4 };
	struct request_outcome outcome = { .verdict = OUTCOME_RETRY };
	(void)state;

	http_answer_judge(&push, &outcome);
	assert_int_equal(outcome.nr_rejected_profiles, 0);
	http_answer_judge_otlp(&refusal, &outcome);
	assert_int_equal(outcome.nr_rejected_profiles, 0);
	assert_int_equal(outcome.verdict, OUTCOME_RETRY);
}

static void a_web_page_is_no_success(void **state)
{
	static const struct {
		unsigned int status;
		const char *content_type;
		enum outcome_verdict verdict;
	} cases[] = {
		{ 200, "text/html", OUTCOME_RETRY },
		{ 200, "text/html; charset=utf-8", OUTCOME_RETRY },
		{ 204, "application/xhtml+xml", OUTCOME_RETRY },
		{ 200, "text/plain", OUTCOME_DONE },
		{ 200, PROTOBUF, OUTCOME_DONE },
		{ 200, NULL, OUTCOME_DONE },
		{ 404, "text/html", OUTCOME_REFUSED },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		const struct http_answer answer = { .status = cases[i].status,
						    .content_type = cases[i].content_type };
		struct request_outcome outcome = { .verdict = OUTCOME_RETRY };

		http_answer_judge(&answer, &outcome);
		assert_int_equal(outcome.verdict, cases[i].verdict);
		assert_int_equal(outcome.message[0] == '\0', cases[i].verdict == OUTCOME_DONE);
	}
}

static void who_is_not_known_is_denied(void **state)
{
	static const unsigned int statuses[] = { 401, 403, 400, 404, 503, 200 };
	(void)state;

	for (size_t i = 0; i < array_len(statuses); i++) {
		const struct http_answer answer = { .status = statuses[i] };
		struct request_outcome outcome = { .verdict = OUTCOME_RETRY };

		http_answer_judge(&answer, &outcome);
		assert_int_equal(outcome.is_denied, i < 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_four_statuses_are_worth_a_second_try),
		cmocka_unit_test(a_wait_is_for_who_may_come_again),
		cmocka_unit_test(a_refusal_is_told_in_the_destinations_words),
		cmocka_unit_test(an_error_that_is_a_bomb_has_no_message),
		cmocka_unit_test(a_thread_that_reads_pods_does_not_matter),
		cmocka_unit_test(a_success_may_be_partial),
		cmocka_unit_test(partial_success_is_otlps_alone),
		cmocka_unit_test(a_web_page_is_no_success),
		cmocka_unit_test(who_is_not_known_is_denied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
