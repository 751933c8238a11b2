/* SPDX-License-Identifier: Apache-2.0 */
#ifndef K8S_KUBELET_ENDPOINT_H
#define K8S_KUBELET_ENDPOINT_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define KUBELET_HOST_MAX 253

/* The kubelet's endpoint from its URL. */
struct kubelet_endpoint {
	bool is_https;
	bool is_address; /* IPv4 or IPv6, not a name */
	bool is_ipv6;
	bool is_loopback;
	char host[KUBELET_HOST_MAX + 1]; /* without brackets */
	uint32_t port;
};

/* Parses "https://HOST[:PORT][/]", or http://. An IPv6 address is in brackets; the default port is
 * 10250. Errors: -EINVAL. */
int kubelet_endpoint_parse(const char *url, struct kubelet_endpoint *ret_endpoint) must_check;

bool kubelet_is_host_name(const char *name);

#endif
