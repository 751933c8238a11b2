/* SPDX-License-Identifier: Apache-2.0 */
/* The options of sending, given directly instead of in a file of --destination. */
#include "config/destination_check.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "options_fixture.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#define ENDPOINT_HINT                                                                              \
	"; expected http://HOST:4318, https://HOST/PATH, or, without a path, grpc://HOST:4317 or " \
	"grpcs://HOST:4317"

static void there_are_defaults_for_all_but_the_endpoint(void **state)
{
	_cleanup_(options_done) struct options o = load_ok(COMMAND_AGENT, "");
	const struct destination *direct = o.direct;
	(void)state;

	assert_null(direct->endpoint);
	assert_int_equal(direct->exporter, OPTION_EXPORTER_OTLP);
	assert_int_equal(direct->protocol, OPTION_PROTOCOL_HTTP);
	assert_true(direct->compress);
	assert_int_equal(direct->verify, HTTP_VERIFY_FULL);
	assert_int_equal(direct->timeout_ns, 10 * NSEC_PER_SEC);
	assert_int_equal(direct->preset, OPTION_PRESET_STANDARD);
	assert_int_equal(direct->sample_attributes, OPTION_SAMPLE_ATTRIBUTES_PRESET);
	assert_int_equal(direct->attribute_values_max, 0);
	assert_false(direct->original_payload);
	assert_int_equal(direct->request_max, 3670016);
	assert_int_equal(o.nr_destinations, 0);
	assert_null(o.queue_dir);
	assert_int_equal(o.queue_max, 256 << 20);
}

static void everything_can_be_said(void **state)
{
	static const char words[] =
		"--otlp-compression none --otlp-tenant one --otlp-token-file /etc/hostname "
		"--otlp-header-file /etc/hosts "
		"--otlp-client-cert /etc/hostname --otlp-client-key /etc/hosts "
		"--otlp-verify ca-only --otlp-preset pyroscope --exclude-attribute host.*,url "
		"--attribute-values-max 50 --otlp-original-payload pprof --otlp-timestamps "
		"--otlp-endpoint http://a";
	_cleanup_(options_done) struct options o = load_ok(COMMAND_AGENT, words);
	_cleanup_(options_done) struct options more = load_ok(
		COMMAND_EXPORT, "a.gz --otlp-request-max 64K --queue-dir /q --queue-max 1M "
				"--resource-attribute a=b=c --resource-attribute d=");
	const struct destination *direct = o.direct;
	(void)state;

	assert_false(direct->compress);
	assert_string_equal(direct->tenant, "one");
	assert_string_equal(direct->token_file, "/etc/hostname");
	assert_string_equal(direct->header_file, "/etc/hosts");
	assert_string_equal(direct->client_cert_file, "/etc/hostname");
	assert_string_equal(direct->client_key_file, "/etc/hosts");
	assert_int_equal(direct->verify, HTTP_VERIFY_CA_ONLY);
	assert_int_equal(direct->preset, OPTION_PRESET_PYROSCOPE);
	assert_int_equal(direct->excluded_attributes.nr, 2);
	assert_int_equal(direct->attribute_values_max, 50);
	assert_true(direct->original_payload);
	assert_true(options_want_times(&o));
	assert_false(options_want_times(&more));
	assert_int_equal(more.direct->request_max, 65536);
	assert_string_equal(more.queue_dir, "/q");
	assert_int_equal(more.queue_max, 1 << 20);
	assert_int_equal(more.resource_attributes.nr, 2);
	assert_string_equal(more.resource_attributes.items[0], "a=b=c");
}

static void attributes_of_samples_add_up(void **state)
{
	static const struct {
		const char *words;
		unsigned int mask;
	} cases[] = {
		{ "none", 0 },
		{ "all", 127 },
		{ "preset", OPTION_SAMPLE_ATTRIBUTES_PRESET },
		{ "thread.name", 1 },
		{ "cpu.logical_number", 2 },
		{ "thread.name,flamelet.cgroup.id", 5 },
		{ "thread.id,process.pid,container.id", 56 },
		{ "flamelet.wait.reason", 64 },
		{ "thread.name --sample-attributes cpu.logical_number", 3 },
	};
	char words[128];
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		snprintf(words, sizeof(words), "--sample-attributes %s", cases[i].words);
		_cleanup_(options_done) struct options o = load_ok(COMMAND_AGENT, words);

		assert_int_equal(o.direct->sample_attributes, cases[i].mask);
	}
}

