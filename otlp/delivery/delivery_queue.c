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
#define FAILURES_A_TURN 5 /* then other requests are tried */
#define FAILURES_TO_GIVE_UP 10
#define LIMIT_MIN_BYTES ((size_t)256 << 10)
#define MAX_HALVINGS 8
#define DELIVERIES_TO_GROW 200
#define PAUSE_NS NSEC_PER_SEC

struct delivery_queue {
	struct transport *transport; /* owned */
	struct spool *spool; /* owned */
	struct delivery_queue_stats stats;
	struct backoff backoff;
	struct rate_limiter limiter;
	struct strbuf body; /* of the request that is delivered */
	char *destination; /* owned; for log lines */
	bool is_replay;
	uint64_t not_before_ns; /* after a failure */
	uint64_t nr_delivered; /* requests */
	unsigned int nr_halvings; /* of requests' size */
	unsigned int nr_since_halving; /* requests delivered */
	uint64_t nr_damaged_told; /* files of the queue */
	bool is_failing; /* since the last success */
	uint64_t next_log_ns;
	uint64_t nr_samples_unlogged; /* lost since the last line */
};

/* Logs files that were found damaged since the last call. */
static void report_damage(struct delivery_queue *queue)
{
	uint64_t nr = spool_get_stats(queue->spool).nr_files_damaged;

	if (nr > queue->nr_damaged_told)
		log_warn("export to %s: %" PRIu64 " queue files are damaged and were skipped",
			 queue->destination, nr - queue->nr_damaged_told);
	queue->nr_damaged_told = nr;
}

/* Returns the URL without its query, which may contain a key, and the name. */
static char *make_destination(const struct delivery_queue_opts *opts)
{
	const char *endpoint = opts->transport.endpoint;
	int len = (int)strcspn(endpoint, "?#");
	char *destination = NULL;
	int r = opts->name ? asprintf(&destination, "%.*s (%s)", len, endpoint, opts->name)
			   : asprintf(&destination, "%.*s", len, endpoint);

	return r < 0 ? NULL : destination;
}

int delivery_queue_new(const struct delivery_queue_opts *opts, struct delivery_queue **ret_queue)
{
	_cleanup_(delivery_queue_freep) struct delivery_queue *queue = calloc(1, sizeof(*queue));

	if (!queue)
		return -ENOMEM;
	queue->body = strbuf_with_max(SPOOL_BODY_MAX_BYTES);
	queue->is_replay = opts->is_replay;
	queue->destination = make_destination(opts);
	if (!queue->destination)
		return -ENOMEM;
	backoff_init(&queue->backoff, clock_mono_ns());
	rate_limiter_init(&queue->limiter, clock_mono_ns());
	int r = transport_new(&opts->transport, &queue->transport);
	if (r == 0)
		r = spool_open(&opts->spool, &queue->spool);
	if (r < 0)
		return r;
	if (spool_first(queue->spool))
		rate_limiter_failed(&queue->limiter);
	report_damage(queue);
	*ret_queue = take_ptr(queue);
	return 0;
}

void delivery_queue_free(struct delivery_queue *queue)
{
	if (!queue)
		return;
	transport_free(queue->transport);
	spool_close(queue->spool);
	strbuf_done(&queue->body);
	free(queue->destination);
	free(queue);
}

const char *delivery_queue_destination(const struct delivery_queue *queue)
{
	return queue->destination;
}

/* Requests that cannot be saved stay in memory, which the spool limits. */
void delivery_queue_save(struct delivery_queue *queue)
{
	int r = spool_save(queue->spool);

	if (r < 0)
		log_warn_errno(r, "export to %s: cannot write queued requests to disk",
			       queue->destination);
}

void delivery_queue_add(struct delivery_queue *queue, const struct spool_item *item,
			const void *body, size_t len)
{
	if (spool_append(queue->spool, item, body, len) < 0)
		log_warn("export to %s: a request is dropped: it is larger than the queue "
			 "(--queue-max), or memory is short",
			 queue->destination);
	rate_limiter_appended(&queue->limiter);
	if (queue->is_failing)
		delivery_queue_save(queue);
}

