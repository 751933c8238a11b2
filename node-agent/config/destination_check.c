/* SPDX-License-Identifier: Apache-2.0 */
/* Options of a destination may contradict each other, and the meaning of the endpoint depends on
 * the others. Its scheme says whether to use TLS, and may say the protocol:
 *
 *	http://, grpc://	no TLS
 *	https://, grpcs://	TLS
 *	HOST:PORT		gRPC only; TLS unless a variable says otherwise
 *
 * This is OpenTelemetry's specification ("OTLP exporter"), except that grpc:// and grpcs:// are our
 * addition. The exporter gets http:// or https:// in any case. */
#include "config/destination_check.h"

#include "base/cleanup.h"
#include "config/endpoint.h"
#include "config/option_table.h"
#include "config/options.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define URL_MAX_BYTES 4096

struct check {
	struct destination *destination;
	struct entry_list *entries;
	const char *prefix; /* of an option's name in messages */
	struct strbuf *message;
	struct endpoint endpoint; /* destination->endpoint in parts */
};

/* Returns the entry that set the option, or NULL. */
static const struct option_entry *find_entry(const struct check *check, const char *name)
{
	return entry_list_find(check->entries, option_find(name, COMMAND_DESTINATION));
}

static enum option_source source_of(const struct check *check, const char *name)
{
	const struct option_entry *entry = find_entry(check, name);

	return entry ? entry->source : SOURCE_NONE;
}

/* Appends the option's name, or the variable or line of a file that it comes from. */
static void append_name(const struct check *check, const char *name)
{
	const struct option_entry *entry = find_entry(check, name);

	if (entry && (entry->source == SOURCE_ENVIRONMENT || entry->source == SOURCE_FILE))
		strbuf_append_str(check->message, entry->where);
	else
		strbuf_appendf(check->message, "%s%s", check->prefix, name);
}

static int refuse(const struct check *check, const char *name, const char *what)
{
	append_name(check, name);
	strbuf_appendf(check->message, ": %s", what);
	return -EINVAL;
}

static bool is_grpc_scheme(enum endpoint_scheme scheme)
{
	return scheme == ENDPOINT_GRPC || scheme == ENDPOINT_GRPCS;
}

/* Chooses gRPC if the endpoint's scheme says so. The scheme overrules a protocol from a weaker
 * source, and contradicts one from the same or a stronger source. */
static int choose_protocol(const struct check *check)
{
	struct destination *destination = check->destination;
	enum option_source said_by = source_of(check, "otlp-protocol");

	if (!is_grpc_scheme(check->endpoint.scheme))
		return 0;
	if (destination->exporter == OPTION_EXPORTER_PYROSCOPE)
		return refuse(check, "otlp-endpoint",
			      "the exporter pyroscope uses HTTP; write http:// or https://");
	if (destination->protocol != OPTION_PROTOCOL_GRPC &&
	    said_by <= source_of(check, "otlp-endpoint"))
		return refuse(
			check, "otlp-endpoint",
			"grpc:// contradicts the otlp-protocol http/protobuf; change one of them");
	destination->protocol = OPTION_PROTOCOL_GRPC;
	return 0;
}

/* Refuses options that contradict the exporter pyroscope. OpenTelemetry's variables may be meant
 * for other programs in the pod, so a protocol from there is ignored instead. */
static int check_exporter(const struct check *check)
{
	struct destination *destination = check->destination;

	if (destination->exporter != OPTION_EXPORTER_PYROSCOPE)
		return 0;
	if (destination->original_payload)
		return refuse(check, "otlp-original-payload",
			      "the exporter pyroscope always sends pprof; remove this option");
	if (destination->timestamps)
		return refuse(check, "otlp-timestamps",
			      "the exporter pyroscope cannot send timestamps; remove this option");
	if (source_of(check, "otlp-preset") == SOURCE_NONE)
		destination->preset = OPTION_PRESET_PYROSCOPE;
	if (destination->protocol == OPTION_PROTOCOL_GRPC &&
	    source_of(check, "otlp-protocol") != SOURCE_ENVIRONMENT)
		return refuse(check, "otlp-protocol",
			      "the exporter pyroscope uses HTTP; remove this option");
	destination->protocol = OPTION_PROTOCOL_HTTP;
	return 0;
}

