/* SPDX-License-Identifier: Apache-2.0 */
/* The doctor's findings about where profiles go and wait. */
#include "agent/queue_dirs.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "doctor/doctor.h"
#include "remove_tree.h"
#include "tests/standin/standin.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_BYTES 512

static char temp_dir[] = "/tmp/flamelet-doctor-XXXXXX";
static char url[PATH_BYTES];
static struct destination destination; /* the only one, once set_endpoint() was called */
static struct options options;
static const struct doctor_host host = { .proc_dir = "/proc",
					 .sys_dir = "/sys",
					 .options = &options };

static int make_temp_dir(void **state)
{
	(void)state;
	unsetenv("http_proxy"); /* a proxy would answer for a name that does not exist */
	return mkdtemp(temp_dir) ? 0 : -1;
}

static int remove_temp_dir(void **state)
{
	(void)state;
	remove_tree(temp_dir);
	return 0;
}

static int start_empty(void **state)
{
	(void)state;
	destination = (struct destination){ .timeout_ns = 5 * NSEC_PER_SEC };
	options = (struct options){ .destinations = &destination };
	return 0;
}

/* Makes the destination the only one. */
static void set_endpoint(char *endpoint)
{
	destination.endpoint = endpoint;
	options.nr_destinations = 1;
}

typedef void (*check_fn)(const struct doctor_host *host, struct doctor_report *report);

/* Compares the finding of that name, which must contain `detail` and `remedy`. */
static void expect_finding(check_fn check, enum finding_level level, const char *name,
			   const char *detail, const char *remedy)
{
	_cleanup_(doctor_report_done) struct doctor_report report = { 0 };
	size_t i = 0;

	check(&host, &report);
	assert_int_equal(report.error, 0);
	while (i < report.nr_findings && strcmp(report.findings[i].name, name) != 0)
		i++;
	assert_true(i < report.nr_findings);
	assert_int_equal(report.findings[i].level, level);
	assert_non_null(strstr(report.findings[i].detail, detail));
	assert_non_null(strstr(report.findings[i].remedy, remedy));
	assert_true(level != FINDING_OK || report.findings[i].remedy[0] == '\0');
}

static void expect_endpoint(enum finding_level level, const char *detail, const char *remedy)
{
	expect_finding(check_endpoints, level, "endpoint", detail, remedy);
}

static void what_is_not_configured_is_fine(void **state)
{
	(void)state;
	expect_endpoint(FINDING_OK, "not configured", "");
	expect_finding(check_queue, FINDING_OK, "queue", "in memory", "");
}

static void an_endpoint_is_there_when_it_answers_anything_but_404(void **state)
{
	static const struct {
		const char *path;
		enum finding_level level;
		const char *detail;
		const char *remedy;
	} cases[] = {
		{ "/status/200", FINDING_OK, "(200)", "" },
		{ "/status/400", FINDING_OK, "(400)", "" },
		{ "/status/500", FINDING_OK, "(500)", "" },
		{ "/status/503", FINDING_WARN, "is busy", "--queue-dir" },
		{ "/status/429", FINDING_WARN, "is busy", "--queue-dir" },
		{ "/redirect", FINDING_FAIL, "302, a redirect", "not followed" },
		{ "/status/404", FINDING_FAIL, "answers 404", "service.profilesSupport" },
		{ "/status/401", FINDING_FAIL, "answers 401", "otlp-token-file" },
		{ "/status/403", FINDING_FAIL, "answers 403", "otlp-header" },
		{ "/otlp/ok/v1development/profiles", FINDING_OK, "(200)", "" },
		{ "/hang-up", FINDING_FAIL, "/hang-up", "usually 4318" },
	};
	struct standin server;
	(void)state;

	if (standin_start(&server) < 0)
		skip(); /* no Python */
	set_endpoint(url);
	destination.endpoint_is_full = true;
	for (size_t i = 0; i < array_len(cases); i++) {
		snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", server.port, cases[i].path);
		expect_endpoint(cases[i].level, cases[i].detail, cases[i].remedy);
	}
	standin_stop(&server);
	expect_endpoint(FINDING_FAIL, url, "is running");
}

