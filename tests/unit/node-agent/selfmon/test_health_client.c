/* SPDX-License-Identifier: Apache-2.0 */
#include "selfmon/health_client.h"

#include "base/clock.h"
#include "base/strbuf.h"
#include "selfmon/http_server.h"
#include "selfmon/listen_socket.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "free_port.h"
#include "unit.h"

#define TIMEOUT_NS (300 * NSEC_PER_MSEC)
#define LATE_NS (3 * NSEC_PER_SEC) /* much more than that, for slow machines */
#define X50 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static void the_first_line_and_the_status_are_taken(void **state)
{
	static const struct {
		const char *bytes;
		unsigned int status;
		const char *text;
	} cases[] = {
		{ "HTTP/1.1 200 OK\r\nA: b\r\n\r\nok\n", 200, "ok" },
		{ "HTTP/1.0 503 No\r\n\r\nstarting\nmore\n", 503, "starting" },
		{ "HTTP/1.1 200 OK\r\n\r\nok\r\n", 200, "ok" },
		{ "HTTP/1.1 200 OK\r\n\r\nno line", 200, "no line" },
		{ "HTTP/1.1 200 OK\r\n\r\n\r\n\r\nok\n", 200, "" },
		{ "HTTP/1.1 200 OK\r\n\r\n", 200, "" },
		{ "HTTP/1.1 200 OK\r\nA: b\r\n", 200, "" },
		{ "HTTP/1.1 200 OK\n\nok\n", 200, "" },
		{ "HTTP/1.1 200", 200, "" },
		{ "HTTP/1.9 999 \r\n\r\na\x1b[31m\tb\x7f\xc3\xa9\n", 999,
		  "a\\x1b[31m\\x09b\\x7f\xc3\xa9" },
		{ "HTTP/1.1 200 OK\r\n\r\n" X50 X50 X50 X50 X50 X50, 200,
		  X50 X50 X50 X50 X50 "xxxxx" },
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct health_answer answer;

		assert_int_equal(
			health_answer_parse(cases[i].bytes, strlen(cases[i].bytes), &answer), 0);
		assert_int_equal(answer.status, cases[i].status);
		assert_string_equal(answer.text, cases[i].text);
	}
}

static void what_is_no_answer_is_refused(void **state)
{
	static const char *const cases[] = {
		"",
		"H",
		"HTTP/1.1",
		"HTTP/1.1 ",
		"HTTP/1.1 20",
		"HTTP/1.1 2x0 OK\r\n\r\nok\n",
		"HTTP/1.1 -20 OK\r\n\r\nok\n",
		"HTTP/1.1  200 OK\r\n\r\nok\n",
		"HTTP/1.x 200 OK\r\n\r\nok\n",
		"HTTP/2.0 200 OK\r\n\r\nok\n",
		"HTTP/1.1200 OK\r\n\r\nok\n",
		"http/1.1 200 OK\r\n\r\nok\n",
		"\x16\x03\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b",
		"ok\r\n\r\nHTTP/1.1 200 OK",
	};
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct health_answer answer = { .status = 7 };

		assert_int_equal(health_answer_parse(cases[i], strlen(cases[i]), &answer),
				 -EBADMSG);
		assert_int_equal(answer.status, 7);
	}
}

static unsigned int make_ok(struct strbuf *body, void *data)
{
	strbuf_append_str(body, data);
	return 200;
}

static unsigned int make_trouble(struct strbuf *body, void *data)
{
	(void)data;
	strbuf_append_str(body, "starting\n");
	return 503;
}

static struct listen_address address_of_port(unsigned int port)
{
	struct listen_address address;
	char text[32];

	snprintf(text, sizeof(text), "127.0.0.1:%u", port);
	assert_int_equal(listen_address_parse(text, &address), 0);
	return address;
}

static int ask(const struct listen_address *address, const char *page, struct health_answer *answer)
{
	return health_ask(address, page, clock_mono_ns() + TIMEOUT_NS, answer);
}

static void a_server_is_asked_for_the_page(void **state)
{
	static char ok[] = "ok\n";
	static const struct http_page pages[] = {
		{ "/healthz", "text/plain", make_ok },
		{ "/readyz", "text/plain", make_trouble },
	};
	unsigned int port = free_port();
	const struct listen_address address = address_of_port(port);
	char listen[32];
	const struct http_server_opts opts = { .thread_name = "http",
					       .listen = listen,
					       .pages = pages,
					       .nr_pages = array_len(pages),
					       .data = ok };
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1024);
	_cleanup_(http_server_stopp) struct http_server *server = NULL;
	struct health_answer answer;
	(void)state;

	snprintf(listen, sizeof(listen), "127.0.0.1:%u", port);
	assert_int_equal(http_server_start(&opts, &message, &server), 0);
	uint64_t deadline_ns = clock_mono_ns() + 20 * NSEC_PER_SEC;
	assert_int_equal(health_ask(&address, "/healthz", deadline_ns, &answer), 0);
	assert_int_equal(answer.status, 200);
	assert_string_equal(answer.text, "ok");
	assert_int_equal(health_ask(&address, "/readyz", deadline_ns, &answer), 0);
	assert_int_equal(answer.status, 503);
	assert_string_equal(answer.text, "starting");
	assert_int_equal(health_ask(&address, "/healthz", 1, &answer), -ETIMEDOUT);
}

