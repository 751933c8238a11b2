/* SPDX-License-Identifier: Apache-2.0 */
/* The doctor's look at where profiles go. An endpoint is asked for nothing: the request that it
 * gets is empty. What it answers tells whether it is there, takes profiles and knows us. */
#include "agent/export_protocol.h"
#include "base/cleanup.h"
#include "doctor/check_credentials.h"
#include "doctor/doctor.h"
#include "otlp/transport/header_list.h"
#include "otlp/transport/protocol.h"
#include "otlp/transport/transport.h"

#include <stdio.h>
#include <string.h>

#define URL_MAX_BYTES 4096
#define REMEDY_MAX_BYTES 256
#define BODY_MAX_BYTES 64

#define ENABLE_PROFILES                                                                            \
	"enable profiles there (OpenTelemetry Collector: "                                         \
	"--feature-gates=service.profilesSupport)"

#define OUR_CERTIFICATE "; if it wants a certificate of ours, name it with --otlp-client-cert"

/* How to configure each kind of destination, for messages. */
struct destination_kind {
	const char *example;
	const char *port; /* where it usually listens */
	const char *not_found; /* what to do when it does not take profiles */
	/* what to do when it does not speak the protocol; NULL: as for the port */
	const char *other_language;
};

static const struct destination_kind destination_kinds[] = {
	[TRANSPORT_OTLP_HTTP] = {
		.example = "write it like http://collector:4318",
		.port = "the port for OTLP over HTTP, usually 4318",
		.not_found = ENABLE_PROFILES ", or correct the URL",
	},
	[TRANSPORT_OTLP_GRPC] = {
		.example = "write it like http://collector:4317, without a path",
		.port = "the port for OTLP over gRPC, usually 4317",
		.not_found = ENABLE_PROFILES,
		.other_language = "name its gRPC port, usually 4317, or set otlp-protocol to http/protobuf",
	},
	[TRANSPORT_PYROSCOPE] = {
		.example = "write it like http://pyroscope:4040",
		.port = "Pyroscope's, usually 4040",
		.not_found = "see that it is Pyroscope, and correct the URL",
	},
};

/* What HTTP's status says, or gRPC's. */
enum answer_kind {
	ANSWER_ANY,
	ANSWER_NOT_FOUND,
	ANSWER_UNKNOWN_CLIENT,
	ANSWER_REDIRECT,
	ANSWER_BUSY,
};

struct answer {
	enum answer_kind kind;
	bool is_grpc;
	unsigned int status;
};

/* Those of a real request, but the files'. */
static int make_headers(const struct destination *export, struct header_list *headers)
{
	const struct protocol *protocol = protocol_get(export_protocol(export));
	int r = header_list_add_own(headers, "Content-Type", protocol->content_type);

	if (r == 0 && protocol->has_grpc_status)
		r = header_list_add_own(headers, "TE", "trailers");
	for (size_t i = 0; r == 0 && i < export->headers.nr; i++)
		r = header_list_add(headers, export->headers.items[i]);
	if (r == 0 && export->tenant)
		r = header_list_add_own(headers, "X-Scope-OrgID", export->tenant);
	return r;
}

static void add_failure(const char *url, const char *remedy, const char *reason,
			struct doctor_report *report)
{
	doctor_report_add(report, FINDING_FAIL, "endpoint", remedy, "%s: %s", url, reason);
}

/* With TLS 1.3 a server that misses our certificate ends a connection that was made already. */
static bool may_miss_certificate(const struct destination *export, int error)
{
	return error == -EPROTO && !export->client_cert_file &&
	       strncasecmp(export->endpoint, "https:", strlen("https:")) == 0;
}

static void add_silence(const struct destination *export, int error, const char *reason,
			struct doctor_report *report)
{
	enum transport_protocol protocol = export_protocol(export);
	bool is_other_language = error == -EPROTO || error == -EPROTONOSUPPORT;
	char remedy[REMEDY_MAX_BYTES];

	if (error == -EKEYREJECTED)
		snprintf(remedy, sizeof(remedy),
			 "name its CA with --otlp-ca-file; see --otlp-verify");
	else if (error == -EHOSTUNREACH || error == -ETIMEDOUT)
		snprintf(remedy, sizeof(remedy),
			 "see that the name is right and that network policies let us through");
	else if (destination_kinds[protocol].other_language && is_other_language)
		snprintf(remedy, sizeof(remedy), "%s%s", destination_kinds[protocol].other_language,
			 may_miss_certificate(export, error) ? OUR_CERTIFICATE : "");
	else
		snprintf(remedy, sizeof(remedy), "see that it runs, and that the port is %s%s",
			 destination_kinds[protocol].port,
			 may_miss_certificate(export, error) ? OUR_CERTIFICATE : "");
	add_failure(export->endpoint, remedy, reason, report);
}

