/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/fileio.h"
#include "base/http_client.h"
#include "tests/standin/standin.h"
#include "unit.h"

#include <fcntl.h>
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

/* For the next request that get() makes. */
static struct http_tls tls;

static struct http_pem read_pem(const char *path)
{
	static struct strbuf texts[3];
	static size_t nr_read;
	struct strbuf *text = &texts[nr_read++ % array_len(texts)];

	strbuf_done(text);
	*text = strbuf_with_max(BODY_MAX_BYTES);
	if (path)
		assert_int_equal(file_read_at(AT_FDCWD, path, text), 0);
	return (struct http_pem){ path ? strbuf_str(text) : NULL, text->len };
}

static int get(const struct http_client_opts *opts, const char *url, struct strbuf *body,
	       struct http_response *ret_response)
{
	_cleanup_(http_client_freep) struct http_client *client = NULL;
	const struct http_request request = { .url = url, .tls = tls };

	tls = (struct http_tls){ .ca = { .text = NULL } };
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

/* A sink that counts, and refuses what comes after `refuse_after` bytes. */
struct taken {
	size_t len;
	size_t refuse_after;
};

static int take(void *data, const void *bytes, size_t len)
{
	struct taken *taken = data;

	(void)bytes;
	taken->len += len;
	return taken->len > taken->refuse_after ? -EXDEV : 0;
}

static int sink_path(const char *path, size_t max_bytes, struct taken *taken, struct strbuf *body,
		     struct http_response *ret_response)
{
	_cleanup_(http_client_freep) struct http_client *client = NULL;
	const struct http_sink sink = { take, taken, max_bytes };
	char url[64];

	snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", server.port, path);
	const struct http_request request = { .url = url, .sink = &sink };
	assert_int_equal(http_client_new(&quick, &client), 0);
	return http_perform(client, &request, body, ret_response);
}

static void a_sink_takes_the_body_of_a_200_only(void **state)
{
	static const struct {
		const char *path;
		size_t max_bytes, refuse_after;
		int result;
		size_t nr_taken, nr_buffered;
	} cases[] = {
		{ "/body/0", 10, 10, 0, 0, 0 },
		{ "/body/10", 10, 10, 0, 10, 0 },
		{ "/body/999999", 999999, SIZE_MAX, 0, 999999, 0 },
		{ "/body/11", 10, 11, -ENOSPC, 0, 0 },
		{ "/body/11", 11, 10, -EXDEV, 11, 0 },
		{ "/status/404", 10, 10, 0, 0, strlen("as asked") },
		{ "/refusal/64", 10, 10, 0, 0, 64 },
		{ "/refusal/65", 10, 10, 0, 0, 64 },
		{ "/refusal/99999999", 10, 10, 0, 0, 64 },
		{ "/too-long", 10, 10, 0, 4, 0 },
		{ "/too-short", 10, 10, -EPROTO, 5, 0 },
		{ "/headers/90", 10, 10, 0, 0, 0 },
		{ "/headers/999", 10, 10, -EPROTO, 0, 0 },
		{ "/trailers/99", 10, 10, 0, 2, 0 },
		{ "/trailers/9999", 10, 10, -EPROTO, 2, 0 },
		{ "/hang-up", 10, 10, -EPROTO, 0, 0 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(64);
		struct taken taken = { .refuse_after = cases[i].refuse_after };
		struct http_response response = { .status = 1 };

		int r = sink_path(cases[i].path, cases[i].max_bytes, &taken, &body, &response);
		if (r != cases[i].result || taken.len != cases[i].nr_taken ||
		    body.len != cases[i].nr_buffered)
			fail_msg("%s: %d, %zu taken, %zu buffered", cases[i].path, r, taken.len,
				 body.len);
		assert_int_equal(response.status == 1, r < 0);
	}
}

static void a_client_goes_on_after_it_cut_an_answer(void **state)
{
	static const char *const paths[] = { "/refusal/9999", "/body/3", "/body/11", "/body/5" };
	_cleanup_(http_client_freep) struct http_client *client = NULL;
	struct taken taken = { .refuse_after = SIZE_MAX };
	const struct http_sink sink = { take, &taken, 10 };
	struct http_response response;
	char url[64];
	(void)state;

	assert_int_equal(http_client_new(&quick, &client), 0);
	for (size_t i = 0; i < array_len(paths); i++) {
		_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(64);
		const struct http_request request = { .url = url, .sink = &sink };

		snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", server.port, paths[i]);
		assert_int_equal(http_perform(client, &request, &body, &response),
				 i == 2 ? -ENOSPC : 0);
	}
	assert_int_equal(taken.len, 8);
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
		tls.ca = read_pem(cases[i].knows_ca ? server.ca_file : NULL);
		opts.verify = cases[i].verify;
		opts.resolve = resolve;
		assert_int_equal(get(&opts, url, &body, &response), cases[i].result);
	}
}

static void a_file_without_certificates_is_no_ca(void **state)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	struct http_response response;
	char url[64];
	(void)state;

