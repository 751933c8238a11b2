/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport/transport_opts.h"

#include "base/cleanup.h"
#include "unit.h"

#include <string.h>

#define OTLP "/v1development/profiles"
#define GRPC "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"
#define PUSH "/push.v1.PusherService/Push"

struct url_case {
	const char *endpoint;
	const char *url; /* NULL: refused */
};

static void assert_urls(enum transport_protocol protocol, bool is_full,
			const struct url_case *cases, size_t nr_cases)
{
	for (size_t i = 0; i < nr_cases; i++) {
		_cleanup_(strbuf_done) struct strbuf url = strbuf_with_max(256);
		const struct transport_opts opts = {
			.protocol = protocol,
			.endpoint = cases[i].endpoint,
			.endpoint_is_full = is_full,
		};
		int r = transport_opts_url(&opts, &url);

		if (r != (cases[i].url ? 0 : -EINVAL))
			fail_msg("\"%s\": %d", cases[i].endpoint, r);
		if (cases[i].url)
			assert_string_equal(strbuf_str(&url), cases[i].url);
	}
}

static void an_endpoint_is_a_base_or_the_whole_url(void **state)
{
	static const struct url_case cases[] = {
		{ "http://collector:4318", "http://collector:4318" OTLP },
		{ "http://collector:4318/", "http://collector:4318" OTLP },
		{ "https://h/otlp", "https://h/otlp" OTLP },
		{ "https://h/otlp//", "https://h/otlp" OTLP },
		{ "http://h" OTLP, "http://h" OTLP },
		{ "http://h/otlp" OTLP, "http://h/otlp" OTLP },
		{ "http://h" OTLP "/", "http://h" OTLP },
		{ "http://h?key=1", "http://h" OTLP "?key=1" },
		{ "http://h" OTLP "?key=a/b", "http://h" OTLP "?key=a/b" },
		{ "HTTP://[::1]:4318", "HTTP://[::1]:4318" OTLP },
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

	assert_urls(TRANSPORT_OTLP_HTTP, false, cases, array_len(cases));
}

static void a_full_endpoint_is_left_as_it_is(void **state)
{
	static const struct url_case cases[] = {
		{ "http://h/own/path", "http://h/own/path" },
		{ "http://h/own/", "http://h/own/" },
		{ "http://h", "http://h" },
	};
	(void)state;

	assert_urls(TRANSPORT_OTLP_HTTP, true, cases, array_len(cases));
	assert_urls(TRANSPORT_PYROSCOPE, true, cases, array_len(cases));
}

static void grpc_has_one_path_only(void **state)
{
	static const struct url_case cases[] = {
		{ "http://h:4317", "http://h:4317" GRPC },
		{ "https://h:4317/", "https://h:4317" GRPC },
		{ "https://[::1]:4317", "https://[::1]:4317" GRPC },
		{ "http://h:4317/otlp", NULL },
		{ "http://h:4317//", NULL },
		{ "http://h:4317" OTLP, NULL },
		{ "http://h:4317" GRPC, NULL },
		{ "http://h:4317?x", NULL },
		{ "http://h:4317/?x", NULL },
		{ "http://h:4317#x", NULL },
		{ "h:4317", NULL },
	};
	(void)state;

	assert_urls(TRANSPORT_OTLP_GRPC, false, cases, array_len(cases));
	assert_urls(TRANSPORT_OTLP_GRPC, true, cases, array_len(cases));
}

static void profiles_are_pushed_below_the_endpoint(void **state)
{
	static const struct url_case cases[] = {
		{ "http://pyroscope:4040", "http://pyroscope:4040" PUSH },
		{ "https://h/pyroscope/", "https://h/pyroscope" PUSH },
		{ "http://h" PUSH, "http://h" PUSH },
		{ "pyroscope:4040", NULL },
	};
	(void)state;

	assert_urls(TRANSPORT_PYROSCOPE, false, cases, array_len(cases));
}

static void a_url_is_bounded(void **state)
{
	static const struct transport_opts opts = { .endpoint = "http://h" };
	_cleanup_(strbuf_done) struct strbuf url = strbuf_with_max(20);
	(void)state;

	assert_int_equal(transport_opts_url(&opts, &url), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_endpoint_is_a_base_or_the_whole_url),
		cmocka_unit_test(a_full_endpoint_is_left_as_it_is),
		cmocka_unit_test(grpc_has_one_path_only),
		cmocka_unit_test(profiles_are_pushed_below_the_endpoint),
		cmocka_unit_test(a_url_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