static bool has_header(const struct destination *destination, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < destination->headers.nr; i++) {
		const char *header = destination->headers.items[i];

		if (strncasecmp(header, name, len) == 0 && header[len] == ':')
			return true;
	}
	return false;
}

static int check_credentials(const struct check *check)
{
	const struct destination *destination = check->destination;

	if (destination->client_cert_file && !destination->client_key_file)
		return refuse(check, "otlp-client-cert", "otlp-client-key is missing; set both");
	if (destination->client_key_file && !destination->client_cert_file)
		return refuse(check, "otlp-client-key", "otlp-client-cert is missing; set both");
	if (destination->token_file && has_header(destination, "Authorization"))
		return refuse(check, "otlp-token-file",
			      "otlp-header has an Authorization as well; remove one of them");
	if (destination->tenant && has_header(destination, "X-Scope-OrgID"))
		return refuse(check, "otlp-tenant",
			      "otlp-header has an X-Scope-OrgID as well; remove one of them");
	return 0;
}

static int check_endpoint_form(const struct check *check)
{
	const struct endpoint *endpoint = &check->endpoint;
	const char *text = check->destination->endpoint;

	if (endpoint->has_user)
		return refuse(check, "otlp-endpoint",
			      "a password in the URL would be logged; use otlp-header-file or "
			      "otlp-token-file");
	if (endpoint->scheme != ENDPOINT_BARE ||
	    check->destination->protocol == OPTION_PROTOCOL_GRPC)
		return 0;
	append_name(check, "otlp-endpoint");
	strbuf_appendf(check->message, ": \"%s\" has no scheme; write http://%s or grpc://%s", text,
		       text, text);
	return -EINVAL;
}

/* Replaces the endpoint by a URL that has the host, and a scheme that says whether to use TLS. It
 * has no path, because gRPC defines the path. */
static int make_grpc_url(const struct check *check)
{
	const struct endpoint *endpoint = &check->endpoint;
	struct destination *destination = check->destination;
	_cleanup_(strbuf_done) struct strbuf url = strbuf_with_max(URL_MAX_BYTES);

	bool is_plain = destination->is_plain;
	if (endpoint->scheme != ENDPOINT_BARE)
		is_plain = endpoint->scheme == ENDPOINT_HTTP || endpoint->scheme == ENDPOINT_GRPC;
	if (*endpoint->path && strcmp(endpoint->path, "/") != 0) {
		int r = entry_list_warn(check->entries,
					"a gRPC endpoint has no path; %s is ignored",
					endpoint->path);
		if (r < 0)
			return r;
	}
	strbuf_appendf(&url, "%s://%.*s", is_plain ? "http" : "https", (int)endpoint->host_len,
		       endpoint->host);
	if (strbuf_error(&url) == -ENOSPC)
		return refuse(check, "otlp-endpoint", "too long");
	if (strbuf_error(&url) < 0)
		return strbuf_error(&url);
	free(destination->endpoint);
	destination->endpoint = take_ptr(url.data);
	return 0;
}

/* Returns whether the endpoint comes from OpenTelemetry's variable for profiles only. It is the
 * complete URL then, and the exporter must not add a path. */
static bool is_full_url(const struct check *check)
{
	const struct option_entry *entry = find_entry(check, "otlp-endpoint");

	return entry && entry->source == SOURCE_ENVIRONMENT &&
	       strcmp(entry->where, entry->option->env[0]) == 0;
}

int destination_check(struct destination *destination, struct entry_list *entries,
		      const char *prefix, struct strbuf *message)
{
	struct check check = { destination, entries, prefix, message, { 0 } };

	if (destination->endpoint) {
		int r = endpoint_parse(destination->endpoint, &check.endpoint);
		if (r == 0)
			r = choose_protocol(&check);
		if (r < 0)
			return r;
	}

	int r = check_exporter(&check);
	if (r == 0)
		r = check_credentials(&check);
	if (r < 0 || !destination->endpoint)
		return r;
	r = check_endpoint_form(&check);
	if (r == 0 && destination->protocol == OPTION_PROTOCOL_GRPC)
		return make_grpc_url(&check);
	destination->endpoint_is_full = destination->exporter != OPTION_EXPORTER_PYROSCOPE &&
					is_full_url(&check);
	return r;
}