struct url_case {
	const char *words;
	const char *insecure; /* the variable; NULL: not set */
	const char *url;
	enum option_protocol protocol;
};

static void the_exporter_gets_a_url(void **state)
{
	static const struct url_case cases[] = {
		{ "http://a", NULL, "http://a", OPTION_PROTOCOL_HTTP },
		{ "HTTPS://a/b?c", "true", "HTTPS://a/b?c", OPTION_PROTOCOL_HTTP },
		{ "grpc://a:4317", NULL, "http://a:4317", OPTION_PROTOCOL_GRPC },
		{ "grpcs://[::1]:4317/", "true", "https://[::1]:4317", OPTION_PROTOCOL_GRPC },
		{ "GRPC://a:1 --otlp-protocol grpc", NULL, "http://a:1", OPTION_PROTOCOL_GRPC },
		{ "http://a:1/ --otlp-protocol grpc", "false", "http://a:1", OPTION_PROTOCOL_GRPC },
		{ "https://a --otlp-protocol grpc", "true", "https://a", OPTION_PROTOCOL_GRPC },
		{ "a:4317 --otlp-protocol grpc", NULL, "https://a:4317", OPTION_PROTOCOL_GRPC },
		{ "a:4317 --otlp-protocol grpc", "", "https://a:4317", OPTION_PROTOCOL_GRPC },
		{ "a:4317 --otlp-protocol grpc", "TRUE", "http://a:4317", OPTION_PROTOCOL_GRPC },
		{ "a:4317 --otlp-protocol grpc", "False", "https://a:4317", OPTION_PROTOCOL_GRPC },
	};
	char words[128];
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		start_clean(state);
		if (cases[i].insecure)
			setenv("OTEL_EXPORTER_OTLP_INSECURE", cases[i].insecure, 1);
		snprintf(words, sizeof(words), "--otlp-endpoint %s", cases[i].words);
		_cleanup_(options_done) struct options o = load_ok(COMMAND_DOCTOR, words);

		assert_string_equal(o.direct->endpoint, cases[i].url);
		assert_int_equal(o.direct->protocol, cases[i].protocol);
		assert_int_equal(o.warnings.len, 0);
	}
}

static void the_preset_follows_the_exporter(void **state)
{
	static const char pyroscope[] = "--exporter pyroscope --otlp-endpoint http://p:4040";
	static const char standard[] = "--exporter pyroscope --otlp-preset standard";
	(void)state;

	setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", 1);
	setenv("OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT", "http://other/p", 1);
	_cleanup_(options_done) struct options o = load_ok(COMMAND_AGENT, pyroscope);
	_cleanup_(options_done) struct options other = load_ok(COMMAND_AGENT, standard);

	assert_int_equal(o.direct->preset, OPTION_PRESET_PYROSCOPE);
	assert_int_equal(o.direct->protocol, OPTION_PROTOCOL_HTTP);
	assert_string_equal(o.direct->endpoint, "http://p:4040");
	assert_int_equal(other.direct->preset, OPTION_PRESET_STANDARD);
	assert_string_equal(other.direct->endpoint, "http://other/p");
	assert_false(other.direct->endpoint_is_full);
}

static void a_scheme_outdoes_a_variable(void **state)
{
	(void)state;
	setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf", 1);
	_cleanup_(options_done) struct options o = load_ok(COMMAND_AGENT,
							   "--otlp-endpoint grpcs://a:1");

	assert_int_equal(o.direct->protocol, OPTION_PROTOCOL_GRPC);
}

