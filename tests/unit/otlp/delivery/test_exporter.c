/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/delivery/exporter.h"

#include "base/clock.h"
#include "tests/oracle/formats/otlp_sample.h"
#include "exporter_fixture.h"
#include "remove_tree.h"
#include "unit.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static char dir[] = "/tmp/flamelet-exporter-XXXXXX";

static int setup(void **state)
{
	return mkdtemp(dir) ? exporter_fixture_start_server(state) : -1;
}

static int teardown(void **state)
{
	remove_tree(dir);
	return exporter_fixture_stop_server(state);
}

static void tell_server(const char *what)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(EXPORTER_FIXTURE_BYTES);

	exporter_fixture_get(what, &body);
}

/* Until a request has failed. */
static void await_failure(struct exporter *exporter)
{
	uint64_t deadline_ns = clock_mono_ns() + EXPORTER_FIXTURE_PATIENCE_NS;

	while (exporter_get_stats(exporter).nr_request_failures == 0) {
		assert_true(clock_mono_ns() < deadline_ns);
		usleep(2000);
	}
}

struct outcome {
	const char *mode;
	uint64_t nr_sent;
	uint64_t nr_dropped;
	enum export_drop why;
	uint64_t nr_failures;
};

static void every_sample_is_accounted_for(void **state)
{
	static const struct outcome outcomes[] = {
		{ "ok", 20, 0, 0, 0 },
		{ "empty", 20, 0, 0, 0 },
		{ "junk", 20, 0, 0, 0 },
		{ "warning", 20, 0, 0, 0 },
		{ "partial", 0, 20, EXPORT_DROP_PARTIAL, 0 },
		{ "half", 10, 10, EXPORT_DROP_PARTIAL, 0 },
		{ "400", 0, 20, EXPORT_DROP_REJECTED, 1 },
		{ "404", 0, 20, EXPORT_DROP_REJECTED, 1 },
		{ "413", 0, 20, EXPORT_DROP_TOO_LARGE, 1 },
	};
	(void)state;

	for (size_t i = 0; i < array_len(outcomes); i++) {
		_cleanup_(exporter_stopp) struct exporter *exporter = exporter_fixture_start(
			outcomes[i].mode, 20 * NSEC_PER_MSEC);

		exporter_fixture_push(exporter, 10);
		struct exporter_stats stats = exporter_fixture_settle(exporter);
		assert_int_equal(stats.nr_samples_pushed, 20);
		assert_int_equal(stats.nr_samples_sent, outcomes[i].nr_sent);
		assert_int_equal(stats.nr_samples_dropped[outcomes[i].why], outcomes[i].nr_dropped);
		assert_int_equal(stats.nr_request_failures, outcomes[i].nr_failures);
		assert_int_equal(stats.nr_requests, 1);
		assert_true(stats.nr_bytes_sent > 0);
	}
}

static void what_may_be_retried_waits_until_the_end(void **state)
{
	static const char *const modes[] = { "429", "502", "503", "504", "slow", "hang-up" };
	(void)state;

	for (size_t i = 0; i < array_len(modes); i++) {
		_cleanup_(exporter_stopp) struct exporter *exporter = exporter_fixture_start(
			modes[i], 5 * NSEC_PER_MSEC);

		exporter_fixture_push(exporter, 10);
		await_failure(exporter);
		struct exporter_stats stats = exporter_get_stats(exporter);
		assert_int_equal(stats.nr_queue_samples, 20);
		assert_int_equal(exporter_stats_dropped(&stats), 0);
		stats = exporter_fixture_end(exporter, 0);
		assert_int_equal(stats.nr_queue_samples, 0);
		assert_int_equal(stats.nr_samples_dropped[EXPORT_DROP_SHUTDOWN], 20);
	}
}

static void what_waits_is_delivered_when_the_receiver_is_back(void **state)
{
	_cleanup_(exporter_stopp) struct exporter *exporter = exporter_fixture_start(
		"switch", 5 * NSEC_PER_MSEC);
	(void)state;

	tell_server("down");
	exporter_fixture_push(exporter, 10);
	await_failure(exporter);
	tell_server("up");
	struct exporter_stats stats = exporter_fixture_settle(exporter);
	assert_int_equal(stats.nr_samples_sent, 20);
	assert_int_equal(stats.nr_retries, stats.nr_request_failures);
}

