/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "config/options.h"
#include "options_fixture.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void a_file_is_one_more_destination(void **state)
{
	(void)state;
	write_config("otlp-endpoint: grpc://b:4317\n"
		     "otlp-header: [\"A: b\", \"C: d\"]\n"
		     "exclude-attribute: [host.*]\n"
		     "sample-attributes: [thread.name, cpu.logical_number]\n"
		     "resource-attribute: [k8s.cluster.name=b]\n"
		     "otlp-timeout: 3s\n");
	setenv("OTEL_RESOURCE_ATTRIBUTES", "k8s.cluster.name=a", 1);
	setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=s3cret", 1);
	setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf", 1);
	setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "none", 1);
	_cleanup_(options_done) struct options o = load_ok(
		COMMAND_AGENT, "--otlp-endpoint http://a --destination @ --destination @");
	_cleanup_(options_done) struct options doctor = load_ok(COMMAND_DOCTOR, "--destination @");

	assert_int_equal(o.nr_destinations, 3);
	assert_ptr_equal(o.direct, &o.destinations[0]);
	assert_string_equal(o.direct->endpoint, "http://a");
	assert_string_equal(o.direct->headers.items[0], "authorization: s3cret");
	assert_int_equal(o.direct->resource_attributes.nr, 0);
	assert_string_equal(o.resource_attributes.items[0], "k8s.cluster.name=a");
	assert_false(o.direct->compress);
	for (size_t i = 1; i < 3; i++) {
		const struct destination *other = &o.destinations[i];

		assert_string_equal(other->endpoint, "http://b:4317");
		assert_int_equal(other->protocol, OPTION_PROTOCOL_GRPC);
		assert_int_equal(other->headers.nr, 2);
		assert_string_equal(other->headers.items[0], "A: b");
		assert_true(other->compress);
		assert_int_equal(other->excluded_attributes.nr, 1);
		assert_int_equal(other->resource_attributes.nr, 1);
		assert_string_equal(other->resource_attributes.items[0], "k8s.cluster.name=b");
		assert_int_equal(other->sample_attributes, 3);
		assert_int_equal(other->timeout_ns, 3 * NSEC_PER_SEC);
		assert_int_equal(other->request_max, 3670016);
	}
	assert_int_equal(doctor.nr_destinations, 1);
	assert_string_equal(doctor.destinations[0].endpoint, "http://b:4317");
	assert_null(doctor.direct->endpoint);
}

static void no_variable_takes_away_a_destinations_tls(void **state)
{
	(void)state;
	write_config("otlp-endpoint: b:4317\notlp-protocol: grpc\n");
	setenv("OTEL_EXPORTER_OTLP_INSECURE", "true", 1);
	_cleanup_(options_done) struct options o = load_ok(COMMAND_AGENT, "--destination @");

	assert_string_equal(o.destinations[0].endpoint, "https://b:4317");
}

static void destinations_stand_in_the_file_of_options(void **state)
{
	char path[128], text[256];
	(void)state;

	snprintf(path, sizeof(path), "%s/destination.yaml", temp_dir);
	snprintf(text, sizeof(text), "otlp-endpoint: http://a\ndestination: [%s]\n", path);
	assert_int_equal(file_write_atomic(path, "otlp-endpoint: http://b\n", 24), 0);
	write_config(text);
	_cleanup_(options_done) struct options o = load_ok(COMMAND_EXPORT, "a.gz -c @");
	_cleanup_(options_done) struct options same = load_ok(COMMAND_EXPORT, "a.gz -c @");
	assert_int_equal(file_write_atomic(path, "otlp-endpoint: http://c\n", 24), 0);
	_cleanup_(options_done) struct options changed = load_ok(COMMAND_EXPORT, "a.gz -c @");
	_cleanup_(strbuf_done) struct strbuf names = strbuf_with_max(1000);
	unlink(path);

	assert_int_equal(o.nr_destinations, 2);
	assert_string_equal(o.destinations[1].endpoint, "http://b");
	options_diff(&o, &same, false, &names);
	assert_string_equal(strbuf_str(&names), "");
	options_diff(&o, &changed, false, &names);
	assert_string_equal(strbuf_str(&names), "--destination");
}

