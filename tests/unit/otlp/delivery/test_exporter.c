/* SPDX-License-Identifier: Apache-2.0 */
#include "otlp/delivery/exporter.h"

#include "base/clock.h"
#include "base/http_client.h"
#include "base/log.h"
#include "tests/oracle/formats/otlp_sample.h"
#include "tests/oracle/formats/otlp_text.h"
#include "remove_tree.h"
#include "tests/standin/standin.h"
#include "unit.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define PLENTY_BYTES (1 << 20)
#define NR_PROFILES 5
#define PATIENCE_NS (20 * NSEC_PER_SEC)

static struct standin server;
static char dir[] = "/tmp/flamelet-exporter-XXXXXX";

static int start_server(void **state)
{
	(void)state;
	log_set_level(LOG_LEVEL_ERROR);
	return mkdtemp(dir) ? standin_start(&server) : -1;
}

static int stop_server(void **state)
{
	(void)state;
	standin_stop(&server);
	remove_tree(dir);
	return 0;
}

static struct exporter *start_with(const char *mode, uint64_t interval_ns, const char *queue_dir)
{
	struct exporter *exporter = NULL;
	char endpoint[80];

	snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%u/otlp/%s", server.port, mode);
	const struct exporter_opts opts = {
		.transport = { .endpoint = endpoint, .timeout_ns = NSEC_PER_SEC, .compress = true },
		.attributes = { .sample_attributes = SAMPLE_ATTRIBUTES_DEFAULT,
				.max_attributes = 25 },
		.max_request_bytes = PLENTY_BYTES,
		.interval_ns = interval_ns,
		.queue_dir = queue_dir,
		.max_queue_bytes = PLENTY_BYTES,
	};
	assert_int_equal(exporter_start(&opts, &exporter), 0);
	return exporter;
}

static struct exporter *start(const char *mode, uint64_t interval_ns)
{
	return start_with(mode, interval_ns, NULL);
}

/* A profile with `count` samples in each of two resources. */
static struct profile *profile_of(uint32_t count)
{
	static const struct attribute web[] = { { "service.name", "web" } };
	static const struct otlp_frame frame = {
		"main", "main", FRAME_NATIVE, NULL, NULL, 1, NULL
	};
	const struct otlp_sample samples[] = {
		{ web, 1, &frame, 1, "a", .numbers = { .count = count } },
		{ NULL, 0, &frame, 1, "b", .numbers = { .count = count } },
	};
	struct profile *profile = otlp_profile_of(samples, array_len(samples));

	assert_non_null(profile);
	return profile;
}

static void push(struct exporter *exporter, uint32_t count)
{
	_cleanup_(profile_unrefp) struct profile *profile = profile_of(count);

	exporter_push(exporter, profile);
}

static void get(const char *path, struct strbuf *body)
{
	const struct http_client_opts opts = {
		.connect_timeout_ns = NSEC_PER_SEC,
		.total_timeout_ns = NSEC_PER_SEC,
	};
	_cleanup_(http_client_freep) struct http_client *client = NULL;
	struct http_response response;
	char url[64];

	snprintf(url, sizeof(url), "http://127.0.0.1:%u/%s", server.port, path);
	const struct http_request request = { .url = url };
	assert_int_equal(http_client_new(&opts, &client), 0);
	assert_int_equal(http_perform(client, &request, body, &response), 0);
}

static void tell_server(const char *what)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(PLENTY_BYTES);

	get(what, &body);
}

static uint64_t nr_settled(const struct exporter_stats *stats)
{
	return stats->nr_samples_sent + exporter_stats_dropped(stats);
}

/* Waits until all that was pushed has been accounted for, once, under one heading or another. */
static struct exporter_stats settle(struct exporter *exporter)
{
	uint64_t deadline_ns = clock_mono_ns() + PATIENCE_NS;
	struct exporter_stats stats;

	do {
		stats = exporter_get_stats(exporter);
		assert_true(nr_settled(&stats) <=
			    stats.nr_samples_pushed + stats.nr_samples_restored);
		assert_true(clock_mono_ns() < deadline_ns);
		usleep(2000);
	} while (nr_settled(&stats) < stats.nr_samples_pushed + stats.nr_samples_restored);
	return stats;
}

