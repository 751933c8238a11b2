/* SPDX-License-Identifier: Apache-2.0 */
/* With a transport of our own, which answers as it is told and writes down what it was given. */
#include "otlp/delivery/delivery_queue.h"

#include "base/clock.h"
#include "base/log.h"
#include "remove_tree.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_SENT 200

static struct request_outcome next_answer; /* to all but */
static char poison; /* a body that begins so: it is always answered with a retry */
static char sent[MAX_SENT + 1]; /* the first byte of each body that was sent */

static int fake;

int transport_new(const struct transport_opts *opts, struct transport **ret_transport)
{
	(void)opts;
	*ret_transport = (struct transport *)(void *)&fake;
	return 0;
}

void transport_free(struct transport *transport)
{
	(void)transport;
}

void transport_send(struct transport *transport, const void *body, size_t len,
		    struct request_outcome *ret_outcome)
{
	char first = *(const char *)body;
	(void)transport;

	assert_true(strlen(sent) < MAX_SENT);
	sent[strlen(sent)] = first;
	*ret_outcome = next_answer;
	ret_outcome->nr_bytes = len;
	if (first == poison)
		*ret_outcome = (struct request_outcome){ .verdict = OUTCOME_RETRY,
							 .was_answered = true };
}

struct worker_stats transport_get_stats(const struct transport *transport)
{
	(void)transport;
	return (struct worker_stats){ .nr_requests = strlen(sent) };
}

static char dir[] = "/tmp/flamelet-queue-XXXXXX";

static struct delivery_queue *open_queue(const char *spool_dir)
{
	const struct delivery_queue_opts opts = {
		.transport = { .endpoint = "http://receiver" },
		.spool = { .dir = spool_dir, .max_bytes = 1 << 20, .max_memory_bytes = 1 << 20 },
	};
	struct delivery_queue *queue = NULL;

	memset(sent, 0, sizeof(sent));
	next_answer = (struct request_outcome){ .verdict = OUTCOME_DONE };
	poison = '\0';
	assert_int_equal(delivery_queue_new(&opts, &queue), 0);
	return queue;
}

static const struct delivery_queue_opts logged_opts = {
	.transport = { .endpoint = "http://receiver/x?key=secret" },
	.spool = { .max_bytes = 1 << 20, .max_memory_bytes = 1 << 20 },
};

/* What opening a queue, one failure and the end of it write to the log. */
static void log_failure(const struct delivery_queue_opts *opts, struct strbuf *text)
{
	const struct spool_item item = { .nr_samples = 10, .nr_profiles = 5, .cost_bytes = 100 };
	_cleanup_close_ int file = memfd_create("log", MFD_CLOEXEC);
	_cleanup_close_ int saved_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	_cleanup_(delivery_queue_freep) struct delivery_queue *queue = NULL;

	next_answer = (struct request_outcome){ .verdict = OUTCOME_RETRY };
	assert_int_equal(delivery_queue_new(opts, &queue), 0);
	delivery_queue_add(queue, &item, "a", 1);
	log_set_level(LOG_LEVEL_INFO);
	assert_int_equal(dup2(file, STDERR_FILENO), STDERR_FILENO);
	delivery_queue_deliver(queue);
	delivery_queue_close_down(queue);
	dup2(saved_stderr, STDERR_FILENO);
	log_set_level(LOG_LEVEL_ERROR);
	char *bytes = strbuf_extend(text, 1000);
	ssize_t len = pread(file, bytes, 1000, 0);
	assert_true(len >= 0);
	strbuf_truncate(text, (size_t)len);
}

static void the_log_has_no_keys(void **state)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(4000);
	(void)state;

	log_failure(&logged_opts, &text);
	assert_non_null(strstr(strbuf_str(&text), "http://receiver/x: "));
	assert_null(strstr(strbuf_str(&text), "secret"));
}

static void the_log_tells_destinations_with_one_url_apart(void **state)
{
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(4000);
	struct delivery_queue_opts opts = logged_opts;
	(void)state;

	opts.name = "receiver-2";
	log_failure(&opts, &text);
	assert_non_null(strstr(strbuf_str(&text), "export to http://receiver/x (receiver-2): "));
	assert_null(strstr(strbuf_str(&text), "secret"));
}

