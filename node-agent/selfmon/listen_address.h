/* SPDX-License-Identifier: Apache-2.0 */
/* The address of a server: a Unix socket or a port that only this machine reaches, or a port that
 * others reach as well. */
#ifndef SELFMON_LISTEN_ADDRESS_H
#define SELFMON_LISTEN_ADDRESS_H

#include "base/err.h"

#include <netinet/in.h>
#include <stdbool.h>
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
	bool is_everywhere; /* "*": IPv6 and IPv4, or IPv4 alone if there is no IPv6 */
};

/* "unix:/path", "127.0.0.1:9091", "[::1]:9091" or "localhost:9091", which is 127.0.0.1. Port 0
 * means any free one. Errors: -EADDRNOTAVAIL for an address that others can reach, -ENAMETOOLONG
 * for a path of more than 107 bytes, -EINVAL for anything else. */
int listen_address_parse(const char *text, struct listen_address *ret_address) must_check;

/* Parses a numeric address, "10.1.2.3:9091" or "[fd00::1]:9091", or all addresses of a kind,
 * "0.0.0.0:9091" or "[::]:9091", or of both kinds, "*:9091". Errors: -EINVAL for anything else,
 * including a Unix socket. */
int listen_address_parse_public(const char *text, struct listen_address *ret_address) must_check;

#endif
