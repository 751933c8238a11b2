/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/pod_watch.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "base/log.h"
#include "tests/standin/kubelet_standin.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

#include "unit.h"

#define PODS_FILE FIXTURES_DIR "/kubelet/pods-1.36.json"
#define NR_PODS 14
#define WAIT_NS (20 * NSEC_PER_SEC)

static struct kubelet_standin server;
static bool has_server;

static int start_server(void **state)
{
	(void)state;
	log_set_level(LOG_LEVEL_ERROR);
	has_server = kubelet_standin_start(&server, "127.0.0.1:0", "node-1", PODS_FILE) == 0;
	return 0;
}

static int stop_server(void **state)
{
	(void)state;
	if (has_server)
		kubelet_standin_stop(&server);
	return 0;
}

struct fixture {
	struct pod_index *index;
	struct pod_watch *watch;
};

static void set_fault(const char *fault)
{
	assert_int_equal(kubelet_standin_write(&server, "fault", fault), 0);
}

/* Starts a watch on a kubelet with that fault, or skips the test. */
static struct fixture start_watch(const char *fault, size_t max_pods)
{
	struct kubelet_opts opts = {
		.url = server.url,
		.node_name = "node-1",
		.ca_file = server.ca_file,
		.token_file = server.token_file,
		.timeout_ns = NSEC_PER_SEC,
	};
	struct kubelet *kubelet = NULL;
	struct fixture fixture;

	if (!has_server) {
		print_message("SKIP: the kubelet stand-in needs python3 and openssl\n");
		skip();
	}
	set_fault(fault);
	assert_int_equal(pod_index_new(max_pods, &fixture.index), 0);
	assert_int_equal(kubelet_new(&opts, &kubelet), 0);
	assert_int_equal(pod_watch_start(kubelet, fixture.index, &fixture.watch), 0);
	return fixture;
}

static void stop_watch(struct fixture *fixture)
{
	pod_watch_stop(fixture->watch);
	pod_index_free(fixture->index);
}

static void pause_ns(uint64_t ns)
{
	struct timespec pause = clock_timespec(ns);

	nanosleep(&pause, NULL);
}

static uint64_t nr_refreshes(const struct pod_watch_stats *stats)
{
	return stats->nr_refreshes;
}

static uint64_t nr_failures(const struct pod_watch_stats *stats)
{
	return stats->nr_failures;
}

/* Waits until a counter has reached `value`. */
static struct pod_watch_stats wait_for(struct pod_watch *watch,
				       uint64_t (*counter)(const struct pod_watch_stats *stats),
				       uint64_t value)
{
	uint64_t deadline_ns = clock_mono_ns() + WAIT_NS;

	for (;;) {
		struct pod_watch_stats stats = pod_watch_get_stats(watch);

		if (counter(&stats) >= value)
			return stats;
		assert_true(clock_mono_ns() < deadline_ns);
		pause_ns(10 * NSEC_PER_MSEC);
	}
}

static void the_first_request_is_made_at_once(void **state)
{
	_cleanup_(stop_watch) struct fixture fixture = start_watch("none", 100);
	(void)state;

	pod_watch_wait_first(fixture.watch, clock_mono_ns() + WAIT_NS);
	struct pod_watch_stats stats = pod_watch_get_stats(fixture.watch);
	assert_int_equal(stats.nr_refreshes, 1);
	assert_int_equal(stats.nr_failures, 0);
	assert_int_equal(stats.nr_skipped, 0);
	assert_int_equal(stats.nr_overflows, 0);
	assert_in_range(stats.last_success_ns, 1, clock_mono_ns());
	assert_int_equal(pod_index_get_stats(fixture.index).nr_live, NR_PODS);
}

static void pokes_are_coalesced_to_one_request_a_second(void **state)
{
	_cleanup_(stop_watch) struct fixture fixture = start_watch("none", 100);
	(void)state;

	pod_watch_wait_first(fixture.watch, clock_mono_ns() + WAIT_NS);
	size_t nr_requests = kubelet_standin_nr_requests(&server);
	uint64_t start_ns = clock_mono_ns();
	for (int i = 0; i < 100; i++)
		pod_watch_poke(fixture.watch);
	wait_for(fixture.watch, nr_refreshes, 2);
	assert_true(clock_mono_ns() - start_ns >= 900 * NSEC_PER_MSEC);
	pause_ns(1500 * NSEC_PER_MSEC);
	assert_int_equal(kubelet_standin_nr_requests(&server), nr_requests + 1);
}

