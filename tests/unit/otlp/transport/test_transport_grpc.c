/* SPDX-License-Identifier: Apache-2.0 */
/* OTLP over gRPC, against a server of the gRPC project and against an nginx that is none. */
#include "otlp/transport/transport.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "tests/standin/standin.h"
#include "transport_fixture.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK "0?hex=0a00"
#define LARGE_BYTES ((size_t)5 << 20) /* more than a gRPC server takes */

static struct standin server, front;
static bool has_grpc;
static char token_file[] = "/tmp/flamelet-token-XXXXXX";

static int start_servers(void **state)
{
	int fd = mkostemp(token_file, O_CLOEXEC);
	(void)state;

	if (fd < 0)
		return -errno;
	close(fd);
	has_grpc = standin_start_grpc(&server) == 0;
	return standin_start_http2(&front);
}

static int stop_servers(void **state)
{
	(void)state;
	standin_stop(&front);
	standin_stop(&server);
	return unlink(token_file);
}

/* Python's grpc is a package of its own. */
static struct transport_opts grpc_opts(void)
{
	if (!has_grpc)
		skip();
	return local_opts(TRANSPORT_OTLP_GRPC, server.port);
}

static void assert_delivery(const struct request_outcome *outcome, enum outcome_verdict verdict,
			    const char *message)
{
	if (outcome->verdict != verdict || strcmp(outcome->message, message) != 0)
		fail_msg("verdict %d: \"%s\", not %d: \"%s\"", outcome->verdict, outcome->message,
			 verdict, message);
}

/* google.rpc.Status with RetryInfo of 7 s, its bytes as %XX. */
#define RETRY_INFO "%1a%30%0a%28type.googleapis.com/google.rpc.RetryInfo%12%04%0a%02%08%07"

static void answers_are_told_apart(void **state)
{
	static const struct {
		const char *told;
		enum outcome_verdict verdict;
		uint64_t nr_rejected, wait_s;
		const char *message;
	} cases[] = {
		{ OK, OUTCOME_DONE, 0, 0, "" },
		{ "0", OUTCOME_DONE, 0, 0, "" },
		{ "0?hex=0a0612046d696c64", OUTCOME_DONE, 0, 0, "mild" },
		{ "0?hex=0a080802120464656570", OUTCOME_DONE, 2, 0, "deep" },
		{ "0?hex=0a080802120464656570&compressed=1", OUTCOME_DONE, 2, 0, "deep" },
		{ "0?hex=0a06120461616161&repeat=1000&compressed=1", OUTCOME_DONE, 0, 0, "aaaa" },
		{ "0?body=x&repeat=1000000&compressed=1", OUTCOME_DONE, 0, 0,
		  "the response claims success, but is not an OTLP response" },
		{ "14?message=n\xc3\xb6 way", OUTCOME_RETRY, 0, 0,
		  "gRPC status UNAVAILABLE: nö way" },
		{ "14?grpc-status-details-bin=" RETRY_INFO, OUTCOME_RETRY, 0, 7,
		  "gRPC status UNAVAILABLE" },
		{ "8?message=full", OUTCOME_TOO_LARGE, 0, 0,
		  "gRPC status RESOURCE_EXHAUSTED: full" },
		{ "8?message=full&grpc-status-details-bin=" RETRY_INFO, OUTCOME_RETRY, 0, 7,
		  "gRPC status RESOURCE_EXHAUSTED: full" },
		{ "3?message=bad", OUTCOME_REFUSED, 0, 0, "gRPC status INVALID_ARGUMENT: bad" },
		{ "16", OUTCOME_REFUSED, 0, 0, "gRPC status UNAUTHENTICATED" },
	};
	struct transport_opts opts = grpc_opts();
	(void)state;

	for (size_t i = 0; i < 2 * array_len(cases); i++) {
		opts.compress = i % 2;
		struct request_outcome outcome = send_told(&opts, cases[i / 2].told);

		assert_delivery(&outcome, cases[i / 2].verdict, cases[i / 2].message);
		assert_true(outcome.was_answered);
		assert_int_equal(outcome.nr_rejected_profiles, cases[i / 2].nr_rejected);
		assert_int_equal(outcome.retry_after_ns, cases[i / 2].wait_s * NSEC_PER_SEC);
		assert_true(outcome.nr_bytes > 5);
	}
}

static void a_request_is_a_grpc_call(void **state)
{
	struct transport_opts opts = grpc_opts();
	(void)state;

	opts.tenant = "blue";
	for (int compress = 0; compress < 2; compress++) {
		opts.compress = compress;
		struct request_outcome outcome = send_told(
			&opts, "3?echo=x-scope-orgid,user-agent,body-bytes,body");
		assert_delivery(&outcome, OUTCOME_REFUSED,
				"gRPC status INVALID_ARGUMENT: x-scope-orgid=blue; "
				"user-agent=flamelet/" FLAMELET_VERSION
				"; body-bytes=10; body=" DUMMY_BODY);
	}
}

