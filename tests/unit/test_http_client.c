/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/http_client.h"
#include "tests/standin/standin.h"
#include "unit.h"

#include <string.h>

#define BODY_MAX_BYTES 4096

static struct standin server;

static const struct http_client_opts quick = {
	.connect_timeout_ns = 2 * NSEC_PER_SEC,
	.total_timeout_ns = 5 * NSEC_PER_SEC,
};

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

static int get(const struct http_client_opts *opts, const char *url, struct strbuf *body,
	       struct http_response *ret_response)
{
	_cleanup_(http_client_freep) struct http_client *client = NULL;
	const struct http_request request = { .url = url };

	assert_int_equal(http_client_new(opts, &client), 0);
	int r = http_perform(client, &request, body, ret_response);
	if (r < 0)
		assert_string_not_equal(http_client_error(client), "");
	return r;
}

static int get_path(const struct http_client_opts *opts, const char *path, struct strbuf *body,
		    struct http_response *ret_response)
{
	char url[128];

	snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", server.port, path);
	return get(opts, url, body, ret_response);
}

static void every_status_is_an_answer(void **state)
{
	static const struct {
		const char *path;
		unsigned int status;
		uint64_t retry_after_s;
	} cases[] = {
		{ "/status/200", 200, 0 },	   { "/status/404", 404, 0 },
		{ "/status/500", 500, 0 },	   { "/retry-after/503/7", 503, 7 },
		{ "/retry-after/429/0", 429, 0 },  { "/retry-after/503/soon", 503, 0 },
		{ "/retry-after/503/-5", 503, 0 }, { "/redirect", 302, 0 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
		struct http_response response;

		assert_int_equal(get_path(&quick, cases[i].path, &body, &response), 0);
		assert_int_equal(response.status, cases[i].status);
		assert_int_equal(response.retry_after_s, cases[i].retry_after_s);
	}
}

static void a_body_is_bounded_by_its_buffer(void **state)
{
	static const struct {
		const char *path;
		int result;
	} cases[] = {
		{ "/body/0", 0 },
		{ "/body/4096", 0 },
		{ "/body/4097", -ENOSPC },
		{ "/body/9999999", -ENOSPC },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
		struct http_response response;

		assert_int_equal(get_path(&quick, cases[i].path, &body, &response),
				 cases[i].result);
		assert_true(body.len <= BODY_MAX_BYTES);
	}
}

static void a_slow_server_is_left_in_time(void **state)
{
	static const char *const paths[] = { "/slow/9", "/drip/99" };
	struct http_client_opts opts = quick;
	(void)state;

	opts.total_timeout_ns = 300 * NSEC_PER_MSEC;
	for (size_t i = 0; i < array_len(paths); i++) {
		_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
		struct http_response response;
		uint64_t start_ns = clock_mono_ns();

		assert_int_equal(get_path(&opts, paths[i], &body, &response), -ETIMEDOUT);
		assert_true(clock_mono_ns() - start_ns < 5 * NSEC_PER_SEC);
	}
}

static void what_is_no_answer_is_an_error(void **state)
{
	static const struct {
		const char *url;
		int result;
	} cases[] = {
		{ "http://127.0.0.1:1/", -ECONNREFUSED },
		{ "http://nobody.invalid/", -EHOSTUNREACH },
		{ "file:///etc/passwd", -EPROTO },
		{ "ftp://127.0.0.1/", -EPROTO },
		{ "http://[bad/", -EPROTO },
		{ "http://127.0.0.1:99999/", -EPROTO },
		{ "", -EPROTO },
	};
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	struct http_response response = { .status = 1 };
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++)
		assert_int_equal(get(&quick, cases[i].url, &body, &response), cases[i].result);
	assert_int_equal(get_path(&quick, "/hang-up", &body, &response), -EPROTO);
	assert_int_equal(response.status, 1);
	assert_int_equal(body.len, 0);
}

static void a_post_carries_headers_and_body(void **state)
{
	static const char *const headers[] = { "X-Scope-OrgID: blue" };
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	_cleanup_(http_client_freep) struct http_client *client = NULL;
	struct http_response response;
	char url[64];
	(void)state;

	snprintf(url, sizeof(url), "http://127.0.0.1:%u/echo", server.port);
	const struct http_request request = {
		.url = url,
		.headers = headers,
		.nr_headers = array_len(headers),
		.body = "a\0b",
		.body_len = 3,
	};
	assert_int_equal(http_client_new(&quick, &client), 0);
	assert_int_equal(http_perform(client, &request, &body, &response), 0);
	assert_non_null(strstr(strbuf_str(&body), "\"method\": \"POST\""));
	assert_non_null(strstr(strbuf_str(&body), "\"x-scope-orgid\": \"blue\""));
	assert_non_null(strstr(strbuf_str(&body), "\"user-agent\": \"flamelet/" FLAMELET_VERSION));
	assert_non_null(strstr(strbuf_str(&body), "\"body\": \"a\\u0000b\""));
	assert_null(strstr(strbuf_str(&body), "expect"));
}

