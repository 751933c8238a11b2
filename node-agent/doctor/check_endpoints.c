/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the destinations of profiles by sending each an empty request. The answer shows whether
 * the server runs, takes profiles and accepts our credentials. */
#include "agent/export_transport.h"
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

#define OUR_CERTIFICATE "; if it requires a client certificate, set --otlp-client-cert"

/* Remedies for each kind of destination. */
struct destination_kind {
	const char *example; /* if the URL is invalid */
	const char *no_answer;
	const char *not_found; /* if it does not take profiles */
	const char *other_protocol; /* if it speaks another protocol; NULL: as without an answer */
};

static const struct destination_kind destination_kinds[] = {
	[TRANSPORT_OTLP_HTTP] = {
		.example = "write a URL like http://collector:4318",
		.no_answer = "check that the destination is running, and that the port is the "
			     "one for OTLP over HTTP, usually 4318",
		.not_found = ENABLE_PROFILES ", or correct the URL",
	},
	[TRANSPORT_OTLP_GRPC] = {
		.example = "write a URL like http://collector:4317, without a path",
		.no_answer = "check that the destination is running, and that the port is the "
			     "one for OTLP over gRPC, usually 4317",
		.not_found = ENABLE_PROFILES,
		.other_protocol = "use its gRPC port, usually 4317, or set otlp-protocol to "
				  "http/protobuf",
	},
	[TRANSPORT_PYROSCOPE] = {
		.example = "write a URL like http://pyroscope:4040",
		.no_answer = "check that the destination is running, and that the port is "
			     "Pyroscope's, usually 4040",
		.not_found = "check that it is Pyroscope, and correct the URL",
	},
};

/* The meaning of HTTP's or gRPC's status. */
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

/* Makes the headers of a real request, except those that are read from files. */
static int make_headers(const struct destination *destination, struct header_list *headers)
{
	const struct protocol *protocol = protocol_get(export_protocol(destination));
	int r = header_list_add_own(headers, "Content-Type", protocol->content_type);

	if (r == 0 && protocol->has_grpc_status)
		r = header_list_add_own(headers, "TE", "trailers");
	for (size_t i = 0; r == 0 && i < destination->headers.nr; i++)
		r = header_list_add(headers, destination->headers.items[i]);
	if (r == 0 && destination->tenant)
		r = header_list_add_own(headers, "X-Scope-OrgID", destination->tenant);
	return r;
}

static void add_failure(const char *url, const char *remedy, const char *reason,
			struct doctor_report *report)
{
	doctor_report_add(report, FINDING_FAIL, "endpoint", remedy, "%s: %s", url, reason);
}

/* Returns whether the server may have ended the connection because it wants a certificate of ours.
 * With TLS 1.3, it does that only after the handshake has succeeded. */
static bool may_miss_certificate(const struct destination *destination, int error)
{
	return error == -EPROTO && !destination->client_cert_file &&
	       strncasecmp(destination->endpoint, "https:", strlen("https:")) == 0;
}

static void add_no_answer(const struct destination *destination, int error, const char *reason,
			  struct doctor_report *report)
{
	const struct destination_kind *kind = &destination_kinds[export_protocol(destination)];
	const char *remedy = kind->no_answer;
	char text[REMEDY_MAX_BYTES];

	if (error == -EKEYREJECTED)
		remedy = "set --otlp-ca-file to its CA's certificate; see --otlp-verify";
	else if (error == -EHOSTUNREACH || error == -ETIMEDOUT)
		remedy = "check the host name, and whether network policies allow the connection";
	else if (kind->other_protocol && (error == -EPROTO || error == -EPROTONOSUPPORT))
		remedy = kind->other_protocol;
	snprintf(text, sizeof(text), "%s%s", remedy,
		 may_miss_certificate(destination, error) ? OUR_CERTIFICATE : "");
	add_failure(destination->endpoint, text, reason, report);
}

/* Recognises gRPC's UNIMPLEMENTED (12), PERMISSION_DENIED (7) and UNAUTHENTICATED (16). */
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
			"%s answers %s%u: it does not accept profiles", url, kind, answer->status);
	else if (answer->kind == ANSWER_UNKNOWN_CLIENT)
		doctor_report_add(report, FINDING_FAIL, "endpoint",
				  "give it the right credentials with otlp-header-file, "
				  "otlp-token-file or otlp-client-cert",
				  "%s answers %s%u: it rejects our credentials", url, kind,
				  answer->status);
	else if (answer->kind == ANSWER_REDIRECT)
		doctor_report_add(report, FINDING_FAIL, "endpoint",
				  "use the URL that it redirects to: redirects are not followed",
				  "%s answers %u, a redirect", url, answer->status);
	else if (answer->kind == ANSWER_BUSY)
		doctor_report_add(
			report, FINDING_WARN, "endpoint",
			"profiles will wait in memory or in --queue-dir until it accepts them",
			"%s answers %u: it is busy", url, answer->status);
	else
		doctor_report_ok(report, "endpoint", "%s responds to an empty request (%s%u)", url,
				 kind, answer->status);
}

/* Sends an empty message, which some protocols pack into a few bytes. */
static void ask(const struct destination *destination, const struct header_list *headers,
		const char *url, struct doctor_report *report)
{
	_cleanup_(transport_freep) struct transport *transport = NULL;
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	const struct transport_opts opts = export_transport_opts(destination);
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
		add_no_answer(destination, result.error, result.outcome.message, report);
		return;
	}
	const struct answer answer = read_answer(&result);
	add_answer(opts.protocol, url, &answer, report);
}

static void check_endpoint(const struct destination *destination, struct doctor_report *report)
{
	_cleanup_(header_list_done) struct header_list headers = { 0 };
	_cleanup_(strbuf_done) struct strbuf url = strbuf_with_max(URL_MAX_BYTES);
	const struct transport_opts opts = export_transport_opts(destination);

	int r = transport_opts_url(&opts, &url);
	if (r < 0) {
		add_failure(destination->endpoint, destination_kinds[opts.protocol].example,
			    "the URL is invalid", report);
		return;
	}
	r = make_headers(destination, &headers);
	if (r < 0) {
		add_failure(destination->endpoint, "see --otlp-header and --otlp-tenant",
			    strerror(-r), report);
		return;
	}
	check_credentials(destination, &headers, report);
	ask(destination, &headers, strbuf_str(&url), report);
}

void check_endpoints(const struct doctor_host *host, struct doctor_report *report)
{
	const struct options *options = host->options;

	for (size_t i = 0; i < options->nr_destinations; i++)
		check_endpoint(&options->destinations[i], report);
	if (options->nr_destinations == 0)
		doctor_report_ok(report, "endpoint", "not configured (--otlp-endpoint)");
}