static void what_waits_outlives_the_exporter(void **state)
{
	struct exporter *exporter = exporter_fixture_start_with("switch", 5 * NSEC_PER_MSEC, dir);
	(void)state;

	tell_server("down");
	exporter_fixture_push(exporter, 10);
	await_failure(exporter);
	struct exporter_stats stats = exporter_fixture_end(exporter, 0);
	assert_int_equal(stats.nr_queue_samples, 20);
	assert_true(stats.nr_queue_disk_bytes > 0);
	exporter_stop(exporter);

	tell_server("up");
	exporter = exporter_fixture_start_with("switch", 5 * NSEC_PER_MSEC, dir);
	stats = exporter_fixture_settle(exporter);
	assert_int_equal(stats.nr_samples_restored, 20);
	assert_int_equal(stats.nr_samples_sent, 20);
	assert_int_equal(stats.nr_queue_disk_bytes, 0);
	exporter_stop(exporter);
}

static void two_do_not_share_a_queue(void **state)
{
	const struct exporter_opts opts = {
		.transport = { .endpoint = "http://127.0.0.1:1", .timeout_ns = NSEC_PER_SEC },
		.max_request_bytes = EXPORTER_FIXTURE_BYTES,
		.queue_dir = dir,
		.max_queue_bytes = EXPORTER_FIXTURE_BYTES,
	};
	_cleanup_(exporter_stopp) struct exporter *first = NULL;
	struct exporter *second = NULL;
	(void)state;

	assert_int_equal(exporter_start(&opts, &first), 0);
	assert_int_equal(exporter_start(&opts, &second), -EBUSY);
}

/* The receiver answers all requests after a while. */
static struct exporter *start_slow(const char *answer, uint64_t max_queue_bytes)
{
	const char *const headers[] = { answer };
	struct exporter *exporter = NULL;
	char endpoint[80];

	snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%u", exporter_fixture_port());
	const struct exporter_opts opts = {
		.transport = { .endpoint = endpoint,
			       .headers = headers,
			       .nr_headers = array_len(headers),
			       .timeout_ns = 10 * NSEC_PER_SEC },
		.attributes = { .sample_attributes = SAMPLE_ATTRIBUTES_DEFAULT },
		.max_request_bytes = EXPORTER_FIXTURE_BYTES,
		.max_queue_bytes = max_queue_bytes,
	};
	assert_int_equal(exporter_start(&opts, &exporter), 0);
	return exporter;
}

static void pushing_never_blocks(void **state)
{
	_cleanup_(exporter_stopp) struct exporter *exporter = start_slow("X-Answer: 200?sleep=2",
									 EXPORTER_FIXTURE_BYTES);
	(void)state;

	exporter_fixture_push(exporter, 1);
	usleep(500000);

	/* The thread now waits for the answer. */
	uint64_t start_ns = clock_mono_ns();
	for (uint32_t i = 0; i < 100; i++)
		exporter_fixture_push(exporter, 1);
	assert_true(clock_mono_ns() - start_ns < NSEC_PER_SEC / 2);
	struct exporter_stats stats = exporter_get_stats(exporter);
	assert_true(stats.nr_samples_dropped[EXPORT_DROP_WINDOW] > 0);
	stats = exporter_fixture_end(exporter, 0);
	assert_int_equal(stats.nr_samples_pushed, 202);
	assert_int_equal(exporter_fixture_nr_settled(&stats), 202);
}

static void a_slow_receiver_holds_up_no_windows(void **state)
{
	_cleanup_(exporter_stopp) struct exporter *exporter = start_slow("X-Answer: 200?sleep=0.3",
									 EXPORTER_FIXTURE_BYTES);
	uint64_t deadline_ns = clock_mono_ns() + EXPORTER_FIXTURE_PATIENCE_NS;
	struct exporter_stats stats;
	(void)state;

	for (uint32_t i = 0; i < 20; i++)
		exporter_fixture_push(exporter, 1);
	do {
		assert_true(clock_mono_ns() < deadline_ns);
		usleep(2000);
		stats = exporter_get_stats(exporter);
	} while (stats.nr_requests < 2);
	assert_int_equal(stats.nr_samples_sent + stats.nr_queue_samples, 40);
}

/* It accepts connections, as the kernel does for it, and never answers. */
static int listen_silently(uint16_t *ret_port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(fd, 4), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	*ret_port = ntohs(address.sin_port);
	return fd;
}

