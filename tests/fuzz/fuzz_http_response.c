/* SPDX-License-Identifier: Apache-2.0 */
/* All bytes that a server sends: status, headers, body, trailers. The first byte of the input says
 * whether HTTP/2 is spoken, and whether the body goes to a sink. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/http_client.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BODY_MAX_BYTES 65536
#define WAIT_MS 500
#define MAX_HEADER_BYTES ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct server {
	int listen_fd;
	char url[64];
	const uint8_t *bytes; /* of the answer */
	size_t len;
};

static struct server server = { .listen_fd = -EBADF };

static void open_server(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);

	server.listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (server.listen_fd < 0 || bind(server.listen_fd, (struct sockaddr *)&address, len) < 0 ||
	    listen(server.listen_fd, 1) < 0 ||
	    getsockname(server.listen_fd, (struct sockaddr *)&address, &len) < 0)
		abort();
	snprintf(server.url, sizeof(server.url), "http://127.0.0.1:%d/", ntohs(address.sin_port));
}

static bool is_readable(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };

	return poll(&wait, 1, WAIT_MS) == 1;
}

/* Answers one connection, whatever it asks for. */
static void *answer(void *data)
{
	char request[4096];

	(void)data;
	if (!is_readable(server.listen_fd))
		return NULL;
	_cleanup_close_ int fd = accept4(server.listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0 || !is_readable(fd) || recv(fd, request, sizeof(request), 0) < 0)
		return NULL;
	for (size_t sent = 0; sent < server.len;) {
		ssize_t n = send(fd, server.bytes + sent, server.len - sent, MSG_NOSIGNAL);

		if (n < 0)
			return NULL;
		sent += (size_t)n;
	}
	shutdown(fd, SHUT_WR);
	while (is_readable(fd) && recv(fd, request, sizeof(request), 0) > 0)
		;
	return NULL;
}

static int count_bytes(void *data, const void *bytes, size_t len)
{
	size_t *nr = data;

	(void)bytes;
	*nr += len;
	return 0;
}

/* The callers assume nothing about a response: to libcurl an empty trailer is "\r\n". */
static void check_headers(const struct http_client *client)
{
	static const char *const names[] = { "Content-Type", "grpc-status", "grpc-message",
					     "grpc-status-details-bin", "grpc-encoding" };

	for (size_t i = 0; i < array_len(names); i++) {
		const char *value = http_client_header(client, names[i]);

		if (value && strlen(value) > MAX_HEADER_BYTES)
			abort();
	}
}

static void ask(struct http_client *client, const struct http_sink *sink)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(BODY_MAX_BYTES);
	const struct http_request request = { .url = server.url, .sink = sink };
	struct http_response response = { 0 };

	if (http_perform(client, &request, &body, &response) == 0)
		check_headers(client);
	else if (!http_client_error(client))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t nr_sunk = 0;
	const struct http_sink sink = { count_bytes, &nr_sunk, BODY_MAX_BYTES };
	struct http_client *client;
	pthread_t thread;

	if (size == 0)
		return 0;
	if (server.listen_fd < 0)
		open_server();
	server.bytes = data + 1;
	server.len = size - 1;

	const struct http_client_opts opts = { .needs_http2 = data[0] & 1,
					       .connect_timeout_ns = NSEC_PER_SEC / 2,
					       .total_timeout_ns = NSEC_PER_SEC / 2 };
	if (http_client_new(&opts, &client) < 0)
		return 0;
	if (pthread_create(&thread, NULL, answer, NULL) != 0)
		abort();
	ask(client, data[0] & 2 ? &sink : NULL);
	http_client_free(client);
	pthread_join(thread, NULL);
	if (nr_sunk > BODY_MAX_BYTES)
		abort();
	return 0;
}
