/* SPDX-License-Identifier: Apache-2.0 */
/* libmicrohttpd parses requests and sends answers; the loop that runs it is ours, so that each
 * connection has a limit of time. Between requests the thread sleeps. */
#include "ui/ui_server.h"

#include "base/clock.h"
#include "base/gzip.h"
#include "base/json_text.h"
#include "base/minmax.h"
#include "selfmon/listen_socket.h"
#include "ui/ui_check.h"
#include "ui/ui_connections.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define BODY_MAX_BYTES ((size_t)1 << 30)
#define REQUEST_MAX_BYTES ((size_t)32 << 10) /* line and headers */
#define IDLE_MAX_S 60U /* of a connection without progress */
#define SLEEP_MAX_MS 60000
#define PACK_MIN_BYTES 1024 /* a smaller answer is one packet in any case */
#define JSON_TYPE "application/json"

#define POLICY                                                                                     \
	"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "            \
	"img-src 'self' data: blob:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"

struct ui_server {
	struct ui_server_opts opts;
	struct listen_socket socket;
	struct MHD_Daemon *daemon;
	struct ui_connections connections;
};

static int fd_of(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
}

static void on_connection(void *data, struct MHD_Connection *connection, void **state,
			  enum MHD_ConnectionNotificationCode code)
{
	struct ui_server *server = data;

	(void)state;
	/* libmicrohttpd keeps to UI_MAX_CONNECTIONS. */
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		(void)ui_connections_add(&server->connections, fd_of(connection), clock_mono_ns());
	else
		ui_connections_remove(&server->connections, fd_of(connection));
}

/* A request whose headers may not all be there yet. */
struct pending {
	char *uri; /* owned; as it was sent; NULL: no memory */
	bool has_headers;
};

static void *on_address(void *data, const char *uri, struct MHD_Connection *connection)
{
	struct pending *pending = calloc(1, sizeof(*pending));

	(void)data;
	(void)connection;
	if (pending)
		pending->uri = strdup(uri);
	return pending;
}

static void on_completed(void *data, struct MHD_Connection *connection, void **state,
			 enum MHD_RequestTerminationCode code)
{
	struct ui_server *server = data;
	struct pending *pending = *state;

	(void)code;
	if (pending)
		free(pending->uri);
	free(pending);
	*state = NULL;
	ui_connections_waiting(&server->connections, fd_of(connection), clock_mono_ns());
}

static enum MHD_Result see_header(void *data, enum MHD_ValueKind kind, const char *name,
				  const char *value)
{
	struct ui_headers *headers = data;
	const struct {
		const char *name;
		const char **value;
		bool is_single;
	} known[] = {
		{ MHD_HTTP_HEADER_HOST, &headers->host, true },
		{ MHD_HTTP_HEADER_ORIGIN, &headers->origin, true },
		{ "Sec-Fetch-Site", &headers->fetch_site, true },
		{ MHD_HTTP_HEADER_ACCEPT_ENCODING, &headers->accept_encoding, false },
	};

	(void)kind;
	for (size_t i = 0; i < array_len(known); i++) {
		if (strcasecmp(name, known[i].name) != 0)
			continue;
		headers->has_twice |= known[i].is_single && *known[i].value;
		*known[i].value = value ? value : "";
	}
	return MHD_YES;
}

static void fail(struct ui_reply *reply, unsigned int status, const char *text)
{
	strbuf_clear(&reply->body);
	strbuf_append_char(&reply->body, '{');
	json_append_member(&reply->body, "error", text);
	strbuf_append_str(&reply->body, "}\n");
	reply->status = status;
	reply->content_type = JSON_TYPE;
	reply->is_packed = false;
	reply->file_name[0] = '\0';
	reply->warnings[0] = '\0';
}

static void answer(struct ui_server *server, const char *uri, struct ui_reply *reply)
{
	_cleanup_(ui_request_done) struct ui_request request = { 0 };

	int r = uri ? ui_request_parse(uri, server->opts.token, &request) : -ENOMEM;
	if (r == 0)
		server->opts.answer(&request, reply, server->opts.data);
	else if (r == -ENOENT)
		fail(reply, MHD_HTTP_NOT_FOUND, "no such page");
	else if (r == -ENOMEM)
		fail(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, "no memory");
	else
		fail(reply, MHD_HTTP_BAD_REQUEST, "the parameters are malformed");
	if (strbuf_error(&reply->body) < 0)
		fail(reply, MHD_HTTP_INTERNAL_SERVER_ERROR, "the answer is too large");
}

