/* SPDX-License-Identifier: Apache-2.0 */
/* The process that asks: what it may do, and what becomes of a request when it fails. */
#include "k8s/kubelet_worker.h"

#include "base/clock.h"
#include "child_process.h"
#include "k8s/kubelet.h"
#include "pod_bodies.h"
#include "tests/standin/kubelet_standin.h"
#include "unit.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#define KILL_NS (300 * NSEC_PER_MSEC)

static struct kubelet_standin server;
static bool has_server;

static int start_server(void **state)
{
	(void)state;
	has_server = kubelet_standin_start(&server, "127.0.0.1:0", "node-1",
					   pod_bodies_busy_node()) == 0;
	return 0;
}

static int stop_server(void **state)
{
	(void)state;
	if (has_server)
		kubelet_standin_stop(&server);
	return 0;
}

static struct kubelet *make_kubelet(const char *fault, uint64_t timeout_ns)
{
	struct kubelet *kubelet = NULL;

	if (!has_server) {
		print_message("SKIP: the kubelet stand-in needs python3 and openssl\n");
		skip();
	}
	const struct kubelet_opts opts = {
		.url = server.url,
		.node_name = "node-1",
		.ca_file = server.ca_file,
		.token_file = server.token_file,
		.timeout_ns = timeout_ns,
	};
	assert_int_equal(kubelet_standin_write(&server, "fault", fault), 0);
	assert_int_equal(kubelet_new(&opts, &kubelet), 0);
	return kubelet;
}

static int ask(struct kubelet *kubelet)
{
	const struct pod_list_opts opts = { .max_bytes = 1 << 20 };
	_cleanup_(pod_list_freep) struct pod_list *list = NULL;

	return kubelet_get_pods(kubelet, &opts, &list);
}

static void it_has_no_privileges_and_lives_between_requests(void **state)
{
	_cleanup_(kubelet_freep) struct kubelet *kubelet = make_kubelet("none", 9 * NSEC_PER_SEC);
	(void)state;

	for (size_t i = 0; i < 3; i++)
		assert_int_equal(ask(kubelet), 0);
	assert_unprivileged(find_child(KUBELET_WORKER_COMMAND));
	struct worker_stats stats = kubelet_get_worker_stats(kubelet);
	assert_int_equal(stats.nr_requests, 3);
	assert_int_equal(stats.nr_started, 1);
	assert_int_equal(stats.nr_deaths + stats.nr_timeouts, 0);
}

static void one_that_is_killed_costs_one_request(void **state)
{
	_cleanup_(kubelet_freep) struct kubelet *kubelet = make_kubelet("hang", 9 * NSEC_PER_SEC);
	const struct timespec pause = clock_timespec(WORKER_CLIENT_MAX_RESTART_NS);
	(void)state;

	signal_child_later(KUBELET_WORKER_COMMAND, SIGKILL, KILL_NS);
	assert_int_equal(ask(kubelet), -EPIPE);
	assert_non_null(strstr(kubelet_error(kubelet), "worker exited"));
	assert_int_equal(kubelet_get_worker_stats(kubelet).nr_deaths, 1);
	nanosleep(&pause, NULL);
	assert_int_equal(kubelet_standin_write(&server, "fault", "none"), 0);
	assert_int_equal(ask(kubelet), 0);
}

static void one_that_does_not_answer_is_killed(void **state)
{
	_cleanup_(kubelet_freep) struct kubelet *kubelet = make_kubelet("hang", NSEC_PER_SEC);
	(void)state;

	signal_child_later(KUBELET_WORKER_COMMAND, SIGSTOP, KILL_NS);
	assert_int_equal(ask(kubelet), -ETIMEDOUT);
	assert_non_null(strstr(kubelet_error(kubelet), "timed out"));
	assert_int_equal(kubelet_get_worker_stats(kubelet).nr_timeouts, 1);
}

static void *give_up_later(void *data)
{
	const struct timespec delay = clock_timespec(KILL_NS);

	nanosleep(&delay, NULL);
	kubelet_give_up(data);
	return NULL;
}

static void a_request_can_be_given_up(void **state)
{
	_cleanup_(kubelet_freep) struct kubelet *kubelet = make_kubelet("hang", 60 * NSEC_PER_SEC);
	uint64_t start_ns = clock_mono_ns();
	pthread_t thread;
	(void)state;

	assert_int_equal(pthread_create(&thread, NULL, give_up_later, kubelet), 0);
	assert_int_equal(ask(kubelet), -ECANCELED);
	pthread_join(thread, NULL);
	assert_true(clock_mono_ns() - start_ns < 5 * NSEC_PER_SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_has_no_privileges_and_lives_between_requests),
		cmocka_unit_test(one_that_is_killed_costs_one_request),
		cmocka_unit_test(one_that_does_not_answer_is_killed),
		cmocka_unit_test(a_request_can_be_given_up),
	};

	return cmocka_run_group_tests(tests, start_server, stop_server);
}
