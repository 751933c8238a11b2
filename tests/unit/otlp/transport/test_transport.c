/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport/transport.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "tests/standin/standin.h"
#include "transport_fixture.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static struct standin server;
static char token_file[] = "/tmp/flamelet-token-XXXXXX";
static char header_file[] = "/tmp/flamelet-headers-XXXXXX";

static int start_server(void **state)
{
	char *const files[] = { token_file, header_file };
	(void)state;

	for (size_t i = 0; i < array_len(files); i++) {
		int fd = mkostemp(files[i], O_CLOEXEC);

		if (fd < 0)
			return -errno;
		close(fd);
	}
	return standin_start(&server);
}

static int stop_server(void **state)
{
	(void)state;
	standin_stop(&server);
	return unlink(token_file) + unlink(header_file);
}

static void assert_delivery(const struct request_outcome *outcome, enum outcome_verdict verdict,
			    const char *message)
{
	if (outcome->verdict != verdict || strcmp(outcome->message, message) != 0)
		fail_msg("verdict %d: \"%s\", not %d: \"%s\"", outcome->verdict, outcome->message,
			 verdict, message);
}

static void what_cannot_be_sent_is_refused_at_once(void **state)
{
	static const char *const bad[] = {
		"no colon", "X: a\r\nY: b", "", "Content-Type: text/plain", "grpc-status: 0",
	};
	struct transport *transport = NULL;
	struct transport_opts opts = local_opts(TRANSPORT_OTLP_HTTP, 4318);
	(void)state;

	for (size_t i = 0; i < array_len(bad); i++) {
		opts.headers = &bad[i];
		opts.nr_headers = 1;
		assert_int_equal(transport_new(&opts, &transport), -EINVAL);
	}
	opts.nr_headers = 0;
	opts.tenant = "blue\ngreen";
	assert_int_equal(transport_new(&opts, &transport), -EINVAL);
	opts.tenant = NULL;
	opts.endpoint = "collector:4318";
	assert_int_equal(transport_new(&opts, &transport), -EINVAL);
	assert_null(transport);
}

static void answers_are_told_apart(void **state)
{
	static const struct {
		const char *told;
		enum outcome_verdict verdict;
		uint64_t nr_rejected, wait_s;
		const char *message;
	} cases[] = {
		{ "200", OUTCOME_DONE, 0, 0, "" },
		{ "200?hex=0a00&Content-Type=application/x-protobuf", OUTCOME_DONE, 0, 0, "" },
		{ "200?hex=0a0612046d696c64", OUTCOME_DONE, 0, 0, "mild" },
		{ "200?hex=0a080802120464656570", OUTCOME_DONE, 2, 0, "deep" },
		{ "200?body=<html>", OUTCOME_DONE, 0, 0,
		  "the response claims success, but is not an OTLP response" },
		{ "400?hex=08031203626164&Content-Type=application/x-protobuf", OUTCOME_REFUSED, 0,
		  0, "HTTP status 400: bad" },
		{ "401", OUTCOME_REFUSED, 0, 0, "HTTP status 401" },
		{ "413", OUTCOME_TOO_LARGE, 0, 0, "HTTP status 413" },
		{ "429?Retry-After=7", OUTCOME_RETRY, 0, 7, "HTTP status 429" },
		{ "503?Retry-After=99999&body=busy", OUTCOME_RETRY, 0, 3600,
		  "HTTP status 503: busy" },
		{ "502?body=<html>&Content-Type=text/html", OUTCOME_RETRY, 0, 0,
		  "HTTP status 502" },
		{ "504", OUTCOME_RETRY, 0, 0, "HTTP status 504" },
		{ "500?Retry-After=7", OUTCOME_REFUSED, 0, 0, "HTTP status 500" },
		{ "302?Location=/status/200", OUTCOME_REFUSED, 0, 0, "HTTP status 302" },
		{ "307?Location=/status/200", OUTCOME_REFUSED, 0, 0, "HTTP status 307" },
	};
	const struct transport_opts opts = local_opts(TRANSPORT_OTLP_HTTP, server.port);
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct request_outcome outcome = send_told(&opts, cases[i].told);

		assert_delivery(&outcome, cases[i].verdict, cases[i].message);
		assert_true(outcome.was_answered);
		assert_int_equal(outcome.nr_rejected_profiles, cases[i].nr_rejected);
		assert_int_equal(outcome.retry_after_ns, cases[i].wait_s * NSEC_PER_SEC);
		assert_int_equal(outcome.nr_bytes, strlen(DUMMY_BODY));
	}
}

