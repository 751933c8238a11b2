/* SPDX-License-Identifier: Apache-2.0 */
/* The address and the name of a kubelet are two things. An agent's pod knows the address of its
 * node, but the kubelet's certificate often names the node only. So with a node name the request is
 * for https://NODE:PORT/pods, which libcurl verifies, and the name is resolved to the address by
 * fiat. */
#include "k8s/kubelet.h"

#include "base/clock.h"
#include "base/bearer_token.h"
#include "base/printable.h"
#include "k8s/kubelet_endpoint.h"
#include "k8s/kubelet_refusal.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#define DEFAULT_TIMEOUT_NS (10 * NSEC_PER_SEC)
#define CONNECT_TIMEOUT_NS (3 * NSEC_PER_SEC)
#define TOKEN_MAX_BYTES ((size_t)64 << 10)
#define ERROR_MAX 1024
#define REFUSAL_MAX_BYTES ((size_t)1024) /* read of an answer that is no pod list */
#define SAYING_MAX 256 /* how much of it is repeated */

struct kubelet {
	struct http_client *client; /* owned */
	char *url; /* owned; as given */
	char *pods_url; /* owned */
	char *token_file; /* owned; NULL: none */
	bool may_send_token;
	bool is_insecure;
	enum http_verify verify;
	uint64_t timeout_ns;
	uint64_t give_up_ns; /* atomic: see kubelet_give_up() */
	struct kubelet_stats stats;
	char error[ERROR_MAX];
};

/* The certificate is asked for the node's name where the URL has only an address. */
static bool uses_node_name(const struct kubelet_opts *opts, const struct kubelet_endpoint *endpoint)
{
	return opts->node_name && endpoint->is_https && endpoint->is_address;
}

static int make_pods_url(struct kubelet *kubelet, const struct kubelet_opts *opts,
			 const struct kubelet_endpoint *endpoint)
{
	bool is_named = uses_node_name(opts, endpoint);
	bool is_bracketed = endpoint->is_ipv6 && !is_named;

	int len = asprintf(&kubelet->pods_url, "%s://%s%s%s:%u/pods",
			   endpoint->is_https ? "https" : "http", is_bracketed ? "[" : "",
			   is_named ? opts->node_name : endpoint->host, is_bracketed ? "]" : "",
			   endpoint->port);
	if (len < 0) {
		kubelet->pods_url = NULL;
		return -ENOMEM;
	}
	return 0;
}

static int make_client(struct kubelet *kubelet, const struct kubelet_opts *opts,
		       const struct kubelet_endpoint *endpoint)
{
	char resolve[2 * KUBELET_HOST_MAX + 32];
	struct http_client_opts client_opts = {
		.ca_file = opts->ca_file,
		.verify = opts->verify,
		.connect_timeout_ns = kubelet->timeout_ns < CONNECT_TIMEOUT_NS ? kubelet->timeout_ns
									       : CONNECT_TIMEOUT_NS,
		.total_timeout_ns = kubelet->timeout_ns,
		.give_up_ns = &kubelet->give_up_ns,
	};

	if (uses_node_name(opts, endpoint)) {
		snprintf(resolve, sizeof(resolve), endpoint->is_ipv6 ? "%s:%u:[%s]" : "%s:%u:%s",
			 opts->node_name, endpoint->port, endpoint->host);
		client_opts.resolve = resolve;
	}
	return http_client_new(&client_opts, &kubelet->client);
}

static int copy_opts(struct kubelet *kubelet, const struct kubelet_opts *opts,
		     const struct kubelet_endpoint *endpoint)
{
	kubelet->give_up_ns = UINT64_MAX;
	kubelet->timeout_ns = opts->timeout_ns ? opts->timeout_ns : DEFAULT_TIMEOUT_NS;
	kubelet->may_send_token = endpoint->is_https || endpoint->is_loopback;
	kubelet->verify = opts->verify;
	kubelet->is_insecure = !endpoint->is_https || opts->verify == HTTP_VERIFY_NONE;
	kubelet->url = strdup(opts->url);
	if (!kubelet->url)
		return -ENOMEM;
	if (opts->token_file) {
		kubelet->token_file = strdup(opts->token_file);
		if (!kubelet->token_file)
			return -ENOMEM;
	}
	return 0;
}

