/* SPDX-License-Identifier: Apache-2.0 */
/* A listening socket. A Unix socket is accessible to its owner only (mode 0600), replaces the file
 * that a dead process left there, and is removed when it is closed. */
#ifndef SELFMON_LISTEN_SOCKET_H
#define SELFMON_LISTEN_SOCKET_H

#include "base/err.h"
#include "base/strbuf.h"
#include "selfmon/listen_address.h"

#include <sys/types.h>

struct listen_socket {
	int fd; /* owned */
	struct listen_address address; /* with the port that the kernel chose, if it was 0 */
	dev_t device; /* this and the next: of the socket's file */
	ino_t inode;
};

#define LISTEN_SOCKET_NONE ((struct listen_socket){ .fd = -EBADF })

/* Errors: -EADDRINUSE if another process listens there, -EEXIST if the path is not a socket,
 * -ENOENT if its directory does not exist; with `reterr_msg`, -EPERM if the socket belongs to
 * another user, and those of own_dir_check_parent(); others of socket(2), bind(2) and listen(2). */
int listen_socket_open(const struct listen_address *address, struct strbuf *reterr_msg,
		       struct listen_socket *ret_socket) must_check;

/* Opens the socket of an address that a user wrote as `text`. On failure, `reterr_msg` says that
 * this failed, and why: "cannot listen at 127.0.0.1:80: Permission denied". Errors: as above. */
int listen_socket_open_text(const char *text, const struct listen_address *address,
			    struct strbuf *reterr_msg, struct listen_socket *ret_socket) must_check;

/* Does nothing for LISTEN_SOCKET_NONE. */
void listen_socket_close(struct listen_socket *socket);

#endif