static void many_requests_go_one_after_the_other(void **state)
{
	static const char *const headers[] = { "X-Answer: " OK };
	_cleanup_(transport_freep) struct transport *transport = NULL;
	struct transport_opts opts = grpc_opts();
	struct request_outcome outcome;
	(void)state;

	opts.headers = headers;
	opts.nr_headers = 1;
	assert_int_equal(transport_new(&opts, &transport), 0);
	for (int i = 0; i < 20; i++) {
		transport_send(transport, DUMMY_BODY, strlen(DUMMY_BODY), &outcome);
		assert_delivery(&outcome, OUTCOME_DONE, "");
	}
}

/* The answer comes while the request is still being sent. */
static void a_message_over_the_servers_limit_is_too_large(void **state)
{
	_cleanup_free_ unsigned char *body = malloc(LARGE_BYTES);
	struct transport_opts opts = grpc_opts();
	(void)state;

	for (size_t i = 0; i < LARGE_BYTES; i++)
		body[i] = (unsigned char)rand();
	opts.timeout_ns = 20 * NSEC_PER_SEC;
	for (int compress = 0; compress < 2; compress++) {
		opts.compress = compress;
		struct request_outcome outcome = send_bytes(&opts, OK, body, LARGE_BYTES);
		assert_int_equal(outcome.verdict, OUTCOME_TOO_LARGE);
		assert_non_null(strstr(outcome.message, "RESOURCE_EXHAUSTED: "));
	}
}

static void endless_trailers_do_no_harm(void **state)
{
	const struct transport_opts opts = grpc_opts();
	(void)state;

	struct request_outcome outcome = send_told(&opts, OK "&padding=60000");
	assert_delivery(&outcome, OUTCOME_DONE, "");
	outcome = send_told(&opts, OK "&padding=10000000");
	assert_int_equal(outcome.verdict, OUTCOME_RETRY);
}

static void the_deadline_is_the_timeout(void **state)
{
	struct transport_opts opts = grpc_opts();
	(void)state;

	opts.timeout_ns = 300 * NSEC_PER_MSEC;
	struct request_outcome outcome = send_told(&opts, "0?sleep=2");
	assert_int_equal(outcome.verdict, OUTCOME_RETRY);
}

static void a_renewed_token_is_tried_once(void **state)
{
	struct transport_opts opts = grpc_opts();
	char told[128];
	(void)state;

	opts.token_file = token_file;
	assert_int_equal(file_write_atomic(token_file, "old", 3), 0);
	snprintf(told, sizeof(told), "0?hex=0a00&token=new&renew=%s", token_file);
	struct request_outcome outcome = send_told(&opts, told);
	assert_delivery(&outcome, OUTCOME_DONE, "");

	assert_int_equal(file_write_atomic(token_file, "old", 3), 0);
	outcome = send_told(&opts, "0?hex=0a00&token=new&renew=/dev/null");
	assert_delivery(&outcome, OUTCOME_REFUSED, "gRPC status UNAUTHENTICATED");
}

/* As metadata. */
static void headers_of_a_file_are_renewed_too(void **state)
{
	struct transport_opts opts = grpc_opts();
	char told[128];
	(void)state;

	opts.header_file = token_file;
	assert_int_equal(file_write_atomic(token_file, "Authorization: Basic b2xk", 25), 0);
	struct request_outcome outcome = send_told(
		&opts, "0?hex=0a00&authorization=Basic b2xk&renew=/dev/null");
	assert_delivery(&outcome, OUTCOME_DONE, "");

	snprintf(told, sizeof(told), "0?hex=0a00&authorization=Basic bmV3&renew=%s", token_file);
	outcome = send_told(&opts, told);
	assert_delivery(&outcome, OUTCOME_DONE, "");
}

static void tls_is_used_where_the_url_says_so(void **state)
{
	struct transport_opts opts = grpc_opts();
	char tls[64], mtls[64];
	(void)state;

	snprintf(tls, sizeof(tls), "https://localhost:%u", server.tls_port);
	snprintf(mtls, sizeof(mtls), "https://localhost:%u", server.mtls_port);
	const struct {
		const char *endpoint, *ca, *cert, *key;
		enum outcome_verdict verdict;
	} cases[] = {
		{ tls, server.ca_file, NULL, NULL, OUTCOME_DONE },
		{ tls, NULL, NULL, NULL, OUTCOME_RETRY },
		{ mtls, server.ca_file, server.ca_file, server.key_file, OUTCOME_DONE },
		{ mtls, server.ca_file, NULL, NULL, OUTCOME_RETRY },
	};
	for (size_t i = 0; i < array_len(cases); i++) {
		opts.endpoint = cases[i].endpoint;
		opts.ca_file = cases[i].ca;
		opts.client_cert_file = cases[i].cert;
		opts.client_key_file = cases[i].key;
		struct request_outcome outcome = send_told(&opts, OK);
		if (outcome.verdict != cases[i].verdict)
			fail_msg("case %zu: %s", i, outcome.message);
		assert_int_equal(outcome.was_answered, outcome.verdict == OUTCOME_DONE);
	}
}

