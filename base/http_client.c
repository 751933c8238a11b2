/* SPDX-License-Identifier: Apache-2.0 */
/* The only file that knows libcurl.
 *
 * Options that could send a request elsewhere or make it take longer than the caller allows are set
 * explicitly and never left to a default: redirects, protocols, proxies, .netrc, signals, timeouts,
 * TLS version. Only the connection persists between requests.
 *
 * A pinned certificate is compared after the connection was made and before the request is sent,
 * when libcurl calls check_pin(). libcurl only has the certificate after a full handshake, so with
 * a pinned certificate each request uses a new connection and no TLS session is resumed. */
#include "base/http_client.h"

#include "base/clock.h"
#include "base/pem.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define PIN_MAX_BYTES ((size_t)1 << 20)
#define HEADERS_MAX_BYTES ((size_t)512 << 10) /* of an answer, with its trailers */

struct http_client {
	CURL *curl; /* owned */
	struct curl_slist *resolve; /* owned; libcurl reads it with every request */
	bool is_pinned;
	const char *pin; /* borrowed, while a request is under way */
	bool needs_http2;
	const char *refusal; /* of the server's certificate; NULL: none */
	char error[CURL_ERROR_SIZE];
};

/* An answer that is being received. */
struct transfer {
	CURL *curl;
	const struct http_sink *sink; /* NULL: all goes to `body` */
	struct strbuf *body;
	size_t nr_sunk_bytes;
	size_t nr_header_bytes;
	bool is_cut; /* the transfer was ended because `body` is full */
	int error; /* of the receiver of the body; libcurl only reports a write error */
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

static unsigned int read_status(CURL *curl)
{
	long status = 0;

	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	return (unsigned int)status;
}

static int sink_piece(struct transfer *transfer, const char *bytes, size_t len)
{
	const struct http_sink *sink = transfer->sink;

	if (len > sink->max_bytes - transfer->nr_sunk_bytes)
		return -ENOSPC;
	transfer->nr_sunk_bytes += len;
	return sink->take(sink->data, bytes, len);
}

static int buffer_piece(struct transfer *transfer, const char *bytes, size_t len)
{
	struct strbuf *body = transfer->body;

	transfer->is_cut = transfer->sink && len > body->max - body->len;
	strbuf_append(body, bytes, transfer->is_cut ? body->max - body->len : len);
	return strbuf_error(body);
}

/* libcurl ends the transfer if the result is not `one * len`. */
static size_t take_body(char *bytes, size_t one, size_t len, void *data)
{
	struct transfer *transfer = data;

	if (transfer->sink && read_status(transfer->curl) == 200)
		transfer->error = sink_piece(transfer, bytes, one * len);
	else
		transfer->error = buffer_piece(transfer, bytes, one * len);
	return transfer->error < 0 || transfer->is_cut ? 0 : one * len;
}

/* libcurl stores headers and trailers, and not all of its releases limit both. */
static size_t count_header(char *bytes, size_t one, size_t len, void *data)
{
	struct transfer *transfer = data;

	(void)bytes;
	transfer->nr_header_bytes += one * len;
	if (transfer->nr_header_bytes <= HEADERS_MAX_BYTES)
		return one * len;
	transfer->error = -EPROTO;
	return 0;
}

/* Reads the base64 digits of the server's own certificate. */
static int read_shown_certificate(CURL *curl, struct strbuf *digits)
{
	const struct curl_certinfo *shown = NULL;

	curl_easy_getinfo(curl, CURLINFO_CERTINFO, &shown);
	if (!shown || shown->num_of_certs < 1)
		return -EBADMSG;
	for (const struct curl_slist *field = shown->certinfo[0]; field; field = field->next)
		if (strncmp(field->data, "Cert:", strlen("Cert:")) == 0)
			return pem_first_certificate(field->data, digits);
	return -EBADMSG;
}

/* Returns why the server's certificate is not the pinned one; NULL if it is. */
static const char *find_refusal(const struct http_client *client)
{
	_cleanup_(strbuf_done) struct strbuf pinned = strbuf_with_max(PIN_MAX_BYTES);
	_cleanup_(strbuf_done) struct strbuf shown = strbuf_with_max(PIN_MAX_BYTES);

	if (!client->pin || pem_first_certificate(client->pin, &pinned) < 0)
		return "the file of the pinned certificate has no certificate";
	if (read_shown_certificate(client->curl, &shown) < 0)
		return "the server shows no certificate";
	if (strcmp(strbuf_str(&pinned), strbuf_str(&shown)) != 0)
		return "the server's certificate is not the pinned one";
	return NULL;
}

static int check_pin(void *data, char *remote_ip, char *local_ip, int remote_port, int local_port)
{
	struct http_client *client = data;

	(void)remote_ip;
	(void)local_ip;
	(void)remote_port;
	(void)local_port;
	client->refusal = find_refusal(client);
	return client->refusal ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
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
	/* libcurl resolves names in a thread that cannot be stopped. Without this option, libcurl
	 * waits for the thread beyond all timeouts. */
	failed |= curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
	if (!opts->use_proxy_env)
		failed |= curl_easy_setopt(curl, CURLOPT_PROXY, "");
	if (opts->needs_http2)
		failed |= curl_easy_setopt(curl, CURLOPT_HTTPPROXYTUNNEL, 1L);
	return failed ? -ENOMEM : 0;
}

static int set_tls(CURL *curl, const struct http_client_opts *opts)
{
	bool has_chain = opts->verify == HTTP_VERIFY_FULL || opts->verify == HTTP_VERIFY_CA_ONLY;
	unsigned int failed = 0;

	failed |= curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	failed |= curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, has_chain ? 1L : 0L);
	failed |= curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST,
				   opts->verify == HTTP_VERIFY_FULL ? 2L : 0L);
	return failed ? -ENOMEM : 0;
}

