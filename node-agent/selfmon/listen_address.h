/* SPDX-License-Identifier: Apache-2.0 */
/* Where a server listens: a Unix socket or a port of this machine only. */
#ifndef SELFMON_LISTEN_ADDRESS_H
#define SELFMON_LISTEN_ADDRESS_H

#include "base/err.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

struct listen_address {
	union {
		struct sockaddr any; /* any.sa_family says which */
		struct sockaddr_un local;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
	socklen_t len;
};

/* "unix:/path", "127.0.0.1:9091", "[::1]:9091" or "localhost:9091", which is 127.0.0.1; port 0 is any free one.
 * Errors: -EADDRNOTAVAIL for an address that others can reach, -ENAMETOOLONG for a path of more than 107 bytes,
 * -EINVAL for anything else. */
int listen_address_parse(const char *text, struct listen_address *ret_address) must_check;

#endif
