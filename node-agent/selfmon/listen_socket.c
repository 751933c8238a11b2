/* SPDX-License-Identifier: Apache-2.0 */
#include "selfmon/listen_socket.h"

#include "base/cleanup.h"
#include "base/own_dir.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#define BACKLOG 128
#define REFUSAL_MAX_BYTES 8192

static int new_socket(const struct listen_address *address)
{
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	return fd >= 0 ? fd : -errno;
}

/* Checks that the path is a socket of our user at which no process listens any more. Errors:
 * -EADDRINUSE, -EEXIST, -EPERM. */
static int check_stale(const struct listen_address *address, struct strbuf *reterr_msg)
{
	_cleanup_close_ int fd = new_socket(address);
	struct stat status;

	if (fd < 0)
		return fd;
	if (lstat(address->local.sun_path, &status) < 0)
		return -errno;
	if (!S_ISSOCK(status.st_mode))
		return -EEXIST;
	if (status.st_uid != geteuid()) {
		strbuf_appendf(reterr_msg, "%s belongs to uid %u, not to uid %u: remove it",
			       address->local.sun_path, status.st_uid, geteuid());
		return -EPERM;
	}
	if (connect(fd, &address->any, address->len) < 0 && errno == ECONNREFUSED)
		return 0;
	return -EADDRINUSE;
}

/* bind() gives the file the mode that the socket has, so that at no time others can connect. */
static int bind_path(struct listen_socket *socket, struct strbuf *reterr_msg)
{
	const struct listen_address *address = &socket->address;
	const char *path = address->local.sun_path;
	struct stat status;

	int r = own_dir_check_parent(path, reterr_msg);
	if (r < 0)
		return r;
	if (fchmod(socket->fd, 0600) < 0)
		return -errno;
	if (bind(socket->fd, &address->any, address->len) < 0) {
		r = errno == EADDRINUSE ? check_stale(address, reterr_msg) : -errno;
		if (r < 0)
			return r;
		if (unlink(path) < 0 || bind(socket->fd, &address->any, address->len) < 0)
			return -errno;
	}
	if (lstat(path, &status) < 0)
		return -errno;
	socket->device = status.st_dev;
	socket->inode = status.st_ino;
	return 0;
}

static int bind_port(struct listen_socket *socket)
{
	struct listen_address *address = &socket->address;
	int yes = 1, no = 0;

	if (address->is_everywhere && address->any.sa_family == AF_INET6 &&
	    setsockopt(socket->fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no)) < 0)
		return -errno;
	if (setsockopt(socket->fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) < 0 ||
	    bind(socket->fd, &address->any, address->len) < 0 ||
	    getsockname(socket->fd, &address->any, &address->len) < 0)
		return -errno;
	return 0;
}

static bool is_local(const struct listen_socket *socket)
{
	return socket->address.any.sa_family == AF_UNIX;
}

static int open_one(const struct listen_address *address, struct strbuf *reterr_msg,
		    struct listen_socket *ret_socket)
{
	_cleanup_(listen_socket_close) struct listen_socket listener = LISTEN_SOCKET_NONE;

	listener.address = *address;
	listener.fd = new_socket(address);
	if (listener.fd < 0)
		return listener.fd;
	int r = is_local(&listener) ? bind_path(&listener, reterr_msg) : bind_port(&listener);
	if (r < 0)
		return r;
	if (listen(listener.fd, BACKLOG) < 0)
		return -errno;
	*ret_socket = listener;
	listener = LISTEN_SOCKET_NONE;
	return 0;
}

int listen_socket_open(const struct listen_address *address, struct strbuf *reterr_msg,
		       struct listen_socket *ret_socket)
{
	int r = open_one(address, reterr_msg, ret_socket);

	/* No IPv6: not in the kernel, or switched off. */
	if (address->is_everywhere && (r == -EAFNOSUPPORT || r == -EADDRNOTAVAIL)) {
		const struct listen_address v4 = { .v4 = { .sin_family = AF_INET,
							   .sin_port = address->v6.sin6_port },
						   .len = sizeof(v4.v4) };

		return open_one(&v4, reterr_msg, ret_socket);
	}
	return r;
}

int listen_socket_open_text(const char *text, const struct listen_address *address,
			    struct strbuf *reterr_msg, struct listen_socket *ret_socket)
{
	_cleanup_(strbuf_done) struct strbuf refusal = strbuf_with_max(REFUSAL_MAX_BYTES);

	int r = listen_socket_open(address, &refusal, ret_socket);
	if (r < 0)
		strbuf_appendf(reterr_msg, "cannot listen at %s: %s", text,
			       refusal.len > 0 ? strbuf_str(&refusal) : strerror(-r));
	return r;
}

/* Removes the socket's file, unless another process listens there by now with a file of its own. */
static void remove_file(const struct listen_socket *socket)
{
	const char *path = socket->address.local.sun_path;
	struct stat status;

	if (lstat(path, &status) == 0 && status.st_dev == socket->device &&
	    status.st_ino == socket->inode)
		unlink(path);
}

void listen_socket_close(struct listen_socket *socket)
{
	if (socket->fd < 0)
		return;
	if (is_local(socket) && socket->inode != 0)
		remove_file(socket);
	close(socket->fd);
	*socket = LISTEN_SOCKET_NONE;
}
