/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/webhook.h"

#include "base/capabilities.h"
#include "base/clock.h"
#include "base/fileio.h"
#include "base/heartbeat.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/minmax.h"
#include "base/queue.h"
#include "base/thread.h"
#include "config/option_check.h"
#include "config/options.h"
#include "otlp/transport/header_list.h"
#include "otlp/transport/transport.h"
#include "otlp/transport/transport_result.h"
#include "worker/worker_process.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define HEARTBEAT_MAX_NS (60 * NSEC_PER_SEC)
#define URL_MAX_BYTES 4096
#define BODY_MAX_BYTES 16384
#define HOST_BYTES 256
#define NAP_NS (100 * NSEC_PER_MSEC) /* between two looks at whether to give up */
#define JSON_HEADER "application/json"

struct webhook {
	struct queue bodies; /* strings, owned */
	struct transport *transport; /* owned; the thread's own */
	struct header_list headers; /* the same */
	char host[HOST_BYTES];
	pthread_t thread;
	bool is_running;
	bool is_failing; /* the thread's own: the log says so */
	uint64_t give_up_ns; /* atomic; CLOCK_MONOTONIC */
	uint64_t nr_sent, nr_failed, nr_dropped; /* atomic */
};

static int read_file(const char *path, struct strbuf *message, struct strbuf *url)
{
	int r = file_read_at(AT_FDCWD, path, url);

	if (r < 0) {
		strbuf_appendf(message, "--trigger-webhook-file %s: %s", path, strerror(-r));
		return r;
	}
	strbuf_truncate(url, strcspn(strbuf_str(url), "\r\n"));
	if (check_url(strbuf_str(url)) == 0)
		return 0;
	strbuf_appendf(message, "--trigger-webhook-file %s: its first line is no http or https URL",
		       path);
	return -EINVAL;
}

int webhook_read_url(const struct options *options, struct strbuf *reterr_msg, struct strbuf *url)
{
	bool is_given = options->trigger_webhook || options->trigger_webhook_file;

	if (options->trigger_webhook && options->trigger_webhook_file) {
		strbuf_append_str(reterr_msg, "--trigger-webhook and --trigger-webhook-file are "
					      "two URLs; remove one");
		return -EINVAL;
	}
	if (is_given && options->triggers.nr == 0) {
		strbuf_append_str(reterr_msg, "--trigger-webhook needs a rule: --trigger RULE");
		return -EINVAL;
	}
	if (options->trigger_webhook_file)
		return read_file(options->trigger_webhook_file, reterr_msg, url);
	strbuf_append_str(url, options->trigger_webhook ? options->trigger_webhook : "");
	return strbuf_error(url);
}

/* Sending. */

static bool is_over(const struct webhook *webhook)
{
	return clock_mono_ns() >= __atomic_load_n(&webhook->give_up_ns, __ATOMIC_RELAXED);
}

static void pause_before_retry(const struct webhook *webhook)
{
	const struct timespec nap = clock_timespec(NAP_NS);
	uint64_t until_ns = clock_mono_ns() + WEBHOOK_PAUSE_NS;

	while (clock_mono_ns() < until_ns && !is_over(webhook)) {
		nanosleep(&nap, NULL);
		heartbeat_beat();
	}
}

/* Returns whether the server accepted it. */
static bool try_to_send(struct webhook *webhook, const char *body, struct strbuf *reason)
{
	struct transport_result result;

	transport_ask(webhook->transport, &webhook->headers, body, strlen(body), &result);
	if (result.error == 0 && result.status / 100 == 2)
		return true;
	strbuf_clear(reason);
	if (result.error == 0)
		strbuf_appendf(reason, "HTTP status %u", result.status);
	else
		strbuf_append_str(reason, result.outcome.message);
	return false;
}

/* Logs when it begins to fail, and when it works again. The URL may be a key. */
static void note_result(struct webhook *webhook, bool is_sent, const char *reason)
{
	__atomic_add_fetch(is_sent ? &webhook->nr_sent : &webhook->nr_failed, 1, __ATOMIC_RELAXED);
	if (!is_sent && !webhook->is_failing)
		log_warn("the server of --trigger-webhook was not told of a trigger: %s", reason);
	else if (is_sent && webhook->is_failing)
		log_info("the server of --trigger-webhook accepts notices again");
	webhook->is_failing = !is_sent;
}

static void send_body(struct webhook *webhook, const char *body)
{
	_cleanup_(strbuf_done) struct strbuf reason = strbuf_with_max(OUTCOME_MESSAGE_BYTES);
	bool is_sent = false;

	strbuf_append_str(&reason, "the agent ends");
	for (unsigned int i = 0; !is_sent && i < WEBHOOK_TRIES && !is_over(webhook); i++) {
		if (i > 0)
			pause_before_retry(webhook);
		is_sent = try_to_send(webhook, body, &reason);
	}
	note_result(webhook, is_sent, strbuf_str(&reason));
}

