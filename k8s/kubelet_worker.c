/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/kubelet_worker.h"

#include "base/cleanup.h"
#include "base/flat.h"
#include "k8s/kubelet_answer.h"
#include "k8s/kubelet_refusal.h"
#include "k8s/pod_block.h"
#include "k8s/pod_list_reader.h"
#include "worker/http_order.h"
#include "worker/worker_server.h"

#include <stdio.h>
#include <string.h>

#define REFUSAL_MAX_BYTES ((size_t)1024) /* read of an answer with another status than 200 */
#define SAYING_MAX 256 /* part of it that is reported */
#define TASK_KEYS_MAX 1024 /* of labels or annotations */
#define TASK_KEY_MAX_BYTES ((size_t)1024)

/* Task of a request. */
struct task {
	struct pod_list_opts opts;
	const char *label_keys[TASK_KEYS_MAX], *annotation_keys[TASK_KEYS_MAX];
};

/* State between requests, which all go to the same kubelet. */
struct asker {
	struct http_client *client; /* owned; NULL before the first request */
	struct task task;
};

/* A pod list that is being received. */
struct incoming {
	struct pod_list_reader *reader;
	size_t nr_bytes;
	int error; /* of the reader */
};

static void append_keys(struct strbuf *out, const char *const *keys, size_t nr)
{
	flat_put_number(out, nr);
	for (size_t i = 0; i < nr; i++)
		flat_put_text(out, keys[i]);
}

void kubelet_task_append(struct strbuf *out, const struct pod_list_opts *opts)
{
	flat_put_number(out, opts->max_bytes);
	append_keys(out, opts->label_keys, opts->nr_label_keys);
	append_keys(out, opts->annotation_keys, opts->nr_annotation_keys);
}

static size_t take_keys(struct flat_reader *reader, const char *keys[static TASK_KEYS_MAX])
{
	size_t nr = flat_take_number(reader, TASK_KEYS_MAX);

	for (size_t i = 0; i < nr; i++)
		keys[i] = flat_take_text(reader, TASK_KEY_MAX_BYTES);
	return nr;
}

static int read_task(const struct http_order *order, struct task *ret_task)
{
	struct flat_reader reader = flat_reader(order->extra, order->extra_len);

	ret_task->opts = (struct pod_list_opts){
		.max_bytes = flat_take_number(&reader, SIZE_MAX),
		.label_keys = ret_task->label_keys,
		.nr_label_keys = take_keys(&reader, ret_task->label_keys),
		.annotation_keys = ret_task->annotation_keys,
		.nr_annotation_keys = take_keys(&reader, ret_task->annotation_keys),
	};
	return flat_reader_finish(&reader);
}

static int feed_reader(void *data, const void *bytes, size_t len)
{
	struct incoming *incoming = data;

	incoming->nr_bytes += len;
	incoming->error = pod_list_reader_feed(incoming->reader, bytes, len);
	return incoming->error;
}

/* Reports an answer with another status than 200: a sentence for 403, else its first line. */
static void repeat_refusal(const char *text, struct kubelet_answer *answer)
{
	_cleanup_(strbuf_done) struct strbuf sentence = strbuf_with_max(KUBELET_WORDS_BYTES - 1);
	int len = (int)strcspn(text, "\r\n");

	if (answer->status == 403) {
		kubelet_refusal_explain(text, &sentence);
		snprintf(answer->words, sizeof(answer->words), "%s", strbuf_str(&sentence));
	} else {
		snprintf(answer->words, sizeof(answer->words), "%.*s",
			 len < SAYING_MAX ? len : SAYING_MAX, text);
	}
}

static struct kubelet_answer request_pods(struct asker *asker, const struct http_order *order,
					  struct pod_list_reader *reader)
{
	_cleanup_(strbuf_done) struct strbuf refusal = strbuf_with_max(REFUSAL_MAX_BYTES);
	struct incoming incoming = { .reader = reader };
	const struct http_sink sink = { feed_reader, &incoming, KUBELET_BODY_MAX_BYTES };
	const struct http_request request = http_order_request(order, &sink);
	struct http_response response = { 0 };
	struct kubelet_answer answer = { .stage = KUBELET_ANSWERED };

	int r = http_perform(asker->client, &request, &refusal, &response);
	answer.nr_bytes = incoming.nr_bytes;
	if (incoming.error < 0) {
		answer.stage = KUBELET_NO_LIST;
		answer.error = incoming.error;
	} else if (r < 0) {
		answer.stage = KUBELET_SILENT;
		answer.error = r;
		snprintf(answer.words, sizeof(answer.words), "%s",
			 http_client_error(asker->client));
	} else {
		answer.status = response.status;
		answer.http_version = response.version;
	}
	if (answer.error == 0 && answer.status != 200) {
		answer.stage = KUBELET_REFUSED;
		repeat_refusal(strbuf_str(&refusal), &answer);
	}
	return answer;
}

static struct kubelet_answer no_list(const struct kubelet_answer *answer, int error)
{
	struct kubelet_answer failed = *answer;

	failed.stage = KUBELET_NO_LIST;
	failed.error = error;
	return failed;
}

/* Appends the pods, or the reason why there are none. */
static int append_pods(struct asker *asker, const struct http_order *order, struct strbuf *reply)
{
	_cleanup_(pod_list_reader_freep) struct pod_list_reader *reader = NULL;
	_cleanup_(pod_list_freep) struct pod_list *list = NULL;

	int r = pod_list_reader_new(&asker->task.opts, &reader);
	if (r < 0)
		return r;
	struct kubelet_answer answer = request_pods(asker, order, reader);
	if (answer.stage == KUBELET_ANSWERED) {
		r = pod_list_reader_finish(reader, &list);
		if (r < 0)
			answer = no_list(&answer, r);
	}
	kubelet_answer_append(reply, &answer);
	if (list)
		pod_block_append(reply, list);
	return 0;
}

static int answer(struct worker_call *call, struct strbuf *reply, void *data)
{
	struct asker *asker = data;
	struct http_order order;

	int r = http_order_read(call->bytes, call->request.nr_bytes, &order);
	if (r == 0)
		r = read_task(&order, &asker->task);
	if (r == 0 && !asker->client)
		r = http_order_new_client(&order, &asker->client);
	return r < 0 ? r : append_pods(asker, &order, reply);
}

int kubelet_worker_main(void)
{
	static struct asker asker;
	const struct worker_server_opts opts = {
		.name = "the kubelet worker",
		.sandbox = WORKER_SANDBOX_NETWORK,
		.max_request_bytes = HTTP_ORDER_MAX_REST_BYTES,
		.answer = answer,
		.data = &asker,
	};

	int status = worker_server_run(&opts);
	http_client_free(asker.client);
	return status;
}
