/* SPDX-License-Identifier: Apache-2.0 */
/* libmicrohttpd parses and answers; the loop that runs it is ours, as its own time limit is for
 * silence only: a client that sends a byte a second is never silent. So each connection is noted
 * when it begins, and shut down when its time is over. Between requests the thread sleeps. */
#include "selfmon/http_server.h"

#include "base/heartbeat.h"
#include "base/thread.h"
#include "selfmon/listen_socket.h"

#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>

#define HEARTBEAT_MAX_NS (30 * NSEC_PER_SEC)

struct connection {
	int fd; /* libmicrohttpd's */
	uint64_t start_ns;
	bool is_shut;
};

struct http_server {
	struct http_server_opts opts;
	struct listen_socket socket;
	int stop_fd; /* owned; readable when the thread is to end */
	pthread_t thread;
	bool thread_runs;
	struct MHD_Daemon *daemon; /* this and the next: the thread's, once it runs */
	struct connection connections[HTTP_SERVER_MAX_CONNECTIONS]; /* the oldest first */
	size_t nr_connections;
	uint64_t second_ns; /* this and the next: when the second began for rest_ms() */
	uint64_t second_cpu_ns;
};

static void remove_connection(struct http_server *server, int fd)
{
	for (size_t i = 0; i < server->nr_connections; i++) {
		if (server->connections[i].fd != fd)
			continue;
		server->nr_connections--;
		memmove(&server->connections[i], &server->connections[i + 1],
			(server->nr_connections - i) * sizeof(server->connections[0]));
		return;
	}
}

/* libmicrohttpd keeps to HTTP_SERVER_MAX_CONNECTIONS. */
static void on_connection(void *data, struct MHD_Connection *connection, void **state,
			  enum MHD_ConnectionNotificationCode code)
{
	struct http_server *server = data;
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	(void)state;
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		server->connections[server->nr_connections++] = (struct connection){
			.fd = info->connect_fd,
			.start_ns = clock_mono_ns(),
		};
	else
		remove_connection(server, info->connect_fd);
}

/* Takes over the body's bytes. */
static enum MHD_Result reply(struct MHD_Connection *connection, unsigned int status,
			     const char *content_type, struct strbuf *body)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(body->len, body->data,
									MHD_RESPMEM_MUST_FREE);

	if (!response)
		return MHD_NO;
	body->data = NULL;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	enum MHD_Result result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result reply_text(struct MHD_Connection *connection, unsigned int status,
				  const char *text)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(HTTP_SERVER_BODY_MAX_BYTES);

	strbuf_append_str(&body, text);
	return reply(connection, status, "text/plain; charset=utf-8", &body);
}

static enum MHD_Result reply_page(struct http_server *server, struct MHD_Connection *connection,
				  const struct http_page *page)
{
	_cleanup_(strbuf_done) struct strbuf body = strbuf_with_max(HTTP_SERVER_BODY_MAX_BYTES);
	unsigned int status = page->make(&body, server->opts.data);

	if (strbuf_error(&body) < 0)
		return reply_text(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, "no memory\n");
	return reply(connection, status, page->content_type, &body);
}

/* Called when the headers are there; a body, if there is one, is not read.
 * NOLINTNEXTLINE(readability-function-size): libmicrohttpd's parameters */
static enum MHD_Result on_request(void *data, struct MHD_Connection *connection, const char *path,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_bytes, void **state)
{
	struct http_server *server = data;

	(void)version;
	(void)upload;
	(void)upload_bytes;
	(void)state;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return reply_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
				  "method not allowed; "
				  "use GET or HEAD\n");
	for (size_t i = 0; i < server->opts.nr_pages; i++) {
		if (strcmp(path, server->opts.pages[i].path) == 0)
			return reply_page(server, connection, &server->opts.pages[i]);
	}
	return reply_text(connection, MHD_HTTP_NOT_FOUND, "no such page\n");
}

/* Returns when a connection's time is over. While all are taken, that of
 * the oldest one ends sooner. */
static uint64_t end_ns_of(const struct http_server *server, size_t i)
{
	bool is_in_the_way = i == 0 && server->nr_connections == array_len(server->connections);

	return server->connections[i].start_ns +
	       (is_in_the_way ? HTTP_SERVER_CROWDED_NS : HTTP_SERVER_REQUEST_NS);
}

/* Shuts down the connections whose time is over; returns when the next one's is, or UINT64_MAX. */
static uint64_t end_connections(struct http_server *server, uint64_t now_ns)
{
	for (size_t i = 0; i < server->nr_connections; i++) {
		struct connection *connection = &server->connections[i];

		if (connection->is_shut)
			continue;
		if (now_ns < end_ns_of(server, i))
			return end_ns_of(server, i);
		connection->is_shut = true;
		shutdown(connection->fd, SHUT_RDWR);
	}
	return UINT64_MAX;
}

