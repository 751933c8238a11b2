/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/delivery/delivery_queue.h"

#include "base/clock.h"
#include "base/log.h"
#include "otlp/delivery/backoff.h"
#include "otlp/delivery/rate_limiter.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOG_INTERVAL_NS (60 * NSEC_PER_SEC)
#define FAILURES_A_TURN 5 /* then the others' turn comes */
#define FAILURES_TO_GIVE_UP 10
#define LIMIT_MIN_BYTES ((size_t)256 << 10)
#define MAX_HALVINGS 8
#define DELIVERIES_TO_GROW 200
#define PAUSE_NS NSEC_PER_SEC

struct courier {
	struct transport *transport; /* owned */
	struct spool *spool; /* owned */
	struct courier_stats stats;
	struct backoff backoff;
	struct pace pace;
	struct strbuf body; /* of the request that is delivered */
	char *receiver; /* owned; for log lines */
	uint64_t not_before_ns; /* after a failure */
	uint64_t nr_delivered; /* requests */
	unsigned int nr_halvings; /* of requests' size */
	unsigned int nr_since_halving; /* requests delivered */
	uint64_t nr_damaged_told; /* files of the queue */
	bool is_failing; /* since the last success */
	uint64_t next_log_ns;
	uint64_t nr_samples_unlogged; /* lost since the last line */
};

/* Files that turned out to be damaged since the last call. */
static void report_damage(struct courier *courier)
{
	uint64_t nr = spool_get_stats(courier->spool).nr_files_damaged;

	if (nr > courier->nr_damaged_told)
		log_warn("export to %s: %" PRIu64 " files of the queue are damaged, going on "
			 "without them",
			 courier->receiver, nr - courier->nr_damaged_told);
	courier->nr_damaged_told = nr;
}

/* The URL without its query, which may be a key, and the name. */
static char *make_receiver(const struct courier_opts *opts)
{
	const char *endpoint = opts->transport.endpoint;
	int len = (int)strcspn(endpoint, "?#");
	char *receiver = NULL;
	int r = opts->name ? asprintf(&receiver, "%.*s (%s)", len, endpoint, opts->name)
			   : asprintf(&receiver, "%.*s", len, endpoint);

	return r < 0 ? NULL : receiver;
}

int courier_new(const struct courier_opts *opts, struct courier **ret_courier)
{
	_cleanup_(courier_freep) struct courier *courier = calloc(1, sizeof(*courier));

	if (!courier)
		return -ENOMEM;
	courier->body = strbuf_with_max(SPOOL_BODY_MAX_BYTES);
	courier->receiver = make_receiver(opts);
	if (!courier->receiver)
		return -ENOMEM;
	backoff_init(&courier->backoff, clock_mono_ns());
	pace_init(&courier->pace, clock_mono_ns());
	int r = transport_new(&opts->transport, &courier->transport);
	if (r == 0)
		r = spool_open(&opts->spool, &courier->spool);
	if (r < 0)
		return r;
	if (spool_first(courier->spool))
		pace_failed(&courier->pace);
	report_damage(courier);
	*ret_courier = take_ptr(courier);
	return 0;
}

void courier_free(struct courier *courier)
{
	if (!courier)
		return;
	transport_free(courier->transport);
	spool_close(courier->spool);
	strbuf_done(&courier->body);
	free(courier->receiver);
	free(courier);
}

const char *courier_receiver(const struct courier *courier)
{
	return courier->receiver;
}

/* What cannot be saved stays in memory, which the spool bounds and counts. */
void courier_save(struct courier *courier)
{
	int r = spool_save(courier->spool);

	if (r < 0)
		log_warn_errno(r, "export to %s: what waits cannot be written to disk",
			       courier->receiver);
}

void courier_take(struct courier *courier, const struct spool_item *item, const void *body,
		  size_t len)
{
	if (spool_append(courier->spool, item, body, len) < 0)
		log_warn("export to %s: a request finds no room to wait, going on without it",
			 courier->receiver);
	pace_appended(&courier->pace);
	if (courier->is_failing)
		courier_save(courier);
}