static void the_connection_is_kept_between_requests(void **state)
{
	_cleanup_(strbuf_done) struct strbuf first = strbuf_with_max(BODY_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf second = strbuf_with_max(BODY_MAX_BYTES);
	_cleanup_(http_client_freep) struct http_client *client = NULL;
	struct http_response response;
	char url[64];
	(void)state;

	snprintf(url, sizeof(url), "http://127.0.0.1:%u/echo", server.port);
	const struct http_request post = { .url = url, .body = "x", .body_len = 1 };
	const struct http_request fetch = { .url = url };
	assert_int_equal(http_client_new(&quick, &client), 0);
	assert_int_equal(http_perform(client, &post, &first, &response), 0);
	assert_int_equal(http_perform(client, &fetch, &second, &response), 0);
	assert_non_null(strstr(strbuf_str(&second), "\"method\": \"GET\""));
	assert_string_equal(strstr(strbuf_str(&first), "\"connection\""),
			    strstr(strbuf_str(&second), "\"connection\""));
}

static void a_proxy_is_used_only_when_allowed(void **state)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	struct http_client_opts opts = quick;
	struct http_response response;
	(void)state;

	setenv("http_proxy", "http://127.0.0.1:1", 1);
	unsetenv("no_proxy");
	unsetenv("NO_PROXY");
	assert_int_equal(get_path(&opts, "/status/200", &body, &response), 0);
	opts.use_proxy_env = true;
	assert_int_equal(get_path(&opts, "/status/200", &body, &response), -ECONNREFUSED);
	unsetenv("http_proxy");
}

static void certificates_are_verified_as_asked(void **state)
{
	static const struct {
		const char *host;
		bool knows_ca;
		enum http_verify verify;
		int result;
	} cases[] = {
		{ "flamelet.test", true, HTTP_VERIFY_FULL, 0 },
		{ "flamelet.test", false, HTTP_VERIFY_FULL, -EKEYREJECTED },
		{ "flamelet.test", false, HTTP_VERIFY_CA_ONLY, -EKEYREJECTED },
		{ "flamelet.test", false, HTTP_VERIFY_NONE, 0 },
		{ "other.test", true, HTTP_VERIFY_FULL, -EKEYREJECTED },
		{ "other.test", true, HTTP_VERIFY_CA_ONLY, 0 },
		{ "other.test", false, HTTP_VERIFY_NONE, 0 },
	};
	(void)state;

	if (server.tls_port == 0)
		skip();
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
		struct http_client_opts opts = quick;
		struct http_response response;
		char url[96], resolve[96];

		snprintf(url, sizeof(url), "https://%s:%u/status/200", cases[i].host,
			 server.tls_port);
		snprintf(resolve, sizeof(resolve), "%s:%u:127.0.0.1", cases[i].host,
			 server.tls_port);
		opts.ca_file = cases[i].knows_ca ? server.ca_file : NULL;
		opts.verify = cases[i].verify;
		opts.resolve = resolve;
		assert_int_equal(get(&opts, url, &body, &response), cases[i].result);
	}
}

static void a_missing_certificate_file_is_no_certificate(void **state)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	struct http_client_opts opts = quick;
	struct http_response response;
	char url[64];
	(void)state;

	if (server.tls_port == 0)
		skip();
	snprintf(url, sizeof(url), "https://localhost:%u/status/200", server.tls_port);
	opts.ca_file = "/nonexistent/ca.pem";
	assert_int_equal(get(&opts, url, &body, &response), -EKEYREJECTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_status_is_an_answer),
		cmocka_unit_test(a_body_is_bounded_by_its_buffer),
		cmocka_unit_test(a_slow_server_is_left_in_time),
		cmocka_unit_test(what_is_no_answer_is_an_error),
		cmocka_unit_test(a_post_carries_headers_and_body),
		cmocka_unit_test(the_connection_is_kept_between_requests),
		cmocka_unit_test(a_proxy_is_used_only_when_allowed),
		cmocka_unit_test(certificates_are_verified_as_asked),
		cmocka_unit_test(a_missing_certificate_file_is_no_certificate),
	};

	return cmocka_run_group_tests(tests, start_server, stop_server);
}