static void the_log_calls_lost_what_cannot_be_pushed_again(void **state)
{
	_cleanup_(strbuf_done) struct strbuf live = strbuf_with_max(4000);
	_cleanup_(strbuf_done) struct strbuf replay = strbuf_with_max(4000);
	struct delivery_queue_opts opts = logged_opts;
	(void)state;

	log_failure(&opts, &live);
	assert_non_null(strstr(strbuf_str(&live), "10 samples could not be delivered"));
	assert_non_null(strstr(strbuf_str(&live), "lost"));
	opts.is_replay = true;
	log_failure(&opts, &replay);
	assert_non_null(strstr(strbuf_str(&replay), "10 samples could not be delivered"));
	assert_null(strstr(strbuf_str(&replay), "lost"));
}

/* Each letter is a request of ten samples in five profiles. */
static void take(struct delivery_queue *queue, const char *letters)
{
	const struct spool_item item = { .nr_samples = 10, .nr_profiles = 5, .cost_bytes = 100 };

	for (; *letters; letters++)
		delivery_queue_add(queue, &item, letters, 1);
}

static void deliver(struct delivery_queue *queue, size_t times)
{
	while (times-- > 0)
		delivery_queue_deliver(queue);
}

static void requests_are_delivered_in_order(void **state)
{
	_cleanup_(delivery_queue_freep) struct delivery_queue *queue = open_queue(NULL);
	(void)state;

	assert_true(delivery_queue_next_ns(queue) == UINT64_MAX);
	take(queue, "abc");
	assert_true(delivery_queue_next_ns(queue) <= clock_mono_ns());
	deliver(queue, 4);
	assert_string_equal(sent, "abc");
	assert_true(delivery_queue_next_ns(queue) == UINT64_MAX);

	struct delivery_queue_stats stats = delivery_queue_get_stats(queue);
	assert_int_equal(stats.nr_samples_sent, 30);
	assert_int_equal(stats.nr_requests, 3);
	assert_int_equal(stats.nr_bytes, 3);
	assert_int_equal(stats.nr_request_failures, 0);
	assert_int_equal(stats.nr_retries, 0);
}

static void what_may_be_retried_stays_first(void **state)
{
	_cleanup_(delivery_queue_freep) struct delivery_queue *queue = open_queue(NULL);
	(void)state;

	take(queue, "ab");
	next_answer.verdict = OUTCOME_RETRY;
	delivery_queue_deliver(queue);
	uint64_t first_wait_ns = delivery_queue_next_ns(queue) - clock_mono_ns();
	assert_in_range(first_wait_ns, 1, 3 * NSEC_PER_SEC);
	deliver(queue, 3);
	assert_true(delivery_queue_next_ns(queue) - clock_mono_ns() > 3 * NSEC_PER_SEC);
	next_answer.verdict = OUTCOME_DONE;
	deliver(queue, 2);
	assert_string_equal(sent, "aaaaab");

	struct delivery_queue_stats stats = delivery_queue_get_stats(queue);
	assert_int_equal(stats.nr_samples_sent, 20);
	assert_int_equal(stats.nr_request_failures, 4);
	assert_int_equal(stats.nr_retries, 4);
}

static void the_destinations_wish_is_waited_for(void **state)
{
	_cleanup_(delivery_queue_freep) struct delivery_queue *queue = open_queue(NULL);
	(void)state;

	take(queue, "a");
	next_answer = (struct request_outcome){ .verdict = OUTCOME_RETRY,
						.was_answered = true,
						.retry_after_ns = 100 * NSEC_PER_SEC };
	delivery_queue_deliver(queue);
	assert_in_range(delivery_queue_next_ns(queue) - clock_mono_ns(), 99 * NSEC_PER_SEC,
			120 * NSEC_PER_SEC);
}