uint64_t delivery_queue_next_ns(struct delivery_queue *queue)
{
	const struct spool_item *item = spool_first(queue->spool);
	uint64_t now_ns = clock_mono_ns();

	if (!item)
		return UINT64_MAX;
	uint64_t wait_ns = rate_limiter_wait_ns(&queue->limiter, item->cost_bytes, now_ns);
	uint64_t ready_ns = wait_ns > 0 ? now_ns + wait_ns : 0;
	return ready_ns > queue->not_before_ns ? ready_ns : queue->not_before_ns;
}

static bool may_log(struct delivery_queue *queue)
{
	uint64_t now_ns = clock_mono_ns();

	if (now_ns < queue->next_log_ns)
		return false;
	queue->next_log_ns = now_ns + LOG_INTERVAL_NS;
	return true;
}

static void report_loss(struct delivery_queue *queue, uint64_t nr_samples, const char *reason)
{
	queue->nr_samples_unlogged += nr_samples;
	if (!may_log(queue))
		return;
	log_warn("export to %s: %s; %" PRIu64 " samples lost; continuing", queue->destination,
		 reason, queue->nr_samples_unlogged);
	queue->nr_samples_unlogged = 0;
}

/* Logs the first failure in a row at once, further ones at intervals. */
static void report_failure(struct delivery_queue *queue, const char *reason, uint64_t wait_ns)
{
	struct spool_stats waiting = spool_get_stats(queue->spool);
	bool is_due = may_log(queue);

	if (queue->is_failing && !is_due)
		return;
	log_warn("export to %s: %s; retrying in %.1f s; requests waiting: %" PRIu64,
		 queue->destination, reason, (double)wait_ns / (double)NSEC_PER_SEC,
		 waiting.nr_requests);
}

static void drop(struct delivery_queue *queue, uint64_t *counter, const char *reason)
{
	uint64_t nr_samples = spool_first(queue->spool)->nr_samples;

	*counter += nr_samples;
	spool_pop(queue->spool);
	report_loss(queue, nr_samples, reason);
}

/* The answer only counts rejected profiles. Each stands for an equal share of the samples. */
static uint64_t rejected_samples(const struct spool_item *item, uint64_t nr_rejected_profiles)
{
	if (nr_rejected_profiles >= item->nr_profiles)
		return item->nr_samples;
	return (item->nr_samples * nr_rejected_profiles + item->nr_profiles - 1) /
	       item->nr_profiles;
}

/* A size limit may have been temporary or a proxy's, so larger requests are tried again after a
 * while. */
static void grow(struct delivery_queue *queue)
{
	if (queue->nr_halvings == 0 || ++queue->nr_since_halving < DELIVERIES_TO_GROW)
		return;
	queue->nr_halvings--;
	queue->nr_since_halving = 0;
}

static void finish(struct delivery_queue *queue, const struct request_outcome *outcome)
{
	const struct spool_item item = *spool_first(queue->spool);
	uint64_t nr_rejected = rejected_samples(&item, outcome->nr_rejected_profiles);

	if (queue->is_failing)
		log_info("export to %s: delivery works again", queue->destination);
	else if (queue->nr_delivered == 0)
		log_info("export to %s: the first profiles have been delivered",
			 queue->destination);
	queue->is_failing = false;
	queue->nr_delivered++;
	grow(queue);
	queue->stats.nr_samples_sent += item.nr_samples - nr_rejected;
	queue->stats.nr_samples_partial += nr_rejected;
	spool_pop(queue->spool);
	if (nr_rejected > 0 || outcome->message[0])
		report_loss(queue, nr_rejected,
			    outcome->message[0] ? outcome->message : "rejected by the destination");
	backoff_reset(&queue->backoff);
}

/* Moves a failing request behind the others, or drops it if others are accepted. */
static void judge_failing(struct delivery_queue *queue, struct spool_item *item, const char *reason)
{
	if (item->nr_failures % FAILURES_A_TURN != 0)
		return;
	if (item->nr_failures >= FAILURES_TO_GIVE_UP && queue->nr_delivered > item->mark)
		drop(queue, &queue->stats.nr_samples_gave_up, reason);
	else
		spool_rotate(queue->spool);
}

static void postpone(struct delivery_queue *queue, const struct request_outcome *outcome)
{
	struct spool_item *item = spool_first(queue->spool);
	uint64_t wait_ns = backoff_next_ns(&queue->backoff, outcome->retry_after_ns);

	if (item->nr_failures++ == 0)
		item->mark = queue->nr_delivered;
	report_failure(queue, outcome->message, wait_ns);
	queue->is_failing = true;
	queue->not_before_ns = clock_mono_ns() + wait_ns;
	rate_limiter_failed(&queue->limiter);
	delivery_queue_save(queue);
	judge_failing(queue, spool_first(queue->spool), outcome->message);
}