static int set_pin(struct http_client *client)
{
	CURL *curl = client->curl;
	unsigned int failed = 0;

	client->is_pinned = true;
	failed |= curl_easy_setopt(curl, CURLOPT_CERTINFO, 1L);
	failed |= curl_easy_setopt(curl, CURLOPT_PREREQFUNCTION, check_pin);
	failed |= curl_easy_setopt(curl, CURLOPT_PREREQDATA, client);
	failed |= curl_easy_setopt(curl, CURLOPT_SSL_SESSIONID_CACHE, 0L);
	return failed ? -ENOMEM : 0;
}

static int set_transfer(struct http_client *client)
{
	CURL *curl = client->curl;
	unsigned int failed = 0;

	failed |= curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, client->error);
	failed |= curl_easy_setopt(curl, CURLOPT_USERAGENT, "flamelet/" FLAMELET_VERSION);
	failed |= curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, count_header);
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
	client->needs_http2 = opts->needs_http2;
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
	if (r == 0 && opts->verify == HTTP_VERIFY_PINNED)
		r = set_pin(client);
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

/* With TLS, client and server negotiate the version. Without TLS, HTTP/2 is spoken if it is needed;
 * libcurl before 8.0 cannot do that twice on one connection. */
static int set_connection(const struct http_client *client, const char *url)
{
	bool is_unasked = client->needs_http2 && strncasecmp(url, "http:", strlen("http:")) == 0;
	bool is_single = client->is_pinned ||
			 (is_unasked && curl_version_info(CURLVERSION_NOW)->version_num < 0x080000);
	long version = is_unasked ? CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE : CURL_HTTP_VERSION_2TLS;
	unsigned int failed = 0;

	failed |= curl_easy_setopt(client->curl, CURLOPT_HTTP_VERSION, version);
	failed |= curl_easy_setopt(client->curl, CURLOPT_FRESH_CONNECT, is_single ? 1L : 0L);
	failed |= curl_easy_setopt(client->curl, CURLOPT_FORBID_REUSE, is_single ? 1L : 0L);
	return failed ? -ENOMEM : 0;
}

static unsigned int set_pem(CURL *curl, CURLoption option, const struct http_pem *pem)
{
	struct curl_blob blob = {
		.data = (void *)pem->text,
		.len = pem->len,
		.flags = CURL_BLOB_COPY,
	};

	return curl_easy_setopt(curl, option, pem->text ? &blob : NULL);
}

/* Certificates are passed as bytes, since this process may not be allowed to read the files. */
static int set_certificates(const struct http_client *client, const struct http_tls *tls)
{
	CURL *curl = client->curl;
	unsigned int failed = 0;

	if (!client->is_pinned) {
		failed |= set_pem(curl, CURLOPT_CAINFO_BLOB, &tls->ca);
		/* Otherwise libcurl would also trust the system's certificate directory. */
		if (tls->ca.text)
			failed |= curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
	}
	failed |= set_pem(curl, CURLOPT_SSLCERT_BLOB, &tls->cert);
	failed |= set_pem(curl, CURLOPT_SSLKEY_BLOB, &tls->key);
	return failed ? -ENOMEM : 0;
}

static int set_request(CURL *curl, const struct http_request *request, struct curl_slist *headers,
		       struct transfer *transfer)
{
	unsigned int failed = 0;

	failed |= curl_easy_setopt(curl, CURLOPT_URL, request->url);
	failed |= curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
	failed |= curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
	failed |= curl_easy_setopt(curl, CURLOPT_HEADERDATA, transfer);
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

/* Removes pointers to the caller's memory after the request. */
static void forget_request(CURL *curl)
{
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, NULL);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, NULL);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA, NULL);
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

