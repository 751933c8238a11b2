/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/transport_http.h"

#include "base/array.h"
#include "base/gzip.h"
#include "base/http_client.h"

#include <stdbool.h>
#include <string.h>

#define PROFILES_PATH "/v1development/profiles"
#define URL_MAX_BYTES 4096
#define REQUEST_MAX_BYTES (20u << 20)
#define RESPONSE_MAX_BYTES (64u << 10)
#define ERROR_BYTES 512

/* Receivers compare the content type as a whole: nothing may follow it. */
static const char *const own_headers[] = {
	"Content-Type: application/x-protobuf",
	"Content-Encoding: gzip",
};

struct transport_http {
	struct http_client *client; /* owned */
	struct strbuf url;
	char **headers; /* owned, each too */
	size_t nr_headers;
	struct strbuf request; /* compressed */
	struct strbuf answer;
	char error[ERROR_BYTES];
};

static bool has_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return true;
	return false;
}

/* The part behind "scheme://", or NULL. */
static const char *find_host(const char *url)
{
	static const char *const schemes[] = { "http://", "https://" };

	for (size_t i = 0; i < array_len(schemes); i++)
		if (strncasecmp(url, schemes[i], strlen(schemes[i])) == 0)
			return url + strlen(schemes[i]);
	return NULL;
}

static bool ends_with(const char *text, size_t len, const char *tail)
{
	size_t tail_len = strlen(tail);

	return len >= tail_len && memcmp(text + len - tail_len, tail, tail_len) == 0;
}

int transport_http_url(const char *endpoint, bool is_full, struct strbuf *out)
{
	const char *host = find_host(endpoint);

	if (!host || strcspn(host, "/?#:") == 0 || has_control(endpoint) || strchr(endpoint, ' '))
		return -EINVAL;

	const char *query = host + strcspn(host, "?#");
	size_t len = (size_t)(query - endpoint);
	while (!is_full && endpoint[len - 1] == '/')
		len--;
	strbuf_append(out, endpoint, len);
	if (!is_full && !ends_with(endpoint, len, PROFILES_PATH))
		strbuf_append_str(out, PROFILES_PATH);
	strbuf_append_str(out, query);
	return strbuf_error(out) == -ENOSPC ? -EINVAL : strbuf_error(out);
}

static int copy_header(struct transport_http *transport, const char *header)
{
	char *copy = strdup(header);

	if (!copy)
		return -ENOMEM;
	transport->headers[transport->nr_headers++] = copy;
	return 0;
}

static int copy_headers(struct transport_http *transport, const struct transport_http_opts *opts)
{
	int r = 0;

	transport->headers = calloc(array_len(own_headers) + opts->nr_headers,
				    sizeof(*transport->headers));
	if (!transport->headers)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < array_len(own_headers); i++)
		r = copy_header(transport, own_headers[i]);
	for (size_t i = 0; r == 0 && i < opts->nr_headers; i++) {
		if (!strchr(opts->headers[i], ':') || has_control(opts->headers[i]))
			return -EINVAL;
		r = copy_header(transport, opts->headers[i]);
	}
	return r;
}

int transport_http_new(const struct transport_http_opts *opts,
		       struct transport_http **ret_transport)
{
	_cleanup_(transport_http_freep) struct transport_http *transport = NULL;
	const struct http_client_opts client_opts = {
		.ca_file = opts->ca_file,
		.verify = HTTP_VERIFY_FULL,
		.use_proxy_env = true,
		.connect_timeout_ns = opts->timeout_ns,
		.total_timeout_ns = opts->timeout_ns,
	};

	transport = calloc(1, sizeof(*transport));
	if (!transport)
		return -ENOMEM;
	transport->url = strbuf_with_max(URL_MAX_BYTES);
	transport->request = strbuf_with_max(REQUEST_MAX_BYTES);
	transport->answer = strbuf_with_max(RESPONSE_MAX_BYTES);

	int r = transport_http_url(opts->endpoint, opts->endpoint_is_full, &transport->url);
	if (r == 0)
		r = copy_headers(transport, opts);
	if (r == 0)
		r = http_client_new(&client_opts, &transport->client);
	if (r < 0)
		return r;
	*ret_transport = take_ptr(transport);
	return 0;
}

void transport_http_free(struct transport_http *transport)
{
	if (!transport)
		return;
	http_client_free(transport->client);
	for (size_t i = 0; i < transport->nr_headers; i++)
		free(transport->headers[i]);
	free(transport->headers);
	strbuf_done(&transport->url);
	strbuf_done(&transport->request);
	strbuf_done(&transport->answer);
	free(transport);
}

static int compress(struct transport_http *transport, const struct strbuf *request)
{
	strbuf_clear(&transport->request);
	gzip_append(&transport->request, request->data, request->len);
	return strbuf_error(&transport->request);
}

static int post(struct transport_http *transport, struct http_response *ret_response)
{
	const struct http_request request = {
		.url = strbuf_str(&transport->url),
		.headers = (const char *const *)transport->headers,
		.nr_headers = transport->nr_headers,
		.body = transport->request.data,
		.body_len = transport->request.len,
	};

	strbuf_clear(&transport->answer);
	return http_perform(transport->client, &request, &transport->answer, ret_response);
}

/* Proxies and wrong ports answer with pages, not messages: then the status is all there is to say. */
static void describe_refusal(struct transport_http *transport, unsigned int status)
{
	const struct strbuf *answer = &transport->answer;
	struct response response = { 0 };

	if (response_parse_status(answer->data, answer->len, &response) == 0 && response.message[0])
		snprintf(transport->error, sizeof(transport->error), "HTTP status %u: %s", status,
			 response.message);
	else
		snprintf(transport->error, sizeof(transport->error), "HTTP status %u", status);
}

static int read_answer(struct transport_http *transport, unsigned int status,
		       struct response *ret_response)
{
	if (status / 100 != 2) {
		describe_refusal(transport, status);
		return -EREMOTEIO;
	}

	/* The server has taken it, whatever else it says. */
	if (response_parse_success(transport->answer.data, transport->answer.len, ret_response) < 0)
		*ret_response = (struct response){ 0 };
	return 0;
}

int transport_http_send(struct transport_http *transport, const struct strbuf *request,
			struct response *ret_response, size_t *ret_bytes_sent)
{
	struct http_response response;

	*ret_bytes_sent = 0;
	transport->error[0] = '\0';
	int r = compress(transport, request);
	if (r < 0) {
		snprintf(transport->error, sizeof(transport->error), "%s", strerror(-r));
		return r;
	}

	*ret_bytes_sent = transport->request.len;
	r = post(transport, &response);
	if (r < 0) {
		snprintf(transport->error, sizeof(transport->error), "%s",
			 http_client_error(transport->client));
		return r;
	}
	return read_answer(transport, response.status, ret_response);
}

const char *transport_http_error(const struct transport_http *transport)
{
	return transport->error;
}