static void count_request(struct delivery_queue *queue, const struct request_outcome *outcome)
{
	struct delivery_queue_stats *stats = &queue->stats;

	stats->nr_requests++;
	stats->nr_bytes += outcome->nr_bytes;
	if (outcome->verdict != OUTCOME_DONE)
		stats->nr_request_failures++;
	if (spool_first(queue->spool)->nr_failures > 0)
		stats->nr_retries++;
}

/* Waits before the next request, so that not all are refused at once, especially if authentication
 * fails, which a new token may fix. */
static void refuse(struct delivery_queue *queue, const struct request_outcome *outcome,
		   uint64_t *counter)
{
	uint64_t wait_ns = outcome->is_denied ? backoff_next_ns(&queue->backoff, 0) : PAUSE_NS;

	drop(queue, counter, outcome->message);
	queue->not_before_ns = clock_mono_ns() + wait_ns;
	queue->is_failing = queue->is_failing || outcome->is_denied;
	if (queue->is_failing)
		delivery_queue_save(queue);
}

static void settle(struct delivery_queue *queue, const struct request_outcome *outcome)
{
	uint32_t cost_bytes = spool_first(queue->spool)->cost_bytes;

	count_request(queue, outcome);
	switch (outcome->verdict) {
	case OUTCOME_RETRY:
		postpone(queue, outcome);
		return;
	case OUTCOME_DONE:
		finish(queue, outcome);
		break;
	case OUTCOME_TOO_LARGE:
		queue->nr_halvings += queue->nr_halvings < MAX_HALVINGS;
		queue->nr_since_halving = 0;
		refuse(queue, outcome, &queue->stats.nr_samples_too_large);
		break;
	case OUTCOME_REFUSED:
		refuse(queue, outcome, &queue->stats.nr_samples_rejected);
		break;
	}
	rate_limiter_sent(&queue->limiter, cost_bytes, clock_mono_ns());
	if (!spool_first(queue->spool))
		rate_limiter_emptied(&queue->limiter);
}

/* Handles a request that could not be read: drops it, or waits for memory. */
static void give_back(struct delivery_queue *queue, int error)
{
	if (error == -ENOMEM)
		queue->not_before_ns = clock_mono_ns() + PAUSE_NS;
	else
		spool_drop_damaged(queue->spool);
	report_damage(queue);
}

void delivery_queue_deliver(struct delivery_queue *queue)
{
	struct request_outcome outcome;

	if (!spool_first(queue->spool))
		return;
	strbuf_clear(&queue->body);
	int r = spool_read(queue->spool, &queue->body);
	if (r < 0) {
		give_back(queue, r);
		return;
	}
	transport_send(queue->transport, queue->body.data, queue->body.len, &outcome);
	settle(queue, &outcome);
}

bool delivery_queue_is_failing(const struct delivery_queue *queue)
{
	return queue->is_failing;
}

size_t delivery_queue_limit(const struct delivery_queue *queue, size_t max_bytes)
{
	size_t bytes = max_bytes >> queue->nr_halvings;

	if (bytes >= LIMIT_MIN_BYTES)
		return bytes;
	return max_bytes < LIMIT_MIN_BYTES ? max_bytes : LIMIT_MIN_BYTES;
}

void delivery_queue_close_down(struct delivery_queue *queue)
{
	delivery_queue_save(queue);
	uint64_t nr_samples = spool_drop_unsaved(queue->spool);

	queue->stats.nr_samples_shutdown += nr_samples;
	if (nr_samples > 0)
		log_warn("export to %s: %" PRIu64
			 " samples could not be delivered before flamelet stopped%s",
			 queue->destination, nr_samples, queue->is_replay ? "" : " and are lost");
}

struct delivery_queue_stats delivery_queue_get_stats(const struct delivery_queue *queue)
{
	struct delivery_queue_stats stats = queue->stats;

	stats.worker = transport_get_stats(queue->transport);
	return stats;
}

struct spool_stats delivery_queue_get_spool_stats(struct delivery_queue *queue)
{
	return spool_get_stats(queue->spool);
}