static void failures_keep_the_index_and_end_by_themselves(void **state)
{
	_cleanup_(stop_watch) struct fixture fixture = start_watch("none", 100);
	(void)state;

	pod_watch_wait_first(fixture.watch, clock_mono_ns() + WAIT_NS);
	set_fault("500");
	pod_watch_poke(fixture.watch);
	struct pod_watch_stats failed = wait_for(fixture.watch, nr_failures, 1);
	assert_int_equal(pod_index_get_stats(fixture.index).nr_live, NR_PODS);
	set_fault("none");
	struct pod_watch_stats recovered = wait_for(fixture.watch, nr_refreshes,
						    failed.nr_refreshes + 1);
	assert_true(recovered.last_success_ns > failed.last_success_ns);
	assert_int_equal(pod_index_get_stats(fixture.index).nr_live, NR_PODS);
}

static void pokes_do_not_shorten_the_pause_after_a_failure(void **state)
{
	_cleanup_(stop_watch) struct fixture fixture = start_watch("garbage", 100);
	(void)state;

	wait_for(fixture.watch, nr_failures, 2);
	uint64_t start_ns = clock_mono_ns();
	pod_watch_poke(fixture.watch);
	wait_for(fixture.watch, nr_failures, 3);
	assert_true(clock_mono_ns() - start_ns >= 1800 * NSEC_PER_MSEC);
	assert_int_equal(pod_index_get_stats(fixture.index).nr_live, 0);
}

static void pods_beyond_the_index_are_counted(void **state)
{
	_cleanup_(stop_watch) struct fixture fixture = start_watch("none", 5);
	(void)state;

	pod_watch_wait_first(fixture.watch, clock_mono_ns() + WAIT_NS);
	struct pod_watch_stats stats = pod_watch_get_stats(fixture.watch);
	assert_int_equal(stats.nr_refreshes, 1);
	assert_int_equal(stats.nr_overflows, 1);
	assert_int_equal(pod_index_get_stats(fixture.index).nr_live, 5);
}

static void waiting_and_stopping_end_while_the_kubelet_hangs(void **state)
{
	struct fixture fixture = start_watch("hang", 100);
	(void)state;

	uint64_t start_ns = clock_mono_ns();
	pod_watch_wait_first(fixture.watch, start_ns + 50 * NSEC_PER_MSEC);
	assert_true(clock_mono_ns() - start_ns >= 50 * NSEC_PER_MSEC);
	assert_int_equal(pod_watch_get_stats(fixture.watch).nr_failures, 0);
	stop_watch(&fixture);
	assert_true(clock_mono_ns() - start_ns < 10 * NSEC_PER_SEC);
}

/* Whether a thread of this process has that name. */
static bool has_thread(const char *name)
{
	_cleanup_closedir_ DIR *tasks = opendir("/proc/self/task");

	assert_non_null(tasks);
	for (const struct dirent *entry; (entry = readdir(tasks));) {
		_cleanup_(strbuf_done) struct strbuf comm = strbuf_with_max(64);
		char path[300];

		snprintf(path, sizeof(path), "%s/comm", entry->d_name);
		if (file_read_at(dirfd(tasks), path, &comm) == 0 &&
		    strcmp(strbuf_str(&comm), name) == 0)
			return true;
	}
	return false;
}

static void the_thread_is_named_pods(void **state)
{
	_cleanup_(stop_watch) struct fixture fixture = start_watch("none", 100);
	(void)state;

	pod_watch_wait_first(fixture.watch, clock_mono_ns() + WAIT_NS);
	assert_true(has_thread("pods\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_request_is_made_at_once),
		cmocka_unit_test(pokes_are_coalesced_to_one_request_a_second),
		cmocka_unit_test(failures_keep_the_index_and_end_by_themselves),
		cmocka_unit_test(pokes_do_not_shorten_the_pause_after_a_failure),
		cmocka_unit_test(pods_beyond_the_index_are_counted),
		cmocka_unit_test(waiting_and_stopping_end_while_the_kubelet_hangs),
		cmocka_unit_test(the_thread_is_named_pods),
	};

	return cmocka_run_group_tests(tests, start_server, stop_server);
}