int kubelet_new(const struct kubelet_opts *opts, struct kubelet **ret_kubelet)
{
	_cleanup_(kubelet_freep) struct kubelet *kubelet = NULL;
	struct kubelet_endpoint endpoint;

	int r = kubelet_endpoint_parse(opts->url, &endpoint);
	if (r < 0)
		return r;
	if (opts->node_name && !kubelet_is_host_name(opts->node_name))
		return -EINVAL;

	kubelet = calloc(1, sizeof(*kubelet));
	if (!kubelet)
		return -ENOMEM;
	r = copy_opts(kubelet, opts, &endpoint);
	if (r == 0)
		r = make_pods_url(kubelet, opts, &endpoint);
	if (r == 0)
		r = make_client(kubelet, opts, &endpoint);
	if (r < 0)
		return r;
	*ret_kubelet = take_ptr(kubelet);
	return 0;
}

void kubelet_free(struct kubelet *kubelet)
{
	if (!kubelet)
		return;
	http_client_free(kubelet->client);
	free(kubelet->url);
	free(kubelet->pods_url);
	free(kubelet->token_file);
	free(kubelet);
}

void kubelet_give_up(struct kubelet *kubelet)
{
	__atomic_store_n(&kubelet->give_up_ns, 0, __ATOMIC_RELAXED);
}

/* Keeps a sentence for kubelet_error() and returns `error`. Parts of it come from outside and end up on
 * terminals, so it is made printable. */
