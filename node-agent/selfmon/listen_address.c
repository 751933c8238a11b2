/* SPDX-License-Identifier: Apache-2.0 */
#include "selfmon/listen_address.h"

#include "base/parse.h"

#include <arpa/inet.h>
#include <string.h>

#define UNIX_PREFIX "unix:"
#define HOST_BYTES 64

static int parse_path(const char *path, struct listen_address *ret_address)
{
	struct listen_address address = { .local.sun_family = AF_UNIX,
					  .len = sizeof(address.local) };
	size_t len = strlen(path);

	if (path[0] != '/')
		return -EINVAL;
	if (len >= sizeof(address.local.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.local.sun_path, path, len + 1);
	*ret_address = address;
	return 0;
}

static int set_v4(const char *host, uint16_t port, struct listen_address *ret_address)
{
	struct listen_address address = { .v4 = { .sin_family = AF_INET, .sin_port = htons(port) },
					  .len = sizeof(address.v4) };

	if (inet_pton(AF_INET, host, &address.v4.sin_addr) != 1)
		return -EINVAL;
	*ret_address = address;
	return 0;
}

/* `host` with its brackets. */
static int set_v6(const char *host, uint16_t port, struct listen_address *ret_address)
{
	struct listen_address address = { .v6 = { .sin6_family = AF_INET6,
						  .sin6_port = htons(port) },
					  .len = sizeof(address.v6) };
	char text[INET6_ADDRSTRLEN] = "";
	size_t len = strlen(host);

	if (len < 2 || host[len - 1] != ']' || len - 2 >= sizeof(text))
		return -EINVAL;
	memcpy(text, host + 1, len - 2);
	if (inet_pton(AF_INET6, text, &address.v6.sin6_addr) != 1)
		return -EINVAL;
	*ret_address = address;
	return 0;
}

/* "NUMBER:PORT", or "NAME:PORT" where the name stands for a number. */
static int parse_port(const char *text, const char *name, const char *number,
		      struct listen_address *ret_address)
{
	const char *colon = strrchr(text, ':');
	char host[HOST_BYTES] = "";
	uint32_t port;

	if (!colon || (size_t)(colon - text) >= sizeof(host))
		return -EINVAL;
	memcpy(host, text, (size_t)(colon - text));
	if (parse_u32(colon + 1, &port) < 0 || port > UINT16_MAX)
		return -EINVAL;
	const char *address = strcmp(host, name) == 0 ? number : host;
	if (address[0] == '[')
		return set_v6(address, (uint16_t)port, ret_address);
	return set_v4(address, (uint16_t)port, ret_address);
}

static bool is_loopback(const struct listen_address *address)
{
	if (address->any.sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
	return ntohl(address->v4.sin_addr.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
}

int listen_address_parse(const char *text, struct listen_address *ret_address)
{
	struct listen_address address;

	if (strncmp(text, UNIX_PREFIX, strlen(UNIX_PREFIX)) == 0)
		return parse_path(text + strlen(UNIX_PREFIX), ret_address);
	int r = parse_port(text, "localhost", "127.0.0.1", &address);
	if (r < 0)
		return r;
	if (!is_loopback(&address))
		return -EADDRNOTAVAIL;
	*ret_address = address;
	return 0;
}

int listen_address_parse_public(const char *text, struct listen_address *ret_address)
{
	struct listen_address address;

	int r = parse_port(text, "*", "[::]", &address);
	if (r < 0)
		return r;
	address.is_everywhere = text[0] == '*';
	*ret_address = address;
	return 0;
}