static void what_brings_no_answer_is_tried_again(void **state)
{
	struct transport_opts opts = local_opts(TRANSPORT_OTLP_GRPC, 1);
	(void)state;

	struct request_outcome outcome = send_told(&opts, NULL);
	assert_int_equal(outcome.verdict, OUTCOME_RETRY);
	assert_false(outcome.was_answered);
}

/* What stands before a receiver answers as it can. */
static void answers_of_no_grpc_server_are_understood(void **state)
{
	static const struct {
		const char *told;
		enum outcome_verdict verdict;
		uint64_t wait_s;
		const char *message;
	} cases[] = {
		{ "503?body=<html>&Content-Type=text/html&Retry-After=9", OUTCOME_RETRY, 9,
		  "HTTP status 503" },
		{ "404?body=nothing here&Content-Type=text/plain", OUTCOME_REFUSED, 0,
		  "HTTP status 404: nothing here" },
		{ "413", OUTCOME_TOO_LARGE, 0, "HTTP status 413" },
		{ "200?body=<html>", OUTCOME_REFUSED, 0,
		  "the response has no grpc-status: this is not a gRPC server" },
		{ "200?grpc-status=14&grpc-message=a%2520b", OUTCOME_RETRY, 0,
		  "gRPC status UNAVAILABLE: a b" },
		{ "503?grpc-status=3", OUTCOME_REFUSED, 0, "gRPC status INVALID_ARGUMENT" },
		{ "200?grpc-status=8&grpc-status-details-bin=!!!", OUTCOME_TOO_LARGE, 0,
		  "gRPC status RESOURCE_EXHAUSTED" },
		{ "200?grpc-status=0&hex=00000000020a00", OUTCOME_DONE, 0, "" },
		{ "200?grpc-status=0&hex=00000000020a00&repeat=2", OUTCOME_DONE, 0,
		  "the response claims success, but is not an OTLP response" },
		{ "200?grpc-status=0&body=x&repeat=100000", OUTCOME_DONE, 0,
		  "the response claims success, but is not an OTLP response" },
	};
	const struct transport_opts opts = local_opts(TRANSPORT_OTLP_GRPC, front.port);
	(void)state;

	if (front.port == 0)
		skip();
	for (size_t i = 0; i < array_len(cases); i++) {
		struct request_outcome outcome = send_told(&opts, cases[i].told);

		assert_delivery(&outcome, cases[i].verdict, cases[i].message);
		assert_int_equal(outcome.retry_after_ns, cases[i].wait_s * NSEC_PER_SEC);
	}
}

static void a_server_without_http2_is_named(void **state)
{
	struct transport_opts opts = local_opts(TRANSPORT_OTLP_GRPC, 0);
	struct standin old;
	char endpoints[2][64];
	(void)state;

	assert_int_equal(standin_start(&old), 0);
	snprintf(endpoints[0], sizeof(endpoints[0]), "http://localhost:%u", old.port);
	snprintf(endpoints[1], sizeof(endpoints[1]), "https://localhost:%u", old.tls_port);
	opts.ca_file = old.ca_file;
	for (size_t i = 0; i < (old.tls_port ? 2 : 1); i++) {
		opts.endpoint = endpoints[i];
		struct request_outcome outcome = send_told(&opts, "200");
		assert_int_equal(outcome.verdict, OUTCOME_RETRY);
		assert_false(outcome.was_answered);
		if (!strstr(outcome.message, "HTTP/2"))
			fail_msg("%s: %s", opts.endpoint, outcome.message);
	}
	standin_stop(&old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_are_told_apart),
		cmocka_unit_test(a_request_is_a_grpc_call),
		cmocka_unit_test(many_requests_go_one_after_the_other),
		cmocka_unit_test(a_message_over_the_servers_limit_is_too_large),
		cmocka_unit_test(endless_trailers_do_no_harm),
		cmocka_unit_test(the_deadline_is_the_timeout),
		cmocka_unit_test(a_renewed_token_is_tried_once),
		cmocka_unit_test(headers_of_a_file_are_renewed_too),
		cmocka_unit_test(tls_is_used_where_the_url_says_so),
		cmocka_unit_test(what_brings_no_answer_is_tried_again),
		cmocka_unit_test(answers_of_no_grpc_server_are_understood),
		cmocka_unit_test(a_server_without_http2_is_named),
	};

	return cmocka_run_group_tests(tests, start_servers, stop_servers);
}