/* What the receiver's Retry-After makes the wait. */
static uint64_t wait_s_of(const char *retry_after)
{
	const struct transport_opts opts = local_opts(TRANSPORT_OTLP_HTTP, server.port);
	char told[96];

	snprintf(told, sizeof(told), "503?Retry-After=%s", retry_after);
	struct request_outcome outcome = send_told(&opts, told);
	assert_int_equal(outcome.verdict, OUTCOME_RETRY);
	return outcome.retry_after_ns / NSEC_PER_SEC;
}

static void retry_after_may_be_a_date(void **state)
{
	static const struct {
		long offset_s;
		uint64_t min_s, max_s;
	} cases[] = {
		{ 100, 90, 100 },
		{ 3500, 3490, 3500 },
		{ 100000, 3600, 3600 },
		{ -100, 0, 0 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		time_t then = time(NULL) + cases[i].offset_s;
		char date[64];
		struct tm tm;

		strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", gmtime_r(&then, &tm));
		uint64_t wait_s = wait_s_of(date);
		assert_true(wait_s >= cases[i].min_s && wait_s <= cases[i].max_s);
	}
}

static void an_absurd_retry_after_does_no_harm(void **state)
{
	static const struct {
		const char *value;
		uint64_t wait_s;
	} cases[] = {
		{ "Fri, 31 Dec 9999 23:59:59 GMT", 3600 },
		{ "3601", 3600 },
		{ "9223372036854775807", 3600 },
		{ "99999999999999999999999999", 0 },
		{ "Thu, 01 Jan 1970 00:00:00 GMT", 0 },
		{ "Sunday, 06-Nov-94 08:49:37 GMT", 0 },
		{ "Sun Nov  6 08:49:37 1994", 0 },
		{ "-5", 0 },
		{ "0", 0 },
		{ "soon", 0 },
		{ "", 0 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++)
		assert_int_equal(wait_s_of(cases[i].value), cases[i].wait_s);
}

static void what_brings_no_answer_is_tried_again(void **state)
{
	struct transport_opts opts = local_opts(TRANSPORT_OTLP_HTTP, server.port);
	char hang_up[64], tls[64];
	(void)state;

	snprintf(hang_up, sizeof(hang_up), "http://127.0.0.1:%u/hang-up", server.port);
	snprintf(tls, sizeof(tls), "https://localhost:%u", server.tls_port);
	const char *const endpoints[] = {
		"http://127.0.0.1:1",
		"http://nobody.invalid",
		hang_up,
		tls,
	};
	opts.endpoint_is_full = true;
	for (size_t i = 0; i < array_len(endpoints); i++) {
		opts.endpoint = endpoints[i];
		struct request_outcome outcome = send_told(&opts, NULL);
		assert_int_equal(outcome.verdict, OUTCOME_RETRY);
		assert_false(outcome.was_answered);
		assert_string_not_equal(outcome.message, "");
	}
}

static void a_slow_receiver_is_left_in_time(void **state)
{
	struct transport_opts opts = local_opts(TRANSPORT_OTLP_HTTP, server.port);
	(void)state;

	opts.timeout_ns = 300 * NSEC_PER_MSEC;
	struct request_outcome outcome = send_told(&opts, "200?sleep=2");
	assert_int_equal(outcome.verdict, OUTCOME_RETRY);
	assert_false(outcome.was_answered);
}

static void a_long_answer_is_cut(void **state)
{
	const struct transport_opts opts = local_opts(TRANSPORT_OTLP_HTTP, server.port);
	(void)state;

	struct request_outcome outcome = send_told(&opts, "503?body=busy%0A&repeat=1000000");
	assert_delivery(&outcome, OUTCOME_RETRY, "HTTP status 503: busy");
	outcome = send_told(&opts, "200?body=<&repeat=200000");
	assert_delivery(&outcome, OUTCOME_DONE,
			"the response claims success, but is not an OTLP response");
	outcome = send_told(&opts, "200?body=<&repeat=9999999");
	assert_int_equal(outcome.verdict, OUTCOME_RETRY);
}

struct echo_case {
	enum transport_protocol protocol;
	bool compress;
	const char *seen;
};

static void a_request_is_what_its_protocol_says(void **state)
{
	static const char told[] = "400?Content-Type=text/plain&echo=content-type,content-encoding,"
				   "accept-encoding,te,connect-protocol-version,body";
	static const struct echo_case cases[] = {
		{ TRANSPORT_OTLP_HTTP, true,
		  "content-type=application/x-protobuf; content-encoding=gzip; accept-encoding=; "
		  "te=; connect-protocol-version=; body=" DUMMY_BODY },
		{ TRANSPORT_OTLP_HTTP, false,
		  "content-type=application/x-protobuf; content-encoding=; accept-encoding=; "
		  "te=; connect-protocol-version=; body=" DUMMY_BODY },
		{ TRANSPORT_PYROSCOPE, true,
		  "content-type=application/proto; content-encoding=gzip; accept-encoding=; "
		  "te=; connect-protocol-version=1; body=" DUMMY_BODY },
		{ TRANSPORT_PYROSCOPE, false,
		  "content-type=application/proto; content-encoding=; accept-encoding=; "
		  "te=; connect-protocol-version=1; body=" DUMMY_BODY },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct transport_opts opts = local_opts(cases[i].protocol, server.port);

		opts.compress = cases[i].compress;
		struct request_outcome outcome = send_told(&opts, told);
		assert_int_equal(strncmp(outcome.message, "HTTP status 400: ", 17), 0);
		assert_string_equal(outcome.message + 17, cases[i].seen);
	}
}

static void the_users_headers_win(void **state)
{
	static const char *const headers[] = { "x-scope-orgid: theirs", "User-Agent: mine",
					       "X-Empty:" };
	static const char told[] =
		"400?Content-Type=text/plain&echo=x-scope-orgid,user-agent,x-empty,authorization";
	struct transport_opts opts = local_opts(TRANSPORT_OTLP_HTTP, server.port);
	struct request_outcome outcome;
	(void)state;

	opts.tenant = "ours";
	outcome = send_told(&opts, told);
	assert_string_equal(
		outcome.message,
		"HTTP status 400: x-scope-orgid=ours; user-agent=flamelet/" FLAMELET_VERSION
		"; x-empty=; authorization=");
	opts.headers = headers;
	opts.nr_headers = array_len(headers);
	outcome = send_told(&opts, told);
	assert_string_equal(outcome.message, "HTTP status 400: x-scope-orgid=theirs; "
					     "user-agent=mine; x-empty=; authorization=");
}

static void an_empty_body_is_sent_too(void **state)
{
	struct transport_opts opts = local_opts(TRANSPORT_OTLP_HTTP, server.port);
	(void)state;

	for (int compress = 0; compress < 2; compress++) {
		opts.compress = compress;
		struct request_outcome outcome = send_bytes(
			&opts, "400?Content-Type=text/plain&echo=body-bytes", NULL, 0);
		assert_delivery(&outcome, OUTCOME_REFUSED, "HTTP status 400: body-bytes=0");
	}
}

static void pyroscope_refuses_in_json(void **state)
{
	static const struct {
		const char *told;
		enum outcome_verdict verdict;
		const char *message;
	} cases[] = {
		{ "200?hex=0a02&Content-Type=application/proto", OUTCOME_DONE, "" },
		{ "400?body={\"code\":\"invalid_argument\",\"message\":\"too many labels\"}"
		  "&Content-Type=application/json",
		  OUTCOME_REFUSED, "HTTP status 400: too many labels" },
		{ "429?body={\"code\":\"resource_exhausted\",\"message\":\"push rate limit\"}"
		  "&Content-Type=application/json",
		  OUTCOME_RETRY, "HTTP status 429: push rate limit" },
		{ "503?body={\"code\":\"unavailable\"}&Content-Type=application/json",
		  OUTCOME_RETRY, "HTTP status 503" },
		{ "404?body=404 page not found%0A&Content-Type=text/plain", OUTCOME_REFUSED,
		  "HTTP status 404: 404 page not found" },
	};
	const struct transport_opts opts = local_opts(TRANSPORT_PYROSCOPE, server.port);
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct request_outcome outcome = send_told(&opts, cases[i].told);

		assert_delivery(&outcome, cases[i].verdict, cases[i].message);
		assert_int_equal(outcome.nr_rejected_profiles, 0);
	}
}

static void write_token(const char *token)
{
	assert_int_equal(file_write_atomic(token_file, token, strlen(token)), 0);
}

static void a_token_is_read_for_each_request(void **state)
{
	static const char *const tokens[] = { "first\n", "second" };
	static const char *const headers[] = {
		"X-Answer: 400?Content-Type=text/plain&echo=authorization"
	};
	_cleanup_(transport_freep) struct transport *transport = NULL;
	struct transport_opts opts = local_opts(TRANSPORT_OTLP_HTTP, server.port);
	struct request_outcome outcome;
	(void)state;

	opts.token_file = token_file;
	opts.headers = headers;
	opts.nr_headers = 1;
	assert_int_equal(transport_new(&opts, &transport), 0);
	for (size_t i = 0; i < array_len(tokens); i++) {
		write_token(tokens[i]);
		transport_send(transport, "x", 1, &outcome);
		assert_delivery(&outcome, OUTCOME_REFUSED,
				i == 0 ? "HTTP status 400: authorization=Bearer first"
				       : "HTTP status 400: authorization=Bearer second");
	}
	write_token("not one token");
	transport_send(transport, "x", 1, &outcome);
	assert_int_equal(outcome.verdict, OUTCOME_RETRY);
	assert_non_null(strstr(outcome.message, token_file));
	assert_non_null(strstr(outcome.message, ": no token"));
	assert_false(outcome.was_answered);
}

static void a_renewed_token_is_tried_once(void **state)
{
	struct transport_opts opts = local_opts(TRANSPORT_OTLP_HTTP, server.port);
	char told[128];
	(void)state;

	opts.token_file = token_file;
	write_token("old");
	snprintf(told, sizeof(told), "200?token=new&renew=%s", token_file);
	struct request_outcome outcome = send_told(&opts, told);
	assert_delivery(&outcome, OUTCOME_DONE, "");

	write_token("old");
	snprintf(told, sizeof(told), "200?token=new&renew=/dev/null");
	outcome = send_told(&opts, told);
	assert_delivery(&outcome, OUTCOME_REFUSED, "HTTP status 401");
}

static void a_request_is_given_up_when_its_time_has_come(void **state)
{
	const uint64_t start_ns = clock_mono_ns();
	const struct {
		const char *told;
		uint64_t give_up_ns;
		enum outcome_verdict verdict;
	} cases[] = {
		{ "200", 0, OUTCOME_RETRY },
		{ "200", UINT64_MAX, OUTCOME_DONE },
		{ "200?sleep=5", start_ns + NSEC_PER_SEC / 2, OUTCOME_RETRY },
		{ "200", start_ns + NSEC_PER_SEC / 2, OUTCOME_RETRY }, /* over by now */
	};
	struct transport_opts opts = local_opts(TRANSPORT_OTLP_HTTP, server.port);
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		opts.give_up_ns = &cases[i].give_up_ns;
		struct request_outcome outcome = send_told(&opts, cases[i].told);
		assert_int_equal(outcome.verdict, cases[i].verdict);
		assert_int_equal(outcome.was_answered, cases[i].verdict == OUTCOME_DONE);
	}
	assert_true(clock_mono_ns() - start_ns < 4 * NSEC_PER_SEC);
}