static void what_may_not_be_retried_is_counted_and_gone(void **state)
{
	_cleanup_(delivery_queue_freep) struct delivery_queue *queue = open_queue(NULL);
	(void)state;

	take(queue, "abc");
	next_answer.verdict = OUTCOME_REFUSED;
	delivery_queue_deliver(queue);
	next_answer.verdict = OUTCOME_TOO_LARGE;
	delivery_queue_deliver(queue);
	next_answer = (struct request_outcome){ .verdict = OUTCOME_DONE,
						.nr_rejected_profiles = 2 };
	delivery_queue_deliver(queue);

	struct delivery_queue_stats stats = delivery_queue_get_stats(queue);
	assert_int_equal(stats.nr_samples_rejected, 10);
	assert_int_equal(stats.nr_samples_too_large, 10);
	assert_int_equal(stats.nr_samples_partial, 4);
	assert_int_equal(stats.nr_samples_sent, 6);
	assert_int_equal(delivery_queue_get_spool_stats(queue).nr_requests, 0);
}

static void a_receiver_that_does_not_know_us_is_asked_less_and_less(void **state)
{
	_cleanup_(delivery_queue_freep) struct delivery_queue *queue = open_queue(dir);
	(void)state;

	take(queue, "abcdefgh");
	next_answer = (struct request_outcome){ .verdict = OUTCOME_REFUSED, .is_denied = true };
	deliver(queue, 6);
	assert_true(delivery_queue_next_ns(queue) - clock_mono_ns() > 10 * NSEC_PER_SEC);
	assert_int_equal(delivery_queue_get_stats(queue).nr_samples_rejected, 60);
	assert_int_equal(delivery_queue_get_spool_stats(queue).nr_memory_bytes, 0);
	next_answer = (struct request_outcome){ .verdict = OUTCOME_DONE };
	deliver(queue, 2);
	assert_string_equal(sent, "abcdefgh");
}

static void a_receiver_may_reject_more_profiles_than_it_got(void **state)
{
	_cleanup_(delivery_queue_freep) struct delivery_queue *queue = open_queue(NULL);
	(void)state;

	take(queue, "a");
	next_answer = (struct request_outcome){ .verdict = OUTCOME_DONE,
						.nr_rejected_profiles = UINT64_MAX };
	delivery_queue_deliver(queue);
	assert_int_equal(delivery_queue_get_stats(queue).nr_samples_partial, 10);
	assert_int_equal(delivery_queue_get_stats(queue).nr_samples_sent, 0);
}

static void a_refusal_for_size_makes_requests_smaller(void **state)
{
	_cleanup_(delivery_queue_freep) struct delivery_queue *queue = open_queue(NULL);
	(void)state;

	assert_int_equal(delivery_queue_limit(queue, 4 << 20), 4 << 20);
	next_answer.verdict = OUTCOME_TOO_LARGE;
	for (size_t expected = 2 << 20; expected >= 256 << 10; expected /= 2) {
		take(queue, "a");
		delivery_queue_deliver(queue);
		assert_int_equal(delivery_queue_limit(queue, 4 << 20), expected);
	}
	take(queue, "aaaaaaaaaaaa");
	deliver(queue, 12);
	assert_int_equal(delivery_queue_limit(queue, 4 << 20), 256 << 10);
	assert_int_equal(delivery_queue_limit(queue, 100 << 10), 100 << 10);
	next_answer = (struct request_outcome){ .verdict = OUTCOME_DONE };
	for (size_t i = 0; i < 200; i++) {
		sent[0] = '\0';
		take(queue, "a");
		delivery_queue_deliver(queue);
	}
	assert_int_equal(delivery_queue_limit(queue, 64 << 20), 512 << 10);
}

static void a_poisoned_request_does_not_hold_up_the_others(void **state)
{
	_cleanup_(delivery_queue_freep) struct delivery_queue *queue = open_queue(NULL);
	(void)state;

	take(queue, "abcd");
	poison = 'a';
	deliver(queue, 13);
	assert_string_equal(sent, "aaaaabcdaaaaa");

	struct delivery_queue_stats stats = delivery_queue_get_stats(queue);
	assert_int_equal(stats.nr_samples_sent, 30);
	assert_int_equal(stats.nr_samples_gave_up, 10);
	assert_int_equal(delivery_queue_get_spool_stats(queue).nr_requests, 0);
}

