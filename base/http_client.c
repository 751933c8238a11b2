/* SPDX-License-Identifier: Apache-2.0 */
/* The only file that knows libcurl.
 *
 * Everything that could make a request go somewhere else than the caller said, or take longer than it
 * said, is set explicitly and never left to a default: redirects, protocols, proxies, .netrc, signals,
 * timeouts, TLS version. What stays between two requests is the connection. */
#include "base/http_client.h"

#include "base/clock.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdlib.h>

struct http_client {
	CURL *curl; /* owned */
	struct curl_slist *resolve; /* owned; libcurl reads it with every request */
	char error[CURL_ERROR_SIZE];
};

static pthread_once_t curl_once = PTHREAD_ONCE_INIT;
static CURLcode curl_ready;

static void init_curl(void)
{
	curl_ready = curl_global_init(CURL_GLOBAL_DEFAULT);
}

/* libcurl takes 0 for "forever": a timeout is at least a millisecond. */
static long timeout_ms(uint64_t ns)
{
	uint64_t ms = ns / NSEC_PER_MSEC + (ns % NSEC_PER_MSEC != 0);

	if (ms == 0)
		return 1;
	return ms > INT32_MAX ? INT32_MAX : (long)ms;
}

static size_t take_body(char *data, size_t one, size_t len, void *ctx)
{
	struct strbuf *body = ctx;

	strbuf_append(body, data, one * len);
	return strbuf_error(body) < 0 ? 0 : one * len;
}

static int set_limits(CURL *curl, const struct http_client_opts *opts)
{
	unsigned int failed = 0;

	failed |= curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	failed |= curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
	failed |= curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
	failed |= curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	failed |= curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
				   timeout_ms(opts->connect_timeout_ns));
	failed |= curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, timeout_ms(opts->total_timeout_ns));
	if (!opts->use_proxy_env)
		failed |= curl_easy_setopt(curl, CURLOPT_PROXY, "");
	return failed ? -ENOMEM : 0;
}

static int set_tls(CURL *curl, const struct http_client_opts *opts)
{
	unsigned int failed = 0;

	failed |= curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	failed |= curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER,
				   opts->verify == HTTP_VERIFY_NONE ? 0L : 1L);
	failed |= curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST,
				   opts->verify == HTTP_VERIFY_FULL ? 2L : 0L);
	if (opts->ca_file)
		failed |= curl_easy_setopt(curl, CURLOPT_CAINFO, opts->ca_file);
	return failed ? -ENOMEM : 0;
}

static int set_transfer(struct http_client *client)
{
	CURL *curl = client->curl;
	unsigned int failed = 0;

	failed |= curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, client->error);
	failed |= curl_easy_setopt(curl, CURLOPT_USERAGENT, "flamelet/" FLAMELET_VERSION);
	failed |= curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	failed |= curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
	failed |= curl_easy_setopt(curl, CURLOPT_RESOLVE, client->resolve);
	return failed ? -ENOMEM : 0;
}

int http_client_new(const struct http_client_opts *opts, struct http_client **ret_client)
{
	_cleanup_(http_client_freep) struct http_client *client = NULL;
	int r;

	pthread_once(&curl_once, init_curl);
	client = calloc(1, sizeof(*client));
	if (!client || curl_ready != CURLE_OK)
		return -ENOMEM;
	client->curl = curl_easy_init();
	if (!client->curl)
		return -ENOMEM;
	if (opts->resolve) {
		client->resolve = curl_slist_append(NULL, opts->resolve);
		if (!client->resolve)
			return -ENOMEM;
	}

	r = set_limits(client->curl, opts);
	if (r == 0)
		r = set_tls(client->curl, opts);
	if (r == 0)
		r = set_transfer(client);
	if (r < 0)
		return r;
	*ret_client = take_ptr(client);
	return 0;
}

void http_client_free(struct http_client *client)
{
	if (!client)
		return;
	curl_easy_cleanup(client->curl);
	curl_slist_free_all(client->resolve);
	free(client);
}

