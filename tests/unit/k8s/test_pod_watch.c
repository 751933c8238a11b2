/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/pod_watch.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "base/log.h"
#include "remove_tree.h"
#include "tests/standin/kubelet_standin.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "unit.h"

#define PODS_FILE FIXTURES_DIR "/kubelet/pods-1.36.json"
#define NR_PODS 14
#define WAIT_NS (20 * NSEC_PER_SEC)
#define LABELLED_UID "fd38b59a72cca1ae5023bfe6af2d1fae" /* has the label app=static */
#define LOGGED_POD "/pods/shop_logged_12345678-1234-1234-1234-123456789abc"
#define OTHER_LOGGED_POD "/pods/shop_other_12345678-1234-1234-1234-123456789abd"

static struct kubelet_standin server;
static bool has_server;

/* What a test's watch is started with. */
struct setup {
	const char *fault;
	const char *logs_dir;
	size_t max_pods; /* 0: 100 */
	uint64_t timeout_ns; /* 0: 1 s */
	enum http_verify verify;
};

struct fixture {
	struct pod_index *index;
	struct pod_watch *watch;
	char logs_dir[32]; /* "" unless made by start_with_logs() */
};

static void write_standin(const struct kubelet_standin *standin, const char *name, const char *text)
{
	assert_int_equal(kubelet_standin_write(standin, name, text), 0);
}

static void set_fault(const char *fault)
{
	write_standin(&server, "fault", fault);
}

static struct fixture watch_standin(const struct kubelet_standin *standin,
				    const struct setup *setup)
{
	const struct kubelet_opts opts = {
		.url = standin->url,
		.node_name = "node-1",
		.ca_file = standin->ca_file,
		.token_file = standin->token_file,
		.timeout_ns = setup->timeout_ns ? setup->timeout_ns : NSEC_PER_SEC,
		.verify = setup->verify,
	};
	struct kubelet *kubelet = NULL;
	struct fixture fixture = { 0 };

	write_standin(standin, "fault", setup->fault);
	assert_int_equal(pod_index_new(setup->max_pods ? setup->max_pods : 100, &fixture.index), 0);
	assert_int_equal(kubelet_new(&opts, &kubelet), 0);
	const struct pod_watch_opts watch_opts = {
		.kubelet = kubelet,
		.index = fixture.index,
		.logs_dir = setup->logs_dir,
	};
	assert_int_equal(pod_watch_start(&watch_opts, &fixture.watch), 0);
	return fixture;
}

/* Starts a watch, or skips the test. */
static struct fixture start(const struct setup *setup)
{
	if (!has_server) {
		print_message("SKIP: the kubelet stand-in needs python3 and openssl\n");
		skip();
	}
	return watch_standin(&server, setup);
}

static struct fixture start_watch(const char *fault)
{
	return start(&(struct setup){ .fault = fault });
}

static void make_log_dir(const char *logs_dir, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s%s", logs_dir, name);
	assert_int_equal(mkdir(path, 0755), 0);
}

/* Makes log directories with one pod in them. */
static void make_logs(char logs_dir[static 32])
{
	snprintf(logs_dir, 32, "/tmp/flamelet-logs-XXXXXX");
	assert_non_null(mkdtemp(logs_dir));
	make_log_dir(logs_dir, "/pods");
	make_log_dir(logs_dir, "/containers");
	make_log_dir(logs_dir, LOGGED_POD);
}

static struct fixture start_with_logs(struct setup setup)
{
	char logs_dir[32];

	make_logs(logs_dir);
	setup.logs_dir = logs_dir;
	struct fixture fixture = start(&setup);
	memcpy(fixture.logs_dir, logs_dir, sizeof(logs_dir));
	return fixture;
}

static void stop_watch(struct fixture *fixture)
{
	pod_watch_stop(fixture->watch);
	pod_index_free(fixture->index);
	if (fixture->logs_dir[0])
		remove_tree(fixture->logs_dir);
}

