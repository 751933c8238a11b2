/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the sources except the command line: the file, the environment and the cluster. */
#include "config/options.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "options_fixture.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void lists_of_the_file_are_lists_of_yaml(void **state)
{
	(void)state;
	write_config("namespace: [a, \"b,c\"]\n"
		     "selector: app in (x, y)\n"
		     "exclude-container:\n  - sidecar\n"
		     "pod-label: [\"app.kubernetes.io/*\"]\n"
		     "kubelet-verify: pinned\n"
		     "listen: unix:/run/flamelet.sock\n");
	_cleanup_(options_done) struct options o = load_ok(COMMAND_AGENT, "-c @");

	assert_int_equal(o.namespaces.nr, 3);
	assert_string_equal(o.selectors.items[0], "app in (x, y)");
	assert_string_equal(o.excluded_containers.items[0], "sidecar");
	assert_string_equal(o.pod_labels.items[0], "app.kubernetes.io/*");
	assert_int_equal(o.kubelet_verify, HTTP_VERIFY_PINNED);
	assert_string_equal(o.listen, "unix:/run/flamelet.sock");
}

static void the_file_uses_the_names_of_the_long_options(void **state)
{
	(void)state;
	write_config("frequency: 49\n"
		     "idle: yes\n"
		     "cpu: [\"0-1\", 3]\n"
		     "otlp-endpoint: http://c:4318\n"
		     "otlp-header:\n"
		     "  - \"X-Scope-OrgID: one\"\n"
		     "  - \"Authorization: Bearer t\"\n"
		     "export-interval: 5s\n");
	_cleanup_(options_done) struct options o = load_ok(COMMAND_AGENT, "-c @");

	assert_int_equal(o.frequency_hz, 49);
	assert_true(o.include_idle);
	assert_int_equal(o.cpus.nr, 3);
	assert_string_equal(o.direct->endpoint, "http://c:4318");
	assert_false(o.direct->endpoint_is_full);
	assert_int_equal(o.direct->headers.nr, 2);
	assert_string_equal(o.direct->headers.items[1], "Authorization: Bearer t");
	assert_int_equal(o.export_interval_ns, 5 * NSEC_PER_SEC);
}

static void kinds_of_the_file_are_the_agents(void **state)
{
	static const char *const texts[] = { "kind: cpu,offcpu\n", "kind: [cpu, offcpu]\n" };
	(void)state;

	for (size_t i = 0; i < array_len(texts); i++) {
		write_config(texts[i]);
		_cleanup_(options_done) struct options agent = load_ok(COMMAND_AGENT, "-c @");
		_cleanup_(options_done) struct options one = load_ok(COMMAND_AGENT,
								     "-c @ --kind offcpu");
		_cleanup_(options_done) struct options record = load_ok(COMMAND_RECORD, "-c @");

		assert_int_equal(agent.kinds, 1 << OPTION_KIND_CPU | 1 << OPTION_KIND_OFF_CPU);
		assert_int_equal(one.kinds, 1 << OPTION_KIND_OFF_CPU);
		assert_int_equal(record.kinds, 1 << OPTION_KIND_CPU);
	}
}

static void debuginfod_urls_are_one_text(void **state)
{
	(void)state;
	write_config("debuginfod-urls: http://a:8002  HTTPS://b/c\n"
		     "debuginfod-cache-max: 64M\n"
		     "demangle: full\n"
		     "inlines: off\n");
	_cleanup_(options_done) struct options o = load_ok(COMMAND_RECORD, "-c @");

	assert_string_equal(o.debuginfod_urls, "http://a:8002  HTTPS://b/c");
	assert_int_equal(o.debuginfod_cache_max, 64 << 20);
	assert_int_equal(o.demangle, OPTION_DEMANGLE_FULL);
	assert_false(o.inlines);
}

static void no_server_is_asked_because_of_a_variable(void **state)
{
	(void)state;
	setenv("DEBUGINFOD_URLS", "https://debuginfod.example.org", 1);
	_cleanup_(options_done) struct options o = load_ok(COMMAND_AGENT, "");
	unsetenv("DEBUGINFOD_URLS");

	assert_null(o.debuginfod_urls);
}

static void the_agents_file_serves_other_commands_too(void **state)
{
	(void)state;
	write_config("frequency: 49\nexport-interval: 5s\nnode-name: n1\n"
		     "listen: unix:/run/f.sock\nmetrics-listen: \"*:9091\"\n"
		     "destination: [/nowhere]\n");
	_cleanup_(options_done) struct options health = load_ok(COMMAND_HEALTH, "--ready -c @");
	write_config("frequency: 49\nexport-interval: 5s\nnode-name: n1\n");
	_cleanup_(options_done) struct options doctor = load_ok(COMMAND_DOCTOR, "-c @");
	_cleanup_(options_done) struct options record = load_ok(COMMAND_RECORD, "-c @");
	write_config("node-name: n1\nstore: /var/lib/elsewhere\n"); /* `top` reads a store */
	_cleanup_(options_done) struct options top = load_ok(COMMAND_TOP, "-c @");

	assert_string_equal(top.node_name, "n1");
	assert_string_equal(top.stores.items[0], "/var/lib/flamelet/record");
	assert_string_equal(doctor.node_name, "n1");
	assert_int_equal(record.frequency_hz, 49);
	assert_string_equal(health.listen, "unix:/run/f.sock");
	assert_int_equal(health.health_timeout_ns, 3 * NSEC_PER_SEC);
	assert_true(health.asks_ready);
}

