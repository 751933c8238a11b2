/* SPDX-License-Identifier: Apache-2.0 */
/* The doctor's look at where profiles go. An endpoint is asked for nothing: the request that it gets
 * is empty. What it answers tells whether it is there, takes profiles and knows us. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/http_client.h"
#include "cli/doctor.h"
#include "config/option_list.h"
#include "otlp/transport_url.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define CONNECT_TIMEOUT_NS (5 * NSEC_PER_SEC)
#define URL_MAX_BYTES 4096
#define TOKEN_MAX_BYTES 16384
#define BODY_MAX_BYTES 65536
#define REMEDY_MAX_BYTES 256

/* What kinds of receivers differ in. */
struct receiver {
	const char *path; /* behind the endpoint; NULL: see transport_url() */
	const char *content_type;
	const char *port; /* where it usually listens */
	const char *not_found; /* what to do when it answers 404 */
};

static const struct receiver otlp_http = {
	NULL, "Content-Type: application/x-protobuf", "the port for OTLP over HTTP, usually 4318",
	"enable profiles there (OpenTelemetry Collector: "
	"--feature-gates=service.profilesSupport), or correct the URL"
};
static const struct receiver otlp_grpc = { "/", "Content-Type: application/grpc",
					   "the port for OTLP over gRPC, usually 4317",
					   "see that it is a gRPC server" };
static const struct receiver pyroscope = { "/push.v1.PusherService/Push",
					   "Content-Type: application/proto",
					   "Pyroscope's, usually 4040",
					   "see that it is Pyroscope, and correct the URL" };

static const struct receiver *receiver_of(const struct export_options *export)
{
	if (export->exporter == OPTION_EXPORTER_PYROSCOPE)
		return &pyroscope;
	return export->protocol == OPTION_PROTOCOL_GRPC ? &otlp_grpc : &otlp_http;
}

static int append_url(const struct export_options *export, struct strbuf *url)
{
	const char *path = receiver_of(export)->path;
	size_t len = strlen(export->endpoint);

	if (!path)
		return transport_url(TRANSPORT_OTLP_HTTP, export->endpoint,
				     export->endpoint_is_full, url);
	while (len > 0 && export->endpoint[len - 1] == '/')
		len--;
	strbuf_append(url, export->endpoint, len);
	strbuf_append_str(url, path);
	return strbuf_error(url);
}

static int add_header(struct string_list *headers, const char *name, const char *value, size_t len)
{
	_cleanup_(strbuf_done) struct strbuf header = strbuf_with_max(TOKEN_MAX_BYTES + 64);

	strbuf_appendf(&header, "%s%.*s", name, (int)len, value);
	int r = strbuf_error(&header);
	return r < 0 ? r : string_list_add(headers, strbuf_str(&header));
}

/* Line ends do not belong to a token. Errors: -EBADMSG when there is none. */
static int add_token(struct string_list *headers, const char *path)
{
	_cleanup_(strbuf_done) struct strbuf token = strbuf_with_max(TOKEN_MAX_BYTES);

	int r = file_read_at(AT_FDCWD, path, &token);
	if (r < 0)
		return r;

	const char *text = strbuf_str(&token);
	text += strspn(text, " \t\r\n");
	size_t len = strcspn(text, " \t\r\n");
	if (len == 0 || text[len + strspn(text + len, " \t\r\n")] != '\0')
		return -EBADMSG;
	return add_header(headers, "Authorization: Bearer ", text, len);
}

/* Those of a real request. */
static int make_headers(const struct export_options *export, struct string_list *headers)
{
	int r = string_list_add(headers, receiver_of(export)->content_type);

	for (size_t i = 0; r == 0 && i < export->headers.nr; i++)
		r = string_list_add(headers, export->headers.items[i]);
	if (r == 0 && export->tenant)
		r = add_header(headers, "X-Scope-OrgID: ", export->tenant, strlen(export->tenant));
	return r;
}

static void add_failure(const char *url, const char *remedy, const char *reason,
			struct doctor_report *report)
{
	doctor_report_add(report, FINDING_FAIL, "endpoint", remedy, "%s: %s", url, reason);
}

static void add_silence(const struct export_options *export, int error, const char *reason,
			struct doctor_report *report)
{
	char remedy[REMEDY_MAX_BYTES];