static void the_kinds_of_destinations_are_told_apart(void **state)
{
	struct standin server;
	(void)state;

	if (standin_start(&server) < 0)
		skip(); /* no Python */
	snprintf(url, sizeof(url), "http://127.0.0.1:%u/", server.port);
	set_endpoint(url);
	expect_endpoint(FINDING_FAIL, "/v1development/profiles answers 404", "profilesSupport");
	destination.exporter = OPTION_EXPORTER_PYROSCOPE;
	expect_endpoint(FINDING_FAIL, "/push.v1.PusherService/Push answers 404", "Pyroscope");
	destination.exporter = OPTION_EXPORTER_OTLP;
	destination.protocol = OPTION_PROTOCOL_GRPC;
	expect_endpoint(FINDING_FAIL, "HTTP/2", "its gRPC port, usually 4317");
	standin_stop(&server);
	expect_endpoint(FINDING_FAIL, url, "usually 4317");
	destination.exporter = OPTION_EXPORTER_PYROSCOPE;
	expect_endpoint(FINDING_FAIL, url, "usually 4040");
}

static void a_grpc_server_is_asked_in_its_own_language(void **state)
{
	static const struct {
		const char *told; /* tests/standin/told_answer.py */
		enum finding_level level;
		const char *detail, *remedy;
	} cases[] = {
		{ "X-Answer: 0", FINDING_OK,
		  "ProfilesService/Export responds to an empty request (gRPC status 0)", "" },
		{ "X-Answer: 3?echo=body-bytes", FINDING_OK, "(gRPC status 3)", "" },
		{ "X-Answer: 14", FINDING_OK, "(gRPC status 14)", "" },
		{ "X-Answer: 12", FINDING_FAIL, "does not accept profiles",
		  "service.profilesSupport" },
		{ "X-Answer: 7", FINDING_FAIL, "answers gRPC status 7", "otlp-header" },
		{ "X-Answer: 16", FINDING_FAIL, "answers gRPC status 16", "otlp-token-file" },
	};
	struct standin server;
	(void)state;

	if (standin_start_grpc(&server) < 0)
		skip(); /* no Python's grpc */
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", server.port);
	set_endpoint(url);
	destination.protocol = OPTION_PROTOCOL_GRPC;
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(string_list_done) struct string_list headers = { 0 };

		assert_int_equal(string_list_add(&headers, cases[i].told), 0);
		destination.headers = headers;
		expect_endpoint(cases[i].level, cases[i].detail, cases[i].remedy);
	}
	destination.headers = (struct string_list){ 0 };
	destination.protocol = OPTION_PROTOCOL_HTTP;
	expect_endpoint(FINDING_FAIL, url, "usually 4318");
	destination.protocol = OPTION_PROTOCOL_GRPC;
	standin_stop(&server);
	expect_endpoint(FINDING_FAIL, url, "is running");
}

static void a_grpc_server_wants_our_certificate(void **state)
{
	struct standin server;
	(void)state;

	if (standin_start_grpc(&server) < 0)
		skip(); /* no Python's grpc */
	snprintf(url, sizeof(url), "https://localhost:%u", server.mtls_port);
	set_endpoint(url);
	destination.protocol = OPTION_PROTOCOL_GRPC;
	expect_endpoint(FINDING_FAIL, "certificate", "--otlp-ca-file");
	destination.ca_file = server.ca_file;
	expect_endpoint(FINDING_FAIL, url, "--otlp-client-cert");
	destination.client_cert_file = server.ca_file;
	destination.client_key_file = server.key_file;
	expect_endpoint(FINDING_OK, "(gRPC status 0)", "");
	standin_stop(&server);
}