/* Compresses the body, if that helps. */
static bool pack(struct ui_reply *reply)
{
	_cleanup_(strbuf_done) struct strbuf packed = strbuf_with_max(BODY_MAX_BYTES);

	if (reply->is_packed || reply->body.len < PACK_MIN_BYTES)
		return false;
	gzip_append(&packed, reply->body.data, reply->body.len);
	if (strbuf_error(&packed) < 0)
		return false;
	struct strbuf plain = reply->body;
	reply->body = packed;
	packed = plain;
	return true;
}

static void add_headers(struct MHD_Response *response, const struct ui_reply *reply)
{
	static const char *const headers[][2] = {
		{ MHD_HTTP_HEADER_CACHE_CONTROL, "no-store" },
		{ "Content-Security-Policy", POLICY },
		{ "Cross-Origin-Opener-Policy", "same-origin" },
		{ "Cross-Origin-Resource-Policy", "same-origin" },
		{ "Referrer-Policy", "no-referrer" },
		{ "X-Content-Type-Options", "nosniff" },
		{ MHD_HTTP_HEADER_VARY, "Accept-Encoding" },
	};
	char text[UI_FILE_NAME_BYTES + 32];

	for (size_t i = 0; i < array_len(headers); i++)
		MHD_add_response_header(response, headers[i][0], headers[i][1]);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->content_type);
	if (reply->file_name[0] != '\0') {
		snprintf(text, sizeof(text), "attachment; filename=\"%s\"", reply->file_name);
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_DISPOSITION, text);
	}
	if (reply->warnings[0] != '\0')
		MHD_add_response_header(response, "Flamelet-Warnings", reply->warnings);
	if (reply->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
}

