/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/http_order.h"

#include "base/cleanup.h"
#include "base/flat.h"

#include <string.h>

#define URL_MAX_BYTES ((size_t)8 << 10)
#define RESOLVE_MAX_BYTES ((size_t)1 << 10)
#define HEADER_MAX_BYTES ((size_t)64 << 10)
#define PEM_MAX_BYTES ((size_t)1 << 20)
#define EXTRA_MAX_BYTES ((size_t)1 << 20)
#define ENVIRONMENT_MAX_BYTES ((size_t)64 << 10)

/* Environment variables that libcurl reads. */
static const char *const proxy_variables[] = {
	"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
	"ALL_PROXY",  "no_proxy",    "NO_PROXY",
};

static void append_environment(struct strbuf *out)
{
	for (size_t i = 0; i < array_len(proxy_variables); i++) {
		const char *value = getenv(proxy_variables[i]);

		if (!value)
			continue;
		strbuf_appendf(out, "%s=%s", proxy_variables[i], value);
		strbuf_append_char(out, '\0');
	}
}

static void put_environment(struct strbuf *out, const struct http_order *order)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(ENVIRONMENT_MAX_BYTES);

	if (order->client.use_proxy_env)
		append_environment(&text);
	strbuf_append_char(&text, '\0');
	strbuf_fail(out, strbuf_error(&text));
	flat_put_bytes(out, strbuf_str(&text), text.len);
}

static void put_pem(struct strbuf *out, const struct http_pem *pem)
{
	flat_put_number(out, pem->text != NULL);
	flat_put_bytes(out, pem->text, pem->len);
}

void http_order_begin(struct strbuf *out)
{
	flat_put_number(out, 0);
}

void http_order_finish(struct strbuf *out, size_t end, const struct http_order *order)
{
	uint64_t body_len = end - sizeof(uint64_t);

	strbuf_truncate(out, end);
	if (out->error == 0)
		memcpy(out->data, &body_len, sizeof(body_len));
	flat_put_number(out, order->client.verify);
	flat_put_number(out, order->client.needs_http2);
	flat_put_number(out, order->client.use_proxy_env);
	flat_put_text(out, order->client.resolve);
	flat_put_number(out, order->client.connect_timeout_ns);
	flat_put_number(out, order->client.total_timeout_ns);
	flat_put_text(out, order->url);
	put_pem(out, &order->tls.ca);
	put_pem(out, &order->tls.cert);
	put_pem(out, &order->tls.key);
	flat_put_number(out, order->has_body);
	flat_put_number(out, order->nr_headers);
	for (size_t i = 0; i < order->nr_headers; i++)
		flat_put_text(out, order->headers[i]);
	flat_put_bytes(out, order->extra, order->extra_len);
	put_environment(out, order);
}

static struct http_pem take_pem(struct flat_reader *reader)
{
	bool is_there = flat_take_bool(reader);
	struct http_pem pem;
	const char *text = flat_take_bytes(reader, PEM_MAX_BYTES, &pem.len);

	pem.text = is_there ? text : NULL;
	return pem;
}

/* The body is not followed by a NUL, as it is written in pieces. */
static void take_body(struct flat_reader *reader, struct http_order *order)
{
	order->body_len = flat_take_number(reader, reader->len);
	order->body = reader->at;
	if (order->body_len > reader->len) {
		reader->is_bad = true;
		return;
	}
	reader->at += order->body_len;
	reader->len -= order->body_len;
}

int http_order_read(const void *bytes, size_t len, struct http_order *ret_order)
{
	struct flat_reader reader = flat_reader(bytes, len);
	size_t environment_len;

	take_body(&reader, ret_order);
	ret_order->client.verify = flat_take_number(&reader, HTTP_VERIFY_PINNED);
	ret_order->client.needs_http2 = flat_take_bool(&reader);
	ret_order->client.use_proxy_env = flat_take_bool(&reader);
	const char *resolve = flat_take_text(&reader, RESOLVE_MAX_BYTES);
	ret_order->client.resolve = resolve[0] ? resolve : NULL;
	ret_order->client.connect_timeout_ns = flat_take_number(&reader, UINT64_MAX);
	ret_order->client.total_timeout_ns = flat_take_number(&reader, UINT64_MAX);
	ret_order->url = flat_take_text(&reader, URL_MAX_BYTES);
	ret_order->tls.ca = take_pem(&reader);
	ret_order->tls.cert = take_pem(&reader);
	ret_order->tls.key = take_pem(&reader);
	ret_order->has_body = flat_take_bool(&reader);
	ret_order->nr_headers = flat_take_number(&reader, HTTP_ORDER_MAX_HEADERS);
	for (size_t i = 0; i < ret_order->nr_headers; i++)
		ret_order->headers[i] = flat_take_text(&reader, HEADER_MAX_BYTES);
	ret_order->extra = flat_take_bytes(&reader, EXTRA_MAX_BYTES, &ret_order->extra_len);
	ret_order->environment = flat_take_bytes(&reader, ENVIRONMENT_MAX_BYTES, &environment_len);
	if (environment_len == 0 || ret_order->environment[environment_len - 1] != '\0')
		return -EBADMSG;
	return flat_reader_finish(&reader);
}

static int set_environment(const char *environment)
{
	for (const char *entry = environment; *entry; entry += strlen(entry) + 1)
		for (size_t i = 0; i < array_len(proxy_variables); i++) {
			const char *name = proxy_variables[i];
			size_t len = strlen(name);

			if (strncmp(entry, name, len) == 0 && entry[len] == '=' &&
			    setenv(name, entry + len + 1, 1) < 0)
				return -errno;
		}
	return 0;
}

int http_order_new_client(const struct http_order *order, struct http_client **ret_client)
{
	int r = order->client.use_proxy_env ? set_environment(order->environment) : 0;

	return r < 0 ? r : http_client_new(&order->client, ret_client);
}

struct http_request http_order_request(const struct http_order *order, const struct http_sink *sink)
{
	return (struct http_request){
		.url = order->url,
		.tls = order->tls,
		.headers = order->headers,
		.nr_headers = order->nr_headers,
		.body = order->has_body ? order->body : NULL,
		.body_len = order->body_len,
		.sink = sink,
	};
}