static void the_users_authorization_leaves_no_need_of_a_file(void **state)
{
	static const char *const headers[] = { "authorization: Basic eDp5" };
	struct transport_opts opts = local_opts(TRANSPORT_OTLP_HTTP, server.port);
	(void)state;

	opts.token_file = "/nonexistent/token";
	opts.headers = headers;
	opts.nr_headers = 1;
	struct request_outcome outcome = send_told(
		&opts, "400?Content-Type=text/plain&echo=authorization");
	assert_delivery(&outcome, OUTCOME_REFUSED, "HTTP status 400: authorization=Basic eDp5");
	outcome = send_told(&opts, "401");
	assert_delivery(&outcome, OUTCOME_REFUSED, "HTTP status 401");
}

static void write_headers(const char *text)
{
	assert_int_equal(file_write_atomic(header_file, text, strlen(text)), 0);
}

/* Over OTLP and Pyroscope's push. */
static void headers_are_read_for_each_request(void **state)
{
	static const char told[] =
		"X-Answer: 400?Content-Type=text/plain&echo=authorization,x-scope-orgid";
	static const char *const headers[] = { told };
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "# Grafana Cloud\nAuthorization: Basic MTIzNDU2OmdsY19leGFtcGxl\n",
		  "HTTP status 400: authorization=Basic MTIzNDU2OmdsY19leGFtcGxl; "
		  "x-scope-orgid=ours" },
		{ "authorization: Basic eDp5\r\nx-scope-orgid: theirs",
		  "HTTP status 400: authorization=Basic eDp5; x-scope-orgid=theirs" },
		{ "x-answer: 200\nx-other: y\n",
		  "HTTP status 400: authorization=; x-scope-orgid=ours" },
	};
	static const enum transport_protocol protocols[] = { TRANSPORT_OTLP_HTTP,
							     TRANSPORT_PYROSCOPE };
	(void)state;

	for (size_t i = 0; i < 2 * array_len(cases); i++) {
		_cleanup_(transport_freep) struct transport *transport = NULL;
		struct transport_opts opts = local_opts(protocols[i % 2], server.port);
		struct request_outcome outcome;

		opts.header_file = header_file;
		opts.headers = headers;
		opts.nr_headers = 1;
		opts.tenant = "ours";
		assert_int_equal(transport_new(&opts, &transport), 0);
		write_headers(cases[i / 2].text);
		transport_send(transport, "x", 1, &outcome);
		assert_delivery(&outcome, OUTCOME_REFUSED, cases[i / 2].message);
	}
}