static void a_certificate_is_verified_as_the_options_say(void **state)
{
	struct standin server;
	(void)state;

	if (standin_start(&server) < 0)
		skip(); /* no Python */
	if (server.tls_port == 0) {
		standin_stop(&server);
		skip(); /* no openssl */
	}
	snprintf(url, sizeof(url), "https://localhost:%u/status/200", server.tls_port);
	set_endpoint(url);
	destination.endpoint_is_full = true;
	expect_endpoint(FINDING_FAIL, "certificate", "--otlp-ca-file");
	destination.ca_file = server.ca_file;
	expect_endpoint(FINDING_OK, "(200)", "");
	destination.ca_file = NULL;
	destination.verify = HTTP_VERIFY_NONE;
	expect_endpoint(FINDING_OK, "(200)", "");
	snprintf(url, sizeof(url), "https://localhost:%u", server.tls_port);
	destination.protocol = OPTION_PROTOCOL_GRPC;
	expect_endpoint(FINDING_FAIL, "does not speak HTTP/2", "its gRPC port, usually 4317");
	standin_stop(&server);
}

static void a_token_is_one_word(void **state)
{
	static const char *const wrong[] = { "", "\n", " \t\r\n", "one two", "a\nb\n" };
	char path[PATH_BYTES];
	(void)state;

	snprintf(path, sizeof(path), "%s/token", temp_dir);
	set_endpoint((char[]){ "http://127.0.0.1:1" });
	destination.token_file = path;
	expect_finding(check_endpoints, FINDING_FAIL, "token", "No such file", "--otlp-token-file");
	for (size_t i = 0; i < array_len(wrong); i++) {
		assert_int_equal(file_write_atomic(path, wrong[i], strlen(wrong[i])), 0);
		expect_finding(check_endpoints, FINDING_FAIL, "token", "exactly one token",
			       "--otlp-token-file");
	}
	assert_int_equal(file_write_atomic(path, " s3cret\r\n", 9), 0);
	assert_int_equal(chmod(path, 0644), 0);
	expect_finding(check_endpoints, FINDING_WARN, "token", "can be read by every user", "0400");
	assert_int_equal(chmod(path, 0440), 0);

	_cleanup_(doctor_report_done) struct doctor_report report = { 0 };
	check_endpoints(&host, &report);
	assert_int_equal(report.nr_findings, 1);
	assert_string_equal(report.findings[0].name, "endpoint");
	assert_null(strstr(report.findings[0].detail, "s3cret"));
}

static void a_header_file_is_counted_not_shown(void **state)
{
	static const struct {
		const char *text, *token_file, *tenant;
		mode_t mode;
		enum finding_level level;
		const char *detail, *remedy;
	} cases[] = {
		{ "# x\nx: s3cret\ny: z\n", NULL, NULL, 0400, FINDING_OK, "headers: 2", "" },
		{ "Authorization: s3cret", NULL, "blue", 0440, FINDING_OK, "headers: 1", "" },
		{ "x: s3cret\ns3cret\n", NULL, NULL, 0400, FINDING_FAIL, ":2: this header",
		  "file" },
		{ "", NULL, NULL, 0400, FINDING_FAIL, "the file has no header",
		  "--otlp-header-file" },
		{ "x: s3cret", NULL, NULL, 0444, FINDING_WARN, "read by every user", "0400" },
		{ "x: s3cret", NULL, NULL, 0660, FINDING_WARN, "changed by other users", "0400" },
		{ "authorization: s3cret", "/dev/null", NULL, 0400, FINDING_FAIL,
		  "its Authorization is what otlp-token-file is for", "--otlp-header-file" },
		{ "x-scope-orgid: s3cret", NULL, "blue", 0400, FINDING_FAIL,
		  "its X-Scope-OrgID is what otlp-tenant is for", "--otlp-header-file" },
	};
	char path[PATH_BYTES];
	(void)state;

	snprintf(path, sizeof(path), "%s/headers", temp_dir);
	set_endpoint((char[]){ "http://127.0.0.1:1" });
	destination.header_file = path;
	expect_finding(check_endpoints, FINDING_FAIL, "headers", "No such file",
		       "--otlp-header-file");
	for (size_t i = 0; i < array_len(cases); i++) {
		_cleanup_(doctor_report_done) struct doctor_report report = { 0 };
		_cleanup_(strbuf_done) struct strbuf out = strbuf_with_max(4096);

		assert_int_equal(file_write_atomic(path, cases[i].text, strlen(cases[i].text)), 0);
		assert_int_equal(chmod(path, cases[i].mode), 0);
		destination.token_file = (char *)cases[i].token_file;
		destination.tenant = (char *)cases[i].tenant;
		expect_finding(check_endpoints, cases[i].level, "headers", cases[i].detail,
			       cases[i].remedy);
		check_endpoints(&host, &report);
		doctor_report_append_json(&report, &out);
		assert_null(strstr(strbuf_str(&out), "s3cret"));
	}
}