/* Until a request has failed. */
static void await_failure(struct exporter *exporter)
{
	uint64_t deadline_ns = clock_mono_ns() + PATIENCE_NS;

	while (exporter_get_stats(exporter).nr_request_failures == 0) {
		assert_true(clock_mono_ns() < deadline_ns);
		usleep(2000);
	}
}

/* The exporter's last words. */
static struct exporter_stats end(struct exporter *exporter, uint64_t patience_ns)
{
	exporter_close(exporter, clock_mono_ns() + patience_ns);
	exporter_join(exporter);
	return exporter_get_stats(exporter);
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
		_cleanup_(exporter_stopp) struct exporter *exporter = start(outcomes[i].mode,
									    20 * NSEC_PER_MSEC);

		push(exporter, 10);
		struct exporter_stats stats = settle(exporter);
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
		_cleanup_(exporter_stopp) struct exporter *exporter = start(modes[i],
									    5 * NSEC_PER_MSEC);

		push(exporter, 10);
		await_failure(exporter);
		struct exporter_stats stats = exporter_get_stats(exporter);
		assert_int_equal(stats.nr_queue_samples, 20);
		assert_int_equal(exporter_stats_dropped(&stats), 0);
		stats = end(exporter, 0);
		assert_int_equal(stats.nr_queue_samples, 0);
		assert_int_equal(stats.nr_samples_dropped[EXPORT_DROP_SHUTDOWN], 20);
	}
}

static void what_waits_is_delivered_when_the_receiver_is_back(void **state)
{
	_cleanup_(exporter_stopp) struct exporter *exporter = start("switch", 5 * NSEC_PER_MSEC);
	(void)state;

	tell_server("down");
	push(exporter, 10);
	await_failure(exporter);
	tell_server("up");
	struct exporter_stats stats = settle(exporter);
	assert_int_equal(stats.nr_samples_sent, 20);
	assert_int_equal(stats.nr_retries, stats.nr_request_failures);
}

static void what_waits_outlives_the_exporter(void **state)
{
	struct exporter *exporter = start_with("switch", 5 * NSEC_PER_MSEC, dir);
	(void)state;

	tell_server("down");
	push(exporter, 10);
	await_failure(exporter);
	struct exporter_stats stats = end(exporter, 0);
	assert_int_equal(stats.nr_queue_samples, 20);
	assert_true(stats.nr_queue_disk_bytes > 0);
	exporter_stop(exporter);

	tell_server("up");
	exporter = start_with("switch", 5 * NSEC_PER_MSEC, dir);
	stats = settle(exporter);
	assert_int_equal(stats.nr_samples_restored, 20);
	assert_int_equal(stats.nr_samples_sent, 20);
	assert_int_equal(stats.nr_queue_disk_bytes, 0);
	exporter_stop(exporter);
}