static void options_without_an_endpoint_are_compared_too(void **state)
{
	_cleanup_(strbuf_done) struct strbuf names = strbuf_with_max(1000);
	(void)state;

	write_config("otlp-endpoint: http://b\n");
	_cleanup_(options_done) struct options before = load_ok(
		COMMAND_AGENT, "--destination @ --resource-attribute a=1");
	_cleanup_(options_done) struct options after = load_ok(
		COMMAND_AGENT, "--destination @ --resource-attribute a=2 --otlp-tenant t");

	assert_int_equal(after.nr_destinations, 1);
	assert_string_equal(after.destinations[0].endpoint, "http://b");
	options_diff(&before, &after, false, &names);
	assert_string_equal(strbuf_str(&names), "--otlp-tenant, --resource-attribute");
}

struct file_refusal {
	const char *text;
	const char *message; /* behind the file's name */
};

static void a_bad_destination_is_answered_with_line_and_remedy(void **state)
{
	static const struct file_refusal cases[] = {
		{ "", ": otlp-endpoint is missing; add it" },
		{ "otlp-timeout: 3s\n", ": otlp-endpoint is missing; add it" },
		{ "otlp-endpoint: [http://a, http://b]\n",
		  ":1: otlp-endpoint: takes one value, not a list" },
		{ "otlp-endpoint: http://a\nfrequency: 19\n",
		  ":2: frequency is not an option of a destination's file; remove the line" },
		{ "otlp-endpoint: http://a\nqueue-dir: /q\n",
		  ":2: queue-dir is not an option of a destination's file; remove the line" },
		{ "otlp-endpoint: http://a\ndestination: x\n",
		  ":2: destination is not an option of a destination's file; remove the line" },
		{ "otlp-endpoint: http://a\nresource-attribute: [a=b, c=d, a=e]\n",
		  ": resource-attribute: attribute \"a\" is given twice" },
		{ "otlp-endpont: http://a\n",
		  ":1: otlp-endpont is not an option; did you mean otlp-endpoint?" },
		{ "otlp-endpoint: ftp://a\n",
		  ":1: otlp-endpoint: invalid value \"ftp://a\"; expected http://HOST:4318, "
		  "https://HOST/PATH, or, without a path, grpc://HOST:4317 or grpcs://HOST:4317" },
		{ "otlp-endpoint: a:1\n", ":1: otlp-endpoint: \"a:1\" has no scheme; "
					  "write http://a:1 or grpc://a:1" },
		{ "otlp-endpoint: http://a\notlp-client-key: /etc/hosts\n",
		  ":2: otlp-client-key: otlp-client-cert is missing; set both" },
		{ "otlp-endpoint: http://a\notlp-header: s3cret\n",
		  ":2: otlp-header: invalid value; expected an HTTP header like \"Name: value\"" },
		{ "- otlp-endpoint\n", ":1: expected lines like \"frequency: 19\"" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		char expected[512];

		write_config(cases[i].text);
		snprintf(expected, sizeof(expected), "%s%s", config_path, cases[i].message);
		expect_refused(COMMAND_AGENT, "--destination @", expected);
	}
}

static void there_is_an_end_to_destinations(void **state)
{
	(void)state;
	write_config("otlp-endpoint: http://a\n");
	expect_refused(COMMAND_AGENT,
		       "--destination @ --destination @ --destination @ --destination @ "
		       "--destination @ --destination @ --destination @ --destination @ "
		       "--destination @",
		       "--destination: 9 are too many; at most 8");
}

int main(void)
{
#define CLEAN_TEST(name) cmocka_unit_test_setup(name, start_clean)
	const struct CMUnitTest tests[] = {
		CLEAN_TEST(a_file_is_one_more_destination),
		CLEAN_TEST(no_variable_takes_away_a_destinations_tls),
		CLEAN_TEST(destinations_stand_in_the_file_of_options),
		CLEAN_TEST(options_without_an_endpoint_are_compared_too),
		CLEAN_TEST(a_bad_destination_is_answered_with_line_and_remedy),
		CLEAN_TEST(there_is_an_end_to_destinations),
	};

	return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