static size_t nr_live(const struct fixture *fixture)
{
	return pod_index_get_stats(fixture->index).nr_live;
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

static uint64_t nr_log_reads(const struct pod_watch_stats *stats)
{
	return stats->nr_log_reads;
}

static uint64_t nr_empty(const struct pod_watch_stats *stats)
{
	return stats->nr_empty;
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

static void wait_for_live(const struct fixture *fixture, size_t nr_pods)
{
	uint64_t deadline_ns = clock_mono_ns() + WAIT_NS;

	while (nr_live(fixture) != nr_pods && clock_mono_ns() < deadline_ns)
		pause_ns(10 * NSEC_PER_MSEC);
	assert_int_equal(nr_live(fixture), nr_pods);
}

static void wait_first(const struct fixture *fixture)
{
	pod_watch_wait_first(fixture->watch, clock_mono_ns() + WAIT_NS);
}

/* A watch whose kubelet has no pods any more, from before the first test to the last one. */
static struct kubelet_standin emptied_server;
static struct fixture emptied;

static int start_servers(void **state)
{
	const struct setup setup = { .fault = "none", .timeout_ns = WAIT_NS };
	(void)state;

	log_set_level(LOG_LEVEL_ERROR);
	if (kubelet_standin_start(&server, "127.0.0.1:0", "node-1", PODS_FILE) < 0)
		return 0;
	has_server = true;
	assert_int_equal(kubelet_standin_start(&emptied_server, "127.0.0.1:0", "node-1", PODS_FILE),
			 0);
	emptied = watch_standin(&emptied_server, &setup);
	wait_first(&emptied);
	write_standin(&emptied_server, "fault", "null-items");
	pod_watch_request_refresh(emptied.watch);
	return 0;
}

static int stop_servers(void **state)
{
	(void)state;
	if (!has_server)
		return 0;
	stop_watch(&emptied);
	kubelet_standin_stop(&emptied_server);
	kubelet_standin_stop(&server);
	return 0;
}

static void the_first_request_is_made_at_once(void **state)
{
	_cleanup_(stop_watch) struct fixture fixture = start_watch("none");
	struct stat file;
	(void)state;

	wait_first(&fixture);
	assert_int_equal(stat(PODS_FILE, &file), 0);
	struct pod_watch_stats stats = pod_watch_get_stats(fixture.watch);
	assert_int_equal(stats.nr_refreshes, 1);
	assert_int_equal(stats.nr_failures, 0);
	assert_int_equal(stats.nr_skipped, 0);
	assert_int_equal(stats.nr_overflows, 0);
	assert_int_equal(stats.nr_log_reads, 0);
	assert_int_equal(stats.nr_body_bytes, file.st_size);
	assert_in_range(stats.refresh_ns, 1, WAIT_NS);
	assert_in_range(stats.cpu_ns, 1, stats.refresh_ns);
	assert_in_range(stats.last_success_ns, 1, clock_mono_ns());
	assert_int_equal(stats.nr_insecure, 0);
	assert_false(pod_watch_is_stale(fixture.watch));
	assert_int_equal(nr_live(&fixture), NR_PODS);
}

static void refreshes_requested_before_a_round_are_answered_by_it(void **state)
{
	_cleanup_(stop_watch) struct fixture fixture = start_watch("none");
	(void)state;

	wait_first(&fixture);
	size_t nr_requests = kubelet_standin_nr_requests(&server);
	for (int i = 0; i < 100; i++)
		pod_watch_request_refresh(fixture.watch);
	wait_for(fixture.watch, nr_refreshes, 2);
	pause_ns(1500 * NSEC_PER_MSEC);
	assert_in_range(kubelet_standin_nr_requests(&server), nr_requests + 1, nr_requests + 2);
}

static void requested_refreshes_come_in_a_burst_then_once_a_second(void **state)
{
	_cleanup_(stop_watch) struct fixture fixture = start_watch("none");
	uint64_t answered_ns[POD_WATCH_BURST + 2];
	(void)state;

	wait_first(&fixture);
	uint64_t start_ns = clock_mono_ns();
	for (size_t i = 0; i < array_len(answered_ns); i++) {
		pod_watch_request_refresh(fixture.watch);
		wait_for(fixture.watch, nr_refreshes, i + 2);
		answered_ns[i] = clock_mono_ns() - start_ns;
	}
	assert_true(answered_ns[POD_WATCH_BURST - 1] >= (POD_WATCH_BURST - 1) * POD_WATCH_GAP_NS);
	assert_true(answered_ns[POD_WATCH_BURST - 1] < (POD_WATCH_BURST - 1) * NSEC_PER_SEC);
	assert_true(answered_ns[POD_WATCH_BURST] >= NSEC_PER_SEC);
	assert_true(answered_ns[POD_WATCH_BURST + 1] >= 2 * NSEC_PER_SEC);
}

static void failures_keep_the_index_and_end_by_themselves(void **state)
{
	_cleanup_(stop_watch) struct fixture fixture = start_watch("none");
	(void)state;

	wait_first(&fixture);
	set_fault("500");
	pod_watch_request_refresh(fixture.watch);
	struct pod_watch_stats failed = wait_for(fixture.watch, nr_failures, 1);
	assert_int_equal(nr_live(&fixture), NR_PODS);
	assert_false(pod_watch_is_stale(fixture.watch));
	set_fault("none");
	struct pod_watch_stats recovered = wait_for(fixture.watch, nr_refreshes,
						    failed.nr_refreshes + 1);
	assert_true(recovered.last_success_ns > failed.last_success_ns);
	assert_int_equal(nr_live(&fixture), NR_PODS);
}

static void a_requested_refresh_does_not_shorten_the_pause_after_a_failure(void **state)
{
	_cleanup_(stop_watch) struct fixture fixture = start_watch("garbage");
	(void)state;

	wait_for(fixture.watch, nr_failures, 2);
	uint64_t start_ns = clock_mono_ns();
	pod_watch_request_refresh(fixture.watch);
	wait_for(fixture.watch, nr_failures, 3);
	assert_true(clock_mono_ns() - start_ns >= 1800 * NSEC_PER_MSEC);
	assert_int_equal(nr_live(&fixture), 0);
	assert_true(pod_watch_is_stale(fixture.watch));
}

static void failures_are_counted_by_kind(void **state)
{
	static const struct {
		const char *fault, *certificate;
		uint64_t nr_unauthorized, nr_forbidden, nr_timeouts, nr_untrusted;
	} cases[] = {
		{ "401", "serving", 1, 0, 0, 0 },  { "403", "serving", 0, 1, 0, 0 },
		{ "500", "serving", 0, 0, 0, 0 },  { "hang", "serving", 0, 0, 1, 0 },
		{ "none", "expired", 0, 0, 0, 1 }, { "hang-middle", "serving", 0, 0, 1, 0 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		if (has_server)
			write_standin(&server, "certificate", cases[i].certificate);

		_cleanup_(stop_watch) struct fixture fixture = start_watch(cases[i].fault);
		wait_first(&fixture);
		struct pod_watch_stats stats = pod_watch_get_stats(fixture.watch);
		assert_int_equal(stats.nr_failures, 1);
		assert_int_equal(stats.nr_unauthorized, cases[i].nr_unauthorized);
		assert_int_equal(stats.nr_forbidden, cases[i].nr_forbidden);
		assert_int_equal(stats.nr_timeouts, cases[i].nr_timeouts);
		assert_int_equal(stats.nr_untrusted, cases[i].nr_untrusted);
	}
	write_standin(&server, "certificate", "serving");
}

static void pods_beyond_the_index_are_counted(void **state)
{
	const struct setup setup = { .fault = "none", .max_pods = 5 };
	_cleanup_(stop_watch) struct fixture fixture = start(&setup);
	(void)state;

	wait_first(&fixture);
	struct pod_watch_stats stats = pod_watch_get_stats(fixture.watch);
	assert_int_equal(stats.nr_refreshes, 1);
	assert_int_equal(stats.nr_overflows, 1);
	assert_int_equal(nr_live(&fixture), 5);
}

static void waiting_and_stopping_end_while_the_kubelet_hangs(void **state)
{
	struct fixture fixture = start_watch("hang");
	(void)state;

	uint64_t start_ns = clock_mono_ns();
	pod_watch_wait_first(fixture.watch, start_ns + 50 * NSEC_PER_MSEC);
	assert_true(clock_mono_ns() - start_ns >= 50 * NSEC_PER_MSEC);
	assert_int_equal(pod_watch_get_stats(fixture.watch).nr_failures, 0);
	stop_watch(&fixture);
	assert_true(clock_mono_ns() - start_ns < 10 * NSEC_PER_SEC);
}

static void logs_name_pods_while_the_first_request_hangs(void **state)
{
	_cleanup_(stop_watch) struct fixture fixture = start_with_logs(
		(struct setup){ .fault = "hang", .timeout_ns = 4 * NSEC_PER_SEC });
	(void)state;

	wait_for_live(&fixture, 1);
	assert_int_equal(pod_watch_get_stats(fixture.watch).nr_failures, 0);
	set_fault("none");
	wait_for(fixture.watch, nr_refreshes, 1);
	assert_int_equal(nr_live(&fixture), NR_PODS);
}

static void a_refresh_requested_after_a_failure_looks_at_the_logs_only(void **state)
{
	_cleanup_(stop_watch) struct fixture fixture = start_with_logs(
		(struct setup){ .fault = "500" });
	(void)state;

	wait_for_live(&fixture, 1);
	struct pod_watch_stats before = wait_for(fixture.watch, nr_failures, 3);
	make_log_dir(fixture.logs_dir, OTHER_LOGGED_POD);
	pod_watch_request_refresh(fixture.watch);
	struct pod_watch_stats after = wait_for(fixture.watch, nr_log_reads,
						before.nr_log_reads + 1);
	assert_int_equal(after.nr_failures, before.nr_failures);
	assert_int_equal(nr_live(&fixture), 2);
}

static void logs_are_not_looked_at_while_the_kubelet_answers(void **state)
{
	_cleanup_(stop_watch) struct fixture fixture = start_with_logs(
		(struct setup){ .fault = "none" });
	(void)state;

	wait_first(&fixture);
	pod_watch_request_refresh(fixture.watch);
	struct pod_watch_stats stats = wait_for(fixture.watch, nr_refreshes, 2);
	assert_int_equal(stats.nr_log_reads, 1); /* before the first answer */
	make_log_dir(fixture.logs_dir, OTHER_LOGGED_POD);
	set_fault("500");
	pod_watch_request_refresh(fixture.watch);
	stats = wait_for(fixture.watch, nr_failures, 1);
	assert_int_equal(stats.nr_log_reads, 2);
	assert_int_equal(nr_live(&fixture), NR_PODS + 1);
}

static void without_a_kubelet_logs_name_pods(void **state)
{
	_cleanup_(stop_watch) struct fixture fixture = { 0 };
	(void)state;

	make_logs(fixture.logs_dir);
	assert_int_equal(pod_index_new(100, &fixture.index), 0);
	const struct pod_watch_opts opts = { .index = fixture.index, .logs_dir = fixture.logs_dir };
	assert_int_equal(pod_watch_start(&opts, &fixture.watch), 0);
	wait_first(&fixture);
	assert_int_equal(nr_live(&fixture), 1);
	make_log_dir(fixture.logs_dir, OTHER_LOGGED_POD);
	pod_watch_request_refresh(fixture.watch);
	wait_for_live(&fixture, 2);
	assert_true(pod_watch_is_stale(fixture.watch));
	assert_int_equal(pod_watch_get_stats(fixture.watch).nr_failures, 0);
}

static void with_neither_kubelet_nor_logs_nothing_happens(void **state)
{
	_cleanup_(stop_watch) struct fixture fixture = { 0 };
	const char *const dirs[] = { NULL, "/no/such/log" };
	(void)state;

	assert_int_equal(pod_index_new(100, &fixture.index), 0);
	for (size_t i = 0; i < array_len(dirs); i++) {
		const struct pod_watch_opts opts = { .index = fixture.index, .logs_dir = dirs[i] };

		pod_watch_stop(fixture.watch);
		assert_int_equal(pod_watch_start(&opts, &fixture.watch), 0);
		wait_first(&fixture);
		pod_watch_request_refresh(fixture.watch);
		assert_int_equal(nr_live(&fixture), 0);
		assert_true(pod_watch_is_stale(fixture.watch));
	}
}

static void the_empty_list_of_a_restarted_kubelet_is_not_believed(void **state)
{
	_cleanup_(stop_watch) struct fixture fixture = start_watch("none");
	(void)state;

	wait_first(&fixture);
	set_fault("null-items 1.5");
	pod_watch_request_refresh(fixture.watch);
	struct pod_watch_stats stats = wait_for(fixture.watch, nr_empty, 1);
	assert_int_equal(stats.nr_refreshes, 1);
	assert_int_equal(stats.nr_failures, stats.nr_empty);
	assert_int_equal(nr_live(&fixture), NR_PODS);
	wait_for(fixture.watch, nr_refreshes, 2);
	assert_int_equal(nr_live(&fixture), NR_PODS);
}

static void an_empty_list_is_an_answer_where_no_pod_was(void **state)
{
	_cleanup_(stop_watch) struct fixture fixture = start_watch("null-items");
	(void)state;

	wait_first(&fixture);
	struct pod_watch_stats stats = pod_watch_get_stats(fixture.watch);
	assert_int_equal(stats.nr_refreshes, 1);
	assert_int_equal(stats.nr_empty, 0);
	assert_false(pod_watch_is_stale(fixture.watch));
}

/* Takes what there is of the label "app". */
static void find_app(const struct pod_match *match, void *data)
{
	const struct pod *pod = match->pod;
	char *app = data;

	assert_non_null(pod);
	for (size_t i = 0; i < pod->nr_attributes; i++)
		if (strcmp(pod->attributes[i].key, "k8s.pod.label.app") == 0)
			snprintf(app, 16, "%s", pod->attributes[i].value);
}

static void other_keys_count_from_the_next_refresh_which_comes_at_once(void **state)
{
	static const struct cgroup_owner owner = { .kind = CGROUP_POD, .pod_uid = LABELLED_UID };
	_cleanup_(stop_watch) struct fixture fixture = start_watch("none");
	char key[] = "app";
	const char *const keys[] = { key };
	const struct pod_watch_opts with_app = { .label_keys = keys, .nr_label_keys = 1 };
	const struct pod_watch_opts without = { 0 };
	char app[16] = "";
	(void)state;

	wait_first(&fixture);
	pod_index_find(fixture.index, &owner, 0, find_app, app);
	assert_string_equal(app, "");

	assert_int_equal(pod_watch_set_keys(fixture.watch, &without), 0);
	assert_int_equal(pod_watch_set_keys(fixture.watch, &with_app), 0);
	memset(key, 'x', sizeof(key) - 1);
	uint64_t deadline_ns = clock_mono_ns() + WAIT_NS;
	while (!app[0] && clock_mono_ns() < deadline_ns) {
		pod_index_find(fixture.index, &owner, 0, find_app, app);
		pause_ns(10 * NSEC_PER_MSEC);
	}
	assert_string_equal(app, "static");
}

static void an_unverified_kubelet_is_told(void **state)
{
	const struct setup setup = { .fault = "none", .verify = HTTP_VERIFY_NONE };
	_cleanup_(stop_watch) struct fixture fixture = start(&setup);
	(void)state;

	wait_first(&fixture);
	assert_true(pod_watch_get_stats(fixture.watch).nr_insecure > 0);
	assert_int_equal(nr_live(&fixture), NR_PODS);
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
	_cleanup_(stop_watch) struct fixture fixture = start_watch("none");
	(void)state;

	wait_first(&fixture);
	assert_true(has_thread("pods\n"));
}

/* The last test: it has been going on since the first one. */
static void an_empty_list_is_believed_when_it_is_repeated(void **state)
{
	(void)state;

	if (!has_server)
		skip();
	struct pod_watch_stats before = pod_watch_get_stats(emptied.watch);
	assert_true(before.nr_empty > 0);
	pod_watch_request_refresh(emptied.watch);
	wait_for_live(&emptied, 0);
	struct pod_watch_stats after = wait_for(emptied.watch, nr_refreshes, 2);
	assert_true(after.nr_empty >= 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_request_is_made_at_once),
		cmocka_unit_test(refreshes_requested_before_a_round_are_answered_by_it),
		cmocka_unit_test(requested_refreshes_come_in_a_burst_then_once_a_second),
		cmocka_unit_test(failures_keep_the_index_and_end_by_themselves),
		cmocka_unit_test(a_requested_refresh_does_not_shorten_the_pause_after_a_failure),
		cmocka_unit_test(failures_are_counted_by_kind),
		cmocka_unit_test(pods_beyond_the_index_are_counted),
		cmocka_unit_test(waiting_and_stopping_end_while_the_kubelet_hangs),
		cmocka_unit_test(logs_name_pods_while_the_first_request_hangs),
		cmocka_unit_test(a_refresh_requested_after_a_failure_looks_at_the_logs_only),
		cmocka_unit_test(logs_are_not_looked_at_while_the_kubelet_answers),
		cmocka_unit_test(without_a_kubelet_logs_name_pods),
		cmocka_unit_test(with_neither_kubelet_nor_logs_nothing_happens),
		cmocka_unit_test(the_empty_list_of_a_restarted_kubelet_is_not_believed),
		cmocka_unit_test(an_empty_list_is_an_answer_where_no_pod_was),
		cmocka_unit_test(other_keys_count_from_the_next_refresh_which_comes_at_once),
		cmocka_unit_test(an_unverified_kubelet_is_told),
		cmocka_unit_test(the_thread_is_named_pods),
		cmocka_unit_test(an_empty_list_is_believed_when_it_is_repeated),
	};

	return cmocka_run_group_tests(tests, start_servers, stop_servers);
}
