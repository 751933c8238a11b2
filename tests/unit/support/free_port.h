/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_FREE_PORT_H
#define TESTS_UNIT_FREE_PORT_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

/* Returns a TCP port that nobody listens at now, or 0 on failure. */
static inline unsigned int free_port(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return 0;
	int r = bind(fd, (struct sockaddr *)&address, len);
	if (r == 0)
		r = getsockname(fd, (struct sockaddr *)&address, &len);
	close(fd);
	return r == 0 ? ntohs(address.sin_port) : 0;
}

#endif
