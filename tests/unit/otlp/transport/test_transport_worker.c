/* SPDX-License-Identifier: Apache-2.0 */
/* The process that sends: what it may do, and what becomes of a request when it fails. */
#include "otlp/transport/transport_worker.h"

#include "base/clock.h"
#include "child_process.h"
#include "otlp/transport/transport.h"
#include "tests/standin/standin.h"
#include "transport_fixture.h"
#include "unit.h"

#include <signal.h>
#include <string.h>
#include <time.h>

#define KILL_NS (300 * NSEC_PER_MSEC)

static struct standin server;

static int start_server(void **state)
{
	(void)state;
	return standin_start(&server);
}

static int stop_server(void **state)
{
	(void)state;
	standin_stop(&server);
	return 0;
}

static struct transport *make_transport(const char *told)
{
	struct transport_opts opts = local_opts(TRANSPORT_OTLP_HTTP, server.port);
	struct transport *transport = NULL;
	const char *headers[] = { told };

	opts.headers = headers;
	opts.nr_headers = 1;
	assert_int_equal(transport_new(&opts, &transport), 0);
	return transport;
}

static enum outcome_verdict send_to(struct transport *transport, const char *words)
{
	struct request_outcome outcome;

	transport_send(transport, DUMMY_BODY, strlen(DUMMY_BODY), &outcome);
	if (!strstr(outcome.message, words))
		fail_msg("\"%s\" is not in \"%s\"", words, outcome.message);
	return outcome.verdict;
}

static void it_has_no_privileges_and_lives_between_requests(void **state)
{
	_cleanup_(transport_freep) struct transport *transport = make_transport("X-Answer: 200");
	(void)state;

	assert_int_equal(find_child(TRANSPORT_WORKER_COMMAND), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(send_to(transport, ""), OUTCOME_DONE);
	assert_unprivileged(find_child(TRANSPORT_WORKER_COMMAND));
	struct worker_stats stats = transport_get_stats(transport);
	assert_int_equal(stats.nr_requests, 3);
	assert_int_equal(stats.nr_started, 1);
	assert_int_equal(stats.nr_deaths + stats.nr_timeouts, 0);
	assert_true(stats.resident_bytes > 0);
}

static void it_ends_with_its_transport(void **state)
{
	struct transport *transport = make_transport("X-Answer: 200");
	(void)state;

	assert_int_equal(send_to(transport, ""), OUTCOME_DONE);
	transport_free(transport);
	assert_int_equal(find_child(TRANSPORT_WORKER_COMMAND), 0);
}

/* A new one is not started at once. */
static void pause_for_restart(void)
{
	const struct timespec pause = clock_timespec(WORKER_CLIENT_MAX_RESTART_NS);

	nanosleep(&pause, NULL);
}

static void one_that_is_killed_costs_one_request(void **state)
{
	_cleanup_(transport_freep) struct transport *transport = make_transport(
		"X-Answer: 200?sleep=1");
	(void)state;

	signal_child_later(TRANSPORT_WORKER_COMMAND, SIGKILL, KILL_NS);
	assert_int_equal(send_to(transport, "worker exited"), OUTCOME_RETRY);
	assert_int_equal(transport_get_stats(transport).nr_deaths, 1);
	pause_for_restart();
	assert_int_equal(send_to(transport, ""), OUTCOME_DONE);
	assert_int_equal(transport_get_stats(transport).nr_started, 2);
}

static void one_that_does_not_answer_is_killed(void **state)
{
	_cleanup_(transport_freep) struct transport *transport = make_transport(
		"X-Answer: 200?sleep=1");
	(void)state;

	signal_child_later(TRANSPORT_WORKER_COMMAND, SIGSTOP, KILL_NS);
	assert_int_equal(send_to(transport, "timed out"), OUTCOME_RETRY);
	assert_int_equal(transport_get_stats(transport).nr_timeouts, 1);
	pause_for_restart();
	assert_int_equal(send_to(transport, ""), OUTCOME_DONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_has_no_privileges_and_lives_between_requests),
		cmocka_unit_test(it_ends_with_its_transport),
		cmocka_unit_test(one_that_is_killed_costs_one_request),
		cmocka_unit_test(one_that_does_not_answer_is_killed),
	};

	return cmocka_run_group_tests(tests, start_server, stop_server);
}