static void the_variable_for_profiles_outdoes_the_one_for_all(void **state)
{
	(void)state;
	setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317", 1);
	setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", 1);
	setenv("OTEL_EXPORTER_OTLP_PROFILES_PROTOCOL", "GRPC", 1);
	setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", 1);
	setenv("OTEL_EXPORTER_OTLP_PROFILES_COMPRESSION", "None", 1);
	setenv("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "/nonexistent", 1);
	setenv("OTEL_EXPORTER_OTLP_PROFILES_CLIENT_CERTIFICATE", "/etc/hostname", 1);
	setenv("OTEL_EXPORTER_OTLP_CLIENT_KEY", "/etc/hosts", 1);
	setenv("OTEL_EXPORTER_OTLP_INSECURE", "false", 1);
	setenv("OTEL_EXPORTER_OTLP_PROFILES_INSECURE", "true", 1);
	_cleanup_(options_done) struct options o = load_ok(COMMAND_AGENT, "");

	assert_string_equal(o.direct->endpoint, "http://collector:4317");
	assert_int_equal(o.direct->protocol, OPTION_PROTOCOL_GRPC);
	assert_false(o.direct->compress);
	assert_string_equal(o.direct->client_cert_file, "/etc/hostname");
	assert_string_equal(o.direct->client_key_file, "/etc/hosts");
}

static void grpc_has_no_path_of_the_endpoint(void **state)
{
	(void)state;
	setenv("OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT", "https://a:1/v1/x?y", 1);
	setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", 1);
	setenv("OTEL_EXPORTER_OTLP_INSECURE", "1", 1);
	_cleanup_(options_done) struct options o = load_ok(COMMAND_AGENT, "");

	assert_string_equal(o.direct->endpoint, "https://a:1");
	assert_false(o.direct->endpoint_is_full);
	assert_string_equal(strbuf_str(&o.warnings),
			    "OTEL_EXPORTER_OTLP_INSECURE: the value is neither true nor false; "
			    "false is used; a gRPC endpoint has no path; /v1/x?y is ignored");
}

struct attributes_case {
	const char *attributes, *service; /* variables; NULL: not set */
	const char *expected; /* "key=value;…" */
	const char *warning; /* how it begins */
};

static void attributes_of_variables_come_after_the_users(void **state)
{
	static const struct attributes_case cases[] = {
		{ NULL, NULL, "a=1;", "" },
		{ "b=2,c= d ", NULL, "a=1;b=2;c=d;", "" },
		{ "a=2,b=3,b=4,", NULL, "a=1;b=3;", "" },
		{ "b=x%2Cy%3dz,%62%2e=%C3%A9", NULL, "a=1;b=x,y=z;b.=\xc3\xa9;", "" },
		{ "service.name=x,b=2", "y z%20", "a=1;service.name=y z%20;b=2;", "" },
		{ "", "", "a=1;", "" },
		{ "b=2,c", NULL, "a=1;",
		  "OTEL_RESOURCE_ATTRIBUTES is ignored: invalid value; "
		  "expected key=" },
		{ "b=2,c=%zz", "s", "a=1;service.name=s;", "OTEL_RESOURCE_ATTRIBUTES is" },
		{ "b=2,c=%ff", NULL, "a=1;", "OTEL_RESOURCE_ATTRIBUTES is ignored" },
		{ "b=2,a=%0a", NULL, "a=1;", "OTEL_RESOURCE_ATTRIBUTES is ignored" },
		{ "b=2,=3", NULL, "a=1;", "OTEL_RESOURCE_ATTRIBUTES is ignored" },
		{ "b=2,c%3Dd=3", NULL, "a=1;", "OTEL_RESOURCE_ATTRIBUTES is ignored" },
		{ "b=2", "\xff", "a=1;b=2;",
		  "OTEL_SERVICE_NAME is ignored: invalid value; "
		  "expected a name" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(1000);

		start_clean(state);
		if (cases[i].attributes)
			setenv("OTEL_RESOURCE_ATTRIBUTES", cases[i].attributes, 1);
		if (cases[i].service)
			setenv("OTEL_SERVICE_NAME", cases[i].service, 1);
		_cleanup_(options_done) struct options o = load_ok(COMMAND_AGENT,
								   "--resource-attribute a=1");

		for (size_t a = 0; a < o.resource_attributes.nr; a++)
			strbuf_appendf(&text, "%s;", o.resource_attributes.items[a]);
		assert_string_equal(strbuf_str(&text), cases[i].expected);
		assert_memory_equal(strbuf_str(&o.warnings), cases[i].warning,
				    strlen(cases[i].warning) + (*cases[i].warning == '\0'));
	}
}

static void record_takes_no_part_in_it(void **state)
{
	(void)state;
	setenv("OTEL_RESOURCE_ATTRIBUTES", "wrong", 1);
	setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "wrong", 1);
	_cleanup_(options_done) struct options o = load_ok(COMMAND_RECORD, "");

	assert_null(o.direct->endpoint);
	assert_int_equal(o.warnings.len, 0);
}

struct refusal {
	const char *words;
	const char *message;
};

static const struct refusal refusals[] = {
	{ "--otlp-endpoint localhost:4318",
	  "--otlp-endpoint: \"localhost:4318\" has no scheme; write http://localhost:4318 "
	  "or grpc://localhost:4318" },
	{ "--otlp-endpoint localhost",
	  "--otlp-endpoint: invalid value \"localhost\"" ENDPOINT_HINT },
	{ "--otlp-endpoint ftp://a", "--otlp-endpoint: invalid value \"ftp://a\"" ENDPOINT_HINT },
	{ "--otlp-endpoint http://", "--otlp-endpoint: invalid value \"http://\"" ENDPOINT_HINT },
	{ "--otlp-endpoint grpc://a", "--otlp-endpoint: invalid value \"grpc://a\"" ENDPOINT_HINT },
	{ "--otlp-endpoint grpc://a:1 --otlp-protocol http/protobuf",
	  "--otlp-endpoint: grpc:// contradicts the otlp-protocol http/protobuf; change one of "
	  "them" },
	{ "--otlp-endpoint http://u:s3cret@a",
	  "--otlp-endpoint: a password in the URL would be logged; use otlp-header-file or "
	  "otlp-token-file" },
	{ "--otlp-endpoint u:s3cret@a:1 --otlp-protocol grpc",
	  "--otlp-endpoint: a password in the URL would be logged; use otlp-header-file or "
	  "otlp-token-file" },
	{ "--exporter pyroscope --otlp-endpoint grpc://a:1",
	  "--otlp-endpoint: the exporter pyroscope uses HTTP; write http:// or https://" },
	{ "--exporter pyroscope --otlp-protocol grpc",
	  "--otlp-protocol: the exporter pyroscope uses HTTP; remove this option" },
	{ "--exporter pyroscope --otlp-original-payload pprof",
	  "--otlp-original-payload: the exporter pyroscope always sends pprof; remove this "
	  "option" },
	{ "--exporter pyroscope --otlp-timestamps",
	  "--otlp-timestamps: the exporter pyroscope cannot send timestamps; remove this option" },
	{ "--exporter zipkin", "--exporter: invalid value \"zipkin\"; expected otlp or pyroscope" },
	{ "--otlp-protocol http/json",
	  "--otlp-protocol: invalid value \"http/json\"; expected http/protobuf or grpc" },
	{ "--otlp-compression zstd",
	  "--otlp-compression: invalid value \"zstd\"; expected gzip or none" },
	{ "--otlp-verify pinned",
	  "--otlp-verify: invalid value \"pinned\"; expected full, ca-only or insecure" },
	{ "--otlp-preset grafana", "--otlp-preset: invalid value \"grafana\"; expected standard or "
				   "pyroscope" },
	{ "--otlp-original-payload yes",
	  "--otlp-original-payload: invalid value \"yes\"; expected none or pprof" },
	{ "--otlp-client-cert /etc/hostname",
	  "--otlp-client-cert: otlp-client-key is missing; set both" },
	{ "--otlp-client-key /etc/hostname",
	  "--otlp-client-key: otlp-client-cert is missing; set both" },
	{ "--otlp-header authorization:s3cret --otlp-token-file /etc/hostname",
	  "--otlp-token-file: otlp-header has an Authorization as well; remove one of them" },
	{ "--otlp-header x-scope-orgid:1 --otlp-tenant 2",
	  "--otlp-tenant: otlp-header has an X-Scope-OrgID as well; remove one of them" },
	{ "--otlp-header-file /nonexistent",
	  "--otlp-header-file: cannot read \"/nonexistent\": No such file or directory" },
	{ "--otlp-tenant=", "--otlp-tenant: invalid value \"\"; expected 1 to 150 printable "
			    "characters without blanks" },
	{ "--sample-attributes thread",
	  "--sample-attributes: invalid value \"thread\"; expected thread.name, thread.id, "
	  "cpu.logical_number, flamelet.cgroup.id, process.pid, container.id or "
	  "flamelet.wait.reason; or all, none or preset" },
	{ "--sample-attributes thread.name,",
	  "--sample-attributes: invalid value \"thread.name,\"; expected thread.name, thread.id, "
	  "cpu.logical_number, flamelet.cgroup.id, process.pid, container.id or "
	  "flamelet.wait.reason; or all, none or preset" },
	{ "--attribute-values-max 0",
	  "--attribute-values-max: invalid value \"0\"; expected a number from 1 to 10000, for "
	  "example 1000" },
	{ "--attribute-values-max 1000001",
	  "--attribute-values-max: invalid value \"1000001\"; expected a number from 1 to 10000, "
	  "for example 1000" },
	{ "--exclude-attribute *x", "--exclude-attribute: invalid value \"*x\"; expected keys of "
				    "attributes, for example process.pid or k8s.pod.label.*" },
	{ "--resource-attribute team",
	  "--resource-attribute: invalid value \"team\"; expected KEY=VALUE" },
	{ "--resource-attribute a=1 --resource-attribute b=1 --resource-attribute a=2",
	  "--resource-attribute: attribute \"a\" is given twice" },
	{ "--otlp-request-max 63K", "--otlp-request-max: invalid value \"63K\"; expected a size "
				    "from 64K to 64M, for example 3584K" },
	{ "--otlp-request-max 65M", "--otlp-request-max: invalid value \"65M\"; expected a size "
				    "from 64K to 64M, for example 3584K" },
	{ "--queue-dir q", "--queue-dir: invalid value \"q\"; expected an absolute path" },
	{ "--queue-max 1K",
	  "--queue-max: invalid value \"1K\"; expected a size of at least 1M, for example 256M or "
	  "1G" },
	{ "--destination /nonexistent",
	  "--destination: cannot read \"/nonexistent\": No such file or directory" },
};

static void contradictions_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < array_len(refusals); i++)
		expect_refused(COMMAND_AGENT, refusals[i].words, refusals[i].message);
}

