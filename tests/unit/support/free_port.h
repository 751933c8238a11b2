/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_FREE_PORT_H
#define TESTS_UNIT_FREE_PORT_H

#include <arpa/inet.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#define FREE_PORT_FIRST 10000
#define FREE_PORT_COUNT 20000

static inline bool is_free_port(unsigned int port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return false;
	int r = bind(fd, (struct sockaddr *)&address, sizeof(address));
	close(fd);
	return r == 0;
}

/* Returns a TCP port that nobody listens at now, or 0. The kernel picks other ports for connections
 * (net.ipv4.ip_local_port_range), and tests that run at the same time begin elsewhere, so that
 * nobody takes the port before the caller does. */
static inline unsigned int free_port(void)
{
	static unsigned int nr_calls;

	for (unsigned int i = 0; i < FREE_PORT_COUNT; i++) {
		unsigned int n = (unsigned int)getpid() * 16 + nr_calls++;
		unsigned int port = FREE_PORT_FIRST + n % FREE_PORT_COUNT;

		if (is_free_port(port))
			return port;
	}
	return 0;
}

#endif