	if (server.tls_port == 0)
		skip();
	snprintf(url, sizeof(url), "https://localhost:%u/status/200", server.tls_port);
	tls.ca = (struct http_pem){ "", 0 };
	assert_int_equal(get(&quick, url, &body, &response), -EKEYREJECTED);
}

/* The name is wrong, and no CA is known: only the pin counts, as it is at each request. */
static void a_pinned_certificate_is_all_that_counts(void **state)
{
	_cleanup_(strbuf_done) struct strbuf cert = strbuf_with_max(BODY_MAX_BYTES);
	_cleanup_(http_client_freep) struct http_client *client = NULL;
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	struct http_client_opts opts = quick;
	char url[64];
	(void)state;

	if (server.tls_port == 0)
		skip();
	assert_int_equal(file_read_at(AT_FDCWD, server.ca_file, &cert), 0);
	snprintf(url, sizeof(url), "https://127.0.0.1:%u/status/200", server.tls_port);
	opts.verify = HTTP_VERIFY_PINNED;
	assert_int_equal(http_client_new(&opts, &client), 0);

	const struct {
		const char *before;
		size_t len;
		int result;
	} cases[] = {
		{ "", cert.len, 0 },
		{ "", 0, -EKEYREJECTED },
		{ "", cert.len / 2, -EKEYREJECTED },
		{ "# kubelet.crt\r\n\r\n", cert.len, 0 },
		{ "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", cert.len,
		  -EKEYREJECTED },
		{ "", cert.len, 0 },
	};
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf pin = strbuf_with_max(BODY_MAX_BYTES);
		struct http_request request = { .url = url };
		struct http_response response;

		strbuf_append_str(&pin, cases[i].before);
		strbuf_append(&pin, cert.data, cases[i].len);
		request.tls.ca = (struct http_pem){ strbuf_str(&pin), pin.len };
		assert_int_equal(http_perform(client, &request, &body, &response), cases[i].result);
		assert_int_equal(http_client_error(client)[0] == '\0', cases[i].result == 0);
	}
}

static void what_shows_no_certificate_is_not_the_pinned_server(void **state)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	struct http_client_opts opts = quick;
	struct http_response response;
	(void)state;

	opts.verify = HTTP_VERIFY_PINNED;
	assert_int_equal(get_path(&opts, "/status/200", &body, &response), -EKEYREJECTED);
	tls.ca = read_pem(server.ca_file);
	assert_int_equal(get_path(&opts, "/status/200", &body, &response), -EKEYREJECTED);
	tls.ca = (struct http_pem){ "", 0 };
	assert_int_equal(get_path(&opts, "/status/200", &body, &response), -EKEYREJECTED);
}

static void a_client_may_have_to_show_a_certificate(void **state)
{
	const struct {
		const char *cert, *key;
		int result;
	} cases[] = {
		{ server.ca_file, server.key_file, 0 },
		{ NULL, NULL, -EPROTO },
		{ server.key_file, server.key_file, -EKEYREJECTED },
		{ server.ca_file, server.ca_file, -EKEYREJECTED },
	};
	char url[64];
	(void)state;

	if (server.mtls_port == 0)
		skip();
	snprintf(url, sizeof(url), "https://localhost:%u/status/200", server.mtls_port);
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
		struct http_response response;

		tls.ca = read_pem(server.ca_file);
		tls.cert = read_pem(cases[i].cert);
		tls.key = read_pem(cases[i].key);
		assert_int_equal(get(&quick, url, &body, &response), cases[i].result);
	}
}