static void variables_are_refused_by_their_names(void **state)
{
	static const struct {
		const char *name, *value, *message;
	} cases[] = {
		{ "OTEL_EXPORTER_OTLP_PROTOCOL", "http/json",
		  "OTEL_EXPORTER_OTLP_PROTOCOL: invalid value \"http/json\"; expected "
		  "http/protobuf or grpc" },
		{ "OTEL_EXPORTER_OTLP_PROFILES_COMPRESSION", "ZSTD",
		  "OTEL_EXPORTER_OTLP_PROFILES_COMPRESSION: invalid value \"zstd\"; expected gzip "
		  "or none" },
		{ "OTEL_EXPORTER_OTLP_CLIENT_KEY", "/etc/hostname",
		  "OTEL_EXPORTER_OTLP_CLIENT_KEY: otlp-client-cert is missing; set both" },
		{ "OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT", "http://u:s3cret@a",
		  "OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT: a password in the URL would be logged; "
		  "use otlp-header-file or otlp-token-file" },
		{ "OTEL_EXPORTER_OTLP_CERTIFICATE", "/nonexistent",
		  "OTEL_EXPORTER_OTLP_CERTIFICATE: cannot read \"/nonexistent\": No such file or "
		  "directory" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		setenv(cases[i].name, cases[i].value, 1);
		expect_refused(COMMAND_AGENT, "", cases[i].message);
		unsetenv(cases[i].name);
	}
}

int main(void)
{
#define CLEAN_TEST(name) cmocka_unit_test_setup(name, start_clean)
	const struct CMUnitTest tests[] = {
		CLEAN_TEST(there_are_defaults_for_all_but_the_endpoint),
		CLEAN_TEST(everything_can_be_said),
		CLEAN_TEST(attributes_of_samples_add_up),
		CLEAN_TEST(the_exporter_gets_a_url),
		CLEAN_TEST(the_preset_follows_the_exporter),
		CLEAN_TEST(a_scheme_outdoes_a_variable),
		CLEAN_TEST(the_variable_for_profiles_outdoes_the_one_for_all),
		CLEAN_TEST(grpc_has_no_path_of_the_endpoint),
		CLEAN_TEST(attributes_of_variables_come_after_the_users),
		CLEAN_TEST(record_takes_no_part_in_it),
		CLEAN_TEST(contradictions_are_refused),
		CLEAN_TEST(variables_are_refused_by_their_names),
	};

	return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
