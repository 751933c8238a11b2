/* SPDX-License-Identifier: Apache-2.0 */
#include "debuginfod_standin.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fileio.h"
#include "base/gzip.h"
#include "base/strbuf.h"
#include "unit.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define REQUEST_BYTES 2048
#define BUILD_ID_PREFIX "GET /buildid/"

static struct sockaddr_in address_of(unsigned int port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons((uint16_t)port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static int listen_somewhere(unsigned int *ret_port)
{
	struct sockaddr_in address = address_of(0);
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(fd, 64), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	*ret_port = ntohs(address.sin_port);
	return fd;
}

unsigned int free_port(void)
{
	unsigned int port;

	close(listen_somewhere(&port));
	return port;
}

static void say(int fd, const char *text)
{
	if (fd_write_all(fd, text, strlen(text)) < 0)
		_exit(1);
}

static void send_zeros(int fd, uint64_t len)
{
	static const char zeros[4096];

	for (; len > 0; len -= len < sizeof(zeros) ? len : sizeof(zeros)) {
		if (fd_write_all(fd, zeros, len < sizeof(zeros) ? len : sizeof(zeros)) < 0)
			_exit(1);
	}
}

static void announce(int fd, uint64_t len, const char *more)
{
	char text[256];

	snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\nContent-Length: %" PRIu64 "\r\n%s\r\n",
		 len, more);
	say(fd, text);
}

static void send_bomb(int fd)
{
	_cleanup_(strbuf_done) struct strbuf packed = strbuf_with_max(2 * STANDIN_BOMB_BYTES);
	_cleanup_free_ char *zeros = calloc(1, STANDIN_BOMB_BYTES);

	if (!zeros)
		_exit(1);
	gzip_append(&packed, zeros, STANDIN_BOMB_BYTES);
	if (strbuf_error(&packed) < 0)
		_exit(1);
	announce(fd, packed.len, "Content-Encoding: gzip\r\n");
	if (fd_write_all(fd, packed.data, packed.len) < 0)
		_exit(1);
}

static void answer(int fd, const char *request)
{
	if (strncmp(request, BUILD_ID_PREFIX, strlen(BUILD_ID_PREFIX)) != 0)
		_exit(1);

	const char *id = request + strlen(BUILD_ID_PREFIX);
	if (strncmp(id, STANDIN_FOUND, 2) == 0) {
		announce(fd, STANDIN_FILE_BYTES, "");
		send_zeros(fd, STANDIN_FILE_BYTES);
	} else if (strncmp(id, STANDIN_SILENT, 2) == 0) {
		pause();
	} else if (strncmp(id, STANDIN_ENDLESS, 2) == 0) {
		say(fd, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
		send_zeros(fd, UINT64_MAX);
	} else if (strncmp(id, STANDIN_LARGE, 2) == 0) {
		announce(fd, STANDIN_LARGE_BYTES, "");
		send_zeros(fd, STANDIN_LARGE_BYTES);
	} else if (strncmp(id, STANDIN_BOMB, 2) == 0) {
		send_bomb(fd);
	} else {
		say(fd, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
	}
}

static void die_with_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	signal(SIGPIPE, SIG_IGN);
}

/* One request a connection. */
static void serve_connection(int fd)
{
	char request[REQUEST_BYTES] = "";
	size_t len = 0;

	die_with_parent();
	while (!strstr(request, "\r\n\r\n")) {
		ssize_t n = read(fd, request + len, sizeof(request) - 1 - len);

		if (n <= 0)
			_exit(1);
		len += (size_t)n;
	}
	answer(fd, request);
	_exit(0);
}

static void serve(int listen_fd)
{
	die_with_parent();
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0)
			_exit(1);
		if (fork() == 0)
			serve_connection(fd);
		close(fd);
	}
}

void debuginfod_standin_start(struct debuginfod_standin *standin)
{
	unsigned int port;

	_cleanup_close_ int fd = listen_somewhere(&port);
	snprintf(standin->url, sizeof(standin->url), "http://127.0.0.1:%u", port);
	standin->pid = fork();
	assert_true(standin->pid >= 0);
	if (standin->pid == 0)
		serve(fd);
}

void debuginfod_standin_stop(struct debuginfod_standin *standin)
{
	if (standin->pid <= 0)
		return;
	kill(standin->pid, SIGKILL);
	waitpid(standin->pid, NULL, 0);
	standin->pid = 0;
}

unsigned int http_status(unsigned int port, const char *path)
{
	struct sockaddr_in address = address_of(port);
	char text[256];
	unsigned int status = 0;

	_cleanup_close_ int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return 0;
	snprintf(text, sizeof(text), "GET %s HTTP/1.0\r\n\r\n", path);
	say(fd, text);
	ssize_t n = read(fd, text, sizeof(text) - 1);
	text[n > 0 ? n : 0] = '\0';
	return sscanf(text, "HTTP/%*u.%*u %u", &status) == 1 ? status : 0;
}