static void a_header_file_is_shown_to_the_receiver(void **state)
{
	char path[PATH_BYTES];
	struct standin server;
	(void)state;

	if (standin_start(&server) < 0)
		skip(); /* no Python */
	snprintf(path, sizeof(path), "%s/answer", temp_dir);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", server.port);
	assert_int_equal(file_write_atomic(path, "X-Answer: 401\n", 14), 0);
	set_endpoint(url);
	destination.header_file = path;
	expect_endpoint(FINDING_FAIL, "answers 401", "otlp-header-file");
	standin_stop(&server);
}

static void each_destination_is_looked_at(void **state)
{
	struct destination destinations[] = {
		{ .endpoint = (char[]){ "http://localhost.invalid:1" },
		  .timeout_ns = NSEC_PER_SEC },
		{ .endpoint = (char[]){ "http://127.0.0.1:1" }, .timeout_ns = NSEC_PER_SEC },
		{ .endpoint = (char[]){ "nonsense" }, .timeout_ns = NSEC_PER_SEC },
	};
	_cleanup_(doctor_report_done) struct doctor_report report = { 0 };
	(void)state;

	options.destinations = destinations;
	options.nr_destinations = array_len(destinations);
	check_endpoints(&host, &report);
	assert_int_equal(report.nr_findings, 3);
	assert_non_null(strstr(report.findings[0].remedy, "check the host name"));
	assert_non_null(strstr(report.findings[1].remedy, "is running"));
	assert_non_null(strstr(report.findings[2].detail, "URL is invalid"));
}

static void a_queue_needs_a_directory_with_room(void **state)
{
	static const struct {
		const char *path; /* behind temp_dir, unless it begins with "/" */
		uint64_t max;
		enum finding_level level;
		const char *detail, *remedy;
	} cases[] = {
		{ "", 1, FINDING_OK, "is writable", "" },
		{ "new", 1, FINDING_OK, "is writable", "" },
		{ "", UINT64_MAX, FINDING_WARN, "MB free", "--queue-max" },
		{ "no/such", 1, FINDING_OK, "is writable", "" },
		{ "file/q", 1, FINDING_FAIL, "Not a directory", "--queue-dir" },
		{ "/proc/sys/queue", 1, FINDING_FAIL, "/proc/sys/queue: ", "--queue-dir" },
		{ "/dev/shm", 1, FINDING_OK, "is writable", "" },
		{ "open", 1, FINDING_FAIL, "/open (mode 0777)", "--queue-dir" },
		{ "open/q", 1, FINDING_FAIL, "/open (mode 0777)", "--queue-dir" },
		{ "link", 1, FINDING_FAIL, "/link is a symbolic link", "--queue-dir" },
	};
	char path[PATH_BYTES];
	(void)state;

	snprintf(path, sizeof(path), "%s/file", temp_dir);
	assert_int_equal(file_write_atomic(path, "", 0), 0);
	snprintf(path, sizeof(path), "%s/link", temp_dir);
	assert_int_equal(symlink(temp_dir, path), 0);
	snprintf(path, sizeof(path), "%s/open", temp_dir);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(chmod(path, 0777), 0);
	for (size_t i = 0; i < array_len(cases); i++) {
		const char *name = cases[i].path;

		snprintf(path, sizeof(path), "%s%s%s", *name == '/' ? "" : temp_dir,
			 *name == '/' ? "" : "/", name);
		options.queue_dir = path;
		options.queue_max = cases[i].max;
		expect_finding(check_queue, cases[i].level, "queue", cases[i].detail,
			       cases[i].remedy);
	}
}