static void http2_is_not_done_without_where_it_is_needed(void **state)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	struct http_client_opts opts = quick;
	struct http_response response;
	char url[64];
	(void)state;

	opts.needs_http2 = true;
	assert_int_equal(get_path(&opts, "/status/200", &body, &response), -EPROTO);
	if (server.tls_port == 0)
		skip();
	tls.ca = read_pem(server.ca_file);
	snprintf(url, sizeof(url), "https://localhost:%u/status/200", server.tls_port);
	assert_int_equal(get(&opts, url, &body, &response), -EPROTONOSUPPORT);
}

static void http2_is_spoken_without_tls_where_it_is_needed(void **state)
{
	_cleanup_(http_client_freep) struct http_client *client = NULL;
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	struct http_client_opts opts = quick;
	struct http_response response;
	struct standin front;
	char url[64];
	(void)state;

	assert_int_equal(standin_start_http2(&front), 0);
	opts.needs_http2 = true;
	snprintf(url, sizeof(url), "http://localhost:%u/body/9", front.port);
	const struct http_request request = { .url = url };
	assert_int_equal(http_client_new(&opts, &client), 0);
	for (int round = 0; front.port != 0 && round < 3; round++) {
		strbuf_clear(&body);
		assert_int_equal(http_perform(client, &request, &body, &response), 0);
		assert_int_equal(response.version, 2);
		assert_int_equal(body.len, 9);
	}
	standin_stop(&front);
	if (front.port == 0)
		skip();
}

static void http2_is_spoken_where_the_server_does(void **state)
{
	static const enum http_verify modes[] = { HTTP_VERIFY_FULL, HTTP_VERIFY_PINNED };
	struct standin front;
	(void)state;

	assert_int_equal(standin_start_http2(&front), 0);
	for (size_t i = 0; front.tls_port != 0 && i < array_len(modes); i++) {
		_cleanup_(http_client_freep) struct http_client *client = NULL;
		_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(64);
		struct taken taken = { .refuse_after = SIZE_MAX };
		const struct http_sink sink = { take, &taken, 2000000 };
		struct http_client_opts opts = quick;
		struct http_response response;
		char url[64];

		snprintf(url, sizeof(url), "https://localhost:%u/body/1999999", front.tls_port);
		opts.verify = modes[i];
		const struct http_request request = {
			.url = url,
			.tls.ca = read_pem(front.ca_file),
			.sink = &sink,
		};
		assert_int_equal(http_client_new(&opts, &client), 0);
		for (int round = 0; round < 2; round++) {
			assert_int_equal(http_perform(client, &request, &body, &response), 0);
			assert_int_equal(response.version, 2);
		}
		assert_int_equal(taken.len, 2 * 1999999);
	}
	standin_stop(&front);
	if (front.tls_port == 0) {
		print_message("SKIP: no nginx or no openssl here\n");
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_status_is_an_answer),
		cmocka_unit_test(a_body_is_bounded_by_its_buffer),
		cmocka_unit_test(a_sink_takes_the_body_of_a_200_only),
		cmocka_unit_test(a_client_goes_on_after_it_cut_an_answer),
		cmocka_unit_test(a_slow_server_is_left_in_time),
		cmocka_unit_test(what_is_no_answer_is_an_error),
		cmocka_unit_test(a_post_carries_headers_and_body),
		cmocka_unit_test(the_connection_is_kept_between_requests),
		cmocka_unit_test(a_proxy_is_used_only_when_allowed),
		cmocka_unit_test(certificates_are_verified_as_asked),
		cmocka_unit_test(a_file_without_certificates_is_no_ca),
		cmocka_unit_test(a_pinned_certificate_is_all_that_counts),
		cmocka_unit_test(what_shows_no_certificate_is_not_the_pinned_server),
		cmocka_unit_test(a_client_may_have_to_show_a_certificate),
		cmocka_unit_test(http2_is_not_done_without_where_it_is_needed),
		cmocka_unit_test(http2_is_spoken_without_tls_where_it_is_needed),
		cmocka_unit_test(http2_is_spoken_where_the_server_does),
	};

	return cmocka_run_group_tests(tests, start_server, stop_server);
}