static int map_error(CURL *curl, CURLcode code)
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
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_ISSUER_ERROR:
		return -EKEYREJECTED;
	case CURLE_OUT_OF_MEMORY:
		return -ENOMEM;
	default:
		return -EPROTO;
	}
}

static struct http_response read_response(CURL *curl)
{
	curl_off_t retry_after_s = 0;
	long version = 0;

	curl_easy_getinfo(curl, CURLINFO_HTTP_VERSION, &version);
	curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &retry_after_s);
	return (struct http_response){
		.status = read_status(curl),
		.version = version == CURL_HTTP_VERSION_2_0 ? 2 : 1,
		.retry_after_s = retry_after_s > 0 ? (uint64_t)retry_after_s : 0,
	};
}

/* libcurl's own limits are 100 KB for one header, 300 KB for all of them and 4 KB for a trailer.
 * For the first and the last it reports that memory ran out; once an answer has begun, this is
 * assumed to mean a long header. */
static bool has_long_headers(const struct http_client *client, CURLcode code,
			     const struct transfer *transfer)
{
	curl_off_t first_byte_us = 0;

	if (transfer->nr_header_bytes > HEADERS_MAX_BYTES)
		return true;
	curl_easy_getinfo(client->curl, CURLINFO_STARTTRANSFER_TIME_T, &first_byte_us);
	if (code == CURLE_OUT_OF_MEMORY)
		return first_byte_us > 0;
	return strstr(client->error, "Too large response headers") ||
	       strstr(client->error, "Out of memory in chunked-encoding");
}

static int find_error(const struct http_client *client, CURLcode code,
		      const struct transfer *transfer)
{
	if (client->refusal)
		return -EKEYREJECTED;
	if (transfer->error < 0)
		return transfer->error;
	if (!transfer->is_cut && code != CURLE_OK)
		return has_long_headers(client, code, transfer) ? -EPROTO
								: map_error(client->curl, code);
	return client->needs_http2 && read_response(client->curl).version != 2 ? -EPROTONOSUPPORT
									       : 0;
}

/* A server that only knows HTTP/1 closes an HTTP/2 connection or sends data that libcurl cannot
 * parse. The message must say more than "Empty reply from server". */
static void find_words(struct http_client *client, int error, CURLcode code,
		       const struct transfer *transfer)
{
	size_t len;

	if (client->refusal)
		snprintf(client->error, sizeof(client->error), "%s", client->refusal);
	else if (error == -EPROTONOSUPPORT)
		snprintf(client->error, sizeof(client->error), "the server does not speak HTTP/2");
	else if (error == -EPROTO && has_long_headers(client, code, transfer))
		snprintf(client->error, sizeof(client->error),
			 "the headers or trailers of the response are too long");
	else if (!client->error[0])
		snprintf(client->error, sizeof(client->error), "%s", curl_easy_strerror(code));

	len = strlen(client->error);
	if (client->needs_http2 && error == -EPROTO && transfer->nr_header_bytes == 0)
		snprintf(client->error + len, sizeof(client->error) - len,
			 " (is this a server that speaks HTTP/2?)");
}

int http_perform(struct http_client *client, const struct http_request *request,
		 struct strbuf *body, struct http_response *ret_response)
{
	_cleanup_(slist_freep) struct curl_slist *headers = NULL;
	struct transfer transfer = {
		.curl = client->curl,
		.sink = request->sink,
		.body = body,
	};
	int r;

	client->error[0] = '\0';
	client->refusal = NULL;
	client->pin = request->tls.ca.text;
	r = make_headers(request, &headers);
	if (r == 0)
		r = set_certificates(client, &request->tls);
	if (r == 0)
		r = set_connection(client, request->url);
	if (r == 0)
		r = set_request(client->curl, request, headers, &transfer);
	if (r < 0)
		return r;

	CURLcode code = curl_easy_perform(client->curl);
	forget_request(client->curl);
	r = find_error(client, code, &transfer);
	if (r < 0) {
		find_words(client, r, code, &transfer);
		return r;
	}
	*ret_response = read_response(client->curl);
	return 0;
}

const char *http_client_header(const struct http_client *client, const char *name)
{
	const unsigned int kinds = CURLH_HEADER | CURLH_TRAILER;
	struct curl_header *header = NULL;

	if (curl_easy_header(client->curl, name, 0, kinds, -1, &header) != CURLHE_OK ||
	    curl_easy_header(client->curl, name, header->amount - 1, kinds, -1, &header) !=
		    CURLHE_OK)
		return NULL;
	return header->value;
}

const char *http_client_error(const struct http_client *client)
{
	return client->error;
}
