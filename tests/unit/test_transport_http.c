/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport_http.h"

#include "base/clock.h"
#include "tests/standin/standin.h"
#include "unit.h"

#include <string.h>

#define PATH "/v1development/profiles"

static struct standin server;

static int start_server(void **state)
{
	(void)state;
	return standin_start(&server);
}

static int stop_server(void **state)
{
	(void)state;
	standin_stop(&server);
	return 0;
}

static void an_endpoint_is_a_base_or_the_whole_url(void **state)
{
	static const struct {
		const char *endpoint;
		const char *url; /* NULL: refused */
	} cases[] = {
		{ "http://collector:4318", "http://collector:4318" PATH },
		{ "http://collector:4318/", "http://collector:4318" PATH },
		{ "https://h/otlp", "https://h/otlp" PATH },
		{ "https://h/otlp//", "https://h/otlp" PATH },
		{ "http://h" PATH, "http://h" PATH },
		{ "http://h/otlp" PATH, "http://h/otlp" PATH },
		{ "http://h" PATH "/", "http://h" PATH },
		{ "http://h?key=1", "http://h" PATH "?key=1" },
		{ "http://h" PATH "?key=a/b", "http://h" PATH "?key=a/b" },
		{ "HTTP://[::1]:4318", "HTTP://[::1]:4318" PATH },
		{ "", NULL },
		{ "collector:4318", NULL },
		{ "http://", NULL },
		{ "http:///path", NULL },
		{ "http://:4318", NULL },
		{ "http://?x", NULL },
		{ "ftp://h", NULL },
		{ "grpc://h:4317", NULL },
		{ "http://h/a b", NULL },
		{ "http://h/\r\nX: y", NULL },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf url = strbuf_with_max(256);
		int r = transport_http_url(cases[i].endpoint, false, &url);

		assert_int_equal(r, cases[i].url ? 0 : -EINVAL);
		if (cases[i].url)
			assert_string_equal(strbuf_str(&url), cases[i].url);
	}
}

static void a_full_endpoint_is_left_as_it_is(void **state)
{
	static const char *const endpoints[] = { "http://h/own/path", "http://h/own/", "http://h" };
	(void)state;

	for (size_t i = 0; i < array_len(endpoints); i++) {
		_cleanup_(strbuf_done) struct strbuf url = strbuf_with_max(256);

		assert_int_equal(transport_http_url(endpoints[i], true, &url), 0);
		assert_string_equal(strbuf_str(&url), endpoints[i]);
	}
}

static void bad_headers_are_refused(void **state)
{
	static const char *const bad[] = { "no colon", "X: a\r\nY: b", "", "X: \x7f" };
	struct transport_http *transport = NULL;
	(void)state;

	for (size_t i = 0; i < array_len(bad); i++) {
		const struct transport_http_opts opts = {
			.endpoint = "http://h",
			.headers = &bad[i],
			.nr_headers = 1,
			.timeout_ns = NSEC_PER_SEC,
		};

		assert_int_equal(transport_http_new(&opts, &transport), -EINVAL);
		assert_null(transport);
	}
}

struct send_case {
	const char *mode;
	int result;
	uint64_t nr_rejected_profiles;
	const char *message; /* of the answer, or of the error */
};

static void assert_send(const struct send_case *c)
{
	_cleanup_(transport_http_freep) struct transport_http *transport = NULL;
	_cleanup_(strbuf_done) struct strbuf request = strbuf_with_max(64);
	struct response response = { .message = "" };
	size_t nr_bytes = 0;
	char endpoint[80];

	snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%u/otlp/%s", server.port, c->mode);
	const struct transport_http_opts opts = {
		.endpoint = endpoint,
		.timeout_ns = NSEC_PER_SEC,
	};
	strbuf_append_str(&request, "body");
	assert_int_equal(transport_http_new(&opts, &transport), 0);
	assert_int_equal(transport_http_send(transport, &request, &response, &nr_bytes), c->result);
	assert_int_equal(response.nr_rejected_profiles, c->nr_rejected_profiles);
	assert_true(nr_bytes > 4);
	if (c->result < 0)
		assert_non_null(strstr(transport_http_error(transport), c->message));
	else
		assert_string_equal(response.message, c->message);
}

static void answers_are_told_apart(void **state)
{
	static const struct send_case cases[] = {
		{ "ok", 0, 0, "" },
		{ "empty", 0, 0, "" },
		{ "junk", 0, 0, "" },
		{ "warning", 0, 0, "mild" },
		{ "partial", 0, 2, "too deep" },
		{ "400", -EREMOTEIO, 0, "HTTP status 400: status 400" },
		{ "503", -EREMOTEIO, 0, "HTTP status 503: status 503" },
		{ "302", -EREMOTEIO, 0, "HTTP status 302" },
		{ "hang-up", -EPROTO, 0, "" },
		{ "slow", -ETIMEDOUT, 0, "" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++)
		assert_send(&cases[i]);
}

static void a_request_is_a_gzip_body_with_exact_headers(void **state)
{
	static const char *const headers[] = { "X-Scope-OrgID: blue" };
	_cleanup_(transport_http_freep) struct transport_http *transport = NULL;
	_cleanup_(strbuf_done) struct strbuf request = strbuf_with_max(64);
	struct response response;
	size_t nr_bytes = 0;
	char endpoint[80];
	(void)state;

	snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%u/otlp/strict", server.port);
	const struct transport_http_opts opts = {
		.endpoint = endpoint,
		.headers = headers,
		.nr_headers = 1,
		.timeout_ns = NSEC_PER_SEC,
	};
	strbuf_append_str(&request, "body");
	assert_int_equal(transport_http_new(&opts, &transport), 0);
	assert_int_equal(transport_http_send(transport, &request, &response, &nr_bytes), 0);
	assert_string_equal(response.message, "body blue");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_endpoint_is_a_base_or_the_whole_url),
		cmocka_unit_test(a_full_endpoint_is_left_as_it_is),
		cmocka_unit_test(bad_headers_are_refused),
		cmocka_unit_test(answers_are_told_apart),
		cmocka_unit_test(a_request_is_a_gzip_body_with_exact_headers),
	};

	return cmocka_run_group_tests(tests, start_server, stop_server);
}