static void two_do_not_share_a_queue(void **state)
{
	const struct exporter_opts opts = {
		.transport = { .endpoint = "http://127.0.0.1:1", .timeout_ns = NSEC_PER_SEC },
		.max_request_bytes = PLENTY_BYTES,
		.queue_dir = dir,
		.max_queue_bytes = PLENTY_BYTES,
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

	snprintf(endpoint, sizeof(endpoint), "http://127.0.0.1:%u", server.port);
	const struct exporter_opts opts = {
		.transport = { .endpoint = endpoint,
			       .headers = headers,
			       .nr_headers = array_len(headers),
			       .timeout_ns = 10 * NSEC_PER_SEC },
		.attributes = { .sample_attributes = SAMPLE_ATTRIBUTES_DEFAULT },
		.max_request_bytes = PLENTY_BYTES,
		.max_queue_bytes = max_queue_bytes,
	};
	assert_int_equal(exporter_start(&opts, &exporter), 0);
	return exporter;
}

static void pushing_never_blocks(void **state)
{
	_cleanup_(exporter_stopp) struct exporter *exporter = start_slow("X-Answer: 200?sleep=2",
									 PLENTY_BYTES);
	(void)state;

	push(exporter, 1);
	usleep(500000);

	/* The thread now waits for the answer. */
	uint64_t start_ns = clock_mono_ns();
	for (uint32_t i = 0; i < 100; i++)
		push(exporter, 1);
	assert_true(clock_mono_ns() - start_ns < NSEC_PER_SEC / 2);
	struct exporter_stats stats = exporter_get_stats(exporter);
	assert_true(stats.nr_samples_dropped[EXPORT_DROP_WINDOW] > 0);
	stats = end(exporter, 0);
	assert_int_equal(stats.nr_samples_pushed, 202);
	assert_int_equal(nr_settled(&stats), 202);
}

static void a_slow_receiver_holds_up_no_windows(void **state)
{
	_cleanup_(exporter_stopp) struct exporter *exporter = start_slow("X-Answer: 200?sleep=0.3",
									 PLENTY_BYTES);
	uint64_t deadline_ns = clock_mono_ns() + PATIENCE_NS;
	struct exporter_stats stats;
	(void)state;

	for (uint32_t i = 0; i < 20; i++)
		push(exporter, 1);
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
			.max_request_bytes = PLENTY_BYTES,
			.queue_dir = queue_dir,
			.max_queue_bytes = PLENTY_BYTES,
		};
		assert_int_equal(exporter_start(&opts, &exporter), 0);
		push(exporter, 10);
		usleep(200000);
		push(exporter, 1); /* while the first is under way */
		uint64_t start_ns = clock_mono_ns();
		struct exporter_stats stats = end(exporter, NSEC_PER_SEC);
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
		push(exporter, 1);
	struct exporter_stats stats = end(exporter, 0);
	assert_true(stats.nr_samples_dropped[EXPORT_DROP_EVICTED] > 0);
	assert_true(stats.nr_samples_dropped[EXPORT_DROP_SHUTDOWN] > 0);
	assert_int_equal(nr_settled(&stats), 40);
}

static void assert_last_text(const char *expected)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(PLENTY_BYTES);
	_cleanup_(strbuf_done) struct strbuf text = strbuf_with_max(PLENTY_BYTES);

	get("last", &body);
	assert_int_equal(otlp_text(&body, &text), 0);
	assert_string_equal(strbuf_str(&text), expected);
}

static void the_first_window_leaves_at_once(void **state)
{
	_cleanup_(exporter_stopp) struct exporter *exporter = start("ok", 3600 * NSEC_PER_SEC);
	(void)state;

	push(exporter, 10);
	struct exporter_stats stats = settle(exporter);
	assert_int_equal(stats.nr_samples_sent, 20);
	push(exporter, 10);
	usleep(50000);
	assert_int_equal(exporter_get_stats(exporter).nr_requests, 1);
}

/* One that has sent its first window, with two samples: what comes now is merged for an hour. */
static struct exporter *start_merging(void)
{
	struct exporter *exporter = start("ok", 3600 * NSEC_PER_SEC);

	push(exporter, 1);
	assert_int_equal(settle(exporter).nr_requests, 1);
	return exporter;
}

static void windows_are_merged_and_the_rest_is_sent_at_the_end(void **state)
{
	struct exporter *exporter = start_merging();
	(void)state;

	for (uint32_t i = 0; i < NR_PROFILES; i++)
		push(exporter, 1 + i);
	assert_int_equal(exporter_get_stats(exporter).nr_requests, 1);
	assert_int_equal(end(exporter, PATIENCE_NS).nr_samples_sent, 2 + 30);
	exporter_stop(exporter);
	assert_last_text(
		"{} thread.name=b cpu.logical_number=0: main[native] = 15\n"
		"{service.name=web} thread.name=a cpu.logical_number=0: main[native] = 15\n");
}

