/* SPDX-License-Identifier: Apache-2.0 */
/* The address and the name of a kubelet are two things. An agent's pod knows the address of its
 * node, but the kubelet's certificate often names the node only. So with a node name the request is
 * for https://NODE:PORT/pods, which libcurl verifies, and the name is resolved to the address by
 * fiat. */
#include "k8s/kubelet.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "base/parse.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#define DEFAULT_PORT 10250
#define DEFAULT_TIMEOUT_NS (10 * NSEC_PER_SEC)
#define CONNECT_TIMEOUT_NS (3 * NSEC_PER_SEC)
#define HOST_MAX 253
#define TOKEN_MAX_BYTES ((size_t)64 << 10)
#define ERROR_MAX 768
#define SAYING_MAX 256 /* how much of a refusal's text is repeated */

/* Where the kubelet is, taken from the URL. */
struct endpoint {
	bool is_https;
	bool is_address; /* IPv4 or IPv6, not a name */
	bool is_ipv6;
	bool is_loopback;
	char host[HOST_MAX + 1]; /* without brackets */
	uint32_t port;
};

struct kubelet {
	struct http_client *client; /* owned */
	char *url; /* owned; as given */
	char *pods_url; /* owned */
	char *token_file; /* owned; NULL: none */
	bool may_send_token;
	uint64_t timeout_ns;
	char error[ERROR_MAX];
};

static bool skip_prefix(const char **text, const char *prefix)
{
	size_t len = strlen(prefix);

	if (strncmp(*text, prefix, len) != 0)
		return false;
	*text += len;
	return true;
}

static bool is_host_name(const char *name)
{
	size_t len = strspn(name,
			    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-");

	return len > 0 && len <= HOST_MAX && !name[len];
}

/* Fills in what kind of host it is. Errors: -EINVAL when it is none. */
static int classify_host(struct endpoint *endpoint, bool is_bracketed)
{
	struct in_addr v4;
	struct in6_addr v6;

	if (is_bracketed) {
		if (inet_pton(AF_INET6, endpoint->host, &v6) != 1)
			return -EINVAL;
		endpoint->is_ipv6 = true;
		endpoint->is_address = true;
		endpoint->is_loopback = IN6_IS_ADDR_LOOPBACK(&v6);
	} else if (inet_pton(AF_INET, endpoint->host, &v4) == 1) {
		endpoint->is_address = true;
		endpoint->is_loopback = ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
	} else {
		endpoint->is_loopback = strcmp(endpoint->host, "localhost") == 0;
		return is_host_name(endpoint->host) ? 0 : -EINVAL;
	}
	return 0;
}

/* Reads "[:PORT]" and at most one "/". */
static int parse_port(const char *rest, uint32_t *ret_port)
{
	char digits[8] = "";
	uint32_t port = DEFAULT_PORT;

	if (*rest == ':') {
		size_t len = strcspn(++rest, "/");

		if (len >= sizeof(digits))
			return -EINVAL;
		memcpy(digits, rest, len);
		rest += len;
		if (parse_u32(digits, &port) < 0 || port == 0 || port > UINT16_MAX)
			return -EINVAL;
	}
	if (strcmp(rest, "") != 0 && strcmp(rest, "/") != 0)
		return -EINVAL;
	*ret_port = port;
	return 0;
}

static int parse_url(const char *url, struct endpoint *ret_endpoint)
{
	struct endpoint endpoint = { .is_https = skip_prefix(&url, "https://") };

	if (!endpoint.is_https && !skip_prefix(&url, "http://"))
		return -EINVAL;

	bool is_bracketed = skip_prefix(&url, "[");
	size_t len = strcspn(url, is_bracketed ? "]" : ":/");
	if (len == 0 || len > HOST_MAX)
		return -EINVAL;
	memcpy(endpoint.host, url, len);
	url += len;
	if (is_bracketed && !skip_prefix(&url, "]"))
		return -EINVAL;

	int r = classify_host(&endpoint, is_bracketed);
	if (r == 0)
		r = parse_port(url, &endpoint.port);
	if (r < 0)
		return r;
	*ret_endpoint = endpoint;
	return 0;
}

/* The certificate is asked for the node's name where the URL has only an address. */
static bool uses_node_name(const struct kubelet_opts *opts, const struct endpoint *endpoint)
{
	return opts->node_name && endpoint->is_https && endpoint->is_address;
}

static int make_pods_url(struct kubelet *kubelet, const struct kubelet_opts *opts,
			 const struct endpoint *endpoint)
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
		       const struct endpoint *endpoint)
{
	char resolve[2 * HOST_MAX + 32];
	struct http_client_opts client_opts = {
		.ca_file = opts->ca_file,
		.verify = opts->verify,
		.connect_timeout_ns = kubelet->timeout_ns < CONNECT_TIMEOUT_NS ? kubelet->timeout_ns
									       : CONNECT_TIMEOUT_NS,
		.total_timeout_ns = kubelet->timeout_ns,
	};

	if (uses_node_name(opts, endpoint)) {
		snprintf(resolve, sizeof(resolve), endpoint->is_ipv6 ? "%s:%u:[%s]" : "%s:%u:%s",
			 opts->node_name, endpoint->port, endpoint->host);
		client_opts.resolve = resolve;
	}
	return http_client_new(&client_opts, &kubelet->client);
}