static void *run(void *data)
{
	struct webhook *webhook = data;

	heartbeat_begin("webhook", HEARTBEAT_MAX_NS);
	do {
		char *body = queue_take(&webhook->bodies, clock_mono_ns() + HEARTBEAT_NAP_NS);

		heartbeat_beat();
		if (body)
			send_body(webhook, body);
		else if (queue_is_closed(&webhook->bodies))
			break;
		free(body);
	} while (true);
	return NULL;
}

/* Bodies. */

static void append_number(struct strbuf *out, const char *name, double value)
{
	strbuf_appendf(out, ",\"%s\":%g", name, value);
}

static void make_body(const struct webhook *webhook, const struct trigger_firing *firing,
		      struct strbuf *out)
{
	const struct event *event = firing->event;

	strbuf_append_char(out, '{');
	json_append_member(out, "text", event->text);
	strbuf_append_char(out, ',');
	json_append_member(out, "rule", firing->rule->text);
	strbuf_append_char(out, ',');
	json_append_member(out, "host", webhook->host);
	strbuf_append_char(out, ',');
	json_append_member(out, "subject", event->subject);
	strbuf_append_char(out, ',');
	json_append_member(out, "selector", event->selector);
	strbuf_appendf(out, ",\"event\":\"e%" PRIu64 "\",\"first\":%" PRIu64, event->number,
		       event->first_s);
	append_number(out, "value", firing->value);
	append_number(out, "limit", firing->rule->limit);
	strbuf_appendf(out, ",\"pin_first\":%" PRIu64 ",\"pin_end\":%" PRIu64, firing->pin_first_s,
		       firing->pin_end_s);
	if (firing->boost.range.end_s > 0)
		strbuf_appendf(out,
			       ",\"boost_hz\":%" PRIu32 ",\"boost_first\":%" PRIu64
			       ",\"boost_end\":%" PRIu64,
			       firing->boost.frequency_hz, firing->boost.range.first_s,
			       firing->boost.range.end_s);
	strbuf_append_char(out, '}');
}

void webhook_push(struct webhook *webhook, const struct trigger_firing *firing)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	char *copy = NULL;

	make_body(webhook, firing, &body);
	if (strbuf_error(&body) == 0)
		copy = strdup(strbuf_str(&body));
	if (copy && queue_push(&webhook->bodies, copy) == 0)
		return;
	free(copy);
	__atomic_add_fetch(&webhook->nr_dropped, 1, __ATOMIC_RELAXED);
}

/* Start and end. */

static int start_transport(struct webhook *webhook, const char *url)
{
	const struct transport_opts opts = {
		.protocol = TRANSPORT_OTLP_HTTP,
		.endpoint = url,
		.endpoint_is_full = true,
		.timeout_ns = WEBHOOK_TIMEOUT_NS,
		.give_up_ns = &webhook->give_up_ns,
	};
	int r = header_list_add_own(&webhook->headers, "Content-Type", JSON_HEADER);

	return r < 0 ? r : transport_new(&opts, &webhook->transport);
}

int webhook_start(const char *url, const char *host, struct webhook **ret_webhook)
{
	_cleanup_(webhook_stopp) struct webhook *webhook = calloc(1, sizeof(*webhook));
	uint64_t needed = capabilities_for_file(WORKER_PROCESS_OWN_PROGRAM, X_OK);

	if (!webhook)
		return -ENOMEM;
	snprintf(webhook->host, sizeof(webhook->host), "%s", host);
	webhook->give_up_ns = UINT64_MAX;
	int r = queue_init(&webhook->bodies, WEBHOOK_QUEUE_MAX);
	if (r < 0) {
		free(take_ptr(webhook));
		return r;
	}
	r = start_transport(webhook, url);
	if (r == 0)
		r = thread_start("webhook", needed, run, webhook, &webhook->thread);
	if (r < 0)
		return r;
	webhook->is_running = true;
	*ret_webhook = take_ptr(webhook);
	return 0;
}

void webhook_finish(struct webhook *webhook, uint64_t deadline_ns)
{
	if (!webhook || !webhook->is_running)
		return;
	__atomic_store_n(&webhook->give_up_ns, deadline_ns, __ATOMIC_RELAXED);
	queue_close(&webhook->bodies);
	pthread_join(webhook->thread, NULL);
	webhook->is_running = false;
}

void webhook_stop(struct webhook *webhook)
{
	if (!webhook)
		return;
	webhook_finish(webhook, 0);
	for (char *body; (body = queue_take(&webhook->bodies, 0));)
		free(body);
	queue_done(&webhook->bodies);
	transport_free(webhook->transport);
	header_list_done(&webhook->headers);
	free(webhook);
}

struct webhook_stats webhook_get_stats(const struct webhook *webhook)
{
	struct webhook_stats stats = { 0 };

	if (webhook) {
		stats.nr_sent = __atomic_load_n(&webhook->nr_sent, __ATOMIC_RELAXED);
		stats.nr_failed = __atomic_load_n(&webhook->nr_failed, __ATOMIC_RELAXED);
		stats.nr_dropped = __atomic_load_n(&webhook->nr_dropped, __ATOMIC_RELAXED);
	}
	return stats;
}