/* What a server says that is not ours: `bytes`, again and again with a pause, or once. */
struct script {
	const char *bytes;
	bool repeats;
	long pause_ns;
};

struct stranger {
	struct listen_socket listener;
	const struct script *script;
};

static void *play(void *data)
{
	const struct stranger *stranger = data;
	const struct timespec pause = { .tv_nsec = stranger->script->pause_ns };
	char request[256];
	int fd;

	do
		fd = accept4(stranger->listener.fd, NULL, NULL, SOCK_CLOEXEC);
	while (fd < 0);
	assert_true(read(fd, request, sizeof(request)) > 0);
	do
		nanosleep(&pause, NULL);
	while (send(fd, stranger->script->bytes, strlen(stranger->script->bytes), MSG_NOSIGNAL) >=
		       0 &&
	       stranger->script->repeats);
	close(fd);
	return NULL;
}

static void strangers_take_no_more_than_the_time(void **state)
{
	static const struct {
		struct script script;
		int result;
	} cases[] = {
		{ { "H", true, 20 * 1000 * 1000 }, -ETIMEDOUT },
		{ { X50 X50, true, 0 }, -EBADMSG },
		{ { "HTTP/1.1 200 OK\r\n\r\nok\n" X50 X50, true, 0 }, 0 },
		{ { "HTTP/1.1 200 OK\r\n\r\nok\n", false, 0 }, 0 },
		{ { "SSH-2.0-x\r\n", false, 0 }, -EBADMSG },
		{ { "", false, 0 }, -EBADMSG },
	};
	const struct listen_address any = address_of_port(0);
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		struct stranger stranger = { .script = &cases[i].script };
		uint64_t start_ns = clock_mono_ns();
		_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(256);
		struct health_answer answer;
		pthread_t thread;

		assert_int_equal(listen_socket_open(&any, &message, &stranger.listener), 0);
		assert_int_equal(pthread_create(&thread, NULL, play, &stranger), 0);
		assert_int_equal(ask(&stranger.listener.address, "/healthz", &answer),
				 cases[i].result);
		assert_true(clock_mono_ns() - start_ns < LATE_NS);
		pthread_join(thread, NULL);
		listen_socket_close(&stranger.listener);
	}
}

static void whoever_does_not_accept_is_not_waited_for(void **state)
{
	const struct listen_address any = address_of_port(0);
	uint64_t start_ns = clock_mono_ns();
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(256);
	struct listen_socket listener;
	struct health_answer answer;
	(void)state;

	assert_int_equal(listen_socket_open(&any, &message, &listener), 0);
	assert_int_equal(ask(&listener.address, "/healthz", &answer), -ETIMEDOUT);
	assert_true(clock_mono_ns() - start_ns >= TIMEOUT_NS / 2);
	assert_true(clock_mono_ns() - start_ns < LATE_NS);
	listen_socket_close(&listener);
	assert_int_equal(ask(&listener.address, "/healthz", &answer), -EAFNOSUPPORT);
}

/* A Unix socket whose queue of connections is full. */
static void a_crowded_socket_is_not_waited_for(void **state)
{
	char directory[] = "/tmp/flamelet-health-XXXXXX";
	char text[64];
	struct listen_address address;
	struct health_answer answer;
	(void)state;

	assert_non_null(mkdtemp(directory));
	snprintf(text, sizeof(text), "unix:%s/socket", directory);
	assert_int_equal(listen_address_parse(text, &address), 0);
	assert_int_equal(ask(&address, "/healthz", &answer), -ENOENT);
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	_cleanup_close_ int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, &address.any, address.len), 0);
	assert_int_equal(ask(&address, "/healthz", &answer), -ECONNREFUSED);
	assert_int_equal(listen(fd, 0), 0);
	assert_int_equal(connect(client, &address.any, address.len), 0);
	assert_int_equal(ask(&address, "/healthz", &answer), -ETIMEDOUT);
	unlink(address.local.sun_path);
	rmdir(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_line_and_the_status_are_taken),
		cmocka_unit_test(what_is_no_answer_is_refused),
		cmocka_unit_test(a_server_is_asked_for_the_page),
		cmocka_unit_test(strangers_take_no_more_than_the_time),
		cmocka_unit_test(whoever_does_not_accept_is_not_waited_for),
		cmocka_unit_test(a_crowded_socket_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