/* Returns the number of milliseconds that the thread may sleep. */
static int sleep_ms(struct http_server *server)
{
	uint64_t now_ns = clock_mono_ns();
	uint64_t end_ns = end_connections(server, now_ns);
	MHD_UNSIGNED_LONG_LONG ms;

	if (MHD_get_timeout(server->daemon, &ms) == MHD_YES && ms == 0)
		return 0;
	if (end_ns - now_ns > HEARTBEAT_NAP_NS)
		end_ns = now_ns + HEARTBEAT_NAP_NS;
	return (int)((end_ns - now_ns) / NSEC_PER_MSEC + 1);
}

/* Returns for how many milliseconds no request is served because others have used up the CPU time
 * of this second; 0 if there is time left. */
static int rest_ms(struct http_server *server)
{
	uint64_t now_ns = clock_mono_ns();
	uint64_t cpu_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);

	if (now_ns - server->second_ns >= NSEC_PER_SEC) {
		server->second_ns = now_ns;
		server->second_cpu_ns = cpu_ns;
	}
	if (!server->opts.is_public || cpu_ns - server->second_cpu_ns < HTTP_SERVER_PUBLIC_CPU_NS)
		return 0;
	return (int)((server->second_ns + NSEC_PER_SEC - now_ns) / NSEC_PER_MSEC + 1);
}

static void *serve(void *data)
{
	struct http_server *server = data;
	bool has_more = false;
	struct pollfd fds[] = {
		{ .fd = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
		  .events = POLLIN },
		{ .fd = server->stop_fd, .events = POLLIN },
	};

	heartbeat_begin(server->opts.thread_name, HEARTBEAT_MAX_NS);
	for (;;) {
		int ms = sleep_ms(server);

		heartbeat_beat();
		poll(fds, array_len(fds), has_more ? 0 : ms);
		if (fds[1].revents != 0)
			return NULL;
		/* If a connection has ended and all were taken, the next call accepts again. */
		size_t nr_before = server->nr_connections;
		MHD_run(server->daemon);
		has_more = server->nr_connections < nr_before;
		ms = rest_ms(server);
		if (ms > 0)
			poll(&fds[1], 1, ms);
	}
}

/* The daemon closes the descriptor it is given. */
static int start_daemon(struct http_server *server)
{
	int fd = fcntl(server->socket.fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	server->daemon = MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, on_request, server, /* no thread of its own */
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int)HTTP_SERVER_MAX_CONNECTIONS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)HTTP_SERVER_REQUEST_MAX_BYTES, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
		server, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
	return server->daemon ? 0 : -ENOMEM;
}

static int parse_address(const struct http_server_opts *opts, struct strbuf *reterr_msg,
			 struct listen_address *ret_address)
{
	const char *listen = opts->listen;

	int r = opts->is_public ? listen_address_parse_public(listen, ret_address)
				: listen_address_parse(listen, ret_address);
	if (r == -EADDRNOTAVAIL)
		strbuf_appendf(reterr_msg,
			       "cannot listen at %s: others could connect; use "
			       "127.0.0.1, [::1] or unix:/path",
			       listen);
	else if (r < 0)
		strbuf_appendf(reterr_msg, "cannot listen at %s: write it like %s", listen,
			       opts->is_public ? "*:9091 or 10.1.2.3:9091"
					       : "127.0.0.1:9091 or unix:/run/flamelet/http.sock");
	return r;
}

static int open_socket(struct http_server *server, struct strbuf *reterr_msg)
{
	struct listen_address address;

	int r = parse_address(&server->opts, reterr_msg, &address);
	return r < 0 ? r
		     : listen_socket_open_text(server->opts.listen, &address, reterr_msg,
					       &server->socket);
}

int http_server_start(const struct http_server_opts *opts, struct strbuf *reterr_msg,
		      struct http_server **ret_server)
{
	_cleanup_(http_server_stopp) struct http_server *server = calloc(1, sizeof(*server));

	if (!server)
		return -ENOMEM;
	server->opts = *opts;
	server->socket = LISTEN_SOCKET_NONE;
	server->stop_fd = eventfd(0, EFD_CLOEXEC);
	int r = server->stop_fd < 0 ? -errno : open_socket(server, reterr_msg);
	if (r == 0)
		r = start_daemon(server);
	if (r == 0)
		r = thread_start(server->opts.thread_name, 0, serve, server, &server->thread);
	if (r < 0)
		return r;
	server->thread_runs = true;
	*ret_server = take_ptr(server);
	return 0;
}

void http_server_stop(struct http_server *server)
{
	if (!server)
		return;
	if (server->thread_runs) {
		eventfd_write(server->stop_fd, 1);
		pthread_join(server->thread, NULL);
	}
	if (server->daemon)
		MHD_stop_daemon(server->daemon);
	listen_socket_close(&server->socket);
	cleanup_closep(&server->stop_fd);
	free(server);
}