static int copy_opts(struct kubelet *kubelet, const struct kubelet_opts *opts,
		     const struct endpoint *endpoint)
{
	kubelet->timeout_ns = opts->timeout_ns ? opts->timeout_ns : DEFAULT_TIMEOUT_NS;
	kubelet->may_send_token = endpoint->is_https || endpoint->is_loopback;
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
	struct endpoint endpoint;

	int r = parse_url(opts->url, &endpoint);
	if (r < 0)
		return r;
	if (opts->node_name && !is_host_name(opts->node_name))
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

/* Keeps a sentence for kubelet_error() and returns `error`. */
static int printf_like(3, 4) fail(struct kubelet *kubelet, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(kubelet->error, sizeof(kubelet->error), format, args);
	va_end(args);
	return error;
}

/* Makes "Authorization: Bearer …" of the token file; nothing without one, or where it may not be
 * sent. A character that could end the header is refused. */
static int read_token(struct kubelet *kubelet, struct strbuf *header)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(TOKEN_MAX_BYTES);

	if (!kubelet->token_file || !kubelet->may_send_token)
		return 0;
	int r = file_read_at(AT_FDCWD, kubelet->token_file, &text);
	if (r < 0)
		return fail(kubelet, r, "cannot read the kubelet's token from %s: %s",
			    kubelet->token_file, strerror(-r));

	const char *token = strbuf_str(&text);
	const char *end = token + text.len;
	while (token < end && isspace((unsigned char)*token))
		token++;
	while (end > token && isspace((unsigned char)end[-1]))
		end--;
	bool is_token = token < end;
	for (const char *c = token; c < end; c++)
		is_token &= isgraph((unsigned char)*c) != 0;
	if (!is_token)
		return fail(kubelet, -EBADMSG, "%s holds no token: see --kubelet-token-file",
			    kubelet->token_file);
	strbuf_append_str(header, "Authorization: Bearer ");
	strbuf_append(header, token, (size_t)(end - token));
	return strbuf_error(header);
}

static int explain_failure(struct kubelet *kubelet, int error)
{
	const char *reason = http_client_error(kubelet->client);

	if (!reason[0])
		reason = strerror(-error);
	switch (error) {
	case -EKEYREJECTED:
		return fail(
			kubelet, error,
			"cannot verify the kubelet's certificate (%s): --kubelet-ca-file must name "
			"the CA that signed it, and the node's name or the host of --kubelet-url "
			"must stand in it",
			reason);
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
		    "service account of this cluster",
		    kubelet->token_file);
}

/* Reads a refusal out of the status; `text` is what came with it. */
static int explain_status(struct kubelet *kubelet, unsigned int status, const char *text)
{
	int text_len = (int)strcspn(text, "\r\n");

	if (text_len > SAYING_MAX)
		text_len = SAYING_MAX;
	switch (status) {
	case 401:
		return explain_unauthorized(kubelet);
	case 403:
		return fail(kubelet, -EPERM,
			    "the kubelet forbids it (403): a ClusterRole of the service account "
			    "must allow the verb get on the resource nodes/pods (Kubernetes 1.33 "
			    "and later) or nodes/proxy (before); it says: %.*s",
			    text_len, text);
	default:
		return fail(kubelet, -EBADMSG, "the kubelet answers with status %u: %.*s", status,
			    text_len, text);
	}
}

static int request_pods(struct kubelet *kubelet, struct strbuf *body)
{
	_cleanup_(strbuf_done) struct strbuf token = strbuf_with_max(TOKEN_MAX_BYTES + 32);
	struct http_response response;

	kubelet->error[0] = '\0';
	int r = read_token(kubelet, &token);
	if (r < 0)
		return r;

	const char *headers[] = { strbuf_str(&token) };
	struct http_request request = {
		.url = kubelet->pods_url,
		.headers = headers,
		.nr_headers = token.len > 0,
	};
	r = http_perform(kubelet->client, &request, body, &response);
	if (r < 0)
		return explain_failure(kubelet, r);
	return response.status == 200 ? 0
				      : explain_status(kubelet, response.status, strbuf_str(body));
}

int kubelet_get_pods(struct kubelet *kubelet, struct strbuf *body)
{
	int r = request_pods(kubelet, body);

	if (r < 0)
		strbuf_clear(body);
	return r;
}

const char *kubelet_error(const struct kubelet *kubelet)
{
	return kubelet->error;
}

const char *kubelet_url(const struct kubelet *kubelet)
{
	return kubelet->url;
}