static void a_receiver_that_takes_nothing_makes_nothing_be_given_up(void **state)
{
	_cleanup_(delivery_queue_freep) struct delivery_queue *queue = open_queue(NULL);
	(void)state;

	take(queue, "abc");
	next_answer = (struct request_outcome){ .verdict = OUTCOME_RETRY, .was_answered = true };
	deliver(queue, 100);
	assert_int_equal(delivery_queue_get_spool_stats(queue).nr_requests, 3);
	assert_int_equal(delivery_queue_get_stats(queue).nr_samples_gave_up, 0);
	next_answer = (struct request_outcome){ .verdict = OUTCOME_DONE };
	deliver(queue, 3);
	assert_int_equal(delivery_queue_get_stats(queue).nr_samples_sent, 30);
}

static void what_waits_is_on_disk_once_a_delivery_has_failed(void **state)
{
	struct delivery_queue *queue = open_queue(dir);
	(void)state;

	take(queue, "ab");
	assert_int_equal(delivery_queue_get_spool_stats(queue).nr_disk_bytes, 0);
	next_answer.verdict = OUTCOME_RETRY;
	delivery_queue_deliver(queue);
	assert_int_equal(delivery_queue_get_spool_stats(queue).nr_memory_bytes, 0);
	take(queue, "c");
	assert_int_equal(delivery_queue_get_spool_stats(queue).nr_memory_bytes, 0);
	delivery_queue_close_down(queue);
	assert_int_equal(delivery_queue_get_stats(queue).nr_samples_shutdown, 0);
	delivery_queue_free(queue);

	queue = open_queue(dir);
	assert_int_equal(delivery_queue_get_spool_stats(queue).nr_samples_restored, 30);
	deliver(queue, 3);
	assert_string_equal(sent, "abc");
	assert_int_equal(delivery_queue_get_stats(queue).nr_samples_sent, 30);
	delivery_queue_free(queue);
}

static void the_end_saves_what_waits_or_counts_it(void **state)
{
	struct delivery_queue *queue = open_queue(dir);
	(void)state;

	take(queue, "ab");
	delivery_queue_close_down(queue);
	assert_int_equal(delivery_queue_get_stats(queue).nr_samples_shutdown, 0);
	assert_int_equal(delivery_queue_get_spool_stats(queue).nr_samples, 20);
	delivery_queue_free(queue);

	queue = open_queue(NULL);
	take(queue, "ab");
	delivery_queue_close_down(queue);
	assert_int_equal(delivery_queue_get_stats(queue).nr_samples_shutdown, 20);
	assert_int_equal(delivery_queue_get_spool_stats(queue).nr_samples, 0);
	delivery_queue_free(queue);
}

static int make_dir(void **state)
{
	(void)state;
	log_set_level(LOG_LEVEL_ERROR);
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	(void)state;
	remove_tree(dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_log_has_no_keys),
		cmocka_unit_test(the_log_tells_destinations_with_one_url_apart),
		cmocka_unit_test(the_log_calls_lost_what_cannot_be_pushed_again),
		cmocka_unit_test(requests_are_delivered_in_order),
		cmocka_unit_test(what_may_be_retried_stays_first),
		cmocka_unit_test(the_destinations_wish_is_waited_for),
		cmocka_unit_test(what_may_not_be_retried_is_counted_and_gone),
		cmocka_unit_test(a_receiver_that_does_not_know_us_is_asked_less_and_less),
		cmocka_unit_test(a_receiver_may_reject_more_profiles_than_it_got),
		cmocka_unit_test(a_refusal_for_size_makes_requests_smaller),
		cmocka_unit_test(a_poisoned_request_does_not_hold_up_the_others),
		cmocka_unit_test(a_receiver_that_takes_nothing_makes_nothing_be_given_up),
		cmocka_unit_test(what_waits_is_on_disk_once_a_delivery_has_failed),
		cmocka_unit_test(the_end_saves_what_waits_or_counts_it),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
