/* SPDX-License-Identifier: Apache-2.0 */
#include "selfmon/http_server.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/fileio.h"
#include "free_port.h"
#include "unit.h"

#define ANSWER_BYTES 8192
#define LARGE_BYTES ((size_t)900 << 10)
#define SOON_NS NSEC_PER_SEC /* much less than HTTP_SERVER_REQUEST_NS */

static struct http_server *server;
static unsigned int port;

static unsigned int make_hello(struct strbuf *body, void *data)
{
	strbuf_append_str(body, data);
	return 200;
}

static unsigned int make_trouble(struct strbuf *body, void *data)
{
	(void)data;
	strbuf_append_str(body, "not now\n");
	return 503;
}

static unsigned int make_large(struct strbuf *body, void *data)
{
	(void)data;
	char *to = strbuf_extend(body, LARGE_BYTES);

	memset(to, 'x', LARGE_BYTES);
	return 200;
}

static unsigned int make_too_large(struct strbuf *body, void *data)
{
	(void)data;
	(void)strbuf_extend(body, HTTP_SERVER_BODY_MAX_BYTES + 1);
	return 200;
}

static unsigned int make_nothing(struct strbuf *body, void *data)
{
	(void)body;
	(void)data;
	return 200;
}

static char greeting[] = "hello\n";

static const struct http_page pages[] = {
	{ "/hello", "text/x-hello", make_hello },   { "/trouble", "text/plain", make_trouble },
	{ "/large", "text/plain", make_large },	    { "/too-large", "text/plain", make_too_large },
	{ "/nothing", "text/plain", make_nothing },
};

static int start_at(const char *listen, bool is_public, struct http_server **ret_server)
{
	_cleanup_(strbuf_done) struct strbuf message = strbuf_with_max(1024);
	const struct http_server_opts opts = {
		.thread_name = "http",
		.listen = listen,
		.is_public = is_public,
		.pages = pages,
		.nr_pages = array_len(pages),
		.data = greeting,
	};

	int r = http_server_start(&opts, &message, ret_server);
	assert_int_equal(r<0, message.len> 0);
	return r;
}

static int start(const char *listen, struct http_server **ret_server)
{
	return start_at(listen, false, ret_server);
}

static int start_at_port(const char *host, bool is_public)
{
	char listen[32];

	port = free_port();
	snprintf(listen, sizeof(listen), "%s:%u", host, port);
	return start_at(listen, is_public, &server);
}

static int start_server(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	return start_at_port("127.0.0.1", false);
}

static int stop_server(void **state)
{
	(void)state;
	http_server_stop(server);
	return 0;
}

static int dial(void)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void say(int fd, const char *text)
{
	assert_int_equal(fd_write_all(fd, text, strlen(text)), 0);
}

/* Reads until the server closes; returns the number of bytes, of which the
 * first ones are in `answer`. */
static size_t hear(int fd, char answer[static ANSWER_BYTES])
{
	char rest[ANSWER_BYTES];
	size_t len = 0;
	ssize_t n;

	memset(answer, 0, ANSWER_BYTES);
	while ((n = read(fd, rest, sizeof(rest))) > 0) {
		for (ssize_t i = 0; i < n && len + (size_t)i < ANSWER_BYTES - 1; i++)
			answer[len + (size_t)i] = rest[i];
		len += (size_t)n;
	}
	return len;
}

static size_t ask(const char *request, char answer[static ANSWER_BYTES])
{
	_cleanup_close_ int fd = dial();

	say(fd, request);
	return hear(fd, answer);
}

static unsigned int status_of(const char *answer)
{
	unsigned int status = 0;

	return sscanf(answer, "HTTP/1.1 %u ", &status) == 1 ? status : 0;
}

static const char *body_of(const char *answer)
{
	const char *end = strstr(answer, "\r\n\r\n");

	return end ? end + 4 : "";
}

static void assert_serves(void)
{
	char answer[ANSWER_BYTES];
	uint64_t start_ns = clock_mono_ns();

	ask("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n", answer);
	assert_int_equal(status_of(answer), 200);
	assert_true(clock_mono_ns() - start_ns < SOON_NS);
}

static void a_page_is_made_when_it_is_asked_for(void **state)
{
	char answer[ANSWER_BYTES];
	(void)state;

	ask("GET /hello?x=1 HTTP/1.1\r\nHost: x\r\n\r\n", answer);
	assert_int_equal(status_of(answer), 200);
	assert_non_null(strstr(answer, "Content-Type: text/x-hello\r\n"));
	assert_non_null(strstr(answer, "Connection: close\r\n"));
	assert_string_equal(body_of(answer), "hello\n");
}

