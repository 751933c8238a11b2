/* SPDX-License-Identifier: Apache-2.0 */
/* A listening socket. One in the file system is its owner's alone (mode 0600), replaces what a
 * process that is dead has left there, and is removed when it is closed. */
#ifndef SELFMON_LISTEN_SOCKET_H
#define SELFMON_LISTEN_SOCKET_H

#include "base/err.h"
#include "base/strbuf.h"
#include "selfmon/listen_address.h"

#include <sys/types.h>

struct listen_socket {
	int fd; /* owned */
	struct listen_address address; /* with the port that was given where any was asked for */
	dev_t device; /* this and the next: of the socket's file */
	ino_t inode;
};

#define LISTEN_SOCKET_NONE ((struct listen_socket){ .fd = -EBADF })

/* Errors: -EADDRINUSE another process listens there, -EEXIST the path is something else than a
 * socket, -ENOENT its directory does not exist; where `reterr_msg` says why, -EPERM the socket
 * that is there is another user's, and those of own_dir_check_parent(); what else socket(2),
 * bind(2) and listen(2) say. */
int listen_socket_open(const struct listen_address *address, struct strbuf *reterr_msg,
		       struct listen_socket *ret_socket) must_check;

/* LISTEN_SOCKET_NONE is fine. */
void listen_socket_close(struct listen_socket *socket);

#endif