/* Its request waits; the log does not say what is secret. */
static void a_broken_header_file_sends_nothing(void **state)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{ "", ": the file has no header" },
		{ "# all of it\n\n", ": the file has no header" },
		{ "x: y\nBasic s3cret", ":2: this header cannot be set" },
		{ "s3cret\n", ":1: this header cannot be set" },
		{ "Content-Type: s3cret", ":1: this header cannot be set" },
	};
	_cleanup_(transport_freep) struct transport *transport = NULL;
	struct transport_opts opts = local_opts(TRANSPORT_OTLP_HTTP, server.port);
	struct request_outcome outcome;
	(void)state;

	opts.header_file = header_file;
	assert_int_equal(transport_new(&opts, &transport), 0);
	for (size_t i = 0; i < array_len(cases); i++) {
		write_headers(cases[i].text);
		transport_send(transport, "x", 1, &outcome);
		assert_int_equal(outcome.verdict, OUTCOME_RETRY);
		assert_false(outcome.was_answered);
		assert_non_null(strstr(outcome.message, header_file));
		assert_non_null(strstr(outcome.message, cases[i].words));
		assert_null(strstr(outcome.message, "s3cret"));
	}
	unlink(header_file);
	transport_send(transport, "x", 1, &outcome);
	assert_int_equal(outcome.verdict, OUTCOME_RETRY);
	assert_non_null(strstr(outcome.message, ": No such file"));
	write_headers("x: y");
}