static void the_end_waits_for_no_answer_and_keeps_the_request(void **state)
{
	static const enum transport_protocol protocols[] = { TRANSPORT_OTLP_HTTP,
							     TRANSPORT_OTLP_GRPC };
	uint16_t port;
	_cleanup_close_ int fd = listen_silently(&port);
	char endpoint[80], queue_dir[80];
	(void)state;

	assert_true(fd >= 0);
	snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%u", port);
	for (size_t i = 0; i < array_len(protocols); i++) {
		_cleanup_(exporter_stopp) struct exporter *exporter = NULL;

		snprintf(queue_dir, sizeof(queue_dir), "%s/silent-%zu", dir, i);
		const struct exporter_opts opts = {
			.transport = { .protocol = protocols[i],
				       .endpoint = endpoint,
				       .timeout_ns = 60 * NSEC_PER_SEC },
			.attributes = { .sample_attributes = SAMPLE_ATTRIBUTES_DEFAULT },
			.max_request_bytes = EXPORTER_FIXTURE_BYTES,
			.queue_dir = queue_dir,
			.max_queue_bytes = EXPORTER_FIXTURE_BYTES,
		};
		assert_int_equal(exporter_start(&opts, &exporter), 0);
		exporter_fixture_push(exporter, 10);
		usleep(200000);
		exporter_fixture_push(exporter, 1); /* while the first is under way */
		uint64_t start_ns = clock_mono_ns();
		struct exporter_stats stats = exporter_fixture_end(exporter, NSEC_PER_SEC);
		assert_true(clock_mono_ns() - start_ns >= NSEC_PER_SEC);
		assert_true(clock_mono_ns() - start_ns < 3 * NSEC_PER_SEC);
		assert_int_equal(stats.nr_requests, 1);
		assert_int_equal(stats.nr_request_failures, 1);
		assert_int_equal(stats.nr_queue_samples, 22);
		assert_true(stats.nr_queue_disk_bytes > 0);
		assert_int_equal(exporter_stats_dropped(&stats), 0);
	}
}

/* Room for some of the requests: the bound is the caller's, not that of an agent's memory. */
static void a_replay_waits_in_as_much_memory_as_it_is_given(void **state)
{
	_cleanup_(exporter_stopp) struct exporter *exporter = start_slow("X-Answer: 200?sleep=0.5",
									 2000);
	(void)state;

	for (uint32_t i = 0; i < 20; i++)
		exporter_fixture_push(exporter, 1);
	struct exporter_stats stats = exporter_fixture_end(exporter, 0);
	assert_true(stats.nr_samples_dropped[EXPORT_DROP_EVICTED] > 0);
	assert_true(stats.nr_samples_dropped[EXPORT_DROP_SHUTDOWN] > 0);
	assert_int_equal(exporter_fixture_nr_settled(&stats), 40);
}

static void nothing_pushed_is_nothing_sent(void **state)
{
	_cleanup_(profile_unrefp) struct profile *empty = otlp_profile_of(NULL, 0);
	_cleanup_(exporter_stopp) struct exporter *exporter = exporter_fixture_start(
		"ok", 5 * NSEC_PER_MSEC);
	(void)state;

	exporter_push(exporter, empty);
	usleep(50000);
	assert_int_equal(exporter_get_stats(exporter).nr_requests, 0);
}

static void the_cpu_time_is_that_of_the_exporter(void **state)
{
	const uint64_t much_ns = 100 * NSEC_PER_MSEC;
	(void)state;

	while (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) < much_ns)
		;
	_cleanup_(exporter_stopp) struct exporter *exporter = exporter_fixture_start(
		"ok", 3600 * NSEC_PER_SEC);
	assert_true(exporter_get_stats(exporter).cpu_ns < much_ns);
}

static void a_bad_endpoint_does_not_start(void **state)
{
	const struct exporter_opts opts = { .transport = { .endpoint = "collector:4318" },
					    .interval_ns = 1 };
	struct exporter *exporter = NULL;
	(void)state;

	assert_int_equal(exporter_start(&opts, &exporter), -EINVAL);
	assert_null(exporter);
	exporter_stop(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_sample_is_accounted_for),
		cmocka_unit_test(what_may_be_retried_waits_until_the_end),
		cmocka_unit_test(what_waits_is_delivered_when_the_receiver_is_back),
		cmocka_unit_test(what_waits_outlives_the_exporter),
		cmocka_unit_test(two_do_not_share_a_queue),
		cmocka_unit_test(pushing_never_blocks),
		cmocka_unit_test(a_slow_receiver_holds_up_no_windows),
		cmocka_unit_test(the_end_waits_for_no_answer_and_keeps_the_request),
		cmocka_unit_test(a_replay_waits_in_as_much_memory_as_it_is_given),
		cmocka_unit_test(nothing_pushed_is_nothing_sent),
		cmocka_unit_test(the_cpu_time_is_that_of_the_exporter),
		cmocka_unit_test(a_bad_endpoint_does_not_start),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