uint64_t courier_next_ns(struct courier *courier)
{
	const struct spool_item *item = spool_first(courier->spool);
	uint64_t now_ns = clock_mono_ns();

	if (!item)
		return UINT64_MAX;
	uint64_t wait_ns = pace_wait_ns(&courier->pace, item->cost_bytes, now_ns);
	uint64_t ready_ns = wait_ns > 0 ? now_ns + wait_ns : 0;
	return ready_ns > courier->not_before_ns ? ready_ns : courier->not_before_ns;
}

static bool may_log(struct courier *courier)
{
	uint64_t now_ns = clock_mono_ns();

	if (now_ns < courier->next_log_ns)
		return false;
	courier->next_log_ns = now_ns + LOG_INTERVAL_NS;
	return true;
}

static void report_loss(struct courier *courier, uint64_t nr_samples, const char *reason)
{
	courier->nr_samples_unlogged += nr_samples;
	if (!may_log(courier))
		return;
	log_warn("export to %s: %s; %" PRIu64 " samples lost, going on", courier->receiver, reason,
		 courier->nr_samples_unlogged);
	courier->nr_samples_unlogged = 0;
}

/* The first failure in a row is told at once. */
static void report_failure(struct courier *courier, const char *reason, uint64_t wait_ns)
{
	struct spool_stats waiting = spool_get_stats(courier->spool);
	bool is_due = may_log(courier);

	if (courier->is_failing && !is_due)
		return;
	log_warn("export to %s: %s; trying again in %.1f s, %" PRIu64 " waiting", courier->receiver,
		 reason, (double)wait_ns / (double)NSEC_PER_SEC, waiting.nr_requests);
}

static void drop(struct courier *courier, uint64_t *counter, const char *reason)
{
	uint64_t nr_samples = spool_first(courier->spool)->nr_samples;

	*counter += nr_samples;
	spool_pop(courier->spool);
	report_loss(courier, nr_samples, reason);
}

/* The answer counts profiles and does not tell which: each stands for an equal share of the samples. */
static uint64_t rejected_samples(const struct spool_item *item, uint64_t nr_rejected_profiles)
{
	if (nr_rejected_profiles >= item->nr_profiles)
		return item->nr_samples;
	return (item->nr_samples * nr_rejected_profiles + item->nr_profiles - 1) /
	       item->nr_profiles;
}

/* A receiver's limit may have been another's, or a moment's: larger requests are tried again after a while. */
static void grow(struct courier *courier)
{
	if (courier->nr_halvings == 0 || ++courier->nr_since_halving < DELIVERIES_TO_GROW)
		return;
	courier->nr_halvings--;
	courier->nr_since_halving = 0;
}

static void finish(struct courier *courier, const struct delivery *delivery)
{
	const struct spool_item item = *spool_first(courier->spool);
	uint64_t nr_rejected = rejected_samples(&item, delivery->nr_rejected_profiles);

	if (courier->is_failing)
		log_info("export to %s: delivers again", courier->receiver);
	else if (courier->nr_delivered == 0)
		log_info("export to %s: the first profiles are delivered", courier->receiver);
	courier->is_failing = false;
	courier->nr_delivered++;
	grow(courier);
	courier->stats.nr_samples_sent += item.nr_samples - nr_rejected;
	courier->stats.nr_samples_partial += nr_rejected;
	spool_pop(courier->spool);
	if (nr_rejected > 0 || delivery->message[0])
		report_loss(courier, nr_rejected,
			    delivery->message[0] ? delivery->message : "rejected by the receiver");
	backoff_reset(&courier->backoff);
}

/* Behind the others, or away when these fare better. */
static void judge_failing(struct courier *courier, struct spool_item *item, const char *reason)
{
	if (item->nr_failures % FAILURES_A_TURN != 0)
		return;
	if (item->nr_failures >= FAILURES_TO_GIVE_UP && courier->nr_delivered > item->mark)
		drop(courier, &courier->stats.nr_samples_gave_up, reason);
	else
		spool_rotate(courier->spool);
}

