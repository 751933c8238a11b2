/* SPDX-License-Identifier: Apache-2.0 */
/* A kubelet has an address and a name. An agent's pod knows the address of its node, but the
 * kubelet's certificate often contains only the node's name. So if there is a node name, the
 * request is for https://NODE:PORT/pods. libcurl verifies that name, and an option of the request
 * makes libcurl connect to the address.
 *
 * The request is made here. A process without privileges (kubelet_worker.h) sends it and reads the
 * answer. */
#include "k8s/kubelet.h"

#include "base/bearer_token.h"
#include "base/clock.h"
#include "base/minmax.h"
#include "base/printable.h"
#include "base/text.h"
#include "base/tls_files.h"
#include "k8s/kubelet_answer.h"
#include "k8s/kubelet_endpoint.h"
#include "k8s/kubelet_worker.h"
#include "k8s/pod_block.h"
#include "worker/http_order.h"

#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

#define DEFAULT_TIMEOUT_NS (10 * NSEC_PER_SEC)
#define CONNECT_TIMEOUT_NS (3 * NSEC_PER_SEC)
#define TOKEN_MAX_BYTES ((size_t)64 << 10)
#define ERROR_MAX 1024
#define RESOLVE_MAX (2 * KUBELET_HOST_MAX + 32)
#define MESSAGE_MAX_BYTES 256
#define ANSWER_MAX_BYTES ((size_t)4096) /* without the pods */
#define TASK_MAX_BYTES ((size_t)512 << 10)
#define WORKER_GRACE_NS (2 * NSEC_PER_SEC) /* to start, and to report a timeout by itself */
#define WORKER_CPU_S 30 /* 64 MB of pods take 1 s */

struct kubelet {
	struct worker_client *worker; /* owned */
	char *url; /* owned; as in the options */
	char *pods_url; /* owned */
	char resolve[RESOLVE_MAX]; /* "" for none */
	char *token_file; /* owned; NULL: none */
	struct tls_files files;
	bool is_https;
	bool may_send_token;
	bool is_insecure;
	enum http_verify verify;
	uint64_t timeout_ns;
	uint64_t give_up_ns; /* atomic: see kubelet_give_up() */
	struct kubelet_stats stats;
	char error[ERROR_MAX];
};

/* Returns whether the certificate is verified for the node's name, because the URL has only an
 * address. */
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

static void make_resolve(struct kubelet *kubelet, const struct kubelet_opts *opts,
			 const struct kubelet_endpoint *endpoint)
{
	if (uses_node_name(opts, endpoint))
		snprintf(kubelet->resolve, sizeof(kubelet->resolve),
			 endpoint->is_ipv6 ? "%s:%u:[%s]" : "%s:%u:%s", opts->node_name,
			 endpoint->port, endpoint->host);
}

static int make_worker(struct kubelet *kubelet)
{
	const struct worker_client_opts opts = {
		.command = KUBELET_WORKER_COMMAND,
		.max_data_bytes = KUBELET_WORKER_DATA_BYTES,
	};

	return worker_client_new(&opts, &kubelet->worker);
}

static int copy_opts(struct kubelet *kubelet, const struct kubelet_opts *opts,
		     const struct kubelet_endpoint *endpoint)
{
	kubelet->give_up_ns = UINT64_MAX;
	kubelet->timeout_ns = opts->timeout_ns ? opts->timeout_ns : DEFAULT_TIMEOUT_NS;
	kubelet->is_https = endpoint->is_https;
	kubelet->may_send_token = endpoint->is_https || endpoint->is_loopback;
	kubelet->verify = opts->verify;
	kubelet->is_insecure = !endpoint->is_https || opts->verify == HTTP_VERIFY_NONE;
	int r = text_copy(opts->url, &kubelet->url);
	if (r == 0)
		r = text_copy(opts->token_file, &kubelet->token_file);
	return r < 0 ? r : tls_files_init(&kubelet->files, opts->ca_file, NULL, NULL);
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
		r = make_worker(kubelet);
	if (r < 0)
		return r;
	make_resolve(kubelet, opts, &endpoint);
	*ret_kubelet = take_ptr(kubelet);
	return 0;
}

void kubelet_free(struct kubelet *kubelet)
{
	if (!kubelet)
		return;
	worker_client_free(kubelet->worker);
	free(kubelet->url);
	free(kubelet->pods_url);
	free(kubelet->token_file);
	tls_files_done(&kubelet->files);
	free(kubelet);
}

