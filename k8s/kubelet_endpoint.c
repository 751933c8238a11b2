/* SPDX-License-Identifier: Apache-2.0 */
#include "k8s/kubelet_endpoint.h"

#include "base/parse.h"

#include <arpa/inet.h>
#include <string.h>

#define DEFAULT_PORT 10250

static bool skip_prefix(const char **text, const char *prefix)
{
	size_t len = strlen(prefix);

	if (strncmp(*text, prefix, len) != 0)
		return false;
	*text += len;
	return true;
}

bool kubelet_is_host_name(const char *name)
{
	size_t len = strspn(name,
			    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-");

	return len > 0 && len <= KUBELET_HOST_MAX && !name[len];
}

/* Determines the kind of host. Errors: -EINVAL if it is not a host. */
static int classify_host(struct kubelet_endpoint *endpoint, bool is_bracketed)
{
	struct in_addr v4;
	struct in6_addr v6;

	if (is_bracketed) {
		if (inet_pton(AF_INET6, endpoint->host, &v6) != 1)
			return -EINVAL;
		endpoint->is_ipv6 = true;
		endpoint->is_address = true;
		endpoint->is_loopback = IN6_IS_ADDR_LOOPBACK(&v6);
	} else if (inet_pton(AF_INET, endpoint->host, &v4) == 1) {
		endpoint->is_address = true;
		endpoint->is_loopback = ntohl(v4.s_addr) >> 24 == IN_LOOPBACKNET;
	} else {
		endpoint->is_loopback = strcmp(endpoint->host, "localhost") == 0;
		return kubelet_is_host_name(endpoint->host) ? 0 : -EINVAL;
	}
	return 0;
}

/* Reads "[:PORT]" and at most one "/". */
static int parse_port(const char *rest, uint32_t *ret_port)
{
	char digits[8] = "";
	uint32_t port = DEFAULT_PORT;

	if (*rest == ':') {
		size_t len = strcspn(++rest, "/");

		if (len >= sizeof(digits))
			return -EINVAL;
		memcpy(digits, rest, len);
		rest += len;
		if (parse_u32(digits, &port) < 0 || port == 0 || port > UINT16_MAX)
			return -EINVAL;
	}
	if (strcmp(rest, "") != 0 && strcmp(rest, "/") != 0)
		return -EINVAL;
	*ret_port = port;
	return 0;
}

int kubelet_endpoint_parse(const char *url, struct kubelet_endpoint *ret_endpoint)
{
	struct kubelet_endpoint endpoint = { .is_https = skip_prefix(&url, "https://") };

	if (!endpoint.is_https && !skip_prefix(&url, "http://"))
		return -EINVAL;

	bool is_bracketed = skip_prefix(&url, "[");
	size_t len = strcspn(url, is_bracketed ? "]" : ":/");
	if (len == 0 || len > KUBELET_HOST_MAX)
		return -EINVAL;
	memcpy(endpoint.host, url, len);
	url += len;
	if (is_bracketed && !skip_prefix(&url, "]"))
		return -EINVAL;

	int r = classify_host(&endpoint, is_bracketed);
	if (r == 0)
		r = parse_port(url, &endpoint.port);
	if (r < 0)
		return r;
	*ret_endpoint = endpoint;
	return 0;
}