/* Of the codes of gRPC: UNIMPLEMENTED; PERMISSION_DENIED and UNAUTHENTICATED. */
static struct answer read_grpc_answer(uint32_t status)
{
	struct answer answer = { .is_grpc = true, .status = status };

	if (status == 12)
		answer.kind = ANSWER_NOT_FOUND;
	else if (status == 7 || status == 16)
		answer.kind = ANSWER_UNKNOWN_CLIENT;
	return answer;
}

static struct answer read_answer(const struct transport_result *result)
{
	struct answer answer = { .status = result->status };

	if (result->has_grpc_status)
		return read_grpc_answer(result->grpc_status);
	if (result->status == 404)
		answer.kind = ANSWER_NOT_FOUND;
	else if (result->status == 401 || result->status == 403)
		answer.kind = ANSWER_UNKNOWN_CLIENT;
	else if (result->status / 100 == 3)
		answer.kind = ANSWER_REDIRECT;
	else if (result->status == 429 || (result->status >= 502 && result->status <= 504))
		answer.kind = ANSWER_BUSY;
	return answer;
}

static void add_answer(enum transport_protocol protocol, const char *url,
		       const struct answer *answer, struct doctor_report *report)
{
	const char *kind = answer->is_grpc ? "gRPC status " : "";

	if (answer->kind == ANSWER_NOT_FOUND)
		doctor_report_add(
			report, FINDING_FAIL, "endpoint", destination_kinds[protocol].not_found,
			"%s answers %s%u: it takes no profiles", url, kind, answer->status);
	else if (answer->kind == ANSWER_UNKNOWN_CLIENT)
		doctor_report_add(report, FINDING_FAIL, "endpoint",
				  "give it the right credentials with otlp-header-file, "
				  "otlp-token-file or otlp-client-cert",
				  "%s answers %s%u: it does not know us", url, kind,
				  answer->status);
	else if (answer->kind == ANSWER_REDIRECT)
		doctor_report_add(report, FINDING_FAIL, "endpoint",
				  "name the place it points to: redirects are not followed",
				  "%s answers %u, a redirect", url, answer->status);
	else if (answer->kind == ANSWER_BUSY)
		doctor_report_add(report, FINDING_WARN, "endpoint",
				  "profiles will wait (--queue-dir) until it takes them",
				  "%s answers %u: it takes nothing now", url, answer->status);
	else
		doctor_report_add(report, FINDING_OK, "endpoint", NULL,
				  "%s answers an empty request (%s%u)", url, kind, answer->status);
}

static struct transport_opts transport_opts_of(const struct destination *export)
{
	return (struct transport_opts){
		.protocol = export_protocol(export),
		.endpoint = export->endpoint,
		.endpoint_is_full = export->endpoint_is_full,
		.ca_file = export->ca_file,
		.client_cert_file = export->client_cert_file,
		.client_key_file = export->client_key_file,
		.verify = export->verify,
		.timeout_ns = export->timeout_ns,
	};
}

/* Sends an empty message, which the protocol may have to put into some bytes. */
static void ask(const struct destination *export, const struct header_list *headers,
		const char *url, struct doctor_report *report)
{
	_cleanup_(transport_freep) struct transport *transport = NULL;
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	const struct transport_opts opts = transport_opts_of(export);
	struct transport_result result;

	protocol_get(opts.protocol)->pack(&body, "", 0, false);
	int r = strbuf_error(&body);
	if (r == 0)
		r = transport_new(&opts, &transport);
	if (r < 0) {
		add_failure(url, "", strerror(-r), report);
		return;
	}
	transport_ask(transport, headers, body.data, body.len, &result);
	if (result.error < 0) {
		add_silence(export, result.error, result.outcome.message, report);
		return;
	}
	const struct answer answer = read_answer(&result);
	add_answer(opts.protocol, url, &answer, report);
}

static void check_endpoint(const struct destination *export, struct doctor_report *report)
{
	_cleanup_(header_list_done) struct header_list headers = { 0 };
	_cleanup_(strbuf_done) struct strbuf url = strbuf_with_max(URL_MAX_BYTES);
	const struct transport_opts opts = transport_opts_of(export);

	int r = transport_opts_url(&opts, &url);
	if (r < 0) {
		add_failure(export->endpoint, destination_kinds[opts.protocol].example,
			    "this is not its URL", report);
		return;
	}
	r = make_headers(export, &headers);
	if (r < 0) {
		add_failure(export->endpoint, "see --otlp-header and --otlp-tenant", strerror(-r),
			    report);
		return;
	}
	check_credentials(export, &headers, report);
	ask(export, &headers, strbuf_str(&url), report);
}

void check_endpoints(const struct doctor_host *host, struct doctor_report *report)
{
	const struct options *options = host->options;

	for (size_t i = 0; i < options->nr_destinations; i++)
		check_endpoint(&options->destinations[i], report);
	if (options->nr_destinations == 0)
		doctor_report_add(report, FINDING_OK, "endpoint", NULL,
				  "not configured (--otlp-endpoint)");
}