/* More samples than a request takes, which differ in their times only. */
static void times_that_do_not_leave_keep_no_samples_apart(void **state)
{
	static struct otlp_sample samples[20000];
	struct exporter *exporter = start_merging();
	(void)state;

	for (size_t i = 0; i < array_len(samples); i++)
		samples[i].numbers = (struct profile_sample){
			.time_ns = OTLP_SAMPLE_TIME_NS + i,
			.count = 1,
		};
	_cleanup_(profile_unrefp) struct profile *profile = otlp_profile_of(samples,
									    array_len(samples));
	assert_non_null(profile);
	exporter_push(exporter, profile);
	struct exporter_stats stats = end(exporter, PATIENCE_NS);
	assert_int_equal(stats.nr_samples_sent, 2 + array_len(samples));
	assert_int_equal(stats.nr_requests, 2);
	exporter_stop(exporter);
}

static void another_rate_begins_another_request(void **state)
{
	_cleanup_(profile_unrefp) struct profile *faster = profile_of(7);
	struct exporter *exporter = start_merging();
	(void)state;

	faster->period /= 10;
	push(exporter, 1);
	exporter_push(exporter, faster);
	uint64_t deadline_ns = clock_mono_ns() + PATIENCE_NS;
	while (exporter_get_stats(exporter).nr_samples_sent < 4)
		assert_true(clock_mono_ns() < deadline_ns);
	end(exporter, PATIENCE_NS);
	exporter_stop(exporter);
	assert_last_text(
		"{} thread.name=b cpu.logical_number=0: main[native] = 7\n"
		"{service.name=web} thread.name=a cpu.logical_number=0: main[native] = 7\n");
}

/* As merge_profile() sees it: off-CPU time has no period. */
static void types_without_a_period_are_not_mixed_with_others(void **state)
{
	_cleanup_(profile_unrefp) struct profile *off_cpu = profile_of(7);
	struct exporter *exporter = start_merging();
	(void)state;

	off_cpu->type = PROFILE_OFF_CPU;
	off_cpu->period = 0;
	exporter_push(exporter, off_cpu);
	push(exporter, 1);
	exporter_push(exporter, off_cpu);
	struct exporter_stats stats = end(exporter, PATIENCE_NS);
	assert_int_equal(stats.nr_samples_sent, 2 + 30);
	assert_int_equal(stats.nr_requests, 1 + 3);
	exporter_stop(exporter);
}

static void a_large_profile_has_a_request_of_its_own(void **state)
{
	_cleanup_(profile_unrefp) struct profile *large = profile_of(7);
	struct exporter *exporter = start_merging();
	(void)state;

	large->nr_bytes = (size_t)24 << 20;
	push(exporter, 1);
	exporter_push(exporter, large);
	uint64_t deadline_ns = clock_mono_ns() + PATIENCE_NS;
	while (exporter_get_stats(exporter).nr_samples_sent < 4)
		assert_true(clock_mono_ns() < deadline_ns);
	end(exporter, PATIENCE_NS);
	exporter_stop(exporter);
	assert_last_text(
		"{} thread.name=b cpu.logical_number=0: main[native] = 7\n"
		"{service.name=web} thread.name=a cpu.logical_number=0: main[native] = 7\n");
}

static void nothing_pushed_is_nothing_sent(void **state)
{
	_cleanup_(profile_unrefp) struct profile *empty = otlp_profile_of(NULL, 0);
	_cleanup_(exporter_stopp) struct exporter *exporter = start("ok", 5 * NSEC_PER_MSEC);
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
	_cleanup_(exporter_stopp) struct exporter *exporter = start("ok", 3600 * NSEC_PER_SEC);
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
		cmocka_unit_test(the_first_window_leaves_at_once),
		cmocka_unit_test(windows_are_merged_and_the_rest_is_sent_at_the_end),
		cmocka_unit_test(times_that_do_not_leave_keep_no_samples_apart),
		cmocka_unit_test(another_rate_begins_another_request),
		cmocka_unit_test(types_without_a_period_are_not_mixed_with_others),
		cmocka_unit_test(a_large_profile_has_a_request_of_its_own),
		cmocka_unit_test(nothing_pushed_is_nothing_sent),
		cmocka_unit_test(the_cpu_time_is_that_of_the_exporter),
		cmocka_unit_test(a_bad_endpoint_does_not_start),
	};

	return cmocka_run_group_tests(tests, start_server, stop_server);
}
