/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/monitor.h"

#include "base/clock.h"
#include "base/heartbeat.h"
#include "base/http_client.h"
#include "selfmon/health.h"

#include <stdio.h>
#include <string.h>

#include "free_port.h"
#include "unit.h"

#define BODY_MAX_BYTES ((size_t)1 << 20)

static struct strbuf body;
static char local[32]; /* where monitors of start() listen */

/* The status; what it says is in `body`. */
static unsigned int get_at(const char *address, const char *path)
{
	const struct http_client_opts opts = { .connect_timeout_ns = 2 * NSEC_PER_SEC,
					       .total_timeout_ns = 5 * NSEC_PER_SEC };
	_cleanup_(http_client_freep) struct http_client *client = NULL;
	struct http_response response;
	char url[64];

	snprintf(url, sizeof(url), "http://%s%s", address, path);
	const struct http_request request = { .url = url };
	strbuf_done(&body);
	assert_int_equal(http_client_new(&opts, &client), 0);
	assert_int_equal(http_perform(client, &request, &body, &response), 0);
	return response.status;
}

static void assert_says(const char *path, unsigned int status, const char *text)
{
	assert_int_equal(get_at(local, path), status);
	assert_non_null(strstr(strbuf_str(&body), text));
}

static struct monitor *start(bool has_kubelet)
{
	const struct monitor_opts opts = { .listen = local, .has_kubelet = has_kubelet };
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1024);
	struct monitor *monitor;

	assert_int_equal(monitor_start(&opts, &message, &monitor), 0);
	return monitor;
}

static int set_up(void **state)
{
	(void)state;
	body = strbuf_with_max(BODY_MAX_BYTES);
	snprintf(local, sizeof(local), "127.0.0.1:%u", free_port());
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	strbuf_done(&body);
	return 0;
}

static void it_is_alive_but_not_ready_while_it_starts(void **state)
{
	_cleanup_(monitor_stopp) struct monitor *monitor = start(false);
	(void)state;
	(void)monitor;

	assert_says("/healthz", 200, "ok\n");
	assert_says("/readyz", 503, "starting\n");
	assert_says("/metrics", 200, "\nflamelet_samples_total 0\n");
	assert_says("/", 200, "/healthz");
	assert_says("/other", 404, "");
}

static void it_is_ready_when_it_samples_and_not_any_more_when_it_stops(void **state)
{
	_cleanup_(monitor_stopp) struct monitor *monitor = start(false);
	struct counters counters = { .agent.pipeline.nr_samples = 7 };
	(void)state;

	monitor_publish(monitor, &counters, clock_mono_ns());
	assert_says("/healthz", 200, "ok\n");
	assert_says("/readyz", 200, "ok\n");
	assert_says("/metrics", 200, "\nflamelet_samples_total 7\n");
	assert_null(strstr(strbuf_str(&body), "\nprocess_open_fds 0\n"));
	assert_null(strstr(strbuf_str(&body), "\nflamelet_maps_reads_total "));
	assert_says("/metrics/debug", 200, "\nflamelet_maps_reads_total 0\n");
	monitor_stopping(monitor);
	assert_says("/healthz", 200, "ok\n");
	assert_says("/readyz", 503, "stopping\n");
}

static void it_waits_for_the_kubelets_first_answer(void **state)
{
	_cleanup_(monitor_stopp) struct monitor *monitor = start(true);
	struct counters counters = { 0 };
	(void)state;

	monitor_publish(monitor, &counters, clock_mono_ns());
	assert_says("/readyz", 503, "the kubelet has not answered yet\n");
	assert_says("/healthz", 200, "ok\n");
	counters.agent.pods.nr_failures = 1;
	monitor_publish(monitor, &counters, clock_mono_ns());
	assert_says("/readyz", 503, "the kubelet has not returned a list of pods yet");
	counters.agent.pods.nr_refreshes = 1;
	monitor_publish(monitor, &counters, clock_mono_ns());
	assert_says("/readyz", 200, "ok\n");
}

static void it_is_ready_without_the_kubelet_when_it_has_waited(void **state)
{
	_cleanup_(monitor_stopp) struct monitor *monitor = start(true);
	struct counters counters = { .agent.pods.nr_untrusted = 1 };
	(void)state;

	monitor_publish(monitor, &counters, clock_mono_ns() - HEALTH_MISSING_MAX_NS - NSEC_PER_SEC);
	monitor_publish(monitor, &counters, clock_mono_ns());
	assert_says("/readyz", 200, "ok, but the kubelet's certificate");
	assert_says("/healthz", 200, "ok\n");
	counters.agent.pods.nr_refreshes = 1;
	monitor_publish(monitor, &counters, clock_mono_ns());
	get_at(local, "/readyz");
	assert_string_equal(strbuf_str(&body), "ok\n");
}