static void postpone(struct courier *courier, const struct delivery *delivery)
{
	struct spool_item *item = spool_first(courier->spool);
	uint64_t wait_ns = backoff_next_ns(&courier->backoff, delivery->retry_after_ns);

	if (item->nr_failures++ == 0)
		item->mark = courier->nr_delivered;
	report_failure(courier, delivery->message, wait_ns);
	courier->is_failing = true;
	courier->not_before_ns = clock_mono_ns() + wait_ns;
	pace_failed(&courier->pace);
	courier_save(courier);
	judge_failing(courier, spool_first(courier->spool), delivery->message);
}

static void count_request(struct courier *courier, const struct delivery *delivery)
{
	struct courier_stats *stats = &courier->stats;

	stats->nr_requests++;
	stats->nr_bytes += delivery->nr_bytes;
	if (delivery->verdict != DELIVERY_DONE)
		stats->nr_request_failures++;
	if (spool_first(courier->spool)->nr_failures > 0)
		stats->nr_retries++;
}

/* The others are not to be lost with it at once; least of all where a receiver does not know us, which may be mended
 * by a new token. */
static void refuse(struct courier *courier, const struct delivery *delivery, uint64_t *counter)
{
	uint64_t wait_ns = delivery->is_denied ? backoff_next_ns(&courier->backoff, 0) : PAUSE_NS;

	drop(courier, counter, delivery->message);
	courier->not_before_ns = clock_mono_ns() + wait_ns;
	courier->is_failing = courier->is_failing || delivery->is_denied;
	if (courier->is_failing)
		courier_save(courier);
}

static void settle(struct courier *courier, const struct delivery *delivery)
{
	uint32_t cost_bytes = spool_first(courier->spool)->cost_bytes;

	count_request(courier, delivery);
	switch (delivery->verdict) {
	case DELIVERY_RETRY:
		postpone(courier, delivery);
		return;
	case DELIVERY_DONE:
		finish(courier, delivery);
		break;
	case DELIVERY_TOO_LARGE:
		courier->nr_halvings += courier->nr_halvings < MAX_HALVINGS;
		courier->nr_since_halving = 0;
		refuse(courier, delivery, &courier->stats.nr_samples_too_large);
		break;
	case DELIVERY_REFUSED:
		refuse(courier, delivery, &courier->stats.nr_samples_rejected);
		break;
	}
	pace_sent(&courier->pace, cost_bytes, clock_mono_ns());
	if (!spool_first(courier->spool))
		pace_emptied(&courier->pace);
}

/* What could not be read: for good, or for want of memory. */
static void give_back(struct courier *courier, int error)
{
	if (error == -ENOMEM)
		courier->not_before_ns = clock_mono_ns() + PAUSE_NS;
	else
		spool_drop_damaged(courier->spool);
	report_damage(courier);
}

void courier_deliver(struct courier *courier)
{
	struct delivery delivery;

	if (!spool_first(courier->spool))
		return;
	strbuf_clear(&courier->body);
	int r = spool_read(courier->spool, &courier->body);
	if (r < 0) {
		give_back(courier, r);
		return;
	}
	transport_send(courier->transport, courier->body.data, courier->body.len, &delivery);
	settle(courier, &delivery);
}

bool courier_is_failing(const struct courier *courier)
{
	return courier->is_failing;
}

size_t courier_limit(const struct courier *courier, size_t max_bytes)
{
	size_t bytes = max_bytes >> courier->nr_halvings;

	if (bytes >= LIMIT_MIN_BYTES)
		return bytes;
	return max_bytes < LIMIT_MIN_BYTES ? max_bytes : LIMIT_MIN_BYTES;
}

void courier_close_down(struct courier *courier)
{
	courier_save(courier);
	uint64_t nr_samples = spool_drop_unsaved(courier->spool);

	courier->stats.nr_samples_shutdown += nr_samples;
	if (nr_samples > 0)
		log_warn("export to %s: ended with %" PRIu64 " samples undelivered, which are lost",
			 courier->receiver, nr_samples);
}

struct courier_stats courier_get_stats(const struct courier *courier)
{
	struct courier_stats stats = courier->stats;

	stats.worker = transport_get_stats(courier->transport);
	return stats;
}

struct spool_stats courier_get_spool_stats(struct courier *courier)
{
	return spool_get_stats(courier->spool);
}
