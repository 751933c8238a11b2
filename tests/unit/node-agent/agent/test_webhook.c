/* SPDX-License-Identifier: Apache-2.0 */
/* What a server gets, and how often, is tested with a real agent (e2e/triggers.py). */
#include "agent/webhook.h"

#include "base/clock.h"
#include "base/fileio.h"
#include "config/options.h"
#include "unit.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MESSAGE_BYTES 1024
#define NR_PUSHED (2 * WEBHOOK_QUEUE_MAX)
#define MAX_WAIT_NS (60 * NSEC_PER_SEC)

static const struct trigger_rule rule = { .text = "pod-cpu > 150%", .limit = 1.5 };
static const struct event event = { .number = 7, .text = "Trigger" };
static const struct trigger_firing firing = { .rule = &rule, .event = &event, .value = 2 };

/* Listens on a free port, and never accepts. Returns the socket. */
static int listen_only(char *url, size_t size)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	snprintf(url, size, "http://127.0.0.1:%d/hook", ntohs(address.sin_port));
	return fd;
}

static void what_has_no_room_is_dropped_and_counted(void **state)
{
	(void)state;
	char url[64];
	int fd = listen_only(url, sizeof(url));
	struct webhook *webhook = NULL;

	assert_int_equal(webhook_start(url, "node-1", &webhook), 0);
	for (unsigned int i = 0; i < NR_PUSHED; i++)
		webhook_push(webhook, &firing);
	uint64_t nr_dropped = webhook_get_stats(webhook).nr_dropped;
	assert_in_range(nr_dropped, NR_PUSHED - WEBHOOK_QUEUE_MAX - 1,
			NR_PUSHED - WEBHOOK_QUEUE_MAX);
	webhook_finish(webhook, 0);
	struct webhook_stats stats = webhook_get_stats(webhook);
	assert_int_equal(stats.nr_sent, 0);
	assert_int_equal(stats.nr_failed + stats.nr_dropped, NR_PUSHED);
	webhook_stop(webhook);
	close(fd);
}

static void a_server_that_refuses_is_given_up(void **state)
{
	(void)state;
	struct webhook *webhook = NULL;
	uint64_t deadline_ns = clock_mono_ns() + MAX_WAIT_NS;

	assert_int_equal(webhook_start("http://127.0.0.1:1/", "node-1", &webhook), 0);
	webhook_push(webhook, &firing);
	webhook_finish(webhook, deadline_ns);
	assert_int_equal(webhook_get_stats(webhook).nr_failed, 1);
	assert_true(clock_mono_ns() < deadline_ns);
	webhook_stop(webhook);
}

static void a_url_is_read_from_a_file(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES),
					     url = strbuf_with_max(MESSAGE_BYTES);
	char path[] = "/tmp/flamelet-webhook-XXXXXX", rule_text[] = "pod-cpu > 1%",
	     *rules = rule_text;
	struct options options = { .trigger_webhook_file = path,
				   .triggers = { .items = &rules, .nr = 1 } };
	int fd = mkostemp(path, O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "https://host/key\nmore\n", 22), 22);
	assert_int_equal(webhook_read_url(&options, &message, &url), 0);
	assert_string_equal(strbuf_str(&url), "https://host/key");
	close(fd);
	unlink(path);
}

static void a_wrong_url_is_refused_without_showing_it(void **state)
{
	(void)state;
	static const char *const texts[] = { "",	"\n",	   "secret", "ftp://secret/",
					     "http://", "//secret" };
	char rule_text[] = "pod-cpu > 1%", *rules = rule_text;

	for (size_t i = 0; i < array_len(texts); i++) {
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES),
						     url = strbuf_with_max(MESSAGE_BYTES);
		char path[] = "/tmp/flamelet-webhook-XXXXXX";
		struct options options = { .trigger_webhook_file = path,
					   .triggers = { .items = &rules, .nr = 1 } };
		int fd = mkostemp(path, O_CLOEXEC);
		ssize_t len = (ssize_t)strlen(texts[i]);

		assert_true(fd >= 0);
		assert_int_equal(write(fd, texts[i], (size_t)len), len);
		assert_int_equal(webhook_read_url(&options, &message, &url), -EINVAL);
		assert_non_null(strstr(strbuf_str(&message), "no http or https URL"));
		assert_null(strstr(strbuf_str(&message), "secret"));
		close(fd);
		unlink(path);
	}
}

static void a_url_without_a_rule_is_refused(void **state)
{
	(void)state;
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(MESSAGE_BYTES),
					     url = strbuf_with_max(MESSAGE_BYTES);
	char text[] = "http://host/", *rules = text;
	struct options options = { .trigger_webhook = text };

	assert_int_equal(webhook_read_url(&options, &message, &url), -EINVAL);
	assert_non_null(strstr(strbuf_str(&message), "needs a rule"));
	options.triggers.items = &rules;
	options.triggers.nr = 1;
	options.trigger_webhook_file = text;
	strbuf_clear(&message);
	assert_int_equal(webhook_read_url(&options, &message, &url), -EINVAL);
	assert_non_null(strstr(strbuf_str(&message), "two URLs"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_has_no_room_is_dropped_and_counted),
		cmocka_unit_test(a_server_that_refuses_is_given_up),
		cmocka_unit_test(a_url_is_read_from_a_file),
		cmocka_unit_test(a_wrong_url_is_refused_without_showing_it),
		cmocka_unit_test(a_url_without_a_rule_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