void kubelet_give_up(struct kubelet *kubelet)
{
	__atomic_store_n(&kubelet->give_up_ns, 0, __ATOMIC_RELAXED);
}

/* Keeps a sentence for kubelet_error() and returns `error`. The sentence is made printable, because
 * parts of it come from outside and are shown on terminals. */
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

/* Makes the Authorization header from the token file, unless there is none or it must not be sent.
 * Characters that could end the header are refused. */
static int read_token(struct kubelet *kubelet, struct strbuf *header)
{
	if (!kubelet->token_file || !kubelet->may_send_token)
		return 0;
	int r = bearer_token_read(kubelet->token_file, TOKEN_MAX_BYTES, header);
	if (r == -EBADMSG)
		return fail(kubelet, r, "%s has no token: see --kubelet-token-file",
			    kubelet->token_file);
	if (r < 0)
		return fail(kubelet, r, "cannot read the kubelet's token from %s: %s",
			    kubelet->token_file, strerror(-r));
	return 0;
}

static int explain_certificate(struct kubelet *kubelet, const char *reason)
{
	if (kubelet->verify == HTTP_VERIFY_PINNED)
		return fail(
			kubelet, -EKEYREJECTED,
			"cannot verify the kubelet's certificate (%s): --kubelet-ca-file must be "
			"the kubelet's own certificate, usually /var/lib/kubelet/pki/kubelet.crt",
			reason);
	return fail(kubelet, -EKEYREJECTED,
		    "cannot verify the kubelet's certificate (%s): --kubelet-ca-file must name the "
		    "CA that signed it, and the node's name or the host of --kubelet-url must be "
		    "listed in it",
		    reason);
}

/* Explains why there was no complete answer. */
static int explain_failure(struct kubelet *kubelet, int error, const char *reason)
{
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
			    "block it, or the kubelet cannot reach the API server",
			    (double)kubelet->timeout_ns / NSEC_PER_SEC, reason);
	case -ENOSPC:
		return fail(kubelet, error, "the kubelet's pod list is longer than %zu MB",
			    KUBELET_BODY_MAX_BYTES >> 20);
	default:
		return fail(kubelet, error, "the kubelet's response cannot be read (%s)", reason);
	}
}

/* Explains why an answer is not a pod list. */
static int explain_list(struct kubelet *kubelet, int error)
{
	switch (error) {
	case -EBADMSG:
		return fail(kubelet, error,
			    "the server did not return a pod list: --kubelet-url must be the "
			    "kubelet's, usually port 10250");
	case -ENOSPC:
		return fail(kubelet, error, "the kubelet's pod list is too large");
	default:
		return fail(kubelet, error, "cannot read the kubelet's pod list: %s",
			    strerror(-error));
	}
}

static int explain_unauthorized(struct kubelet *kubelet)
{
	if (!kubelet->token_file)
		return fail(kubelet, -EACCES,
			    "the kubelet requires a token (401): see --kubelet-token-file");
	if (!kubelet->may_send_token)
		return fail(kubelet, -EACCES,
			    "the kubelet requires a token (401), which is only sent over https: "
			    "--kubelet-url must begin with https://");
	return fail(kubelet, -EACCES,
		    "the kubelet does not accept the token (401): %s must hold a token of a "
		    "service account of this cluster; or the kubelet cannot ask the API server",
		    kubelet->token_file);
}

/* Explains a refusal by its status; `words` are from the answer's body. */
static int explain_status(struct kubelet *kubelet, const char *words)
{
	switch (kubelet->stats.status) {
	case 401:
		return explain_unauthorized(kubelet);
	case 403:
		return fail(kubelet, -EPERM, "%s", words);
	default:
		return fail(kubelet, -EBADMSG, "the kubelet answers with status %u: %s",
			    kubelet->stats.status, words);
	}
}

/* Explains a failure of the worker process. */
static int explain_worker(struct kubelet *kubelet, int error)
{
	switch (error) {
	case -ETIMEDOUT:
		return fail(kubelet, error, "the kubelet worker timed out");
	case -EPIPE:
	case -EAGAIN:
		return fail(kubelet, error, "the kubelet worker exited");
	case -ECANCELED:
		return fail(kubelet, error, "given up");
	case -EBADMSG:
		return fail(kubelet, error, "the kubelet worker returned invalid data");
	default:
		return fail(kubelet, error, "cannot use the kubelet worker: %s", strerror(-error));
	}
}