static void slist_freep(struct curl_slist **list)
{
	curl_slist_free_all(*list);
}

static int append_header(struct curl_slist **list, const char *header)
{
	struct curl_slist *longer = curl_slist_append(*list, header);

	if (!longer)
		return -ENOMEM;
	*list = longer;
	return 0;
}

/* An empty Expect keeps libcurl from waiting for "100 Continue" before a large body. */
static int make_headers(const struct http_request *request, struct curl_slist **ret_list)
{
	_cleanup_(slist_freep) struct curl_slist *list = NULL;
	int r = append_header(&list, "Expect:");

	for (size_t i = 0; r == 0 && i < request->nr_headers; i++)
		r = append_header(&list, request->headers[i]);
	if (r < 0)
		return r;
	*ret_list = take_ptr(list);
	return 0;
}

static int set_request(CURL *curl, const struct http_request *request, struct curl_slist *headers,
		       struct strbuf *body)
{
	unsigned int failed = 0;

	failed |= curl_easy_setopt(curl, CURLOPT_URL, request->url);
	failed |= curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	failed |= curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
	if (request->body) {
		failed |= curl_easy_setopt(curl, CURLOPT_POST, 1L);
		failed |= curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
		failed |= curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
					   (curl_off_t)request->body_len);
	} else {
		failed |= curl_easy_setopt(curl, CURLOPT_HTTPGET, 1L);
	}
	return failed ? -ENOMEM : 0;
}

/* The caller's memory is not pointed to once the request is over. */
static void forget_request(CURL *curl)
{
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, NULL);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, NULL);
	curl_easy_setopt(curl, CURLOPT_POSTFIELDS, NULL);
}

static int connect_error(CURL *curl)
{
	long os_errno = 0;

	curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &os_errno);
	switch (os_errno) {
	case EHOSTUNREACH:
	case ENETUNREACH:
	case EADDRNOTAVAIL:
		return -EHOSTUNREACH;
	case ETIMEDOUT:
		return -ETIMEDOUT;
	default:
		return -ECONNREFUSED;
	}
}

static int map_error(CURL *curl, CURLcode code, const struct strbuf *body)
{
	switch (code) {
	case CURLE_OK:
		return 0;
	case CURLE_OPERATION_TIMEDOUT:
		return -ETIMEDOUT;
	case CURLE_COULDNT_CONNECT:
		return connect_error(curl);
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
		return -EHOSTUNREACH;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
		return -EKEYREJECTED;
	case CURLE_WRITE_ERROR:
		return strbuf_error(body) < 0 ? strbuf_error(body) : -EPROTO;
	case CURLE_OUT_OF_MEMORY:
		return -ENOMEM;
	default:
		return -EPROTO;
	}
}

static struct http_response read_response(CURL *curl)
{
	curl_off_t retry_after_s = 0;
	long status = 0;

	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &retry_after_s);
	return (struct http_response){
		.status = (unsigned int)status,
		.retry_after_s = retry_after_s > 0 ? (uint64_t)retry_after_s : 0,
	};
}

int http_perform(struct http_client *client, const struct http_request *request,
		 struct strbuf *body, struct http_response *ret_response)
{
	_cleanup_(slist_freep) struct curl_slist *headers = NULL;
	int r;

	client->error[0] = '\0';
	r = make_headers(request, &headers);
	if (r == 0)
		r = set_request(client->curl, request, headers, body);
	if (r < 0)
		return r;

	CURLcode code = curl_easy_perform(client->curl);
	r = map_error(client->curl, code, body);
	forget_request(client->curl);
	if (r < 0) {
		if (!client->error[0])
			snprintf(client->error, sizeof(client->error), "%s",
				 curl_easy_strerror(code));
		return r;
	}
	*ret_response = read_response(client->curl);
	return 0;
}

const char *http_client_error(const struct http_client *client)
{
	return client->error;
}