static void renewed_headers_are_tried_once(void **state)
{
	struct transport_opts opts = local_opts(TRANSPORT_OTLP_HTTP, server.port);
	char told[128];
	(void)state;

	opts.header_file = header_file;
	write_headers("Authorization: Basic old");
	snprintf(told, sizeof(told), "200?authorization=Basic new&renew=%s", header_file);
	struct request_outcome outcome = send_told(&opts, told);
	assert_delivery(&outcome, OUTCOME_DONE, "");

	write_headers("Authorization: Basic old");
	outcome = send_told(&opts, "200?authorization=Basic new&renew=/dev/null");
	assert_delivery(&outcome, OUTCOME_REFUSED, "HTTP status 401");
	assert_true(outcome.is_denied);
}

static void a_header_file_with_authorization_leaves_no_need_of_a_token(void **state)
{
	struct transport_opts opts = local_opts(TRANSPORT_PYROSCOPE, server.port);
	(void)state;

	opts.header_file = header_file;
	opts.token_file = "/nonexistent/token";
	write_headers("authorization: Basic eDp5");
	struct request_outcome outcome = send_told(
		&opts, "400?Content-Type=text/plain&echo=authorization");
	assert_delivery(&outcome, OUTCOME_REFUSED, "HTTP status 400: authorization=Basic eDp5");
	write_headers("x: y");
	outcome = send_told(&opts, "200");
	assert_delivery(&outcome, OUTCOME_RETRY,
			"cannot read the headers: /nonexistent/token: No such file or directory");
}