static int make_order(struct kubelet *kubelet, const struct pod_list_opts *opts,
		      const struct http_tls *tls, const char *token, struct strbuf *bytes)
{
	_cleanup_(strbuf_done) struct strbuf task = strbuf_with_max(TASK_MAX_BYTES);
	uint64_t timeout_ns = kubelet->timeout_ns;
	struct http_order order = {
		.client.verify = kubelet->verify,
		.client.resolve = kubelet->resolve,
		.client.connect_timeout_ns = min_u64(timeout_ns, CONNECT_TIMEOUT_NS),
		.client.total_timeout_ns = timeout_ns,
		.url = kubelet->pods_url,
		.tls = *tls,
		.headers = { token },
		.nr_headers = token[0] != '\0',
	};

	kubelet_task_append(&task, opts);
	order.extra = task.data;
	order.extra_len = task.len;
	http_order_begin(bytes);
	http_order_finish(bytes, bytes->len, &order);
	return strbuf_error(&task) < 0 ? strbuf_error(&task) : strbuf_error(bytes);
}

/* Makes the request, with the current content of the files. */
static int prepare(struct kubelet *kubelet, const struct pod_list_opts *opts, struct strbuf *bytes)
{
	_cleanup_(strbuf_done) struct strbuf token = strbuf_with_max(TOKEN_MAX_BYTES + 32);
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_MAX_BYTES);
	_cleanup_(tls_texts_done) struct tls_texts texts = { .tls = { .ca = { .text = NULL } } };

	int r = read_token(kubelet, &token);
	if (r < 0)
		return r;
	if (kubelet->is_https && tls_files_read(&kubelet->files, &texts, &message) < 0)
		return explain_certificate(kubelet, strbuf_str(&message));
	r = make_order(kubelet, opts, &texts.tls, strbuf_str(&token), bytes);
	return r < 0 ? explain_worker(kubelet, r) : 0;
}

static int refuse_answer(struct kubelet *kubelet)
{
	worker_client_reject(kubelet->worker);
	return explain_worker(kubelet, -EBADMSG);
}

/* Reads the answer, treating the worker as hostile. */
static int read_pods(struct kubelet *kubelet, const struct worker_bytes *reply, size_t max_bytes,
		     struct pod_list **ret_list)
{
	struct flat_reader reader = flat_reader(reply->data, reply->len);
	struct kubelet_answer answer;

	int r = kubelet_answer_read(&reader, &answer);
	if (r < 0)
		return refuse_answer(kubelet);
	kubelet->stats = (struct kubelet_stats){ answer.status, answer.http_version,
						 answer.nr_bytes };
	switch (answer.stage) {
	case KUBELET_SILENT:
		return explain_failure(kubelet, answer.error, answer.words);
	case KUBELET_NO_LIST:
		return explain_list(kubelet, answer.error);
	case KUBELET_REFUSED:
		return explain_status(kubelet, answer.words);
	case KUBELET_ANSWERED:
		break;
	}
	r = pod_block_read(&reader, max_bytes, ret_list);
	if (r == -EBADMSG)
		return refuse_answer(kubelet);
	return r < 0 ? explain_list(kubelet, r) : 0;
}

int kubelet_get_pods(struct kubelet *kubelet, const struct pod_list_opts *opts,
		     struct pod_list **ret_list)
{
	_cleanup_(strbuf_done) struct strbuf order = strbuf_with_max(HTTP_ORDER_MAX_REST_BYTES);
	const struct worker_limits limits = {
		.timeout_ns = kubelet->timeout_ns + WORKER_GRACE_NS,
		.cpu_s = WORKER_CPU_S,
	};
	struct worker_bytes reply = { 0 };

	kubelet->error[0] = '\0';
	kubelet->stats = (struct kubelet_stats){ 0 };
	int r = prepare(kubelet, opts, &order);
	if (r < 0)
		return r;
	r = worker_client_ask(kubelet->worker, &order, 2 * opts->max_bytes + ANSWER_MAX_BYTES,
			      &limits, &kubelet->give_up_ns, &reply);
	if (r < 0)
		return explain_worker(kubelet, r);
	r = read_pods(kubelet, &reply, opts->max_bytes, ret_list);
	free(reply.data);
	return r;
}

struct worker_stats kubelet_get_worker_stats(const struct kubelet *kubelet)
{
	return worker_client_get_stats(kubelet->worker);
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
