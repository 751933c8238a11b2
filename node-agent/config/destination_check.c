/* SPDX-License-Identifier: Apache-2.0 */
/* What only all options of a destination together tell: whether they contradict each other, and what the
 * endpoint means. Its scheme says whether there is TLS, and may say the protocol:
 *
 *	http://, grpc://	no TLS
 *	https://, grpcs://	TLS
 *	HOST:PORT		gRPC only; TLS unless a variable says otherwise
 *
 * as OpenTelemetry's specification has it ("OTLP exporter"), but for grpc:// and grpcs://, which are ours. The exporter
 * gets http:// or https:// in any case. */
#include "base/cleanup.h"
#include "config/endpoint.h"
#include "config/environment.h"
#include "config/option_loader.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct check {
	struct loader *loader;
	struct destination *export; /* the loader's */
	const char *prefix; /* of an option's name in messages */
	struct endpoint endpoint; /* export->endpoint in parts */
};

/* The option as the user knows it: by its variable, if it comes from there. */
static void append_name(const struct check *check, const char *name)
{
	const struct option *option = option_find(name, strlen(name), COMMAND_AGENT);
	struct strbuf *message = check->loader->message;

	if (loader_source_of(check->loader, name) == SOURCE_ENVIRONMENT)
		strbuf_append_str(message, env_variable_of(option));
	else
		strbuf_appendf(message, "%s%s", check->prefix, name);
}

static int refuse(const struct check *check, const char *name, const char *what)
{
	append_name(check, name);
	strbuf_appendf(check->loader->message, ": %s", what);
	return -EINVAL;
}

static bool is_grpc_scheme(enum endpoint_scheme scheme)
{
	return scheme == ENDPOINT_GRPC || scheme == ENDPOINT_GRPCS;
}

/* The endpoint's scheme outdoes what a weaker source than its own says of the protocol. */
static int choose_protocol(const struct check *check)
{
	struct destination *export = check->export;
	enum source said_by = loader_source_of(check->loader, "otlp-protocol");

	if (!is_grpc_scheme(check->endpoint.scheme))
		return 0;
	if (export->exporter == OPTION_EXPORTER_PYROSCOPE)
		return refuse(check, "otlp-endpoint",
			      "the exporter pyroscope uses HTTP; write http:// or https://");
	if (export->protocol != OPTION_PROTOCOL_GRPC &&
	    said_by <= loader_source_of(check->loader, "otlp-endpoint"))
		return refuse(check, "otlp-endpoint",
			      "grpc:// contradicts the otlp-protocol http/protobuf; remove one");
	export->protocol = OPTION_PROTOCOL_GRPC;
	return 0;
}

/* OpenTelemetry's variables may be meant for other programs in the pod. */
static int check_exporter(const struct check *check)
{
	struct destination *export = check->export;

	if (export->exporter != OPTION_EXPORTER_PYROSCOPE)
		return 0;
	if (export->original_payload)
		return refuse(check, "otlp-original-payload",
			      "pprof is all that the exporter pyroscope sends; remove it");
	if (export->timestamps)
		return refuse(check, "otlp-timestamps",
			      "the exporter pyroscope cannot send them; remove it");
	if (loader_source_of(check->loader, "otlp-preset") == SOURCE_NONE)
		export->preset = OPTION_PRESET_PYROSCOPE;
	if (export->protocol == OPTION_PROTOCOL_GRPC &&
	    loader_source_of(check->loader, "otlp-protocol") != SOURCE_ENVIRONMENT)
		return refuse(check, "otlp-protocol",
			      "the exporter pyroscope uses HTTP; remove it");
	export->protocol = OPTION_PROTOCOL_HTTP;
	return 0;
}

static bool has_header(const struct destination *export, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < export->headers.nr; i++) {
		const char *header = export->headers.items[i];

		if (strncasecmp(header, name, len) == 0 && header[len] == ':')
			return true;
	}
	return false;
}

static int check_credentials(const struct check *check)
{
	const struct destination *export = check->export;

	if (export->client_cert_file && !export->client_key_file)
		return refuse(check, "otlp-client-cert", "its key is missing: otlp-client-key");
	if (export->client_key_file && !export->client_cert_file)
		return refuse(check, "otlp-client-key",
			      "its certificate is missing: otlp-client-cert");
	if (export->token_file && has_header(export, "Authorization"))
		return refuse(check, "otlp-token-file",
			      "otlp-header has an Authorization, too; remove one");
	if (export->tenant && has_header(export, "X-Scope-OrgID"))
		return refuse(check, "otlp-tenant",
			      "otlp-header has an X-Scope-OrgID, too; remove one");
	return 0;
}

static int check_endpoint_form(const struct check *check)
{
	const struct endpoint *endpoint = &check->endpoint;
	const char *text = check->export->endpoint;

	if (endpoint->has_user)
		return refuse(check, "otlp-endpoint",
			      "a password in the URL would be logged; use otlp-header-file or "
			      "otlp-token-file");
	if (endpoint->scheme != ENDPOINT_BARE || check->export->protocol == OPTION_PROTOCOL_GRPC)
		return 0;
	append_name(check, "otlp-endpoint");
	strbuf_appendf(check->loader->message,
		       ": \"%s\" has no scheme; write http://%s or grpc://%s", text, text, text);
	return -EINVAL;
}

/* gRPC has a path of its own: what is left is where to connect to, and whether by TLS. */
static int make_grpc_url(const struct check *check, bool is_plain)
{
	const struct endpoint *endpoint = &check->endpoint;
	struct destination *export = check->export;
	_cleanup_(strbuf_done) struct strbuf url = strbuf_with_max(OPTION_TEXT_MAX_BYTES);

	if (endpoint->scheme != ENDPOINT_BARE)
		is_plain = endpoint->scheme == ENDPOINT_HTTP || endpoint->scheme == ENDPOINT_GRPC;
	if (*endpoint->path && strcmp(endpoint->path, "/") != 0)
		loader_warn(check->loader, "gRPC has no path: %s of the endpoint is left out",
			    endpoint->path);
	strbuf_appendf(&url, "%s://%.*s", is_plain ? "http" : "https", (int)endpoint->host_len,
		       endpoint->host);
	if (strbuf_error(&url) == -ENOSPC)
		return refuse(check, "otlp-endpoint", "too long");
	if (strbuf_error(&url) < 0)
		return strbuf_error(&url);
	free(export->endpoint);
	export->endpoint = take_ptr(url.data);
	export->endpoint_is_full = false;
	return 0;
}

int loader_check_export(struct loader *loader, const char *prefix, bool is_plain)
{
	struct destination *export = &loader->options->export;
	struct check check = { loader, export, prefix, { 0 } };

	if (export->endpoint) {
		int r = endpoint_parse(export->endpoint, &check.endpoint);
		if (r == 0)
			r = choose_protocol(&check);
		if (r < 0)
			return r;
	}

	int r = check_exporter(&check);
	if (r == 0)
		r = check_credentials(&check);
	if (r < 0 || !export->endpoint)
		return r;
	r = check_endpoint_form(&check);
	if (r == 0 && export->protocol == OPTION_PROTOCOL_GRPC)
		r = make_grpc_url(&check, is_plain);
	if (export->exporter == OPTION_EXPORTER_PYROSCOPE)
		export->endpoint_is_full = false;
	return r;
}
