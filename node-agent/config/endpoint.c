/* SPDX-License-Identifier: Apache-2.0 */
#include "config/endpoint.h"

#include "base/parse.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

static const struct {
	const char *text;
	enum endpoint_scheme scheme;
} schemes[] = {
	{ "http://", ENDPOINT_HTTP },
	{ "https://", ENDPOINT_HTTPS },
	{ "grpc://", ENDPOINT_GRPC },
	{ "grpcs://", ENDPOINT_GRPCS },
};

static bool is_graphic(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text <= ' ' || *text == 0x7f)
			return false;
	}
	return true;
}

/* Returns the length of the "name" or "[address]" at the start of the text; 0 for neither. */
static size_t name_len(const char *text)
{
	size_t len = strcspn(text, *text == '[' ? "]/?#" : ":/?#");

	if (*text != '[')
		return len;
	return text[len] == ']' && len > 1 ? len + 1 : 0;
}

/* Returns whether the text is ":PORT". If no port is needed, "" and ":" are accepted as well. */
static bool is_port(const char *text, const char *end, bool is_needed)
{
	uint64_t port;

	if (text == end || (*text == ':' && text + 1 == end))
		return !is_needed;
	if (*text++ != ':' || parse_digits(&text, end, 10, &port) < 0 || text != end)
		return false;
	return port >= 1 && port <= UINT16_MAX;
}

int endpoint_parse(const char *text, struct endpoint *ret_endpoint)
{
	struct endpoint endpoint = { .scheme = ENDPOINT_BARE, .host = text };

	if (!is_graphic(text))
		return -EINVAL;
	for (size_t i = 0; i < array_len(schemes); i++) {
		size_t len = strlen(schemes[i].text);

		if (strncasecmp(text, schemes[i].text, len) == 0) {
			endpoint.scheme = schemes[i].scheme;
			endpoint.host = text + len;
		}
	}
	endpoint.path = endpoint.host + strcspn(endpoint.host, "/?#");

	const char *at = memrchr(endpoint.host, '@', (size_t)(endpoint.path - endpoint.host));
	endpoint.has_user = at;
	if (at)
		endpoint.host = at + 1;
	endpoint.host_len = (size_t)(endpoint.path - endpoint.host);

	bool is_url = endpoint.scheme == ENDPOINT_HTTP || endpoint.scheme == ENDPOINT_HTTPS;
	size_t len = name_len(endpoint.host);
	if (len == 0 || !is_port(endpoint.host + len, endpoint.path, !is_url))
		return -EINVAL;
	if (!is_url && *endpoint.path && strcmp(endpoint.path, "/") != 0)
		return -EINVAL;
	*ret_endpoint = endpoint;
	return 0;
}