static void a_cache_is_the_agents_alone(void **state)
{
	char path[PATH_BYTES];
	(void)state;

	expect_finding(check_caches, FINDING_OK, "cache", "none in use", "");
	snprintf(path, sizeof(path), "%s/cache", temp_dir);
	options.unwind_cache_dir = path;
	expect_finding(check_caches, FINDING_OK, "cache", "is writable", "");
	assert_int_equal(mkdir(path, 0700), 0);
	expect_finding(check_caches, FINDING_OK, "cache", "is writable", "");
	assert_int_equal(chmod(path, 0777), 0);
	expect_finding(check_caches, FINDING_WARN, "cache", "other users may write to",
		       "--unwind-cache");
	options.unwind_cache_dir = NULL;
	options.debuginfod_urls = path;
	options.debuginfod_cache_dir = (char[]){ "/proc/sys/cache" };
	expect_finding(check_caches, FINDING_WARN, "cache",
		       "/proc/sys/cache: ", "--debuginfod-cache");
}

/* Plants the directory's name that the agent would use. */
static void a_queue_that_was_planted_is_told(void **state)
{
	char path[PATH_BYTES];
	struct queue_dirs dirs = { .nr = 0 };
	(void)state;

	set_endpoint((char[]){ "http://127.0.0.1:1" });
	options.queue_dir = temp_dir;
	options.queue_max = 1;
	assert_int_equal(queue_dirs_add_all(&dirs, &options), 0);
	snprintf(path, sizeof(path), "%s/%s", temp_dir, dirs.names[0]);
	assert_int_equal(symlink("/", path), 0);
	expect_finding(check_queue, FINDING_FAIL, "queue", "is a symbolic link", "--queue-dir");
	assert_int_equal(unlink(path), 0);
	expect_finding(check_queue, FINDING_OK, "queue", "is writable", "");
}

int main(void)
{
#define EMPTY_TEST(name) cmocka_unit_test_setup(name, start_empty)
	const struct CMUnitTest tests[] = {
		EMPTY_TEST(what_is_not_configured_is_fine),
		EMPTY_TEST(an_endpoint_is_there_when_it_answers_anything_but_404),
		EMPTY_TEST(the_kinds_of_destinations_are_told_apart),
		EMPTY_TEST(a_grpc_server_is_asked_in_its_own_language),
		EMPTY_TEST(a_grpc_server_wants_our_certificate),
		EMPTY_TEST(a_certificate_is_verified_as_the_options_say),
		EMPTY_TEST(a_token_is_one_word),
		EMPTY_TEST(a_header_file_is_counted_not_shown),
		EMPTY_TEST(a_header_file_is_shown_to_the_receiver),
		EMPTY_TEST(each_destination_is_looked_at),
		EMPTY_TEST(a_queue_needs_a_directory_with_room),
		EMPTY_TEST(a_queue_that_was_planted_is_told),
		EMPTY_TEST(a_cache_is_the_agents_alone),
	};

	return cmocka_run_group_tests(tests, make_temp_dir, remove_temp_dir);
}