struct file_refusal {
	const char *text;
	const char *message; /* behind the file's name */
};

static void a_bad_file_is_answered_with_line_and_remedy(void **state)
{
	static const struct file_refusal cases[] = {
		{ "frequency: 49\nexport-interval: soon\n",
		  ":2: export-interval: invalid value \"soon\"; expected a time longer than 0, for "
		  "example 500ms, 10s or 2m" },
		{ "otlp-endpont: http://x\n",
		  ":1: otlp-endpont is not an option; did you mean otlp-endpoint?" },
		{ "jsn: 1\n", ":1: jsn is not an option" },
		{ "duration: 3s\n", ":1: duration is not an option of the configuration file; "
				    "remove the line" },
		{ "config: other.yaml\n", ":1: config is not an option of the configuration file; "
					  "remove the line" },
		{ "frequency: [19, 99]\n", ":1: frequency: takes one value, not a list" },
		{ "idle: perhaps\n",
		  ":1: idle: invalid value \"perhaps\"; expected true or false" },
		{ "otlp-header: [s3cret]\n",
		  ":1: otlp-header: invalid value; expected an HTTP header like \"Name: value\"" },
		{ "otlp-header: \"A: b\\r\\nC: d\"\n",
		  ":1: otlp-header: invalid value; expected an HTTP header like \"Name: value\"" },
		{ "otlp:\n  endpoint: x\n", ":2: a value must be text or a list of texts, not a "
					    "map; quote it if it contains \": \"" },
		{ "frequency: 19\nfrequency: 20\n",
		  ":2: \"frequency\" is already set in line 1; remove one of them" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		char expected[512];

		write_config(cases[i].text);
		snprintf(expected, sizeof(expected), "%s%s", config_path, cases[i].message);
		expect_refused(COMMAND_AGENT, "-c @", expected);
	}
}

static void the_command_line_beats_the_file_beats_the_environment(void **state)
{
	(void)state;
	write_config("otlp-endpoint: http://file\notlp-timeout: 7s\n"
		     "otlp-header: [\"A: file\", \"B: file\"]\n");
	setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://env", 1);
	setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "3000", 1);
	setenv("OTEL_EXPORTER_OTLP_HEADERS", "c=env", 1);
	setenv("NODE_NAME", "env", 1);
	_cleanup_(options_done) struct options o = load_ok(COMMAND_AGENT,
							   "--otlp-endpoint http://line -c @");

	assert_string_equal(o.direct->endpoint, "http://line");
	assert_int_equal(o.direct->timeout_ns, 7 * NSEC_PER_SEC);
	assert_int_equal(o.direct->headers.nr, 2);
	assert_string_equal(o.direct->headers.items[0], "A: file");
	assert_string_equal(o.node_name, "env");
}

static void opentelemetry_variables_are_honoured(void **state)
{
	(void)state;
	setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://base:4318", 1);
	setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-a=1, x-b = t%20u%2Cv ,,", 1);
	setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "2500", 1);
	setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", "/etc/hostname", 1);
	_cleanup_(options_done) struct options base = load_ok(COMMAND_AGENT, "");

	assert_string_equal(base.direct->endpoint, "http://base:4318");
	assert_false(base.direct->endpoint_is_full);
	assert_int_equal(base.direct->headers.nr, 2);
	assert_string_equal(base.direct->headers.items[0], "x-a: 1");
	assert_string_equal(base.direct->headers.items[1], "x-b: t u,v");
	assert_int_equal(base.direct->timeout_ns, 2500 * NSEC_PER_MSEC);
	assert_string_equal(base.direct->ca_file, "/etc/hostname");

	setenv("OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT", "http://full/p", 1);
	setenv("OTEL_EXPORTER_OTLP_PROFILES_HEADERS", "x-c=3", 1);
	_cleanup_(options_done) struct options full = load_ok(COMMAND_AGENT, "");
	assert_string_equal(full.direct->endpoint, "http://full/p");
	assert_true(full.direct->endpoint_is_full);
	assert_int_equal(full.direct->headers.nr, 1);
	assert_string_equal(full.direct->headers.items[0], "x-c: 3");

	setenv("OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT", "", 1);
	_cleanup_(options_done) struct options empty = load_ok(COMMAND_AGENT, "");
	assert_string_equal(empty.direct->endpoint, "http://base:4318");
}