/* Takes over the body's bytes. */
static enum MHD_Result send_reply(struct MHD_Connection *connection, struct ui_reply *reply,
				  bool is_gzip)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		reply->body.len, reply->body.data, MHD_RESPMEM_MUST_FREE);

	if (!response)
		return MHD_NO;
	reply->body.data = NULL;
	add_headers(response, reply);
	if (is_gzip)
		MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
	enum MHD_Result result = MHD_queue_response(connection, reply->status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result reply_to(struct ui_server *server, struct MHD_Connection *connection,
				const char *uri, bool is_read)
{
	struct ui_headers headers = { 0 };
	struct ui_reply reply = { .body = strbuf_with_max(BODY_MAX_BYTES) };

	MHD_get_connection_values(connection, MHD_HEADER_KIND, see_header, &headers);
	const char *refusal = ui_check_headers(&headers);
	if (refusal)
		fail(&reply, MHD_HTTP_FORBIDDEN, refusal);
	else if (!is_read)
		fail(&reply, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are served");
	else
		answer(server, uri, &reply);
	bool is_gzip = ui_check_accepts_gzip(headers.accept_encoding) && pack(&reply);
	ui_connections_answering(&server->connections, fd_of(connection), clock_mono_ns());
	enum MHD_Result result = send_reply(connection, &reply, is_gzip);
	strbuf_done(&reply.body);
	return result;
}

/* Called when the headers are there, and again at the end of the request: if it is only answered
 * then, the connection can be used again. A request with a body ends the connection.
 * NOLINTNEXTLINE(readability-function-size): libmicrohttpd's parameters */
static enum MHD_Result on_request(void *data, struct MHD_Connection *connection, const char *path,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_bytes, void **state)
{
	bool is_read = strcmp(method, MHD_HTTP_METHOD_GET) == 0 ||
		       strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
	struct pending *pending = *state;

	(void)path; /* without its parameters */
	(void)version;
	(void)upload;
	if (!pending || *upload_bytes > 0)
		return MHD_NO;
	if (is_read && !pending->has_headers) {
		pending->has_headers = true;
		return MHD_YES;
	}
	return reply_to(data, connection, pending->uri, is_read);
}

/* Shuts down the connections whose time is over. Returns for how many milliseconds the thread may
 * sleep. */
static int end_late(struct ui_server *server)
{
	uint64_t now_ns = clock_mono_ns(), next_ns = UINT64_MAX;
	struct ui_connection *late;
	MHD_UNSIGNED_LONG_LONG ms;

	while ((late = ui_connections_take_late(&server->connections, now_ns, &next_ns)))
		shutdown(late->fd, SHUT_RDWR);
	uint64_t sleep_ms = next_ns == UINT64_MAX ? SLEEP_MAX_MS
						  : (next_ns - now_ns) / NSEC_PER_MSEC + 1;
	if (MHD_get_timeout(server->daemon, &ms) == MHD_YES)
		sleep_ms = min_u64(sleep_ms, ms);
	return (int)min_u64(sleep_ms, SLEEP_MAX_MS);
}

int ui_server_run(struct ui_server *server, int stop_fd)
{
	bool has_more = false;
	struct pollfd fds[] = {
		{ .fd = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd,
		  .events = POLLIN },
		{ .fd = stop_fd, .events = POLLIN },
	};

	for (;;) {
		int ms = end_late(server);

		if (poll(fds, array_len(fds), has_more ? 0 : ms) < 0 && errno != EINTR)
			return -errno;
		if (fds[1].revents != 0)
			return 0;
		/* If a connection has ended and all were taken, the next call accepts again. */
		size_t nr_before = server->connections.nr;
		MHD_run(server->daemon);
		has_more = server->connections.nr < nr_before;
	}
}

/* The daemon closes the descriptor it is given. */
static int start_daemon(struct ui_server *server)
{
	int fd = fcntl(server->socket.fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	server->daemon = MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, on_request, server, /* no thread of its own */
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned int)UI_MAX_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, IDLE_MAX_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, REQUEST_MAX_BYTES, MHD_OPTION_NOTIFY_CONNECTION,
		on_connection, server, MHD_OPTION_URI_LOG_CALLBACK, on_address, server,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, server, MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_END);
	return server->daemon ? 0 : -ENOMEM;
}

static int open_socket(struct ui_server *server, struct strbuf *reterr_msg)
{
	const char *listen = server->opts.listen;
	struct listen_address address;

	int r = listen_address_parse(listen, &address);
	if (r == 0)
		return listen_socket_open_text(listen, &address, reterr_msg, &server->socket);
	strbuf_appendf(reterr_msg, "cannot listen at %s: %s", listen, strerror(-r));
	return r;
}

int ui_server_open(const struct ui_server_opts *opts, struct strbuf *reterr_msg,
		   struct ui_server **ret_server)
{
	_cleanup_(ui_server_closep) struct ui_server *server = calloc(1, sizeof(*server));

	if (!server)
		return -ENOMEM;
	server->opts = *opts;
	server->socket = LISTEN_SOCKET_NONE;
	int r = open_socket(server, reterr_msg);
	if (r == 0)
		r = start_daemon(server);
	if (r < 0)
		return r;
	*ret_server = take_ptr(server);
	return 0;
}

unsigned int ui_server_port(const struct ui_server *server)
{
	const struct listen_address *address = &server->socket.address;

	switch (address->any.sa_family) {
	case AF_INET:
		return ntohs(address->v4.sin_port);
	case AF_INET6:
		return ntohs(address->v6.sin6_port);
	default:
		return 0;
	}
}

void ui_server_append_url(const struct ui_server *server, struct strbuf *out)
{
	const struct listen_address *address = &server->socket.address;

	if (ui_server_port(server) == 0)
		strbuf_append_str(out, "http://localhost");
	else
		strbuf_appendf(out, "http://%s:%u",
			       address->any.sa_family == AF_INET6 ? "[::1]" : "127.0.0.1",
			       ui_server_port(server));
	strbuf_appendf(out, "/%s/", server->opts.token);
}

void ui_server_close(struct ui_server *server)
{
	if (!server)
		return;
	if (server->daemon)
		MHD_stop_daemon(server->daemon);
	listen_socket_close(&server->socket);
	free(server);
}