/* By ticks of a time that has not come yet. */
static void a_thread_that_hangs_is_named(void **state)
{
	_cleanup_(monitor_stopp) struct monitor *monitor = start(false);
	struct counters counters = { 0 };
	uint64_t now_ns = clock_mono_ns();
	(void)state;

	monitor_publish(monitor, &counters, now_ns);
	heartbeat_begin("symbolizer", 5 * NSEC_PER_SEC);
	assert_says("/healthz", 200, "ok\n");
	for (uint64_t past_ns = 0; past_ns <= 7 * NSEC_PER_SEC; past_ns += HEARTBEAT_TICK_NS)
		heartbeat_tick(now_ns += HEARTBEAT_TICK_NS);
	assert_says("/healthz", 503, "the thread symbolizer has made no progress for 7 s\n");
	assert_says("/readyz", 503, "the thread symbolizer has made no progress for 7 s\n");
	assert_says("/metrics", 200,
		    "\nflamelet_thread_heartbeat_age_seconds{thread=\"symbolizer\"} 7");
	monitor_stopping(monitor);
	assert_says("/healthz", 200, "ok\n");
	heartbeat_end();
}

static void others_are_told_metrics_alone(void **state)
{
	static const char *const refused[] = { "/", "/healthz", "/readyz", "/metrics/" };
	unsigned int port = free_port();
	char address[32], all[16], all_v4[32];
	const struct monitor_opts both = { .listen = local, .metrics_listen = all };
	const struct monitor_opts alone = { .metrics_listen = all_v4 };
	(void)state;

	snprintf(address, sizeof(address), "127.0.0.1:%u", port);
	snprintf(all, sizeof(all), "*:%u", port);
	snprintf(all_v4, sizeof(all_v4), "0.0.0.0:%u", port);
	for (size_t i = 0; i < 2; i++) {
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1024);
		_cleanup_(monitor_stopp) struct monitor *monitor = NULL;

		assert_int_equal(monitor_start(i == 0 ? &both : &alone, &message, &monitor), 0);
		assert_int_equal(get_at(address, "/metrics"), 200);
		assert_non_null(strstr(strbuf_str(&body), "\nflamelet_samples_total 0\n"));
		for (size_t j = 0; j < array_len(refused); j++)
			assert_int_equal(get_at(address, refused[j]), 404);
	}
}

static void a_reader_that_hangs_is_not_alive(void **state)
{
	_cleanup_(monitor_stopp) struct monitor *monitor = start(false);
	struct counters counters = { 0 };
	(void)state;

	monitor_publish(monitor, &counters, clock_mono_ns() - 11 * NSEC_PER_SEC);
	assert_says("/healthz", 503, "the reader");
	assert_says("/readyz", 503, "the reader");
}

static void counters_are_due_once_a_second(void **state)
{
	_cleanup_(monitor_stopp) struct monitor *monitor = start(false);
	struct counters counters = { 0 };
	(void)state;

	assert_false(monitor_is_due(NULL, 1));
	assert_true(monitor_is_due(monitor, 1));
	monitor_publish(monitor, &counters, 1);
	assert_false(monitor_is_due(monitor, NSEC_PER_SEC));
	assert_true(monitor_is_due(monitor, NSEC_PER_SEC + 1));
}

static void an_address_that_is_taken_is_refused(void **state)
{
	_cleanup_(monitor_stopp) struct monitor *first = start(false);
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1024);
	struct monitor *second;
	const struct monitor_opts opts = { .listen = local };
	const struct monitor_opts metrics = { .listen = "127.0.0.1:0", .metrics_listen = local };
	(void)state;
	(void)first;

	assert_int_equal(monitor_start(&opts, &message, &second), -EADDRINUSE);
	assert_non_null(strstr(strbuf_str(&message), local));
	strbuf_done(&message);
	assert_int_equal(monitor_start(&metrics, &message, &second), -EADDRINUSE);
	assert_non_null(strstr(strbuf_str(&message), local));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_alive_but_not_ready_while_it_starts),
		cmocka_unit_test(it_is_ready_when_it_samples_and_not_any_more_when_it_stops),
		cmocka_unit_test(it_waits_for_the_kubelets_first_answer),
		cmocka_unit_test(it_is_ready_without_the_kubelet_when_it_has_waited),
		cmocka_unit_test(a_thread_that_hangs_is_named),
		cmocka_unit_test(others_are_told_metrics_alone),
		cmocka_unit_test(a_reader_that_hangs_is_not_alive),
		cmocka_unit_test(counters_are_due_once_a_second),
		cmocka_unit_test(an_address_that_is_taken_is_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