struct env_refusal {
	const char *name;
	const char *value;
	const char *message;
};

static void a_bad_variable_is_named_but_its_secrets_are_not(void **state)
{
	static const struct env_refusal cases[] = {
		{ "OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4317",
		  "OTEL_EXPORTER_OTLP_ENDPOINT: \"collector:4317\" has no scheme; "
		  "write http://collector:4317 or grpc://collector:4317" },
		{ "OTEL_EXPORTER_OTLP_TIMEOUT", "10s",
		  "OTEL_EXPORTER_OTLP_TIMEOUT: invalid value; expected a number of milliseconds" },
		{ "OTEL_EXPORTER_OTLP_TIMEOUT", "0",
		  "OTEL_EXPORTER_OTLP_TIMEOUT: invalid value \"0ms\"; expected a time longer than "
		  "0, for example 500ms, 10s or 2m" },
		{ "OTEL_EXPORTER_OTLP_HEADERS", "s3cret",
		  "OTEL_EXPORTER_OTLP_HEADERS: invalid value; expected name=value pairs, separated "
		  "by commas" },
		{ "OTEL_EXPORTER_OTLP_HEADERS", "a=%zz",
		  "OTEL_EXPORTER_OTLP_HEADERS: invalid value; expected name=value pairs, separated "
		  "by commas" },
		{ "OTEL_EXPORTER_OTLP_HEADERS", "a=%2",
		  "OTEL_EXPORTER_OTLP_HEADERS: invalid value; expected name=value pairs, separated "
		  "by commas" },
		{ "OTEL_EXPORTER_OTLP_HEADERS", "a=%00",
		  "OTEL_EXPORTER_OTLP_HEADERS: invalid value; expected name=value pairs, separated "
		  "by commas" },
		{ "OTEL_EXPORTER_OTLP_HEADERS", "a=b%0d%0ac: d",
		  "OTEL_EXPORTER_OTLP_HEADERS: invalid value; expected an HTTP header like \"Name: "
		  "value\"" },
		{ "OTEL_EXPORTER_OTLP_HEADERS", "=s3cret",
		  "OTEL_EXPORTER_OTLP_HEADERS: invalid value; expected an HTTP header like \"Name: "
		  "value\"" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		setenv(cases[i].name, cases[i].value, 1);
		expect_refused(COMMAND_AGENT, "", cases[i].message);
		unsetenv(cases[i].name);
	}
}

static void in_a_pod_the_kubelet_is_at_the_hosts_address(void **state)
{
	char token[64];
	(void)state;

	snprintf(token, sizeof(token), "%s/token", temp_dir);
	assert_int_equal(file_write_atomic(token, "t", 1), 0);
	setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1", 1);
	setenv("NODE_IP", "10.0.0.7", 1);
	_cleanup_(options_done) struct options v4 = load_ok(COMMAND_AGENT, "");
	assert_string_equal(v4.kubelet_url, "https://10.0.0.7:10250");
	assert_string_equal(v4.kubelet_token_file, token);
	assert_null(v4.kubelet_ca_file);

	setenv("HOST_IP", "fd00::7", 1);
	_cleanup_(options_done) struct options v6 = load_ok(COMMAND_RECORD, "");
	assert_string_equal(v6.kubelet_url, "https://[fd00::7]:10250");

	_cleanup_(options_done) struct options given = load_ok(
		COMMAND_AGENT, "--kubelet-url http://127.0.0.1:10255");
	assert_string_equal(given.kubelet_url, "http://127.0.0.1:10255");
	unlink(token);
}

static void outside_a_cluster_there_is_no_kubelet(void **state)
{
	(void)state;
	setenv("HOST_IP", "10.0.0.7", 1);
	_cleanup_(options_done) struct options o = load_ok(COMMAND_AGENT, "");

	assert_null(o.kubelet_url);
}

int main(void)
{
#define CLEAN_TEST(name) cmocka_unit_test_setup(name, start_clean)
	const struct CMUnitTest tests[] = {
		CLEAN_TEST(lists_of_the_file_are_lists_of_yaml),
		CLEAN_TEST(the_file_uses_the_names_of_the_long_options),
		CLEAN_TEST(kinds_of_the_file_are_the_agents),
		CLEAN_TEST(debuginfod_urls_are_one_text),
		CLEAN_TEST(no_server_is_asked_because_of_a_variable),
		CLEAN_TEST(the_agents_file_serves_other_commands_too),
		CLEAN_TEST(a_bad_file_is_answered_with_line_and_remedy),
		CLEAN_TEST(the_command_line_beats_the_file_beats_the_environment),
		CLEAN_TEST(opentelemetry_variables_are_honoured),
		CLEAN_TEST(a_bad_variable_is_named_but_its_secrets_are_not),
		CLEAN_TEST(in_a_pod_the_kubelet_is_at_the_hosts_address),
		CLEAN_TEST(outside_a_cluster_there_is_no_kubelet),
	};

	return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