static int printf_like(3, 4) fail(struct kubelet *kubelet, int error, const char *format, ...)
{
	char text[ERROR_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	printable_copy(kubelet->error, sizeof(kubelet->error), text);
	return error;
}

/* Makes "Authorization: Bearer …" of the token file; nothing without one, or where it may not be
 * sent. A character that could end the header is refused. */
static int read_token(struct kubelet *kubelet, struct strbuf *header)
{
	if (!kubelet->token_file || !kubelet->may_send_token)
		return 0;
	int r = bearer_token_read(kubelet->token_file, TOKEN_MAX_BYTES, header);
	if (r == -EBADMSG)
		return fail(kubelet, r, "%s holds no token: see --kubelet-token-file",
			    kubelet->token_file);
	if (r < 0)
		return fail(kubelet, r, "cannot read the kubelet's token from %s: %s",
			    kubelet->token_file, strerror(-r));
	return 0;
}

static int explain_certificate(struct kubelet *kubelet, const char *reason)
{
	if (kubelet->verify == HTTP_VERIFY_PINNED)
		return fail(kubelet, -EKEYREJECTED,
			    "cannot verify the kubelet's certificate (%s): --kubelet-ca-file must "
			    "be the file the kubelet serves, usually "
			    "/var/lib/kubelet/pki/kubelet.crt",
			    reason);
	return fail(kubelet, -EKEYREJECTED,
		    "cannot verify the kubelet's certificate (%s): --kubelet-ca-file must name "
		    "the CA that signed it, and the node's name or the host of --kubelet-url "
		    "must stand in it",
		    reason);
}

/* Why there was no answer, or not a whole one. */
static int explain_failure(struct kubelet *kubelet, int error)
{
	const char *reason = http_client_error(kubelet->client);

	switch (error) {
	case -EKEYREJECTED:
		return explain_certificate(kubelet, reason);
	case -ECONNREFUSED:
	case -EHOSTUNREACH:
		return fail(kubelet, error,
			    "cannot reach the kubelet (%s): --kubelet-url must be the node's "
			    "address and the kubelet's port, usually 10250",
			    reason);
	case -ETIMEDOUT:
		return fail(kubelet, error,
			    "no answer from the kubelet within %.1f s (%s): a network policy may "
			    "keep it away, or the kubelet cannot reach the API server",
			    (double)kubelet->timeout_ns / NSEC_PER_SEC, reason);
	case -ENOSPC:
		return fail(kubelet, error, "the kubelet's pod list is longer than %zu MB",
			    KUBELET_BODY_MAX_BYTES >> 20);
	default:
		return fail(kubelet, error, "the kubelet's answer cannot be read (%s)", reason);
	}
}

/* Why an answer was not read as a pod list. */
static int explain_list(struct kubelet *kubelet, int error)
{
	switch (error) {
	case -EBADMSG:
		return fail(kubelet, error,
			    "the kubelet's answer is no pod list: --kubelet-url must be the "
			    "kubelet's, usually port 10250");
	case -ENOSPC:
		return fail(kubelet, error, "the kubelet's pod list names more than fits");
	default:
		return fail(kubelet, error, "cannot read the kubelet's pod list: %s",
			    strerror(-error));
	}
}

static int explain_unauthorized(struct kubelet *kubelet)
{
	if (!kubelet->token_file)
		return fail(kubelet, -EACCES,
			    "the kubelet wants a token (401): see --kubelet-token-file");
	if (!kubelet->may_send_token)
		return fail(kubelet, -EACCES,
			    "the kubelet wants a token (401), which is sent over https only: "
			    "--kubelet-url must begin with https://");
	return fail(kubelet, -EACCES,
		    "the kubelet does not accept the token (401): %s must hold a token of a "
		    "service account of this cluster; or the kubelet cannot ask the API server",
		    kubelet->token_file);
}

static int explain_forbidden(struct kubelet *kubelet, const char *text)
{
	_cleanup_(strbuf_done) struct strbuf sentence = strbuf_with_max(ERROR_MAX);

	kubelet_refusal_explain(text, &sentence);
	return fail(kubelet, -EPERM, "%s", strbuf_str(&sentence));
}

/* Reads a refusal out of the status; `text` is the beginning of what came with it. */
static int explain_status(struct kubelet *kubelet, const char *text)
{
	int len = (int)strcspn(text, "\r\n");

	switch (kubelet->stats.status) {
	case 401:
		return explain_unauthorized(kubelet);
	case 403:
		return explain_forbidden(kubelet, text);
	default:
		return fail(kubelet, -EBADMSG, "the kubelet answers with status %u: %.*s",
			    kubelet->stats.status, len < SAYING_MAX ? len : SAYING_MAX, text);
	}
}

/* A pod list on its way in. */
struct incoming {
	struct kubelet *kubelet;
	struct pod_list_reader *reader;
	int error; /* of the reader */
};

static int feed_reader(void *data, const void *bytes, size_t len)
{
	struct incoming *incoming = data;

	incoming->kubelet->stats.nr_bytes += len;
	incoming->error = pod_list_reader_feed(incoming->reader, bytes, len);
	return incoming->error;
}

static int request_pods(struct kubelet *kubelet, struct pod_list_reader *reader)
{
	_cleanup_(strbuf_done) struct strbuf token = strbuf_with_max(TOKEN_MAX_BYTES + 32);
	_cleanup_(strbuf_done) struct strbuf refusal = strbuf_with_max(REFUSAL_MAX_BYTES);
	struct incoming incoming = { .kubelet = kubelet, .reader = reader };
	struct http_response response;

	int r = read_token(kubelet, &token);
	if (r < 0)
		return r;

	const char *headers[] = { strbuf_str(&token) };
	const struct http_sink sink = { feed_reader, &incoming, KUBELET_BODY_MAX_BYTES };
	const struct http_request request = {
		.url = kubelet->pods_url,
		.headers = headers,
		.nr_headers = token.len > 0,
		.sink = &sink,
	};
	r = http_perform(kubelet->client, &request, &refusal, &response);
	if (incoming.error < 0)
		return explain_list(kubelet, incoming.error);
	if (r < 0)
		return explain_failure(kubelet, r);
	kubelet->stats.status = response.status;
	kubelet->stats.http_version = response.version;
	return response.status == 200 ? 0 : explain_status(kubelet, strbuf_str(&refusal));
}

int kubelet_get_pods(struct kubelet *kubelet, const struct pod_list_opts *opts,
		     struct pod_list **ret_list)
{
	_cleanup_(pod_list_reader_freep) struct pod_list_reader *reader = NULL;
	struct pod_list *list = NULL;

	kubelet->error[0] = '\0';
	kubelet->stats = (struct kubelet_stats){ 0 };
	int r = pod_list_reader_new(opts, &reader);
	if (r < 0)
		return explain_list(kubelet, r);
	r = request_pods(kubelet, reader);
	if (r < 0)
		return r;
	r = pod_list_reader_finish(reader, &list);
	if (r < 0)
		return explain_list(kubelet, r);
	*ret_list = list;
	return 0;
}

const char *kubelet_error(const struct kubelet *kubelet)
{
	return kubelet->error;
}

const char *kubelet_url(const struct kubelet *kubelet)
{
	return kubelet->url;
}

struct kubelet_stats kubelet_get_stats(const struct kubelet *kubelet)
{
	return kubelet->stats;
}

bool kubelet_is_insecure(const struct kubelet *kubelet)
{
	return kubelet->is_insecure;
}