	if (error == -EKEYREJECTED)
		snprintf(remedy, sizeof(remedy),
			 "name its CA with --otlp-ca-file; see --otlp-verify");
	else if (error == -EHOSTUNREACH || error == -ETIMEDOUT)
		snprintf(remedy, sizeof(remedy),
			 "see that the name is right and that network policies let us through");
	else
		snprintf(remedy, sizeof(remedy), "see that it runs, and that the port is %s",
			 receiver_of(export)->port);
	add_failure(export->endpoint, remedy, reason, report);
}

static void add_answer(const struct export_options *export, const char *url,
		       const struct http_response *response, struct doctor_report *report)
{
	const struct receiver *receiver = receiver_of(export);
	unsigned int status = response->status;

	if (receiver == &otlp_grpc && response->version < 2)
		add_failure(url, "name its gRPC port, usually 4317, or write http:// for HTTP",
			    "speaks HTTP/1, which is not gRPC", report);
	else if (status == 404)
		doctor_report_add(report, FINDING_FAIL, "endpoint", receiver->not_found,
				  "%s answers 404: it takes no profiles", url);
	else if (status == 401 || status == 403)
		doctor_report_add(report, FINDING_FAIL, "endpoint",
				  "give it the right credentials with otlp-header, "
				  "otlp-token-file or otlp-client-cert",
				  "%s answers %u: it does not know us", url, status);
	else
		doctor_report_add(report, FINDING_OK, "endpoint", NULL, "%s answers (%u)", url,
				  status);
}

/* A gRPC server without TLS hangs up on a request that is not HTTP/2 from its first byte on: it is there. */
static bool is_grpc_server(const struct export_options *export, int error)
{
	return error == -EPROTO && receiver_of(export) == &otlp_grpc &&
	       strncmp(export->endpoint, "http:", strlen("http:")) == 0;
}

static void ask(const struct export_options *export, const struct string_list *headers,
		const char *url, struct doctor_report *report)
{
	_cleanup_(http_client_freep) struct http_client *client = NULL;
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	const struct http_client_opts opts = {
		.ca_file = export->ca_file,
		.verify = export->verify,
		.use_proxy_env = true,
		.connect_timeout_ns = CONNECT_TIMEOUT_NS,
		.total_timeout_ns = export->timeout_ns,
	};
	const struct http_request request = {
		.url = url,
		.headers = (const char *const *)headers->items,
		.nr_headers = headers->nr,
		.body = "",
	};
	struct http_response response;

	int r = http_client_new(&opts, &client);
	if (r < 0) {
		add_failure(url, "", strerror(-r), report);
		return;
	}
	r = http_perform(client, &request, &body, &response);
	if (r == 0)
		add_answer(export, url, &response, report);
	else if (is_grpc_server(export, r))
		doctor_report_add(report, FINDING_OK, "endpoint", NULL, "%s takes connections",
				  export->endpoint);
	else
		add_silence(export, r, http_client_error(client), report);
}

static void check_endpoint(const struct export_options *export, struct doctor_report *report)
{
	_cleanup_(string_list_done) struct string_list headers = { 0 };
	_cleanup_(strbuf_done) struct strbuf url = strbuf_with_max(URL_MAX_BYTES);

	if (append_url(export, &url) < 0) {
		add_failure(export->endpoint, "write it like http://collector:4318",
			    "this is not a URL", report);
		return;
	}
	int r = make_headers(export, &headers);
	if (r < 0) {
		add_failure(export->endpoint, "", strerror(-r), report);
		return;
	}
	r = export->token_file ? add_token(&headers, export->token_file) : 0;
	if (r < 0)
		doctor_report_add(report, FINDING_FAIL, "token",
				  "see --otlp-token-file: the file has one token, and nothing else",
				  "%s: %s", export->token_file,
				  r == -EBADMSG ? "no token" : strerror(-r));
	ask(export, &headers, strbuf_str(&url), report);
}

void check_endpoints(const struct doctor_host *host, struct doctor_report *report)
{
	const struct options *options = host->options;

	if (options->export.endpoint)
		check_endpoint(&options->export, report);
	for (size_t i = 0; i < options->nr_others; i++)
		check_endpoint(&options->others[i], report);
	if (!options->export.endpoint && options->nr_others == 0)
		doctor_report_add(report, FINDING_OK, "endpoint", NULL,
				  "not configured (--otlp-endpoint)");
}
