/* SPDX-License-Identifier: Apache-2.0 */
/* What comes before and after the body of an answer. */
#include "base/clock.h"
#include "base/http_client.h"
#include "tests/standin/standin.h"
#include "unit.h"

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

static void headers_and_trailers_can_be_asked_for(void **state)
{
	static const struct {
		const char *path;
		const char *name;
		const char *value; /* NULL: none */
	} cases[] = {
		{ "/retry-after/200/7", "retry-after", "7" },
		{ "/trailers/0", "x-last", "trailer" },
		{ "/trailers/3", "X-LAST", "trailer" },
		{ "/headers/3", "X-Last", NULL },
		{ "/headers/3", "X", NULL },
		{ "/headers/3", "", NULL },
		{ "/hang-up", "X-Last", NULL },
	};
	_cleanup_(http_client_freep) struct http_client *client = NULL;
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(64);
	struct http_response response;
	char url[64];
	(void)state;

	assert_int_equal(http_client_new(&quick, &client), 0);
	assert_null(http_client_header(client, "x-last"));
	for (size_t i = 0; i < array_len(cases); i++) {
		const struct http_request request = { .url = url };

		snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", server.port, cases[i].path);
		int r = http_perform(client, &request, &body, &response);
		const char *value = http_client_header(client, cases[i].name);
		assert_true(r == 0 || !cases[i].value);
		assert_int_equal(value == NULL, cases[i].value == NULL);
		if (value)
			assert_string_equal(value, cases[i].value);
	}
}

static void headers_without_end_are_called_what_they_are(void **state)
{
	static const struct {
		const char *path;
		int result;
	} cases[] = {
		{ "/header/60000", 0 },		{ "/header/200000", -EPROTO },
		{ "/header/2000000", -EPROTO }, { "/headers/90", 0 },
		{ "/headers/999", -EPROTO },	{ "/trailer/1000", 0 },
		{ "/trailer/200000", -EPROTO }, { "/trailers/9999", -EPROTO },
		{ "/continue/9", 0 },		{ "/continue/99999", -EPROTO },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(http_client_freep) struct http_client *client = NULL;
		_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
		struct http_response response;
		char url[64];

		snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", server.port, cases[i].path);
		const struct http_request request = { .url = url };
		assert_int_equal(http_client_new(&quick, &client), 0);
		assert_int_equal(http_perform(client, &request, &body, &response), cases[i].result);
		if (cases[i].result < 0)
			assert_string_equal(http_client_error(client),
					    "the headers or trailers of the response are too long");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_and_trailers_can_be_asked_for),
		cmocka_unit_test(headers_without_end_are_called_what_they_are),
	};

	return cmocka_run_group_tests(tests, start_server, stop_server);
}