static void the_answer_has_the_right_status(void **state)
{
	static const struct {
		const char *request;
		unsigned int status;
		const char *body;
	} cases[] = {
		{ "GET /trouble HTTP/1.1\r\nHost: x\r\n\r\n", 503, "not now\n" },
		{ "GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n", 200, "" },
		{ "GET /hello HTTP/1.0\r\n\r\n", 200, "hello\n" },
		{ "HEAD /hello HTTP/1.1\r\nHost: x\r\n\r\n", 200, "" },
		{ "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 404, "no such page\n" },
		{ "GET /hello/ HTTP/1.1\r\nHost: x\r\n\r\n", 404, "no such page\n" },
		{ "GET //hello HTTP/1.1\r\nHost: x\r\n\r\n", 404, "no such page\n" },
		{ "GET /hello%00 HTTP/1.1\r\nHost: x\r\n\r\n", 200, "hello\n" },
		{ "GET /../hello HTTP/1.1\r\nHost: x\r\n\r\n", 404, "no such page\n" },
		{ "GET /too-large HTTP/1.1\r\nHost: x\r\n\r\n", 500, "no memory\n" },
		{ "POST /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", 405,
		  "method not allowed; use GET or HEAD\n" },
		{ "POST /hello HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n", 405,
		  "method not allowed; use GET or HEAD\n" },
		{ "DELETE /hello HTTP/1.1\r\nHost: x\r\n\r\n", 405,
		  "method not allowed; use GET "
		  "or HEAD\n" },
		{ "get /hello HTTP/1.1\r\nHost: x\r\n\r\n", 405,
		  "method not allowed; use GET or "
		  "HEAD\n" },
		{ "GET /hello HTTP/1.1\r\n\r\n", 400, NULL }, /* RFC 9112, section 3.2 */
		{ "GET /hello HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n", 400, NULL },
	};
	char answer[ANSWER_BYTES];
	(void)state;

	for (size_t i = 0; i < array_len(cases); i++) {
		ask(cases[i].request, answer);
		assert_int_equal(status_of(answer), cases[i].status);
		if (cases[i].body)
			assert_string_equal(body_of(answer), cases[i].body);
	}
}

static void what_is_no_request_is_answered_with_an_error_or_nothing(void **state)
{
	static const char *const requests[] = {

		"x\r\n\r\n",
		"GET\r\n\r\n",
		"\x16\x03\x01\x02\r\n\r\n",
		"GET /hello HTTP/9.9\r\n\r\n",
		"GET /hello HTTP/1.1 x\r\n\r\n",
		"GET /hello HTTP/1.1\r\nno colon\r\n\r\n",
	};
	char answer[ANSWER_BYTES];
	(void)state;

	for (size_t i = 0; i < array_len(requests); i++) {
		_cleanup_close_ int fd = dial();

		say(fd, requests[i]);
		shutdown(fd, SHUT_WR);
		hear(fd, answer);
		assert_int_not_equal(status_of(answer), 200);
	}
	assert_serves();
}

static void a_request_that_is_too_long_is_refused(void **state)
{
	_cleanup_(strbuf_done) struct strbuf line = strbuf_with_max(1 << 20);
	_cleanup_(strbuf_done) struct strbuf header = strbuf_with_max(1 << 20);
	char answer[ANSWER_BYTES];
	(void)state;

	strbuf_appendf(&line, "GET /%0*d HTTP/1.1\r\nHost: x\r\n\r\n",
		       HTTP_SERVER_REQUEST_MAX_BYTES, 0);
	ask(strbuf_str(&line), answer);
	assert_int_equal(status_of(answer), 414);
	strbuf_appendf(&header, "GET /hello HTTP/1.1\r\nHost: x\r\nX: %0*d\r\n\r\n",
		       HTTP_SERVER_REQUEST_MAX_BYTES, 0);
	ask(strbuf_str(&header), answer);
	assert_int_equal(status_of(answer), 431);
}

static void a_large_page_arrives_whole(void **state)
{
	char answer[ANSWER_BYTES];
	(void)state;

	size_t len = ask("GET /large HTTP/1.1\r\nHost: x\r\n\r\n", answer);
	assert_int_equal(len, (size_t)(body_of(answer) - answer) + LARGE_BYTES);
}

/* Clients of three kinds, that between them take all connections: the oldest go. */
static void others_are_served_beside_clients_that_hang(void **state)
{
	int fds[2 * HTTP_SERVER_MAX_CONNECTIONS];
	(void)state;

	for (size_t i = 0; i < array_len(fds); i++) {
		fds[i] = dial();
		if (i % 3 == 1)
			say(fds[i], "GET /hel");
		if (i % 3 == 2)
			say(fds[i], "GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
		assert_serves();
	}
	for (size_t i = 0; i < array_len(fds); i++)
		close(fds[i]);
	assert_serves();
}

static void many_clients_at_once_are_served_one_after_the_other(void **state)
{
	int fds[100];
	size_t nr_served = 0;
	char answer[ANSWER_BYTES];
	(void)state;

	for (size_t i = 0; i < array_len(fds); i++) {
		fds[i] = dial();
		say(fds[i], "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n");
	}
	for (size_t i = 0; i < array_len(fds); i++) {
		hear(fds[i], answer);
		nr_served += status_of(answer) == 200;
		close(fds[i]);
	}
	assert_int_equal(nr_served, array_len(fds));
	assert_serves();
}

/* A byte each 200 ms is never silent for long, and yet has only so much time. */
static void a_slow_client_is_cut_off(void **state)
{
	const struct timespec pause = { .tv_nsec = 200 * (long)NSEC_PER_MSEC };
	uint64_t start_ns = clock_mono_ns();
	_cleanup_close_ int fd = dial();
	char byte;
	(void)state;

	while (recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN) {
		assert_true(clock_mono_ns() - start_ns < 2 * HTTP_SERVER_REQUEST_NS);
		send(fd, "G", 1, MSG_NOSIGNAL);
		nanosleep(&pause, NULL);
	}
	assert_true(clock_mono_ns() - start_ns >= HTTP_SERVER_REQUEST_NS);
	assert_serves();
}

static void a_unix_socket_is_served_and_goes_with_the_server(void **state)
{
	char directory[] = "/tmp/flamelet-http-XXXXXX";
	char listen[64];
	struct http_server *local, *second;
	struct stat status;
	(void)state;

	assert_non_null(mkdtemp(directory));
	snprintf(listen, sizeof(listen), "unix:%s/socket", directory);
	assert_int_equal(start(listen, &local), 0);
	assert_int_equal(stat(listen + strlen("unix:"), &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(start(listen, &second), -EADDRINUSE);
	http_server_stop(local);
	assert_int_equal(rmdir(directory), 0);
}

static void an_address_that_cannot_be_is_refused(void **state)
{
	struct http_server *none;
	(void)state;

	assert_int_equal(start("nonsense", &none), -EINVAL);
	assert_int_equal(start("0.0.0.0:0", &none), -EADDRNOTAVAIL);
	assert_int_equal(start("unix:/nowhere/at/all", &none), -ENOENT);
	assert_int_equal(start("*:0", &none), -EINVAL);
	assert_int_equal(start_at("unix:/nowhere/at/all", true, &none), -EINVAL);
	assert_int_equal(start_at("localhost:0", true, &none), -EINVAL);
	assert_int_equal(start_at("192.0.2.1:0", true, &none), -EADDRNOTAVAIL);
}

/* What the whole program has used. */
static uint64_t cpu_ns(void)
{
	return clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Without a bound the server alone would use all the time that the client leaves. */
static void others_cannot_make_it_busy_all_the_time(void **state)
{
	struct http_server *mine = server;
	unsigned int my_port = port;
	char answer[ANSWER_BYTES];
	uint64_t my_start_ns, server_ns;
	(void)state;

	assert_int_equal(start_at_port("*", true), 0);
	uint64_t start_ns = clock_mono_ns(), start_cpu_ns = cpu_ns();
	my_start_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	while (clock_mono_ns() - start_ns < 3 * NSEC_PER_SEC) {
		ask("GET /large HTTP/1.1\r\nHost: x\r\n\r\n", answer);
		assert_int_equal(status_of(answer), 200);
	}
	server_ns = cpu_ns() - start_cpu_ns -
		    (clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - my_start_ns);
	assert_true(server_ns < 5 * 2 * HTTP_SERVER_PUBLIC_CPU_NS);
	http_server_stop(server);
	server = mine;
	port = my_port;
}

static void it_stops_at_once_with_clients_connected(void **state)
{
	struct http_server *mine = server;
	unsigned int my_port = port;
	uint64_t start_ns = clock_mono_ns();
	char answer[ANSWER_BYTES];
	(void)state;

	assert_int_equal(start_at_port("127.0.0.1", false), 0);
	_cleanup_close_ int fd = dial();
	say(fd, "GET /");
	http_server_stop(server);
	server = mine;
	port = my_port;
	assert_int_equal(hear(fd, answer), 0);
	assert_true(clock_mono_ns() - start_ns < SOON_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_page_is_made_when_it_is_asked_for),
		cmocka_unit_test(the_answer_has_the_right_status),
		cmocka_unit_test(what_is_no_request_is_answered_with_an_error_or_nothing),
		cmocka_unit_test(a_request_that_is_too_long_is_refused),
		cmocka_unit_test(a_large_page_arrives_whole),
		cmocka_unit_test(others_are_served_beside_clients_that_hang),
		cmocka_unit_test(many_clients_at_once_are_served_one_after_the_other),
		cmocka_unit_test(a_slow_client_is_cut_off),
		cmocka_unit_test(a_unix_socket_is_served_and_goes_with_the_server),
		cmocka_unit_test(an_address_that_cannot_be_is_refused),
		cmocka_unit_test(others_cannot_make_it_busy_all_the_time),
		cmocka_unit_test(it_stops_at_once_with_clients_connected),
	};

	return cmocka_run_group_tests(tests, start_server, stop_server);
}