static void certificates_go_both_ways(void **state)
{
	struct transport_opts opts = local_opts(TRANSPORT_OTLP_HTTP, server.port);
	char tls[64], mtls[64];
	(void)state;

	if (server.tls_port == 0)
		skip();
	snprintf(tls, sizeof(tls), "https://localhost:%u", server.tls_port);
	snprintf(mtls, sizeof(mtls), "https://localhost:%u", server.mtls_port);
	const struct {
		const char *endpoint, *ca, *cert, *key;
		enum http_verify verify;
		enum outcome_verdict verdict;
	} cases[] = {
		{ tls, server.ca_file, NULL, NULL, HTTP_VERIFY_FULL, OUTCOME_DONE },
		{ tls, NULL, NULL, NULL, HTTP_VERIFY_FULL, OUTCOME_RETRY },
		{ tls, NULL, NULL, NULL, HTTP_VERIFY_NONE, OUTCOME_DONE },
		{ mtls, server.ca_file, server.ca_file, server.key_file, HTTP_VERIFY_FULL,
		  OUTCOME_DONE },
		{ mtls, server.ca_file, NULL, NULL, HTTP_VERIFY_FULL, OUTCOME_RETRY },
		{ mtls, server.ca_file, "/nonexistent/cert", server.key_file, HTTP_VERIFY_FULL,
		  OUTCOME_RETRY },
	};
	for (size_t i = 0; i < array_len(cases); i++) {
		opts.endpoint = cases[i].endpoint;
		opts.ca_file = cases[i].ca;
		opts.client_cert_file = cases[i].cert;
		opts.client_key_file = cases[i].key;
		opts.verify = cases[i].verify;
		struct request_outcome outcome = send_told(&opts, "200");
		if (outcome.verdict != cases[i].verdict)
			fail_msg("case %zu: %s", i, outcome.message);
		assert_int_equal(outcome.was_answered, outcome.verdict == OUTCOME_DONE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_sent_is_refused_at_once),
		cmocka_unit_test(answers_are_told_apart),
		cmocka_unit_test(retry_after_may_be_a_date),
		cmocka_unit_test(an_absurd_retry_after_does_no_harm),
		cmocka_unit_test(what_brings_no_answer_is_tried_again),
		cmocka_unit_test(a_slow_receiver_is_left_in_time),
		cmocka_unit_test(a_long_answer_is_cut),
		cmocka_unit_test(a_request_is_what_its_protocol_says),
		cmocka_unit_test(the_users_headers_win),
		cmocka_unit_test(an_empty_body_is_sent_too),
		cmocka_unit_test(pyroscope_refuses_in_json),
		cmocka_unit_test(a_token_is_read_for_each_request),
		cmocka_unit_test(a_renewed_token_is_tried_once),
		cmocka_unit_test(a_request_is_given_up_when_its_time_has_come),
		cmocka_unit_test(the_users_authorization_leaves_no_need_of_a_file),
		cmocka_unit_test(headers_are_read_for_each_request),
		cmocka_unit_test(a_broken_header_file_sends_nothing),
		cmocka_unit_test(renewed_headers_are_tried_once),
		cmocka_unit_test(a_header_file_with_authorization_leaves_no_need_of_a_token),
		cmocka_unit_test(certificates_go_both_ways),
	};

	return cmocka_run_group_tests(tests, start_server, stop_server);
}
